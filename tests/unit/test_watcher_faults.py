"""The watcher continues after a storm of events, a remount, and temporary failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from donna_tui.ingest import watcher as watching
from donna_tui.ingest.watcher import STORM, ChangedPaths, Watcher
from donna_tui.types.events import EventHub

PATIENCE_SECONDS = 20.0


class Heard:
    """Records the hints of a watcher."""

    def __init__(self) -> None:
        self.hints: list[ChangedPaths] = []

    def __call__(self, hint: ChangedPaths) -> None:
        self.hints.append(hint)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                await asyncio.sleep(0.01)

    def names(self, path: str) -> bool:
        return any(path in hint.paths for hint in self.hints)


@asynccontextmanager
async def watched(root: Path) -> AsyncIterator[tuple[Watcher, Heard]]:
    heard = Heard()
    watcher = Watcher(root, EventHub(), heard, quiet_ms=50)
    task = asyncio.create_task(watcher.run())
    try:
        await asyncio.wait_for(watcher.begun.wait(), PATIENCE_SECONDS)
        yield watcher, heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.02)


async def test_another_folder_in_the_place_of_the_root_is_watched(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    async with watched(root) as (watcher, heard):
        for number in range(5):
            root.rename(tmp_path / f"unmounted {number}")
            root.mkdir()
            heard.hints.clear()
            await heard.until(lambda: heard.hints and heard.hints[-1].everything and watcher.mode == "native")
        await heard.until(lambda: _touched(root / "new.md") and heard.names("new.md"))


async def test_a_root_that_is_away_for_long_is_no_failure(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    async with watched(root) as (watcher, heard):
        root.rename(tmp_path / "away")
        await heard.until(lambda: any(hint.everything for hint in heard.hints))
        await asyncio.sleep(watching.POLL_SECONDS * 1.5)
        assert sum(hint.everything for hint in heard.hints) == 1, "a missing folder must be one event"
        (tmp_path / "away").rename(root)
        await heard.until(lambda: _touched(root / "new.md") and heard.names("new.md"))
        assert watcher.mode == "native"


@pytest.mark.slow
async def test_file_events_are_tried_again_after_they_failed_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails, real = 5, watching._awatch

    def awatch() -> Any:
        nonlocal fails
        fails -= 1
        if fails >= 0:
            raise OSError("no space left for watches")
        return real()

    monkeypatch.setattr(watching, "_awatch", awatch)
    async with watched(tmp_path) as (watcher, heard):
        await heard.until(lambda: watcher.mode == "native")
        await heard.until(lambda: _touched(tmp_path / "new.md") and heard.names("new.md"))


async def test_event_storm_triggers_a_full_rescan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def storm(*folders: Path, **options: Any) -> AsyncIterator[set[tuple[int, str]]]:
        yield {(1, str(tmp_path / f"{number}.md")) for number in range(STORM)}
        await asyncio.sleep(PATIENCE_SECONDS)

    monkeypatch.setattr(watching, "_awatch", lambda: storm)
    async with watched(tmp_path) as (_, heard):
        await heard.until(lambda: heard.hints)
        assert heard.hints[0] == ChangedPaths(frozenset(), everything=True)


def _touched(path: Path) -> bool:
    path.write_text(path.read_text() + "x" if path.exists() else "x")
    return True
