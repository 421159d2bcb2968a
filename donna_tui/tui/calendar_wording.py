"""What happens around calendars, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from donna_tui.calendarevents import (
    CalendarFetched,
    MeetingEndDetected,
    MeetingEndDispatchFailed,
    MeetingEndPollerCancelled,
    MeetingEndPollerCycleFailed,
    MeetingEndPollerStarted,
)
from donna_tui.safety.terminal import clean_line
from donna_tui.text.numbers import plural
from donna_tui.tui.humanize import milliseconds
from donna_tui.tui.sentences import Kind, Sentence, Tone, joined, reason_words


def _calendar(event: CalendarFetched) -> Sentence:
    name, took = clean_line(event.calendar), milliseconds(event.latency_ms)
    if event.reason:
        return Sentence(
            Kind.PROBLEMS, Tone.WARNING, "Calendar not read", "", f"{name}: {reason_words(event.reason)}", took
        )
    changes = {"new": event.new, "changed": event.changed, "gone": event.gone}
    found = [f"{number:,} {word}" for word, number in changes.items() if number]
    odd = plural(event.problems, "entry needs", "entries need") + " a look" if event.problems else ""
    detail = joined(f"{name}: {plural(event.meetings, 'meeting')}", ", ".join(found) or "nothing new", odd)
    tone = Tone.WARNING if event.problems else Tone.PLAIN if found else Tone.QUIET
    return Sentence(Kind.ENGINE, tone, "Calendar read", "", detail, took)


def _meeting_ended(event: MeetingEndDetected) -> Sentence:
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Meeting over", "", f"{clean_line(event.calendar)}: its note is due")


def _meeting_missed(event: MeetingEndDispatchFailed) -> Sentence:
    detail = f"{clean_line(event.calendar)}: {reason_words(event.reason)} · Donna tries again"
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "Meeting not noted", "", detail)


def _looks_at_calendars(event: MeetingEndPollerStarted) -> Sentence:
    return Sentence(Kind.ENGINE, Tone.QUIET, "Following calendars", "", plural(event.calendars, "calendar"))


def _leaves_calendars(event: MeetingEndPollerCancelled) -> Sentence:
    return Sentence(Kind.ENGINE, Tone.QUIET, "Calendars left", "", "Donna no longer looks for meetings that are over")


def _look_failed(event: MeetingEndPollerCycleFailed) -> Sentence:
    detail = f"{reason_words(event.reason)} · Donna looks again in a moment"
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "Calendars not looked at", "", detail)


DESCRIBE_CALENDARS: Mapping[type, Callable[[Any], Sentence]] = {
    CalendarFetched: _calendar,
    MeetingEndDetected: _meeting_ended,
    MeetingEndDispatchFailed: _meeting_missed,
    MeetingEndPollerStarted: _looks_at_calendars,
    MeetingEndPollerCancelled: _leaves_calendars,
    MeetingEndPollerCycleFailed: _look_failed,
}
