"""`MemoryStore`: store documents, and keep chunks, words and vectors consistent. One transaction per document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from donna_tui.index.database import Database, release_free_pages
from donna_tui.index.documents import (
    ChunkRow,
    Document,
    StoredDocument,
    chunks_of,
    embedded_text,
    find_document,
    forget_words,
    index_words,
    insert_chunks,
    write_document,
)
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.index.vector_backend import existing_vectors, open_vectors
from donna_tui.index.vectors import (
    HAS_VECTOR,
    LACKS_VECTOR,
    VecTable,
    Vector,
    VectorIndex,
    is_worn,
    log_vectors,
    packed,
    rebuild,
)
from donna_tui.text.chunker import Chunk
from donna_tui.types.errors import DatabaseError, Reason

DEFAULT_WINDOW = 256
"""The window of the default model, in tokens."""

FAILED = "failed"
"""The `embedding_version` of a chunk whose embedding failed; `reindex` and a retry clear it."""


@dataclass(frozen=True, slots=True)
class Upserted:
    """The result of an upsert: the document's id, the number of its chunks, and of those that need not be embedded."""

    id: str
    chunks: int
    embedded: int
    unchanged: bool


@dataclass(frozen=True, slots=True)
class PendingChunk:
    id: int
    document_id: str
    embed_hash: bytes
    path: str
    source_type: str
    sensitive: bool
    text: str


class MemoryStore:
    """The write side of the index, for the thread that owns its connection. `window` is in tokens."""

    def __init__(
        self, database: Database, chunk: Callable[[Document], list[Chunk]], window: int = DEFAULT_WINDOW
    ) -> None:
        self.database = database
        self.version = ""
        self.vectors: VectorIndex = existing_vectors(database)
        self._chunk = chunk
        self._window = window

    def use_embeddings(self, version: str, dim: int) -> None:
        """Set the model: from now on vectors of `dim` numbers, stamped `version`, are stored and searched.

        Those of another model, which an interrupted build has left, are discarded.
        """
        if get_meta(self.database, "embedding_version") not in (None, version):
            self._discard_vectors()
        self.vectors = open_vectors(self.database, dim)
        self.version = version
        with self.database.transaction():
            set_meta(self.database, "embedding_version", version)

    def _discard_vectors(self) -> None:
        with self.database.transaction():
            self.database.run(
                "UPDATE memory_chunks SET embedding_version = ''; DELETE FROM embeddings;"
                " INSERT INTO vector_log (chunk) SELECT id FROM memory_chunks;"
                " UPDATE memory_scores SET novelty = NULL; DELETE FROM memory_centroids; DELETE FROM memory_departed"
            )
            set_meta(self.database, "vec_stale", "1")

    def copy_vectors(self, older: Path) -> None:
        """Copy the cached vectors of an older index of the same model, so that unchanged text is not embedded again."""
        self.database.run("ATTACH DATABASE ? AS older", (str(older),))
        try:
            self.database.run("INSERT OR IGNORE INTO embeddings SELECT embed_hash, vector FROM older.embeddings")
        finally:
            self.database.run("DETACH DATABASE older")

    def put(self, document: Document) -> str:
        """Insert a document that is not stored yet. Raises DatabaseError (`busy`) if it is."""
        if find_document(self.database, document.user_id, document.source_type, document.source_id):
            raise DatabaseError(Reason.BUSY, "this document is stored already", hint="use upsert")
        return self.upsert(document).id

    def upsert(self, document: Document, chunks: Sequence[Chunk] | None = None) -> Upserted:
        """Insert a document or replace it. Unchanged content is neither chunked nor embedded again."""
        existing = find_document(self.database, document.user_id, document.source_type, document.source_id)
        if existing:
            known = (existing.content_hash, existing.title, existing.sensitive)
            if known == (document.content_hash, document.title, document.sensitive):
                return self._touch(existing, document)
        fresh = self._chunk(document) if chunks is None else chunks
        with self.database.transaction():
            if existing:
                self._remove_chunks(existing.id)
            document_id = write_document(self.database, document, existing)
            rows = insert_chunks(self.database, document_id, document, fresh, self._window)
            cached = [row.id for row in rows if self._is_cached(row)] if self.version else []
            if cached:
                self._stamp(cached)
        return Upserted(document_id, len(rows), embedded=len(cached), unchanged=False)

    def upsert_many(self, documents: Iterable[Document]) -> list[str]:
        """Upsert several documents, each in a separate transaction, so that a failure affects one document only."""
        return [self.upsert(document).id for document in documents]

    def delete(self, source_type: str, source_id: str, user_id: str = "me") -> bool:
        """Delete a document with its text, words and vectors. Return False if it was not there."""
        existing = find_document(self.database, user_id, source_type, source_id)
        if not existing:
            return False
        with self.database.transaction():
            hashes = {row.embed_hash for row in self._remove_chunks(existing.id)}
            self.database.run("DELETE FROM memory_documents WHERE id = ?", (existing.id,))
            self.database.run_many(
                "DELETE FROM embeddings WHERE embed_hash = ?1"
                " AND NOT EXISTS (SELECT 1 FROM memory_chunks WHERE embed_hash = ?1)",
                [(digest,) for digest in hashes],
            )
        return True

    def rename(self, old: str, document: Document) -> Upserted:
        """Move a document from `old` to `document.source_id`, keeping its id and, if its text is the same, its vectors.

        The vectors keep the title with which the passages were embedded. A document at the target is replaced.
        """
        existing = find_document(self.database, document.user_id, document.source_type, old)
        if not existing:
            return self.upsert(document)
        self.delete(document.source_type, document.source_id, document.user_id)
        self.database.run("UPDATE memory_documents SET source_id = ? WHERE id = ?", (document.source_id, existing.id))
        same = (existing.content_hash, existing.sensitive) == (document.content_hash, document.sensitive)
        return self._touch(existing, document) if same else self.upsert(document)

    def reindex(self, user_id: str = "me", source_type: str | None = None) -> int:
        """Discard all vectors, so that every chunk is embedded again. Return the number of chunks."""
        where = "user_id = ? AND (? IS NULL OR document_id IN (SELECT id FROM memory_documents WHERE source_type = ?))"
        return self._embed_again(where, (user_id, source_type, source_type))

    def embed_again(self, document_id: str) -> None:
        """Discard the vectors of a document, so that its chunks are embedded again."""
        self._embed_again("document_id = ?", (document_id,))

    def _embed_again(self, where: str, parameters: tuple[str | None, ...]) -> int:
        listed = f"SELECT id, chunk_id, embed_hash FROM memory_chunks WHERE {where}"  # noqa: S608
        with self.database.transaction():
            rows = [ChunkRow(*row) for row in self.database.rows(listed, parameters)]
            self._remove_vectors(rows)
            self.database.run(f"UPDATE memory_chunks SET embedding_version = '' WHERE {where}", parameters)  # noqa: S608
            self.database.run_many(
                "DELETE FROM embeddings WHERE embed_hash = ?1 AND NOT EXISTS"
                " (SELECT 1 FROM memory_chunks WHERE embed_hash = ?1 AND embedding_version <> '')",
                [(row.embed_hash,) for row in rows],
            )
        return len(rows)

    def get_document_meta(self, source_type: str, source_id: str, user_id: str = "me") -> tuple[str, float] | None:
        """Return the id of a document and when it was last stored (Unix time), or None."""
        existing = find_document(self.database, user_id, source_type, source_id)
        return (existing.id, existing.updated_at) if existing else None

    def pending(self, limit: int, *, withhold: bool = False) -> list[PendingChunk]:
        """Return chunks without a vector, the newest first; `withhold` excludes those of private notes."""
        rows = self.database.rows(
            "SELECT c.id, c.document_id, c.embed_hash, d.source_id, d.source_type, d.sensitive, d.user_id,"
            " d.title, c.heading_path, c.content"
            " FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
            " WHERE c.embedding_version = '' AND NOT (? AND d.sensitive) ORDER BY c.id DESC LIMIT ?",
            (withhold, limit),
        )
        pending = []
        for each, document_id, hashed, path, kind, sensitive, user, title, heading, content in rows:
            document = Document(source_type=kind, source_id=path, title=title, text=content, user_id=user)
            text = embedded_text(self.database, self._window, document, tuple(json.loads(heading)), content)
            pending.append(PendingChunk(each, document_id, hashed, path, kind, bool(sensitive), text))
        return pending

    def attach_cached(self, batch: Sequence[PendingChunk]) -> list[PendingChunk]:
        """Assign cached vectors to the chunks whose text was embedded before; return the others."""
        cached = {chunk.id for chunk in batch if self._is_cached(chunk)}
        if cached:
            with self.database.transaction():
                self._stamp(sorted(cached))
        return [chunk for chunk in batch if chunk.id not in cached]

    def waiting(self, batch: Iterable[PendingChunk]) -> set[str]:
        """Return the paths of the documents of a batch that still have chunks without a vector."""
        return {
            path
            for document, path in {chunk.document_id: chunk.path for chunk in batch}.items()
            if self.database.value(
                f"SELECT 1 FROM memory_chunks WHERE document_id = ? AND {LACKS_VECTOR} LIMIT 1",  # noqa: S608
                (document,),
            )
        }

    def store_vectors(self, vectors: Sequence[tuple[int, bytes, Vector]]) -> None:
        """Store vectors as (chunk key, embed hash, vector); outdated chunks are skipped."""
        with self.database.transaction():
            alive = [
                (each, hashed, vector)
                for each, hashed, vector in vectors
                if self.database.value(
                    "SELECT 1 FROM memory_chunks WHERE id = ? AND embed_hash = ? AND embedding_version <> ?",
                    (each, hashed, self.version),
                )
            ]
            rows = [(hashed, packed(vector)) for _, hashed, vector in alive]
            self.database.run_many("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", rows)
            self._stamp([each for each, _, _ in alive])

    def mark_failed(self, ids: Sequence[int]) -> None:
        self.database.run_many(
            "UPDATE memory_chunks SET embedding_version = ? WHERE id = ?", [(FAILED, key) for key in ids]
        )

    def has_pending(self) -> bool:
        return self.database.value("SELECT 1 FROM memory_chunks WHERE embedding_version = '' LIMIT 1") is not None

    def lacks_vectors(self) -> bool:
        """Return whether any chunk is pending, or its embedding failed."""
        return self.database.value(f"SELECT 1 FROM memory_chunks WHERE {LACKS_VECTOR} LIMIT 1") is not None  # noqa: S608

    def retry_failed(self) -> None:
        self.database.run(
            f"UPDATE memory_chunks SET embedding_version = '' WHERE {LACKS_VECTOR} AND embedding_version <> ''"  # noqa: S608
        )

    def tidy(self) -> None:
        """Delete cached vectors that no chunk uses any more, rebuild a worn vector table, and release free pages."""
        self.database.run(
            "DELETE FROM embeddings WHERE NOT EXISTS"
            " (SELECT 1 FROM memory_chunks WHERE memory_chunks.embed_hash = embeddings.embed_hash)"
        )
        if isinstance(self.vectors, VecTable) and is_worn(self.database):
            with self.database.transaction():
                rebuild(self.database, self.vectors)
        release_free_pages(self.database)

    def _touch(self, existing: StoredDocument, document: Document) -> Upserted:
        renamed = existing.search_title != document.search_title
        with self.database.transaction():
            if renamed:
                forget_words(self.database, existing.id)
            write_document(self.database, document, existing)
            if renamed:
                index_words(self.database, existing.id)
        count, embedded = self.database.rows(
            f"SELECT count(*), count(*) FILTER (WHERE {HAS_VECTOR}) FROM memory_chunks WHERE document_id = ?",  # noqa: S608
            (existing.id,),
        )[0]
        return Upserted(existing.id, count, embedded, unchanged=True)

    def _remove_chunks(self, document_id: str) -> list[ChunkRow]:
        rows = chunks_of(self.database, document_id)
        forget_words(self.database, document_id)
        self._remove_vectors(rows)
        self.database.run("DELETE FROM memory_chunks WHERE document_id = ?", (document_id,))
        return rows

    def _remove_vectors(self, rows: Sequence[ChunkRow]) -> None:
        self.vectors.remove(self.database, [row.chunk_id for row in rows])
        log_vectors(self.database, [row.id for row in rows])

    def _is_cached(self, chunk: PendingChunk | ChunkRow) -> bool:
        known = "SELECT 1 FROM embeddings WHERE embed_hash = ?"
        return self.database.value(known, (chunk.embed_hash,)) is not None

    def _stamp(self, ids: Sequence[int]) -> None:
        ids = sorted(ids)  # in the order of the table, in which fewer pages are split as rows grow
        self.database.run_many(
            "UPDATE memory_chunks SET embedding_version = ? WHERE id = ?", [(self.version, key) for key in ids]
        )
        self.vectors.add(self.database, ids)
        log_vectors(self.database, ids)
