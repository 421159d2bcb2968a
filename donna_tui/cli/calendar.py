"""Implement `donna calendar`: add, list and test calendars."""

from __future__ import annotations

import datetime
import time
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from donna_tui.calendar.adding import add_calendar
from donna_tui.calendar.following import window_around
from donna_tui.calendar.mirror import calendar_rows
from donna_tui.calendar.sources import sources_for
from donna_tui.calendar.values import local_zone
from donna_tui.cli.meetings import NO_CALENDAR, open_db_thread
from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, require_found
from donna_tui.cli.session import find_session, run
from donna_tui.config.calendars import CalendarConfig
from donna_tui.config.load import load_trusted, user_file
from donna_tui.platform.paths import app_paths
from donna_tui.text.plural import plural
from donna_tui.types.drafts import CalendarRow
from donna_tui.types.errors import DonnaError, Reason

app = new_app("Calendars: add, list and test them.")


@app.command("add")
def calendar_add(
    where: Annotated[str, typer.Argument(metavar="URL|FILE", help="An .ics file or folder, its address, or CalDAV.")],
    name: Annotated[
        str, typer.Option("--name", help="The name of the calendar; by default that of the file or host.")
    ] = "",
    username: Annotated[str, typer.Option("--username", help="Your user name on the server.")] = "",
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="A file with the password, readable only by you.")
    ] = None,
    password_env: Annotated[
        str, typer.Option("--password-env", help="The environment variable that holds the password.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Read a calendar once and, if that succeeds, follow it. Only your own settings file is changed."""
    given = {"username": username, "password_file": password_file, "password_env": password_env}
    login: dict[str, Any] = {key: value for key, value in given.items() if value}
    known = [calendar.name for calendar in load_trusted().config.calendars]
    state = app_paths().state
    try:
        config, fetched = run(
            add_calendar(where, local_zone(), state, time.time(), file=user_file(), names=known, name=name, **login)
        )
    except DonnaError as error:
        if error.reason is Reason.CONFLICT:
            raise DonnaError(error.reason, error.message, hint="choose another --name") from error
        raise
    count = len(fetched.meetings)
    row = {"id": config.name, "kind": config.kind, "place": _place(config), "meetings": count, "file": str(user_file())}
    lines = [
        f"Added {config.name}: {plural(count, 'meeting')} in the last month and the next two.",
        f"    A running app reads it at its next check. The setting is in {user_file()}.",
    ]
    emit(row, lines, as_json=as_json)


@app.command("list")
def calendar_list(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """List the followed calendars, with the last read and any problem."""
    session = find_session(space)

    async def rows() -> list[CalendarRow]:
        if session is None:
            return []
        async with open_db_thread(session) as db_thread:
            return await db_thread.run(lambda db: calendar_rows(db.database))

    known = {row.name: row for row in run(rows())}
    listed: list[dict[str, Any]] = []
    for config in load_trusted().config.calendars:
        listed.append(_row(config.name, config.kind, _place(config), known.pop(config.name, None)))
    listed += [_row(row.name, row.kind, "", row) for row in known.values()]
    emit({"calendars": listed}, [line for row in listed for line in _shown(row)], as_json=as_json)
    require_found(listed, NO_CALENDAR)


@app.command("test")
def calendar_test(
    name: Annotated[str, typer.Argument(help="Only this calendar.")] = "", as_json: AsJson = False
) -> None:
    """Read each calendar now, and count its meetings. Errors are printed; nothing is stored."""
    calendars = [calendar for calendar in load_trusted().config.calendars if name in ("", calendar.name)]
    if name and not calendars:
        raise DonnaError(Reason.MISSING, f"there is no calendar {name}", hint="donna calendar list shows the names")
    sources = sources_for(calendars, local_zone(), app_paths().state)
    rows: list[dict[str, Any]] = []

    async def read() -> None:
        for config, source in zip(calendars, sources, strict=True):
            row: dict[str, Any] = {"id": config.name, "kind": config.kind, "place": _place(config), "ok": True}
            try:
                fetched = await source.fetch(window_around(time.time()))
                problems = [problem.line for problem in fetched.problems[:3]]
                row |= {"meetings": len(fetched.meetings), "problems": problems}
                row["ok"] = fetched.complete or bool(fetched.meetings)
            except DonnaError as error:
                row |= {"ok": False, "reason": error.reason, "message": error.message, "hint": error.hint or ""}
            rows.append(row)

    run(read())
    emit({"calendars": rows}, [line for row in rows for line in _tried(row)], as_json=as_json)
    require_found(rows, NO_CALENDAR)
    if not all(row["ok"] for row in rows):
        raise SystemExit(ExitCode.FAILED)


def _row(name: str, kind: str, place: str, known: CalendarRow | None) -> dict[str, Any]:
    read = datetime.datetime.fromtimestamp(known.fetched_at).astimezone() if known and known.fetched_at else None
    return {
        "id": name,
        "kind": kind,
        "place": place,
        "meetings": known.meetings if known else 0,
        "read": read.isoformat(timespec="minutes") if read else None,
        "problem": known.problem if known else "",
    }


def _shown(row: dict[str, Any]) -> list[str]:
    count, read = (plural(row["meetings"], "meeting"), f"read {row['read']}") if row["read"] else ("", "not read yet")
    parts = [row["id"], row["kind"], count, row["place"], read]
    problem = [f"    {row['problem']}"] if row["problem"] else []
    return [f"{'✗' if problem else '✓'} {'  '.join(filter(None, parts))}", *problem]


def _tried(row: dict[str, Any]) -> list[str]:
    summary = row["message"] if "message" in row else plural(row["meetings"], "meeting")
    more = [row.get("hint", ""), *row.get("problems", ())]
    return [f"{'✓' if row['ok'] else '✗'} {row['id']}: {summary}", *(f"    {each}" for each in more if each)]


def _place(config: CalendarConfig) -> str:
    """Return the place of a calendar; of a URL only the host, since the rest may be secret."""
    return str(config.path) if config.path is not None else (urlsplit(config.url).hostname or "Google")
