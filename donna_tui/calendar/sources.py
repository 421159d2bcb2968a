"""Build the sources of meetings: files, folders, URLs and servers, each read for a window of time."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx2

from donna_tui.calendar.http import accepted, calendar_client, exchange, login_of
from donna_tui.calendar.ics import FOLDER_BYTES, calendar_files, read_calendar_file, read_ics, version_of
from donna_tui.calendar.values import FILE_BYTES, EntryProblem, Fetched, Window
from donna_tui.config.calendars import CalendarConfig, CalendarKind
from donna_tui.types.errors import CalendarError


@dataclass(frozen=True, slots=True)
class CalendarSource(ABC):
    """A followed calendar. Times without a zone are in `zone`."""

    config: CalendarConfig
    zone: ZoneInfo

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def kind(self) -> CalendarKind:
        return self.config.kind

    @abstractmethod
    async def fetch(self, window: Window) -> Fetched:
        """Fetch the meetings that overlap a window. Raises CalendarError if the calendar cannot be reached or used."""

    async def version(self) -> Hashable | None:
        """Return a value that changes with the calendar; None if only fetching it detects changes."""
        return None


@dataclass(frozen=True, slots=True)
class IcsFiles(CalendarSource):
    """An `.ics` file, or the `.ics` files in a folder."""

    async def fetch(self, window: Window) -> Fetched:
        assert self.config.path
        return await read_files(self.config.path, self.name, window, self.zone)

    async def version(self) -> Hashable | None:
        assert self.config.path
        return await asyncio.to_thread(version_of, self.config.path)


async def read_files(path: Path, name: str, window: Window, zone: ZoneInfo) -> Fetched:
    """Read the meetings of a file, or of the files in a folder, of which one that is too large or cannot be read is
    skipped.
    """
    data, problems = await asyncio.to_thread(_read_all, path)
    if not data and problems:
        return Fetched((), tuple(problems), complete=False)
    if not data:
        return Fetched(())
    fetched = await read_ics(data, name, window, zone, limit=FOLDER_BYTES)
    return Fetched(fetched.meetings, (*problems, *fetched.problems), fetched.complete and not problems)


def _read_all(path: Path) -> tuple[bytes, list[EntryProblem]]:
    """Concatenate the files, skipping those that exceed the limits or cannot be read.

    Raises CalendarError if the only file, or the folder, cannot be read.
    """
    files = calendar_files(path)
    content, problems = bytearray(), []
    for number, file in enumerate(files, 1):
        what = "the calendar" if len(files) == 1 else f"file {number} of {len(files)}"
        try:
            data = read_calendar_file(file)
        except CalendarError:
            if len(files) == 1:
                raise
            problems.append(EntryProblem(f"{what} cannot be read; it is left out"))
            continue
        if len(data) > FILE_BYTES or len(content) + len(data) > FOLDER_BYTES:
            problems.append(EntryProblem(f"{what} is too large; it is left out"))
            continue
        content += data + b"\r\n"
    return bytes(content), problems


@dataclass(frozen=True, slots=True)
class IcsUrl(CalendarSource):
    """An `.ics` file on a web server."""

    async def fetch(self, window: Window) -> Fetched:
        login = login_of(self.config)
        auth = httpx2.BasicAuth(login.username, login.password) if login else None
        async with calendar_client(FILE_BYTES) as client:
            answer = accepted(
                await exchange(client, "GET", self.config.url, headers={"Accept": "text/calendar"}, auth=auth)
            )
        return await read_ics(answer.content, self.name, window, self.zone)


def sources_for(calendars: Sequence[CalendarConfig], zone: ZoneInfo, state: Path) -> tuple[CalendarSource, ...]:
    """Return the sources of the calendars in the settings. `state` is the folder of the space, which holds tokens."""
    return tuple(source_for(calendar, zone, state) for calendar in calendars)


def source_for(config: CalendarConfig, zone: ZoneInfo, state: Path) -> CalendarSource:
    match config.kind:
        case "ics" if config.path is not None:
            return IcsFiles(config, zone)
        case "ics":
            return IcsUrl(config, zone)
        case "caldav":
            from donna_tui.calendar.caldav import CalDav

            return CalDav(config, zone)
        case "google":
            from donna_tui.calendar.google import GoogleCalendar

            return GoogleCalendar(config, zone, state)
