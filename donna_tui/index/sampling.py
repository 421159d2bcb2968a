"""Samples of a large table: a few stretches of its rowids, evenly apart, since notes of one time are alike."""

from __future__ import annotations

STRETCHES, STRETCH = 3, 3_000
"""So many stretches of so many rowids: what one row in a hundred has is counted to about a tenth."""

SAMPLED_FROM = 2 * STRETCHES * STRETCH


def stretches(last: int) -> list[tuple[int, int]]:
    """The first and last rowid of each stretch of a table whose last rowid is known; a small table is one stretch."""
    if last < SAMPLED_FROM:
        return [(1, last)]
    starts = [1 + part * (last - STRETCH) // (STRETCHES - 1) for part in range(STRETCHES)]
    return [(start, start + STRETCH - 1) for start in starts]
