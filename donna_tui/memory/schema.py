"""The tables of `memory.db`: what is remembered and has no file. They are the truth, so they are never rebuilt."""

from __future__ import annotations

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

MIGRATIONS: tuple[tuple[str, str], ...] = (("0001_base", BASE),)
"""Ordered and append-only: a released migration never changes."""
