"""Prune candidates before ranking: of very many matches, keep those that contain enough of the query's terms.

Coordination level matching, weighted by inverse document frequency (IDF): a level admits the passages whose terms have
at least a share of the weight of all terms. FTS5 finds matches thirty times as fast as it ranks them.

Example, for a query of three terms with the weights kafka 4, retry 2, error 1 (together 7):

    share 0.6    weight 4.2     (kafka AND (retry OR error))
    share 0.45   weight 3.15    kafka
    share 0.3    weight 2.1     (kafka OR (retry AND error))
    share 0.15   weight 1.05    (kafka OR retry)

Each level admits at least what the one above it does. Of the levels, the narrowest with enough matches is ranked.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from donna_tui.index.database import Database
from donna_tui.index.documents import last_chunk
from donna_tui.index.sampling import Range, span, stretches

ALL_RANKED = 30_000
"""Maximum number of matches that are all ranked, in about 30 ms."""

LEVELS = (0.6, 0.45, 0.3, 0.15)
"""Shares of the weight of all terms, the narrowest level first."""

SPARE = 3_000
"""Passages that a level must contain beyond those wanted. With it, 99.5 % of the ten best passages were found for 230
questions asked of a million passages.
"""

FIELDS = "title heading"
MANY = 30_000
"""If a level has more passages than this, a narrower one is ranked: the level before it, alone or with the passages
whose `FIELDS`, which have the highest weights, reach this level.
"""

WEIGHED = 6
"""Terms that define a level, the rarest; more would need too many combinations."""


@dataclass(frozen=True, slots=True)
class Level:
    """FTS5 expressions: the terms to rank by, and the matches to rank; all matches if `within` is empty."""

    ranked_by: str
    within: str = ""


def whole(database: Database) -> list[Range]:
    return [(1, last_chunk(database))]


def choose_level(database: Database, terms: Sequence[str], wanted: int, ranges: Sequence[Range], table: str) -> Level:
    """Choose the narrowest level that contains the best `wanted` passages for any of the terms in some ranges of keys.

    The terms are FTS5 expressions.
    """
    any_term = " OR ".join(terms)
    if span(ranges) <= ALL_RANKED:
        return Level(any_term)
    inside = _Sample.of(database, ranges, table)
    matches = cache(inside.matches)
    if matches(any_term) <= ALL_RANKED:
        return Level(any_term)
    # inverse document frequencies as FTS5 computes them, in the whole index, without the terms that most passages have
    everywhere = inside if list(ranges) == whole(database) else _Sample.of(database, whole(database), table)
    frequency = matches if everywhere is inside else everywhere.matches
    passages, known = everywhere.passages, {term: max(1, frequency(term)) for term in terms}
    rare = {term: each for term, each in known.items() if each < passages / 2}
    weights = {term: math.log((passages - each + 0.5) / (each + 0.5)) for term, each in rare.items()}
    any_weighted = " OR ".join(weights) or any_term
    levels = [_at_least(weights, share) for share in LEVELS] if weights else []
    place = bisect_left(levels, wanted + SPARE, key=matches)
    within = levels[place] if place < len(levels) else any_weighted
    if matches(within) > MANY:
        before = levels[:place][-1:]
        narrower = (*before, " OR ".join([*before, f"{{{FIELDS}}} : ({within})"]))
        within = next((level for level in narrower if matches(level) >= 2 * wanted), within)
    return Level(any_weighted, within)


def _at_least(weights: Mapping[str, float], share: float) -> str:
    """Build an FTS5 expression for the combinations of terms with at least a share of the total weight."""
    rarest = sorted(weights, key=lambda term: -weights[term])[:WEIGHED]
    return _weighing([(term, weights[term]) for term in rarest], share * sum(weights[term] for term in rarest))


def _weighing(terms: Sequence[tuple[str, float]], needed: float) -> str:
    """Build an FTS5 expression for the combinations of terms that reach a weight; empty if all of them do not.

    The terms are sorted by weight, the heaviest first. Each term precedes the combinations that complete it, so that
    FTS5 reads its postings once for all of them.
    """
    if sum(weight for _, weight in terms) < needed:
        return ""
    (term, weight), *lighter = terms
    rest = _weighing(lighter, needed - weight) if needed > weight else ""
    with_it = f"({term} AND {rest})" if rest else term
    without_it = _weighing(lighter, needed)
    return f"({with_it} OR {without_it})" if without_it else with_it


@dataclass(frozen=True, slots=True)
class _Sample:
    """Estimate counts over ranges from a sample of stretches."""

    database: Database
    parts: Sequence[Range]
    scale: float
    table: str

    @classmethod
    def of(cls, database: Database, ranges: Sequence[Range], table: str) -> _Sample:
        parts = stretches(ranges)
        return cls(database, parts, span(ranges) / max(1, span(parts)), table)

    @property
    def passages(self) -> float:
        """Return the estimated number of chunks, from the table of passage lengths: counting passages costs more."""
        count = f"SELECT count(*) FROM {self.table}_docsize WHERE id BETWEEN ? AND ?"  # noqa: S608
        there: list[int] = [self.database.value(count, part) for part in self.parts]
        return self.scale * sum(there)

    def matches(self, expression: str) -> int:
        count = f"SELECT count(*) FROM {self.table} WHERE {self.table} MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608
        counts: list[int] = [self.database.value(count, (expression, *part)) for part in self.parts]
        return round(self.scale * sum(counts))
