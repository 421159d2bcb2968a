"""Chooses how the nearest vectors are found: by sqlite-vec, or by an exact scan in memory."""

from __future__ import annotations

from donna_tui.index.database import Database
from donna_tui.index.migrations import create_vector_table, get_meta, set_meta
from donna_tui.index.scan import ExactScan
from donna_tui.index.vectors import VecTable, VectorIndex, rebuild, shorten_log

SCAN_FROM, SCAN_TO = 3_000, 300_000
"""Vectors between which a scan in memory serves a program that stays: below it sqlite-vec is as quick and costs no
memory, above it the memory would be more than 460 MB. See docs/performance.md for both at 100,000 vectors."""


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


def reading_vectors(database: Database, scan: ExactScan, *, stays: bool) -> VectorIndex:
    """The vector index for a connection that only reads; `scan` is shared by all connections to the same index.

    For a program that does not stay, reading all vectors would take longer than its one search.
    """
    known = database.vec_available and database.value("SELECT 1 FROM sqlite_master WHERE name = 'vec_memory_chunks'")
    if not known or get_meta(database, "vec_stale") == "1":
        return scan
    # Two questions: only a lone max or min is looked up in the index, both in one walk through the table.
    logged = database.value("SELECT (SELECT max(seq) FROM vector_log) - (SELECT min(seq) FROM vector_log)") or 0
    return scan if stays and SCAN_FROM <= logged < SCAN_TO else VecTable()
