"""Fixtures of the tests that run the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tui.quiet import economical


@pytest.fixture(scope="package", autouse=True)
def quick() -> Iterator[None]:
    """Each test starts an app, so starting one has to be cheap."""
    with economical():
        yield
