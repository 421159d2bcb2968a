"""Takes a calendar file apart, line by line: its events as short texts that hold only what Donna uses.

What a file holds is cut down before any library sees it, so that no attachment, alarm or list of a million dates costs
anything, and so that one broken event, or a file that ends too early, harms none of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from donna_tui.calendar.values import MOST_ATTENDEES, MOST_ENTRIES, EntryProblem
from donna_tui.records import dataclass

MOST_DATES = 5_000
"""Dates that an event may list beside its rule."""

MOST_ZONES = 200
MOST_ZONE_LINES = 500
MOST_LINE_CHARS = 100_000
MOST_RULES = 8

_ONCE = frozenset(
    "UID DTSTART DTEND DURATION RECURRENCE-ID SEQUENCE STATUS SUMMARY LOCATION DESCRIPTION ORGANIZER DTSTAMP".split()
)
_OFTEN = {"ATTENDEE": MOST_ATTENDEES, "RRULE": MOST_RULES, "RDATE": MOST_DATES, "EXDATE": MOST_DATES}

_FOLD = re.compile(rb"\r?\n[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+")


@dataclass(slots=True)
class Entry:
    """One VEVENT: its number in the calendar, from 1, and the lines of it that count, unfolded."""

    number: int
    lines: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, line: str) -> None:
        """Keep a line if it is of use."""
        found = _NAME.match(line)
        name = found.group().upper() if found else ""
        seen = self.counts.get(name, 0)
        if name in _ONCE:
            self.counts[name] = seen + 1
            if not seen and len(line) <= MOST_LINE_CHARS:
                self.lines.append(line)
        elif name in _OFTEN:
            self.counts[name] = seen + (1 + line.count(",") if name in ("RDATE", "EXDATE") else 1)
            if self.counts[name] <= _OFTEN[name]:
                self.lines.append(line)

    def exceeds(self, name: str) -> bool:
        """Whether there were more values of this property than are taken."""
        return self.counts.get(name, 0) > _OFTEN[name]

    @property
    def uid(self) -> str:
        """What the file calls it, raw; empty if it does not."""
        return next((line[4:].strip() for line in self.lines if line[:4].upper() == "UID:"), "")

    @property
    def text(self) -> str:
        """The event as a calendar file has it."""
        return "\r\n".join(("BEGIN:VEVENT", *self.lines, "END:VEVENT", ""))


@dataclass(slots=True)
class Contents:
    """What a calendar file holds. `complete` is false where it ends too early or holds too much."""

    entries: list[Entry] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    problems: list[EntryProblem] = field(default_factory=list)
    complete: bool = True

    def lose(self, message: str, number: int = 0) -> None:
        """Note that something of the file cannot be told."""
        self.problems.append(EntryProblem(message, number))
        self.complete = False


def contents(data: bytes) -> Contents:
    """The events and time zones of a calendar file, or of several on end."""
    return _Reader().read(data)


class _Reader:
    """Walks through the lines; `_depth` counts the parts of an event or zone that are open around the current line."""

    def __init__(self) -> None:
        self._found = Contents()
        self._entry: Entry | None = None
        self._zone: list[str] | None = None
        self._depth = 0
        self._seen = 0
        self._is_calendar = False

    def read(self, data: bytes) -> Contents:
        for line in _lines(data):
            if not self._take(line):
                break
        self._unterminated()
        if not self._is_calendar and data.strip():
            self._found.lose("it is not a calendar: it has no BEGIN:VCALENDAR")
        return self._found

    def _take(self, line: str) -> bool:
        """Whether to go on after this line."""
        keyword = line[:24].rstrip().upper()
        if keyword in ("BEGIN:VCALENDAR", "END:VCALENDAR"):
            self._unterminated()
            self._is_calendar = True
        elif keyword == "BEGIN:VEVENT":
            self._unterminated()
            return self._begin_event()
        elif self._entry is not None:
            self._in_event(line, keyword, self._entry)
        elif self._zone is not None:
            self._in_zone(line, keyword, self._zone)
        elif keyword == "BEGIN:VTIMEZONE":
            self._zone = [line]
        return True

    def _begin_event(self) -> bool:
        self._seen += 1
        if self._seen > MOST_ENTRIES:
            self._found.lose(f"it has more than {MOST_ENTRIES:,} entries; the others are left out")
            return False
        self._entry = Entry(self._seen)
        self._depth = 0
        return True

    def _in_event(self, line: str, keyword: str, entry: Entry) -> None:
        if keyword.startswith("BEGIN:"):
            self._depth += 1
        elif keyword.startswith("END:"):
            self._depth -= 1
            if self._depth < 0 or keyword == "END:VEVENT":
                self._found.entries.append(entry)
                self._entry = None
        elif not self._depth:
            entry.take(line)

    def _in_zone(self, line: str, keyword: str, zone: list[str]) -> None:
        if len(zone) <= MOST_ZONE_LINES:
            zone.append(line)
        if keyword == "END:VTIMEZONE":
            if len(zone) <= MOST_ZONE_LINES and len(self._found.zones) < MOST_ZONES:
                self._found.zones.append("\r\n".join((*zone, "")))
            self._zone = None

    def _unterminated(self) -> None:
        if self._entry is not None:
            self._found.lose("the calendar ends, or begins anew, in the middle of it", self._entry.number)
        self._entry = self._zone = None


def _lines(data: bytes) -> Iterator[str]:
    """The lines of a file, unfolded as bytes, since a fold may lie within a character."""
    unfolded = _FOLD.sub(b"", data.removeprefix(b"\xef\xbb\xbf"))
    for line in unfolded.splitlines():
        if line:
            yield line.decode("utf-8", "replace")
