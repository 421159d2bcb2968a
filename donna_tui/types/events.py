"""The events of an engine, as frozen values.

Background work posts these to the `EventHub`; the log file, the Activity pane and tests listen. An event has paths,
counts, codes and milliseconds, and never text of notes, titles or addresses, except in a field that is `UNLOGGED`.
Nothing compares events, so they have no equality, which takes time to generate at the start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.status import ModelPhase


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EngineEvent:
    """Base of all events. `name` is the event's name in the log; `at` is Unix time in seconds."""

    name: ClassVar[str] = "event"
    at: float = field(default_factory=time.time)


UNLOGGED = {"unlogged": True}
"""The metadata of a field that is shown on the screen and not logged."""

CHANGED = "something changed"
"""The reason for a comparison while a vault is watched."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EngineStateChanged(EngineEvent):
    name: ClassVar[str] = "engine_state"
    state: Literal["starting", "running", "paused", "read_only", "stopping", "stopped", "failed"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelStateChanged(EngineEvent):
    """The state of the embedding model changed. `detail` is one line; `model` is its version tag once ready."""

    name: ClassVar[str] = "model_state"
    phase: ModelPhase
    detail: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WatcherStateChanged(EngineEvent):
    """The way in which changes on disk are detected."""

    name: ClassVar[str] = "watcher_state"
    mode: Literal["native", "polling", "off"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WatchEvent(EngineEvent):
    """The file system reported a possible change below these paths."""

    name: ClassVar[str] = "vault_watch_event"
    paths: int
    rescan: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReconcileDone(EngineEvent):
    """Vault and index were compared. Counts are notes."""

    name: ClassVar[str] = "vault_backfill_done"
    why: str
    seen: int
    new: int
    changed: int
    deleted: int
    skipped: int
    latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndexProgress(EngineEvent):
    """The progress of the index. Counts are notes unless they say chunks. Newer progress replaces older."""

    name: ClassVar[str] = "index_progress"
    notes: int
    text_done: int
    chunks: int
    chunks_embedded: int
    seconds_left: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTimes:
    """Milliseconds that one note spent in each stage of ingestion."""

    read: float = 0.0
    chunk: float = 0.0
    store: float = 0.0
    embed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteIndexed(EngineEvent):
    """A note's text is searchable by keyword. `found_after_ms` counts from its modification time, for fresh edits."""

    name: ClassVar[str] = "memory_ingest"
    path: str
    why: Literal["new", "changed", "metadata", "retry", "rebuild"]
    chunks: int
    embedded: int
    stages: StageTimes
    found_after_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteEmbedded(EngineEvent):
    """A note's vectors are stored: it is searchable by meaning. `reused` vectors came from the cache."""

    name: ClassVar[str] = "memory_embed"
    path: str
    computed: int
    reused: int
    latency_ms: float
    found_after_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteRenamed(EngineEvent):
    """A note moved. Its document and vectors were kept."""

    name: ClassVar[str] = "vault_rename_matched"
    path: str
    old_path: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteDeleted(EngineEvent):
    """A note was deleted from the vault, and its text and vectors from the index."""

    name: ClassVar[str] = "memory_delete"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteSkipped(EngineEvent):
    """A file that is not indexed, with the reason."""

    name: ClassVar[str] = "memory_ingest_skipped"
    path: str
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteFailed(EngineEvent):
    """A note could not be indexed; it is retried at `next_try` (Unix time)."""

    name: ClassVar[str] = "memory_ingest_failed"
    path: str
    reason: Reason
    message: str
    next_try: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IngestBatch(EngineEvent):
    """Chunks of so many notes were embedded in one batch."""

    name: ClassVar[str] = "memory_ingest_batch"
    notes: int
    chunks: int
    latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchDone(EngineEvent):
    name: ClassVar[str] = "memory_retrieval"
    mode: str
    k: int
    hits: int
    latency_ms: float
    sources: str = ""
    question: str = field(default="", metadata=UNLOGGED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemRaised(EngineEvent):
    """Something needs attention. `path` is a note, or empty for the whole space."""

    name: ClassVar[str] = "problem"
    reason: Reason
    message: str
    hint: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemCleared(EngineEvent):
    name: ClassVar[str] = "problem_cleared"
    reason: Reason
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndexSwapped(EngineEvent):
    name: ClassVar[str] = "index_swapped"
    generation: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangedElsewhere(EngineEvent):
    """The process that maintains the index has changed it, or something in `memory.db`."""

    name: ClassVar[str] = "changed_elsewhere"


Listener = Callable[[EngineEvent], None]


class EventHub:
    """Pass each event to every listener, on the thread that posts it.

    Listeners must be quick and must not raise: what they raise is dropped, so that a broken one cannot stop ingestion.
    """

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._lock = threading.Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener. Returns the function that removes it again."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(other for other in self._listeners if other is not listener)

        return unsubscribe

    def report(self, error: DonnaError) -> None:
        """Post an error as a problem, of a note if the error names one."""
        path = error.path if isinstance(error, VaultWriteError) else ""
        self.post(ProblemRaised(reason=error.reason, message=error.message, hint=error.hint or "", path=path))

    def post(self, event: EngineEvent) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:  # noqa: S112
                continue
