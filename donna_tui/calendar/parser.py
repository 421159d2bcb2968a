"""Parse the events of a calendar file into values whose times and recurrence rules are checked.

The content is filtered before a library parses it, which bounds the cost of attachments, alarms and long lists of
dates, and isolates a broken event, or a truncated file, from the other events.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from icalendar import Event
from icalendar.prop import vBroken, vDDDLists, vDDDTypes, vRecur

from donna_tui.calendar.values import (
    DESCRIPTION_CHARS,
    LOCATION_CHARS,
    MAX_ATTENDEES,
    MAX_ENTRIES,
    NAME_CHARS,
    TITLE_CHARS,
    EntryProblem,
    bounded,
    instant,
)
from donna_tui.types.drafts import Attendee

MAX_DATES = 5_000
"""Maximum number of dates that an event may list in addition to its rule."""

MAX_ZONES = 200
MAX_ZONE_LINES = 500
MAX_LINE_CHARS = 100_000
MAX_RULES = 8

_ONCE = frozenset(
    "UID DTSTART DTEND DURATION RECURRENCE-ID SEQUENCE STATUS SUMMARY LOCATION DESCRIPTION ORGANIZER DTSTAMP".split()
)
_OFTEN = {"ATTENDEE": MAX_ATTENDEES, "RRULE": MAX_RULES, "RDATE": MAX_DATES, "EXDATE": MAX_DATES}

_FOLD = re.compile(rb"\r?\n[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+")


@dataclass(slots=True)
class RawEvent:
    """One VEVENT: its number in the calendar, from 1, and its relevant lines, unfolded."""

    number: int
    lines: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, line: str) -> None:
        """Add a line if its property is supported and within its limit."""
        match = _NAME.match(line)
        name = match.group().upper() if match else ""
        count = self.counts.get(name, 0)
        if name in _ONCE:
            self.counts[name] = count + 1
            if not count and len(line) <= MAX_LINE_CHARS:
                self.lines.append(line)
        elif name in _OFTEN:
            self.counts[name] = count + (1 + line.count(",") if name in ("RDATE", "EXDATE") else 1)
            if self.counts[name] <= _OFTEN[name]:
                self.lines.append(line)

    def exceeds(self, name: str) -> bool:
        return self.counts.get(name, 0) > _OFTEN[name]

    @property
    def uid(self) -> str:
        return next((line[4:].strip() for line in self.lines if line[:4].upper() == "UID:"), "")

    @property
    def text(self) -> str:
        return "\r\n".join(("BEGIN:VEVENT", *self.lines, "END:VEVENT", ""))


@dataclass(slots=True)
class Contents:
    """The content of a calendar file. `complete` is false if it is truncated or exceeds a limit."""

    entries: list[RawEvent] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    problems: list[EntryProblem] = field(default_factory=list)
    complete: bool = True

    def mark_incomplete(self, message: str, number: int = 0) -> None:
        """Add a problem that makes the content incomplete."""
        self.problems.append(EntryProblem(message, number))
        self.complete = False


class Reader:
    """Scan the lines; `_depth` counts the open components within an event around the current line."""

    def __init__(self) -> None:
        self._contents = Contents()
        self._entry: RawEvent | None = None
        self._zone: list[str] | None = None
        self._depth = 0
        self._entry_count = 0
        self._is_calendar = False

    def read(self, data: bytes) -> Contents:
        """Return the events and time zones of a calendar file, or of several concatenated ones."""
        for line in _lines(data):
            if not self._take(line):
                break
        self._report_unterminated()
        if not self._is_calendar and data.strip():
            self._contents.mark_incomplete("it is not a calendar: it has no BEGIN:VCALENDAR")
        return self._contents

    def _take(self, line: str) -> bool:
        """Process a line; return whether to continue."""
        keyword = line[:24].rstrip().upper()
        if keyword in ("BEGIN:VCALENDAR", "END:VCALENDAR"):
            self._report_unterminated()
            self._is_calendar = True
        elif keyword == "BEGIN:VEVENT":
            self._report_unterminated()
            self._entry_count += 1
            if self._entry_count > MAX_ENTRIES:
                self._contents.mark_incomplete(f"it has more than {MAX_ENTRIES:,} entries; the others are ignored")
                return False
            self._entry, self._depth = RawEvent(self._entry_count), 0
        elif self._entry is not None:
            self._in_event(line, keyword, self._entry)
        elif self._zone is not None:
            self._in_zone(line, keyword, self._zone)
        elif keyword == "BEGIN:VTIMEZONE":
            self._zone = [line]
        return True

    def _in_event(self, line: str, keyword: str, entry: RawEvent) -> None:
        if keyword.startswith("BEGIN:"):
            self._depth += 1
        elif keyword.startswith("END:"):
            self._depth -= 1
            if self._depth < 0 or keyword == "END:VEVENT":
                self._contents.entries.append(entry)
                self._entry = None
        elif not self._depth:
            entry.take(line)

    def _in_zone(self, line: str, keyword: str, zone: list[str]) -> None:
        if len(zone) <= MAX_ZONE_LINES:
            zone.append(line)
        if keyword == "END:VTIMEZONE":
            if len(zone) <= MAX_ZONE_LINES and len(self._contents.zones) < MAX_ZONES:
                self._contents.zones.append("\r\n".join((*zone, "")))
            self._zone = None

    def _report_unterminated(self) -> None:
        if self._entry is not None:
            self._contents.mark_incomplete("the calendar ends or starts again in the middle of it", self._entry.number)
        self._entry = self._zone = None


def _lines(data: bytes) -> Iterator[str]:
    """Yield the lines of a file, unfolded as bytes, since a fold may split a character."""
    unfolded = _FOLD.sub(b"", data.removeprefix(b"\xef\xbb\xbf"))
    for line in unfolded.splitlines():
        if line:
            yield line.decode("utf-8", "replace")


_RESOURCES = ("ROOM", "RESOURCE")
_MAILTO = "mailto:"


def invited(organiser: Any, attendees: Iterable[Any]) -> tuple[Attendee, ...]:
    """Return the people of an event from the addresses of `icalendar`, organiser first, without rooms."""
    addresses = [address for address in (organiser, *attendees) if address is not None]
    people = (address for address in addresses if str(_parameter(address, "CUTYPE")).upper() not in _RESOURCES)
    return distinct(map(_person, people))


def distinct(people: Iterable[Attendee]) -> tuple[Attendee, ...]:
    """Remove duplicate people, who are identified by mail address, or by name without one."""
    unique: dict[str, Attendee] = {}
    for person in people:
        key = person.email.casefold() or person.name.casefold()
        existing = unique.get(key)
        if existing is None:
            is_better = bool(key)
        else:  # a person with a name is better than one with only a mail address
            is_better = existing.name == existing.email.partition("@")[0] and person.name not in ("", existing.name)
        if is_better:
            existing = unique[key] = person
        if existing is not None and person.declined and not existing.declined:
            unique[key] = replace(existing, declined=True)
    return tuple(list(unique.values())[:MAX_ATTENDEES])


_SURNAME_FIRST = re.compile(r"([^\W\d_][^\d_,()]{0,60}), ([^\W\d_][^\d_,()]{0,60}?)( \(.*\))?")
_NO_FIRST_NAMES = frozenset("jr sr ii iii iv phd md mba esq inc ltd llc llp plc corp co gmbh ag kg".split())


def named(name: str, email: str, *, declined: bool = False) -> Attendee:
    """Return a person with the given name, else with the local part of the mail address.

    “Weber, Anna (Sales)” or “Weber, Anna | Sales”, as Exchange writes it, is Anna Weber.
    """
    email, name = bounded(email.strip(), NAME_CHARS), bounded(name.partition(" | ")[0].strip(), NAME_CHARS)
    parts = _SURNAME_FIRST.fullmatch(name)
    if parts and parts[2].replace(".", "").casefold() not in _NO_FIRST_NAMES:
        name = f"{parts[2]} {parts[1]}{parts[3] or ''}"
    return Attendee(name or email.partition("@")[0], email, declined)


_CANCELLED_TITLE = re.compile(r"\s*(?:cancell?ed|abgesagt)\s*:", re.IGNORECASE)


def is_titled_cancelled(title: str) -> bool:
    """Check whether Outlook marked an event as cancelled in its title: “Canceled: Budget”, “Abgesagt: Budget”."""
    return _CANCELLED_TITLE.match(title) is not None


def _person(address: Any) -> Attendee:
    text = str(address).strip()
    email = text[len(_MAILTO) :] if text.lower().startswith(_MAILTO) else ""
    declined = str(_parameter(address, "PARTSTAT")).upper() == "DECLINED"
    return named(str(_parameter(address, "CN")), email, declined=declined)


def _parameter(address: Any, name: str) -> Any:
    value = getattr(address, "params", {}).get(name, "")
    return value[0] if isinstance(value, list) and value else value


_FREQUENCIES = frozenset({"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"})
MAX_PARTS = 400
"""Maximum number of values in one part of a rule, such as BYYEARDAY."""


class UnusableError(Exception):
    """An event cannot be used. The text is the reason, without content of the event."""


def checked_rule(rule: Any, start: datetime.date, zone: datetime.tzinfo) -> vRecur:
    """Validate the rule of an event that begins at `start` for expansion. Raises UnusableError."""
    if not isinstance(rule, vRecur):
        raise UnusableError("its rule cannot be read")
    frequency = rule.get("FREQ", [])
    if not isinstance(frequency, list) or len(frequency) != 1 or str(frequency[0]).upper() not in _FREQUENCIES:
        raise UnusableError("it repeats every minute or second, or in an unknown way")
    for name in ("INTERVAL", "COUNT"):
        if any(not isinstance(value, int) or value < 1 for value in rule.get(name, [])):
            raise UnusableError(f"the {name} of its rule is not a positive number")
    if any(isinstance(values, list) and len(values) > MAX_PARTS for values in rule.values()):
        raise UnusableError("its rule is too long")
    if "UNTIL" not in rule:
        return rule
    last = rule["UNTIL"][0] if isinstance(rule["UNTIL"], list) else rule["UNTIL"]
    if not isinstance(last, datetime.date):
        raise UnusableError("the end of its rule cannot be read")
    checked = vRecur(rule)
    checked["UNTIL"] = [_converted_end(last, start, zone)]
    return checked


def _converted_end(last: datetime.date, start: datetime.date, zone: datetime.tzinfo) -> datetime.date:
    """Convert the end of a rule to the type of the start: a day for days, else a datetime in UTC."""
    if not isinstance(start, datetime.datetime):
        return last.date() if isinstance(last, datetime.datetime) else last
    if not isinstance(last, datetime.datetime):
        last = datetime.datetime(last.year, last.month, last.day, 23, 59, 59)
    return instant(last, start.tzinfo or zone)


UID_CHARS = 255
_TIMES = ("DTSTART", "DTEND", "RECURRENCE-ID", "RDATE", "EXDATE")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedEvent:
    """An event whose times all have a zone, unless they are days. `floats` marks times that had none.

    `event` is an icalendar Event, whose properties may have any type. `replaces` is the occurrence of the series that
    it overrides, and `lasts` its duration, if that is given instead of an end. Of two versions of an event the newer
    has the greater `rank`. `remarks` report guesses.
    """

    number: int
    uid: str
    event: Any
    start: datetime.date
    replaces: datetime.date | None
    lasts: datetime.timedelta | None
    recurs: bool
    rank: tuple[int, str]
    title: str
    location: str
    description: str
    attendees: tuple[Attendee, ...]
    cancelled: bool
    floats: bool
    remarks: tuple[str, ...]


def parsed_event(entry: RawEvent, zone: datetime.tzinfo) -> ParsedEvent:
    """Parse an entry; times without a zone are in `zone`. Raises UnusableError and the errors of the library."""
    parsed = Event.from_ical(entry.text)
    if not isinstance(parsed, Event):
        raise UnusableError("it cannot be read")
    event: Any = parsed
    uid = str(event.get("UID", "")).strip()
    if not uid or not uid.isprintable() or len(uid) > UID_CHARS:  # a hash of the content takes its place
        identifying = [uid] if uid else [line for line in entry.lines if not line.upper().startswith("DTSTAMP")]
        uid = f"donna-{hashlib.sha256(chr(10).join(identifying).encode('utf-8', 'replace')).hexdigest()[:32]}"
    floats = _is_floating(_moment(event.get("DTSTART"), "its start cannot be read"))
    remarks = _assign_zones(event, zone)
    if ("DTEND" in event or "DURATION" in event) and (problem := _end_problem(event, event["DTSTART"].dt)):
        event.pop("DTEND", None)
        event.pop("DURATION", None)
        remarks.append(problem)
    if entry.exceeds("ATTENDEE"):
        remarks.append("it has too many attendees; the others are ignored")
    for name, noun in (("RRULE", "rules"), ("RDATE", "dates"), ("EXDATE", "exceptions")):
        if entry.exceeds(name):
            raise UnusableError(f"it has too many {noun}")
    if (rules := event.get("RRULE")) is not None:
        all_rules = rules if isinstance(rules, list) else [rules]
        event["RRULE"] = [checked_rule(rule, event["DTSTART"].dt, zone) for rule in all_rules]
    attendees, sequence = event.get("ATTENDEE", []), event.get("SEQUENCE", 0)
    title = bounded(str(event.get("SUMMARY", "")), TITLE_CHARS)
    return ParsedEvent(
        number=entry.number,
        uid=uid,
        event=event,
        start=event["DTSTART"].dt,
        replaces=_value(event.get("RECURRENCE-ID")),
        lasts=_value(event.get("DURATION")),
        recurs="RRULE" in event or "RDATE" in event,
        rank=(sequence if isinstance(sequence, int) else 0, str(_value(event.get("DTSTAMP")) or "")),
        title=title,
        location=bounded(str(event.get("LOCATION", "")), LOCATION_CHARS),
        description=bounded(str(event.get("DESCRIPTION", "")), DESCRIPTION_CHARS),
        attendees=invited(event.get("ORGANIZER"), attendees if isinstance(attendees, list) else [attendees]),
        cancelled=str(event.get("STATUS", "")).strip().upper() == "CANCELLED" or is_titled_cancelled(title),
        floats=floats,
        remarks=tuple(remarks),
    )


def _moment(value: Any, problem: str) -> datetime.date:
    moment = _value(value)
    if not isinstance(moment, datetime.date):
        raise UnusableError(problem)
    return moment


def _value(value: Any) -> Any:
    """Return the Python value of a property; None if it is absent or broken."""
    return None if isinstance(value, vBroken) else getattr(value, "dt", None)


def _assign_zones(event: Any, zone: datetime.tzinfo) -> list[str]:
    """Assign a zone to all times; return remarks about an unknown one."""
    unknown = False
    for name in _TIMES:
        values = event.get(name)
        for value in values if isinstance(values, list) else [values] if values is not None else []:
            if isinstance(value, vDDDLists):
                for moment in value.dts:
                    moment.dt = _zoned(moment.dt, zone)
            elif isinstance(value, vDDDTypes):
                unknown = unknown or (_is_floating(value.dt) and "TZID" in value.params)
                value.dt = _zoned(value.dt, zone)
            elif name in ("RDATE", "EXDATE"):
                raise UnusableError(f"its {name} cannot be read")
    _moment(event.get("RECURRENCE-ID", event["DTSTART"]), "it does not say which occurrence it replaces")
    return ["its time zone is unknown; its times are treated as local"] if unknown else []


def _is_floating(value: Any) -> bool:
    return isinstance(value, datetime.datetime) and value.tzinfo is None


def _zoned(value: Any, zone: datetime.tzinfo) -> Any:
    if isinstance(value, tuple):
        return tuple(_zoned(item, zone) for item in value)
    return value.replace(tzinfo=zone) if _is_floating(value) else value


def _end_problem(event: Any, start: datetime.date) -> str:
    if "DTEND" not in event:
        duration = _value(event["DURATION"])
        if not isinstance(duration, datetime.timedelta):
            return "its duration cannot be read; it is treated as having no end"
        return "its duration is negative; it is treated as having no end" if duration < datetime.timedelta(0) else ""
    end = _value(event["DTEND"])
    if not isinstance(end, datetime.date):
        return "its end cannot be read; it is treated as having none"
    if isinstance(end, datetime.datetime) != isinstance(start, datetime.datetime):
        return "its end is a day and its start a time, or vice versa; it is treated as having no end"
    return "it ends before it begins; it is treated as having no end" if end < start else ""
