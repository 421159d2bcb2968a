"""Requests to a calendar's server, through the one door for outbound bytes, and never on to another server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2

from donna_tui.errors import CalendarError, Reason
from donna_tui.records import dataclass
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import open_client
from donna_tui.safety.payload import carrying

SECONDS = 30.0
MOST_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


@asynccontextmanager
async def asking(max_bytes: int) -> AsyncIterator[httpx2.AsyncClient]:
    """A client for questions to calendars, which hold nothing of any note. Answers may have so many bytes."""
    with carrying(Sensitivity.PUBLIC):
        async with open_client(timeout_seconds=SECONDS, max_bytes=max_bytes) as client:
            yield client


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent. `url` is also where redirects may lead: to the same scheme, host and port."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    auth: httpx2.Auth | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole."""

    status: int
    headers: httpx2.Headers
    body: bytes
    host: str

    def accepted(self) -> Answer:
        """Itself, if the server did what was asked. Raises CalendarError."""
        if 200 <= self.status < 300:
            return self
        if self.status in (401, 403):
            raise CalendarError(
                Reason.LOGIN_REFUSED,
                f"{self.host} refuses the name or password",
                hint="check username and password in calendars",
            )
        if self.status in (404, 410):
            raise failed(f"{self.host} has no such calendar", hint="check its address in calendars")
        raise failed(f"{self.host} answers with an error ({self.status})", hint="it is tried again later")


def failed(message: str, *, hint: str | None = None) -> CalendarError:
    """The error for a calendar that cannot be read now."""
    return CalendarError(Reason.CALENDAR_FAILED, message, hint=hint)


def host_of(url: str) -> str:
    """The host of an address, which may be told; its path may hold a secret."""
    try:
        return httpx2.URL(url).host or "the server"
    except httpx2.InvalidURL:
        return "the server"


async def exchange(client: httpx2.AsyncClient, request: Request) -> Answer:
    """Send a request and follow redirects within its server, asking the same question there.

    Raises CalendarError if there is no answer at all, and DonnaError as `open_client` says.
    """
    host = host_of(request.url)
    try:
        return await _followed(client, request)
    except httpx2.TimeoutException as error:
        raise failed(f"{host} does not answer in time", hint="it is tried again later") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise failed(f"{host} cannot be reached ({type(error).__name__})", hint="it is tried again later") from error


async def _followed(client: httpx2.AsyncClient, request: Request) -> Answer:
    url = httpx2.URL(request.url)
    auth = request.auth or httpx2.Auth()
    for _ in range(MOST_REDIRECTS + 1):
        response = await client.request(
            request.method, url, headers=dict(request.headers), content=request.content, auth=auth
        )
        place = response.headers.get("Location")
        if response.status_code not in _REDIRECTS or not place:
            return Answer(response.status_code, response.headers, response.content, url.host)
        url = url.join(place)
    raise failed(f"{url.host} sends Donna in circles")


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address; two that differ are two servers."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)
