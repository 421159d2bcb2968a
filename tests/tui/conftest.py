"""Fixtures of the tests that run the app."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.tui.lib.external import ExternalPrograms
from tests.tui.quiet import economical


@pytest.fixture(scope="package", autouse=True)
def quick() -> Iterator[None]:
    """Make starting an app cheap, since each test starts one."""
    with economical():
        yield


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, int]]:
    """Return the files that were opened in the editor, with the line, where none is opened."""
    files: list[tuple[Path, int]] = []

    async def edit(programs: ExternalPrograms, path: Path, line: int) -> None:
        files.append((path, line))

    monkeypatch.setattr(ExternalPrograms, "edit", edit)
    return files
