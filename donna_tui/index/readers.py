"""Read connections, one per thread, so that a search never waits for ingestion or for another search."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Generic, TypeVar

from donna_tui.index.database import Database, RevisionCache, open_database
from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.vector_backend import reading_vectors
from donna_tui.index.vectors import VectorIndex
from donna_tui.types.errors import DatabaseError, Reason

READERS = 2

T = TypeVar("T")


class Part(Generic[T]):
    """Part of a task, started on another thread as soon as one is free."""

    def __init__(self, part: Callable[[], T], started: Future[T] | None) -> None:
        self._part, self._started = part, started

    def __call__(self) -> T:
        """Wait for the part, or run it here if no thread has started it. Raises what it raises, and DatabaseError."""
        if self._started is None or self._started.cancel():
            return self._part()
        return self._started.result()

    def drop(self) -> None:
        if self._started is not None:
            self._started.cancel()


class Readers:
    """A small pool of reading threads over one index file; `long_running` is set if there will be many searches.

    An additional thread updates the vectors in memory when that would delay a search, or runs part of a search in
    parallel.
    """

    def __init__(self, path: Path, *, long_running: bool) -> None:
        self.path = path
        self._long_running = long_running
        self._executor = ThreadPoolExecutor(READERS + 1, thread_name_prefix="donna-read")
        self._local = threading.local()
        self._open: list[Database] = []
        self._lock = threading.Lock()
        self._scan = ExactScan()
        self._cache = RevisionCache() if long_running else None
        self._catching_up: Future[None] | None = None
        self._closing = threading.Event()

    async def run(self, work: Callable[[Database, VectorIndex], T]) -> T:
        """Run `work` on a reading thread, with its connection. Raises what it raises, and DatabaseError."""
        with self._lock:
            if self._closing.is_set():
                raise DatabaseError(Reason.BUSY, "this index is no longer read", hint="try again in a moment")
            running = self._executor.submit(self._with_connection, work)
        return await asyncio.wrap_future(running)

    def run_parallel(self, work: Callable[[Database], T]) -> Part[T]:

        def part() -> T:
            return work(self._connection())

        with self._lock:
            return Part(part, None if self._closing.is_set() else self._executor.submit(part))

    def _with_connection(self, work: Callable[[Database, VectorIndex], T]) -> T:
        database = self._connection()
        vectors = reading_vectors(database, self._scan, long_running=self._long_running, catch_up=self._catch_up)
        return work(database, vectors)

    def _catch_up(self) -> None:
        """Start the update of the vectors unless it is running. A failure is raised once, by the next call."""

        def load() -> None:
            self._scan.catch_up(self._connection(), self._closing.is_set)

        with self._lock:
            last = self._catching_up
            if self._closing.is_set() or (last is not None and not last.done()):
                return
            failed = last is not None and last.exception() is not None
            self._catching_up = None if failed else self._executor.submit(load)
        if failed and last is not None:
            last.result()

    def _connection(self) -> Database:
        """Return the connection of this thread. Either all tables exist, or another process is creating them."""
        database: Database | None = getattr(self._local, "database", None)
        if database is not None:
            return database
        database = open_database(self.path, read_only=True, cache=self._cache)
        if not database.value("SELECT 1 FROM sqlite_master WHERE name = 'memory_documents'"):
            database.close()
            raise DatabaseError(Reason.BUSY, "the index is being created", hint="try again in a moment")
        self._local.database = database
        with self._lock:
            self._open.append(database)
        return database

    def close(self) -> None:
        with self._lock:
            self._closing.set()
        self._executor.shutdown(wait=True)
        for database in self._open:
            database.close()
        self._open.clear()
