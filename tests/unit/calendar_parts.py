"""Calendar files and meetings for tests, and a reader for them without a child process."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any
from zoneinfo import ZoneInfo

from donna_tui.calendar.reading import read_calendar
from donna_tui.calendar.values import Fetched, Window
from donna_tui.types.drafts import Meeting

BERLIN = ZoneInfo("Europe/Berlin")
MAY_6 = ("DTSTART:20240506T090000Z", "DTEND:20240506T100000Z")


def utc(*parts: int) -> datetime.datetime:
    return datetime.datetime(*parts, tzinfo=datetime.UTC)  # type: ignore[misc,arg-type]


YEAR = Window(utc(2024, 1, 1), utc(2025, 1, 1))


def event(*lines: str, uid: str = "one") -> str:
    return "\r\n".join(("BEGIN:VEVENT", *([f"UID:{uid}"] if uid else []), *lines, "END:VEVENT", ""))


def calendar(*parts: str) -> bytes:
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{''.join(parts)}END:VCALENDAR\r\n".encode()


def read(*parts: str, window: Window = YEAR, zone: ZoneInfo = BERLIN) -> Fetched:
    return read_calendar(calendar(*parts), "Work", window, zone, 60.0)


def times(meetings: Iterable[Meeting]) -> list[str]:
    """Format start and end of each meeting in UTC, as `0506T0900–1000`; the end has a day only if it is another one."""
    found = []
    for meeting in sorted(meetings, key=lambda each: each.start):
        later = "" if meeting.start.date() == meeting.end.date() else f"{meeting.end:%m%dT}"
        found.append(f"{meeting.start:%m%dT%H%M}–{later}{meeting.end:%H%M}")
    return found


def ids(meetings: Iterable[Meeting]) -> list[str]:
    return sorted(meeting.event_id for meeting in meetings)


def messages_of(fetched: Fetched) -> list[str]:
    return [problem.message for problem in fetched.problems]


def meeting(event_id: str, start: datetime.datetime, minutes: int = 60, **others: Any) -> Meeting:
    values: dict[str, Any] = {"calendar": "Work", "title": event_id, "day": start.date(), **others}
    return Meeting(event_id=event_id, start=start, end=start + datetime.timedelta(minutes=minutes), **values)
