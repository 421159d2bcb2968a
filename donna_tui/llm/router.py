"""Call the language model that is configured for a purpose, within a deadline, a budget and the limits of privacy."""

from __future__ import annotations

import asyncio
import datetime
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Generic, TypeVar

import httpx2
from pydantic import BaseModel

from donna_tui.config.routes import Alias, Route, Routes
from donna_tui.index.invocations import InputHash
from donna_tui.llm.dialects import DIALECTS, Dialect, Reply
from donna_tui.llm.failures import (
    CANCELLED,
    OK,
    CallError,
    CompletionMetadata,
    FailureKind,
    ModelCallError,
    Usage,
    address_of,
    kind_of,
)
from donna_tui.llm.requests import MAX_BYTES, ModelRequest, compose, parse_answer, read_object
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.db_thread import DbThread
from donna_tui.safety.backoff import backoff, stated_pause
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import key_in, open_client
from donna_tui.safety.payload import Payload, carrying
from donna_tui.text.encodable import encodable
from donna_tui.types.draft_events import ModelCalled
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import EventHub

MAX_WAIT_SECONDS = 20.0
"""Longest pause before a retry; if the server asks for more, the call fails."""

_RETRIES = {429: 2, 503: 2, 529: 2, 500: 1, 502: 1}
"""Number of retries after an answer that is not charged, by its HTTP status."""

_KINDS = {
    401: FailureKind.AUTH, 403: FailureKind.AUTH, 408: FailureKind.TIMEOUT, 504: FailureKind.TIMEOUT,
    413: FailureKind.TOO_LARGE, 429: FailureKind.RATE_LIMITED,
}  # fmt: skip
_CONNECTION_RETRIES = 2
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)

Send = Callable[[], Awaitable[httpx2.Response]]
Pause = Callable[[float], Awaitable[None]]


async def fetch(send: Send, pause: Pause, until: float) -> bytes:
    """Send a request with retries and return the body.

    `until` is the deadline in `time.monotonic`. Raises CallError.
    """
    tries = 0
    while True:
        try:
            return await _attempt(send)
        except CallError as failed:
            wait = failed.retry_after if failed.retry_after is not None else backoff(tries)
            tries += 1
            if tries > failed.retries or wait > min(MAX_WAIT_SECONDS, until - time.monotonic()):
                raise
            await pause(wait)


async def _attempt(send: Send) -> bytes:
    try:
        response = await send()
    except _NEVER_SENT:
        raise CallError(FailureKind.UNREACHABLE, charged=False, retries=_CONNECTION_RETRIES) from None
    except httpx2.TimeoutException:
        raise CallError(FailureKind.TIMEOUT, charged=True) from None
    except (httpx2.DecodingError, UnicodeError):
        raise CallError(FailureKind.INVALID, charged=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise CallError(FailureKind.UNREACHABLE, charged=True) from None
    except DonnaError as error:
        kind = kind_of(error)
        raise CallError(kind, charged=kind is FailureKind.TOO_LARGE, cause=error) from None
    if response.status_code == httpx2.codes.OK:
        return response.content
    default_kind = FailureKind.UNAVAILABLE if response.status_code >= 500 else FailureKind.REJECTED
    raise CallError(
        _KINDS.get(response.status_code, default_kind),
        charged=False,
        retries=_RETRIES.get(response.status_code, 0),
        retry_after=stated_pause(response.headers.get("retry-after", "")),
        status=response.status_code,
    )


MAX_ANSWER_BYTES = 2_000_000

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Completion(Generic[T]):
    """A valid answer, and its usage."""

    output: T
    metadata: CompletionMetadata


@dataclass(frozen=True, slots=True)
class _Call:
    """One call in progress."""

    alias: Alias
    route: Route
    task_type: str
    prompt: Payload
    request: ModelRequest
    started: float

    @property
    def host(self) -> str:
        return address_of(self.route)

    def estimated(self, usage: Usage) -> Usage:
        """Return the stated token counts, replacing missing ones by upper bounds, so that the daily limit holds."""
        upper_bound = self.request.most_tokens(self.route)
        return Usage(
            upper_bound.tokens_in if usage.tokens_in is None else usage.tokens_in,
            upper_bound.tokens_out if usage.tokens_out is None else usage.tokens_out,
        )


class ModelRouter:
    """Call models by alias. `environ` holds the keys; `pause` sleeps between attempts."""

    def __init__(
        self,
        routes: Routes,
        db: DbThread,
        hub: EventHub,
        *,
        environ: Mapping[str, str] = os.environ,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._routes, self._db, self._hub = routes, db, hub
        self._environ, self._pause = environ, pause
        self._reserved = 0.0

    def route(self, alias: Alias = "reasoner") -> Route | None:
        return self._routes.route(alias)

    def may_read(self, sensitivity: Sensitivity, alias: Alias = "reasoner") -> bool:
        """Check whether there is a model for this, and text of this sensitivity may be sent to it."""
        route = self.route(alias)
        return route is not None and (route.is_local or sensitivity is Sensitivity.PUBLIC)

    async def complete(
        self, prompt: Payload, *, task_type: str, schema: type[T], alias: Alias = "reasoner"
    ) -> Completion[T]:
        """Request an answer that conforms to `schema`. A complete answer is never requested twice.

        Raises ModelCallError, or DatabaseError if the spending cannot be read.
        """
        route = self.route(alias)
        if route is None:
            raise ModelCallError(FailureKind.NOT_CONFIGURED)
        request = compose(prompt, schema)
        call = _Call(alias, route, task_type, prompt, request, time.perf_counter())
        if request.bytes > MAX_BYTES:
            raise ModelCallError(FailureKind.TOO_LARGE, call.host)
        try:
            key = key_in(self._environ, route.api_key_env)
        except ValueError as error:
            raise ModelCallError(FailureKind.AUTH, message=str(error)) from None
        async with self._within_daily_limit(call):
            return await self._completed(call, key, schema)

    @asynccontextmanager
    async def _within_daily_limit(self, call: _Call) -> AsyncIterator[None]:
        """Reserve the maximum cost of the call, so that concurrent calls cannot exceed the limit together."""
        upper_bound = call.request.most_tokens(call.route)
        worst = call.route.cost(upper_bound.tokens_in or 0, upper_bound.tokens_out or 0)
        self._reserved += worst
        try:
            if worst and await self._db.run(spent_today) + self._reserved > self._routes.day_limit_usd:
                raise ModelCallError(FailureKind.OVER_DAY_LIMIT, call.host)
            yield
        finally:
            self._reserved -= worst

    async def _completed(self, call: _Call, key: str, schema: type[T]) -> Completion[T]:
        try:
            reply, output = await self._answer(call, key, schema)
        except CallError as failed:
            usage = call.estimated(failed.usage) if failed.charged else failed.usage
            error = ModelCallError(
                failed.kind,
                call.host,
                model=call.route.model,
                status=failed.status,
                metadata=await self._record(call, failed.kind, usage),
                cause=failed.cause,
            )
        except asyncio.CancelledError:
            await asyncio.shield(self._record(call, CANCELLED, call.estimated(Usage())))
            raise
        else:
            return Completion(output, await self._record(call, OK, call.estimated(reply.usage)))
        raise error

    async def _answer(self, call: _Call, key: str, schema: type[T]) -> tuple[Reply, T]:
        dialect = DIALECTS[call.route.dialect]
        body = await self._fetch_answer(call, dialect, key)
        try:
            answer = read_object(body)
        except ValueError:
            raise CallError(FailureKind.INVALID if body.strip() else FailureKind.EMPTY, charged=True) from None
        reply = dialect.reply(answer)
        try:
            return reply, parse_answer(reply.text, schema)
        except ValueError:
            raise CallError(FailureKind.INVALID, charged=True, usage=reply.usage) from None

    async def _fetch_answer(self, call: _Call, dialect: Dialect, key: str) -> bytes:
        route, seconds = call.route, call.route.deadline_seconds
        http = open_client(timeout_seconds=seconds, max_bytes=MAX_ANSWER_BYTES)
        del http.headers["user-agent"]  # it names the library and its version
        send = partial(
            http.post,
            f"{route.server}{dialect.path}",
            json=dialect.body(route, call.request),
            headers=dialect.headers(key),
        )
        try:
            async with http, asyncio.timeout(seconds):
                with carrying(call.prompt.sensitivity):
                    return await fetch(send, self._pause, time.monotonic() + seconds)
        except TimeoutError:
            raise CallError(FailureKind.TIMEOUT, charged=True) from None

    async def _record(self, call: _Call, outcome: str, usage: Usage) -> CompletionMetadata:
        """Record and report the usage of a call. A ledger that cannot be written must not discard a paid answer."""
        tokens_in, tokens_out = usage.tokens_in or 0, usage.tokens_out or 0
        metadata = CompletionMetadata(
            alias=call.alias,
            model=call.route.model,
            latency_ms=(time.perf_counter() - call.started) * 1000,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=call.route.cost(tokens_in, tokens_out),
            outcome=outcome,
        )
        try:
            await self._db.run(lambda db: record_call(db, call.task_type, call.prompt, metadata, time.time()))
        except DonnaError as error:
            self._hub.report(error)
        self._hub.post(ModelCalled(task_type=call.task_type, **asdict(metadata)))
        return metadata


def record_call(db: MemoryDb, task_type: str, prompt: Payload, metadata: CompletionMetadata, at: float) -> None:
    """Add a row; it is durable when this returns. Raises DatabaseError.

    The prompt is stored only as a hash, keyed with this memory's key if it is private.
    """
    text = encodable("\n".join((prompt.system, *(segment.text for segment in prompt.segments))))
    digest = InputHash(db.key)(text, sensitive=prompt.sensitivity is not Sensitivity.PUBLIC)
    with db.change():
        db.database.run(
            "INSERT INTO model_calls (at, task_type, alias, model, latency_ms, tokens_in, tokens_out, cost_usd,"
            " input_hash, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (at, task_type, metadata.alias, metadata.model, metadata.latency_ms, metadata.tokens_in,
             metadata.tokens_out, metadata.cost_usd, digest, metadata.outcome),
        )  # fmt: skip


def spent_since(db: MemoryDb, at: float) -> float:
    """Return the cost in US dollars of all calls since a time (Unix time)."""
    return float(db.database.value("SELECT coalesce(sum(cost_usd), 0) FROM model_calls WHERE at >= ?", (at,)))


def spent_today(db: MemoryDb) -> float:
    """Return the cost in US dollars of all calls since midnight, local time."""
    return spent_since(db, datetime.datetime.combine(datetime.date.today(), datetime.time()).timestamp())
