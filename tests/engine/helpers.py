"""Run a real engine on real files in a temporary folder, and wait for what it does."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw
import pytest

from donna_tui.config.models import MemoryConfig
from donna_tui.embedding import files
from donna_tui.engine.engine import Engine
from donna_tui.index.generations import current_generation, index_path
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space, space_at
from donna_tui.types.events import EngineEvent, NoteRenamed, ReconcileDone
from donna_tui.types.search import Mode, SearchOutcome, SearchRequest
from tests.git_vaults import write

GENEROUS_SECONDS = 15.0
EVAL_VAULT = Path(__file__).resolve().parents[3] / "shared" / "eval" / "vault_tasks" / "vault"

E = TypeVar("E")


async def eventually(predicate: Callable[[], object], what: str = "") -> None:
    """Wait until `predicate` is true. Fail the test if that takes too long."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GENEROUS_SECONDS
    while not predicate():
        if loop.time() > deadline:
            pytest.fail(f"did not happen: {what or predicate}")
        await asyncio.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A vault and Donna's folders, all below one folder."""

    root: Path
    paths: AppPaths

    @property
    def space(self) -> Space:
        return space_at(self.root, self.paths)

    @property
    def database(self) -> Path:
        return index_path(self.paths.space_state(self.root), current_generation(self.paths.space_state(self.root)) or 1)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a note as another program would."""
        return write(self.root, path, text)

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Query the index file in use, over a separate connection."""
        connection = apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(connection.execute(sql, parameters))
        finally:
            connection.close()

    def texts(self) -> set[tuple[str, str]]:
        """Return every stored passage with its path."""
        sql = "SELECT d.source_id, c.content FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
        return {(path, content) for path, content in self.rows(sql)}


def new_sandbox(folder: Path, model_cache: Path | None = None) -> Sandbox:
    """Create an empty vault below `folder`, with the exported model if `model_cache` is given."""
    root, home = folder / "vault", folder / "home"
    root.mkdir(parents=True, exist_ok=True)
    paths = AppPaths(home / "config", home / "state", home / "cache", home / "logs").make()
    if model_cache:
        (paths.cache / "models").symlink_to(model_cache / "models", target_is_directory=True)
    return Sandbox(root, paths)


def hide_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the original weights are not installed."""
    monkeypatch.setattr(files, "find_weights", lambda: None)


@dataclass(slots=True)
class Running:
    """A running engine, and every event since before its start."""

    engine: Engine
    events: list[EngineEvent] = field(default_factory=list)

    def events_of(self, kind: type[E]) -> list[E]:
        """Return all events of one type so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def search(self, text: str, mode: Mode = "keyword", k: int = 32) -> SearchOutcome:
        return await self.engine.search(SearchRequest(text=text, mode=mode, k=k))

    async def found(self, text: str, mode: Mode = "keyword", k: int = 32) -> list[str]:
        """Return the distinct paths of the hits, best first."""
        return list(dict.fromkeys(hit.path for hit in (await self.search(text, mode, k)).hits))

    async def until_found(self, text: str, path: str, mode: Mode = "keyword", k: int = 32) -> None:
        await self._until(text, mode, k, lambda paths: path in paths, f"“{text}” found in {path} ({mode})")

    async def until_lost(self, text: str, path: str, mode: Mode = "keyword", k: int = 32) -> None:
        await self._until(text, mode, k, lambda paths: path not in paths, f"“{text}” gone from {path} ({mode})")

    async def _until(self, text: str, mode: Mode, k: int, holds: Callable[[list[str]], bool], what: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + GENEROUS_SECONDS
        while not holds(await self.found(text, mode, k)):
            if loop.time() > deadline:
                pytest.fail(f"did not happen: {what}")
            await asyncio.sleep(0.05)

    async def until_renamed(self, old: str, new: str) -> None:
        await eventually(
            lambda: any((e.old_path, e.path) == (old, new) for e in self.events_of(NoteRenamed)), f"{old} became {new}"
        )

    async def wait_until_indexed(self, *, vectors: bool = True) -> None:
        """Wait until the first comparison is complete and everything that it found is indexed."""

        def complete() -> bool:
            status = self.engine.status()
            coverage = status.coverage
            return (
                status.last_reconcile is not None
                and status.queued == 0
                and coverage.text == coverage.notes
                and (not vectors or (self.engine.model_known.is_set() and coverage.vectors == coverage.notes))
            )

        await eventually(lambda: self.events_of(ReconcileDone), "a comparison")
        await eventually(complete, "a complete index")

    def problems(self) -> set[str]:
        """Return the reason codes of the current problems."""
        return {str(problem.reason) for problem in self.engine.status().problems}


@contextlib.asynccontextmanager
async def open_engine(
    sandbox: Sandbox,
    *,
    watch: bool = True,
    config: MemoryConfig | None = None,
    what: str = "donna",
    semantic: bool = True,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Running]:
    """Run an engine on the vault of a sandbox, and stop it even if the test fails."""
    settings = config or quick_config()
    engine = Engine(sandbox.space, settings, sandbox.paths, watch=watch, what=what, clock=clock, semantic=semantic)
    async with started(engine) as running:
        yield running


@contextlib.asynccontextmanager
async def started(engine: Engine) -> AsyncIterator[Running]:
    """Record the events of an engine, start it, and stop it even if the test fails."""
    running = Running(engine)
    engine.subscribe(running.events.append)
    try:
        await engine.start()
        yield running
    finally:
        await engine.stop()


async def index_once(sandbox: Sandbox, config: MemoryConfig | None = None) -> Running:
    """Start, update the index and stop, as `donna index` does."""
    async with open_engine(sandbox, watch=False, config=config, semantic=False) as running:
        await running.engine.sync()
    return running


def quick_config(**blocks: dict[str, Any]) -> MemoryConfig:
    """Return the default settings with a short rename window, and the changes of a test."""
    return MemoryConfig.model_validate({"sources": {"vault": {"rename_window_seconds": 0.5}}, **blocks})


def integrity(database: Path) -> str:
    """Return the result of SQLite's full integrity check of an index file."""
    connection = apsw.Connection(str(database))
    try:
        return str(connection.execute("PRAGMA integrity_check").get)
    finally:
        connection.close()


def everything_below(folder: Path) -> Iterator[bytes]:
    """Return the bytes of every file below a folder."""
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            yield file.read_bytes()


def donna(*arguments: str) -> list[str]:
    """Return the command line that runs the program."""
    return [sys.executable, "-m", "donna_tui", *arguments]
