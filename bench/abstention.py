"""Measure how often a search answers "nothing relevant", for questions that the vault answers and for others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from bench.program import Home, model_cache, new_home
from bench.report import Report, UnavailableError, arguments, eval_folder, finish
from donna_tui.ops.evaluation import read_set
from donna_tui.search.evaluation import Question

SETS = ("vault_help", "vault_tasks", "meetings", "qmsum", "chats_mit", "locomo")
SMALL_SETS = ("chats_mit",)
MIN_REFUSED, MAX_LOST = 0.5, 0.03


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or a model."""
    if model_cache() is None:
        raise UnavailableError("there is no model: make install")
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
    _add(report, "answerable questions without a hit", answerable, MAX_LOST, at_least=False)
    _add(report, "questions to the wrong vault without a hit", elsewhere, MIN_REFUSED, at_least=True)
    _add(report, "LoCoMo's unanswerable questions without a hit", unanswerable, MIN_REFUSED, at_least=True)
    report.remarks.append("The wrong vault is the next one; in a set of many vaults, that is one of the same kind.")
    return report


def _add(report: Report, what: str, refused: Sequence[bool], budget: float, *, at_least: bool) -> None:
    if refused:
        report.add(f"{what} (of {len(refused):,})", sum(refused) / len(refused), "", budget, at_least=at_least)


def _refused(
    home: Home, vault: Path, questions: Sequence[Question], *, long_running: bool
) -> list[tuple[Question, bool]]:
    """Return each question, and whether it gets no hit. `exclude` and `within` count only with `long_running`."""
    file = home.folder / "questions.jsonl"
    lines = [
        {
            "id": number,
            "query": question.text,
            "exclude": question.exclude if long_running else (),
            "within": (question.within or None) if long_running else None,
        }
        for number, question in enumerate(questions)
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    answered = home.donna("search", "--batch", file, "-k", "1", "--space", vault).out.splitlines()
    hits = {row["id"]: row["results"] for row in map(json.loads, answered)}
    return [(question, not hits[number]) for number, question in enumerate(questions)]


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    finish(lambda: measure(small=options.small), options)


if __name__ == "__main__":
    main()
