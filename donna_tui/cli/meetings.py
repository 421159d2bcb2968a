"""Implement `donna meetings`: list meetings, import calendar files, and draft notes."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from donna_tui.calendar.following import FRESH_SECONDS, Following
from donna_tui.calendar.ics import named_path
from donna_tui.calendar.mirror import IMPORTED, Stored, calendar_rows, meetings_between, store
from donna_tui.calendar.sources import read_files, sources_for
from donna_tui.calendar.values import Fetched, Window, beginning, days_later, local, local_zone
from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, named_day, print_message, require_found
from donna_tui.cli.search import run_with_index
from donna_tui.cli.session import Session, open_session, run
from donna_tui.engine.engine import Engine
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.db_thread import DbThread
from donna_tui.platform.paths import private_folder
from donna_tui.text.plural import plural
from donna_tui.types.drafts import CalendarRow, DraftRow, Meeting
from donna_tui.types.errors import CalendarError, DonnaError, Reason
from donna_tui.types.events import EventHub

app = new_app("Meetings from your calendars and from calendar files.")

SHOWN_PROBLEMS = 20
NO_CALENDAR = "no calendar is followed yet: donna calendar add URL or FILE"
IMPORTED_BACK, IMPORTED_AHEAD = datetime.timedelta(days=3653), datetime.timedelta(days=366)


@app.command("list")
def meetings_list(
    start: Annotated[
        str, typer.Option("--from", metavar="DAY", help="The first day, such as 2026-03-12; today by default.")
    ] = "",
    days: Annotated[int, typer.Option("--days", help="The number of days.", min=1, max=3660)] = 7,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List the meetings of some days. The followed calendars are read first."""
    zone = local_zone()
    first = named_day(start) if start else datetime.datetime.now(zone).date()
    span = [beginning(day, zone).timestamp() for day in (first, days_later(first, days))]
    meetings, calendars = run(_meetings(open_session(space), span[0], span[1], zone))
    fields = [meeting_fields(meeting, zone) for meeting in meetings]
    emit({"count": len(meetings), "meetings": fields}, (_line(each, zone) for each in meetings), as_json=as_json)
    for calendar in calendars:
        if calendar.problem:
            print_message(f"donna: {calendar.name}: {calendar.problem}")
    require_found(meetings, _none(first, days, calendars))


def _none(first: datetime.date, days: int, calendars: list[CalendarRow]) -> str:
    if not calendars:
        return NO_CALENDAR
    last = days_later(first, days - 1)
    return f"no meetings from {first.isoformat()} to {last.isoformat()}" if days > 1 else f"no meetings on {first}"


@app.command("import")
def meetings_import(
    path: Annotated[str, typer.Argument(metavar="FILE", help="An .ics file, or a folder of such files.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Import a calendar file once: ten years back and one ahead. Repeating it imports only changes."""
    place = named_path(path)
    fetched, stored = run(_import(open_session(space), place))
    news = ", ".join(f"{number:,} {word}" for word, number in asdict(stored).items() if number) or "nothing new"
    report = f"{place.name}: {plural(len(fetched.meetings), 'meeting')}, {news}"
    problems = [
        {"id": f"entry {problem.number}", "entry": problem.number, "uid": problem.uid, "message": problem.message}
        for problem in fetched.problems
    ]
    fields = {"file": str(place), "calendar": place.name, "count": len(fetched.meetings), **asdict(stored)}
    emit({**fields, "complete": fetched.complete, "problems": problems}, [report], as_json=as_json)
    for problem in fetched.problems[:SHOWN_PROBLEMS]:
        print_message(f"donna: {problem.line}")
    if len(fetched.problems) > SHOWN_PROBLEMS:
        print_message(f"donna: and {plural(len(fetched.problems) - SHOWN_PROBLEMS, 'more problem')}")
    if fetched.problems:
        raise SystemExit(ExitCode.DEGRADED if fetched.meetings else ExitCode.FAILED)


@app.command("connect")
def meetings_connect(
    name: Annotated[str, typer.Argument(help="The name of a Google calendar in your settings.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Allow Donna to read a Google calendar. Open the printed URL, and allow access."""
    session = open_session(space)
    config = next((calendar for calendar in session.config.calendars if calendar.name == name), None)
    if config is None or config.kind != "google":
        raise DonnaError(Reason.USAGE, f"there is no calendar {name} of kind google", hint="run donna config show")
    from donna_tui.calendar.google import Endpoints, Tokens, connect

    endpoints = Endpoints()
    tokens = Tokens(config, session.space.state, endpoints.renewal)
    private_folder(session.space.state)

    def show(address: str) -> None:
        print_message("donna: open this in a browser, and allow access:", address)

    run(connect(tokens, show, endpoints))
    emit({"id": name, "connected": True}, [f"{name}: access granted"], as_json=as_json)


@app.command("write")
def meetings_write(
    event: Annotated[
        str, typer.Argument(metavar="EVENT_ID", help="The id of the meeting; `donna meetings list` prints it.")
    ],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write the draft of a meeting now, whether or not it has ended."""
    from donna_tui.cli.draft import completed, print_row

    session = open_session(space)

    async def write(engine: Engine) -> DraftRow:
        return await completed(session, engine, await engine.drafts.write_now(event), as_json=as_json)

    print_row(run_with_index(session, "donna meetings", write), as_json=as_json)


def meeting_fields(meeting: Meeting, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "event_id": meeting.event_id,
        "title": meeting.title,
        "start": local(meeting.start, zone).isoformat(),
        "end": local(meeting.end, zone).isoformat(),
        "day": meeting.day.isoformat(),
        "all_day": meeting.all_day,
        "calendar": meeting.calendar,
        "series_id": meeting.series_id,
        "location": meeting.location,
        "attendees": [{"name": person.name, "email": person.email} for person in meeting.attendees],
        "cancelled": meeting.cancelled,
    }


@contextlib.asynccontextmanager
async def open_db_thread(session: Session) -> AsyncIterator[DbThread]:
    db_thread = DbThread(private_folder(session.space.state), EventHub(), lambda: None)
    try:
        yield db_thread
    finally:
        await db_thread.close()


async def _meetings(
    session: Session, start: float, end: float, zone: ZoneInfo
) -> tuple[list[Meeting], list[CalendarRow]]:
    """Read the followed calendars that neither a command nor a running Donna has read recently, and list meetings."""
    async with open_db_thread(session) as db_thread:
        now = time.time()
        rows = await db_thread.run(lambda db: calendar_rows(db.database))
        fresh = {row.name for row in rows if not row.problem and now - (row.fetched_at or 0.0) < FRESH_SECONDS}
        stale = [calendar for calendar in session.config.calendars if calendar.name not in fresh]
        await Following(db_thread, sources_for(stale, zone, session.space.state), EventHub()).refresh()
        meetings = await db_thread.run(lambda db: meetings_between(db.database, start, end))
        return meetings, await db_thread.run(lambda db: calendar_rows(db.database))


async def _import(session: Session, place: Path) -> tuple[Fetched, Stored]:
    now, name = datetime.datetime.now(datetime.UTC), place.name
    window = Window(now - IMPORTED_BACK, now + IMPORTED_AHEAD)
    fetched = await read_files(place, name, window, local_zone())
    if not fetched.meetings and not fetched.complete:
        raise CalendarError(Reason.CALENDAR_FAILED, f"{name}: {fetched.problems[0].message}")

    def stored(db: MemoryDb) -> Stored:
        known = {row.name: row.kind for row in calendar_rows(db.database)}
        if known.get(name, IMPORTED) != IMPORTED:
            raise DonnaError(Reason.CONFLICT, f"a followed calendar is already named {name}", hint="rename the file")
        return store(db, name, IMPORTED, window, fetched, now.timestamp())

    async with open_db_thread(session) as db_thread:
        return fetched, await db_thread.run(stored)


def _line(meeting: Meeting, zone: ZoneInfo) -> str:
    start, end = local(meeting.start, zone), local(meeting.end, zone)
    days = (end.date() - start.date()).days
    parts = (
        meeting.day.isoformat(),
        "all day    " if meeting.all_day else f"{start:%H:%M}–{end:%H:%M}",
        f"(+{plural(days, 'day')})" if days and not meeting.all_day else "",
        meeting.title or "(no title)",
        "cancelled" if meeting.cancelled else "",
        f"({meeting.calendar})",
        meeting.event_id,
    )
    return "  ".join(filter(None, parts))
