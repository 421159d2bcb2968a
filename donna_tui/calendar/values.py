"""Define the values of a calendar that was read, their limits, and days in the local time zone."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from donna_tui.text.encodable import encodable
from donna_tui.types.drafts import Meeting

FILE_BYTES = 5_000_000
"""Largest calendar file that is read."""

MAX_ENTRIES = 50_000
"""Maximum number of entries of a file that are read."""

MAX_OCCURRENCES = 5_000
"""Maximum number of occurrences of one series within a window."""

MAX_MEETINGS = 20_000
"""Maximum number of meetings of a calendar within a window."""

MAX_TEXT = 32_000_000
"""Maximum number of characters of all meetings of a calendar within a window."""

TITLE_CHARS = 2_000
LOCATION_CHARS = 1_000
DESCRIPTION_CHARS = 8_000
NAME_CHARS = 200
MAX_ATTENDEES = 250
MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open time range from `start` to `end`; both are aware."""

    start: datetime.datetime
    end: datetime.datetime


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """A problem of an entry, with its number in the calendar, from 1, and its UID.

    Both are empty (0 and "") for the calendar as a whole. The UID is raw, the message contains no text of the calendar.
    """

    message: str
    number: int = 0
    uid: str = ""

    @property
    def line(self) -> str:
        entry = f"entry {self.number}: " if self.number else ""
        return f"{entry}{self.message}{f' ({self.uid})' if self.uid else ''}"


@dataclass(frozen=True, slots=True)
class Fetched:
    """The meetings that overlap a window. If it is not `complete`, others may exist that could not be read."""

    meetings: tuple[Meeting, ...]
    problems: tuple[EntryProblem, ...] = ()
    complete: bool = True


def bounded(text: str, max_chars: int) -> str:
    """Truncate an untrusted text, and remove characters that a database cannot store."""
    return encodable(text[:max_chars].replace("\0", ""))


def local_zone() -> ZoneInfo:
    """Return the zone of this machine; UTC if it is unknown."""
    try:
        return tzlocal.get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def zone_named(name: str) -> ZoneInfo:
    """Return the zone with an IANA name; that of this machine if there is none."""
    try:
        return ZoneInfo(name) if name else local_zone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return local_zone()


def instant(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """Convert a time to UTC; one without a zone is in `zone`. Overflows are clamped."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    try:
        return aware.astimezone(datetime.UTC)
    except OverflowError:
        return aware.replace(tzinfo=datetime.UTC)


def beginning(value: datetime.date, zone: datetime.tzinfo) -> datetime.datetime:
    """Return the beginning of a day, or a time, in UTC."""
    moment = value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)
    return instant(moment, zone)


def days_later(day: datetime.date, days: int) -> datetime.date:
    """Return the day a number of days later, at most the last one that Python can represent."""
    return day + datetime.timedelta(days=min(days, (datetime.date.max - day).days))


def local(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """Convert an aware time to a zone. Overflows are returned unchanged."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment
