"""Speaks CalDAV with the `caldav` library, while all that is sent goes through a client of Donna's own.

Imported only where a CalDAV calendar is read, since the library is an extra.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import httpx2
from caldav.async_davclient import AsyncDAVClient
from caldav.lib.error import DAVError
from caldav.response import CalendarQueryResult, DAVResponse, PropfindResult
from lxml import etree

from donna_tui.calendar.files import FOLDER_BYTES
from donna_tui.calendar.http import Answer, Request, exchange, failed, host_of, origin
from donna_tui.calendar.passwords import Login
from donna_tui.calendar.values import Window

MOST_CALENDARS = 50

_MISLED = (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError)
"""What the library raises beside its own errors when a server sends what it does not expect."""

_RESOURCE_TYPE = "{DAV:}resourcetype"
_CALENDAR = "{urn:ietf:params:xml:ns:caldav}calendar"


async def find_events(url: str, client: httpx2.AsyncClient, login: Login | None, window: Window) -> bytes:
    """The calendar files, on end, of what touches the window at a calendar or in all calendars of an account.

    Raises CalendarError.
    """
    dav = DavClient(url, client, login)
    try:
        texts = [text for each in await _calendars(dav, url) for text in await _events(dav, each, window)]
    except (DAVError, *_MISLED) as error:
        raise failed(
            f"{host_of(url)} does not answer as a calendar server does, or keeps the calendar on another server",
            hint="put the address of the calendar itself into calendars",
        ) from error
    data = "\r\n".join(texts).encode("utf-8", "replace")
    if len(data) > FOLDER_BYTES:
        raise failed(f"{host_of(url)} answers with more than {FOLDER_BYTES // 1_000_000} MB")
    return data


async def _calendars(dav: DavClient, url: str) -> list[str]:
    """The address itself if it is a calendar's, else those of the calendars of the account."""
    answer = await dav.propfind(url, props=[_RESOURCE_TYPE], depth=0)
    for found in answer.results or []:
        if isinstance(found, PropfindResult) and _CALENDAR in (found.properties.get(_RESOURCE_TYPE) or []):
            return [url]
    calendars = await dav.get_calendars()
    if not calendars:
        raise failed(f"{host_of(url)} has no calendar at this address", hint="check its url in calendars")
    return [str(calendar.url) for calendar in calendars[:MOST_CALENDARS]]


async def _events(dav: DavClient, calendar: str, window: Window) -> list[str]:
    answer = await dav.calendar_query(calendar, start=window.start, end=window.end, event=True)
    found = [each for each in answer.results or [] if isinstance(each, CalendarQueryResult)]
    return [str(each.calendar_data) for each in found if each.calendar_data]


class DavClient(AsyncDAVClient):
    """The library's client without its connections: each request is one exchange with the one server."""

    def __init__(self, url: str, client: httpx2.AsyncClient, login: Login | None) -> None:
        self._client, self._login, self._home = client, login, httpx2.URL(url)
        self._proof: httpx2.Auth | None = httpx2.BasicAuth(login.username, login.password) if login else None
        super().__init__(url=url, enable_rfc6764=False, require_tls=False)

    def _create_session(self) -> None:
        """There is none: the client belongs to whoever opened it."""

    async def close(self) -> None:
        """Nothing to close."""

    async def _async_request(
        self, url: str, method: str = "GET", body: str | bytes = "", headers: Mapping[str, str] | None = None
    ) -> DAVResponse:
        place = self._home.join(str(url))
        if origin(place) != origin(self._home):
            raise failed(
                f"{self._home.host} keeps the calendar on {place.host}, and Donna does not follow",
                hint="if that is right, put the new address into calendars",
            )
        request = Request(
            method=method,
            url=str(place),
            headers={**self.headers, **(headers or {})},
            content=body.encode() if isinstance(body, str) else body,
            auth=self._proof,
        )
        return DAVResponse(_checked((await self._answer(request)).accepted()), self)

    async def _answer(self, request: Request) -> Answer:
        """The answer; a server that wants the password in the digest form gets it in that."""
        answer = await exchange(self._client, request)
        wanted = answer.headers.get("WWW-Authenticate", "").lower()
        if answer.status != 401 or not wanted.startswith("digest") or self._login is None:
            return answer
        self._proof = httpx2.DigestAuth(self._login.username, self._login.password)
        return await exchange(self._client, replace(request, auth=self._proof))


def _checked(answer: Answer) -> httpx2.Response:
    """The answer as the library takes it. It must be XML: of anything else the library tells the root logger."""
    if answer.body:
        try:
            etree.XML(answer.body, parser=etree.XMLParser(resolve_entities=False, no_network=True))
        except etree.XMLSyntaxError as error:
            raise failed(f"{answer.host} does not answer as a calendar server does", hint="check its url") from error
    return httpx2.Response(answer.status, headers=answer.headers, content=answer.body)
