"""The state of every file examined: indexed, skipped or failed, the reason, and its stat at that time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from donna_tui.index.database import Database, columns_of
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.safety.classify import DEFAULT_SENSITIVE_KEY

RACY_NS = 2_000_000_000
"""Nanoseconds after a change in which a file may change again with the same timestamp, as git assumes too."""

FileStateName = Literal["indexed", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class FileState:
    """The indexing state of a file. `etag` is the SHA-256 of its bytes; times in ns are of the file, others Unix."""

    path: str
    state: FileStateName
    reason: str = ""
    message: str = ""
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0
    etag: str = ""
    checked_at: float = 0.0
    attempts: int = 0
    next_try: float | None = None

    def same_stat(self, size: int, mtime_ns: int, ctime_ns: int, inode: int) -> bool:
        """Return whether the stat proves that the content is unchanged, so that hashing can be skipped."""
        equal = (self.size, self.mtime_ns, self.ctime_ns, self.inode) == (size, mtime_ns, ctime_ns, inode)
        is_old = max(mtime_ns, ctime_ns) + RACY_NS < int(self.checked_at * 1e9)
        return equal and is_old


COLUMNS = columns_of(FileState)


def file_states(database: Database, prefix: str = "") -> dict[str, FileState]:
    where, parameters = ("1", []) if not prefix else (
        "path = ? OR (path >= ? AND path < ?)", [prefix, f"{prefix}/", f"{prefix}0"]
    )  # fmt: skip
    rows = database.rows(f"SELECT {COLUMNS} FROM file_states WHERE {where}", parameters)  # noqa: S608
    return {row[0]: FileState(*row) for row in rows}


def without_state(database: Database) -> list[str]:
    """Return the indexed notes that have no file state, since a crash prevented it from being written."""
    return database.column(
        "SELECT source_id FROM memory_documents WHERE user_id = 'me' AND source_type = 'vault'"
        " EXCEPT SELECT path FROM file_states"
    )


def file_state(database: Database, path: str) -> FileState | None:
    rows = database.rows(f"SELECT {COLUMNS} FROM file_states WHERE path = ?", (path,))  # noqa: S608
    return FileState(*rows[0]) if rows else None


def known_paths(database: Database, paths: Iterable[str]) -> set[str]:
    known = "SELECT path FROM file_states WHERE path IN (SELECT value FROM json_each(?))"
    return set(database.column(known, (json.dumps([*paths]),)))


def with_etag(database: Database, etag: str) -> list[FileState]:
    rows = database.rows(  # the partial index excludes empty etags, and is used only if the query does too
        f"SELECT {COLUMNS} FROM file_states WHERE etag = ? AND etag <> '' AND state = 'indexed'",  # noqa: S608
        (etag,),
    )
    return [FileState(*row) for row in rows]


def save_state(database: Database, state: FileState) -> None:
    """Insert or replace the state of a file; `checked_at` becomes now unless it is set."""
    database.insert("file_states", replace(state, checked_at=state.checked_at or time.time()), otherwise="REPLACE")


def reread_if_key_changed(database: Database, sensitive_key: str) -> None:
    """Mark every note for reading again if the frontmatter key of private notes has changed since they were indexed."""
    known = get_meta(database, "sensitive_key")
    if known == sensitive_key:
        return
    with database.transaction():
        if known is not None or sensitive_key != DEFAULT_SENSITIVE_KEY:
            database.run("UPDATE file_states SET checked_at = 0, etag = '' WHERE state = 'indexed'")
        set_meta(database, "sensitive_key", sensitive_key)


def forget_state(database: Database, path: str) -> None:
    database.run("DELETE FROM file_states WHERE path = ?", (path,))
