"""A Google calendar, read page by page through version 3 of its API."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from donna_tui.calendar.google_events import google_meeting
from donna_tui.calendar.google_tokens import Tokens
from donna_tui.calendar.http import Answer, Request, asking, exchange, failed
from donna_tui.calendar.rules import UnusableError
from donna_tui.calendar.values import MOST_MEETINGS, MOST_PROBLEMS, MOST_TEXT, EntryProblem, Fetched, Window
from donna_tui.config.calendars import CalendarConfig, CalendarKind
from donna_tui.drafting import Meeting
from donna_tui.records import dataclass

if TYPE_CHECKING:
    import httpx2

PAGE_BYTES = 10_000_000
PAGE_ITEMS = 250
MOST_PAGES = MOST_MEETINGS // PAGE_ITEMS
UNAUTHORISED = 401


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where Google's servers are."""

    api: str = "https://www.googleapis.com/calendar/v3"
    consent: str = "https://accounts.google.com/o/oauth2/v2/auth"
    renewal: str = "https://oauth2.googleapis.com/token"


@dataclass(frozen=True, slots=True)
class GoogleCalendar:
    """A calendar of the user's account."""

    config: CalendarConfig
    zone: ZoneInfo
    state: Path
    endpoints: Endpoints = Endpoints()

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def kind(self) -> CalendarKind:
        return "google"

    async def version(self) -> Hashable | None:
        return None

    async def fetch(self, window: Window) -> Fetched:
        """The meetings that the server finds in the window, series expanded by it."""
        listing = _Listing(self)
        async with asking(PAGE_BYTES) as client:
            await listing.read(client, window)
        return listing.fetched()


class _Listing:
    """One reading of the calendar, page by page."""

    def __init__(self, calendar: GoogleCalendar) -> None:
        self._calendar = calendar
        self._tokens = Tokens(calendar.config, calendar.state, calendar.endpoints.renewal)
        self._meetings: dict[str, Meeting] = {}
        self._problems: list[EntryProblem] = []
        self._seen = 0
        self._text = 0
        self._complete = True

    def fetched(self) -> Fetched:
        return Fetched(tuple(self._meetings.values()), tuple(self._problems[:MOST_PROBLEMS]), self._complete)

    async def read(self, client: httpx2.AsyncClient, window: Window) -> None:
        asked = {
            "singleEvents": "true",
            "maxResults": str(PAGE_ITEMS),
            "timeMin": window.start.isoformat(),
            "timeMax": window.end.isoformat(),
        }
        for _ in range(MOST_PAGES):
            page = await self._page(client, asked)
            self._take(page["items"])
            following = page.get("nextPageToken")
            if not isinstance(following, str) or not following:
                return
            asked["pageToken"] = following
        self._complete = False
        self._problems.append(EntryProblem(f"it holds too much; only {len(self._meetings):,} meetings are taken"))

    async def _page(self, client: httpx2.AsyncClient, asked: dict[str, str]) -> dict[str, Any]:
        """A page of the listing. A token that is refused is renewed once."""
        answer = await self._answer(client, asked, await self._tokens.access(client))
        if answer.status == UNAUTHORISED:
            answer = await self._answer(client, asked, await self._tokens.access(client, renew=True))
        return _page_of(answer.accepted())

    async def _answer(self, client: httpx2.AsyncClient, asked: dict[str, str], token: str) -> Answer:
        calendar = self._calendar
        place = f"{calendar.endpoints.api}/calendars/{quote(calendar.config.calendar_id, safe='')}/events"
        request = Request(
            method="GET",
            url=f"{place}?{urlencode(asked)}",
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        )
        return await exchange(client, request)

    def _take(self, items: list[Any]) -> None:
        for item in items:
            self._seen += 1
            try:
                meeting = google_meeting(item, self._calendar.name, self._calendar.zone)
            except UnusableError as error:
                self._problems.append(EntryProblem(str(error), self._seen))
                continue
            self._text += len(meeting.title) + len(meeting.location) + len(meeting.description)
            if self._text > MOST_TEXT:
                self._complete = False
                continue
            self._meetings[meeting.event_id] = meeting


def _page_of(answer: Answer) -> dict[str, Any]:
    """The listing that an answer holds. Raises CalendarError."""
    try:
        page = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise failed(f"{answer.host} does not answer as a calendar does", hint="it is tried again later") from error
    if not isinstance(page, dict) or not isinstance(page.get("items"), list):
        raise failed(f"{answer.host} does not answer as a calendar does", hint="it is tried again later")
    return page
