"""The second opinion on what was found: a cross-encoder, or a weighted blend where there is none (seed 002 §2.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from donna_tui.errors import ModelError
from donna_tui.memories import MemoryChunk

RELEVANCE_SHARE, IMPORTANCE_SHARE, RECENCY_SHARE = 0.7, 0.2, 0.1
HALF_LIFE_SECONDS = 30 * 86_400.0
"""After that time a memory counts half as recent."""

UNKNOWN_IMPORTANCE = 0.5

Scorer = Callable[[str, Sequence[str]], Sequence[float]]
"""Relevance of each text to a query, from 0 to 1. Raises ModelError."""


def rerank(
    query: str, memories: Sequence[MemoryChunk], scorer: Scorer | None, now: float
) -> tuple[list[MemoryChunk], str]:
    """The memories, best first, with their new scores, and a note where the cross-encoder could not give them."""
    note = ""
    scores: Sequence[float] = ()
    if scorer and memories:
        try:
            scores = scorer(query, [memory.content for memory in memories])
        except ModelError as error:
            note = f"ranked by a blend: {error.message}"
    if not scores:
        scores = [blend(memory, now) for memory in memories]
    rescored = [replace(memory, score=float(score)) for memory, score in zip(memories, scores, strict=True)]
    return sorted(rescored, key=lambda memory: -memory.score), note


def blend(memory: MemoryChunk, now: float) -> float:
    """0.7 relevance + 0.2 importance + 0.1 recency, each from 0 to 1."""
    known = memory.importance.value if memory.importance else None
    importance = UNKNOWN_IMPORTANCE if known is None else known
    return RELEVANCE_SHARE * memory.score + IMPORTANCE_SHARE * importance + RECENCY_SHARE * recency(memory.at, now)


def recency(at: float, now: float) -> float:
    """1 for now, half of it for each thirty days."""
    return math.exp2(-max(0.0, now - at) / HALF_LIFE_SECONDS) if at else 0.0
