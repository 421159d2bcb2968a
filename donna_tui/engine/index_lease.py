"""Hold the lease of an index: one process maintains it, the others read until it ends.

A program that follows its vault first reads the index as the last run left it, and opens it for writing once the first
question is answered: importing and opening all of that takes a tenth of the time until then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from donna_tui.engine.space_context import SpaceContext
from donna_tui.index.generations import current_generation, index_path
from donna_tui.index.migrations import is_current
from donna_tui.index.readers import Readers
from donna_tui.platform.paths import modified_ns
from donna_tui.platform.spaces import SpaceLock
from donna_tui.types.errors import DatabaseError, Reason, SpaceError
from donna_tui.types.events import ChangedElsewhere, EngineStateChanged, ProblemCleared

if TYPE_CHECKING:
    from donna_tui.ingest.index_maintainer import IndexMaintainer

RETRY_SECONDS = 3.0
"""Seconds between two attempts to take the lease, and between two looks at what the process that holds it changed."""

PATIENCE_SECONDS = 3.0
"""Seconds that a second process waits for the first to create the index."""

POLL_SECONDS = 0.05


class IndexLease:
    """The lease of a space's index. `build` creates a closed maintainer; `begun` is called once it is open."""

    def __init__(
        self,
        context: SpaceContext,
        what: str,
        build: Callable[[], IndexMaintainer],
        begun: Callable[[IndexMaintainer], Awaitable[None]],
    ) -> None:
        self._what, self._build, self._begun = what, build, begun
        self._hub, self._state, self._long_running = context.hub, context.space.state, context.long_running
        self._lock = SpaceLock(self._state)
        self._readers: Readers | None = None
        self.maintainer: IndexMaintainer | None = None
        self.trouble: DatabaseError | None = None
        self._posted, self._last_change = "", 0
        self._is_wanted = asyncio.Event()

    async def begin(self) -> None:
        """Take the lease if possible, else read. Raises DatabaseError, or SpaceError if there is no index yet.

        A long-running program takes it and still only reads; `take_over` opens the index for writing.
        """
        if self._long_running and self._lock.acquire(self._what) and await self._is_readable():
            return self._post_state("running")
        until = time.monotonic() + PATIENCE_SECONDS
        while not await self._try_acquire():
            made = current_generation(self._state) is not None
            if made or self.trouble or time.monotonic() > until:
                break
            await asyncio.sleep(POLL_SECONDS)
        else:
            return
        self._look_for_changes()
        self._readers = Readers(self._existing_index(), long_running=self._long_running)
        self._post_read_only()

    async def _is_readable(self) -> bool:
        """Open the readers of the existing index. Return False if there is none, or it must be migrated or repaired."""
        generation = current_generation(self._state)
        if generation is None:
            return False
        readers = Readers(index_path(self._state, generation), long_running=True)
        try:
            current = await readers.run(lambda database, _: is_current(database))
        except DatabaseError:
            current = False
        if current:
            self._readers = readers
        else:
            await asyncio.to_thread(readers.close)
        return current

    async def take_over(self, wait_for_first_search: Callable[[], Awaitable[None]]) -> None:
        """Open the index for writing when the first question is answered or somebody waits for it, and as soon as the
        lease can be taken; until then read the newest generation.
        """
        waiting = [asyncio.ensure_future(wait_for_first_search()), asyncio.ensure_future(self._is_wanted.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
        while not self.maintainer:
            try:
                if await self._try_acquire():
                    return
            except Exception:
                self._post_read_only()
                raise
            self._post_read_only()
            newest = self._existing_index()
            if self._readers and self._readers.path != newest:
                await self._close_readers()
                self._readers = Readers(newest, long_running=self._long_running)
            self._look_for_changes()
            await asyncio.sleep(RETRY_SECONDS)

    async def opened(self) -> IndexMaintainer | None:
        """Wait until this process has opened the index for writing; return None if another one maintains it."""
        self._is_wanted.set()
        while self.is_held and self.maintainer is None:
            await asyncio.sleep(POLL_SECONDS)
        return self.maintainer

    @property
    def is_held(self) -> bool:
        return self._lock.is_held

    async def _try_acquire(self) -> bool:
        if not (self._lock.is_held or self._lock.acquire(self._what)):
            self._clear_trouble()
            return False
        from donna_tui.ingest.worker import PASSING

        try:
            maintainer = self._build()
            await maintainer.open(self._readers)
        except DatabaseError as error:
            self._lock.release()
            if error.reason not in PASSING:
                raise
            self._report(error)
            return False
        except BaseException:
            self._lock.release()
            raise
        self._clear_trouble()
        self.maintainer = maintainer
        if self._readers is maintainer.indexes.active.readers:
            self._readers = None
        await self._begun(maintainer)
        await self._close_readers()
        self._post_state("running")
        return True

    def _look_for_changes(self) -> None:
        """Post an event if a database of the space was written to since the last call."""
        databases = [*self._state.glob("*.db"), *self._state.glob("*.db-wal")]
        last_change = max(map(modified_ns, databases), default=0)
        if self._last_change < last_change:
            if self._last_change:
                self._hub.post(ChangedElsewhere())
            self._last_change = last_change

    def _post_read_only(self) -> None:
        self._post_state("read_only", self.trouble.message if self.trouble else f"{self._other()} maintains this index")

    def _post_state(self, state: Literal["running", "read_only"], detail: str = "") -> None:
        if state != self._posted:
            self._posted = state
            self._hub.post(EngineStateChanged(state=state, detail=detail))

    def _report(self, error: DatabaseError) -> None:
        if self.trouble is None or self.trouble.reason is not error.reason:
            self._hub.report(error)
        self.trouble = error

    def _clear_trouble(self) -> None:
        if self.trouble:
            self._hub.post(ProblemCleared(reason=self.trouble.reason))
            self.trouble = None

    def _existing_index(self) -> Path:
        generation = current_generation(self._state)
        if generation is not None:
            return index_path(self._state, generation)
        if self.trouble:
            raise self.trouble
        raise SpaceError(Reason.BUSY, f"{self._other()} is creating the index", hint="try again in a moment")

    def _other(self) -> str:
        return self.owner or "another Donna process"

    @property
    def owner(self) -> str:
        """Return a description of the process that holds the lease; empty if it is unknown."""
        return self._lock.owner()

    @property
    def readers(self) -> Readers:
        """Return the reader threads of the index in use. Raises SpaceError before `begin` and after `end`."""
        if self.maintainer:
            return self.maintainer.indexes.active.readers
        if self._readers is None:
            raise SpaceError(Reason.BUSY, "the engine is not running")
        return self._readers

    @property
    def database(self) -> Path:
        if self.maintainer:
            return self.maintainer.indexes.active.path
        return index_path(self._state, current_generation(self._state) or 1)

    async def end(self) -> None:
        """Close everything and release the lease."""
        maintainer, self.maintainer = self.maintainer, None
        if maintainer:
            await maintainer.close()
        await self._close_readers()
        self._lock.release()

    async def _close_readers(self) -> None:
        readers, self._readers = self._readers, None
        if readers:
            await asyncio.to_thread(readers.close)
