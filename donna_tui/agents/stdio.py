"""Serve MCP over standard streams, and write nothing but the protocol to stdout."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from donna_tui.types.errors import DonnaError, Reason

CHUNK_BYTES = 65_536
LONGEST_MESSAGE = 16_000_000
TOO_LONG = f"the message is longer than {LONGEST_MESSAGE:,} bytes"
WAITING_LINES = 64


@dataclass(frozen=True, slots=True)
class Wire:
    """The streams of the client, on separate descriptors."""

    incoming: int
    outgoing: int


def take_over_stdio() -> Wire:
    """Take over stdin and stdout permanently: text is printed to stderr now. Raises DonnaError without such streams."""
    try:
        wire = Wire(os.dup(0), os.dup(1))
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)
    except OSError as error:
        message = f"there is no client on standard input and output ({error.strerror})"
        raise DonnaError(Reason.USAGE, message, hint="donna mcp --http serves over HTTP") from error
    return wire


async def serve_stdio(server: Server[Any], wire: Wire) -> None:
    """Serve one client until it closes its end."""
    replies = _Replies(wire.outgoing)
    lines = _Lines(wire.incoming, replies)
    try:
        # the SDK only iterates the one and writes to the other
        async with stdio_server(lines, replies) as (incoming, outgoing):  # type: ignore[arg-type]
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, ConnectionError):
        pass  # the client has disconnected


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not a message: the JSON-RPC error code and text, and the id of the request if it is readable."""

    code: int
    message: str
    id: str | int | None = None

    @property
    def answer(self) -> str:
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}) + "\n"


def readable_message(line: str) -> str | Unreadable:
    """Return a line that the SDK can parse, or the reason why it cannot; the SDK itself drops unparsable lines.

    A lone surrogate, which is valid in JSON but not in UTF-8, becomes U+FFFD.
    """
    if _is_message(line):
        return line
    try:
        value = json.loads(line)
        repaired = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except (ValueError, RecursionError):
        return Unreadable(types.PARSE_ERROR, "this is not JSON")
    if _is_message(repaired):
        return repaired
    known = value.get("id") if isinstance(value, dict) else None
    request_id = known if isinstance(known, (str, int)) and not isinstance(known, bool) else None
    return Unreadable(types.INVALID_REQUEST, "this is not a JSON-RPC message", request_id)


def _is_message(line: str) -> bool:
    """Return whether the SDK parses a line correctly. It takes a request with an invalid id for a notification."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        return not isinstance(message, types.JSONRPCNotification) or "id" not in json.loads(line)
    except (ValueError, RecursionError):
        return False


class _Lines:
    """Iterate over messages, which a daemon thread reads, so that it never blocks the exit; answer other lines."""

    def __init__(self, descriptor: int, replies: _Replies) -> None:
        self._descriptor, self._replies = descriptor, replies
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[str | Unreadable | None] = asyncio.Queue(WAITING_LINES)
        threading.Thread(target=self._read, name="donna-mcp-read", daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        while isinstance(line := await self._waiting.get(), Unreadable):
            await self._replies.write(line.answer)
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        held, too_long = bytearray(), False
        with contextlib.suppress(OSError, RuntimeError, asyncio.CancelledError):  # the loop may already be closed
            while chunk := os.read(self._descriptor, CHUNK_BYTES):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    held += end
                    self._take(bytes(held), too_long=too_long)
                    held, too_long = bytearray(), False
                held += rest
                if len(held) > LONGEST_MESSAGE:  # the rest of the line is read and dropped
                    held, too_long = bytearray(), True
            self._take(bytes(held), too_long=too_long)
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):
            self._put(None)

    def _take(self, data: bytes, *, too_long: bool) -> None:
        if too_long:
            self._put(Unreadable(types.INVALID_REQUEST, TOO_LONG))
        elif data.strip():
            self._put(readable_message(data.decode("utf-8", "replace")))

    def _put(self, line: str | Unreadable | None) -> None:
        asyncio.run_coroutine_threadsafe(self._waiting.put(line), self._loop).result()


class _Replies:
    """Write to a descriptor, one whole message after another."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._one_at_a_time = asyncio.Lock()

    async def write(self, text: str) -> None:
        async with self._one_at_a_time:
            await asyncio.to_thread(self._write, text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Do nothing: writes are not buffered."""

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]
