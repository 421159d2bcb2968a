"""Fuses the two legs by a convex sum of normalised scores, which stays closer to the better leg than rank fusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MEANING_WEIGHT = 0.35
"""Share of the scaled cosine; the rest is BM25 divided by its maximum. Measured; see docs/retrieval.md."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate: chunk key, cosine (None without a vector), rank in each leg (1-based), fused score (0 to 1)."""

    id: int
    cosine: float | None
    vector_rank: int | None
    keyword_rank: int | None
    rank_score: float


def fuse(
    words: Sequence[tuple[int, float]], meaning: Sequence[tuple[int, float]], cosines: Mapping[int, float]
) -> list[Ranked]:
    """Rank the union of both legs, best first.

    `words` and `meaning` are (chunk key, score) in order; `cosines` has that of every candidate with a vector.
    """
    word_rank = {each: rank for rank, (each, _) in enumerate(words, 1)}
    vector_rank = {each: rank for rank, (each, _) in enumerate(meaning, 1)}
    bm25 = dict(words)
    best = max(bm25.values(), default=0.0)
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    weight = MEANING_WEIGHT if cosines else 0.0

    def fused(each: int) -> float:
        word_part = bm25.get(each, 0.0) / best if best > 0 else 0.0
        meaning_part = _scaled(cosines[each], low, high) if each in cosines else 0.0
        return weight * meaning_part + (1.0 - weight) * word_part

    ranked = [
        Ranked(each, cosines.get(each), vector_rank.get(each), word_rank.get(each), fused(each))
        for each in {**word_rank, **vector_rank}
    ]
    return sorted(ranked, key=lambda one: (-one.rank_score, one.id))


def _scaled(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 1.0
