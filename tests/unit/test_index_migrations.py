"""Migrations are applied completely or not at all, once, and never to the file of a newer version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.index import documents, migrations
from donna_tui.index.database import Database, open_database
from donna_tui.index.files import FileState, file_states, save_state
from donna_tui.index.migrations import MIGRATIONS, get_meta, migrate, set_meta
from donna_tui.index.store import MemoryStore
from donna_tui.types.errors import DatabaseError, Reason
from tests.unit.index_parts import note, open_store, vector_of


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "index.db")
    yield opened
    opened.close()


def tables(database: Database) -> set[str]:
    return {name for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_new_file_gets_every_table_and_remembers_its_migrations(database: Database) -> None:
    migrate(database)
    assert {"memory_documents", "memory_chunks", "embeddings", "memory_fts", "file_states"} <= tables(database)
    assert database.rows("SELECT name FROM migrations") == [(name,) for name, _ in MIGRATIONS]


def test_migrating_again_changes_nothing(database: Database) -> None:
    migrate(database)
    set_meta(database, "kept", "yes")
    migrate(database)
    assert get_meta(database, "kept") == "yes"


def test_a_migration_that_fails_leaves_the_file_as_it_was(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate(database)
    before = database.rows("SELECT name, sql FROM sqlite_master ORDER BY name")
    broken = (*MIGRATIONS, ("0002_good", "CREATE TABLE good (x)"), ("0003_bad", "CREATE TABLE half (x); NOT SQL"))
    monkeypatch.setattr(migrations, "MIGRATIONS", broken)
    with pytest.raises(Exception, match="syntax error"):
        migrate(database)
    assert database.rows("SELECT name, sql FROM sqlite_master ORDER BY name") == before
    assert database.rows("SELECT name FROM migrations") == [(name,) for name, _ in MIGRATIONS]


def test_a_file_of_a_newer_donna_is_refused_and_untouched(database: Database) -> None:
    migrate(database)
    database.run("INSERT INTO migrations VALUES ('9999_future')")
    with pytest.raises(DatabaseError) as caught:
        migrate(database)
    assert caught.value.reason is Reason.DATABASE_NEWER
    assert "9999_future" in caught.value.message
    assert ("9999_future",) in database.rows("SELECT name FROM migrations")


def test_meta_values_are_replaced(database: Database) -> None:
    migrate(database)
    assert get_meta(database, "chunking") is None
    set_meta(database, "chunking", "a")
    set_meta(database, "chunking", "b")
    assert get_meta(database, "chunking") == "b"


def test_an_older_index_gets_the_words_and_the_centroid_of_what_is_public(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:5])
    migrate(database)
    for number, sensitive in enumerate((0, 1)):
        database.run(
            "INSERT INTO memory_documents (id, user_id, source_type, source_id, content_hash, created_at, updated_at,"
            " sensitive) VALUES (?, 'me', 'memory', ?, '', 0, 0, ?)",
            (str(number), str(number), sensitive),
        )
        database.run(
            "INSERT INTO memory_chunks (chunk_id, document_id, user_id, chunk_index, content, content_hash, embed_hash,"
            " token_count, start_line, end_line, start_offset, end_offset, created_at)"
            " VALUES (?1, ?1, 'me', 0, 'kestrel', '', '', 1, 1, 1, 0, 7, 0)",
            (str(number),),
        )
        database.run("INSERT INTO memory_scores VALUES (?, 'me', '', 1.0, '{}', 0.5)", (number + 1,))
    database.run("INSERT INTO memory_centroids VALUES ('me', 2, '')")
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS)
    migrate(database)
    assert database.rows("SELECT rowid FROM memory_public_fts WHERE memory_public_fts MATCH 'kestrel'") == [(1,)]
    assert database.rows("SELECT counted, novelty FROM memory_scores ORDER BY chunk") == [(1, None), (0, None)]
    assert database.value("SELECT count(*) FROM memory_centroids") == 0


def test_an_older_index_keeps_only_passages_without_a_vector_in_the_index_by_version(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:12])
    migrate(database)
    database.run(
        "INSERT INTO memory_documents (id, user_id, source_type, source_id, content_hash, created_at, updated_at)"
        " VALUES ('d', 'me', 'vault', 'a.md', '', 0, 0)"
    )
    for number, version in enumerate(("", "failed", "model@1")):
        database.run(
            "INSERT INTO memory_chunks (chunk_id, document_id, user_id, chunk_index, content, content_hash, embed_hash,"
            " embedding_version, token_count, start_line, end_line, start_offset, end_offset, created_at)"
            " VALUES (?, 'd', 'me', ?, 'kestrel', '', '', ?, 1, 1, 1, 0, 7, 0)",
            (version, number, version),
        )
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS)
    migrate(database)
    assert database.value("SELECT sum(ncell) FROM dbstat WHERE name = 'ix_memory_chunks_version'") == 2
    store = MemoryStore(database, lambda _: [])
    assert store.lacks_vectors()
    store.retry_failed()
    versions = database.rows("SELECT embedding_version FROM memory_chunks ORDER BY id")
    assert versions == [("",), ("",), ("model@1",)]


def test_an_older_index_keeps_its_vectors_when_hashes_are_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:13])
    monkeypatch.setattr(documents, "EMBED_HASH_BYTES", 32)
    store = open_store(tmp_path / "index.db")
    store.upsert(note("a.md", "Lane 9 moves on Monday.", title="Aurora"))
    store.store_vectors([(each.id, each.embed_hash, vector_of(each.text)) for each in store.pending(2)])
    monkeypatch.undo()
    migrate(store.database)
    assert store.database.column("SELECT length(embed_hash) FROM embeddings") == [16]
    assert store.upsert(note("copy.md", "Lane 9 moves on Monday.", title="Aurora")).embedded == 1


def test_notes_with_properties_are_read_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:14])
    migrate(database)
    for path, frontmatter in (("a.md", '{"author": "Ana"}'), ("b.md", "{}")):
        database.run(
            "INSERT INTO memory_documents (id, user_id, source_type, source_id, content_hash, created_at, updated_at,"
            " metadata_json) VALUES (?1, 'me', 'vault', ?1, '', 0, 0, ?2)",
            (path, f'{{"frontmatter": {frontmatter}}}'),
        )
        database.run("INSERT INTO file_states (path, state, mtime_ns, checked_at) VALUES (?, 'indexed', 5, 0)", (path,))
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS)
    migrate(database)
    assert database.rows("SELECT path, mtime_ns FROM file_states ORDER BY path") == [("a.md", 0), ("b.md", 5)]


@pytest.mark.parametrize(("text", "plain"), [("Ayşe Yıldız", "yildiz"), ("CO₂ absorber", "co2")])
def test_notes_with_letters_that_were_not_indexed_plainly_are_read_again(
    text: str, plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:16])
    store = open_store(tmp_path / "index.db")
    with monkeypatch.context() as older:
        older.setattr(documents, "indexed_words", lambda text: [])
        for path, body in (("a.md", text), ("b.md", "Kim Berg")):
            store.upsert(note(path, body))
            save_state(store.database, FileState(path=path, state="indexed", mtime_ns=1))
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS)
    migrate(store.database)
    assert {state.path: state.mtime_ns for state in file_states(store.database).values()} == {"a.md": 0, "b.md": 1}
    assert not store.upsert(note("a.md", text)).unchanged
    assert store.database.column("SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?", [plain]) != []
