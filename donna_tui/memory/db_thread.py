"""`memory.db` on a dedicated thread: opened on first use, backed up and closed at the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from donna_tui.memory.conversations import expire_conversations
from donna_tui.memory.database import MemoryDb, back_up, back_up_if_due, drop_backups, open_db
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import EventHub, ProblemRaised

T = TypeVar("T")

EXPIRY_SECONDS = 1_800.0
"""Seconds without a new turn after which a conversation is closed."""


class DbThread:
    """Run work with the memory on its thread. `changed` is called after each change; only DonnaError is raised."""

    def __init__(self, folder: Path, hub: EventHub, changed: Callable[[], None]) -> None:
        self._folder, self._hub, self._changed = folder, hub, changed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="donna-memory")
        self._db: MemoryDb | None = None

    async def run(self, work: Callable[[MemoryDb], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, lambda: work(self._opened()))
        except OSError as error:
            raise DonnaError(Reason.IO_ERROR, f"the memory cannot be read or written ({error.strerror})") from error

    async def change(self, work: Callable[[MemoryDb], T]) -> T:
        """Run a function that changes the memory, and notify the index."""
        done = await self.run(work)
        self._changed()
        return done

    async def back_up(self) -> None:
        await self.run(lambda db: back_up_if_due(db.database, time.time()))

    async def renew_backups(self) -> None:
        """Replace all backups and damaged copies by a new backup, because they contain what was erased."""

        def renew(db: MemoryDb) -> None:
            drop_backups(db.database.path.parent)
            back_up(db.database, time.time())

        await self.run(renew)

    async def close(self) -> None:
        if self._db:
            await self.run(_back_up_and_close)
        await asyncio.to_thread(self._thread.shutdown, wait=True)

    def _opened(self) -> MemoryDb:
        if self._db is None:
            self._db = open_db(self._folder)
            expire_conversations(self._db, time.time() - EXPIRY_SECONDS)
            if self._db.restored:
                message = f"the memory was damaged; its backup {self._db.restored} was restored"
                hint = "what was remembered since may be missing; the damaged file is next to it"
                self._hub.post(ProblemRaised(reason=Reason.DATABASE_CORRUPT, message=message, hint=hint))
        return self._db


def _back_up_and_close(db: MemoryDb) -> None:
    """Do both in one piece of work, so that an interruption between them does not leave the memory open."""
    back_up_if_due(db.database, time.time())
    db.close()
