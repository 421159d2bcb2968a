"""One bounded request to a calendar's server: so many bytes, so long, and never on to another host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import httpx2

from donna_tui.errors import CalendarError, Reason

SECONDS = 30.0
MOST_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


class OpenClient(Protocol):
    """Opens the door to the network: a client whose answers are bounded, to be closed by whoever opened it."""

    def __call__(self, *, timeout_seconds: float, max_bytes: int) -> httpx2.AsyncClient: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent. `url` is also where redirects may lead: to the same scheme, host and port."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    auth: httpx2.Auth | None = None
    max_bytes: int


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
            raise failed(f"{self.host} refuses the name or password", hint="check username and password in calendars")
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
    """Send a request and follow redirects within its server. Raises CalendarError for what gives no answer at all."""
    host = host_of(request.url)
    try:
        async with asyncio.timeout(SECONDS):
            return await _followed(client, request)
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise failed(f"{host} does not answer in time", hint="it is tried again later") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise failed(f"{host} cannot be reached ({type(error).__name__})", hint="it is tried again later") from error


async def _followed(client: httpx2.AsyncClient, request: Request) -> Answer:
    home = httpx2.URL(request.url)
    url = home
    for _ in range(MOST_REDIRECTS + 1):
        answer = await _sent(client, request, url)
        place = answer.headers.get("Location")
        if answer.status not in _REDIRECTS or not place:
            return answer
        url = url.join(place)
        if origin(url) != origin(home):
            raise failed(
                f"{home.host} sends Donna on to {url.host}, and she does not follow",
                hint="if that is right, put the new address into calendars",
            )
    raise failed(f"{home.host} sends Donna in circles")


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address; two that differ are two servers."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


async def _sent(client: httpx2.AsyncClient, request: Request, url: httpx2.URL) -> Answer:
    outgoing = client.build_request(
        request.method,
        url,
        headers={**request.headers, "Accept-Encoding": "identity"},
        content=request.content,
    )
    auth = request.auth or httpx2.Auth()
    response = await client.send(outgoing, stream=True, auth=auth, follow_redirects=False)
    try:
        return Answer(response.status_code, response.headers, await _body(response, request.max_bytes), url.host)
    finally:
        await response.aclose()


async def _body(response: httpx2.Response, most: int) -> bytes:
    host = response.url.host
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise failed(f"{host} answers in a form that was not asked for")
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > most:
            raise failed(f"{host} answers with more than {most // 1_000_000} MB")
    return bytes(body)
