"""Ranges of keys: intersected, halved, and built around keys."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.index.sampling import Range, around, cut, halves, span


def keys_in(ranges: list[Range]) -> list[int]:
    return [key for first, last in ranges for key in range(first, last + 1)]


@st.composite
def ranges(draw: st.DrawFn) -> list[Range]:
    """Generate a few ranges, in order and disjoint."""
    edges = sorted(draw(st.sets(st.integers(1, 200), max_size=12)))
    return list(zip(edges[::2], edges[1::2], strict=False))


sets_of_keys = st.sets(st.integers(1, 300), max_size=60).map(sorted)


@given(ranges(), st.integers(-5, 250), st.integers(-5, 250))
def test_cut_returns_the_keys_between_two_positions(whole: list[Range], start: int, end: int) -> None:
    assert keys_in(cut(whole, start, end)) == keys_in(whole)[max(0, start) : max(0, end)]


@given(ranges())
def test_halves_splits_ranges_evenly_without_loss(whole: list[Range]) -> None:
    older, newer = halves(whole)
    assert keys_in(older) + keys_in(newer) == keys_in(whole)
    assert span(newer) - span(older) in (0, 1)


@given(sets_of_keys, st.integers(1, 9))
def test_around_covers_all_keys_and_excludes_the_largest_gaps(keys: list[int], most: int) -> None:
    found = around(np.array(keys, dtype=np.int64), most)
    assert len(found) <= most
    assert set(keys) <= set(keys_in(found))
    assert all(first in keys and last in keys for first, last in found)
    gaps = sorted((after - before - 1 for before, after in pairwise(keys)), reverse=True)
    left_out = sum(after[0] - before[1] - 1 for before, after in pairwise(found))
    assert left_out == sum(gaps[: most - 1])
