"""Read a calendar file within a bounded time: expand its series, and report what was left out."""

from __future__ import annotations

import contextlib
import datetime
import re
import signal
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import recurring_ical_events
from icalendar import Calendar, Timezone
from icalendar.timezone import tzp
from recurring_ical_events import EventAdapter

from donna_tui.calendar.parser import Contents, ParsedEvent, RawEvent, Reader, UnusableError, parsed_event
from donna_tui.calendar.values import (
    MAX_MEETINGS,
    MAX_OCCURRENCES,
    MAX_PROBLEMS,
    MAX_TEXT,
    EntryProblem,
    Fetched,
    Window,
    beginning,
    instant,
    local,
)
from donna_tui.text.plural import plural
from donna_tui.types.drafts import Meeting

_NUMBER = "X-DONNA-NUMBER"


@dataclass(frozen=True, slots=True)
class Series:
    """The events that share a UID, in the newest version of each."""

    events: tuple[ParsedEvent, ...]

    @property
    def repeats(self) -> bool:
        """Return whether it has several occurrences, which need distinct ids."""
        return any(event.recurs or event.replaces is not None for event in self.events)

    @property
    def pattern(self) -> ParsedEvent:
        """Return the master event that the others override; one of these if there is none."""
        return next((event for event in self.events if event.replaces is None), self.events[0])


def series_of(events: Iterable[ParsedEvent]) -> list[Series]:
    """Group events by their UID; of several versions the one with the highest SEQUENCE counts, else the last."""
    grouped: dict[str, dict[datetime.date | None, ParsedEvent]] = {}
    for event in events:
        versions = grouped.setdefault(event.uid, {})
        existing = versions.get(event.replaces)
        if existing is None or event.rank >= existing.rank:
            versions[event.replaces] = event
    return [Series(tuple(versions.values())) for versions in grouped.values()]


def meetings_of(series: Series, calendar: str, window: Window, zone: datetime.tzinfo) -> tuple[list[Meeting], bool]:
    """Return the meetings of a series that overlap the window, and whether they are complete.

    Raises the errors of the library.
    """
    occurrences = list(islice(_occurrences(series, window, zone), MAX_OCCURRENCES + 1))
    expanded = (_meeting(series, calendar, zone, occurrence) for occurrence in occurrences[:MAX_OCCURRENCES])
    meetings = {meeting.event_id: meeting for meeting in expanded}
    return list(meetings.values()), len(occurrences) <= MAX_OCCURRENCES


def _occurrences(series: Series, window: Window, zone: datetime.tzinfo) -> Iterator[dict[str, Any]]:
    """Yield the occurrences from the library. Days are compared with the window in the local zone."""
    holder = Calendar()
    for event in series.events:
        event.event[_NUMBER] = str(event.number)
        holder.add_component(event.event)
    start, end = local(window.start, zone), local(window.end, zone)
    for recurrence in recurring_ical_events.of(holder, components=[_OccurrenceAdapter]).series:
        for occurrence in recurrence.between(start, end):
            yield occurrence.as_component(True)


class _OccurrenceAdapter(EventAdapter):  # type: ignore[misc]  # the library has no types
    """Return occurrences as number, start and end, which avoids the library's copy of the event for each."""

    def as_component(self, start: Any = None, stop: Any = None, *_: Any) -> dict[str, Any]:
        return {"number": str(self._component[_NUMBER]), "start": start, "end": stop}


def _meeting(series: Series, calendar: str, zone: datetime.tzinfo, occurrence: Mapping[str, Any]) -> Meeting:
    source = next(event for event in series.events if str(event.number) == occurrence["number"])
    first, last = occurrence["start"], occurrence["end"]
    all_day = not isinstance(first, datetime.datetime)
    start, end = beginning(first, zone), beginning(last, zone)
    lasts = source.lasts
    if lasts is not None and not all_day and first + lasts == last:  # hours are exact across a daylight saving change
        days, seconds = datetime.timedelta(days=lasts.days), datetime.timedelta(seconds=lasts.seconds)
        end = beginning(first + days, zone) + seconds
    original, replaced = first, source.replaces
    if replaced is not None:
        is_series = source.event["RECURRENCE-ID"].params.get("RANGE") == "THISANDFUTURE"
        original = first - (source.start - replaced) if is_series else replaced
    return Meeting(
        event_id=f"{source.uid}/{_stamp(series.pattern, original, zone)}" if series.repeats else source.uid,
        calendar=calendar,
        title=source.title,
        start=start,
        end=max(start, end),
        day=first if all_day else local(start, zone).date(),
        all_day=all_day,
        series_id=source.uid if series.repeats else "",
        location=source.location,
        description=source.description,
        attendees=source.attendees,
        cancelled=source.cancelled,
    )


def _stamp(pattern: ParsedEvent, moment: datetime.date, zone: datetime.tzinfo) -> str:
    """Return a stable stamp: a day, a time in UTC or, in a series without a zone, the local time.

    It must not change when the user's zone does.
    """
    if not isinstance(moment, datetime.datetime):
        return f"{moment:%Y%m%d}"
    if not isinstance(pattern.start, datetime.datetime):
        return f"{local(moment, zone):%Y%m%d}"
    if pattern.floats:
        return f"{local(moment, zone):%Y%m%dT%H%M%S}"
    return f"{instant(moment, zone):%Y%m%dT%H%M%SZ}"


ENTRY_SECONDS = 0.75
"""Processor time in seconds for one event, series or time zone."""

EXPANSION_SHARE = 0.5
"""Share of the time that is reserved for expanding series."""

_DAYS = re.compile(r"^(DTSTART|DTEND)\b[^\r\n]*?:(\d{8})", re.IGNORECASE | re.MULTILINE)
_MAY_LAST = re.compile(r"^(RRULE|RDATE|DURATION|RECURRENCE-ID)\b", re.IGNORECASE | re.MULTILINE)
_MARGIN = datetime.timedelta(days=2)


class TooLongError(Exception):
    """An operation exceeded its processor time."""


def read_calendar(data: bytes, calendar: str, window: Window, zone: datetime.tzinfo, seconds: float) -> Fetched:
    """Return the meetings of a calendar file, or of several concatenated ones, that overlap the window.

    `seconds` is the limit of processor time. Must run on the main thread of its process.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library warns about its guesses
        return _Reading(calendar, window, zone, time.process_time() + seconds).read(data)


class _Reading:
    def __init__(self, calendar: str, window: Window, zone: datetime.tzinfo, deadline: float) -> None:
        self._calendar, self._window, self._zone, self._deadline = calendar, window, zone, deadline
        self._parsed_by = deadline - (deadline - time.process_time()) * EXPANSION_SHARE
        self._contents = Contents()
        self._meetings: dict[str, Meeting] = {}
        self._text = 0

    def read(self, data: bytes) -> Fetched:
        self._contents = Reader().read(data)
        # The first and last day of events that can overlap the window in any zone, in the format of calendars.
        start, end = self._window.start.date(), self._window.end.date()
        first = start - _MARGIN if start - datetime.date.min > _MARGIN else datetime.date.min
        last = end + _MARGIN if datetime.date.max - end > _MARGIN else datetime.date.max
        days = [day.strftime("%Y%m%d").zfill(8) for day in (first, last)]
        for zone in self._contents.zones:
            with contextlib.suppress(Exception), _processor_limit(ENTRY_SECONDS):
                tzp.cache_timezone_component(Timezone.from_ical(zone))
        candidates = [entry for entry in self._contents.entries if _may_overlap(entry.text, *days)]
        events = [event for entry in candidates if (event := self._parsed(entry))]
        for series in sorted(series_of(events), key=lambda each: each.repeats):  # cheap series first
            if not self._expand(series):
                break
        problems = sorted(self._contents.problems, key=lambda problem: problem.number)
        if more := problems[MAX_PROBLEMS:]:
            problems[MAX_PROBLEMS:] = [EntryProblem(f"and {plural(len(more), 'more problem')}")]
        return Fetched(tuple(self._meetings.values()), tuple(problems), self._contents.complete)

    def _parsed(self, entry: RawEvent) -> ParsedEvent | None:
        """Parse an entry; None, with a problem, if it is unusable or time is up."""
        if time.process_time() > self._parsed_by:
            self._out_of_time()
            return None
        try:
            with _processor_limit(ENTRY_SECONDS):
                event = parsed_event(entry, self._zone)
            for remark in event.remarks:
                self._report(remark, entry.number, event.uid)
            return event
        except UnusableError as error:
            self._report(str(error), entry.number, entry.uid)
        except TooLongError:
            self._report("it takes too long to read", entry.number, entry.uid)
        except Exception:  # an event that makes the library fail must not affect the others
            self._report("it cannot be read", entry.number, entry.uid)
        return None

    def _expand(self, series: Series) -> bool:
        """Add the meetings of a series; return whether there is room for more."""
        number, uid = series.pattern.number, series.pattern.uid
        if time.process_time() > self._deadline:
            self._out_of_time()
            return False
        try:
            with _processor_limit(ENTRY_SECONDS):
                meetings, all_of_them = meetings_of(series, self._calendar, self._window, self._zone)
        except TooLongError:
            self._report("its occurrences take too long to compute", number, uid)
            return True
        except Exception:
            self._report("its occurrences cannot be computed", number, uid)
            return True
        if not all_of_them:
            self._report(f"only the first {MAX_OCCURRENCES:,} of its occurrences are used", number, uid)
        for meeting in meetings:
            people = sum(len(person.name) + len(person.email) for person in meeting.attendees)
            self._text += len(meeting.title) + len(meeting.location) + len(meeting.description) + people
            if len(self._meetings) >= MAX_MEETINGS or self._text > MAX_TEXT:
                self._contents.mark_incomplete(f"it is too large; only {len(self._meetings):,} meetings are read")
                return False
            self._meetings[meeting.event_id] = meeting
        return True

    def _report(self, message: str, number: int, uid: str = "") -> None:
        self._contents.problems.append(EntryProblem(message, number, uid))

    def _out_of_time(self) -> None:
        if not any(problem.message == _OUT_OF_TIME for problem in self._contents.problems[-1:]):
            self._contents.mark_incomplete(_OUT_OF_TIME)


_OUT_OF_TIME = "it takes too long to read; the rest is left out"


@contextlib.contextmanager
def _processor_limit(seconds: float) -> Iterator[None]:
    """Raise TooLongError inside the block once it has used this much processor time."""

    def interrupt(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _may_overlap(text: str, first: str, last: str) -> bool:
    """Return whether an event may overlap the window: only a single one far from it cannot."""
    if _MAY_LAST.search(text):
        return True
    days: dict[str, str] = {name.upper(): day for name, day in _DAYS.findall(text)}
    start = days.get("DTSTART", first)
    end = days.get("DTEND", start)
    return start <= last and max(start, end) >= first
