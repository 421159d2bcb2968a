"""The meaning leg by an exact scan in NumPy: where sqlite-vec cannot load, and where it would be too slow."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from donna_tui.index.database import Database
from donna_tui.index.filters import Scope, all_in_scope, in_scope
from donna_tui.index.packing import Vector, unpacked
from donna_tui.index.vectors import LARGEST_K, VectorMatch

LOOK_AT_FIRST, NEAREST_LOOKED_AT = 2, 1024
"""First twice as many of the nearest as are wanted are asked whether they are in scope, then 1,024, then all."""

LEAST_ROWS = 1024


class ExactScan:
    """Cosines against every vector, kept in memory: four bytes a number, 1.5 KB a chunk for 384 dimensions.

    One may serve several connections to the same index, on several threads. It follows `vector_log`.
    """

    name = "exact scan"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen = 0
        self._count = 0
        self._rows: dict[int, int] = {}
        self._ids = np.zeros(LEAST_ROWS, dtype=np.int64)
        self._matrix = np.empty((0, 0), dtype=np.float32)

    def add(self, database: Database, ids: Sequence[int]) -> None:
        """Nothing to do: the next search reads the log."""

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        """Nothing to do: the next search reads the log."""

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[VectorMatch]:
        """The nearest chunks inside a scope, nearest first."""
        wanted = min(limit, LARGEST_K)
        if wanted < 1:
            return []
        with self._lock:
            self._follow(database)
            if not self._count:
                return []
            ids, scores = self._ids[: self._count].copy(), _cosines(self._matrix[: self._count], query)
        kept = np.empty(0, dtype=np.intp)
        for looked_at in (LOOK_AT_FIRST * wanted, NEAREST_LOOKED_AT, len(ids)):
            nearest = _nearest(scores, looked_at)
            everything = len(nearest) == len(ids)
            asked = ids[nearest].tolist()
            inside = all_in_scope(database, scope) if everything else in_scope(database, scope, asked)
            kept = nearest[np.isin(ids[nearest], np.array(inside, dtype=np.int64))]
            if everything or len(kept) >= wanted:
                break
        order = kept[np.lexsort((ids[kept], -scores[kept]))][:wanted]
        return [VectorMatch(int(ids[row]), float(scores[row])) for row in order]

    def _follow(self, database: Database) -> None:
        """Take in what changed since the last search: the vectors that are there now, of all chunks in the log."""
        newest = database.value("SELECT max(seq) FROM vector_log") or 0
        if newest <= self._seen:
            return
        changed = database.rows(
            "SELECT l.chunk, e.vector FROM (SELECT DISTINCT chunk FROM vector_log WHERE seq > ?) l"
            " LEFT JOIN memory_chunks c ON c.id = l.chunk AND c.embedding_version NOT IN ('', 'failed')"
            " LEFT JOIN embeddings e ON e.embed_hash = c.embed_hash",
            (self._seen,),
        )
        for each, vector in changed:
            if vector is None:
                self._drop(each)
            else:
                self._put(each, unpacked(vector))
        self._seen = newest

    def _put(self, each: int, vector: Vector) -> None:
        row = self._rows.get(each, self._count)
        if row == self._count:
            self._make_room(len(vector))
            self._rows[each] = row
            self._ids[row] = each
            self._count += 1
        self._matrix[row] = vector

    def _drop(self, each: int) -> None:
        """The last row takes the place of the one that goes."""
        row = self._rows.pop(each, None)
        if row is None:
            return
        self._count -= 1
        last = int(self._ids[self._count])
        if last != each:
            self._ids[row], self._matrix[row] = last, self._matrix[self._count]
            self._rows[last] = row

    def _make_room(self, dim: int) -> None:
        if self._count < len(self._matrix):
            return
        size = max(LEAST_ROWS, len(self._matrix) * 3 // 2)
        matrix, ids = np.empty((size, dim), dtype=np.float32), np.zeros(size, dtype=np.int64)
        if self._count:
            matrix[: self._count], ids[: self._count] = self._matrix[: self._count], self._ids[: self._count]
        self._matrix, self._ids = matrix, ids


def _cosines(matrix: NDArray[np.float32], query: Vector) -> NDArray[np.float32]:
    """As `matrix @ query`, without BLAS: it is bound by memory, and threads of BLAS wait for each other on busy
    cores."""
    scores: NDArray[np.float32] = np.einsum("ij,j->i", matrix, query)
    return scores


def _nearest(scores: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.argpartition(-scores, count)[:count]
