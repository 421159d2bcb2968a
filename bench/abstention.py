"""Measure how often a search answers "nothing relevant", for questions that the vault answers and for others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from bench.program import Home, needed_model, new_home
from bench.report import Report, arguments, eval_folder, finish
from donna_tui.ops.evaluation import read_set
from donna_tui.search.evaluation import GoldQuestion

SETS = ("vault_help", "vault_tasks", "meetings", "qmsum", "chats_mit", "locomo")
SMALL_SETS = ("chats_mit",)
MIN_REFUSED, MAX_LOST = 0.5, 0.03


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or a model."""
    needed_model()
    sets = [list(read_set(eval_folder(name)).vaults.items()) for name in (SMALL_SETS if small else SETS)]
    question_sets = list(chain.from_iterable(sets))
    wrong = [questions for _, questions in question_sets[1:] + question_sets[:1]]
    report = Report("Nothing relevant")
    with new_home() as home:
        own = [_refused(home, vault, questions, long_running=True) for vault, questions in question_sets]
        answerable = [refused for vault in own for question, refused in vault if question.gold]
        unanswerable = [refused for vault in own for question, refused in vault if not question.gold]
        elsewhere = [
            refused
            for (vault, _), questions in zip(question_sets, wrong, strict=True)
            for _, refused in _refused(home, vault, questions, long_running=False)
        ]
    report.add_share("answerable questions without a hit", answerable, MAX_LOST, at_least=False)
    report.add_share("questions to the wrong vault without a hit", elsewhere, MIN_REFUSED)
    if unanswerable:
        report.add_share("LoCoMo's unanswerable questions without a hit", unanswerable, MIN_REFUSED)
    report.remarks.append("The wrong vault is the next one; in a set of many vaults, that is one of the same kind.")
    return report


def _refused(
    home: Home, vault: Path, questions: Sequence[GoldQuestion], *, long_running: bool
) -> list[tuple[GoldQuestion, bool]]:
    """Return each question, and whether it gets no hit. `exclude` and `within` count only with `long_running`."""
    asked = [
        {
            "query": question.text,
            "exclude": question.exclude if long_running else (),
            "within": (question.within or None) if long_running else None,
        }
        for question in questions
    ]
    hits = home.search_batch(vault, asked, 1)
    return [(question, not found) for question, found in zip(questions, hits, strict=True)]


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
