"""The state of every file that was looked at: indexed, skipped or failed, why, and the stat it had then."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from donna_tui.index.database import Database
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.safety.classify import DEFAULT_SENSITIVE_KEY

RACY_NS = 2_000_000_000
"""A file read within two seconds of its change may change again within the same timestamp, as git assumes too."""

FileStateName = Literal["indexed", "skipped", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """What the index knows of one file. `etag` is the sha256 of its bytes; times in ns are the file's, others Unix."""

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
        """Whether these four prove that the content is the one that was read, so that hashing may be skipped."""
        equal = (self.size, self.mtime_ns, self.ctime_ns, self.inode) == (size, mtime_ns, ctime_ns, inode)
        settled = max(mtime_ns, ctime_ns) + RACY_NS < int(self.checked_at * 1e9)
        return equal and settled


COLUMNS = "path, state, reason, message, size, mtime_ns, ctime_ns, inode, etag, checked_at, attempts, next_try"


def _state(row: tuple[object, ...]) -> FileState:
    return FileState(**dict(zip(COLUMNS.split(", "), row, strict=True)))  # type: ignore[arg-type]  # columns are typed


def file_states(database: Database, prefix: str = "") -> dict[str, FileState]:
    """All file states below a folder (or of a single file), by path."""
    where, parameters = ("1", []) if not prefix else (
        "path = ? OR (path >= ? AND path < ?)", [prefix, f"{prefix}/", f"{prefix}0"]
    )  # fmt: skip
    rows = database.rows(f"SELECT {COLUMNS} FROM file_states WHERE {where}", parameters)  # noqa: S608
    return {row[0]: _state(row) for row in rows}


def file_state(database: Database, path: str) -> FileState | None:
    """The state of one file, or None if it was never looked at."""
    rows = database.rows(f"SELECT {COLUMNS} FROM file_states WHERE path = ?", (path,))  # noqa: S608
    return _state(rows[0]) if rows else None


def with_etag(database: Database, etag: str) -> list[FileState]:
    """Indexed files that had exactly these bytes."""
    rows = database.rows(  # the index leaves out empty ones, and is used only where the query says that it does so too
        f"SELECT {COLUMNS} FROM file_states WHERE etag = ? AND etag <> '' AND state = 'indexed'",  # noqa: S608
        (etag,),
    )
    return [_state(row) for row in rows]


def save_state(database: Database, state: FileState) -> None:
    """Insert or replace the state of a file; `checked_at` becomes now unless it is set."""
    values = [getattr(state, name) for name in COLUMNS.split(", ")]
    values[COLUMNS.split(", ").index("checked_at")] = state.checked_at or time.time()
    marks = ", ".join("?" * len(values))
    database.run(f"INSERT OR REPLACE INTO file_states ({COLUMNS}) VALUES ({marks})", values)  # noqa: S608


def judge_again(database: Database, sensitive_key: str) -> None:
    """Have every note read once more if another frontmatter key marks private notes than when they were indexed."""
    known = get_meta(database, "sensitive_key")
    if known == sensitive_key:
        return
    with database.transaction():
        if known is not None or sensitive_key != DEFAULT_SENSITIVE_KEY:
            database.run("UPDATE file_states SET checked_at = 0, etag = '' WHERE state = 'indexed'")
        set_meta(database, "sensitive_key", sensitive_key)


def forget_state(database: Database, path: str) -> None:
    """The file is gone."""
    database.run("DELETE FROM file_states WHERE path = ?", (path,))
