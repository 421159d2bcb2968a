"""Samples of a large table: a few stretches of its rowids, evenly apart, or single rows from all over it.

Passages of one time are alike, and the notes of a folder stand beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from donna_tui.index.ranges import Range, cut, span

STRETCHES, STRETCH = 3, 3_000
"""So many stretches of so many rowids: what one row in a hundred has is counted to about a tenth."""

SAMPLED_FROM = 2 * STRETCHES * STRETCH


def stretches(ranges: Sequence[Range]) -> list[Range]:
    """Stretches of some ranges of rowids; of few rowids, all of them."""
    whole = span(ranges)
    if whole < SAMPLED_FROM:
        return list(ranges)
    starts = [part * (whole - STRETCH) // (STRETCHES - 1) for part in range(STRETCHES)]
    return [piece for start in starts for piece in cut(ranges, start, start + STRETCH)]


SPREAD = 1_000
"""Single rows: a share is told to a hundredth, however the rows stand, in 1.3 ms."""


@lru_cache(maxsize=1)
def spread(last: int) -> tuple[int, ...]:
    """Rowids from all over a table whose last rowid is known, in order; all of a small one.

    One of each of so many equal stretches, at a place in it that is in step with nothing (a stratified sample).
    """
    if last <= 2 * SPREAD:
        return tuple(range(1, last + 1))
    chance = Random(last)  # noqa: S311
    return tuple(sorted({1 + int((each + chance.random()) * last / SPREAD) for each in range(SPREAD)}))
