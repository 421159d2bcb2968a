"""The meaning leg: nearest neighbours by sqlite-vec, or by an exact scan in NumPy where it cannot load."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from donna_tui.index.database import Database
from donna_tui.index.filters import Scope, conditions
from donna_tui.index.migrations import create_vector_table, get_meta, set_meta

LARGEST_K = 4_096
"""sqlite-vec's own limit on k."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """A chunk's integer key and its cosine similarity to the query: 1 - d²/2 for unit vectors at distance d."""

    id: int
    score: float


class VectorIndex(Protocol):
    """Nearest-neighbour search over the vectors of the active embedding version."""

    name: str

    def add(self, database: Database, ids: Sequence[int]) -> None:
        """Make the vectors of these chunks findable; their rows and `embeddings` are written already."""

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        """Take chunks out."""

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[VectorMatch]:
        """The nearest chunks inside a scope, nearest first."""


class VecTable:
    """sqlite-vec: exact distances, filters inside the search."""

    name = "sqlite-vec"

    def add(self, database: Database, ids: Sequence[int]) -> None:
        """Copy the chunks' vectors into the vector table."""
        database.run_many(
            "INSERT INTO vec_memory_chunks (chunk_id, user_id, source_type, sensitive, embedding)"
            " SELECT c.chunk_id, c.user_id, d.source_type, d.sensitive, e.vector FROM memory_chunks c"
            " JOIN memory_documents d ON d.id = c.document_id JOIN embeddings e ON e.embed_hash = c.embed_hash"
            " WHERE c.id = ?",
            [(each,) for each in ids],
        )

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        """Delete the chunks' rows."""
        database.run_many("DELETE FROM vec_memory_chunks WHERE chunk_id = ?", [(each,) for each in chunk_ids])

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[VectorMatch]:
        """One KNN query: simple scopes use the table's columns, others a set of chunk ids."""
        where, parameters = self._inside(scope)
        rows = database.rows(
            "SELECT c.id, v.distance FROM (SELECT chunk_id, distance FROM vec_memory_chunks"  # noqa: S608
            f" WHERE embedding MATCH ? AND k = ? AND {where}) v"
            " JOIN memory_chunks c ON c.chunk_id = v.chunk_id ORDER BY v.distance, c.id",
            [query.tobytes(), min(limit, LARGEST_K), *parameters],
        )
        return [VectorMatch(each, 1.0 - distance * distance / 2.0) for each, distance in rows]

    @staticmethod
    def _inside(scope: Scope) -> tuple[str, list[object]]:
        filters = scope.filters
        parts, parameters = ["user_id = ?"], [filters.user_id]
        if not scope.simple:
            where, inner = conditions(scope)
            parts.append(
                "chunk_id IN (SELECT c.chunk_id FROM memory_chunks c"  # noqa: S608
                f" JOIN memory_documents d ON d.id = c.document_id WHERE {where})"
            )
            return " AND ".join(parts), [*parameters, *inner]
        values: list[object] = [*parameters]
        if filters.sources:
            parts.append(f"source_type IN ({', '.join('?' * len(filters.sources))})")
            values += filters.sources
        if filters.sensitive is not None:
            parts.append("sensitive = ?")
            values.append(int(filters.sensitive))
        return " AND ".join(parts), values


class ExactScan:
    """The same search in NumPy, over vectors kept in memory and read again when the database has changed."""

    name = "exact scan"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._ids = np.empty(0, dtype=np.int64)
        self._matrix = np.empty((0, 0), dtype=np.float32)

    def add(self, database: Database, ids: Sequence[int]) -> None:
        """Nothing to do: the next search sees that the database has changed."""

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        """Nothing to do: the next search sees that the database has changed."""

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[VectorMatch]:
        """Cosine against every vector in scope."""
        where, parameters = conditions(scope)
        allowed = database.rows(
            "SELECT c.id FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"  # noqa: S608
            f" WHERE c.embedding_version <> '' AND {where}",
            parameters,
        )
        ids, matrix = self._vectors(database)
        rows = np.flatnonzero(np.isin(ids, np.array([each for (each,) in allowed], dtype=np.int64)))
        if not len(rows) or limit < 1:
            return []
        scores = matrix[rows] @ query
        order = np.lexsort((ids[rows], -scores))[: min(limit, LARGEST_K)]
        return [VectorMatch(int(ids[rows[i]]), float(scores[i])) for i in order]

    def _vectors(self, database: Database) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        with self._lock:
            version = (database.value("PRAGMA data_version"), database.connection.total_changes())
            if version != self._seen:
                rows = database.rows(
                    "SELECT c.id, e.vector FROM memory_chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash"
                    " WHERE c.embedding_version <> '' ORDER BY c.id"
                )
                self._ids = np.array([each for each, _ in rows], dtype=np.int64)
                self._matrix = np.frombuffer(b"".join(blob for _, blob in rows), dtype=np.float32)
                self._matrix = self._matrix.reshape(len(rows), -1) if rows else np.empty((0, 0), dtype=np.float32)
                self._seen = version
            return self._ids, self._matrix


def vectors_of(database: Database, ids: Sequence[int]) -> dict[int, Vector]:
    """The stored vectors of some chunks, by integer key; chunks without one are left out."""
    marks = ", ".join("?" * len(ids))
    rows = database.rows(
        "SELECT c.id, e.vector FROM memory_chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash"  # noqa: S608
        f" WHERE c.embedding_version <> '' AND c.id IN ({marks})",
        list(ids),
    )
    return {each: np.frombuffer(blob, dtype=np.float32) for each, blob in rows}


def open_vectors(database: Database, dim: int) -> VectorIndex:
    """The vector index of a writable database, brought up to date if it was written where sqlite-vec did not load."""
    if not database.vec_available:
        set_meta(database, "vec_stale", "1")
        return ExactScan()
    table = VecTable()
    with database.transaction():
        create_vector_table(database, dim)
        if get_meta(database, "vec_stale") == "1":
            rebuild(database, table)
            set_meta(database, "vec_stale", "0")
    return table


def rebuild(database: Database, table: VectorIndex) -> None:
    """Fill the vector table anew from the stored vectors; this also gives back the space of deleted rows."""
    database.run("DELETE FROM vec_memory_chunks")
    ids = database.rows("SELECT id FROM memory_chunks WHERE embedding_version <> '' AND embedding_version <> 'failed'")
    table.add(database, [each for (each,) in ids])


def reading_vectors(database: Database) -> VectorIndex:
    """The vector index for a connection that only reads."""
    known = database.vec_available and database.value("SELECT 1 FROM sqlite_master WHERE name = 'vec_memory_chunks'")
    return VecTable() if known and get_meta(database, "vec_stale") != "1" else ExactScan()
