"""Read a calendar on a CalDAV server: a child process implements CalDAV, this process only transports bytes.

The child (`donna_tui.calendar.dav`) has no write access, bounded memory and no password: it sends one request after the
other to this process, which forwards them through `safety.egress`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

import httpx2

from donna_tui.calendar.http import Login, accepted, calendar_client, exchange, failed, host_of, login_of
from donna_tui.calendar.ics import PATIENCE, fetched_from, reading_child, request_for
from donna_tui.calendar.sources import CalendarSource
from donna_tui.calendar.values import Fetched, Window
from donna_tui.safety.egress import origin
from donna_tui.types.errors import DonnaError, Reason

INSTALL_HINT = "pip install 'donna-tui[calendars]'"
CHILD_MODULE = "donna_tui.calendar.dav"
ANSWER_BYTES = 2_000_000
"""Maximum number of bytes of one answer. If a calendar has more in a time range, each half is requested separately."""

MAX_REQUESTS = 200
FRAME_BYTES = 64_000_000
CHILD_SECONDS = 25.0
"""Processor time of the child in seconds, for its imports and all parsing."""

_FAILURES = {
    "misled": (
        "{host} did not answer like a CalDAV server, or redirects to another server",
        "set url in calendars to the address of the calendar itself",
    ),
    "nonsense": ("{host} did not answer like a CalDAV server", "check its url"),
    "no_calendar": ("{host} has no calendar at this address", "check its url in calendars"),
    "too_much": ("{host} returned more than Donna reads of a calendar", None),
}


@dataclass(frozen=True, slots=True)
class CalDav(CalendarSource):
    """A calendar on a server, or all calendars of an account if the URL is that of the account."""

    async def fetch(self, window: Window) -> Fetched:
        if not all(find_spec(name) for name in ("caldav", "icalendar", "recurring_ical_events")):
            raise failed("the CalDAV library is not installed", hint=INSTALL_HINT)
        request = request_for(self.config.name, window, self.zone, CHILD_SECONDS, url=self.config.url)
        host = host_of(self.config.url)
        async with calendar_client(ANSWER_BYTES) as client, reading_child(CHILD_MODULE, request) as child:
            login = login_of(self.config)
            auth = httpx2.BasicAuth(login.username, login.password) if login else None
            forwarder = _Forwarder(client, httpx2.URL(self.config.url), login, auth)
            for _ in range(MAX_REQUESTS):
                frame = await _received(child, host)
                if "method" in frame:
                    await _send(child, await forwarder.forward(frame))
                    continue
                if "error" in frame:
                    raise forwarder.errors[frame["error"]]
                if "failed" in frame:
                    message, hint = _FAILURES[frame["failed"]]
                    raise failed(message.format(host=host), hint=hint)
                return fetched_from(frame)
        raise failed(_FAILURES["too_much"][0].format(host=host))


@dataclass(slots=True)
class _Forwarder:
    """Forward the child's requests to the one server, with the password. Errors are stored here by number."""

    client: httpx2.AsyncClient
    server: httpx2.URL
    login: Login | None
    auth: httpx2.Auth | None
    errors: list[DonnaError] = field(default_factory=list)

    async def forward(self, frame: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = accepted(await self._answer(frame))
        except DonnaError as error:
            self.errors.append(error)
            return {"error": len(self.errors) - 1, "too_large": error.reason is Reason.TOO_LARGE}
        body = base64.b64encode(answer.content).decode("ascii")
        return {"status": answer.status_code, "headers": dict(answer.headers), "body": body}

    async def _answer(self, frame: dict[str, Any]) -> httpx2.Response:
        """Send a request, repeating it with digest authentication if the server requires it."""
        url = self.server.join(frame["url"])
        if origin(url) != origin(self.server):
            hint = "if that is right, set url in calendars to the new address"
            raise failed(f"{self.server.host} redirects to {url.host}, which Donna does not follow", hint=hint)
        headers, content = frame["headers"], base64.b64decode(frame["body"])
        send = partial(exchange, self.client, frame["method"], str(url), headers=headers, content=content)
        answer = await send(auth=self.auth)
        challenge = answer.headers.get("WWW-Authenticate", "").lower()
        if answer.status_code != 401 or not challenge.startswith("digest") or self.login is None:
            return answer
        self.auth = httpx2.DigestAuth(self.login.username, self.login.password)
        return await send(auth=self.auth)


async def _received(child: asyncio.subprocess.Process, host: str) -> dict[str, Any]:
    """Read the next frame of the child. Raises CalendarError if it has ended or takes too long."""
    assert child.stdout
    try:
        async with asyncio.timeout(CHILD_SECONDS * PATIENCE):
            length = int.from_bytes(await child.stdout.readexactly(4), "big")
            data = await child.stdout.readexactly(min(length, FRAME_BYTES))
        frame: dict[str, Any] = await asyncio.to_thread(json.loads, data)
        return frame
    except (TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        raise failed(f"reading the answer of {host} exceeded the time or memory limit") from error


async def _send(child: asyncio.subprocess.Process, frame: dict[str, Any]) -> None:
    assert child.stdin
    data = json.dumps(frame).encode()
    with contextlib.suppress(ConnectionError):  # the end of the child is detected when reading
        child.stdin.write(len(data).to_bytes(4, "big") + data)
        await child.stdin.drain()
