"""Reader threads: parallel parts of a search, no free thread, closing, and an index that is replaced meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from unittest import mock

import pytest

from donna_tui.index.database import Database
from donna_tui.index.generations import index_path
from donna_tui.index.invocations import InputHash
from donna_tui.index.readers import READERS, Part, Readers
from donna_tui.index.vectors import VectorIndex
from donna_tui.search.hybrid import Settings
from donna_tui.search.service import SearchService
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.events import EventHub
from donna_tui.types.search import Filters, SearchRequest
from tests.unit.index_parts import note, open_store

THREADS = READERS + 1

T = TypeVar("T")


def make_index(folder: Path, generation: int, text: str) -> Readers:
    store = open_store(index_path(folder, generation))
    store.upsert(note(f"{generation}.md", text))
    store.database.close()
    return Readers(index_path(folder, generation), long_running=False)


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[Readers]:
    readers = make_index(tmp_path, 1, "a heron")
    yield readers
    readers.close()


def thread_of(_: Database) -> str:
    return threading.current_thread().name


def count_notes(database: Database) -> int:
    count: int = database.value("SELECT count(*) FROM memory_documents")
    return count


async def test_a_part_is_read_on_another_thread_and_connection(readers: Readers) -> None:
    started = threading.Event()

    def part(other: Database) -> tuple[Database, str]:
        started.set()
        return other, thread_of(other)

    def work(database: Database, _: VectorIndex) -> tuple[bool, bool]:
        waited_for = readers.run_parallel(part)
        assert started.wait(30)
        other, there = waited_for()
        return other is not database, there != thread_of(database)

    assert await readers.run(work) == (True, True)


async def test_where_all_threads_wait_for_a_part_each_does_its_own(readers: Readers) -> None:
    together = threading.Barrier(THREADS, timeout=30)

    def work(database: Database, _: VectorIndex) -> bool:
        together.wait()
        part = readers.run_parallel(thread_of)
        together.wait()
        own = part() == thread_of(database)
        together.wait()
        return own

    found = await asyncio.wait_for(asyncio.gather(*(readers.run(work) for _ in range(THREADS))), 60)
    assert found == [True] * THREADS


async def test_a_dropped_part_is_not_begun(readers: Readers) -> None:
    together, go_on, begun = threading.Barrier(THREADS + 1, timeout=30), threading.Event(), list[str]()

    def work(*_: object) -> None:
        together.wait()
        go_on.wait(30)

    running = [asyncio.ensure_future(readers.run(work)) for _ in range(THREADS)]
    await asyncio.to_thread(together.wait)
    kept, dropped = (readers.run_parallel(lambda _, name=name: begun.append(name)) for name in ("kept", "dropped"))
    dropped.drop()
    go_on.set()
    await asyncio.gather(*running)
    await readers.run(lambda *_: kept())
    assert begun == ["kept"]


async def test_a_search_that_is_cancelled_drops_its_words(readers: Readers) -> None:
    run_parallel, parts = readers.run_parallel, list[mock.Mock]()

    def watched(work: Callable[[Database], T]) -> mock.Mock:
        parts.append(mock.Mock(wraps=run_parallel(work)))
        return parts[-1]

    sandbox = SearchService(lambda: readers, Settings(0.25, 8), EventHub(), InputHash(b"key"))
    with mock.patch.object(readers, "run_parallel", watched):
        searching = asyncio.ensure_future(sandbox.search(SearchRequest(text="heron", k=8)))
        await asyncio.sleep(0)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
    assert [part.drop.call_count for part in parts] == [1]


async def test_error_of_a_parallel_part_is_raised_to_the_caller(readers: Readers) -> None:
    def failing(_: Database) -> int:
        raise DatabaseError(Reason.IO_ERROR, "the disk is gone")

    with pytest.raises(DatabaseError, match="gone"):
        await readers.run(lambda *_: readers.run_parallel(failing)())


async def test_a_part_that_is_asked_for_while_they_close_is_read_where_it_is_asked_for(readers: Readers) -> None:
    asked, closing = threading.Event(), threading.Event()

    def work(database: Database, _: VectorIndex) -> bool:
        asked.set()
        closing.wait(30)
        return readers.run_parallel(thread_of)() == thread_of(database)

    running = asyncio.ensure_future(readers.run(work))
    await asyncio.to_thread(asked.wait, 30)
    closed = asyncio.ensure_future(asyncio.to_thread(readers.close))
    while not readers._closing.is_set():
        await asyncio.sleep(0.01)
    closing.set()
    assert await running
    await closed


async def test_closed_readers_report_busy(readers: Readers) -> None:
    readers.close()
    with pytest.raises(DatabaseError) as caught:
        await readers.run(lambda database, _: count_notes(database))
    assert caught.value.reason is Reason.BUSY


async def test_an_index_that_is_replaced_during_a_search_is_not_missed(readers: Readers, tmp_path: Path) -> None:
    newer = make_index(tmp_path, 2, "a heron and a stork")
    now, run_parallel = [readers], readers.run_parallel

    def replaced_meanwhile(work: Callable[[Database], T]) -> Part[T]:
        started = run_parallel(work)
        now[0] = newer
        readers.close()
        return started

    sandbox = SearchService(lambda: now[0], Settings(0.25, 8), EventHub(), InputHash(b"key"))
    with mock.patch.object(readers, "run_parallel", replaced_meanwhile):
        outcome = await sandbox.search(SearchRequest(text="heron", k=8))
    assert [hit.path for hit in outcome.hits] == ["2.md"]
    newer.close()


async def test_a_search_in_a_closed_index_without_a_successor_fails(readers: Readers) -> None:
    sandbox = SearchService(lambda: readers, Settings(0.25, 8), EventHub(), InputHash(b"key"))
    readers.close()
    with pytest.raises(DatabaseError, match="no longer"):
        await sandbox.search(SearchRequest(text="heron", k=8))


async def test_a_folder_that_is_asked_for_again_has_what_another_connection_brought_into_it(tmp_path: Path) -> None:
    store = open_store(index_path(tmp_path, 1))
    for path in ("Projects/1.md", "Projects/2.md", "Garden/3.md"):
        store.upsert(note(path, f"a heron of {path}"))
    readers = Readers(index_path(tmp_path, 1), long_running=True)
    sandbox = SearchService(lambda: readers, Settings(0.25, 8), EventHub(), InputHash(b"key"))
    request = SearchRequest(text="heron", k=8, filters=Filters(path_prefix="Projects"))

    async def paths() -> set[str]:
        return {hit.path for hit in (await sandbox.search(request)).hits}

    assert await paths() == await paths() == {"Projects/1.md", "Projects/2.md"}
    store.rename("Garden/3.md", note("Projects/3.md", "a heron of Garden/3.md"))
    assert await paths() == {"Projects/1.md", "Projects/2.md", "Projects/3.md"}
    store.delete("vault", "Projects/1.md")
    assert await paths() == {"Projects/2.md", "Projects/3.md"}
    readers.close()
    store.database.close()
