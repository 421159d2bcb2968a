"""Reads a calendar file within a bounded time: what takes too long is left out and told, and the rest goes on."""

from __future__ import annotations

import contextlib
import datetime
import re
import signal
import time
import warnings
from collections.abc import Iterator

from icalendar import Timezone
from icalendar.timezone import tzp

from donna_tui.calendar.entries import Contents, Entry, contents
from donna_tui.calendar.events import ParsedEvent, parsed_event
from donna_tui.calendar.occurrences import Series, meetings_of, series_of
from donna_tui.calendar.rules import UnusableError
from donna_tui.calendar.values import (
    MOST_MEETINGS,
    MOST_OF_A_SERIES,
    MOST_PROBLEMS,
    MOST_TEXT,
    EntryProblem,
    Fetched,
    Window,
)
from donna_tui.drafting import Meeting

ENTRY_SECONDS = 0.75
"""Processor time that one event, series or time zone may take."""

EXPANDING = 0.5
"""The share of the time that is kept for expanding what was read."""

_DAYS = re.compile(r"^(DTSTART|DTEND)\b[^\r\n]*?:(\d{8})", re.IGNORECASE | re.MULTILINE)
_MAY_LAST = re.compile(r"^(RRULE|RDATE|DURATION|RECURRENCE-ID)\b", re.IGNORECASE | re.MULTILINE)
_MARGIN = datetime.timedelta(days=2)


class TooLongError(Exception):
    """What was begun takes longer than it may."""


def read_calendar(data: bytes, calendar: str, window: Window, zone: datetime.tzinfo, seconds: float) -> Fetched:
    """The meetings of a calendar file, or of several on end, that touch the window.

    `seconds` is the processor time that may be spent. Must run on the main thread of its process.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library remarks on what it has to guess
        return _Reading(calendar, window, zone, time.process_time() + seconds).read(data)


class _Reading:
    def __init__(self, calendar: str, window: Window, zone: datetime.tzinfo, deadline: float) -> None:
        self._calendar, self._window, self._zone, self._deadline = calendar, window, zone, deadline
        self._parsed_by = deadline - (deadline - time.process_time()) * EXPANDING
        self._found = Contents()
        self._meetings: dict[str, Meeting] = {}
        self._text = 0

    def read(self, data: bytes) -> Fetched:
        self._found = contents(data)
        first, last = _margins(self._window)
        for zone in self._found.zones:
            with contextlib.suppress(Exception), _within(ENTRY_SECONDS):
                tzp.cache_timezone_component(Timezone.from_ical(zone))
        near = [entry for entry in self._found.entries if _may_touch(entry.text, first, last)]
        events = [event for entry in near if (event := self._parsed(entry))]
        for series in sorted(series_of(events), key=lambda each: each.repeats):  # what is cheap comes first
            if not self._expand(series):
                break
        return Fetched(tuple(self._meetings.values()), self._problems(), self._found.complete)

    def _parsed(self, entry: Entry) -> ParsedEvent | None:
        """The event of an entry; None, with a problem, if it is unusable or time is up."""
        if time.process_time() > self._parsed_by:
            self._out_of_time()
            return None
        try:
            with _within(ENTRY_SECONDS):
                event = parsed_event(entry, self._zone)
            for remark in event.remarks:
                self._tell(remark, entry.number, event.uid)
            return event
        except UnusableError as error:
            self._tell(str(error), entry.number, entry.uid)
        except TooLongError:
            self._tell("it takes too long to read", entry.number, entry.uid)
        except Exception:  # whatever an event does to the library, the others go on
            self._tell("it cannot be read", entry.number, entry.uid)
        return None

    def _expand(self, series: Series) -> bool:
        """Add the meetings of a series; whether there is room for more."""
        number, uid = series.pattern.number, series.pattern.uid
        if time.process_time() > self._deadline:
            self._out_of_time()
            return False
        try:
            with _within(ENTRY_SECONDS):
                meetings, all_of_them = meetings_of(series, self._calendar, self._window, self._zone)
        except TooLongError:
            self._tell("its occurrences take too long to tell", number, uid)
            return True
        except Exception:
            self._tell("its occurrences cannot be told", number, uid)
            return True
        if not all_of_them:
            self._tell(f"only the first {MOST_OF_A_SERIES:,} of its occurrences are taken", number, uid)
        return self._add(meetings)

    def _add(self, meetings: list[Meeting]) -> bool:
        for meeting in meetings:
            people = sum(len(person.name) + len(person.email) for person in meeting.attendees)
            self._text += len(meeting.title) + len(meeting.location) + len(meeting.description) + people
            if len(self._meetings) >= MOST_MEETINGS or self._text > MOST_TEXT:
                self._found.lose(f"it holds too much; only {len(self._meetings):,} meetings are taken")
                return False
            self._meetings[meeting.event_id] = meeting
        return True

    def _tell(self, message: str, number: int, uid: str = "") -> None:
        self._found.problems.append(EntryProblem(message, number, uid))

    def _out_of_time(self) -> None:
        if not any(problem.message == _OUT_OF_TIME for problem in self._found.problems[-1:]):
            self._found.lose(_OUT_OF_TIME)

    def _problems(self) -> tuple[EntryProblem, ...]:
        """The first problems by number, and how many more there are."""
        problems = sorted(self._found.problems, key=lambda problem: problem.number)
        more = len(problems) - MOST_PROBLEMS
        told = problems[:MOST_PROBLEMS]
        return (*told, EntryProblem(f"and {more:,} more problems")) if more > 0 else tuple(told)


_OUT_OF_TIME = "it takes too long to read; the rest is left out"


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise TooLongError from whatever runs inside once it has used so much processor time."""
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _too_long(*_: object) -> None:
    raise TooLongError


def _margins(window: Window) -> tuple[str, str]:
    """The days, as calendars write them, between which an event must lie to touch the window in whatever zone."""
    start, end = window.start.date(), window.end.date()
    first = start - _MARGIN if start - datetime.date.min > _MARGIN else datetime.date.min
    last = end + _MARGIN if datetime.date.max - end > _MARGIN else datetime.date.max
    return first.strftime("%Y%m%d").zfill(8), last.strftime("%Y%m%d").zfill(8)


def _may_touch(text: str, first: str, last: str) -> bool:
    """Whether an event is to be looked at: one that takes place once, and far from the window, is not."""
    if _MAY_LAST.search(text):
        return True
    days: dict[str, str] = {name.upper(): day for name, day in _DAYS.findall(text)}
    start = days.get("DTSTART", first)
    end = days.get("DTEND", start)
    return start <= last and max(start, end) >= first
