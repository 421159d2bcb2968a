"""A connection: transactions that roll back, and SQLite's errors as Donna's."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from donna_tui.index import database as database_module
from donna_tui.index.database import open_database
from donna_tui.types.errors import DatabaseError, Reason


def test_a_failed_transaction_is_rolled_back(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a.db")
    database.run("CREATE TABLE t (x)")
    with pytest.raises(apsw.SQLError), database.transaction():
        database.run("INSERT INTO t VALUES (1); NOT SQL")
    assert database.rows("SELECT * FROM t") == []
    with database.transaction():
        database.run("INSERT INTO t VALUES (2)")
    assert database.value("SELECT x FROM t") == 2
    database.close()


def test_what_is_deleted_is_overwritten_and_commits_are_cheap(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a.db")
    pragmas = {name: database.value(f"PRAGMA {name}") for name in ("secure_delete", "synchronous", "foreign_keys")}
    assert pragmas == {"secure_delete": 1, "synchronous": 1, "foreign_keys": 1}
    assert database.value("PRAGMA journal_mode") == "wal"
    assert database.value("PRAGMA journal_size_limit") == 16_777_216
    database.close()


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(DatabaseError) as caught:
        open_database(tmp_path / "a.db")
    assert caught.value.reason is Reason.DATABASE_CORRUPT
    assert "doctor --repair" in (caught.value.hint or "")


def test_a_missing_file_is_not_created_for_reading(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        open_database(tmp_path / "a.db", read_only=True)
    assert caught.value.reason is Reason.IO_ERROR
    assert list(tmp_path.iterdir()) == []


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    open_database(tmp_path / "a.db").close()
    reader = open_database(tmp_path / "a.db", read_only=True)
    with pytest.raises(DatabaseError):
        reader.run("CREATE TABLE t (x)")
    reader.close()


def test_a_writer_that_waits_in_vain_says_that_it_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 1)
    first, second = open_database(tmp_path / "a.db"), open_database(tmp_path / "a.db")
    with first.transaction():
        first.run("CREATE TABLE t (x)")
        with pytest.raises(DatabaseError) as caught, second.transaction():
            pass
    assert caught.value.reason is Reason.DATABASE_LOCKED
    first.close()
    second.close()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a.db")
    database.run("CREATE TABLE t (x)")
    database.run("PRAGMA max_page_count = 3")
    with pytest.raises(DatabaseError) as caught:
        database.run("INSERT INTO t VALUES (zeroblob(1000000))")
    assert caught.value.reason is Reason.DISK_FULL
    database.close()


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "SQLITE_VERSION_NUMBER", 3_051_002)
    with pytest.raises(DatabaseError, match="too old"):
        open_database(tmp_path / "a.db")
    assert list(tmp_path.iterdir()) == []


def test_where_sqlite_vec_does_not_load_the_database_opens_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_vec_extension", lambda: str(tmp_path / "nothing"))
    database = open_database(tmp_path / "a.db")
    assert not database.vec_available
    assert database.value("SELECT 1") == 1
    database.close()
