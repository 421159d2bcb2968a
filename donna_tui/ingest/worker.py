"""Process queued jobs in flushes on the writer's thread, and wait for transient errors to pass."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from donna_tui.ingest.embedding_queue import Write
from donna_tui.ingest.queue import Job, MemoryIngestQueue
from donna_tui.ingest.source import Outcome, VaultSource
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import EventHub, ProblemCleared

FLUSH_SECONDS = 0.2
"""Maximum time in seconds that a flush occupies the writer's thread; vectors and edits are stored in between."""

PAUSE_SECONDS = 3.0

PASSING = frozenset({Reason.DISK_FULL, Reason.DATABASE_LOCKED, Reason.IO_ERROR, Reason.ROOT_MISSING})
"""Transient errors, after which the same work is retried."""


class IngestWorker:
    """The task that processes jobs. `finish` gets each outcome on the event loop; `trouble` is the current error.

    `in_hand` are the jobs that were taken from the queue and are not finished yet.
    """

    def __init__(
        self,
        queue: MemoryIngestQueue,
        source: VaultSource,
        write: Write,
        hub: EventHub,
        finish: Callable[[Job, Outcome], None],
    ) -> None:
        self._queue, self._source, self._write, self._hub, self._finish = queue, source, write, hub, finish
        self.trouble: DonnaError | None = None
        self.in_hand: list[Job] = []

    async def run(self) -> None:
        """Process jobs until cancelled. Raises DonnaError for an error that is not transient."""
        while True:
            self.in_hand = await self._queue.take()
            try:
                while jobs := self.in_hand:
                    done, error = await self._write(partial(self._flush, jobs))
                    for job, outcome in zip(jobs, done, strict=False):
                        self._finish(job, outcome)
                    self.in_hand = jobs[len(done) :]
                    if error:
                        self._queue.put(self.in_hand)
                        self.in_hand = []
                        await self._wait_out(error)
                    elif self.trouble:
                        self._hub.post(ProblemCleared(reason=self.trouble.reason))
                        self.trouble = None
            finally:
                self.in_hand = []

    def _flush(self, jobs: list[Job]) -> tuple[list[Outcome], DonnaError | None]:
        """Process the jobs that fit into one flush, at least one. Return their outcomes, and any error."""
        deadline = time.monotonic() + FLUSH_SECONDS
        done: list[Outcome] = []
        for job in jobs:
            try:
                done.append(self._source.ingest(job))
            except DonnaError as error:
                return done, error
            if time.monotonic() > deadline:
                break
        return done, None

    async def _wait_out(self, error: DonnaError) -> None:
        if error.reason not in PASSING:
            raise error
        known, self.trouble = self.trouble, error
        if known is None or (known.reason, known.message) != (error.reason, error.message):
            self._hub.report(error)
        await asyncio.sleep(PAUSE_SECONDS)
