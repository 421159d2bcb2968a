"""Measure retrieval: how high the right notes and places rank, over questions with known answers.

A gold place is a note, with a heading path or lines that contain the answer. nDCG and MRR are over the first ten
distinct notes with binary gain (Järvelin and Kekäläinen, “Cumulated gain-based evaluation of IR techniques”, 2002).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

NOTES = 10
"""Distinct notes that nDCG, MRR and recall consider."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The place of an answer. Empty `heading_path` and `lines` mean anywhere in the note."""

    path: str
    heading_path: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its gold places; none if nothing in the vault answers it.

    `exclude` are notes that must not be counted, since the question was taken from them; `within` is the one note that
    the question is about.
    """

    id: str
    text: str
    gold: tuple[Gold, ...]
    kind: str = ""
    vault: str = ""
    exclude: tuple[str, ...] = ()
    within: str = ""


@dataclass(frozen=True, slots=True)
class ResultRange:
    """One result: 1-based, inclusive lines of a note, below a heading path."""

    path: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Each from 0 to 1. `recall` is the share of the gold notes among the first ten; `place_5` whether one of the first
    five results lies in a gold place (success@5); `answered` whether there was any result.
    """

    ndcg: float
    mrr: float
    recall: float
    place_1: float
    place_5: float
    answered: float


def score(question: GoldQuestion, results: Sequence[ResultRange]) -> Scores:
    """Score the results for a question that has an answer."""
    notes = list(dict.fromkeys(place.path for place in results))[:NOTES]
    gold = {place.path for place in question.gold}
    ranks = [rank for rank, note in enumerate(notes) if note in gold]
    ideal = sum(_gain(rank) for rank in range(min(NOTES, len(gold))))
    return Scores(
        ndcg=sum(map(_gain, ranks)) / ideal,
        mrr=1.0 / (ranks[0] + 1) if ranks else 0.0,
        recall=len(ranks) / len(gold),
        place_1=_places(question, results[:1]),
        place_5=_places(question, results[:5]),
        answered=float(bool(results)),
    )


def mean(scores: Iterable[Scores]) -> Scores:
    """Return the average of each measure. Raises ZeroDivisionError for no scores."""
    rows = list(scores)
    return Scores(*(sum(getattr(row, field.name) for row in rows) / len(rows) for field in fields(Scores)))


def _gain(rank: int) -> float:
    return 1.0 / math.log2(rank + 2)


def _places(question: GoldQuestion, results: Sequence[ResultRange]) -> float:
    return float(any(_in_place(result, gold) for result in results for gold in question.gold))


def _in_place(result: ResultRange, gold: Gold) -> bool:
    if result.path != gold.path:
        return False
    if gold.lines:
        return result.start_line <= gold.lines[1] and result.end_line >= gold.lines[0]
    below = len(gold.heading_path)
    starts = (result.heading_path[:below], result.heading_path[1 : below + 1])  # a title may come first
    return not gold.heading_path or gold.heading_path in starts
