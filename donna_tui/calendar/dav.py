"""Read CalDAV with the `caldav` library in a child process: `python -m donna_tui.calendar.dav REQUEST`.

It has no connection: each request is a frame on stdout (four bytes of length, then JSON), its answer a frame on stdin.
The last frame contains the meetings, or the code of the error. Answers of servers are parsed only in this process.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, BinaryIO

import httpx2
from caldav.async_davclient import AsyncDAVClient
from caldav.lib.error import DAVError
from caldav.response import CalendarQueryResult, DAVResponse, PropfindResult
from lxml import etree

from donna_tui.calendar.child import confine, plain
from donna_tui.calendar.ics import FOLDER_BYTES, PROCESSOR_SECONDS, SECONDS_PER_MEGABYTE
from donna_tui.calendar.reading import read_calendar
from donna_tui.calendar.values import Window, zone_named

MAX_CALENDARS = 50
SHORTEST_HOURS = 12
"""The shortest time range, in hours, that is halved if its answer is too large."""

_MISLED = (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError)
"""Exceptions of the library, in addition to its own errors, for an unexpected answer."""

_RESOURCE_TYPE = "{DAV:}resourcetype"
_CALENDAR = "{urn:ietf:params:xml:ns:caldav}calendar"


class ForwardingError(Exception):
    """The parent could not send a request or refused it; it identifies the error by its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class TooLargeError(ForwardingError):
    """The answer exceeded the size limit."""


class UnreadError(Exception):
    """The calendar cannot be read; the argument is the code of the reason."""


class Parent:
    """The connection to the parent process. Other output to stdout is redirected to stderr."""

    def __init__(self) -> None:
        self._incoming: BinaryIO = sys.stdin.buffer
        self._outgoing = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def send(self, frame: Mapping[str, Any]) -> None:
        data = json.dumps(frame, default=plain).encode()
        self._outgoing.write(len(data).to_bytes(4, "big") + data)
        self._outgoing.flush()

    def exchange(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer. Raises ForwardingError."""
        self.send(frame)
        length = int.from_bytes(self._incoming.read(4), "big")
        reply: dict[str, Any] = json.loads(self._incoming.read(length))
        if "error" in reply:
            raise TooLargeError(reply["error"]) if reply["too_large"] else ForwardingError(reply["error"])
        return reply


def main() -> int:
    request = json.loads(sys.argv[1])
    confine(request["seconds"])
    parent = Parent()
    parent.send(_answered(parent, request))
    return 0


def _answered(parent: Parent, request: Mapping[str, Any]) -> dict[str, Any]:
    window = Window(datetime.fromisoformat(request["start"]), datetime.fromisoformat(request["end"]))
    try:
        texts = asyncio.run(_find_files(DavClient(request["url"], parent), request["url"], window))
        data = "\r\n".join(texts.values()).encode("utf-8", "replace")
        if len(data) > FOLDER_BYTES:
            return {"failed": "too_much"}
        seconds = PROCESSOR_SECONDS + SECONDS_PER_MEGABYTE * len(data) / 1_000_000
        fetched = read_calendar(data, request["calendar"], window, zone_named(request["zone"]), seconds)
        return {"ok": True, **plain(fetched)}
    except ForwardingError as error:
        return {"error": error.number}
    except UnreadError as error:
        return {"failed": str(error)}
    except (DAVError, *_MISLED):
        return {"failed": "misled"}
    except MemoryError:
        return {"ok": False, "message": "it needs too much memory"}


async def _find_files(dav: DavClient, url: str, window: Window) -> dict[str, str]:
    """Return the calendar files of all events in the window, of a calendar or of all calendars of an account."""
    answer = await dav.propfind(url, props=[_RESOURCE_TYPE], depth=0)
    is_calendar = any(
        isinstance(result, PropfindResult) and _CALENDAR in (result.properties.get(_RESOURCE_TYPE) or [])
        for result in answer.results or []
    )
    calendars = [] if is_calendar else await dav.get_calendars()
    if not (is_calendar or calendars):
        raise UnreadError("no_calendar")
    files: dict[str, str] = {}
    for calendar in [url] if is_calendar else [str(item.url) for item in calendars[:MAX_CALENDARS]]:
        await _find_events(dav, calendar, window, files)
    return files


async def _find_events(dav: DavClient, calendar: str, window: Window, files: dict[str, str]) -> None:
    """Add the files of a calendar by their URLs, recursively halving a window with too many events."""
    try:
        answer = await dav.calendar_query(calendar, start=window.start, end=window.end, event=True)
    except TooLargeError:
        length = window.end - window.start
        if length.total_seconds() < SHORTEST_HOURS * 3_600:
            raise UnreadError("too_much") from None
        middle = window.start + length / 2
        await _find_events(dav, calendar, Window(window.start, middle), files)
        await _find_events(dav, calendar, Window(middle, window.end), files)
        return
    for number, result in enumerate(answer.results or []):
        if isinstance(result, CalendarQueryResult) and result.calendar_data:
            files[str(result.href or f"{calendar}#{number}@{window.start}")] = str(result.calendar_data)


class DavClient(AsyncDAVClient):
    """The library's client without connections: each request is sent by the parent."""

    def __init__(self, url: str, parent: Parent) -> None:
        self._parent = parent
        super().__init__(url=url, enable_rfc6764=False, require_tls=False)

    def _create_session(self) -> None:
        """Create no session."""

    async def close(self) -> None:
        """Do nothing."""

    async def _async_request(
        self, url: str, method: str = "GET", body: str | bytes = "", headers: Mapping[str, str] | None = None
    ) -> DAVResponse:
        content = base64.b64encode(body.encode() if isinstance(body, str) else body).decode("ascii")
        sent = {**self.headers, **(headers or {})}
        reply = self._parent.exchange({"method": method, "url": str(url), "headers": sent, "body": content})
        return DAVResponse(_checked(reply["status"], reply["headers"], base64.b64decode(reply["body"])), self)


def _checked(status: int, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
    """Convert an answer for the library. It must be XML, since the library logs anything else to the root logger."""
    if body:
        try:
            etree.XML(body, parser=etree.XMLParser(resolve_entities=False, no_network=True))
        except etree.XMLSyntaxError as error:
            raise UnreadError("nonsense") from error
    plain = {name: value for name, value in headers.items() if name.lower() != "content-encoding"}
    return httpx2.Response(status, headers=plain, content=body)


if __name__ == "__main__":
    sys.exit(main())
