"""The meetings of a calendar file within a window: series expanded, changed occurrences in their place."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import recurring_ical_events
from icalendar import Calendar
from recurring_ical_events import EventAdapter

from donna_tui.calendar.events import ParsedEvent
from donna_tui.calendar.values import MOST_OF_A_SERIES, Window
from donna_tui.calendar.zones import instant, local, midnight
from donna_tui.drafting import Meeting
from donna_tui.records import dataclass

_NUMBER = "X-DONNA-NUMBER"


@dataclass(frozen=True, slots=True)
class Series:
    """The event or events that share a UID, the newest version of each."""

    events: tuple[ParsedEvent, ...]

    @property
    def repeats(self) -> bool:
        """Whether its meetings are occurrences, which need ids of their own."""
        return any(event.recurs or event.replaces is not None for event in self.events)

    @property
    def pattern(self) -> ParsedEvent:
        """The event that the others change; one of these if there is none."""
        return next((event for event in self.events if event.replaces is None), self.events[0])


def series_of(events: Iterable[ParsedEvent]) -> list[Series]:
    """Events by their UID; of several versions the one with the highest SEQUENCE counts, else the last."""
    grouped: dict[str, dict[datetime.date | None, ParsedEvent]] = {}
    for event in events:
        versions = grouped.setdefault(event.uid, {})
        known = versions.get(event.replaces)
        if known is None or event.rank >= known.rank:
            versions[event.replaces] = event
    return [Series(tuple(versions.values())) for versions in grouped.values()]


def meetings_of(series: Series, calendar: str, window: Window, zone: datetime.tzinfo) -> tuple[list[Meeting], bool]:
    """The meetings of a series that touch the window, and whether these are all. Raises what the library does."""
    place = _Place(series, calendar, zone)
    some = list(islice(_occurrences(series, window, zone), MOST_OF_A_SERIES + 1))
    meetings = {meeting.event_id: meeting for meeting in map(place.meeting, some[:MOST_OF_A_SERIES])}
    return list(meetings.values()), len(some) <= MOST_OF_A_SERIES


def _occurrences(series: Series, window: Window, zone: datetime.tzinfo) -> Iterator[dict[str, Any]]:
    """The occurrences as the library gives them. Days are compared with the window in the local zone."""
    holder = Calendar()
    for event in series.events:
        event.event[_NUMBER] = str(event.number)
        holder.add_component(event.event)
    start, end = local(window.start, zone), local(window.end, zone)
    for one in recurring_ical_events.of(holder, components=[_Light]).series:
        for occurrence in one.between(start, end):
            yield occurrence.as_component(True)


class _Light(EventAdapter):  # type: ignore[misc]  # the library has no types
    """Gives occurrences as their number, start and end, where the library would copy the whole event for each."""

    def as_component(self, start: Any = None, stop: Any = None, *_: Any) -> dict[str, Any]:
        return {"number": str(self._component[_NUMBER]), "start": start, "end": stop}


@dataclass(frozen=True, slots=True)
class _Place:
    """Turns occurrences of a series into meetings."""

    series: Series
    calendar: str
    zone: datetime.tzinfo

    def meeting(self, occurrence: Mapping[str, Any]) -> Meeting:
        source = next(event for event in self.series.events if str(event.number) == occurrence["number"])
        first, last = occurrence["start"], occurrence["end"]
        all_day = not isinstance(first, datetime.datetime)
        start = self._moment(first)
        details = source.details
        return Meeting(
            event_id=self._event_id(source, first),
            calendar=self.calendar,
            title=details.title,
            start=start,
            end=max(start, self._end(source, first, last)),
            day=first if all_day else local(start, self.zone).date(),
            all_day=all_day,
            series_id=source.uid if self.series.repeats else "",
            location=details.location,
            description=details.description,
            attendees=details.attendees,
            cancelled=details.cancelled,
        )

    def _end(self, source: ParsedEvent, first: datetime.date, last: datetime.date) -> datetime.datetime:
        """When an occurrence ends. The hours of a duration are hours, also in a night in which the clocks change."""
        lasts = source.lasts
        if lasts is None or not isinstance(first, datetime.datetime) or first + lasts != last:
            return self._moment(last)
        return self._moment(first + datetime.timedelta(days=lasts.days)) + datetime.timedelta(seconds=lasts.seconds)

    def _moment(self, value: datetime.date) -> datetime.datetime:
        return instant(value, self.zone) if isinstance(value, datetime.datetime) else midnight(value, self.zone)

    def _event_id(self, source: ParsedEvent, first: datetime.date) -> str:
        if not self.series.repeats:
            return source.uid
        return f"{source.uid}/{self._stamp(_original(source, first))}"

    def _stamp(self, moment: datetime.date) -> str:
        """A day, a moment in UTC or, in a series without a zone, the time of day: it must not change on a journey."""
        pattern = self.series.pattern
        if not isinstance(moment, datetime.datetime):
            return f"{moment:%Y%m%d}"
        if not isinstance(pattern.start, datetime.datetime):
            return f"{local(moment, self.zone):%Y%m%d}"
        if pattern.floats:
            return f"{local(moment, self.zone):%Y%m%dT%H%M%S}"
        return f"{instant(moment, self.zone):%Y%m%dT%H%M%SZ}"


def _original(source: ParsedEvent, first: datetime.date) -> datetime.date:
    """When an occurrence was to take place before it was moved."""
    replaced = source.replaces
    if replaced is None:
        return first
    if source.event["RECURRENCE-ID"].params.get("RANGE") != "THISANDFUTURE":
        return replaced
    return first - (source.start - replaced)
