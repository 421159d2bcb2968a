"""Serves the metrics to a Prometheus on this machine. It is off unless `metrics.port` names a port."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from donna_tui.errors import DonnaError, Reason
from donna_tui.events import EventHub
from donna_tui.tools.metrics import Metrics

HOST = "127.0.0.1"
PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_CLIENTS = 8
MOST_HEAD_BYTES = 8_192
PATIENCE_SECONDS = 5.0

_PHRASES = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 503: "Busy"}


async def serve_metrics(hub: EventHub, port: int) -> None:
    """Count events and answer scrapes until cancelled. Raises DonnaError if the port cannot be had."""
    metrics = Metrics()
    unsubscribe = hub.subscribe(metrics)
    try:
        await _Server(metrics, port).run()
    finally:
        unsubscribe()


class _Server:
    def __init__(self, metrics: Metrics, port: int) -> None:
        self._metrics, self._port = metrics, port
        self._clients: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        try:
            server = await asyncio.start_server(self._accept, HOST, self._port, limit=MOST_HEAD_BYTES)
        except OSError as error:
            message = f"metrics cannot be served on port {self._port} ({error.strerror or 'no such port'})"
            raise DonnaError(Reason.IO_ERROR, message, hint="set metrics.port to another one, or to 0") from error
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            for each in self._clients:
                each.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._talk(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                writer.write(self._answer(await _head(reader)))
                await writer.drain()
        except (OSError, TimeoutError):
            pass
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    def _answer(self, head: str) -> bytes:
        method, path, headers = _parsed(head)
        if len(self._clients) > MOST_CLIENTS:
            return _response(503)
        if not method:
            return _response(400)
        if not self._is_ours(headers):
            return _response(403)
        if path.partition("?")[0] != PATH:
            return _response(404)
        if method not in ("GET", "HEAD"):
            return _response(405)
        return _response(200, self._metrics.page(), with_body=method == "GET")

    def _is_ours(self, headers: Mapping[str, str]) -> bool:
        """Whether the request was meant for this machine: a web page elsewhere may have a name that leads here."""
        return headers.get("host", "") in {f"{name}:{self._port}" for name in ("localhost", HOST)}


async def _head(reader: asyncio.StreamReader) -> str:
    """The head of a request; empty if it is too long or breaks off."""
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return ""


def _parsed(head: str) -> tuple[str, str, dict[str, str]]:
    """Method, path and headers; the method is empty for what is no HTTP."""
    first, *lines = head.split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return "", "", {}
    pairs = (line.partition(":") for line in lines if line)
    return words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs}


def _response(status: int, page: str = "", *, with_body: bool = True) -> bytes:
    body = (page or f"{_PHRASES[status]}\n").encode("utf-8", "replace")
    lines = (
        f"HTTP/1.1 {status} {_PHRASES[status]}",
        f"Content-Type: {CONTENT_TYPE}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "X-Content-Type-Options: nosniff",
    )
    return "\r\n".join((*lines, "", "")).encode() + (body if with_body else b"")
