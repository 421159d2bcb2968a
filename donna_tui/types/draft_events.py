"""The events of language models, drafts and calendars, as frozen values. A search imports none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from donna_tui.types.events import EngineEvent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelCalled(EngineEvent):
    """A language model was called. `outcome` is `ok` or the kind of the failure; the cost is in US dollars."""

    name: ClassVar[str] = "model_call"
    task_type: str
    alias: str
    model: str
    outcome: str
    latency_ms: float
    tokens_in: int
    tokens_out: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Autowrite(EngineEvent):
    """An automatic draft began. `key` is its idempotency key, such as the id of a meeting."""

    template: str
    path: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Autowritten(Autowrite):
    name: ClassVar[str] = "vault_autowrite_written"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AutowriteSkipped(Autowrite):
    name: ClassVar[str] = "vault_autowrite_skipped_idempotent"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AutowriteFailed(Autowrite):
    """The draft could not be written. `reason` is a reason code, or the kind of the failure."""

    name: ClassVar[str] = "vault_autowrite_failed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalendarFetched(EngineEvent):
    """A calendar was read. `new`, `changed` and `gone` count the meetings that differ from the mirror.

    `problems` are entries that could not be used as they are. `reason` is a reason code if the whole calendar could
    not be read, else empty.
    """

    name: ClassVar[str] = "calendar_fetched"
    calendar: str
    kind: str
    meetings: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    problems: int = 0
    reason: str = ""
    latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingEndPollerStarted(EngineEvent):
    name: ClassVar[str] = "meeting_end_poller_start"
    calendars: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingEndPollerCancelled(EngineEvent):
    name: ClassVar[str] = "meeting_end_poller_cancelled"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingEndPollerCycleFailed(EngineEvent):
    """One poll of the calendars failed; polling continues. `reason` is a code or the kind of the failure."""

    name: ClassVar[str] = "meeting_end_poller_cycle_failed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingEndDetected(EngineEvent):
    """A meeting ended, or the brief for one that is not over is due."""

    name: ClassVar[str] = "meeting_end_detected"
    calendar: str
    event_id: str
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingEndDispatchFailed(EngineEvent):
    """The draft of a meeting could not be started; it is retried."""

    name: ClassVar[str] = "meeting_end_dispatch_failed"
    calendar: str
    event_id: str
    reason: str
