"""Embed the chunks without a vector. The database is the queue, so nothing is lost when Donna stops."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from donna_tui.embedding.service import EmbeddingService
from donna_tui.index.invocations import EMBEDS, InputHash, Invocation, record
from donna_tui.index.store import MemoryStore, PendingChunk
from donna_tui.index.vectors import Vector
from donna_tui.platform.supervisor import set_within
from donna_tui.types.errors import ModelAwayError, ModelError, Reason
from donna_tui.types.events import EventHub, IngestBatch, NoteEmbedded, NoteFailed, ProblemCleared, ProblemRaised
from donna_tui.types.search import MemorySource

BATCH = 32
"""Chunks per round: a saved edit waits for at most one round, about 0.2 s on two cores."""

RETRY_SECONDS = 30.0

Write = Callable[[Callable[[], Any]], Awaitable[Any]]
"""A function that runs another on the thread that owns the writable connection."""


@dataclass(slots=True)
class _Tally:
    """The work done for one note since it was stored."""

    computed: int = 0
    reused: int = 0
    latency_ms: float = 0.0


class EmbeddingQueue:
    """A task that processes `MemoryStore.pending` in rounds. `rested` is called whenever the queue becomes idle."""

    def __init__(
        self,
        store: MemoryStore,
        write: Write,
        service: EmbeddingService,
        hub: EventHub,
        input_hash: InputHash,
        rested: Callable[[], None],
    ) -> None:
        self._store, self._write, self._service, self._hub = store, write, service, hub
        self._input_hash, self._rested = input_hash, rested
        self._work = asyncio.Event()
        self._retry_now = asyncio.Event()
        self._tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
        self._saved: dict[str, float] = {}
        self._failed: dict[str, Reason] = {}
        self._away: Reason | None = None
        self._leaves = service.provider.leaves
        self.idle = asyncio.Event()

    def wake(self, *, now: bool = False) -> None:
        """Check for new chunks. An unavailable server is retried after its pause, or immediately with `now`."""
        if now:
            self._retry_now.set()
        if self._away is None:
            self.idle.clear()
        self._work.set()

    def saved(self, path: str, at: float) -> None:
        """Record when a note was saved (Unix time), so that `NoteEmbedded` reports the time until found."""
        self._saved[path] = at

    async def run(self) -> None:
        """Embed until cancelled, beginning with the chunks that failed before."""
        await self._write(self._store.retry_failed)
        while True:
            batch = await self._write(lambda: self._store.pending(BATCH, withhold=self._leaves))
            if not batch:
                self._clear_outage()  # no chunk needs the server any more
            if not batch or not await self._round(batch):
                await self._rest()

    async def _rest(self) -> None:
        """Wait for new work. The queue is idle even if something failed, so that callers do not wait for a retry."""
        if self._away or not self._work.is_set():
            self.idle.set()
            self._rested()
        if self._away:
            self._retry_now.clear()
            await set_within(self._retry_now, RETRY_SECONDS)
            self.idle.clear()
        elif await set_within(self._work, RETRY_SECONDS if self._failed else None):
            self._work.clear()
            return
        for path in list(self._failed):
            self._recovered(path)
        await self._write(self._store.retry_failed)

    async def _round(self, batch: list[PendingChunk]) -> bool:
        """Embed a batch of chunks. Return False if none of them got a vector."""
        fresh = await self._write(lambda: self._store.attach_cached(batch))
        waiting = {chunk.id for chunk in fresh}
        for chunk in batch:
            self._tallies[chunk.path].reused += chunk.id not in waiting
        done = len(batch) - len(fresh)
        if fresh:
            done += await self._embed(fresh)
        paths = {chunk.path for chunk in batch}
        notes = {chunk.path for chunk in batch if chunk.source_type == MemorySource.VAULT}
        for path in paths - await self._write(lambda: self._store.waiting(batch)):
            self._finish(path, is_note=path in notes)
        return done > 0

    async def _embed(self, chunks: list[PendingChunk]) -> int:
        started = time.perf_counter()
        vectors = await self._vectors(chunks)
        latency = (time.perf_counter() - started) * 1000
        done = [(chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True) if vector is not None]
        for chunk, _ in done:
            self._tallies[chunk.path].computed += 1
            self._tallies[chunk.path].latency_ms += latency / len(done)
        await self._write(lambda: self._save(done, latency))
        if done:
            self._clear_outage()
        notes = len({chunk.path for chunk, _ in done})
        self._hub.post(IngestBatch(notes=notes, chunks=len(done), latency_ms=latency))
        return len(done)

    def _save(self, done: Sequence[tuple[PendingChunk, Vector]], latency: float) -> None:
        self._store.store_vectors([(chunk.id, chunk.embed_hash, vector) for chunk, vector in done])
        rows = []
        for chunk, _ in done:
            hashed = self._input_hash(chunk.text, sensitive=chunk.sensitive)
            rows.append(Invocation(EMBEDS[chunk.source_type], self._store.version, latency / len(done), hashed))
        record(self._store.database, rows)

    async def _vectors(self, chunks: Sequence[PendingChunk]) -> list[Vector | None]:
        """Return vectors in the order of the chunks. If a batch fails, its chunks are tried individually."""
        try:
            return list(await self._service.embed_documents([chunk.text for chunk in chunks]))
        except ModelAwayError as error:
            await self._write(lambda: self._store.mark_failed([chunk.id for chunk in chunks]))
            self._failed |= {chunk.path: error.reason for chunk in chunks}
            self._clear_outage(error.reason)
            self._away = error.reason
            self._hub.report(error)
            return [None] * len(chunks)
        except ModelError as error:
            if len(chunks) == 1:
                await self._fail(chunks[0], error)
                return [None]
        return [vector for chunk in chunks for vector in await self._vectors([chunk])]

    async def _fail(self, chunk: PendingChunk, error: ModelError) -> None:
        await self._write(lambda: self._store.mark_failed([chunk.id]))
        path, reason, message = chunk.path, error.reason, error.message
        self._failed[path] = reason
        self._hub.post(NoteFailed(path=path, reason=reason, message=message, next_try=time.time() + RETRY_SECONDS))
        self._hub.post(ProblemRaised(reason=reason, message=message, path=path))

    def _clear_outage(self, still: Reason | None = None) -> None:
        if self._away and self._away is not still:
            self._hub.post(ProblemCleared(reason=self._away))
            self._away = None

    def _recovered(self, path: str) -> None:
        if reason := self._failed.pop(path, None):
            self._hub.post(ProblemCleared(reason=reason, path=path))

    def _finish(self, path: str, *, is_note: bool) -> None:
        """Finish a document whose chunks are all embedded. Only notes are reported individually."""
        self._recovered(path)
        saved, tally = self._saved.pop(path, None), self._tallies.pop(path, _Tally())
        if not is_note:
            return
        self._hub.post(
            NoteEmbedded(
                path=path,
                computed=tally.computed,
                reused=tally.reused,
                latency_ms=tally.latency_ms,
                found_after_ms=None if saved is None else (time.time() - saved) * 1000,
            )
        )
