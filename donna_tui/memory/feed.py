"""The part of the memory in an index's pipeline: looks for what has changed, brings it in, and has it scored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial

from donna_tui.errors import DatabaseError, DonnaError, Reason
from donna_tui.events import ProblemCleared, ProblemRaised
from donna_tui.ingest.pipeline import Pipeline
from donna_tui.ingest.worker import FLUSH_SECONDS, PASSING, PAUSE_SECONDS
from donna_tui.memory.follower import FeedParts, Follower
from donna_tui.memory.scores import score_waiting, waiting
from donna_tui.supervisor import set_within
from donna_tui.vault.client import VaultNote

LOOK_SECONDS = 1.0
"""How often another process's changes of the memory are looked for."""


class MemoryFeed:
    """One for each pipeline. Its generators are stepped on the pipeline's writer thread, all else is on the loop."""

    def __init__(self, parts: FeedParts, pipeline: Pipeline) -> None:
        self._pipeline, self._hub, self._database = pipeline, parts.hub, pipeline.store.database
        self._follower = Follower(parts, pipeline.store)
        self._asked = asyncio.Event()
        self._asked.set()
        self._busy = True
        self._unscored = True
        self._trouble: DonnaError | None = None

    def stored(self, note: VaultNote) -> None:
        """A note was stored; its tasks follow."""
        self._follower.tasks.stored(note)
        self._unscored = True

    def removed(self, path: str) -> None:
        """A note is gone, and so are its tasks."""
        self._follower.tasks.removed(path)

    @property
    def waiting(self) -> bool:
        """Whether there is anything to bring in, or to score where there is a model. Trouble ends the wait."""
        if self._trouble:
            return False
        return self._busy or self._asked.is_set() or (self._unscored and self._pipeline.backlog is not None)

    def lacks_scores(self) -> bool:
        """Whether a memory that is embedded waits for its score."""
        return waiting(self._database)

    def look(self) -> None:
        """Look soon."""
        self._asked.set()

    async def run(self) -> None:
        """Follow the memory until cancelled."""
        while True:
            self._busy = True
            self._asked.clear()
            try:
                await self._round()
            except DatabaseError as error:
                await self._wait_out(error)
                continue
            finally:
                self._busy = False
            self._recovered()
            await set_within(self._asked, LOOK_SECONDS)

    async def _round(self) -> None:
        await self._step_through(self._follower.follow())
        backlog = self._pipeline.backlog
        if self._unscored and backlog and backlog.idle.is_set():
            self._unscored = False
            await self._score()
            lacking = await self._pipeline.write(self.lacks_scores)
            self._unscored = self._unscored or lacking  # more may have been stored meanwhile

    async def _step_through(self, steps: Iterator[int]) -> None:
        """Work a generator off in flushes, so that edits of notes get their turn between them."""
        more = True
        while more:
            more, changed = await self._pipeline.write(partial(_flush, steps))
            self._unscored = self._unscored or changed
            if changed and self._pipeline.backlog:
                self._pipeline.backlog.wake()

    async def _score(self) -> None:
        steps = score_waiting(self._database)
        while (await self._pipeline.write(partial(_flush, steps)))[0]:
            continue

    async def _wait_out(self, error: DatabaseError) -> None:
        if error.reason not in PASSING and error.reason is not Reason.DATABASE_CORRUPT:
            raise error
        if self._trouble is None or self._trouble.reason is not error.reason:
            self._hub.post(ProblemRaised(reason=error.reason, message=error.message, hint=error.hint or ""))
        self._trouble = error
        await self._pipeline.write(self._follower.close)
        await asyncio.sleep(PAUSE_SECONDS)

    def _recovered(self) -> None:
        if self._trouble:
            self._hub.post(ProblemCleared(reason=self._trouble.reason))
            self._trouble = None

    def backfill(self, source: str) -> Iterator[int]:
        """Bring in a source anew; the number of its documents that were looked at, so far. Raises DonnaError."""
        yield from self._follower.backfill(source)
        self._unscored = True

    def close(self) -> None:
        """Close the memory; the next look opens it again."""
        self._follower.close()


def _flush(steps: Iterator[int]) -> tuple[bool, bool]:
    """Work for the time of one flush; whether there is more, and whether anything changed."""
    deadline = time.monotonic() + FLUSH_SECONDS
    changed = False
    for step in steps:
        changed = changed or step > 0
        if time.monotonic() > deadline:
            return True, changed
    return False, changed
