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

MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("0001_base", BASE), ("0002_drafts", DRAFTS), ("0003_suggestions", SUGGESTIONS),
)  # fmt: skip
"""Ordered and append-only: a released migration never changes."""
