"""Count progress and publish the engine's status while something changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.index.database import Database
from donna_tui.index.readers import Readers
from donna_tui.index.vectors import VectorIndex
from donna_tui.ingest.problem_log import ProblemLog
from donna_tui.types import events
from donna_tui.types.status import Coverage, ModelPhase, Problem, Status

if TYPE_CHECKING:
    from donna_tui.ingest.index_maintainer import IndexMaintainer

INTERVAL_SECONDS = 0.25
"""Minimum time between two counts."""

MIN_REST = 9
"""A pause is this many times as long as the count before it, which bounds the cost in a large index."""

REPORT_SECONDS = 1.0
"""A command that ends within this time reports no progress."""

MOVES_COUNTS = (
    events.ChangedElsewhere, events.IngestBatch, events.NoteDeleted, events.NoteEmbedded, events.NoteFailed,
    events.NoteIndexed, events.NoteRenamed, events.NoteSkipped, events.ReconcileDone,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measurement:
    """Counts taken at one moment; `queued` is the number of notes that are not read yet."""

    coverage: Coverage
    problems: tuple[Problem, ...]
    queued: int
    last_reconcile: float | None
    vector_engine: str


async def worth_reporting() -> None:
    await asyncio.sleep(REPORT_SECONDS)


async def measure(maintainer: IndexMaintainer | None, readers: Readers) -> Measurement:
    """Count in the newest index of the maintainer, or in the index that is read if another process maintains it."""
    if maintainer is None:
        return await readers.run(_counted)
    from donna_tui.ingest.progress import with_waiting

    pipeline = maintainer.indexes.newest
    new, moved = pipeline.new_notes, pipeline.maybe_moved

    def counted_with_waiting(database: Database, vectors: VectorIndex) -> Measurement:
        with database.snapshot():
            counted = _counted(database, vectors)
            return replace(counted, coverage=with_waiting(counted.coverage, database, new, moved))

    return replace(
        await pipeline.readers.run(counted_with_waiting), queued=pipeline.queued, last_reconcile=pipeline.last_reconcile
    )


def _counted(database: Database, vectors: VectorIndex) -> Measurement:
    from donna_tui.ingest.progress import count, file_problems

    return Measurement(count(database), file_problems(database), 0, None, vectors.name)


class StatusReporter:
    """A listener that counts in the index with `measure` and publishes progress."""

    def __init__(self, hub: events.EventHub, measure: Callable[[], Awaitable[Measurement]]) -> None:
        self._hub, self._measure = hub, measure
        self.problem_log = ProblemLog()
        self._state = events.EngineStateChanged(state="starting")
        self._model = events.ModelStateChanged(phase=ModelPhase.LOADING)
        self._watcher: events.WatcherStateChanged | None = None
        self._latest = Measurement(Coverage(), (), 0, None, "")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._moved = asyncio.Event()
        self._unsubscribe = (hub.subscribe(self.problem_log), hub.subscribe(self._listen))

    def _listen(self, event: events.EngineEvent) -> None:
        if isinstance(event, events.EngineStateChanged):
            self._state = event
        elif isinstance(event, events.ModelStateChanged):
            self._model = event
        elif isinstance(event, events.WatcherStateChanged):
            self._watcher = event
        elif isinstance(event, MOVES_COUNTS) and self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._moved.set)

    async def run(self) -> None:
        """Count after each change, until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            started = time.perf_counter()
            await self.refresh()
            await asyncio.sleep(max(INTERVAL_SECONDS, MIN_REST * (time.perf_counter() - started)))
            if not self._latest.queued:  # a queue of files that turn out to be unchanged empties without an event
                await self._moved.wait()
            self._moved.clear()

    async def refresh(self) -> None:
        self._latest = await self._measure()
        coverage = self._latest.coverage
        self._hub.post(
            events.IndexProgress(
                notes=coverage.notes,
                text_done=coverage.text,
                chunks=coverage.chunks,
                chunks_embedded=coverage.chunks_embedded,
                seconds_left=self._seconds_left(),
            )
        )

    def _seconds_left(self) -> float | None:
        """Estimate from the waiting chunks and the present rate; a waiting note counts as an average one."""
        coverage, rate = self._latest.coverage, self.problem_log.throughput()[1]
        per_note = coverage.chunks / coverage.text if coverage.text else 1.0
        waiting = coverage.chunks - coverage.chunks_embedded + self._latest.queued * per_note
        if waiting <= 0 or self._model.phase not in (ModelPhase.READY, ModelPhase.LOADING, ModelPhase.PREPARING):
            return None
        return waiting / rate if rate > 0 else None

    def close(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    def status(self, *, space: str, root: Path, database: Path, owner: str, log_file: Path) -> Status:
        search, keyword, semantic = self.problem_log.latencies()
        latest = self._latest
        return Status(
            space=space,
            root=str(root),
            database=str(database),
            database_bytes=file_bytes(database),
            state=self._state.state,
            state_detail=self._state.detail,
            model_phase=self._model.phase,
            model=self._model.model,
            model_detail=self._model.detail,
            vector_engine=latest.vector_engine,
            watcher=self._watcher.mode if self._watcher else "off",
            last_reconcile=latest.last_reconcile,
            coverage=latest.coverage,
            queued=latest.queued,
            seconds_left=self._seconds_left(),
            throughput=self.problem_log.throughput()[0],
            embedded_this_run=self.problem_log.embedded,
            reused_this_run=self.problem_log.reused,
            search_latency=search,
            keyword_after_save=keyword,
            semantic_after_save=semantic,
            problems=(*self.problem_log.problems, *latest.problems),
            owner=owner,
            log_file=str(log_file),
        )


def file_bytes(path: Path) -> int:
    """Return the size of a database with its journal; 0 if it does not exist."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
