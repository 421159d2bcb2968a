"""Mirror all calendars in `memory.db`, with a watermark up to which ended meetings have been processed."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from donna_tui.calendar.values import Fetched, Window
from donna_tui.index.database import Database
from donna_tui.memory.database import MemoryDb
from donna_tui.types.drafts import Attendee, CalendarRow, Meeting
from donna_tui.types.search import ME

IMPORTED = "import"
"""The kind of a calendar that was imported once from a file and is not followed."""

_RENAMED = {"calendar": "calendar_id", "title": "summary", "start": "start_time", "end": "end_time"}
_COLUMNS = {field.name: _RENAMED.get(field.name, field.name) for field in fields(Meeting)}
"""The column of each field of a meeting."""

_LATEST_FIRST = "ORDER BY m.cancelled, c.fetched_at DESC, m.calendar_id"
"""Precedence of copies of an entry in several calendars: not cancelled, then last fetched."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The changes of a fetch: the numbers of new, changed and removed meetings."""

    new: int = 0
    changed: int = 0
    gone: int = 0


def store(db: MemoryDb, calendar: str, kind: str, window: Window, fetched: Fetched, at: float) -> Stored:
    """Store a calendar as it was fetched at `at` (Unix time). The operation is idempotent.

    A meeting that is missing from a complete listing is cancelled if it is in the window and either has not ended, or
    ended after the earliest listed meeting; some calendars omit past meetings, which did take place.
    """
    database = db.database
    rows = {meeting.event_id: _row(meeting, calendar) for meeting in fetched.meetings}
    with db.change():
        _note(database, calendar, kind, "", at)
        columns = ", ".join(_COLUMNS.values())
        sql = f"SELECT {columns} FROM calendar_mirror WHERE user_id = ? AND calendar_id = ?"  # noqa: S608
        existing = {row[0]: row for row in database.rows(sql, (ME, calendar))}
        updates = [row for event_id, row in rows.items() if existing.get(event_id) != row]
        upsert = f"INSERT OR REPLACE INTO calendar_mirror (user_id, {columns}) VALUES (?{', ?' * len(_COLUMNS)})"  # noqa: S608
        database.run_many(upsert, [(ME, *row) for row in updates])
        vanished: set[str] = set()
        if fetched.complete:
            earliest = min((meeting.end.timestamp() for meeting in fetched.meetings), default=at)
            listable = database.column(
                "SELECT event_id FROM calendar_mirror WHERE user_id = ? AND calendar_id = ? AND NOT cancelled"
                " AND start_time >= ? AND start_time < ? AND end_time >= ?",
                (ME, calendar, window.start.timestamp(), window.end.timestamp(), min(at, earliest)),
            )
            vanished = set(listable) - rows.keys()
        database.run_many(
            "UPDATE calendar_mirror SET cancelled = 1 WHERE user_id = ? AND calendar_id = ? AND event_id = ?",
            [(ME, calendar, event_id) for event_id in vanished],
        )
    new = sum(row[0] not in existing for row in updates)
    return Stored(new, len(updates) - new, len(vanished))


def _row(meeting: Meeting, calendar: str) -> tuple[Any, ...]:
    attendees = [
        {"name": person.name, "email": person.email} | ({"declined": True} if person.declined else {})
        for person in meeting.attendees
    ]
    values = {name: getattr(meeting, name) for name in _COLUMNS} | {
        "calendar": calendar,
        "start": meeting.start.timestamp(),
        "end": meeting.end.timestamp(),
        "day": meeting.day.isoformat(),
        "attendees": json.dumps(attendees),
    }
    return tuple(values.values())


def note_problem(db: MemoryDb, calendar: str, kind: str, problem: str) -> None:
    """Store why a calendar could not be read, as a sentence. Its meetings are kept."""
    with db.change():
        _note(db.database, calendar, kind, problem, None)


def _note(database: Database, calendar: str, kind: str, problem: str, at: float | None) -> None:
    database.run(
        "INSERT INTO calendars (user_id, calendar_id, kind, fetched_at, problem) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (user_id, calendar_id) DO UPDATE SET kind = excluded.kind, problem = excluded.problem,"
        " fetched_at = coalesce(excluded.fetched_at, fetched_at)",
        (ME, calendar, kind, at, problem),
    )


def delete_unfollowed(db: MemoryDb, followed: Iterable[str], at: float) -> None:
    """Drop calendars that are no longer followed, with their future meetings. Imported and past meetings are kept."""
    names = set(followed)
    with db.change():
        for row in calendar_rows(db.database):
            if row.kind != IMPORTED and row.name not in names:
                db.database.run("DELETE FROM calendars WHERE user_id = ? AND calendar_id = ?", (ME, row.name))
                db.database.run(
                    "DELETE FROM calendar_mirror WHERE user_id = ? AND calendar_id = ? AND start_time > ?",
                    (ME, row.name, at),
                )


def calendar_rows(database: Database) -> list[CalendarRow]:
    """Return all calendars by name, with the number of their meetings that are not cancelled."""
    rows = database.rows(
        "SELECT c.calendar_id, c.kind, c.fetched_at, c.problem,"
        " (SELECT count(*) FROM calendar_mirror m WHERE m.user_id = c.user_id AND m.calendar_id = c.calendar_id"
        "  AND NOT m.cancelled) FROM calendars c WHERE c.user_id = ? ORDER BY c.calendar_id",
        (ME,),
    )
    return [
        CalendarRow(name=name, kind=kind, meetings=meetings, fetched_at=fetched_at, problem=problem)
        for name, kind, fetched_at, problem, meetings in rows
    ]


def meetings_between(database: Database, start: float, end: float) -> list[Meeting]:
    """Return the meetings that overlap the half-open range from `start` to `end` (Unix time), earliest first.

    One that is in several calendars is returned once.
    """
    overlaps = "m.start_time < ? AND (m.end_time > ? OR (m.start_time >= ? AND m.end_time = m.start_time))"
    meetings = _meetings(database, overlaps, (end, start, start))
    unique = {meeting.event_id: meeting for meeting in reversed(meetings)}
    return sorted(unique.values(), key=lambda meeting: (meeting.start, meeting.end, meeting.title, meeting.event_id))


def meeting_of(database: Database, event_id: str, now: float | None = None) -> Meeting | None:
    """Return the meeting with this id, or None.

    With `now` the id of a series is accepted too: it gives the latest occurrence that has begun by then, else the first
    future one.
    """
    exact = next(iter(_meetings(database, "m.event_id = ?", (event_id,))), None)
    if exact is not None or now is None:
        return exact
    series = _meetings(database, "m.series_id = ? AND NOT m.cancelled", (event_id,))
    begun = [meeting for meeting in series if meeting.start.timestamp() <= now]
    if begun:
        return max(begun, key=lambda meeting: meeting.start)
    return min(series, key=lambda meeting: meeting.start, default=None)


def due_meetings(database: Database, calendar: str, after: float, until: float) -> list[Meeting]:
    """Return the meetings of a calendar that begin by `until` and end after `after`, first to end first.

    All-day entries and cancelled meetings are excluded.
    """
    condition = "m.calendar_id = ? AND m.end_time > ? AND m.start_time <= ? AND NOT m.all_day AND NOT m.cancelled"
    meetings = _meetings(database, condition, (calendar, after, until))
    return sorted(meetings, key=lambda meeting: (meeting.end, meeting.start, meeting.event_id))


_NEVER = "no-notes:"


def series_without_notes(database: Database) -> frozenset[str]:
    """Return the ids of the series, and of single meetings, for which the user disabled notes."""
    keyed = "SELECT substr(key, ?) FROM meta WHERE key LIKE ? || '%'"
    return frozenset(database.column(keyed, (len(_NEVER) + 1, _NEVER)))


def want_notes(db: MemoryDb, meeting: Meeting, *, wanted: bool) -> None:
    """Store whether the user wants notes of a meeting's series, or of the meeting alone if it has no series."""
    key = _NEVER + (meeting.series_id or meeting.event_id)
    with db.change():
        if wanted:
            db.database.run("DELETE FROM meta WHERE key = ?", (key,))
        else:
            db.database.run("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, meeting.title[:200]))


def _meetings(database: Database, condition: str, parameters: tuple[Any, ...]) -> list[Meeting]:
    columns = ", ".join(f"m.{name}" for name in _COLUMNS.values())
    rows = database.rows(
        f"SELECT {columns} FROM calendar_mirror m LEFT JOIN calendars c USING (user_id, calendar_id)"  # noqa: S608
        f" WHERE m.user_id = ? AND {condition} {_LATEST_FIRST}",
        (ME, *parameters),
    )
    return [_meeting(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _meeting(values: dict[str, Any]) -> Meeting:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    read = {
        "start": epoch + datetime.timedelta(seconds=values["start"]),
        "end": epoch + datetime.timedelta(seconds=values["end"]),
        "day": datetime.date.fromisoformat(values["day"]),
        "all_day": bool(values["all_day"]),
        "attendees": tuple(Attendee(**attendee) for attendee in json.loads(values["attendees"])),
        "cancelled": bool(values["cancelled"]),
    }
    return Meeting(**{**values, **read})


def watermark(database: Database, calendar: str) -> float | None:
    """Return the watermark of a calendar (Unix time), up to which ended meetings were processed; None if never."""
    value: float | None = database.value(
        "SELECT watermark FROM calendars WHERE user_id = ? AND calendar_id = ?", (ME, calendar)
    )
    return value


def set_watermark(db: MemoryDb, calendar: str, at: float) -> None:
    """Set the watermark of a calendar, up to which ended meetings were processed."""
    with db.change():
        db.database.run("UPDATE calendars SET watermark = ? WHERE user_id = ? AND calendar_id = ?", (at, ME, calendar))
