"""`memory.db` on one thread of its own: opened when it is first wanted, backed up and closed at the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from donna_tui.memory.conversations import expire_sessions
from donna_tui.memory.database import MemoryDb, back_up, back_up_if_due, drop_backups, open_db
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import EventHub, ProblemRaised

T = TypeVar("T")

EXPIRY_SECONDS = 1_800.0
"""A session in which nobody has said anything for half an hour is over."""


class DbThread:
    """`changed` is told after each change. What is run raises only DonnaError."""

    def __init__(self, folder: Path, hub: EventHub, changed: Callable[[], None]) -> None:
        self._folder, self._hub, self._changed = folder, hub, changed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="donna-memory")
        self._db: MemoryDb | None = None

    async def run(self, work: Callable[[MemoryDb], T]) -> T:
        """Run a piece of work with the memory."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, lambda: work(self._opened()))
        except OSError as error:
            raise DonnaError(Reason.IO_ERROR, f"the memory cannot be read or written ({error.strerror})") from error

    async def change(self, work: Callable[[MemoryDb], T]) -> T:
        """The same, where the index has to follow."""
        done = await self.run(work)
        self._changed()
        return done

    async def back_up(self) -> None:
        """Make a backup if it is time."""
        await self.run(lambda db: back_up_if_due(db.database, time.time()))

    async def renew_backups(self) -> None:
        """Put a new backup in the place of all others, since they hold what is to be forgotten for good."""
        await self.run(_renew_backups)

    async def close(self) -> None:
        """Back up what has changed if it is time, and close the memory."""
        if self._db:
            await self.run(_last_things)
        await asyncio.to_thread(self._thread.shutdown, wait=True)

    def _opened(self) -> MemoryDb:
        if self._db is None:
            self._db = open_db(self._folder)
            expire_sessions(self._db, time.time() - EXPIRY_SECONDS)
            if self._db.restored:
                self._hub.post(_restored(self._db.restored))
        return self._db


def _renew_backups(db: MemoryDb) -> None:
    drop_backups(db.database.path.parent)
    back_up(db.database, time.time())


def _last_things(db: MemoryDb) -> None:
    back_up_if_due(db.database, time.time())
    db.close()


def _restored(backup: str) -> ProblemRaised:
    return ProblemRaised(
        reason=Reason.DATABASE_CORRUPT,
        message=f"the memory was damaged; its backup {backup} has taken its place",
        hint="what was remembered since may be missing; the damaged file was kept beside it",
    )
