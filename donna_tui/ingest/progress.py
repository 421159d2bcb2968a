"""The progress of an index as counted in the database."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from donna_tui.index.database import Database
from donna_tui.index.documents import draft_paths
from donna_tui.index.files import known_paths
from donna_tui.index.vectors import LACKS_VECTOR
from donna_tui.types.errors import Reason
from donna_tui.types.status import Coverage, Problem

SHOWN_PROBLEMS = 200

WORTH_SHOWING = frozenset({
    Reason.UNREADABLE, Reason.TOO_LARGE, Reason.TOO_LONG, Reason.NOT_TEXT, Reason.CONFLICT_COPY, Reason.IO_ERROR,
    Reason.INVALID_FRONTMATTER,
})  # fmt: skip
"""Reasons of skipped files that the user may want to act on."""


def count(database: Database) -> Coverage:
    skipped = dict(database.rows("SELECT reason, count(*) FROM file_states WHERE state = 'skipped' GROUP BY reason"))
    indexed, failed = database.rows(
        "SELECT count(*) FILTER (WHERE state = 'indexed'), count(*) FILTER (WHERE state = 'failed') FROM file_states"
    )[0]
    chunks, lacking = database.rows(
        f"SELECT (SELECT count(*) FROM memory_chunks), (SELECT count(*) FROM memory_chunks WHERE {LACKS_VECTOR})"  # noqa: S608
    )[0]
    waiting = database.value(  # through memory_places, because the rows of chunks contain all text
        "SELECT count(*) FROM (SELECT DISTINCT document_id FROM memory_places WHERE id IN"  # noqa: S608
        f" (SELECT id FROM memory_chunks WHERE {LACKS_VECTOR}))"
        " JOIN memory_documents d ON d.id = document_id WHERE d.source_type = 'vault'"
    )
    return Coverage(
        notes=indexed + failed,
        drafts=len(draft_paths(database)),
        text=indexed,
        vectors=indexed - waiting,
        chunks=chunks,
        chunks_embedded=chunks - lacking,
        skipped=skipped,
        failed=failed,
        sensitive=database.value("SELECT count(*) FROM memory_documents WHERE sensitive AND source_type = 'vault'"),
    )


def with_waiting(coverage: Coverage, database: Database, new: Collection[str], moved: Collection[str]) -> Coverage:
    """Add `new` notes that are not read yet, except as many as may be `moved` notes, which are counted already."""
    if not new:
        return coverage
    known = known_paths(database, (*new, *moved))
    return replace(coverage, notes=coverage.notes + max(0, len(new) - len(known)))


def file_problems(database: Database) -> tuple[Problem, ...]:
    """Return files that failed, were skipped for a relevant reason, or are indexed with a reservation."""
    reasons = ", ".join(f"'{reason}'" for reason in sorted(WORTH_SHOWING))
    rows = database.rows(
        "SELECT path, state, reason, message, checked_at, next_try FROM file_states"  # noqa: S608
        f" WHERE state = 'failed' OR reason IN ({reasons}) ORDER BY state = 'failed' DESC, path LIMIT ?",
        (SHOWN_PROBLEMS,),
    )
    return tuple(
        Problem(
            id=f"{reason}:{path}",
            reason=Reason(reason),
            message=message,
            path=path,
            since=since,
            next_try=next_try,
            retryable=state == "failed",
        )
        for path, state, reason, message, since, next_try in rows
    )


def retry_due(database: Database, now: float | None) -> list[str]:
    """Return failed files whose retry is due; all failed files if `now` is None."""
    due = "SELECT path FROM file_states WHERE state = 'failed' AND (?1 IS NULL OR next_try <= ?1)"
    return database.column(due, (now,))
