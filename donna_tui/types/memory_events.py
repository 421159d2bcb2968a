"""The events of the memory and of changes to the vault, as frozen values. A search imports none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from donna_tui.types.events import EngineEvent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VaultWritten(EngineEvent):
    """Donna changed the vault: one operation, one commit. `actor` is who requested it.

    `verb` is the first word of its subject, such as `Reject`; empty for an agent, which chooses its subjects.
    """

    name: ClassVar[str] = "vault_write"
    kind: str
    operation: str
    commit: str
    paths: tuple[str, ...]
    actor: str
    verb: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceIngested(EngineEvent):
    """Some documents of a source other than the vault are searchable by keyword; with 0, some may have been removed."""

    documents: int
    latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChatIngested(SourceIngested):
    name: ClassVar[str] = "memory_ingest_chat_turn"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TasksIngested(SourceIngested):
    name: ClassVar[str] = "memory_ingest_task"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectionIngested(SourceIngested):
    name: ClassVar[str] = "memory_ingest_correction"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryRemembered(SourceIngested):
    """Facts, preferences and the like."""

    name: ClassVar[str] = "memory_ingest_memory"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryIngestFailed(EngineEvent):
    """The document of `item` could not be built. `reason` is a reason code, or the kind of the failure."""

    name: ClassVar[str] = "memory_ingest_failed"
    source_type: str
    reason: str
    item: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BackfillDone(EngineEvent):
    """The documents of a source were rebuilt from their originals. The log has an event for each source."""

    name: ClassVar[str] = "memory_backfill_done"
    source_type: str
    documents: int
    latency_ms: float
