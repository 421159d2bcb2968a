"""The order of recalled memories: relevance, adjusted by speaker, importance and age, or a cross-encoder's scores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from donna_tui.errors import ModelError
from donna_tui.memories import MemoryChunk, MemorySource

SPEAKER_WEIGHT = 0.15
"""What a turn gains if the question names its speaker: what Ana likes is more often said by Ana than to her."""

IMPORTANCE_WEIGHT, RECENCY_WEIGHT = 0.1, 0.02
"""What full importance and an age of zero add to a relevance of at most 1: they reorder, and never exclude."""

# Measured with `python -m bench.recall` on the development questions; docs/memory.md has the figures.

HALF_LIFE_SECONDS = 30 * 86_400.0
"""After that time a memory counts half as recent."""

UNKNOWN_IMPORTANCE = 0.5

Scorer = Callable[[str, Sequence[str]], Sequence[float]]
"""Relevance of each text to a query, from 0 to 1. Raises ModelError."""

_WORD = re.compile(r"\w+")


def rerank(
    query: str, memories: Sequence[MemoryChunk], scorer: Scorer | None, now: float
) -> tuple[list[MemoryChunk], str]:
    """Sort memories by a cross-encoder's scores if there is one that works, else by `blend`.

    Returns them best first with their new scores, and a note if the cross-encoder failed.
    """
    note = ""
    scores: Sequence[float] = ()
    if scorer and memories:
        try:
            scores = scorer(query, [memory.content for memory in memories])
        except ModelError as error:
            note = f"ranked by a blend: {error.message}"
    if not scores:
        named = words_of(query)
        scores = [blend(memory, named, now) for memory in memories]
    rescored = [replace(memory, score=float(score)) for memory, score in zip(memories, scores, strict=True)]
    return sorted(rescored, key=lambda memory: -memory.score), note


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


def blend(memory: MemoryChunk, named: frozenset[str], now: float) -> float:
    """Relevance plus weighted speaker, importance and recency, scaled to 0 to 1. `named` are the question's words."""
    extra = (
        SPEAKER_WEIGHT * _is_by_speaker(memory, named)
        + IMPORTANCE_WEIGHT * _importance(memory)
        + RECENCY_WEIGHT * recency(memory.at, now)
    )
    return (memory.score + extra) / (1.0 + SPEAKER_WEIGHT + IMPORTANCE_WEIGHT + RECENCY_WEIGHT)


def _importance(memory: MemoryChunk) -> float:
    """What is pinned is important, and so is a summary, which stands for a whole session."""
    if memory.pinned or memory.is_summary:
        return 1.0
    known = memory.importance.value if memory.importance else None
    return UNKNOWN_IMPORTANCE if known is None else known


def _is_by_speaker(memory: MemoryChunk, named: frozenset[str]) -> bool:
    if memory.source is not MemorySource.CHAT or not memory.heading_path:
        return False
    return not named.isdisjoint(words_of(memory.heading_path[0]))


def recency(at: float, now: float) -> float:
    """1 for now, half of it for each thirty days."""
    return math.exp2(-max(0.0, now - at) / HALF_LIFE_SECONDS) if at else 0.0
