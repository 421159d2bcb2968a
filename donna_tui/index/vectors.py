"""The meaning leg: what an index of vectors does, and the one in sqlite-vec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from donna_tui.index.database import Database
from donna_tui.index.filters import Scope, conditions

LARGEST_K = 4_096
"""sqlite-vec's own limit on k."""

SHORT_LOG = 1_000

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


def vectors_of(database: Database, ids: Sequence[int]) -> dict[int, Vector]:
    """The stored vectors of some chunks, by integer key; chunks without one are left out."""
    marks = ", ".join("?" * len(ids))
    rows = database.rows(
        "SELECT c.id, e.vector FROM memory_chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash"  # noqa: S608
        f" WHERE c.embedding_version <> '' AND c.id IN ({marks})",
        list(ids),
    )
    return {each: np.frombuffer(blob, dtype=np.float32) for each, blob in rows}


def rebuild(database: Database, table: VectorIndex) -> None:
    """Fill the vector table anew from the stored vectors; this also gives back the space of deleted rows."""
    database.run("DELETE FROM vec_memory_chunks")
    ids = database.rows("SELECT id FROM memory_chunks WHERE embedding_version <> '' AND embedding_version <> 'failed'")
    table.add(database, [each for (each,) in ids])


def log_vectors(database: Database, ids: Sequence[int]) -> None:
    """Note that these chunks get or lose their vectors, for scans that keep them in memory."""
    database.run_many("INSERT INTO vector_log (chunk) VALUES (?)", [(each,) for each in ids])


def shorten_log(database: Database) -> None:
    """Write the log anew once it is mostly about the past; its numbers go on, so that readers take in all of it."""
    logged, chunks = database.rows("SELECT (SELECT count(*) FROM vector_log), (SELECT count(*) FROM memory_chunks)")[0]
    if logged > 2 * chunks + SHORT_LOG:
        with database.transaction():
            database.run("DELETE FROM vector_log")
            database.run("INSERT INTO vector_log (chunk) SELECT id FROM memory_chunks WHERE embedding_version <> ''")
