"""Exact nearest-neighbour scan in memory, for long-running programs and systems where sqlite-vec cannot be loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import simsimd

from donna_tui.index.database import Database
from donna_tui.index.filters import Scope, ScoredChunk, all_in_scope, first_in_scope
from donna_tui.index.scope import ScopeMembership, known_members
from donna_tui.index.vectors import (
    HAS_VECTOR,
    Quantised,
    Vector,
    log_bounds,
    nearest_of,
    oversampled,
    quantised,
    unpacked_rows,
)
from donna_tui.platform.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CANDIDATES = 10_000
"""Maximum number of nearest chunks that are tested for membership in a scope. The scope is listed instead if those are
expected to contain too few members, judging by the first of them.
"""

SAMPLED, FEW = 100, 20
"""Sampling rate for estimating the floor of the largest products, and the least number of sampled rows above it."""

MIN_ROWS = 1_024

BLOCK = 5_000
"""Log entries read at once: 4 MB of stored vectors, and 20 MB while they are quantised."""

GATHERED, PART = 0.25, 4_096
"""Largest share of all vectors that a scope may have for its vectors to be copied and compared, and their number per
copy. The vectors of a larger scope are compared with all others.
"""

_NOWHERE = -1


class ExactScan:
    """Exact scan over quantised vectors in memory: one byte per number, 0.4 KB per chunk for 384 dimensions.

    As with sqlite-vec, the stored vectors re-rank more candidates than are wanted. One scan may serve several
    connections to the same index, on several threads. It follows `vector_log`.
    """

    name = "exact scan"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen = 0
        self._count = 0

    @cached_property
    def _row_of(self) -> NDArray[np.int32]:
        return np.full(MIN_ROWS, _NOWHERE, dtype=np.int32)

    @cached_property
    def _ids(self) -> NDArray[np.int64]:
        return np.zeros(0, dtype=np.int64)

    @cached_property
    def _matrix(self) -> Quantised:
        return np.empty((0, 0), dtype=np.int8)

    def add(self, database: Database, ids: Sequence[int]) -> None:
        """Do nothing: the next search reads the log."""

    def remove(self, database: Database, chunk_ids: Sequence[str]) -> None:
        """Do nothing: the next search reads the log."""

    def behind(self, database: Database) -> int:
        """Return the number of changes that the next search would have to read."""
        before, newest = log_bounds(database)
        return max(0, newest - max(self._seen, before))

    def catch_up(self, database: Database, stopped: Callable[[], bool]) -> None:
        """Read changes block by block, so that searches need not wait for all of them. Raises DatabaseError."""
        more = True
        while more and not stopped():
            with self._lock:
                more = self._load_block(database)

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[ScoredChunk]:
        if limit < 1:
            return []
        members = known_members(database, scope)
        with self._lock:
            while self._load_block(database):
                pass
            ids, products = self._compared(query, members)
        wanted = oversampled(limit)
        if members is None:
            nearest = _nearest_inside(database, scope, ids, products, wanted)
        else:
            nearest = ids[_largest(products, wanted)].tolist()
        return nearest_of(database, nearest, query, limit)

    def _compared(
        self, query: Vector, members: ScopeMembership | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the keys of all chunks, or of a scope's, and their products with a query."""
        matrix = self._matrix[: self._count]
        if members is None:
            return self._ids[: self._count].copy(), _products(matrix, query)
        keys = np.frombuffer(members.keys, dtype=np.int64)
        rows = self._row_of[keys[: np.searchsorted(keys, len(self._row_of))]]
        rows = rows[rows != _NOWHERE]
        if len(rows) > GATHERED * self._count:
            return self._ids[rows], _products(matrix, query)[rows]
        parts = [_products(matrix[rows[start : start + PART]], query) for start in range(0, len(rows), PART)]
        return self._ids[rows], np.concatenate(parts) if parts else np.empty(0)

    def _load_block(self, database: Database) -> bool:
        """Read the vectors of the chunks that the next entries of the log name. Return False if there were none."""
        before, newest = log_bounds(database)
        start = max(self._seen, before)
        if newest <= start:
            return False
        changed = database.rows(
            "SELECT l.chunk, e.vector FROM (SELECT DISTINCT chunk FROM vector_log WHERE seq > ? AND seq <= ?) l"  # noqa: S608
            f" LEFT JOIN memory_chunks c ON c.id = l.chunk AND c.{HAS_VECTOR}"
            " LEFT JOIN embeddings e ON e.embed_hash = c.embed_hash",
            (start, start + BLOCK),
        )
        for each, vector in changed:
            if vector is None:
                self._drop(each)
        there = [(each, vector) for each, vector in changed if vector is not None]
        if there:
            keys = np.array([each for each, _ in there], dtype=np.int64)
            self._put(keys, quantised(unpacked_rows([vector for _, vector in there])), expected=newest - start)
        self._seen = min(newest, start + BLOCK)
        return True

    def _put(self, keys: NDArray[np.int64], vectors: Quantised, *, expected: int) -> None:
        self._make_room(int(keys.max()), max(len(keys), expected), vectors.shape[1])
        rows = self._row_of[keys]
        new = rows == _NOWHERE
        rows[new] = np.arange(self._count, self._count + np.count_nonzero(new))
        self._count += int(np.count_nonzero(new))
        self._row_of[keys], self._ids[rows], self._matrix[rows] = rows, keys, vectors

    def _drop(self, each: int) -> None:
        """Remove a row by moving the last row into its place."""
        row = self._row_of[each] if each < len(self._row_of) else _NOWHERE
        if row == _NOWHERE:
            return
        self._count -= 1
        last = int(self._ids[self._count])
        self._ids[row], self._matrix[row] = last, self._matrix[self._count]
        self._row_of[last], self._row_of[each] = row, _NOWHERE

    def _make_room(self, largest: int, more: int, dim: int) -> None:
        if largest >= len(self._row_of):
            grown = np.full(max(largest + 1, len(self._row_of) * 3 // 2), _NOWHERE, dtype=np.int32)
            grown[: len(self._row_of)] = self._row_of
            self._row_of = grown
        if self._count + more <= len(self._ids):
            return
        size = max(MIN_ROWS, self._count + more, len(self._ids) * 9 // 8)
        matrix, ids = np.empty((size, dim), dtype=np.int8), np.zeros(size, dtype=np.int64)
        if self._count:
            matrix[: self._count], ids[: self._count] = self._matrix[: self._count], self._ids[: self._count]
        self._matrix, self._ids = matrix, ids


def _products(matrix: Quantised, query: Vector) -> NDArray[np.float64]:
    """Return inner products of quantised vectors. One thread is enough, because it is bound by memory bandwidth."""
    if not len(matrix):
        return np.empty(0)
    products: NDArray[np.float64] = np.asarray(simsimd.cdist(quantised(query)[np.newaxis], matrix, "inner"))[0]
    return products


def _nearest_inside(
    database: Database, scope: Scope, ids: NDArray[np.int64], products: NDArray[np.float64], wanted: int
) -> list[int]:
    """Return the keys of the nearest chunks in scope, at most `wanted`, in no order."""
    nearest = _largest(products, MAX_CANDIDATES)
    first = nearest[_largest(products[nearest], 2 * wanted)]
    found = first_in_scope(database, scope, _in_order(ids, products, first), wanted)
    share = len(found) / max(1, len(first))
    if len(found) < wanted <= share * len(nearest):
        rest = _in_order(ids, products, np.setdiff1d(nearest, first))
        found += first_in_scope(database, scope, rest, wanted - len(found), share)
    if len(found) == wanted:
        return found
    inside = np.flatnonzero(np.isin(ids, np.array(all_in_scope(database, scope), dtype=np.int64)))
    return [int(each) for each in ids[inside[_largest(products[inside], wanted)]]]


def _in_order(ids: NDArray[np.int64], products: NDArray[np.float64], rows: NDArray[np.intp]) -> list[int]:
    in_order: list[int] = ids[rows[np.argsort(-products[rows])]].tolist()
    return in_order


def _largest(products: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Select the rows of the `count` largest products, in no order and with ties broken arbitrarily.

    In a large scan a floor is estimated from a sample: filtering by it is thirty times as fast as partitioning all
    rows.
    """
    if count >= len(products):
        return np.arange(len(products))
    sample = products[::SAMPLED]
    above = count // SAMPLED * 2 + FEW
    if above < len(sample):
        rows = np.flatnonzero(products >= np.partition(sample, -above)[-above])
        if len(rows) >= count:
            return rows[np.argpartition(products[rows], -count)[-count:]]
    return np.argpartition(products, -count)[-count:]
