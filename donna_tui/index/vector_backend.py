"""Choose the vector backend: sqlite-vec, or an exact scan in memory."""

from __future__ import annotations

from collections.abc import Callable

from donna_tui.index.database import Database
from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.filters import Scope, ScoredChunk
from donna_tui.index.migrations import create_vector_table, get_meta, has_vector_table, set_meta
from donna_tui.index.vectors import VecTable, Vector, VectorIndex, log_bounds, rebuild, shorten_log

SCAN_FROM, SCAN_TO = 3_000, 3_000_000
"""Numbers of vectors between which a scan in memory serves a long-running program: below, sqlite-vec is as fast and
needs no memory; above, the scan would need more than 1.2 GB. See docs/performance.md for both at 100,000 vectors.
"""

AT_ONCE = 5_000
"""Maximum number of changes that a search reads before it answers, in about 20 ms; more are read in parallel."""


def open_vectors(database: Database, dim: int) -> VectorIndex:
    """Open the vector index of a writable database; rebuild it if the database was written without sqlite-vec."""
    if not database.vec_available:
        set_meta(database, "vec_stale", "1")
        return ExactScan()
    table = VecTable()
    with database.transaction():
        stale = get_meta(database, "vec_stale") == "1"
        if stale:
            database.run("DROP TABLE IF EXISTS vec_memory_chunks")  # it may be for another number of dimensions
        create_vector_table(database, dim)
        if stale:
            rebuild(database, table)
            set_meta(database, "vec_stale", "0")
    shorten_log(database)
    return table


def existing_vectors(database: Database) -> VectorIndex:
    """Open the vector index of a writable database while no model is known, so that deletions still apply to it."""
    if not has_vector_table(database):
        return ExactScan()
    if not database.vec_available:
        set_meta(database, "vec_stale", "1")
        return ExactScan()
    return VecTable()


class WarmingVectors(VecTable):
    """sqlite-vec until the vectors are in memory; loading them begins with the first search."""

    def __init__(self, catch_up: Callable[[], None]) -> None:
        self._catch_up = catch_up

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[ScoredChunk]:
        """Search, then start loading: both in parallel would double the time of the search."""
        matches = super().search(database, query, scope, limit)
        self._catch_up()
        return matches


def reading_vectors(
    database: Database, scan: ExactScan, *, long_running: bool, catch_up: Callable[[], None] = lambda: None
) -> VectorIndex:
    """Return the vector index for a read connection; `scan` is shared by all connections to the same index.

    For a program that runs one search, loading all vectors would take longer than the search. While the scan is far
    behind, sqlite-vec serves, and each search calls `catch_up`.
    """
    if not (database.vec_available and has_vector_table(database)) or get_meta(database, "vec_stale") == "1":
        return scan
    before, newest = log_bounds(database)
    if not long_running or not SCAN_FROM <= newest - before < SCAN_TO:
        return VecTable()
    if scan.behind(database) <= AT_ONCE:
        return scan
    return WarmingVectors(catch_up)
