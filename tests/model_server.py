"""A local server of a language model that misbehaves on demand, and counts the calls that it would charge for."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

GOOD = {"summary": "The gateway moves in May.", "points": ["Ask Ines."]}
MEGABYTE = 1_000_000


class Talk:
    """One request and its response. `number` counts the requests from 1."""

    def __init__(self, dialect: str, number: int, server: ModelServer, writer: asyncio.StreamWriter) -> None:
        self.dialect, self.number, self.server, self.writer = dialect, number, server, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(
        self,
        body: bytes | str,
        status: int = 200,
        kind: str = "application/json",
        length: int | None = None,
        **more: str,
    ) -> None:
        """Send a complete answer. One with a good status counts as billed."""
        if status == 200:
            self.server.billed += 1
        data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        lines = [
            f"HTTP/1.1 {status} X",
            f"content-type: {kind}",
            f"content-length: {len(data) if length is None else length}",
        ]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode() + data)

    async def say(self, text: str | None, **changes: Any) -> None:
        """Send a well-formed answer with this text of the model."""
        await self.reply(json.dumps(envelope(self.dialect, text, **changes)))

    async def begin(self) -> None:
        """Send the header of a chunked answer."""
        self.server.billed += 1
        await self.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")


Behaviour = Callable[[Talk], Awaitable[None]]


def envelope(dialect: str, text: str | None, **changes: Any) -> dict[str, Any]:
    """Return the body of an answer around the text of the model; `changes` replace parts of it, None removes one."""
    envelopes: dict[str, dict[str, Any]] = {
        "openai": {
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
        },
        "anthropic": {
            "content": [] if text is None else [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 120, "output_tokens": 30},
        },
        "ollama": {
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 120,
            "eval_count": 30,
        },
    }
    changed = {**envelopes[dialect], **changes}
    return {name: value for name, value in changed.items() if value is not None}


def with_usage(dialect: str, tokens_in: Any, tokens_out: Any) -> dict[str, Any]:
    """Return the changes that state these tokens, or no tokens at all if both are None."""
    if dialect == "ollama":
        return {"prompt_eval_count": tokens_in, "eval_count": tokens_out}
    names = ("prompt_tokens", "completion_tokens") if dialect == "openai" else ("input_tokens", "output_tokens")
    return {"usage": None if tokens_in is None else dict(zip(names, (tokens_in, tokens_out), strict=True))}


class ModelServer:
    """A running server. `requests` are the headers and bodies received, `billed` counts answers to be charged."""

    def __init__(self, dialect: str, behaviour: Behaviour) -> None:
        self.dialect, self.behaviour = dialect, behaviour
        self.requests: list[tuple[str, bytes]] = []
        self.connections = 0
        self.bytes = 0
        self.billed = 0

    @property
    def heads(self) -> list[dict[str, str]]:
        """Return the headers of each request."""
        return [
            dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line) for head, _ in self.requests
        ]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lengths = [line.split(":")[1] for line in head.lower().split("\r\n") if line.startswith("content-length")]
            body = await reader.readexactly(int(lengths[0])) if lengths else b""
            self.bytes += len(head) + len(body)
            self.requests.append((head, body))
            await self.behaviour(Talk(self.dialect, len(self.requests), self, writer))
            await writer.drain()
        writer.close()

    @contextlib.asynccontextmanager
    async def running(self, host: str = "127.0.0.1") -> AsyncIterator[int]:
        """Run the server within the block, and yield its port."""
        server = await asyncio.start_server(self._serve, host, 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


async def good(talk: Talk) -> None:
    """Answer correctly."""
    if talk.dialect != "anthropic":
        return await talk.say(json.dumps(GOOD))
    block = {"type": "tool_use", "id": "t1", "name": "answer", "input": GOOD}
    await talk.say(None, content=[block], stop_reason="tool_use")


def status(code: int, body: str = "{}", **headers: str) -> Behaviour:
    """Answer with this status, always."""
    return lambda talk: talk.reply(body, code, **headers)


def then_good(times: int, first: Behaviour) -> Behaviour:
    """Misbehave so many times, and then answer correctly."""
    return lambda talk: first(talk) if talk.number <= times else good(talk)


def text(words: str | None, **changes: Any) -> Behaviour:
    """Answer with this text of the model."""
    return lambda talk: talk.say(words, **changes)


def body(data: bytes | str, **more: Any) -> Behaviour:
    """Answer with this body and a good status."""
    return lambda talk: talk.reply(data, **more)


def of_each(**behaviours: Behaviour) -> Behaviour:
    """Behave differently for each dialect."""
    return lambda talk: behaviours[talk.dialect](talk)


def wrapped(change: Callable[[str], str | bytes], **more: Any) -> Behaviour:
    """Answer with a changed body and a good status."""

    def changed(talk: Talk) -> Awaitable[None]:
        return talk.reply(change(json.dumps(envelope(talk.dialect, json.dumps(GOOD)))), **more)

    return changed


def usage(tokens_in: Any, tokens_out: Any) -> Behaviour:
    """Answer correctly, stating these tokens."""
    return lambda talk: talk.say(json.dumps(GOOD), **with_usage(talk.dialect, tokens_in, tokens_out))


async def hang(talk: Talk) -> None:
    await asyncio.sleep(3600)


async def slow_headers(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await talk.send(b"x-slow: 1\r\n")
        await asyncio.sleep(0.02)


async def slow_drip(talk: Talk) -> None:
    await talk.begin()
    while True:
        await talk.chunk(b" ")
        await asyncio.sleep(0.02)


async def continue_for_ever(talk: Talk) -> None:
    while True:
        await talk.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await asyncio.sleep(0.01)


async def close_at_once(talk: Talk) -> None:
    talk.writer.close()


async def reset_mid_body(talk: Talk) -> None:
    await talk.begin()
    await talk.chunk(b'{"choices": [')
    talk.writer.transport.abort()


async def endless_body(talk: Talk) -> None:
    await talk.begin()
    while True:
        await talk.chunk(b" " * 65_536)


async def endless_headers(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await talk.send(b"x-more: " + b"y" * 8_000 + b"\r\n")


async def short_body(talk: Talk) -> None:
    body = json.dumps(envelope(talk.dialect, json.dumps(GOOD)))
    await talk.reply(body, length=len(body) + 100)


async def redirect_elsewhere(talk: Talk) -> None:
    await talk.reply("", 307, location="https://elsewhere.example/v1")


async def redirect_loop(talk: Talk) -> None:
    await talk.reply("", 307, location="/again")


async def events(talk: Talk) -> None:
    lines = [f"data: {json.dumps(envelope(talk.dialect, json.dumps(GOOD)))}", "", "data: [DONE]", ""]
    await talk.reply("\n".join(lines), kind="text/event-stream")


def gzip_bomb() -> bytes:
    return gzip.compress(b" " * (20 * MEGABYTE))


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def changed(**changes: Any) -> str:
    """Answer correctly with other values; None removes a key."""
    return json.dumps({name: value for name, value in {**GOOD, **changes}.items() if value is not None})


def choice(**changes: Any) -> Mapping[str, Any]:
    """Return a choice of an OpenAI-compatible answer."""
    return {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": json.dumps(GOOD)},
        **changes,
    }
