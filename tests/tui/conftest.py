"""Fixtures of the tests that run the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tui.quiet import economical


@pytest.fixture(scope="package", autouse=True)
def quick() -> Iterator[None]:
    """Make starting an app cheap, since each test starts one."""
    with economical():
        yield
