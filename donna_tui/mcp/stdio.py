"""MCP over standard streams. While it is served, nothing but the protocol can get to stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server

from donna_tui.errors import DonnaError, Reason
from donna_tui.records import dataclass

CHUNK_BYTES = 65_536
LONGEST_MESSAGE = 16_000_000
WAITING_LINES = 64


@dataclass(frozen=True, slots=True)
class Wire:
    """The streams of the client, on descriptors of their own."""

    incoming: int
    outgoing: int


def take_wire() -> Wire:
    """Take stdin and stdout away from everybody else, for good: what is printed goes to stderr from now on.

    Raises DonnaError if there are no such streams.
    """
    try:
        wire = Wire(os.dup(0), os.dup(1))
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)
    except OSError as error:
        message = f"there is nobody to talk to over standard streams ({error.strerror})"
        raise DonnaError(Reason.USAGE, message, hint="donna mcp --http serves over HTTP") from error
    return wire


async def serve_stdio(server: Server[Any], wire: Wire) -> None:
    """Answer one client until it closes its end."""
    lines, replies = _Lines(wire.incoming), _Replies(wire.outgoing)
    try:
        # the SDK only iterates the one and writes to the other
        async with stdio_server(lines, replies) as (incoming, outgoing):  # type: ignore[arg-type]
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, ConnectionError):
        pass  # the client is gone


class _Lines:
    """The lines of a descriptor. A thread of its own reads them, which never keeps the process from ending."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue(WAITING_LINES)
        threading.Thread(target=self._read, name="donna-mcp-read", daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._waiting.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        held = b""
        with contextlib.suppress(OSError, RuntimeError, asyncio.CancelledError):  # the loop may be closed by now
            while len(held) <= LONGEST_MESSAGE and (chunk := os.read(self._descriptor, CHUNK_BYTES)):
                *whole, held = (held + chunk).split(b"\n") if b"\n" in chunk else (held + chunk,)
                for each in whole:
                    self._put(each.decode("utf-8", "replace"))
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):
            self._put(None)

    def _put(self, line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(self._waiting.put(line), self._loop).result()


class _Replies:
    """Writes to a descriptor, whole messages one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        await asyncio.to_thread(self._write, text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Nothing is held back."""

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]
