"""What the dialects have in common."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

import httpx2

from donna_tui.config.routes import Route
from donna_tui.errors import DonnaError
from donna_tui.llm.failures import CallError, FailureKind, Usage
from donna_tui.llm.questions import Question
from donna_tui.records import dataclass

MOST_TOKENS = 100_000_000
"""A figure above this is nonsense."""

_SENT = frozenset(
    {
        "host", "accept", "accept-encoding", "content-type", "content-length", "transfer-encoding", "connection",
        "authorization", "x-api-key", "anthropic-version",
    }
)  # fmt: skip
"""The headers that leave. The libraries would also tell of this machine, and add what the environment holds."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and what it took."""

    text: str = field(repr=False)
    usage: Usage


class Dialect(Protocol):
    """One way of asking."""

    def body(self, route: Route, question: Question) -> dict[str, Any]:
        """The question as the server wants it."""

    def load(self) -> None:
        """Import what it is sent with, on any thread: it may take a second. Raises CallError without the library."""

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        """Send it once, after `load`. Raises the errors of httpx2 or DonnaError."""

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        """Read an answer. Raises CallError."""


async def only_known_headers(request: httpx2.Request) -> None:
    """A hook that drops every header but those that are needed."""
    for name in [each for each in request.headers if each not in _SENT]:
        del request.headers[name]


def quietly(library: str) -> None:
    """Keep a library from logging: at its finest level it writes out the whole question."""
    logging.getLogger(library).setLevel(logging.WARNING)


def unwrapped(error: Exception) -> Exception:
    """The error of the network or of the door around which a library put one of its own."""
    cause = error.__cause__
    return cause if isinstance(cause, httpx2.HTTPError | DonnaError) else httpx2.ReadError("no answer")


def tokens(usage: object, name: str) -> int | None:
    """A count of tokens, None where it is missing or nonsense."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def part(value: object, *place: str | int) -> Any:
    """What is at a place in JSON; None if there is no such place."""
    for step in place:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def written(text: object, usage: Usage) -> Reply:
    """A reply of this text. Raises CallError if there is none."""
    if text is not None and not isinstance(text, str):
        raise CallError(FailureKind.INVALID, charged=True, usage=usage)
    if text is None or not text.strip():
        raise CallError(FailureKind.EMPTY, charged=True, usage=usage)
    return Reply(text, usage)
