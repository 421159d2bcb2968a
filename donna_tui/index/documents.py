"""Documents and their chunks: the rows, and the SQL that reads and writes them."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from donna_tui.index.database import Database
from donna_tui.index.filters import FTS_TABLE, PUBLIC_FTS_TABLE
from donna_tui.index.names import store_names
from donna_tui.text.dates import date_word
from donna_tui.text.words import indexed_words
from donna_tui.types.search import DRAFTS, ROLES, MemorySource

if TYPE_CHECKING:
    from donna_tui.text.chunker import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document to index. `text` is the whole file; its body starts at `body_start`.

    `modified_at` is the Unix time of its last change. `dated_at` is the time it is about, by which it is filtered and
    listed; None if that is the same.
    """

    source_type: str
    source_id: str
    title: str
    text: str
    body_start: int = 0
    user_id: str = "me"
    uri: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: str = ""
    links: tuple[str, ...] = ()
    note_type: str = ""
    modified_at: float = 0.0
    dated_at: float | None = None
    sensitive: bool = False
    draft: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """Return the SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def search_title(self) -> str:
        """Return the title field of the keyword index: title, aliases, tags and the words of other properties, segments
        of them, and the own date.
        """
        names = " ".join(filter(None, (self.title, *self.aliases, *self.tags, self.properties)))
        dates = () if self.dated_at is None or self.dated_at == self.modified_at else date_words_of(self.dated_at)
        return " ".join((names, *indexed_words(names), *dates))


def date_words_of(at: float) -> tuple[str, ...]:
    """Return words for the day, the month and the day of any year of a moment (Unix time)."""
    try:
        day = datetime.fromtimestamp(at)
    except (ValueError, OverflowError, OSError):
        return ()
    year, month, number = f"{day:%Y %m %d}".split()
    return date_word(month, number, year), date_word(month, "", year), date_word(month, number)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The columns of a stored document that are needed without its text."""

    id: str
    content_hash: str
    title: str
    search_title: str
    updated_at: float
    sensitive: bool


def find_document(database: Database, user_id: str, source_type: str, source_id: str) -> StoredDocument | None:
    rows = database.rows(
        "SELECT id, content_hash, title, search_title, updated_at, sensitive FROM memory_documents"
        " WHERE user_id = ? AND source_type = ? AND source_id = ?",
        (user_id, source_type, source_id),
    )
    return StoredDocument(*rows[0]) if rows else None


def number_of_notes(database: Database, user_id: str, *, public: bool = False) -> int:
    """Count the notes of a user in the index without drafts; with `public`, without private notes."""
    documents = "SELECT count(*) FROM memory_documents WHERE user_id = ?"
    if public:
        kept = f"{documents} AND source_type = 'vault' AND is_draft = 0 AND NOT sensitive"
        return database.value(kept, (user_id,)) or 0
    known = "SELECT documents FROM memory_counts WHERE user_id = ? AND source_type = 'vault'"
    drafts: int = database.value(f"{documents} AND is_draft = 1", (user_id,))
    return (database.value(known, (user_id,)) or 0) - drafts


def last_chunk(database: Database) -> int:
    """Return the largest key of a passage, which estimates their number without counting."""
    return database.value("SELECT max(id) FROM memory_chunks") or 0


def write_document(database: Database, document: Document, existing: StoredDocument | None) -> str:
    """Insert or update the row of a document, its links and its names. Return its id."""
    now = time.time()
    document_id = existing.id if existing else _fresh_id()
    database.run(
        "INSERT INTO memory_documents (id, user_id, source_type, source_id, title, uri, content_hash, created_at,"
        " updated_at, sensitive, metadata_json, note_type, modified_at, dated_at, is_draft, search_title)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET title = excluded.title, uri = excluded.uri,"
        " content_hash = excluded.content_hash, updated_at = excluded.updated_at, deleted_at = NULL,"
        " sensitive = excluded.sensitive, metadata_json = excluded.metadata_json, note_type = excluded.note_type,"
        " modified_at = excluded.modified_at, dated_at = excluded.dated_at, is_draft = excluded.is_draft,"
        " search_title = excluded.search_title",
        (
            document_id, document.user_id, document.source_type, document.source_id, document.title, document.uri,
            document.content_hash, now, now, int(document.sensitive), json.dumps(document.metadata, ensure_ascii=False),
            document.note_type, document.modified_at,
            document.modified_at if document.dated_at is None else document.dated_at, int(document.draft),
            document.search_title,
        ),
    )  # fmt: skip
    database.run("DELETE FROM links WHERE document_id = ?", (document_id,))
    database.run_many(
        "INSERT OR IGNORE INTO links VALUES (?, ?)", [(document_id, link_key(target)) for target in document.links]
    )
    store_names(database, document_id, document)
    return document_id


def link_key(target: str) -> str:
    """Normalise a link target for comparison: the last part of the path, lower case, without `.md`."""
    return target.rsplit("/", 1)[-1].removesuffix(".md").casefold()


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A stored chunk: its integer key, its public id and the hash of the text that is embedded."""

    id: int
    chunk_id: str
    embed_hash: bytes


def embedded_title(document: Document) -> str:
    """Return the title that is embedded with the passages of a document; empty unless it is a note or a conversation.

    Titles of facts, tasks and corrections are generated. Embedded with a short text, they lower its cosine to every
    question.
    """
    return document.title if document.source_type in (MemorySource.VAULT, MemorySource.CHAT) else ""


SHORT_TURN, TURN_BEFORE = 1.5, 0.75
"""A turn of at most `SHORT_TURN` bytes per token of the window is embedded with the turn before it, of which the last
`TURN_BEFORE` bytes per token are taken. A reply such as “Yes, twice” means little without what it answers.

With it, the first hit is a right turn for 38 % of LoCoMo's questions instead of 35 %, and a prompt of 500 tokens has
one for 82 % instead of 80 % (`donna eval --turns`, `python -m bench.recall`, development questions).
"""

_FIRST_PERSON = re.compile(
    r"\b(?:(?P<am>I am|I['’]m)|(?P<have>I have|I['’]ve)|(?P<own>my|mine)|I(?![./]\w)|me|myself)\b", re.IGNORECASE
)

_RUN = re.compile(r"(?P<session>.*):(?P<first>\d{1,9})-\d{1,9}", re.DOTALL)
_MAX_MERGED = 8
"""Maximum number of turns in the run before that are tried to find it."""


def embedded_text(
    database: Database, window: int, document: Document, heading_path: tuple[str, ...], content: str
) -> str:
    """Return the text that is embedded for a passage of a document."""
    from donna_tui.text.chunker import embedding_text

    if document.source_type == MemorySource.CHAT and len(content.encode()) <= SHORT_TURN * window:
        content = in_third_person(content, next(iter(heading_path), ""))
        before = _turn_before(database, document)[-int(TURN_BEFORE * window) :]
        content = "\n".join(filter(None, (before.decode(errors="ignore"), content)))
    return embedding_text(embedded_title(document), heading_path, content, max_tokens=window)


def in_third_person(text: str, speaker: str) -> str:
    """Replace the first person singular by the speaker, unless that is a role: “I sold my car” is “Ann sold Ann's car”.

    The sentence then says by itself what it means in its conversation, and is closer to “What did Ann sell?”
    (decontextualisation: Choi et al., TACL 2021). With this, prompts of 250, 500 and 1,000 tokens have a right turn for
    74, 83 and 90 % of LoCoMo's questions instead of 73, 82 and 89 % (`python -m bench.recall`, development questions).
    """

    def named(match: re.Match[str]) -> str:
        verb = " is" if match["am"] else " has" if match["have"] else "'s" if match["own"] else ""
        return speaker + verb

    return _FIRST_PERSON.sub(named, text) if speaker and speaker.casefold() not in ROLES else text


def _turn_before(database: Database, document: Document) -> bytes:
    """Return the text of the run of turns before that of a document; empty if there is none."""
    run = _RUN.fullmatch(document.source_id)
    if run is None:
        return b""
    last = int(run["first"]) - 1
    ids = [f"{run['session']}:{first}-{last}" for first in range(last, max(0, last - _MAX_MERGED), -1)]
    text = database.value(
        "SELECT c.content FROM memory_documents d JOIN memory_chunks c ON c.document_id = d.id"
        " WHERE d.user_id = ? AND d.source_type = ? AND d.source_id IN (SELECT value FROM json_each(?))"
        " ORDER BY c.chunk_index DESC LIMIT 1",
        (document.user_id, MemorySource.CHAT, json.dumps(ids)),
    )
    return (text or "").strip().encode()


EMBED_HASH_BYTES = 16
"""Length of the hash of a passage's text, stored four times per passage; 128 bits are enough to be unique."""


def insert_chunks(
    database: Database, document_id: str, document: Document, chunks: Sequence[Chunk], window: int
) -> list[ChunkRow]:
    now = time.time()
    rows: list[ChunkRow] = []
    for chunk in chunks:
        embedded = embedded_text(database, window, document, chunk.heading_path, chunk.text)
        chunk_id, hashed = _fresh_id(), hashlib.sha256(embedded.encode()).digest()[:EMBED_HASH_BYTES]
        database.run(
            "INSERT INTO memory_chunks (chunk_id, document_id, user_id, chunk_index, content, segments, content_hash,"
            " embed_hash, heading_path, token_count, start_line, end_line, start_offset, end_offset, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chunk_id, document_id, document.user_id, chunk.index, chunk.text,
                " ".join(indexed_words(" ".join((*chunk.heading_path, chunk.text)))),
                hashlib.sha256(chunk.text.encode()).hexdigest(), hashed,
                json.dumps(chunk.heading_path, ensure_ascii=False), chunk.token_count, chunk.start_line,
                chunk.end_line, chunk.start, chunk.end, now,
            ),
        )  # fmt: skip
        rows.append(ChunkRow(database.connection.last_insert_rowid(), chunk_id, hashed))
    index_words(database, document_id)
    return rows


def _fresh_id() -> str:
    """Return 24 hex digits that begin with the time in milliseconds (like UUID version 7, RFC 9562).

    Rows inserted one after another are then adjacent in every index, so that a commit touches few pages however large
    the index is. They are short because an index has each id up to six times, and only needs to be unique in one file.
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"


def chunks_of(database: Database, document_id: str) -> list[ChunkRow]:
    listed = "SELECT id, chunk_id, embed_hash FROM memory_chunks WHERE document_id = ? ORDER BY chunk_index"
    return [ChunkRow(*row) for row in database.rows(listed, (document_id,))]


class ChunkPosition(NamedTuple):
    """The position of a chunk: a range of indices in a document, or a range of turns in a conversation."""

    document: str
    first: int
    last: int
    is_turn: bool = False
    is_empty: bool = False


def places_of(database: Database, ids: Sequence[int]) -> dict[int, ChunkPosition]:
    """Return the positions of some chunks. Turns of a conversation are documents, `name:first-last`, and adjacent."""
    return database.cached_by_id("places", ids, _read_places)


def _read_places(database: Database, ids: Sequence[int]) -> dict[int, ChunkPosition]:
    rows = database.rows(
        "SELECT c.id, c.document_id, c.chunk_index, c.start_line, c.end_line, d.source_type = 'chat', d.source_id,"
        " c.content = '' FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
        " WHERE c.id IN (SELECT value FROM json_each(?))",
        (json.dumps(ids),),
    )
    return {
        each: ChunkPosition(f"chat:{source_id.rpartition(':')[0]}", first, last, is_turn=True)
        if is_turn
        else ChunkPosition(document, index, index, is_empty=bool(is_empty))
        for each, document, index, first, last, is_turn, source_id, is_empty in rows
    }


def index_words(database: Database, document_id: str) -> None:
    """Add the words of a document's chunks to the keyword indexes; those of a private document to one of them only."""
    for table in _keyword_tables(database, document_id):
        database.run(
            f"INSERT INTO {table} (rowid, title, heading, content, segments)"  # noqa: S608
            " SELECT rowid, title, heading, content, segments FROM memory_search_text WHERE document_id = ?",
            (document_id,),
        )


def forget_words(database: Database, document_id: str) -> None:
    """Remove the words of a document's chunks from the keyword indexes; call it before the rows change."""
    for table in _keyword_tables(database, document_id):
        database.run(
            f"INSERT INTO {table} ({table}, rowid, title, heading, content, segments)"  # noqa: S608
            " SELECT 'delete', rowid, title, heading, content, segments FROM memory_search_text WHERE document_id = ?",
            (document_id,),
        )


def _keyword_tables(database: Database, document_id: str) -> tuple[str, ...]:
    private = database.value("SELECT sensitive FROM memory_documents WHERE id = ?", (document_id,))
    return (FTS_TABLE,) if private else (FTS_TABLE, PUBLIC_FTS_TABLE)


def draft_paths(database: Database) -> set[str]:
    return set(database.column("SELECT source_id FROM memory_documents WHERE is_draft = 1"))


def has_link(database: Database, document_id: str, path: str) -> bool:
    """Return whether a document links to a note."""
    exists = "SELECT EXISTS (SELECT 1 FROM links WHERE document_id = ? AND target = ?)"
    return bool(database.value(exists, (document_id, link_key(path))))


def linking_to(database: Database, path: str) -> tuple[str, ...]:
    linking = (
        "SELECT DISTINCT d.source_id FROM links l JOIN memory_documents d ON d.id = l.document_id"
        " WHERE l.target = ? AND d.source_id <> ? ORDER BY d.source_id LIMIT 20"
    )
    return tuple(database.column(linking, (link_key(path), path)))


def folders_of(database: Database) -> tuple[str, ...]:
    """Return all folders of the vault with indexed notes and their parents, sorted."""
    paths = database.column("SELECT source_id FROM memory_documents WHERE source_type = 'vault'")
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return tuple(sorted(folders - {"."}, key=str.casefold))


def sources_of(database: Database) -> tuple[str, ...]:
    """Return the source types in the index, sorted; drafts count as one."""
    sources = (
        "SELECT DISTINCT source_type FROM memory_documents"
        " UNION SELECT ? WHERE EXISTS (SELECT 1 FROM memory_documents WHERE is_draft = 1) ORDER BY 1"
    )
    return tuple(database.column(sources, (DRAFTS,)))
