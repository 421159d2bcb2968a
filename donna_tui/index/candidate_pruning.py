"""Prune candidates before ranking: of very many matches, keep those that hold enough of the query's terms.

Coordination level matching, as early retrieval systems did it: a level admits the passages whose terms weigh, by
inverse document frequency, at least a share of all terms. FTS5 finds what matches thirty times as fast as it ranks it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from donna_tui.index.database import Database
from donna_tui.index.documents import last_chunk
from donna_tui.index.filters import ALL_WORDS
from donna_tui.index.sampling import Range, span, stretches

ALL_RANKED = 30_000
"""Matches up to which all are ranked, in some 30 ms."""

LEVELS = (0.6, 0.45, 0.3, 0.15)
"""Shares of what all terms weigh, the narrowest first."""

SPARE = 3_000
"""A level must hold so many more passages than are wanted; then of the ten best to 230 questions, asked of a million
passages, 99.5 % are there."""

FIELDS = "title heading"
MANY = 30_000
"""From so many passages at a level on, the one before it must do, or with it those that hold the level in the fields
that weigh most."""

WEIGHED = 6
"""Terms that a level looks at, the rarest; more would make too many combinations."""


@dataclass(frozen=True, slots=True)
class Level:
    """FTS5 expressions: what passages are ranked by, and which are ranked; all that match if `within` is empty."""

    ranked_by: str
    within: str = ""


def whole(database: Database) -> list[Range]:
    """The range of all keys."""
    return [(1, last_chunk(database))]


_THERE = "SELECT count(*) FROM {}_docsize WHERE id BETWEEN ? AND ?"
"""FTS5 keeps the length of each passage: counted there, a stretch costs a sixteenth of what its passages do."""


def choose_level(
    database: Database, terms: Sequence[str], wanted: int, ranges: Sequence[Range], words: str = ALL_WORDS
) -> Level:
    """Choose the narrowest level that holds, in some ranges of keys, the best `wanted` passages for any of the terms.

    The terms are FTS5 expressions; `words` is the table of the keyword index.
    """
    any_term = " OR ".join(terms)
    if span(ranges) <= ALL_RANKED:
        return Level(any_term)
    sample = _Sample.of(database, ranges, words)
    matches = held = cache(sample.matches)
    if matches(any_term) <= ALL_RANKED:
        return Level(any_term)
    if list(ranges) != whole(database):  # how rare a term is, BM25 asks of the whole index
        sample = _Sample.of(database, whole(database), words)
        held = cache(sample.matches)
    weights, least = _weights(sample.passages, {term: held(term) for term in terms}), wanted + SPARE
    telling = " OR ".join(weights) or any_term
    levels = [_at_least(weights, share) for share in LEVELS] if weights else []
    place = bisect_left(levels, least, key=matches)
    within = levels[place] if place < len(levels) else telling
    if matches(within) > MANY:
        before = levels[:place][-1:]
        narrower = (*before, " OR ".join([*before, f"{{{FIELDS}}} : ({within})"]))
        within = next((each for each in narrower if matches(each) >= 2 * wanted), within)
    return Level(telling, within)


def _weights(whole: float, matches: Mapping[str, int]) -> dict[str, float]:
    """Inverse document frequencies, as FTS5 has them; a term that most passages hold counts for nothing in its BM25."""
    known = {term: max(1, held) for term, held in matches.items()}
    return {term: math.log((whole - held + 0.5) / (held + 0.5)) for term, held in known.items() if held < whole / 2}


def _at_least(weights: Mapping[str, float], share: float) -> str:
    """The terms that weigh a share of all of them: an FTS5 expression."""
    rarest = sorted(weights, key=lambda term: -weights[term])[:WEIGHED]
    return _weighing([(term, weights[term]) for term in rarest], share * sum(weights[term] for term in rarest))


def _weighing(terms: Sequence[tuple[str, float]], needed: float) -> str:
    """What of some terms, the heaviest first, weighs as much as is needed; empty if all of them do not.

    Each term stands before what it needs beside it, so that FTS5 walks through a term once for all combinations.
    """
    if sum(weight for _, weight in terms) < needed:
        return ""
    (term, weight), *lighter = terms
    beside = _weighing(lighter, needed - weight) if needed > weight else ""
    with_it = f"({term} AND {beside})" if beside else term
    without_it = _weighing(lighter, needed)
    return f"({with_it} OR {without_it})" if without_it else with_it


@dataclass(frozen=True, slots=True)
class _Sample:
    """Counts in some stretches of ranges what there is in all of them."""

    database: Database
    parts: Sequence[Range]
    scale: float
    words: str

    @classmethod
    def of(cls, database: Database, ranges: Sequence[Range], words: str) -> _Sample:
        parts = stretches(ranges)
        return cls(database, parts, span(ranges) / max(1, span(parts)), words)

    @property
    def passages(self) -> float:
        """About how many chunks there are."""
        there: list[int] = [self.database.value(_THERE.format(self.words), part) for part in self.parts]
        return self.scale * sum(there)

    def matches(self, expression: str) -> int:
        """About how many chunks an FTS5 expression matches."""
        count = f"SELECT count(*) FROM {self.words} WHERE {self.words} MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608
        counts: list[int] = [self.database.value(count, (expression, *part)) for part in self.parts]
        return round(self.scale * sum(counts))
