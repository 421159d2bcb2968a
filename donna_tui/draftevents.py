"""What happens around drafts: language models are asked, and Donna writes notes of her own accord."""

from __future__ import annotations

from typing import ClassVar

from donna_tui.eventbase import Event
from donna_tui.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(Event):
    """A language model was asked. `outcome` is `ok` or the kind of the failure; the cost is in US dollars."""

    name: ClassVar[str] = "model_call"
    task_type: str
    alias: str
    model: str
    outcome: str
    latency_ms: float
    tokens_in: int
    tokens_out: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Autowrite(Event):
    """Donna writes a note of her own accord. `key` names what it is of, such as the id of a meeting."""

    template: str
    path: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Autowritten(Autowrite):
    """The note was written."""

    name: ClassVar[str] = "vault_autowrite_written"


@dataclass(frozen=True, slots=True, kw_only=True)
class AutowriteSkipped(Autowrite):
    """The note is there already."""

    name: ClassVar[str] = "vault_autowrite_skipped_idempotent"


@dataclass(frozen=True, slots=True, kw_only=True)
class AutowriteFailed(Autowrite):
    """The note could not be written. `reason` is a reason code, or the kind of the failure."""

    name: ClassVar[str] = "vault_autowrite_failed"
    reason: str


DraftEvent = ModelCalled | Autowritten | AutowriteSkipped | AutowriteFailed
