"""Values that reading a calendar gives, their limits, and days in the local time zone."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from donna_tui.types.drafts import Meeting

FILE_BYTES = 5_000_000
"""The largest calendar file that is read."""

MOST_ENTRIES = 50_000
"""Entries of a file that are looked at."""

MOST_OF_A_SERIES = 5_000
"""Occurrences of one series within a window."""

MOST_MEETINGS = 20_000
"""Meetings of a calendar within a window."""

MOST_TEXT = 32_000_000
"""Characters that the meetings of a calendar within a window may have in all."""

TITLE_CHARS = 2_000
LOCATION_CHARS = 1_000
DESCRIPTION_CHARS = 8_000
NAME_CHARS = 200
MOST_ATTENDEES = 250
MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, from `start` to just before `end`; both are aware."""

    start: datetime.datetime
    end: datetime.datetime


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """What is wrong with an entry: its number in the calendar, from 1, and its UID.

    Both are empty (0 and "") for the calendar as a whole. The UID is raw, the message holds no text of the calendar.
    """

    message: str
    number: int = 0
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The meetings that touch a window. If it is not `complete`, there may be others that could not be read."""

    meetings: tuple[Meeting, ...]
    problems: tuple[EntryProblem, ...] = ()
    complete: bool = True


def bounded(text: str, most: int) -> str:
    """The beginning of a text from outside, with nothing in it that a database cannot keep."""
    return text[:most].replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def local_zone() -> ZoneInfo:
    """The zone that this machine's clock is set to; UTC where that cannot be told."""
    try:
        return tzlocal.get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def zone_named(name: str) -> ZoneInfo:
    """The zone with an IANA name; that of this machine if there is none."""
    try:
        return ZoneInfo(name) if name else local_zone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return local_zone()


def instant(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """A moment in UTC; one without a zone is in `zone`. Those at the ends of the calendar are kept within it."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    try:
        return aware.astimezone(datetime.UTC)
    except OverflowError:
        return aware.replace(tzinfo=datetime.UTC)


def midnight(day: datetime.date, zone: datetime.tzinfo) -> datetime.datetime:
    """When a day begins in a zone, in UTC."""
    return instant(datetime.datetime(day.year, day.month, day.day), zone)


def local(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """An aware moment as the clocks of a zone show it."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment
