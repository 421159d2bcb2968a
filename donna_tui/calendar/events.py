"""One event of a calendar file as a library parsed it, brought into a form in which its times can be compared."""

from __future__ import annotations

import datetime
import hashlib
from typing import Any

from icalendar import Event
from icalendar.prop import vBroken, vDDDLists, vDDDTypes

from donna_tui.calendar.entries import Entry
from donna_tui.calendar.people import invited
from donna_tui.calendar.rules import UnusableError, checked_rule
from donna_tui.calendar.values import DESCRIPTION_CHARS, LOCATION_CHARS, TITLE_CHARS, bounded
from donna_tui.drafting import Attendee
from donna_tui.records import dataclass

UID_CHARS = 255
_TIMES = ("DTSTART", "DTEND", "RECURRENCE-ID", "RDATE", "EXDATE")


@dataclass(frozen=True, slots=True)
class Details:
    """What an event says besides its times. All text is raw."""

    title: str
    location: str
    description: str
    attendees: tuple[Attendee, ...]
    cancelled: bool


@dataclass(frozen=True, slots=True)
class ParsedEvent:
    """An event whose times all have a zone, unless they are days. `floats` says that they had none.

    `event` is an icalendar Event; to name its properties' types is not possible, since any of them may be anything.
    `remarks` tell what had to be guessed.
    """

    number: int
    uid: str
    event: Any
    details: Details
    floats: bool
    remarks: tuple[str, ...]

    @property
    def start(self) -> datetime.date:
        """A day, or an aware moment."""
        start: datetime.date = self.event["DTSTART"].dt
        return start

    @property
    def replaces(self) -> datetime.date | None:
        """Which occurrence of the series this is, if it is one that was changed."""
        replaced: datetime.date | None = _value(self.event.get("RECURRENCE-ID"))
        return replaced

    @property
    def lasts(self) -> datetime.timedelta | None:
        """How long it lasts, if it says that instead of when it ends."""
        lasts: datetime.timedelta | None = _value(self.event.get("DURATION"))
        return lasts

    @property
    def recurs(self) -> bool:
        """Whether it stands for more than one occurrence."""
        return "RRULE" in self.event or "RDATE" in self.event

    @property
    def rank(self) -> tuple[int, str]:
        """Of two versions of one event, the one that ranks higher is the newer."""
        sequence = self.event.get("SEQUENCE", 0)
        return (sequence if isinstance(sequence, int) else 0, str(_value(self.event.get("DTSTAMP")) or ""))


def parsed_event(entry: Entry, zone: datetime.tzinfo) -> ParsedEvent:
    """The event of an entry; times without a zone are in `zone`. Raises UnusableError, or what the library does."""
    event = Event.from_ical(entry.text)
    if not isinstance(event, Event):
        raise UnusableError("it cannot be read")
    uid = _uid(event, entry)
    floats = _is_floating(_moment(event.get("DTSTART"), "its start cannot be read"))
    remarks = [*_zones_in_order(event, zone), *_end_in_order(event)]
    remarks += ["it has too many attendees; the others are left out"] if entry.exceeds("ATTENDEE") else []
    _rules_in_order(event, entry, zone)
    return ParsedEvent(entry.number, uid, event, _details(event), floats, tuple(remarks))


def _uid(event: Any, entry: Entry) -> str:
    """The UID; for an event without a usable one, a hash of what tells it from others."""
    uid = str(event.get("UID", "")).strip()
    if uid and uid.isprintable() and len(uid) <= UID_CHARS:
        return uid
    told = [uid] if uid else [line for line in entry.lines if not line.upper().startswith("DTSTAMP")]
    return f"donna-{hashlib.sha256(chr(10).join(told).encode('utf-8', 'replace')).hexdigest()[:32]}"


def _moment(value: Any, problem: str) -> datetime.date:
    moment = _value(value)
    if not isinstance(moment, datetime.date):
        raise UnusableError(problem)
    return moment


def _value(value: Any) -> Any:
    """The Python value of a property; None if it is absent or broken."""
    return None if isinstance(value, vBroken) else getattr(value, "dt", None)


def _is_floating(moment: datetime.date) -> bool:
    return isinstance(moment, datetime.datetime) and moment.tzinfo is None


def _zones_in_order(event: Any, zone: datetime.tzinfo) -> list[str]:
    """Give all times a zone; what is said where the one that was named is unknown."""
    unknown = False
    for name in _TIMES:
        values = event.get(name)
        for value in values if isinstance(values, list) else [values] if values is not None else []:
            if isinstance(value, vDDDLists):
                for each in value.dts:
                    each.dt = _zoned(each.dt, zone)
            elif isinstance(value, vDDDTypes):
                unknown = unknown or (_is_floating_time(value.dt) and "TZID" in value.params)
                value.dt = _zoned(value.dt, zone)
            elif name in ("RDATE", "EXDATE"):
                raise UnusableError(f"its {name} cannot be read")
    _moment(event.get("RECURRENCE-ID", event["DTSTART"]), "it does not tell which occurrence it replaces")
    return ["its time zone is unknown; its times are taken as local"] if unknown else []


def _is_floating_time(value: Any) -> bool:
    return isinstance(value, datetime.datetime) and value.tzinfo is None


def _zoned(value: Any, zone: datetime.tzinfo) -> Any:
    if isinstance(value, tuple):
        return tuple(_zoned(each, zone) for each in value)
    return value.replace(tzinfo=zone) if _is_floating_time(value) else value


def _end_in_order(event: Any) -> list[str]:
    """Drop an end that cannot be; what is said of it."""
    start = event["DTSTART"].dt
    if "DTEND" not in event and "DURATION" not in event:
        return []
    problem = _end_problem(event, start)
    if problem:
        event.pop("DTEND", None)
        event.pop("DURATION", None)
    return [problem] if problem else []


def _end_problem(event: Any, start: datetime.date) -> str:
    if "DTEND" not in event:
        duration = _value(event["DURATION"])
        if not isinstance(duration, datetime.timedelta):
            return "its duration cannot be read; it is taken without an end"
        return "its duration is negative; it is taken without an end" if duration < datetime.timedelta(0) else ""
    end = _value(event["DTEND"])
    if not isinstance(end, datetime.date):
        return "its end cannot be read; it is taken without one"
    if isinstance(end, datetime.datetime) != isinstance(start, datetime.datetime):
        return "its end is a day and its start a time, or the other way round; it is taken without an end"
    return "it ends before it begins; it is taken without an end" if end < start else ""


def _rules_in_order(event: Any, entry: Entry, zone: datetime.tzinfo) -> None:
    """Bound what an event repeats. Raises UnusableError."""
    for name, told in (("RRULE", "rules"), ("RDATE", "dates"), ("EXDATE", "exceptions")):
        if entry.exceeds(name):
            raise UnusableError(f"it has too many {told}")
    rules = event.get("RRULE")
    if rules is not None:
        given = rules if isinstance(rules, list) else [rules]
        event["RRULE"] = [checked_rule(rule, event["DTSTART"].dt, zone) for rule in given]


def _details(event: Any) -> Details:
    attendees = event.get("ATTENDEE", [])
    return Details(
        title=bounded(str(event.get("SUMMARY", "")), TITLE_CHARS),
        location=bounded(str(event.get("LOCATION", "")), LOCATION_CHARS),
        description=bounded(str(event.get("DESCRIPTION", "")), DESCRIPTION_CHARS),
        attendees=invited(event.get("ORGANIZER"), attendees if isinstance(attendees, list) else [attendees]),
        cancelled=str(event.get("STATUS", "")).strip().upper() == "CANCELLED",
    )
