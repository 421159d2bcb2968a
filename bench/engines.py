"""An engine in this process: to fill an index, and to time searches in it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from bench.program import Home
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.platform.spaces import space_at
from donna_tui.types.events import Listener
from donna_tui.types.search import Mode, SearchRequest

WARM_UP = 10
"""Searches that are not counted: the first ones read the index from disk."""


@contextlib.asynccontextmanager
async def opened(
    home: Home, vault: Path, listen: Listener | None = None, *, stays: bool = False
) -> AsyncIterator[Engine]:
    """An engine with its model loaded if it has one, as long as the block runs.

    `listen` hears of all its events; one that stays watches the vault and keeps vectors in memory, as the app does.
    """
    engine = Engine(space_at(vault, home.paths), MemoryConfig(), home.paths, watch=stays, what="a benchmark")
    if listen:
        engine.subscribe(listen)
    try:
        await engine.start()
        await engine.model_known.wait()
        yield engine
    finally:
        await engine.stop()


async def search_ms(
    home: Home, vault: Path, questions: Sequence[str], mode: Mode = "hybrid", k: int = 8
) -> list[float]:
    """How long each question takes in a warm engine that stays, as that of the app and of an MCP server does, in ms."""
    async with opened(home, vault, stays=True) as engine:
        for question in questions[:WARM_UP]:
            await engine.search(SearchRequest(text=question, mode=mode, k=k))
        while engine.status().last_reconcile is None:
            await asyncio.sleep(0.1)
        return [await _timed(engine, SearchRequest(text=question, mode=mode, k=k)) for question in questions]


async def _timed(engine: Engine, request: SearchRequest) -> float:
    started = time.perf_counter()
    await engine.search(request)
    return (time.perf_counter() - started) * 1000


async def index(home: Home, vault: Path) -> None:
    """Bring the index of a vault up to date."""
    async with opened(home, vault) as engine:
        await engine.sync()
