"""Chooses how the nearest vectors are found: by sqlite-vec, or by an exact scan in memory."""

from __future__ import annotations

from collections.abc import Callable

from donna_tui.index.database import Database
from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.filters import Scope
from donna_tui.index.migrations import create_vector_table, get_meta, has_vector_table, set_meta
from donna_tui.index.vectors import VecTable, Vector, VectorIndex, VectorMatch, log_bounds, rebuild, shorten_log

SCAN_FROM, SCAN_TO = 3_000, 3_000_000
"""Vectors between which a scan in memory serves a program that stays: below it sqlite-vec is as quick and costs no
memory, above it the memory would be more than 1.2 GB. See docs/performance.md for both at 100,000 vectors."""

AT_ONCE = 5_000
"""Changes that a search takes in before it answers, in some 20 ms; more are taken in beside the searches."""


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
    shorten_log(database)
    return table


def existing_vectors(database: Database) -> VectorIndex:
    """The vector index of a writable database while no model is known: what is deleted leaves it all the same."""
    if not has_vector_table(database):
        return ExactScan()
    if not database.vec_available:
        set_meta(database, "vec_stale", "1")
        return ExactScan()
    return VecTable()


class WarmingVectors(VecTable):
    """sqlite-vec until the vectors are in memory; reading them begins with the first search, not with the app."""

    def __init__(self, catch_up: Callable[[], None]) -> None:
        self._catch_up = catch_up

    def search(self, database: Database, query: Vector, scope: Scope, limit: int) -> list[VectorMatch]:
        """As `VecTable` does. The search comes first: beside the reading it would take twice as long."""
        found = super().search(database, query, scope, limit)
        self._catch_up()
        return found


def reading_vectors(
    database: Database, scan: ExactScan, *, stays: bool, catch_up: Callable[[], None] = lambda: None
) -> VectorIndex:
    """The vector index for a connection that only reads; `scan` is shared by all connections to the same index.

    For a program that does not stay, reading all vectors would take longer than its one search. While a scan is far
    behind, sqlite-vec serves, and each search calls `catch_up`.
    """
    if not (database.vec_available and has_vector_table(database)) or get_meta(database, "vec_stale") == "1":
        return scan
    before, newest = log_bounds(database)
    if not stays or not SCAN_FROM <= newest - before < SCAN_TO:
        return VecTable()
    if scan.behind(database) <= AT_ONCE:
        return scan
    return WarmingVectors(catch_up)
