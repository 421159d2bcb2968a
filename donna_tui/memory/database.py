"""Open, migrate and back up `memory.db`.

A damaged file is not replaced by a new one: the last good backup is restored, and the damaged file is kept next to it.
"""

from __future__ import annotations

import calendar
import contextlib
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from donna_tui.index.database import Database, DbFile, apply_migrations, check_integrity, open_database, truncate_log
from donna_tui.index.generations import set_aside
from donna_tui.platform.paths import private_folder
from donna_tui.types.errors import DatabaseError, Reason

BASE = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    closed INTEGER NOT NULL DEFAULT 0,
    sensitive INTEGER NOT NULL DEFAULT 0,
    summary TEXT NOT NULL DEFAULT '',
    UNIQUE (user_id, name)
);

CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    identity BLOB NOT NULL,
    number INTEGER NOT NULL,
    place REAL NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL,
    pinned INTEGER NOT NULL DEFAULT 0,
    forgotten_at REAL,
    UNIQUE (session, identity),
    UNIQUE (session, number)
);
CREATE INDEX ix_turns_place ON turns (session, place, number);

CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL DEFAULT '',
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at REAL NOT NULL,
    sensitive INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    source_session_id TEXT NOT NULL DEFAULT '',
    compression_source INTEGER NOT NULL DEFAULT 0,
    superseded_by TEXT NOT NULL DEFAULT '',
    forgotten_at REAL
);
CREATE INDEX ix_memories_user ON memories (user_id, created_at);

CREATE TABLE procedural (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    memory TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, key)
) WITHOUT ROWID;
CREATE INDEX ix_procedural_memory ON procedural (memory);

CREATE TABLE corrections (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    field TEXT NOT NULL,
    original TEXT NOT NULL,
    corrected TEXT NOT NULL,
    input TEXT NOT NULL,
    task_type TEXT NOT NULL,
    created_at REAL NOT NULL,
    sensitive INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    forgotten_at REAL
);

CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    item TEXT NOT NULL,
    UNIQUE (source, item) ON CONFLICT REPLACE
);
"""

DRAFTS = """
CREATE TABLE calendar_mirror (
    event_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    calendar_id TEXT NOT NULL,
    series_id TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL,
    start_time REAL NOT NULL,
    end_time REAL NOT NULL,
    day TEXT NOT NULL,
    all_day INTEGER NOT NULL DEFAULT 0,
    location TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',
    attendees TEXT,
    cancelled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, calendar_id, event_id)
) WITHOUT ROWID;
CREATE INDEX ix_mirror_end ON calendar_mirror (user_id, end_time);
CREATE INDEX ix_mirror_start ON calendar_mirror (user_id, start_time);

CREATE TABLE calendars (
    user_id TEXT NOT NULL,
    calendar_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    fetched_at REAL,
    problem TEXT NOT NULL DEFAULT '',
    watermark REAL,
    token TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, calendar_id)
) WITHOUT ROWID;

CREATE TABLE drafts (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    skill TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    target TEXT NOT NULL,
    path TEXT NOT NULL DEFAULT '',
    original TEXT NOT NULL DEFAULT '',
    answer TEXT NOT NULL DEFAULT '',
    evidence TEXT NOT NULL DEFAULT '',
    drafter TEXT NOT NULL DEFAULT '',
    cost REAL NOT NULL DEFAULT 0,
    sensitive INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    decided_at REAL,
    reason TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try REAL,
    UNIQUE (user_id, skill, key)
);
CREATE INDEX ix_drafts_state ON drafts (user_id, state, created_at);

CREATE TABLE model_calls (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    task_type TEXT NOT NULL,
    alias TEXT NOT NULL,
    model TEXT NOT NULL,
    latency_ms REAL NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    input_hash TEXT NOT NULL,
    outcome TEXT NOT NULL
);
CREATE INDEX ix_model_calls_at ON model_calls (at);
"""

SUGGESTIONS = """
CREATE TABLE suggestions (
    id INTEGER PRIMARY KEY,
    turn INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    state TEXT NOT NULL,
    UNIQUE (turn, start)
);
CREATE INDEX ix_suggestions_state ON suggestions (state);
"""

AGENT_SESSIONS = """
ALTER TABLE memories ADD COLUMN forgotten_by TEXT NOT NULL DEFAULT '';
ALTER TABLE corrections ADD COLUMN forgotten_by TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN forgotten_by TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN added_by TEXT NOT NULL DEFAULT '';
"""
"""The sessions of agents that forgot or added something; empty for anybody else.

`forgotten_by` stays when undoing the session restores the row, and is `undone(…)` if undoing it has forgotten the row.
"""


PRIVATE_SESSIONS = """
UPDATE OR IGNORE sessions SET name = 'private/' || substr(name, 7) WHERE sensitive AND name GLOB 'agent/*';
UPDATE memories SET
    session_id = iif(session_id = source_session_id, 'private/' || substr(source_session_id, 7), session_id),
    source_session_id = 'private/' || substr(source_session_id, 7)
WHERE compression_source AND source_session_id GLOB 'agent/*' AND NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.user_id = memories.user_id AND s.name = memories.source_session_id
);
UPDATE memories SET sensitive = 1 WHERE compression_source AND EXISTS (
    SELECT 1 FROM sessions s
    WHERE s.user_id = memories.user_id AND s.name = memories.source_session_id AND s.sensitive
);
INSERT INTO changes (source, item) SELECT 'chat', id FROM sessions WHERE sensitive;
INSERT INTO changes (source, item) SELECT 'memory', id FROM memories WHERE compression_source AND sensitive;
DELETE FROM meta WHERE key = 'id' AND EXISTS (SELECT 1 FROM sessions WHERE sensitive);
"""
"""Private conversations that agents stored get the names of private ones, so that no client that cannot read them adds
to them; their summaries are private.

A new id of the memory makes the index delete the documents with the old names.
"""


ERASED_TITLES = """
UPDATE sessions SET title = '' WHERE (SELECT max(text) FROM turns WHERE session = sessions.id) = '';
"""
"""Conversations that were erased with all their words lose their title too."""


CORRECTED_ITEMS = """
ALTER TABLE corrections ADD COLUMN item TEXT NOT NULL DEFAULT '';
"""
"""The id of the corrected memory; empty for corrections of drafts, and for those stored before this migration."""


def undone(session: str) -> str:
    """Return the `forgotten_by` of what was forgotten because this session of an agent was undone."""
    return f"undone {session}"


MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("0001_base", BASE), ("0002_drafts", DRAFTS), ("0003_suggestions", SUGGESTIONS),
    ("0004_agent_sessions", AGENT_SESSIONS), ("0005_private_sessions", PRIVATE_SESSIONS),
    ("0006_erased_titles", ERASED_TITLES), ("0007_corrected_items", CORRECTED_ITEMS),
)  # fmt: skip
"""Ordered and append-only: a released migration never changes."""


FOLDER = "backups"
STAMP = "%Y%m%d-%H%M%S"
APART_SECONDS = 3_600.0
DAY, WEEK = 86_400.0, 7 * 86_400.0

BACKUP_PERIODS = ((APART_SECONDS, 4), (DAY, 7), (WEEK, 5))
"""Lengths of periods in seconds, and for how many of each the first backup is kept (`superseded_by_schedule`)."""


def backups(folder: Path) -> list[Path]:
    """Return the backups of a space's memory, the newest first."""
    return sorted((folder / FOLDER).glob("memory-*.db"), reverse=True)


def back_up(database: Database, now: float) -> Path:
    """Copy an open memory consistently while it is in use.

    Raises DatabaseError, and DonnaError if the folder cannot be created.
    """
    folder = private_folder(database.path.parent / FOLDER)
    target = _backup_at(folder, now)
    pending = target.with_suffix(".new")
    pending.unlink(missing_ok=True)
    database.run("VACUUM INTO ?", (str(pending),))
    pending.chmod(0o600)
    pending.replace(target)
    for superseded in superseded_by_schedule(backups(database.path.parent)):
        superseded.unlink(missing_ok=True)
    return target


def back_up_if_due(database: Database, now: float) -> Path | None:
    """Make a backup if something has changed since the last one and that is at least an hour old."""
    _date_back(backups(database.path.parent), now)
    newest = next(iter(backups(database.path.parent)), None)
    last = taken_at(newest) if newest else 0.0
    if now - last < APART_SECONDS or (newest and not _changed_since(database, newest)):
        return None
    return back_up(database, now)


def _date_back(found: Iterable[Path], now: float) -> None:
    """Rename backups that a wrong clock has dated in the future: they would prevent new ones, and be restored first.

    All are moved by the same time, so that as many are kept as before.
    """
    ahead = {backup: taken_at(backup) - now for backup in found if taken_at(backup) > now}
    for backup in ahead:
        backup.replace(_backup_at(backup.parent, taken_at(backup) - max(ahead.values()) - 1))


def _backup_at(folder: Path, at: float) -> Path:
    return folder / f"memory-{time.strftime(STAMP, time.gmtime(at))}.db"


def taken_at(backup: Path) -> float:
    """Return when a backup was made (Unix time), from its name; 0 for a name without a time."""
    with contextlib.suppress(ValueError):
        return float(calendar.timegm(time.strptime(backup.stem.removeprefix("memory-"), STAMP)))
    return 0.0


def superseded_by_schedule(found: Iterable[Path]) -> list[Path]:
    """Return all backups except the newest, and the first of each of the latest hours, days and weeks that have any.

    The first one stays the first, and is kept while later ones of its day or week are removed.
    """
    newest_first = sorted(found, key=taken_at, reverse=True)
    kept = set(newest_first[:1])
    for period, count in BACKUP_PERIODS:
        first = {int(taken_at(backup) // period): backup for backup in newest_first}
        kept |= set(list(first.values())[:count])
    return [backup for backup in newest_first if backup not in kept]


def drop_backups(folder: Path) -> None:
    """Delete the backups of a memory, and the damaged databases that were set aside beside it."""
    for copy in (*backups(folder), *folder.glob("*.damaged-*")):
        copy.unlink(missing_ok=True)


def _is_sound(backup: Path) -> bool:
    try:
        with contextlib.closing(open_database(backup, read_only=True)) as database:
            return bool(database.value("PRAGMA quick_check(1)") == "ok")
    except DatabaseError:
        return False


def _changed_since(database: Database, backup: Path) -> bool:
    last_change = "SELECT seq FROM sqlite_sequence WHERE name = 'changes'"
    newest = database.value(last_change) or 0
    try:
        with contextlib.closing(open_database(backup, read_only=True)) as old:
            return bool(newest != (old.value(last_change) or 0))
    except DatabaseError:
        return True


NAME = "memory.db"
MEMORY = DbFile("the memory", "it is in {folder}, with its backups", "update Donna")
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class MemoryDb:
    """An open connection to `memory.db`, for use by one thread at a time.

    `id` identifies the file's contents and changes when a backup is restored or conversations are renamed. `restored`
    is the name of the backup if it was restored by this open.
    """

    database: Database
    id: str
    key: bytes
    restored: str = ""

    @contextlib.contextmanager
    def change(self) -> Iterator[None]:
        """Run a transaction whose commit is durable before the context exits."""
        with self.database.transaction():
            yield

    def changed(self, source: str, item: str | int) -> None:
        """Record that the documents of an item must be rebuilt. Call within a transaction."""
        self.database.run("INSERT INTO changes (source, item) VALUES (?, ?)", (source, str(item)))

    def changed_rows(self, source: str, item: str | int) -> int:
        """Call `changed` if the last statement changed any row; return how many it changed."""
        count = self.database.connection.changes()
        if count:
            self.changed(source, item)
        return count

    def close(self) -> None:
        self.database.close()


def erasure_mark(path: Path) -> Path:
    """Return the marker file that records that erased words may still be in this database's log."""
    return path.with_name(f"{path.name}-erasing")


def finish_erasures(database: Database) -> bool:
    """Truncate the log of a database from which words were erased. Return False if another process is reading it."""
    mark = erasure_mark(database.path)
    if mark.exists() and truncate_log(database):
        mark.unlink(missing_ok=True)
    return not mark.exists()


def db_path(folder: Path) -> Path:
    return folder / NAME


def open_db(folder: Path) -> MemoryDb:
    """Open the memory of a space, creating it the first time. Raises DatabaseError."""
    path = db_path(folder)
    restored = ""
    try:
        database = _open(path)
    except DatabaseError as error:
        if error.reason is not Reason.DATABASE_CORRUPT:
            raise
        restored = _restore(path)
        database = _open(path)
    try:
        finish_erasures(database)
        if restored:
            database.run("DELETE FROM meta WHERE key = 'id'")
        with database.transaction():
            for key, value in (("id", secrets.token_hex(8)), ("key", secrets.token_hex(KEY_BYTES))):
                database.run("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))
        meta = dict(database.rows("SELECT key, value FROM meta"))
        return MemoryDb(database, meta["id"], bytes.fromhex(meta["key"]), restored)
    except DatabaseError:
        database.close()
        raise


def read_db(folder: Path) -> MemoryDb | None:
    """Open the memory of a space for reading; None if there is none. Raises DatabaseError."""
    path = db_path(folder)
    if not path.exists():
        return None
    database = open_database(path, read_only=True, stored=MEMORY)
    try:
        made = database.value("SELECT 1 FROM sqlite_master WHERE name = 'meta'")
        identity = database.value("SELECT value FROM meta WHERE key = 'id'") if made else None
    except DatabaseError:
        database.close()
        raise
    if identity is None:
        database.close()
        return None
    return MemoryDb(database, identity, b"")


def _open(path: Path) -> Database:
    database = open_database(path, stored=MEMORY)
    try:
        database.run("PRAGMA synchronous = FULL")
        check_integrity(database)
        apply_migrations(database, MIGRATIONS, before=lambda: back_up(database, time.time()))
    except DatabaseError:
        database.close()
        raise
    return database


def _restore(path: Path) -> str:
    """Replace a damaged memory by the newest good backup. Raises DatabaseError if there is none."""
    backup = next(filter(_is_sound, backups(path.parent)), None)
    if backup is None:
        message = f"the memory {path.name} is damaged, and there is no backup of it"
        hint = f"nothing was changed; the file is in {path.parent}"
        raise DatabaseError(Reason.DATABASE_CORRUPT, message, hint=hint)
    set_aside(path)
    copy = path.with_name(f"{path.name}.new")
    copy.write_bytes(backup.read_bytes())
    copy.chmod(0o600)
    copy.replace(path)
    return backup.name
