"""Read connections: one a thread, so that a search never waits for ingestion or for another search."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from donna_tui.errors import DatabaseError, Reason
from donna_tui.index.database import Database, open_database
from donna_tui.index.nearest import reading_vectors
from donna_tui.index.scan import ExactScan
from donna_tui.index.vectors import VectorIndex

READERS = 2

T = TypeVar("T")


class Readers:
    """A small pool of reading threads over one index file; `stays` says that there will be many searches."""

    def __init__(self, path: Path, *, stays: bool) -> None:
        self.path = path
        self._stays = stays
        self._executor = ThreadPoolExecutor(READERS, thread_name_prefix="donna-read")
        self._local = threading.local()
        self._open: list[Database] = []
        self._lock = threading.Lock()
        self._scan = ExactScan()

    async def run(self, work: Callable[[Database, VectorIndex], T]) -> T:
        """Run `work` on a reading thread, with its connection. Raises what it raises, and DatabaseError."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._with_connection, work)

    def _with_connection(self, work: Callable[[Database, VectorIndex], T]) -> T:
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = self._connect()
        return work(database, reading_vectors(database, self._scan, stays=self._stays))

    def _connect(self) -> Database:
        """The tables are made in one transaction: all are there, or another process is just about to make them."""
        database = open_database(self.path, read_only=True)
        if not database.value("SELECT 1 FROM sqlite_master WHERE name = 'memory_documents'"):
            database.close()
            raise DatabaseError(Reason.BUSY, "the index is just being made", hint="try again in a moment")
        with self._lock:
            self._open.append(database)
        return database

    def close(self) -> None:
        """Wait for running reads and close all connections."""
        self._executor.shutdown(wait=True)
        for database in self._open:
            database.close()
        self._open.clear()
