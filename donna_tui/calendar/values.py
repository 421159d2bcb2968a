"""What reading a calendar gives, and how much of it is taken at the most."""

from __future__ import annotations

import datetime

from donna_tui.drafting import Meeting
from donna_tui.records import dataclass

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
