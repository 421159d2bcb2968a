"""The state of the engine: the Activity pane, `donna status` and `donna doctor` show the same values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from donna_tui.types.errors import Reason


class ModelPhase(StrEnum):
    MISSING = "missing"
    PREPARING = "preparing"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that needs attention; `path` is a note, or empty for the whole space. `next_try` is Unix time."""

    id: str
    reason: Reason
    message: str
    hint: str = ""
    path: str = ""
    since: float = 0.0
    next_try: float | None = None
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Counts of files below the root: notes, those searchable by keyword and by meaning, and the rest by reason. The
    notes include `drafts`, which only `in:draft` finds.
    """

    notes: int = 0
    drafts: int = 0
    text: int = 0
    vectors: int = 0
    chunks: int = 0
    chunks_embedded: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    sensitive: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Percentiles over the last few hundred samples, in milliseconds; None without samples."""

    p50: float | None = None
    p95: float | None = None
    samples: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    space: str
    root: str
    database: str
    database_bytes: int
    state: str
    state_detail: str
    model_phase: ModelPhase
    model: str
    model_detail: str
    vector_engine: str
    watcher: str
    last_reconcile: float | None
    coverage: Coverage
    queued: int
    seconds_left: float | None
    throughput: tuple[float, ...]
    embedded_this_run: int
    reused_this_run: int
    search_latency: Latency
    keyword_after_save: Latency
    semantic_after_save: Latency
    problems: tuple[Problem, ...]
    owner: str
    log_file: str
