"""Divide a table into ranges of keys, and sample it in a few stretches.

Passages of one time are alike, and the notes of a folder stand beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from donna_tui.platform.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Range: TypeAlias = tuple[int, int]


def span(ranges: Sequence[Range]) -> int:
    """How many keys there are in some ranges."""
    return sum(last - first + 1 for first, last in ranges)


def cut(ranges: Sequence[Range], start: int, end: int) -> list[Range]:
    """What stands from one place to before another, counted along the ranges."""
    pieces, passed = [], 0
    for first, last in ranges:
        begin, beyond = max(first, first + start - passed), min(last + 1, first + end - passed)
        if begin < beyond:
            pieces.append((begin, beyond - 1))
        passed += last - first + 1
    return pieces


def halves(ranges: Sequence[Range]) -> tuple[list[Range], list[Range]]:
    """As many keys in each."""
    whole = span(ranges)
    return cut(ranges, 0, whole // 2), cut(ranges, whole // 2, whole)


def around(keys: NDArray[np.int64], most: int) -> list[Range]:
    """At most so many ranges in which all of some keys are, which are in order: between them the largest gaps."""
    if not len(keys):
        return []
    gaps = np.diff(keys)
    widest = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
    ends = widest[gaps[widest] > 1]
    firsts, lasts = keys[[0, *(ends + 1)]], keys[[*ends, len(keys) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


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
