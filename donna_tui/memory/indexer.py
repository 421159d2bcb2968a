"""Keep the documents of `memory.db` in an index up to date, in a task of its pipeline.

What derives and scores documents is imported at the first change: a start without one, or a search from the shell,
needs none of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial

from donna_tui.index.database import Database
from donna_tui.index.vectors import HAS_VECTOR
from donna_tui.ingest.pipeline import Pipeline
from donna_tui.ingest.worker import FLUSH_SECONDS, PASSING, PAUSE_SECONDS
from donna_tui.memory.changes import ChangeFollower
from donna_tui.platform.supervisor import set_within
from donna_tui.types.errors import DatabaseError, DonnaError, Reason
from donna_tui.types.events import ProblemCleared
from donna_tui.vault.client import VaultNote

POLL_SECONDS = 1.0
"""Seconds between two checks for changes made by another process."""


class MemoryIndexer:
    """Keep the documents of `memory.db`, and the tasks of notes, in a pipeline's index up to date.

    `stored`, `removed`, `lacks_scores` and `close` are for the writer's thread, the other methods for the event loop.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self._hub, self._database = pipeline, pipeline.context.hub, pipeline.store.database
        self._follower = ChangeFollower(pipeline.context, pipeline.store)
        self._check_requested = asyncio.Event()
        self._check_requested.set()
        self._busy = True
        self._unscored = True
        self._trouble: DonnaError | None = None

    def stored(self, note: VaultNote) -> None:
        """Handle a note that was stored, or stored again. Never raises."""
        self._follower.tasks.stored(note)
        self._unscored = True

    def removed(self, path: str) -> None:
        """Handle a note that was removed. Never raises."""
        self._follower.tasks.removed(path)

    @property
    def waiting(self) -> bool:
        """Return whether there is anything to index, or to score if there is a model; False after an error."""
        if self._trouble:
            return False
        unscored = self._unscored and self._pipeline.embeddings is not None
        return self._busy or self._check_requested.is_set() or unscored

    def lacks_scores(self) -> bool:
        return lacks_scores(self._database)

    def request_check(self) -> None:
        self._check_requested.set()

    async def run(self) -> None:
        while True:
            self._busy = True
            self._check_requested.clear()
            try:
                await self._round()
            except DatabaseError as error:
                await self._wait_out(error)
                continue
            finally:
                self._busy = False
            if self._trouble:
                self._hub.post(ProblemCleared(reason=self._trouble.reason))
                self._trouble = None
            await set_within(self._check_requested, POLL_SECONDS)

    async def _round(self) -> None:
        await self._step_through(self._follower.follow())
        embeddings = self._pipeline.embeddings
        if self._unscored and embeddings and embeddings.idle.is_set():
            self._unscored = False
            if await self._pipeline.write(self.lacks_scores):
                from donna_tui.memory.scores import score_waiting

                scoring = score_waiting(self._database)
                while (await self._pipeline.write(partial(_flush, scoring)))[0]:
                    continue
                lacking = await self._pipeline.write(self.lacks_scores)
                self._unscored = self._unscored or lacking  # more may have been stored meanwhile

    async def _step_through(self, steps: Iterator[int]) -> None:
        """Run a generator in time-limited flushes, so that edits of notes are stored between them."""
        more = True
        while more:
            more, changed = await self._pipeline.write(partial(_flush, steps))
            self._unscored = self._unscored or changed
            if changed and self._pipeline.embeddings:
                self._pipeline.embeddings.wake()

    async def _wait_out(self, error: DatabaseError) -> None:
        if error.reason not in PASSING and error.reason is not Reason.DATABASE_CORRUPT:
            raise error
        if self._trouble is None or self._trouble.reason is not error.reason:
            self._hub.report(error)
        self._trouble = error
        await self._pipeline.write(self._follower.close)
        await asyncio.sleep(PAUSE_SECONDS)

    async def backfill(self, source: str) -> None:
        """Reindex a source. Raises DonnaError."""
        await self._step_through(self._follower.backfill(source))
        self.request_check()

    def close(self) -> None:
        self._follower.close()


def lacks_scores(database: Database) -> bool:
    """Return whether there is an embedded memory without a novelty."""
    sql = (
        "SELECT 1 FROM memory_scores s JOIN memory_chunks c ON c.id = s.chunk"  # noqa: S608
        f" WHERE s.novelty IS NULL AND c.{HAS_VECTOR} LIMIT 1"
    )
    return bool(database.value(sql))


def _flush(steps: Iterator[int]) -> tuple[bool, bool]:
    """Process changes for the time of one flush. Return whether there are more, and whether anything changed."""
    deadline = time.monotonic() + FLUSH_SECONDS
    changed = False
    for step in steps:
        changed = changed or step > 0
        if time.monotonic() > deadline:
            return True, changed
    return False, changed
