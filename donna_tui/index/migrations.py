"""The schema, as an ordered list of migrations that are applied in one transaction."""

from __future__ import annotations

from donna_tui.index.database import Database, apply_migrations

BASE = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE memory_documents (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    source_type TEXT NOT NULL,
    source_id TEXT NOT NULL,
    title TEXT,
    uri TEXT,
    content_hash TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    deleted_at REAL,
    sensitive INTEGER NOT NULL DEFAULT 0,
    metadata_json TEXT,
    note_type TEXT NOT NULL DEFAULT '',
    modified_at REAL NOT NULL DEFAULT 0,
    search_title TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX ux_memory_doc_user_source ON memory_documents (user_id, source_type, source_id);
CREATE INDEX ix_memory_doc_updated ON memory_documents (user_id, updated_at);
CREATE INDEX ix_memory_doc_deleted ON memory_documents (user_id, deleted_at);

CREATE TABLE memory_chunks (
    id INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE,
    document_id TEXT NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    content TEXT NOT NULL,
    segments TEXT NOT NULL DEFAULT '',
    content_hash TEXT NOT NULL,
    embed_hash BLOB NOT NULL,
    heading_path TEXT NOT NULL DEFAULT '[]',
    token_count INTEGER NOT NULL,
    embedding_version TEXT NOT NULL DEFAULT '',
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    created_at REAL NOT NULL
);
CREATE INDEX ix_memory_chunks_document ON memory_chunks (document_id, chunk_index);
CREATE INDEX ix_memory_chunks_version ON memory_chunks (user_id, embedding_version);
CREATE INDEX ix_memory_chunks_embed ON memory_chunks (embed_hash);

CREATE TABLE embeddings (
    embed_hash BLOB PRIMARY KEY,
    vector BLOB NOT NULL
);

CREATE TABLE vector_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER NOT NULL
);

CREATE VIEW memory_search_text AS
    SELECT c.id AS rowid, c.document_id AS document_id, d.search_title AS title,
           c.heading_path AS heading, c.content AS content, c.segments AS segments
    FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id;

CREATE VIRTUAL TABLE memory_fts USING fts5 (
    title, heading, content, segments,
    content = 'memory_search_text', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE memory_words USING fts5vocab (memory_fts, row);
INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 1);

CREATE TABLE file_states (
    path TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    size INTEGER NOT NULL DEFAULT 0,
    mtime_ns INTEGER NOT NULL DEFAULT 0,
    ctime_ns INTEGER NOT NULL DEFAULT 0,
    inode INTEGER NOT NULL DEFAULT 0,
    etag TEXT NOT NULL DEFAULT '',
    checked_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try REAL
) WITHOUT ROWID;
CREATE INDEX ix_file_states_etag ON file_states (etag) WHERE etag <> '';

CREATE TABLE links (
    document_id TEXT NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    target TEXT NOT NULL,
    PRIMARY KEY (document_id, target)
) WITHOUT ROWID;
CREATE INDEX ix_links_target ON links (target);

CREATE TABLE invocation_log (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    task_type TEXT NOT NULL,
    model_alias TEXT NOT NULL,
    latency_ms REAL NOT NULL,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    input_hash TEXT NOT NULL
);
"""

MEMORIES = """
CREATE TABLE memory_scores (
    chunk INTEGER PRIMARY KEY REFERENCES memory_chunks (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    embed_hash BLOB NOT NULL,
    salience REAL NOT NULL,
    signals TEXT NOT NULL,
    novelty REAL
);
CREATE INDEX ix_memory_scores_unknown ON memory_scores (chunk) WHERE novelty IS NULL;

CREATE TABLE memory_centroids (user_id TEXT PRIMARY KEY, count INTEGER NOT NULL, total BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE memory_departed (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, vector BLOB);
CREATE TRIGGER memory_departs AFTER DELETE ON memory_scores WHEN OLD.novelty IS NOT NULL BEGIN
    INSERT INTO memory_departed (user_id, vector)
    VALUES (OLD.user_id, (SELECT vector FROM embeddings WHERE embed_hash = OLD.embed_hash));
END;

CREATE INDEX ix_memory_chunks_pending ON memory_chunks (id) WHERE embedding_version = '';
"""

PLACES = """
CREATE TABLE memory_places (id INTEGER PRIMARY KEY, document_id TEXT NOT NULL);
INSERT INTO memory_places SELECT id, document_id FROM memory_chunks;
CREATE TRIGGER memory_place_taken AFTER INSERT ON memory_chunks BEGIN
    INSERT INTO memory_places VALUES (NEW.id, NEW.document_id);
END;
CREATE TRIGGER memory_place_left AFTER DELETE ON memory_chunks BEGIN
    DELETE FROM memory_places WHERE id = OLD.id;
END;
"""
"""The documents of chunks without their text: a search with a filter reads thousands of them, and the chunks of a large
index do not all fit into the system's memory.
"""

COUNTS = """
CREATE TABLE memory_counts (
    user_id TEXT NOT NULL,
    source_type TEXT NOT NULL,
    documents INTEGER NOT NULL,
    PRIMARY KEY (user_id, source_type)
) WITHOUT ROWID;
INSERT INTO memory_counts SELECT user_id, source_type, count(*) FROM memory_documents GROUP BY user_id, source_type;
CREATE TRIGGER memory_document_comes AFTER INSERT ON memory_documents BEGIN
    INSERT INTO memory_counts VALUES (NEW.user_id, NEW.source_type, 1)
    ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER memory_document_goes AFTER DELETE ON memory_documents BEGIN
    UPDATE memory_counts SET documents = documents - 1
    WHERE user_id = OLD.user_id AND source_type = OLD.source_type;
END;
"""
"""Document counts, which each search reports: counting 125,000 documents takes 6 ms."""

REVISION = """
CREATE TABLE memory_revision (number INTEGER NOT NULL);
INSERT INTO memory_revision VALUES (0);
CREATE TRIGGER memory_document_came AFTER INSERT ON memory_documents BEGIN
    UPDATE memory_revision SET number = number + 1;
END;
CREATE TRIGGER memory_document_changed AFTER UPDATE ON memory_documents BEGIN
    UPDATE memory_revision SET number = number + 1;
END;
CREATE TRIGGER memory_document_went AFTER DELETE ON memory_documents BEGIN
    UPDATE memory_revision SET number = number + 1;
END;
"""
"""A revision that changes with the documents: the passages in a scope can be cached per revision."""

DATES = """
ALTER TABLE memory_documents ADD COLUMN dated_at REAL NOT NULL DEFAULT 0;
UPDATE memory_documents SET dated_at = modified_at;
UPDATE file_states SET mtime_ns = 0 WHERE state = 'indexed';
"""
"""The date of a document, which may differ from that of its last change. Notes are read again to fill it."""

PUBLIC_WORDS = """
CREATE VIRTUAL TABLE memory_public_fts USING fts5 (
    title, heading, content, segments,
    content = 'memory_search_text', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE memory_public_words USING fts5vocab (memory_public_fts, row);
INSERT INTO memory_public_fts (memory_public_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_public_fts (rowid, title, heading, content, segments)
    SELECT t.rowid, t.title, t.heading, t.content, t.segments FROM memory_search_text t
    JOIN memory_documents d ON d.id = t.document_id WHERE NOT d.sensitive;
"""
"""A second keyword index without private documents. BM25 weighs a word by how many passages contain it: with statistics
over all passages, an agent that may write could find out which words the private ones contain.
"""

PUBLIC_CENTROID = """
ALTER TABLE memory_scores ADD COLUMN counted INTEGER NOT NULL DEFAULT 1;
UPDATE memory_scores SET counted = 0 WHERE chunk IN (
    SELECT c.id FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id WHERE d.sensitive
);
DROP TRIGGER memory_departs;
CREATE TRIGGER memory_departs AFTER DELETE ON memory_scores WHEN OLD.novelty IS NOT NULL AND OLD.counted BEGIN
    INSERT INTO memory_departed (user_id, vector)
    VALUES (OLD.user_id, (SELECT vector FROM embeddings WHERE embed_hash = OLD.embed_hash));
END;
DELETE FROM memory_centroids WHERE EXISTS (SELECT 1 FROM memory_scores WHERE NOT counted);
DELETE FROM memory_departed WHERE EXISTS (SELECT 1 FROM memory_scores WHERE NOT counted);
UPDATE memory_scores SET novelty = NULL WHERE EXISTS (SELECT 1 FROM memory_scores WHERE NOT counted);
"""
"""The centroid for novelty excludes private memories, so that the importance of the others does not depend on them.
`counted` marks the passages in it; if there were private ones, all are scored again.
"""

UTF_32 = """
UPDATE file_states SET checked_at = 0, etag = '' WHERE path IN (
    SELECT d.source_id FROM memory_documents d JOIN memory_chunks c ON c.document_id = d.id
    WHERE d.source_type = 'vault' AND c.chunk_index = 0 AND instr(c.content, char(65533))
);
"""
"""Notes with characters that could not be decoded are read again: notes in UTF-32 used to be taken for UTF-16."""

DRAFTS = """
ALTER TABLE memory_documents ADD COLUMN is_draft INTEGER NOT NULL DEFAULT 0;
UPDATE memory_documents SET is_draft = 1 WHERE source_type = 'vault'
    AND coalesce(json_extract(metadata_json, '$.frontmatter.donna_draft'), 0) NOT IN (0, '');
CREATE INDEX ix_memory_doc_drafts ON memory_documents (user_id) WHERE is_draft = 1;
INSERT OR REPLACE INTO meta SELECT 'vec_stale', '1' WHERE EXISTS (SELECT 1 FROM memory_documents WHERE is_draft = 1);
"""
"""A mark for unapproved drafts. They have a separate source in the vector table, so it is rebuilt."""

NAMES = """
CREATE TABLE note_names (
    id INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    line INTEGER NOT NULL
);
CREATE INDEX ix_note_names_document ON note_names (document_id);
CREATE INDEX ix_note_names_key ON note_names (kind, key);
CREATE INDEX ix_note_names_squashed ON note_names (replace(key, ' ', '')) WHERE kind < 9;

CREATE VIRTUAL TABLE note_name_grams USING fts5 (
    key, content = '', contentless_delete = 1, tokenize = 'trigram', detail = none
);
INSERT INTO note_name_grams (note_name_grams, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER note_name_added AFTER INSERT ON note_names WHEN NEW.kind < 4 BEGIN
    INSERT INTO note_name_grams (rowid, key) VALUES (NEW.id, replace(NEW.key, ' ', ''));
END;
CREATE TRIGGER note_name_removed AFTER DELETE ON note_names WHEN OLD.kind < 4 BEGIN
    DELETE FROM note_name_grams WHERE rowid = OLD.id;
END;
CREATE INDEX ix_memory_doc_modified ON memory_documents (user_id, source_type, modified_at);
"""
"""The names and headings of notes (`index/names.py`), filled when a note is stored: an index whose notes were chunked
by an older version is rebuilt.
"""

DATE_WORDS = """
UPDATE file_states SET mtime_ns = 0 WHERE state = 'indexed' AND path IN (
    SELECT source_id FROM memory_documents WHERE source_type = 'vault' AND dated_at <> modified_at
);
"""
"""Notes with a date of their own are read again, so that they are found by it (`Document.search_title`)."""

LACKING = """
DROP INDEX ix_memory_chunks_version;
CREATE INDEX ix_memory_chunks_version ON memory_chunks (user_id, embedding_version)
    WHERE embedding_version IN ('', 'failed');
"""
"""Only passages without a vector are looked up by version. A query uses this index if it has the same condition."""

SHORT_HASHES = """
UPDATE memory_chunks SET embed_hash = substr(embed_hash, 1, 16);
UPDATE memory_scores SET embed_hash = substr(embed_hash, 1, 16);
UPDATE embeddings SET embed_hash = substr(embed_hash, 1, 16);
"""
"""The hashes of passages are shortened as new ones are (`index/documents.py`), so that no passage is embedded again."""

PROPERTY_WORDS = """
UPDATE file_states SET mtime_ns = 0 WHERE state = 'indexed' AND path IN (
    SELECT source_id FROM memory_documents
    WHERE source_type = 'vault' AND json_extract(metadata_json, '$.frontmatter') <> '{}'
);
"""
"""Notes with properties are read again, so that they are found by them (`Document.search_title`)."""

PROPERTY_CODES = """
UPDATE file_states SET mtime_ns = 0 WHERE state = 'indexed' AND path IN (
    SELECT source_id FROM memory_documents WHERE source_type = 'vault'
    AND (json_extract(metadata_json, '$.frontmatter') <> '{}' OR source_id GLOB '*[0-9][0-9][0-9][0-9][0-9][0-9]*')
);
"""
"""Notes with properties are read again, so that they are found by numbers in them, and those with an id in their name,
so that they are found by the rest of it (`index/names.py`).
"""


def _reread_with(letters: str) -> str:
    """Build a migration that reads the notes with any of some letters again, so that they are found by plain ones
    (`text/words.py`).
    """
    return f"""
UPDATE memory_documents SET content_hash = 'old' WHERE source_type = 'vault' AND (
    source_id || search_title GLOB '*[{letters}]*'
    OR id IN (SELECT document_id FROM memory_chunks WHERE heading_path || content GLOB '*[{letters}]*')
);
UPDATE file_states SET mtime_ns = 0 WHERE state = 'indexed' AND path IN (
    SELECT source_id FROM memory_documents WHERE source_type = 'vault' AND content_hash = 'old'
);
"""  # noqa: S608


MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("0001_base", BASE),
    ("0002_memories", MEMORIES),
    ("0003_places", PLACES),
    ("0004_counts", COUNTS),
    ("0005_revision", REVISION),
    ("0006_dates", DATES),
    ("0007_public_words", PUBLIC_WORDS),
    ("0008_public_centroid", PUBLIC_CENTROID),
    ("0009_utf_32", UTF_32),
    ("0010_drafts", DRAFTS),
    ("0011_names", NAMES),
    ("0012_date_words", DATE_WORDS),
    ("0013_lacking", LACKING),
    ("0014_short_hashes", SHORT_HASHES),
    ("0015_property_words", PROPERTY_WORDS),
    ("0016_property_codes", PROPERTY_CODES),
    ("0017_plain_letters", _reread_with("ıøØłŁđĐðÐħĦŧŦþÞæÆœŒ")),
    ("0018_property_dates", PROPERTY_WORDS),  # read again, so that they are found by dates in their properties
    ("0019_plain_digits", _reread_with("²³¹⁰⁴-⁹₀-₉ﬀ-ﬆ")),
)
"""Ordered and append-only: a released migration never changes."""


def migrate(database: Database) -> None:
    """Migrate the schema. Raises DatabaseError (`database_newer`) for a newer one."""
    apply_migrations(database, MIGRATIONS)


def is_current(database: Database) -> bool:
    """Return whether the schema is the one of this version. Raises DatabaseError."""
    return set(database.column("SELECT name FROM migrations")) == {name for name, _ in MIGRATIONS}


def create_vector_table(database: Database, dim: int) -> None:
    """Create the sqlite-vec table for vectors of `dim` numbers, unless it exists.

    It contains quantised vectors; `embeddings` has the vectors themselves. The most common filters are columns of the
    table, so that they apply inside the nearest-neighbour search.
    """
    database.run(
        f"""CREATE VIRTUAL TABLE IF NOT EXISTS vec_memory_chunks USING vec0(
            chunk_id TEXT PRIMARY KEY,
            user_id TEXT PARTITION KEY,
            source_type TEXT,
            sensitive INTEGER,
            embedding INT8[{int(dim)}]
        )"""
    )


def has_vector_table(database: Database) -> bool:
    return bool(database.value("SELECT 1 FROM sqlite_master WHERE name = 'vec_memory_chunks'"))


def get_meta(database: Database, key: str) -> str | None:
    value: str | None = database.value("SELECT value FROM meta WHERE key = ?", (key,))
    return value


def set_meta(database: Database, key: str, value: str) -> None:
    database.run("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))
