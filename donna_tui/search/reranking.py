"""Rerank the best hits of a search with a cross-encoder, which reads question and passage together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from donna_tui.types.search import Hit

RERANKED = 32
"""Hits that are ranked again: a cross-encoder takes some ten milliseconds for each."""

Scorer = Callable[[str, Sequence[str]], list[float]]
"""Relevance of each text to a question, from 0 to 1. Raises ModelError."""


def reranked(query: str, hits: Sequence[Hit], scorer: Scorer) -> list[Hit]:
    """Rerank the hits by the cross-encoder. Notes that the question names stay first, and hits beyond the limit last.

    `rank_score` is the score that decides the order here, too. Raises ModelError.
    """
    named = [hit for hit in hits if hit.named]
    others = [hit for hit in hits if not hit.named]
    judged, rest = others[:RERANKED], others[RERANKED:]
    if not judged:
        return list(hits)
    scores = scorer(query, [_text(hit) for hit in judged])
    best = sorted(zip(scores, judged, strict=True), key=lambda each: -each[0])
    least = best[-1][0]
    return [
        *named,
        *(replace(hit, rank_score=score) for score, hit in best),
        *(replace(hit, rank_score=min(hit.rank_score, least)) for hit in rest),
    ]


def _text(hit: Hit) -> str:
    return " › ".join(filter(None, (hit.title, *hit.heading_path))) + "\n" + hit.content
