"""`MemoryStore`: text, words and vectors stay consistent through every kind of change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from donna_tui.index import vectors
from donna_tui.index.documents import Document, folders_of, linking_to, sources_of
from donna_tui.index.filters import Scope, quoted
from donna_tui.index.keyword import search_words
from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import packed, quantised
from donna_tui.text.chunker import Chunk
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.search import Filters
from tests.unit.index_parts import DIM, bytes_on_disk, cut, embed_all, note, open_store, unit, vector_of

TWO_SECTIONS = "# Cache\nWe keep sessions in Redis.\n\n# Queue\nJobs wait in Postgres.\n"


class Counting:
    """Chunks, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, document: Document) -> list[Chunk]:
        self.calls += 1
        return cut(document)


@pytest.fixture
def chunker() -> Counting:
    return Counting()


@pytest.fixture
def store(tmp_path: Path, chunker: Counting) -> Iterator[MemoryStore]:
    made = open_store(tmp_path / "index.db", chunker)
    yield made
    consistent(made)
    made.database.close()


def consistent(store: MemoryStore) -> None:
    """Check that the keyword index agrees with the text, and the vector table with the chunks."""
    database = store.database
    database.run("INSERT INTO memory_fts (memory_fts) VALUES ('integrity-check')")
    assert words_of(store, "main.memory_fts") == words_of_a_fresh_index(store)
    database.run("INSERT INTO memory_public_fts (memory_public_fts) VALUES ('integrity-check')")
    assert words_of(store, "main.memory_public_fts") == words_of_a_fresh_index(store, "NOT sensitive")
    stamped = database.rows("SELECT chunk_id FROM memory_chunks WHERE embedding_version NOT IN ('', 'failed')")
    if store.vectors.name == "sqlite-vec":
        assert sorted(database.rows("SELECT chunk_id FROM vec_memory_chunks")) == sorted(stamped)
    assert database.value("PRAGMA quick_check") == "ok"
    assert database.rows("PRAGMA foreign_key_check") == []


def words_of_a_fresh_index(store: MemoryStore, which: str = "true") -> list[tuple[object, ...]]:
    """Build a keyword index of some documents from the text, and return its words."""
    store.database.run(
        "DROP TABLE IF EXISTS temp.words_fresh; DROP TABLE IF EXISTS temp.fresh;"
        "CREATE VIRTUAL TABLE temp.fresh USING fts5"
        " (title, heading, content, tokenize = 'porter unicode61 remove_diacritics 2');"
        "INSERT INTO temp.fresh (rowid, title, heading, content)"
        " SELECT rowid, title, heading, content FROM memory_search_text"
        f" WHERE document_id IN (SELECT id FROM memory_documents WHERE {which})"
    )
    return words_of(store, "temp.fresh")


def words_of(store: MemoryStore, table: str) -> list[tuple[object, ...]]:
    """Return every word of a keyword index, with its row, column and position."""
    schema, name = table.split(".")
    store.database.run(f"CREATE VIRTUAL TABLE temp.words_{name} USING fts5vocab ('{schema}', '{name}', 'instance')")
    return store.database.rows(f'SELECT term, doc, col, "offset" FROM temp.words_{name} ORDER BY 1, 2, 3, 4')


def found(store: MemoryStore, words: str) -> set[str]:
    """Return the paths that the keyword index finds for a phrase."""
    ids = [match.id for match in search_words(store.database, [quoted(words)], Scope(Filters()), 50)]
    marks = ", ".join("?" * len(ids))
    sql = (
        "SELECT d.source_id FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
        f" WHERE c.id IN ({marks})"
    )
    return {path for (path,) in store.database.rows(sql, ids)}


def count(store: MemoryStore, table: str) -> int:
    number: int = store.database.value(f"SELECT count(*) FROM {table}")
    return number


# Adding and replacing


def test_put_stores_a_document_once(store: MemoryStore) -> None:
    first = store.put(note("a.md", TWO_SECTIONS))
    assert store.get_document_meta("vault", "a.md") is not None
    assert store.get_document_meta("vault", "a.md")[0] == first  # type: ignore[index]  # asserted above
    with pytest.raises(DatabaseError) as caught:
        store.put(note("a.md", "other"))
    assert caught.value.reason is Reason.BUSY
    assert found(store, "Redis") == {"a.md"}


def test_an_unknown_document_has_no_meta(store: MemoryStore) -> None:
    store.put(note("a.md", "x"))
    assert store.get_document_meta("vault", "b.md") is None
    assert store.get_document_meta("chat", "a.md") is None
    assert store.get_document_meta("vault", "a.md", user_id="other") is None


def test_chunks_are_exact_slices_of_the_text(store: MemoryStore) -> None:
    store.put(note("a.md", TWO_SECTIONS))
    rows = store.database.rows("SELECT content, start_offset, end_offset FROM memory_chunks")
    assert len(rows) == 2
    assert all(content == TWO_SECTIONS[low:high] for content, low, high in rows)


def test_equal_content_costs_neither_chunking_nor_embedding(store: MemoryStore, chunker: Counting) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    embed_all(store)
    again = store.upsert(note("a.md", TWO_SECTIONS, modified_at=5.0))
    assert again.unchanged
    assert (again.chunks, again.embedded) == (2, 2)
    assert chunker.calls == 1
    assert store.pending(10) == []
    assert store.database.value("SELECT modified_at FROM memory_documents") == 5.0


def test_equal_content_with_new_aliases_is_found_by_them(store: MemoryStore, chunker: Counting) -> None:
    store.upsert(note("a.md", "plain words", aliases=("Kestrel",)))
    store.upsert(note("a.md", "plain words", aliases=("Osprey",)))
    assert chunker.calls == 1
    assert found(store, "Osprey") == {"a.md"}
    assert found(store, "Kestrel") == set()


def test_equal_content_that_became_sensitive_is_filtered_so(store: MemoryStore) -> None:
    store.upsert(note("a.md", "plain words"))
    embed_all(store)
    store.upsert(note("a.md", "plain words", sensitive=True))
    public, local = Scope(Filters(sensitive=False)), Scope(Filters(sensitive=True))
    query = vector_of("anything")
    assert store.vectors.search(store.database, query, public, 5) == []
    assert len(store.vectors.search(store.database, query, local, 5)) == 1


def test_a_replaced_document_keeps_its_id_and_the_vectors_of_unchanged_text(store: MemoryStore) -> None:
    first = store.upsert(note("a.md", TWO_SECTIONS))
    assert embed_all(store) == 2
    second = store.upsert(note("a.md", TWO_SECTIONS.replace("Postgres", "RabbitMQ")))
    assert second.id == first.id
    assert (second.chunks, second.embedded, second.unchanged) == (2, 1, False)
    assert embed_all(store) == 1
    assert found(store, "Postgres") == set()
    assert found(store, "RabbitMQ") == {"a.md"}


def test_moving_a_section_down_costs_no_embedding(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    embed_all(store)
    store.upsert(note("a.md", f"# New\nFirst of all.\n\n{TWO_SECTIONS}"))
    assert embed_all(store) == 1
    lines = store.database.rows("SELECT start_line FROM memory_chunks ORDER BY chunk_index")
    assert lines == [(1,), (4,), (7,)]


def test_a_document_that_becomes_empty_loses_its_text(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    embed_all(store)
    assert store.upsert(note("a.md", "")).chunks == 1
    assert store.database.column("SELECT content FROM memory_chunks") == [""]
    assert count(store, "vec_memory_chunks") == 0
    assert found(store, "Redis") == set()


def test_upsert_many_stores_all_in_order(store: MemoryStore) -> None:
    ids = store.upsert_many([note("a.md", "one"), note("b.md", "two"), note("a.md", "three")])
    assert ids[0] == ids[2] != ids[1]
    assert found(store, "three") == {"a.md"}
    assert count(store, "memory_documents") == 2


def test_one_failure_in_many_costs_one_document(store: MemoryStore) -> None:
    def documents() -> Iterator[Document]:
        yield note("a.md", "one")
        yield note("b.md", "two", metadata={"not": object()})

    with pytest.raises(TypeError):
        store.upsert_many(documents())
    assert found(store, "one") == {"a.md"}
    assert store.get_document_meta("vault", "b.md") is None


def test_a_replacement_that_fails_leaves_the_old_document(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    embed_all(store)
    with pytest.raises(TypeError):
        store.upsert(note("a.md", "gone", metadata={"not": object()}))
    assert found(store, "Redis") == {"a.md"}
    assert count(store, "vec_memory_chunks") == 2


# Deleting


def test_delete_removes_text_words_and_vectors_at_once(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS, links=("b",)))
    store.upsert(note("b.md", "stays"))
    embed_all(store)
    assert store.delete("vault", "a.md")
    assert found(store, "Redis") == set()
    assert found(store, "stays") == {"b.md"}
    for table in ("memory_documents", "memory_chunks", "embeddings", "vec_memory_chunks"):
        assert count(store, table) == 1, table
    assert count(store, "links") == 0
    assert not store.delete("vault", "a.md")


@pytest.mark.parametrize("change", ["delete", "replace"])
def test_a_word_that_was_removed_is_in_no_byte_of_the_index(store: MemoryStore, change: str) -> None:
    canary = "qzxcanary"
    for number in range(30):
        store.upsert(note(f"{number}.md", f"# Filler {number}\nordinary words number {number}\n"))
    store.upsert(
        note("secret.md", f"# {canary}\nthe {canary} is here\n", aliases=(canary,), metadata={"alias": canary})
    )
    embed_all(store)
    store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    folder = store.database.path.parent
    assert canary.encode() in bytes_on_disk(folder)
    if change == "delete":
        store.delete("vault", "secret.md")
    else:
        store.upsert(note("secret.md", "# Nothing\nnothing to see\n"))
    store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert canary.encode() not in bytes_on_disk(folder)
    assert canary[3:].encode() not in bytes_on_disk(folder)


def test_a_deleted_notes_vector_is_in_no_byte_of_the_index(store: MemoryStore) -> None:
    store.upsert(note("a.md", "the only one"))
    store.upsert(note("b.md", "another one"))
    vector = vector_of(store.pending(10)[1].text)
    embed_all(store)
    store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    written = bytes_on_disk(store.database.path.parent)
    assert packed(vector) in written
    assert quantised(vector).tobytes() in written
    store.delete("vault", "a.md")
    store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    left = bytes_on_disk(store.database.path.parent)
    assert packed(vector) not in left
    assert quantised(vector).tobytes() not in left


def test_twins_share_a_vector_that_survives_the_first_deletion(store: MemoryStore) -> None:
    store.upsert(note("one/a.md", "# H\nsame words\n"))
    assert embed_all(store) == 1
    twin = store.upsert(note("two/a.md", "# H\nsame words\n"))
    assert twin.embedded == 1
    assert embed_all(store) == 0
    store.delete("vault", "one/a.md")
    assert count(store, "embeddings") == 1
    assert len(store.vectors.search(store.database, vector_of("q"), Scope(Filters()), 5)) == 1
    store.delete("vault", "two/a.md")
    assert count(store, "embeddings") == 0


# Moving and embedding again


def test_a_rename_keeps_id_and_vectors(store: MemoryStore) -> None:
    first = store.upsert(note("Projects/a.md", TWO_SECTIONS))
    embed_all(store)
    moved = store.rename("Projects/a.md", note("Archive/b.md", TWO_SECTIONS))
    assert moved.id == first.id
    assert embed_all(store) == 0
    assert count(store, "vec_memory_chunks") == 2
    assert found(store, "Redis") == {"Archive/b.md"}
    assert store.get_document_meta("vault", "Projects/a.md") is None


def test_a_rename_onto_a_note_replaces_it(store: MemoryStore) -> None:
    store.upsert(note("old.md", "the one that moves"))
    store.upsert(note("new.md", "the one that stood there"))
    embed_all(store)
    store.rename("old.md", note("new.md", "the one that moves"))
    assert found(store, "stood") == set()
    assert found(store, "moves") == {"new.md"}
    assert count(store, "memory_documents") == 1


def test_a_rename_of_an_unknown_note_stores_it(store: MemoryStore) -> None:
    store.rename("never.md", note("new.md", "arrives"))
    assert found(store, "arrives") == {"new.md"}


def test_reindex_forgets_all_vectors_and_nothing_else(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    store.upsert(note("t1", "a turn", source_type="chat"))
    embed_all(store)
    assert store.reindex() == 3
    assert count(store, "embeddings") == 0
    assert len(store.pending(10)) == 3
    assert found(store, "Redis") == {"a.md"}
    assert embed_all(store) == 3


def test_reindex_of_one_source_leaves_the_others(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    store.upsert(note("t1", "a turn", source_type="chat"))
    embed_all(store)
    assert store.reindex(source_type="chat") == 1
    assert [chunk.source_type for chunk in store.pending(10)] == ["chat"]


def test_chunks_that_failed_wait_until_they_are_tried_again(store: MemoryStore) -> None:
    store.upsert(note("a.md", TWO_SECTIONS))
    first, second = store.pending(10)
    store.mark_failed([first.id])
    assert [chunk.id for chunk in store.pending(10)] == [second.id]
    store.retry_failed()
    assert len(store.pending(10)) == 2


def test_the_newest_chunks_come_first(store: MemoryStore) -> None:
    for name in ("a.md", "b.md", "c.md"):
        store.upsert(note(name, name))
    assert [chunk.path for chunk in store.pending(2)] == ["c.md", "b.md"]


def test_a_vector_for_text_that_changed_meanwhile_is_dropped(store: MemoryStore) -> None:
    store.upsert(note("a.md", "before"))
    (old,) = store.pending(10)
    store.upsert(note("a.md", "after"))
    store.store_vectors([(old.id, old.embed_hash, vector_of(old.text))])
    assert count(store, "embeddings") == 0
    assert [chunk.text for chunk in store.pending(10)] == ["a\nafter"]


def test_the_same_vector_twice_is_stored_once(store: MemoryStore) -> None:
    store.upsert(note("a.md", "text"))
    (chunk,) = store.pending(10)
    for _ in range(2):
        store.store_vectors([(chunk.id, chunk.embed_hash, vector_of(chunk.text))])
    assert count(store, "vec_memory_chunks") == 1


def test_waiting_names_the_paths_without_all_their_vectors(store: MemoryStore) -> None:
    store.upsert(note("a.md", "one"))
    (done,) = store.pending(10)
    embed_all(store)
    store.upsert(note("b.md", "two"))
    assert store.waiting([done, *store.pending(10)]) == {"b.md"}


# Keyword queries


def test_decomposed_text_is_found_by_a_composed_query_and_the_other_way_round(store: MemoryStore) -> None:
    store.upsert(note("nfd.md", "Cafe\u0301 Mu\u0308nchen"))
    store.upsert(note("nfc.md", "Caf\u00e9 M\u00fcnchen"))
    both = {"nfd.md", "nfc.md"}
    assert found(store, "Caf\u00e9") == both
    assert found(store, "Cafe\u0301") == both
    assert found(store, "M\u00fcnchen") == both


@pytest.mark.parametrize("word", ["resume", "RÉSUMÉ", "résumé", "Resumé"])
def test_diacritics_and_case_do_not_count(store: MemoryStore, word: str) -> None:
    store.upsert(note("a.md", "Her résumé arrived"))
    assert found(store, word) == {"a.md"}


def test_words_are_found_by_their_stem(store: MemoryStore) -> None:
    store.upsert(note("a.md", "The decisions were migrated"))
    assert found(store, "decision") == {"a.md"}
    assert found(store, "migrating") == {"a.md"}


def test_titles_tags_and_headings_are_words_too(store: MemoryStore) -> None:
    store.upsert(note("Kestrel.md", "# Outage\n## Timeline\nnothing", tags=("incident/major",)))
    for word in ("kestrel", "outage", "timeline", "incident"):
        assert found(store, word) == {"Kestrel.md"}, word


def test_odd_text_is_stored_as_it_is(store: MemoryStore) -> None:
    odd = "quotes \" ' ` and \u202e bidi, emoji \U0001f9ff, \u2028 and a tab\t end"
    store.upsert(note('o\'dd "name".md', odd))
    assert store.database.value("SELECT content FROM memory_chunks") == odd
    assert store.delete("vault", 'o\'dd "name".md')


# Neighbours in a note


def test_backlinks_are_found_whatever_form_the_link_has(store: MemoryStore) -> None:
    store.upsert(note("one.md", "x", links=("Projects/Target",)))
    store.upsert(note("two.md", "x2", links=("target.md", "Target")))
    store.upsert(note("Projects/Target.md", "x3", links=("Target",)))
    assert linking_to(store.database, "Projects/Target.md") == ("one.md", "two.md")


def test_folders_and_sources_are_listed_once(store: MemoryStore) -> None:
    for path in ("a.md", "P/one.md", "P/Q/two.md", "p2/three.md"):
        store.upsert(note(path, path))
    store.upsert(note("turn/1", "words", source_type="chat"))
    assert folders_of(store.database) == ("P", "P/Q", "p2")
    assert sources_of(store.database) == ("chat", "vault")


# File size


def fill_and_empty(store: MemoryStore, notes: int, left: int, words: int = 200) -> None:
    for number in range(notes):
        store.upsert(note(f"{number}.md", " ".join(f"word{number * step}" for step in range(words))))
    embed_all(store)
    for number in range(left, notes):
        store.delete("vault", f"{number}.md")


def file_size(store: MemoryStore) -> int:
    store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.database.path.stat().st_size


@pytest.mark.slow
def test_deleting_frees_space(store: MemoryStore) -> None:
    fill_and_empty(store, 400, 10)
    full = file_size(store)
    store.tidy()
    assert file_size(store) < full / 3
    assert count(store, "embeddings") == store.database.value("SELECT count(DISTINCT embed_hash) FROM memory_chunks")
    assert found(store, "word9") == {"1.md", "3.md", "9.md"}


def test_some_space_is_reserved(store: MemoryStore) -> None:
    fill_and_empty(store, 100, 95)
    full = file_size(store)
    store.tidy()
    assert file_size(store) == full


@pytest.mark.slow
def test_a_vector_table_that_is_mostly_empty_is_rebuilt(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "FEW_PLACES", 0)
    fill_and_empty(store, 1_100, 30, words=2)
    query = unit(np.eye(1, DIM)[0])
    before = store.vectors.search(store.database, query, Scope(Filters()), 10)
    places = "SELECT sum(size) FROM vec_memory_chunks_chunks"
    assert store.database.value(places) == 2_048
    store.tidy()
    assert store.database.value(places) == 1_024
    assert store.vectors.search(store.database, query, Scope(Filters()), 10) == before
    assert len(before) == 10
