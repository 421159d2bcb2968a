"""Divide a table into ranges of keys, and sample it in a few stretches.

Passages indexed at the same time are alike, and the notes of a folder are adjacent.
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
    return sum(last - first + 1 for first, last in ranges)


def cut(ranges: Sequence[Range], start: int, end: int) -> list[Range]:
    """Slice ranges from one position to another, counted along their keys."""
    pieces, passed = [], 0
    for first, last in ranges:
        begin, beyond = max(first, first + start - passed), min(last + 1, first + end - passed)
        if begin < beyond:
            pieces.append((begin, beyond - 1))
        passed += last - first + 1
    return pieces


def halves(ranges: Sequence[Range]) -> tuple[list[Range], list[Range]]:
    whole = span(ranges)
    return cut(ranges, 0, whole // 2), cut(ranges, whole // 2, whole)


def around(keys: NDArray[np.int64], most: int) -> list[Range]:
    """Cover sorted keys with at most `most` ranges, split at the largest gaps."""
    if not len(keys):
        return []
    gaps = np.diff(keys)
    widest = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
    ends = widest[gaps[widest] > 1]
    firsts, lasts = keys[[0, *(ends + 1)]], keys[[*ends, len(keys) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


STRETCHES, STRETCH = 3, 3_000
"""Number and length of sampled stretches: a count of one row in a hundred is accurate to about a tenth."""

SAMPLED_FROM = 2 * STRETCHES * STRETCH


def stretches(ranges: Sequence[Range]) -> list[Range]:
    """Sample stretches of some ranges of rowids; return all of them if they are few."""
    whole = span(ranges)
    if whole < SAMPLED_FROM:
        return list(ranges)
    starts = [part * (whole - STRETCH) // (STRETCHES - 1) for part in range(STRETCHES)]
    return [piece for start in starts for piece in cut(ranges, start, start + STRETCH)]


SPREAD = 1_000
"""Rows in a stratified sample: it estimates a share to a hundredth, whatever the order of the rows, in 1.3 ms."""


@lru_cache(maxsize=1)
def spread(last: int) -> tuple[int, ...]:
    """Return a stratified sample of the rowids of a table, one of each of `SPREAD` strata; all of a small table."""
    if last <= 2 * SPREAD:
        return tuple(range(1, last + 1))
    chance = Random(last)  # noqa: S311
    return tuple(sorted({1 + int((stratum + chance.random()) * last / SPREAD) for stratum in range(SPREAD)}))
