"""The vector table is rebuilt after use without sqlite-vec, and both engines agree."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from donna_tui.index import database as index_database
from donna_tui.index import exact_scan, vector_backend, vectors
from donna_tui.index.database import Database, RevisionCache
from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.filters import Scope
from donna_tui.index.generations import index_path
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.index.readers import Readers
from donna_tui.index.store import MemoryStore
from donna_tui.index.vector_backend import reading_vectors
from donna_tui.index.vectors import (
    VecTable,
    VectorIndex,
    packed,
    quantised,
    rebuild,
    shorten_log,
    stored_vectors,
    unpacked,
)
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.search import Filters
from tests.unit.index_parts import DIM, embed_all, note, open_store, unit, vector_of

EVERYTHING = Scope(Filters())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    made = open_store(tmp_path / "i.db")
    yield made
    made.database.close()


def fill(store: MemoryStore, notes: int) -> None:
    for number in range(notes):
        store.upsert(note(f"{number}.md", f"text {number}"))
    embed_all(store)


def test_the_score_is_the_cosine(store: MemoryStore) -> None:
    store.upsert(note("a.md", "text"))
    (chunk,) = store.pending(1)
    embed_all(store)
    query = vector_of("another text")
    (match,) = store.vectors.search(store.database, query, EVERYTHING, 1)
    assert match.score == pytest.approx(float(vector_of(chunk.text) @ query), abs=5e-4)
    (itself,) = store.vectors.search(store.database, vector_of(chunk.text), EVERYTHING, 1)
    assert itself.score == pytest.approx(1.0, abs=5e-4)


def test_a_table_that_missed_changes_is_rebuilt_when_sqlite_vec_loads_again(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.db")
    store.upsert(note("a.md", "stays"))
    store.upsert(note("b.md", "goes"))
    embed_all(store)
    store.database.close()

    without = open_store(tmp_path / "i.db", vec=False)
    assert isinstance(without.vectors, ExactScan)
    without.delete("vault", "b.md")
    without.upsert(note("c.md", "comes"))
    embed_all(without)
    assert get_meta(without.database, "vec_stale") == "1"
    assert isinstance(reading_vectors(without.database, ExactScan(), long_running=True), ExactScan)
    without.database.close()

    again = open_store(tmp_path / "i.db")
    assert isinstance(again.vectors, VecTable)
    assert get_meta(again.database, "vec_stale") == "0"
    stored = again.database.rows("SELECT chunk_id FROM vec_memory_chunks")
    assert sorted(stored) == sorted(again.database.rows("SELECT chunk_id FROM memory_chunks"))
    assert len(again.vectors.search(again.database, vector_of("q"), EVERYTHING, 10)) == 2
    again.database.close()


@pytest.mark.parametrize("vec", [True, False])
def test_what_is_deleted_while_no_model_is_known_leaves_no_vector(tmp_path: Path, vec: bool) -> None:
    store = open_store(tmp_path / "i.db")
    fill(store, 3)
    store.database.close()

    without = open_store(tmp_path / "i.db", vec=vec, version="")
    without.delete("vault", "0.md")
    without.upsert(note("1.md", "another text"))
    without.database.close()

    again = open_store(tmp_path / "i.db")
    with_vectors = "SELECT chunk_id FROM memory_chunks WHERE embedding_version <> ''"
    stored = again.database.rows("SELECT chunk_id FROM vec_memory_chunks")
    assert len(stored) == 1
    assert stored == again.database.rows(with_vectors)
    again.database.close()


def test_vectors_that_no_passage_has_are_tidied_away(store: MemoryStore) -> None:
    fill(store, 3)
    with mock.patch.object(VecTable, "remove"):
        store.delete("vault", "0.md")
    assert store.database.value("SELECT count(*) FROM vec_memory_chunks") == 3
    store.tidy()
    stored = store.database.rows("SELECT chunk_id FROM vec_memory_chunks")
    assert sorted(stored) == sorted(store.database.rows("SELECT chunk_id FROM memory_chunks"))
    assert len(stored) == 2


def test_vectors_of_another_model_are_discarded_whatever_their_length(store: MemoryStore) -> None:
    fill(store, 3)
    store.use_embeddings("other@1", 2 * DIM)
    waiting = store.pending(9)
    assert len(waiting) == 3
    query = unit(np.eye(1, 2 * DIM)[0])
    store.store_vectors([(chunk.id, chunk.embed_hash, query) for chunk in waiting])
    assert [round(match.score, 2) for match in store.vectors.search(store.database, query, EVERYTHING, 5)] == [1.0] * 3


def test_a_reader_of_a_stale_table_scans_instead(store: MemoryStore) -> None:
    assert isinstance(reading_vectors(store.database, ExactScan(), long_running=True), VecTable)
    set_meta(store.database, "vec_stale", "1")
    assert isinstance(reading_vectors(store.database, ExactScan(), long_running=True), ExactScan)


def test_before_the_first_vector_a_reader_scans(tmp_path: Path) -> None:
    store = open_store(tmp_path / "i.db", version="")
    vectors = reading_vectors(store.database, ExactScan(), long_running=True)
    assert isinstance(vectors, ExactScan)
    assert vectors.search(store.database, vector_of("q"), EVERYTHING, 5) == []
    store.database.close()


def test_rebuilding_leaves_out_what_has_no_vector(store: MemoryStore) -> None:
    store.upsert(note("a.md", "embedded"))
    embed_all(store)
    store.upsert(note("b.md", "failed"))
    store.mark_failed([store.pending(1)[0].id])
    store.upsert(note("c.md", "waits"))
    rebuild(store.database, store.vectors)
    assert store.database.value("SELECT count(*) FROM vec_memory_chunks") == 1


def test_the_scan_sees_what_another_connection_wrote(tmp_path: Path) -> None:
    writer, reader = open_store(tmp_path / "i.db"), open_store(tmp_path / "i.db", version="")
    scan = ExactScan()
    assert scan.search(reader.database, vector_of("q"), EVERYTHING, 5) == []
    for number in range(3):
        writer.upsert(note(f"{number}.md", f"text {number}"))
        embed_all(writer)
        assert len(scan.search(reader.database, vector_of("q"), EVERYTHING, 5)) == number + 1
    writer.delete("vault", "0.md")
    assert len(scan.search(reader.database, vector_of("q"), EVERYTHING, 5)) == 2
    writer.database.close()
    reader.database.close()


@pytest.mark.parametrize("block", [1, 7, 20_000])
def test_the_scan_follows_every_kind_of_change(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(vectors, "SHORT_LOG", 0)
    monkeypatch.setattr(exact_scan, "BLOCK", block)
    scan, chance = ExactScan(), random.Random(7)
    for step in range(120):
        path = f"{chance.randrange(12)}.md"
        if chance.random() < 0.3:
            store.delete("vault", path)
        else:
            store.upsert(note(path, "".join(f"# Part {part}\ntext {step}\n" for part in range(chance.randrange(1, 5)))))
            if chance.random() < 0.8:
                embed_all(store)
        if chance.random() < 0.1:
            shorten_log(store.database)
        query = vector_of(f"q{step}")
        scanned = scan.search(store.database, query, EVERYTHING, 50)
        stored = store.vectors.search(store.database, query, EVERYTHING, 50)
        assert [each.id for each in scanned] == [each.id for each in stored]


def test_the_scan_grows_with_what_it_holds(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_scan, "MIN_ROWS", 2)
    scan = ExactScan()
    for number in range(30):
        store.upsert(note(f"{number}.md", f"text {number}"))
        embed_all(store)
        assert len(scan.search(store.database, vector_of("q"), EVERYTHING, 50)) == number + 1


def test_catching_up_can_be_stopped(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_scan, "BLOCK", 2)
    scan = ExactScan()
    fill(store, 6)
    answers = iter([False, False, True])
    scan.catch_up(store.database, lambda: next(answers))
    assert scan.behind(store.database) == 2
    scan.catch_up(store.database, lambda: False)
    assert scan.behind(store.database) == 0


@pytest.fixture
def long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an index with more vectors than one search loads."""
    monkeypatch.setattr(vector_backend, "SCAN_FROM", 2)
    monkeypatch.setattr(vector_backend, "AT_ONCE", 1)
    store = open_store(index_path(tmp_path, 1))
    fill(store, 6)
    store.database.close()
    return index_path(tmp_path, 1)


async def test_searches_do_not_wait_for_vectors_that_are_read_into_memory(long_log: Path) -> None:
    readers = Readers(long_log, long_running=True)
    with mock.patch.object(ExactScan, "catch_up", side_effect=lambda *_: None):
        assert [await names(readers) for _ in range(3)] == ["sqlite-vec"] * 3
    await until_the_scan_serves(readers)
    readers.close()


async def test_a_failure_to_read_them_is_raised_once(long_log: Path) -> None:
    readers = Readers(long_log, long_running=True)
    failure = DatabaseError(Reason.IO_ERROR, "the disk is gone")
    with mock.patch.object(ExactScan, "catch_up", side_effect=failure):
        assert await names(readers) == "sqlite-vec"
        with pytest.raises(DatabaseError, match="gone"):
            await until_the_scan_serves(readers)
    await until_the_scan_serves(readers)
    readers.close()


async def until_the_scan_serves(readers: Readers) -> None:
    while await names(readers) != "exact scan":
        await asyncio.sleep(0.01)


async def names(readers: Readers) -> str:
    """Return the name of the engine that answers a search."""

    def searched(database: Database, engine: VectorIndex) -> str:
        assert len(engine.search(database, vector_of("q"), EVERYTHING, 10)) == 6
        return engine.name

    return await readers.run(searched)


async def test_vectors_are_read_into_memory_for_the_first_search(long_log: Path) -> None:
    readers = Readers(long_log, long_running=True)
    with mock.patch.object(ExactScan, "catch_up", side_effect=lambda *_: None) as reading:
        await readers.run(lambda database, _: database.value("SELECT 1"))
        assert not reading.called
        await names(readers)
        readers.close()
        assert reading.called


def test_stored_vectors_are_those_of_the_chunks_that_have_one(store: MemoryStore) -> None:
    store.upsert(note("a.md", "one"))
    (chunk,) = store.pending(1)
    embed_all(store)
    store.upsert(note("b.md", "two"))
    (waiting,) = store.pending(1)
    found = stored_vectors(store.database, [chunk.id, waiting.id, 999])
    assert found == {chunk.id: packed(vector_of(chunk.text))}
    assert stored_vectors(store.database, []) == {}


def test_cached_vectors_are_those_of_the_current_text(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_database, "CACHED_VALUES", 3)
    fill(store, 6)
    cached = replace(store.database, cache=RevisionCache())
    ids = store.database.column("SELECT id FROM memory_chunks ORDER BY id")
    read: list[Sequence[int]] = []
    plain = vectors._read_vectors
    monkeypatch.setattr(vectors, "_read_vectors", lambda database, ids: read.append(list(ids)) or plain(database, ids))
    for asked in (ids[:4], ids[2:], ids[:4], [*ids[:4], 999], ids[:1]):
        assert stored_vectors(cached, asked) == plain(store.database, asked)
    assert read == [ids[:4], ids[4:], ids[:2], [999]]
    store.upsert(note("0.md", "another text"))
    assert set(stored_vectors(cached, ids)) == set(ids[1:])
    embed_all(store)
    current = store.database.column("SELECT id FROM memory_chunks ORDER BY id")
    assert stored_vectors(cached, current) == stored_vectors(store.database, current)
    assert len(stored_vectors(cached, current)) == 6


@pytest.mark.parametrize("dim", [8, 384, 1024])
def test_packed_vectors_keep_their_direction(dim: int) -> None:
    rng = np.random.default_rng(dim)
    vectors = [unit(rng.normal(size=dim)) for _ in range(200)]
    for vector in vectors:
        assert float(unpacked(packed(vector)) @ vector) == pytest.approx(1.0, abs=5e-4)
        assert float(unit(quantised(vector).astype(np.float32)) @ vector) > 0.999


def test_a_number_that_is_too_large_for_a_byte_is_cut_off() -> None:
    vector = unit(np.eye(1, 384)[0])
    assert quantised(vector).tolist() == [127, *[0] * 383]
    assert quantised(-vector).tolist() == [-127, *[0] * 383]
