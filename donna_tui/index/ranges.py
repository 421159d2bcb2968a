"""Ranges of keys, each its first and its last: in which part of an index something is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from donna_tui.numeric import np

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
