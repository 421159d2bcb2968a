"""A scan that uses a sample finds exactly the largest products that sorting all of them finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.index.exact_scan import SAMPLED, _largest


@given(
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(0, 60 * SAMPLED),
    count=st.integers(1, 3 * SAMPLED),
    spread=st.sampled_from([1, 3, 1_000_000]),
    crowded=st.booleans(),
)
def test_largest_agrees_with_sorting(seed: int, length: int, count: int, spread: int, crowded: bool) -> None:
    products = np.random.default_rng(seed).integers(0, spread, length).astype(np.float64)
    if crowded:  # the rows of the sample are the largest of all
        products[::SAMPLED] += spread
    rows = _largest(products, count)
    assert len(set(rows.tolist())) == len(rows) == min(count, length)
    assert sorted(products[rows]) == sorted(products)[len(products) - len(rows) :]
