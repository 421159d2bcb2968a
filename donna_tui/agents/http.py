"""Serve MCP over HTTP, on this machine only: the SDK's server behind the guard."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from donna_tui.agents.guard import MAX_BODY_BYTES, PATH, Guard
from donna_tui.agents.server import IDLE_SECONDS
from donna_tui.http.guard import NAMES, ConnectionLimiter, TrackedConnection
from donna_tui.types.errors import DonnaError, Reason

HOST = "127.0.0.1"
MAX_HEAD_BYTES = 16_384
GOODBYE_SECONDS = 5


async def serve_http(server: Server[Any], *, port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve clients until cancelled; `ready` is called with the address. Raises DonnaError if the port is taken."""
    guard = Guard(_application(server), token)
    listener = _Listener(
        uvicorn.Config(
            guard,
            host=HOST,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http=_guarded(guard),
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            timeout_graceful_shutdown=GOODBYE_SECONDS,
            ws="none",
            lifespan="on",
        )
    )
    log = logging.getLogger("uvicorn.error")
    log.disabled = True  # a port that is taken is reported by `_served`
    work = asyncio.ensure_future(_served(listener, port))
    sweeping = asyncio.ensure_future(guard.limiter.sweep_forever())
    try:
        while not listener.started and not work.done():
            await asyncio.sleep(0.01)
        log.disabled = False
        if listener.started:
            guard.port = listener.servers[0].sockets[0].getsockname()[1]
            ready(f"http://{HOST}:{guard.port}{PATH}")
        await asyncio.shield(work)
    finally:
        listener.should_exit = True
        sweeping.cancel()
        await asyncio.gather(work, sweeping, return_exceptions=True)


def _guarded(guard: Guard) -> type[H11Protocol]:
    """Make the protocol of the server report each connection to the guard."""
    limiter: ConnectionLimiter = guard.limiter

    class Protocol(H11Protocol):
        tracked: TrackedConnection | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            if self.client is None:
                transport.abort()
                return
            self.tracked = guard.connections[self.client] = limiter.enter(self.client[0], transport.abort)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self.tracked is not None and self.client is not None:
                limiter.leave(self.tracked)
                guard.connections.pop(self.client, None)

    return Protocol


class _Listener(uvicorn.Server):
    """A server that leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _served(listener: uvicorn.Server, port: int) -> None:
    try:
        await listener.serve()
    except SystemExit:
        message = f"port {port} is not available"
        raise DonnaError(Reason.IO_ERROR, message, hint="choose another with --port; 0 picks a free one") from None


def _application(server: Server[Any]) -> Any:
    """Return the SDK's application, which checks host names once more, for any port."""
    names = [f"{name}:*" for name in NAMES]
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=names,
            allowed_origins=[f"http://{name}" for name in names],
        ),
        host=HOST,
    )
