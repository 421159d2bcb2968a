"""Search vectors by cosine similarity in sqlite-vec, and pack them for storage."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from donna_tui.index.database import Database
from donna_tui.index.filters import ALL_CHUNKS, Scope, ScoredChunk, conditions
from donna_tui.platform.lazy import np
from donna_tui.types.search import DRAFTS, MemorySource

if TYPE_CHECKING:
    from numpy.typing import NDArray


Vector: TypeAlias = "NDArray[np.float32]"
Vectors: TypeAlias = "NDArray[np.float32]"
"""Several vectors, one per row."""

Quantised: TypeAlias = "NDArray[np.int8]"

WIDEST = 8
"""Standard deviations of a component of a random unit vector that a byte covers; larger values are clipped."""


def packed(vector: Vector) -> bytes:
    """Pack a unit vector in half precision: cosines change by less than 0.0001, 1 % of an int8 model's error."""
    halves: NDArray[np.float16] = vector.astype("<f2")
    return halves.tobytes()


def unpacked(stored: bytes) -> Vector:
    return np.frombuffer(stored, dtype="<f2").astype(np.float32)


def unpacked_rows(stored: Sequence[bytes]) -> Vectors:
    """Unpack vectors, one per row, by a table of all 65,536 halves: twice as fast as NumPy's conversion."""
    return np.take(_all_halves(), np.frombuffer(b"".join(stored), dtype="<u2")).reshape(len(stored), -1)


@cache
def _all_halves() -> Vector:
    return np.arange(1 << 16, dtype="<u2").view("<f2").astype(np.float32)


def quantised(vectors: Vectors) -> Quantised:
    """Quantise unit vectors to integers from -127 to 127, accurate enough to select candidates for the nearest."""
    step = min(1.0, WIDEST / math.sqrt(vectors.shape[-1])) / 127
    whole: Quantised = np.clip(np.rint(vectors / step), -127, 127).astype(np.int8)
    return whole


LARGEST_K = 4_096
"""sqlite-vec's limit on k."""

SPARE = 32
"""Minimum number of candidates beyond those wanted; by default, a quarter more are retrieved. For all 233 questions of
the help vault, 16 % more contain every one of the nearest 100 and 400 of 3,100 passages.
"""

SHORT_LOG = 1_000

FEW_PLACES = 8_192
"""Empty slots of the vector table that are tolerated: 3 MB. Slots are allocated for 1,024 vectors at a time."""

AT_ONCE = 1_000


class VectorIndex(Protocol):
    """Nearest-neighbour search over the vectors of the active embedding version."""

    name: str

    def add(self, database: Database, ids: Sequence[int]) -> None:
        """Add the vectors of these chunks; their rows and `embeddings` are already written."""

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        """Remove chunks."""

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Return the nearest chunks inside a scope, nearest first."""


class VecTable:
    """sqlite-vec: filtered search over quantised vectors; the stored vectors re-rank the nearest."""

    name = "sqlite-vec"

    def add(self, database: Database, ids: Sequence[int]) -> None:
        rows = database.rows(
            "SELECT c.chunk_id, c.user_id, iif(d.is_draft, ?, d.source_type), d.sensitive, e.vector"
            " FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
            " JOIN embeddings e ON e.embed_hash = c.embed_hash"
            " WHERE c.id IN (SELECT value FROM json_each(?))",
            (DRAFTS, json.dumps(list(ids))),
        )
        database.run_many(
            "INSERT INTO vec_memory_chunks (chunk_id, user_id, source_type, sensitive, embedding)"
            " VALUES (?, ?, ?, ?, vec_int8(?))",
            [(*columns, quantised(unpacked(vector)).tobytes()) for *columns, vector in rows],
        )

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        database.run_many("DELETE FROM vec_memory_chunks WHERE chunk_id = ?", [(chunk_id,) for chunk_id in chunk_ids])

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Run one KNN query: the table's columns express a simple scope; of others the chunk ids are listed."""
        where, parameters = self._inside(scope)
        nearest = database.column(
            "SELECT c.id FROM (SELECT chunk_id FROM vec_memory_chunks"  # noqa: S608
            f" WHERE embedding MATCH vec_int8(?) AND k = ? AND {where}) v"
            " JOIN memory_chunks c ON c.chunk_id = v.chunk_id",
            [quantised(query).tobytes(), oversampled(limit), *parameters],
        )
        return nearest_of(database, nearest, query, limit)

    @staticmethod
    def _inside(scope: Scope) -> tuple[str, list[object]]:
        filters = scope.filters
        if not scope.simple:
            where, inner = conditions(scope)
            listed = f"SELECT c.chunk_id FROM {ALL_CHUNKS} WHERE {where}"  # noqa: S608
            return f"user_id = ? AND chunk_id IN ({listed})", [filters.user_id, *inner]
        parts, values = ["user_id = ?"], [filters.user_id, *filters.sources]
        if filters.sources:
            parts.append(f"source_type IN ({', '.join('?' * len(filters.sources))})")
        else:
            parts.append("source_type NOT IN (?, ?)")
            values += (MemorySource.TASK, DRAFTS)
        if filters.sensitive is not None:
            parts.append(f"sensitive = {int(filters.sensitive)}")
        return " AND ".join(parts), [*values]


def oversampled(limit: int) -> int:
    """Return how many candidates to select by quantised vectors, so that the nearest `limit` are among them."""
    return min(limit + max(SPARE, limit // 4), LARGEST_K)


def nearest_of(database: Database, ids: Sequence[int], query: Vector, limit: int) -> list[ScoredChunk]:
    """Rank candidates by their stored vectors."""
    found = sorted((-cosine, each) for each, cosine in cosines_of(database, ids, query).items())
    return [ScoredChunk(each, -cosine) for cosine, each in found[: min(limit, LARGEST_K)]]


def cosines_of(database: Database, ids: Sequence[int], query: Vector) -> dict[int, float]:
    """Return the cosines of some chunks to a query, by integer key; chunks without a vector are left out."""
    return cosines_to(query, stored_vectors(database, ids))


def cosines_to(query: Vector, stored: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosines of stored vectors to a query. Each row is summed separately, so that equal ones stay equal."""
    if not stored:
        return {}
    found: list[float] = np.einsum("ij,j->i", unpacked_rows(list(stored.values())), query).tolist()
    return dict(zip(stored, found, strict=True))


def stored_vectors(database: Database, ids: Sequence[int]) -> dict[int, bytes]:
    """Return the packed vectors of some chunks, by integer key; chunks without one are left out."""
    return database.cached_by_id("vectors", ids, _read_vectors)


def _read_vectors(database: Database, ids: Sequence[int]) -> dict[int, bytes]:
    marks = ", ".join("?" * len(ids))
    rows = database.rows(
        "SELECT c.id, e.vector FROM memory_chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash"  # noqa: S608
        f" WHERE c.{HAS_VECTOR} AND c.id IN ({marks})",
        list(ids),
    )
    return dict(rows)


LACKS_VECTOR = "embedding_version IN ('', 'failed')"
"""The condition of chunks without a vector, in the words of their partial index (`ix_memory_chunks_version`)."""
HAS_VECTOR = "embedding_version NOT IN ('', 'failed')"

_EMBEDDED = f"SELECT id FROM memory_places WHERE id NOT IN (SELECT id FROM memory_chunks WHERE {LACKS_VECTOR})"  # noqa: S608
"""The chunks with a vector, without reading the rows of chunks, which contain all text."""


def rebuild(database: Database, table: VectorIndex) -> None:
    """Rebuild the vector table from the stored vectors; this also releases the space of deleted rows."""
    database.run("DELETE FROM vec_memory_chunks")
    ids = database.column(_EMBEDDED)
    for start in range(0, len(ids), AT_ONCE):
        table.add(database, ids[start : start + AT_ONCE])


def is_worn(database: Database) -> bool:
    """Return whether the vector table has a wrong number of vectors, or mostly slots of deleted rows, never reused."""
    places = database.value("SELECT total(size) FROM vec_memory_chunks_chunks")
    held, wanted = vector_counts(database)
    return bool(held != wanted or places > 2 * wanted + FEW_PLACES)


def vector_counts(database: Database) -> tuple[int, int]:
    """Return the number of vectors in the vector table, and the number that it should have."""
    held = database.value("SELECT count(*) FROM vec_memory_chunks_rowids")
    wanted = database.value(f"SELECT count(*) FROM ({_EMBEDDED})")  # noqa: S608
    return held, wanted


def log_vectors(database: Database, ids: Sequence[int]) -> None:
    """Log that the vectors of these chunks change, for scans that keep them in memory."""
    database.run_many("INSERT INTO vector_log (chunk) VALUES (?)", [(key,) for key in ids])


def log_bounds(database: Database) -> tuple[int, int]:
    """Return the sequence numbers before the first and of the last log entry; their difference bounds its length."""
    # Two subqueries: SQLite uses the index only for a single max or min, and scans the table for both in one query.
    oldest, newest = database.rows("SELECT (SELECT min(seq) FROM vector_log), (SELECT max(seq) FROM vector_log)")[0]
    return (0, 0) if newest is None else (oldest - 1, newest)


def shorten_log(database: Database) -> None:
    """Compact the log when most of it is outdated; its numbers continue, so that readers notice."""
    logged, chunks = database.rows("SELECT (SELECT count(*) FROM vector_log), (SELECT count(*) FROM memory_chunks)")[0]
    if logged > 2 * chunks + SHORT_LOG:
        with database.transaction():
            database.run("DELETE FROM vector_log")
            database.run(f"INSERT INTO vector_log (chunk) {_EMBEDDED}")
