"""Guard the HTTP servers of this machine: limits on connections, names, origins, secrets, headers and log lines.

Used by the WebDAV server, MCP over HTTP, the metrics server and the redirect target of Google's consent page.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from donna_tui.platform.addresses import address_of

NAMES = ("127.0.0.1", "localhost")
"""The host names of this machine in requests to a loopback server."""

LONGEST_HEADER = 4_096
"""Maximum bytes of the value of one header: some are parsed with patterns that take quadratic time."""

HEAD_SECONDS = 10.0
"""Maximum seconds until the first request of a connection is authenticated."""

LOG_SECONDS = 60.0
MAX_LINES = 100

PHRASES = {
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the connections of a server: in all, without a valid secret, and of those from one address."""

    connections: int = 128
    untrusted: int = 64
    per_address: int = 32
    head_seconds: float = HEAD_SECONDS


class TrackedConnection:
    """A connection. It is trusted once a request on it has sent the secret of the server."""

    def __init__(self, network: str, close: Callable[[], None], since: float) -> None:
        self.network, self.close, self.since = network, close, since
        self.trusted = False
        self.answering = 0


class ConnectionLimiter:
    """Bound the connections of a server: when it is full, the connection that has been idle longest is closed.

    A new connection that sends its request at once is therefore always admitted, however many others are slow.
    Thread-safe.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._connections: OrderedDict[TrackedConnection, None] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._connections)

    def enter(self, address: str, close: Callable[[], None]) -> TrackedConnection:
        """Admit a connection, closing another one if necessary, or the new one if all others are in use."""
        connection = TrackedConnection(network_of(address), close, self._clock())
        with self._lock:
            leaving = self._to_evict(connection)
            if leaving is not connection:
                self._connections[connection] = None
            if leaving is not None:
                self._connections.pop(leaving, None)
        if leaving is not None:
            leaving.close()
        return connection

    def leave(self, connection: TrackedConnection) -> None:
        """Release a connection. Further calls do nothing."""
        with self._lock:
            self._connections.pop(connection, None)

    @contextlib.contextmanager
    def answering(self, connection: TrackedConnection) -> Iterator[None]:
        """Mark a connection as in use in the block; afterwards it is the most recently used one."""
        connection.answering += 1
        try:
            yield
        finally:
            connection.answering -= 1
            with self._lock:
                connection.since = self._clock()
                if connection in self._connections:
                    self._connections.move_to_end(connection)

    def sweep(self) -> None:
        """Close the connections that have not been authenticated in time."""
        until = self._clock() - self._limits.head_seconds
        with self._lock:
            late = [peer for peer in self._connections if not peer.trusted and peer.since <= until]
            for peer in late:
                del self._connections[peer]
        for peer in late:
            peer.close()

    async def sweep_forever(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            self.sweep()

    def _to_evict(self, newcomer: TrackedConnection) -> TrackedConnection | None:
        untrusted = [connection for connection in self._connections if not connection.trusted]
        same = [connection for connection in untrusted if connection.network == newcomer.network]
        if len(same) >= self._limits.per_address:
            return _idlest(same)
        is_full = len(self._connections) >= self._limits.connections
        if untrusted and (is_full or len(untrusted) >= self._limits.untrusted):
            return _idlest(untrusted)
        if is_full:
            return next((connection for connection in self._connections if not connection.answering), newcomer)
        return None


def _idlest(connections: Sequence[TrackedConnection]) -> TrackedConnection:
    """Return the first of some connections, preferring one that is not being authenticated at the moment."""
    return next((connection for connection in connections if not connection.answering), connections[0])


def network_of(address: str) -> str:
    """Return the unit that is counted as one client: an IPv4 address, or the /64 network of an IPv6 address."""
    parsed = address_of(address)
    if parsed is None:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False) if parsed.version == 6 else parsed)


def refusal_of(headers: Mapping[str, Sequence[str]], port: int) -> int | None:
    """Return the status with which a request must be refused, or None. The names of headers are in lower case.

    It must name this machine as its only host, as a defence against DNS rebinding. Its origin is a page of this server;
    requests from programs have none.
    """
    if has_long_header(value for values in headers.values() for value in values):
        return 431
    hosts, origins = headers.get("host", ()), headers.get("origin", ())
    is_own_host = len(hosts) == 1 and hosts[0] in [f"{name}:{port}" for name in NAMES]
    is_own_origin = not origins or (len(origins) == 1 and origins[0] in [f"http://{name}:{port}" for name in NAMES])
    return None if is_own_host and is_own_origin else 403


def is_secret(candidate: str, secret: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(candidate.encode("utf-8", "replace"), secret.encode())


def has_long_header(values: Iterable[str]) -> bool:
    """Return whether any header value exceeds the maximum length."""
    return any(len(value) > LONGEST_HEADER for value in values)


class OncePerMinute:
    """Report a line at once, and repetitions of it at most once a minute, with their count.

    Lines that differ only in numbers count as equal. At most `MAX_LINES` distinct lines are reported a minute.
    Thread-safe.
    """

    def __init__(self, log: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = log, clock
        self._lines: dict[str, tuple[float, int]] = {}
        self._lock = Lock()

    def __call__(self, line: str) -> None:
        kind = re.sub(r"\d+", "0", line)
        now = self._clock()
        with self._lock:
            reported, more = self._lines.get(kind, (None, 0))
            if reported is not None and now - reported < LOG_SECONDS:
                self._lines[kind] = reported, more + 1
                return
            # forget lines that were reported long ago and not repeated
            self._lines = {
                each: (at, again)
                for each, (at, again) in self._lines.items()
                if now - at < LOG_SECONDS * (10 if again else 1)
            }
            if len(self._lines) >= MAX_LINES:
                return
            self._lines[kind] = now, 0
        self._log(f"{line} (and {'once' if more == 1 else f'{more:,} times'} more)" if more else line)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request: header names in lower case, values in order."""

    method: str
    target: str
    headers: Mapping[str, tuple[str, ...]]


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Read the head of a request; return None if it is too long, incomplete or not HTTP/1."""
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = text.split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    headers: dict[str, tuple[str, ...]] = {}
    for name, _, value in (line.partition(":") for line in lines if line):
        headers[name.strip().lower()] = (*headers.get(name.strip().lower(), ()), value.strip())
    return Head(words[0], words[1], headers)


def page(status: int, text: str = "", *, kind: str = "text/plain; charset=utf-8", with_body: bool = True) -> bytes:
    """Build a complete response, which closes the connection."""
    body = (text or f"{PHRASES[status]}\n").encode("utf-8", "replace")
    lines = (
        f"HTTP/1.1 {status} {PHRASES[status]}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "X-Content-Type-Options: nosniff",
    )
    return "\r\n".join((*lines, "", "")).encode() + (body if with_body else b"")


SMALL_LIMITS = Limits(connections=16, untrusted=16, per_address=16, head_seconds=5.0)


@dataclass(slots=True)
class SmallServer:
    """Answer requests without a body on this machine, one per connection, each within `SMALL_LIMITS.head_seconds`.

    `answer` receives the head of a request that names this machine as its host and is not from another web page.
    """

    answer: Callable[[Head], bytes]
    port: int = 0
    _clients: set[asyncio.Task[None]] = field(default_factory=set)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen in the block; `port` is then the actual one. Raises OSError."""
        limiter = ConnectionLimiter(SMALL_LIMITS)

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._handle(limiter, reader, writer))
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)

        server = await asyncio.start_server(accept, NAMES[0], self.port, limit=2 * LONGEST_HEADER)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for client in list(self._clients):
                client.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)

    async def _handle(
        self, limiter: ConnectionLimiter, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        connection = limiter.enter(writer.get_extra_info("peername", ("",))[0], writer.transport.abort)
        try:
            async with asyncio.timeout(SMALL_LIMITS.head_seconds):
                writer.write(self._answered(await read_head(reader)))
                await writer.drain()
        except (OSError, TimeoutError):
            pass
        finally:
            limiter.leave(connection)
            with contextlib.suppress(OSError):
                writer.close()

    def _answered(self, head: Head | None) -> bytes:
        if head is None:
            return page(400)
        refusal = refusal_of(head.headers, self.port)
        return self.answer(head) if refusal is None else page(refusal)
