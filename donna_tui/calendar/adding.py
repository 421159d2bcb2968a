"""Detect the kind of a calendar at a URL or path by reading it, and add it to the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from donna_tui.calendar.following import fetch_from, window_around
from donna_tui.calendar.http import store_password
from donna_tui.calendar.ics import named_path
from donna_tui.calendar.sources import source_for
from donna_tui.calendar.values import Fetched
from donna_tui.config.calendars import CalendarConfig
from donna_tui.config.files import add_item
from donna_tui.platform.paths import expanded
from donna_tui.types.errors import CalendarError, DonnaError, Reason


async def find_calendar(
    where: str, zone: ZoneInfo, state: Path, now: float, *, name: str = "", **login: Any
) -> tuple[CalendarConfig, Fetched]:
    """Read the calendar at `where`: a path of an .ics file or folder, or the URL of a file or a CalDAV server.

    `login` are fields of `CalendarConfig` (username, password_file, password_env). Raises CalendarError with the error
    of each attempt (`login_refused` if its server requires another name or password), and DonnaError (`usage`) if
    `where` is neither an existing path nor a URL.
    """
    failures: list[str] = []
    reason = Reason.CALENDAR_FAILED
    for fields in _candidates(where.strip()):
        config = _config(name=name or _name(where), **fields, **login)
        try:
            return config, await fetch_from(source_for(config, zone, state), window_around(now))
        except DonnaError as error:
            failures.append(error.message)
            reason = error.reason if error.reason is Reason.LOGIN_REFUSED else reason
    place, details = config.path or urlsplit(config.url).hostname, "; ".join(dict.fromkeys(failures))
    raise CalendarError(reason, details if str(place) in details else f"{place}: {details}", hint="nothing was added")


async def add_calendar(
    where: str,
    zone: ZoneInfo,
    state: Path,
    now: float,
    *,
    file: Path,
    names: Collection[str],
    name: str = "",
    password: str = "",
    **login: Any,
) -> tuple[CalendarConfig, Fetched]:
    """Read the calendar at `where` like `find_calendar`, and add it to the settings in `file`.

    A `password` is stored in a separate file next to the settings that only the user can read. Raises DonnaError
    (`conflict`) if the name is among `names`, those of the existing calendars.
    """
    password_file: Path | None = None
    if password:
        password_file = await asyncio.to_thread(store_password, file.parent, name or _name(where), password)
        login["password_file"] = password_file
    try:
        config, fetched = await find_calendar(where, zone, state, now, name=name, **login)
        if config.name in names:
            raise DonnaError(
                Reason.CONFLICT, f"a calendar named {config.name} already exists", hint="choose another name"
            )
        fields = config.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        item = {key: fields[key] for key in ("name", "kind", *fields) if key in fields}
        await asyncio.to_thread(add_item, file, "calendars", item)
    except BaseException:
        if password_file is not None:
            password_file.unlink(missing_ok=True)
        raise
    return config, fetched


def _candidates(where: str) -> list[dict[str, Any]]:
    if not where:
        raise DonnaError(Reason.USAGE, "no calendar file or address given")
    if "://" not in where:
        return [{"kind": "ics", "path": named_path(where)}]
    file, server = {"kind": "ics", "url": where}, {"kind": "caldav", "url": where}
    is_file = where.startswith("webcal://") or urlsplit(where).path.lower().endswith((".ics", ".ical"))
    return [file, server] if is_file else [server, file]


def _config(**fields: Any) -> CalendarConfig:
    try:
        return CalendarConfig(**fields)
    except ValidationError as error:
        details = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise DonnaError(Reason.USAGE, f"this is not a calendar file or address: {details}") from error


def _name(where: str) -> str:
    """Name a calendar after its file or its host."""
    if "://" in where:
        return urlsplit(where).hostname or "calendar"
    return expanded(Path(where)).absolute().stem or "calendar"
