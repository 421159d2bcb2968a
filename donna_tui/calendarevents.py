"""What happens around calendars: they are read, and meetings end. An event holds no title and no name of a person."""

from __future__ import annotations

from typing import ClassVar

from donna_tui.eventbase import Event
from donna_tui.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarFetched(Event):
    """A calendar was read. `new`, `changed` and `gone` are meetings that differ from what was known.

    `problems` are entries that could not be used as they are. `reason` is a reason code where the whole calendar could
    not be read, and empty where it could.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingEndPollerStarted(Event):
    """Donna begins to look for meetings that have ended."""

    name: ClassVar[str] = "meeting_end_poller_start"
    calendars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingEndPollerCancelled(Event):
    """Donna no longer looks for meetings that have ended."""

    name: ClassVar[str] = "meeting_end_poller_cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingEndPollerCycleFailed(Event):
    """One look for ended meetings failed; the next one comes. `reason` is a code or the kind of the failure."""

    name: ClassVar[str] = "meeting_end_poller_cycle_failed"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingEndDetected(Event):
    """A meeting has ended, and its note is due."""

    name: ClassVar[str] = "meeting_end_detected"
    calendar: str
    event_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingEndDispatchFailed(Event):
    """The note of a meeting that has ended could not be begun; it is tried again."""

    name: ClassVar[str] = "meeting_end_dispatch_failed"
    calendar: str
    event_id: str
    reason: str


CalendarEvent = (
    CalendarFetched
    | MeetingEndDetected
    | MeetingEndDispatchFailed
    | MeetingEndPollerCancelled
    | MeetingEndPollerCycleFailed
    | MeetingEndPollerStarted
)
