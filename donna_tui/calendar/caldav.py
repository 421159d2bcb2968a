"""A calendar on a CalDAV server: the server finds what touches the window, and Donna reads it like a calendar file."""

from __future__ import annotations

from collections.abc import Hashable
from zoneinfo import ZoneInfo

from donna_tui.calendar.files import FOLDER_BYTES
from donna_tui.calendar.http import asking, failed
from donna_tui.calendar.ics import read_ics
from donna_tui.calendar.passwords import login_of
from donna_tui.calendar.values import Fetched, Window
from donna_tui.config.calendars import CalendarConfig, CalendarKind
from donna_tui.records import dataclass

INSTALL_HINT = "pip install 'donna-tui[calendars]'"


@dataclass(frozen=True, slots=True)
class CalDav:
    """A calendar on a server, or all calendars of an account if the address is that of the account."""

    config: CalendarConfig
    zone: ZoneInfo

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def kind(self) -> CalendarKind:
        return "caldav"

    async def fetch(self, window: Window) -> Fetched:
        """The meetings that the server finds in the window."""
        data = await self._found(window)
        return await read_ics(data, self.name, window, self.zone, most=FOLDER_BYTES) if data else Fetched(())

    async def version(self) -> Hashable | None:
        return None

    async def _found(self, window: Window) -> bytes:
        try:
            from donna_tui.calendar.dav import find_events
        except ImportError as error:
            raise failed("what reads CalDAV servers is not installed", hint=INSTALL_HINT) from error
        async with asking(FOLDER_BYTES) as client:
            return await find_events(self.config.url, client, login_of(self.config), window)
