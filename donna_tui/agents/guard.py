"""Admit only local clients with the token, within limits on connections and rate.

The guard precedes everything else, and its refusals reveal nothing about the application.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import stat
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from donna_tui.http.guard import ConnectionLimiter, Limits, TrackedConnection, is_secret, refusal_of
from donna_tui.platform.paths import private_folder
from donna_tui.types.errors import DonnaError, Reason

NAME = "mcp-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def token_file(state: Path) -> Path:
    return state / NAME


def token_of(state: Path) -> str:
    """Return the token of a space, creating it if necessary. Raises DonnaError if others can read it."""
    file = token_file(state)
    private_folder(state)
    try:
        known = _read(file)
        return known if known is not None else _made(file)
    except OSError as error:
        message = f"the token file {file} cannot be read or written ({error.strerror})"
        raise DonnaError(Reason.IO_ERROR, message) from error


def _read(file: Path) -> str | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    hint = "delete it; the next start creates a new one"
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) & 0o077:
            raise DonnaError(Reason.NOT_TRUSTED, f"the token file {file} is readable by others", hint=hint)
        text = opened.read(100).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise DonnaError(Reason.NOT_TRUSTED, f"{file} does not contain a token", hint=hint)
    return text


def _made(file: Path) -> str:
    token = secrets.token_urlsafe(32)
    pending = file.with_name(f"{NAME}.{os.getpid()}.new")
    descriptor = os.open(pending, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(f"{token}\n")
            opened.flush()
            os.fsync(descriptor)
        os.link(pending, file)  # fails if another process was first
    except FileExistsError:
        return _read(file) or token
    finally:
        pending.unlink(missing_ok=True)
    return token


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
MAX_BODY_BYTES = 8_000_000
BODY_SECONDS = 30.0
"""Maximum seconds until the body of a request has arrived."""

CONNECTIONS = Limits(connections=192, untrusted=128, per_address=128)
"""All clients are on this machine, so connections are not limited by address. A client of httpx may open 100 at once,
none of which is authenticated before the first of its requests is read.
"""

RATE = 100.0
BURST = 500.0
"""Sustained requests per second, and maximum burst."""

_PHRASES = {
    400: "bad request", 401: "the token is missing or wrong", 403: "forbidden", 404: "not found",
    408: "too slow", 413: "too large", 429: "too many requests", 431: "a header is too long",
}  # fmt: skip


class NotAdmittedError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(_PHRASES[status])
        self.status = status


@dataclass(slots=True)
class Rate:
    """A token bucket: it refills with time, and each request takes a token."""

    rate: float = RATE
    burst: float = BURST
    clock: Callable[[], float] = time.monotonic
    _left: float = BURST
    _at: float = field(default=0.0)

    def take(self) -> bool:
        now = self.clock()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@dataclass(slots=True)
class Guard:
    """ASGI middleware around another application. `port` is known once the server listens."""

    app: App
    token: str
    port: int = 0
    rate: Rate = field(default_factory=Rate)
    limiter: ConnectionLimiter = field(default_factory=lambda: ConnectionLimiter(CONNECTIONS))
    connections: dict[tuple[str, int], TrackedConnection] = field(default_factory=dict)
    """The open connections, by address and port of the client."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        connection = self.connections.get(tuple(scope["client"] or ("", 0)))
        if connection is None:  # it was closed meanwhile to make room
            return
        with self.limiter.answering(connection):
            try:
                self._check(scope)
                connection.trusted = True
                body = await _body(scope, receive)
            except NotAdmittedError as error:
                await _refuse(send, error.status)
                return
            if body is not None:
                await self.app(scope, _replaying(body, receive), send)

    def _check(self, scope: Scope) -> None:
        """Raise NotAdmittedError. Host names are checked first, so that web pages learn nothing about a token."""
        headers = _headers(scope)
        if refusal := refusal_of(headers, self.port):
            raise NotAdmittedError(refusal)
        given = headers.get("authorization", [])
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not is_secret(token.strip(), self.token):
            raise NotAdmittedError(401)
        if scope["path"] != PATH:
            raise NotAdmittedError(404)
        if not self.rate.take():
            raise NotAdmittedError(429)


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """Read the whole body of a request; None if the client disconnected. Raises NotAdmittedError if large or slow."""
    length = next(iter(_headers(scope).get("content-length", [])), "0")
    if not (length.isascii() and length.isdigit()) or len(length) > 12:
        raise NotAdmittedError(400)
    if int(length) > MAX_BODY_BYTES:
        raise NotAdmittedError(413)
    held = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                held += message.get("body", b"")
                if len(held) > MAX_BODY_BYTES:
                    raise NotAdmittedError(413)
                if not message.get("more_body", False):
                    return bytes(held)
    except TimeoutError:
        raise NotAdmittedError(408) from None


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return a receive callable that yields the body at once, then the following messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


async def _refuse(send: Send, status: int) -> None:
    text = f"{_PHRASES[status]}\n".encode()
    extra = {401: [(b"www-authenticate", b"Bearer")], 429: [(b"retry-after", b"1")]}.get(status, [])
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
        *extra,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
