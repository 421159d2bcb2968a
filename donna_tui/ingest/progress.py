"""The policy of when an index is updated, and its progress as counted in the database."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from donna_tui.config.agent_settings import AgentSettings
from donna_tui.config.models import MemoryConfig
from donna_tui.index.database import Database
from donna_tui.index.files import known_paths
from donna_tui.index.vectors import LACKS_VECTOR
from donna_tui.types.errors import Reason
from donna_tui.types.status import Coverage, Problem

QUIET_MS = 25
"""Milliseconds without file events before changes are processed."""

FULL_COMPARISON_SECONDS = 600.0
DEADLINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPolicy:
    """The policy of updating an index: `interval_seconds` between routine comparisons, or None for no such comparisons,
    and `deadline_seconds` for an update before a search.
    """

    on_start: bool = True
    on_search: bool = True
    watch: bool = True
    quiet_ms: int = QUIET_MS
    interval_seconds: float | None = FULL_COMPARISON_SECONDS
    deadline_seconds: float = DEADLINE_SECONDS


def policy_of(config: MemoryConfig) -> SyncPolicy:
    """Return the policy for a space: an agent's settings define it, and a vault is always watched."""
    if not isinstance(config, AgentSettings):
        return SyncPolicy()
    sync = config.agent.search.sync
    return SyncPolicy(
        on_start=sync.on_session_start,
        on_search=sync.on_search,
        watch=sync.watch,
        quiet_ms=max(QUIET_MS, sync.watch_debounce_ms),
        interval_seconds=sync.interval_minutes * 60 or None,
        deadline_seconds=sync.search_deadline_ms / 1000,
    )


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
