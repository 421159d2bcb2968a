"""Work on the memories of all indexes that a keeper has: waiting until they are in, and bringing a source in anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial

from donna_tui.errors import DonnaError
from donna_tui.ingest.keeper import Keeper
from donna_tui.ingest.pipeline import Pipeline
from donna_tui.ingest.worker import FLUSH_SECONDS
from donna_tui.memories import BackfillRow, MemorySource

SOURCES = (
    MemorySource.VAULT, MemorySource.CHAT, MemorySource.TASK, MemorySource.CORRECTION, MemorySource.MEMORY,
)  # fmt: skip


def look(keeper: Keeper) -> None:
    """What is remembered has changed."""
    for pipeline in keeper.indexes.pipelines:
        if pipeline.beside:
            pipeline.beside.look()


async def settled(keeper: Keeper, patience: float) -> bool:
    """Wait until the indexes hold what is remembered, for so many seconds at the most; whether they do."""
    look(keeper)
    try:
        async with asyncio.timeout(patience):
            await keeper.indexes.settled()
    except (TimeoutError, DonnaError):
        return False
    return True


async def backfill(keeper: Keeper, source: MemorySource) -> BackfillRow:
    """Bring one source in anew. A failure is told in the row, so that the other sources go on."""
    try:
        if source is MemorySource.VAULT:
            await keeper.compare(full=False)
        else:
            for pipeline in keeper.indexes.pipelines:
                await _step_through(pipeline, source)
        await keeper.indexes.settled()
        return BackfillRow(source=source.value, state="ok", documents=await _count(keeper, source))
    except DonnaError as error:
        return BackfillRow(source=source.value, state="failed", message=error.message)
    except Exception as error:
        return BackfillRow(source=source.value, state="failed", message=f"it failed ({type(error).__name__})")


async def _step_through(pipeline: Pipeline, source: MemorySource) -> None:
    if pipeline.beside is None:
        return
    steps = pipeline.beside.backfill(source.value)
    while await pipeline.write(partial(_flush, steps)):
        continue
    if pipeline.backlog:
        pipeline.backlog.wake()
    pipeline.beside.look()


def _flush(steps: Iterator[int]) -> bool:
    deadline = time.monotonic() + FLUSH_SECONDS
    return any(time.monotonic() > deadline for _ in steps)


async def _count(keeper: Keeper, source: MemorySource) -> int:
    pipeline = keeper.indexes.active
    sql = "SELECT count(*) FROM memory_documents WHERE source_type = ?"
    count: int = await pipeline.write(lambda: pipeline.store.database.value(sql, (source.value,)))
    return count
