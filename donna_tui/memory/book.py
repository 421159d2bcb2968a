"""`memory.db`: opened, brought up to date, and backed up. It holds what has no file, so damage is never answered by a
new one: the last good backup takes its place, and the damaged file is kept beside it.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from donna_tui.errors import DatabaseError, Reason
from donna_tui.index.database import Database, open_database, truncate_log
from donna_tui.index.generations import set_aside
from donna_tui.memory.backups import back_up, newest_backup
from donna_tui.memory.schema import MIGRATIONS
from donna_tui.records import dataclass

NAME = "memory.db"
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Book:
    """One open connection to `memory.db`; use it from one thread at a time.

    `id` is that of the file's contents: another one means that a backup took their place. `restored` is the name of
    that backup if it happened just now.
    """

    database: Database
    id: str
    key: bytes
    restored: str = ""

    @contextmanager
    def change(self) -> Iterator[None]:
        """A transaction whose commit reaches the disk before it returns."""
        with told(self.database.path), self.database.transaction():
            yield

    def changed(self, source: str, item: str | int) -> None:
        """Note, within a transaction, that the documents of an item must be made anew."""
        self.database.run("INSERT INTO changes (source, item) VALUES (?, ?)", (source, str(item)))

    def close(self) -> None:
        """Close the connection."""
        self.database.close()


def erasure_mark(path: Path) -> Path:
    """The file that says that words were erased from this database and may still be in its log."""
    return path.with_name(f"{path.name}-erasing")


def finish_erasures(database: Database) -> bool:
    """Empty the log of a database from which words were erased; False if another process is reading just now."""
    mark = erasure_mark(database.path)
    if mark.exists() and truncate_log(database):
        mark.unlink(missing_ok=True)
    return not mark.exists()


def book_path(folder: Path) -> Path:
    """Where the memory of the space with this state folder is."""
    return folder / NAME


def open_book(folder: Path) -> Book:
    """Open the memory of a space; the first time it is made. Raises DatabaseError."""
    path = book_path(folder)
    restored = ""
    with told(path):
        try:
            database = _open(path)
        except DatabaseError as error:
            if error.reason is not Reason.DATABASE_CORRUPT:
                raise
            restored = _restore(path)
            database = _open(path)
    try:
        finish_erasures(database)
        return _book(database, restored)
    except DatabaseError:
        database.close()
        raise


def read_book(folder: Path) -> Book | None:
    """The memory of a space for reading; None while there is none. Raises DatabaseError."""
    path = book_path(folder)
    if not path.exists():
        return None
    with told(path):
        database = open_database(path, read_only=True)
        try:
            identity = database.value("SELECT value FROM meta WHERE key = 'id'") if _is_made(database) else None
        except DatabaseError:
            database.close()
            raise
        if identity is None:
            database.close()
            return None
        return Book(database, identity, b"")


def _is_made(database: Database) -> bool:
    return bool(database.value("SELECT 1 FROM sqlite_master WHERE name = 'meta'"))


def _open(path: Path) -> Database:
    database = open_database(path)
    try:
        database.run("PRAGMA synchronous = FULL")
        if database.value("PRAGMA quick_check(1)") != "ok":
            raise DatabaseError(Reason.DATABASE_CORRUPT, "the memory is damaged")
        _migrate(database)
    except DatabaseError:
        database.close()
        raise
    return database


def _migrate(database: Database) -> None:
    known = {name for name, _ in MIGRATIONS}
    database.run("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
    applied = {name for (name,) in database.rows("SELECT name FROM migrations")}
    if applied - known:
        raise DatabaseError(Reason.DATABASE_NEWER, "the memory was written by a newer Donna", hint="update Donna")
    if applied == known:
        return
    if applied:
        back_up(database, time.time())
    with database.transaction():
        applied = {name for (name,) in database.rows("SELECT name FROM migrations")}
        for name, sql in MIGRATIONS:
            if name not in applied:
                database.run(sql)
                database.run("INSERT INTO migrations VALUES (?)", (name,))


def _book(database: Database, restored: str) -> Book:
    if restored:
        database.run("DELETE FROM meta WHERE key = 'id'")
    with database.transaction():
        for key, value in (("id", secrets.token_hex(8)), ("key", secrets.token_hex(KEY_BYTES))):
            database.run("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))
    meta = dict(database.rows("SELECT key, value FROM meta"))
    return Book(database, meta["id"], bytes.fromhex(meta["key"]), restored)


def _restore(path: Path) -> str:
    """Put the newest good backup in the place of a damaged memory. Raises DatabaseError if there is none."""
    backup = newest_backup(path.parent)
    if backup is None:
        raise DatabaseError(
            Reason.DATABASE_CORRUPT,
            f"the memory {path.name} is damaged, and there is no backup of it",
            hint=f"nothing was changed; the file is in {path.parent}",
        )
    set_aside(path)
    copy = path.with_name(f"{path.name}.new")
    copy.write_bytes(backup.read_bytes())
    copy.chmod(0o600)
    copy.replace(path)
    return backup.name


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Errors of the database, in words that are true of a file that cannot be rebuilt."""
    try:
        yield
    except DatabaseError as error:
        words = {
            Reason.DATABASE_CORRUPT: ("is damaged", f"it is in {path.parent}, with its backups"),
            Reason.DATABASE_LOCKED: ("is locked by another program", "try again in a moment"),
            Reason.DISK_FULL: ("cannot grow: the disk is full", "free some space; nothing is lost"),
            Reason.IO_ERROR: ("cannot be opened, read or written", f"look at {path.parent}"),
        }.get(error.reason)
        if words is None or not error.message.startswith(("the index", "the disk", "the memory is damaged")):
            raise
        raise DatabaseError(error.reason, f"the memory {path.name} {words[0]}", hint=words[1]) from error
