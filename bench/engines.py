"""Run an engine in this process, to fill an index or to time searches in it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from bench.program import Home
from bench.report import milliseconds
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.platform.spaces import space_at
from donna_tui.types.events import Listener
from donna_tui.types.search import Mode, SearchRequest

WARM_UP = 10
"""The number of searches that are not counted, since the first ones read the index from disk."""


@contextlib.asynccontextmanager
async def opened(
    home: Home,
    vault: Path,
    listen: Listener | None = None,
    *,
    config: MemoryConfig | None = None,
    long_running: bool = False,
) -> AsyncIterator[Engine]:
    """Run an engine within the block, with its model loaded if there is one.

    `listen` is called with every event. With `long_running` the engine watches the vault and caches vectors in memory,
    as in the app.
    """
    space, settings = space_at(vault, home.paths), config or MemoryConfig()
    engine = Engine(space, settings, home.paths, watch=long_running, what="a benchmark")
    if listen:
        engine.subscribe(listen)
    try:
        await engine.start()
        await engine.model_known.wait()
        yield engine
    finally:
        await engine.stop()


async def search_ms(home: Home, vault: Path, questions: Sequence[str], mode: Mode = "hybrid") -> list[float]:
    """Return the milliseconds of each question in a warm, long-running engine, as in the app and an MCP server."""
    async with opened(home, vault, long_running=True) as engine:
        for question in questions[:WARM_UP]:
            await engine.search(SearchRequest(text=question, mode=mode))
        while engine.status().last_reconcile is None:
            await asyncio.sleep(0.1)
        return [await milliseconds(engine.search(SearchRequest(text=question, mode=mode))) for question in questions]


async def index(home: Home, vault: Path) -> None:
    async with opened(home, vault) as engine:
        await engine.sync()
