"""Measure whether a paraphrase finds short memories and notes, and whether unanswerable questions are refused.

The questions in bench/data were written for this: about one-line facts, short notes, and neither. The threshold was
chosen on the development half alone. Each figure is compared with that of one threshold for passages of any length.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from bench.engines import opened
from bench.program import Home, needed_model, new_home
from bench.report import Report, arguments, finish, share
from donna_tui.engine.engine import Engine
from donna_tui.types.search import SearchRequest

DATA = Path(__file__).parent / "data" / "refusals.jsonl"
PARTS = {"dev": "development", "held": "held out"}
SMALL = 12
"""The questions of each kind and part in a quick run."""

ONE_THRESHOLD = "donna_tui.search.ranking.SHORT_PASSAGE"
_NOT_IN_A_NAME = re.compile(r"[^\w ,.-]")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the text that answers it; empty if it is unanswerable."""

    part: str
    kind: str
    text: str
    answer: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a question: whether it was refused, and whether the right text was the first hit."""

    asked: Question
    refused: bool
    first: bool


def read_questions() -> list[Question]:
    """Read all questions, in the order of the file."""
    rows = map(json.loads, DATA.read_text(encoding="utf-8").splitlines())
    return [
        Question(row["part"], row["kind"], row["question"], row.get("text", ""), row.get("title", "")) for row in rows
    ]


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without a model."""
    needed_model()
    questions = _some(read_questions()) if small else read_questions()
    report = Report("Refusals: short texts, asked in other words", peer="one threshold")
    with new_home() as home:
        for kind, words in (("fact", "facts"), ("note", "notes")):
            selected = [question for question in questions if question.kind in (kind, "none")]
            ours, one_threshold = asyncio.run(_ask_all(home, kind, selected))
            for part, name in PARTS.items():
                _add(report, f"{words}, {name}", part, ours, one_threshold)
    report.remarks.append("“First”: the right text is the first hit. A refused question has none.")
    return report


def _some(questions: Iterable[Question]) -> list[Question]:
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        groups.setdefault((question.kind, question.part), []).append(question)
    return [question for group in groups.values() for question in group[:SMALL]]


def _add(report: Report, name: str, part: str, ours: Sequence[Answered], one_threshold: Sequence[Answered]) -> None:
    for what, has_answer, figure in (
        ("refused though answered", True, "refused"),
        ("first", True, "first"),
        ("unanswerable: refused", False, "refused"),
    ):
        now, before = (
            [
                getattr(each, figure)
                for each in answered
                if (each.asked.part, bool(each.asked.answer)) == (part, has_answer)
            ]
            for answered in (ours, one_threshold)
        )
        report.add(f"{name}: {what} (of {len(now)})", share(now), "", peer=share(before))


async def _ask_all(home: Home, kind: str, selected: Sequence[Question]) -> tuple[list[Answered], list[Answered]]:
    """Ask every question with the thresholds as they are, and with one for passages of any length."""
    vault = home.folder.parent / f"{kind}s"
    vault.mkdir()
    if kind == "note":
        for item in filter(lambda item: item.answer, selected):
            (vault / f"{_NOT_IN_A_NAME.sub(' ', item.title)}.md").write_text(f"{item.answer}\n", encoding="utf-8")
    async with opened(home, vault) as engine:
        await engine.sync()
        if kind == "fact":
            for item in filter(lambda item: item.answer, selected):
                await engine.memory.remember(item.answer)
            await engine.memory.wait_until_indexed()
        ours = [await _ask(engine, item) for item in selected]
        with patch(ONE_THRESHOLD, -1):
            return ours, [await _ask(engine, item) for item in selected]


async def _ask(engine: Engine, question: Question) -> Answered:
    hits = (await engine.search(SearchRequest(text=question.text, k=1))).hits
    return Answered(question, not hits, bool(hits) and hits[0].content.strip() == question.answer.strip())


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
