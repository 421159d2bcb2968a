"""Whatever a model's server does, a call ends in time, says why it failed, and is paid at most once."""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import gzip
import json
import logging
import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from donna_tui.config.routes import Route, Routes
from donna_tui.llm.failures import CompletionMetadata, FailureKind, ModelCallError
from donna_tui.llm.router import Completion, ModelRouter
from donna_tui.memory.db_thread import DbThread
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.payload import Payload, Segment
from donna_tui.types.draft_events import ModelCalled
from donna_tui.types.events import EngineEvent, EventHub
from tests import model_server as server
from tests.model_server import GOOD, Behaviour, ModelServer

KEY = "sk-test-0123456789abcdefTHEKEY"
PROMPT = "THE-SECRET-PROMPT about the move"
NOTE = "THE-SECRET-NOTE says May"
DIALECTS = ("openai", "anthropic", "ollama")
PATIENCE = 60


class Answer(BaseModel):
    summary: str
    points: list[str]


def outgoing(sensitivity: Sensitivity = Sensitivity.PUBLIC) -> Payload:
    return Payload(system=PROMPT, segments=(Segment(text=NOTE, sensitivity=sensitivity),))


@dataclass
class RouterHarness:
    """A router with one model, and what it did."""

    router: ModelRouter
    db: DbThread
    events: list[EngineEvent]
    pauses: list[float]

    async def request(self) -> Completion[Answer]:
        async with asyncio.timeout(PATIENCE):
            return await self.router.complete(outgoing(), task_type="draft_meeting_note", schema=Answer)

    async def rows(self) -> list[tuple[Any, ...]]:
        sql = "SELECT outcome, tokens_in, tokens_out, cost_usd FROM model_calls ORDER BY id"
        return await self.db.run(lambda db: db.database.rows(sql))


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[DbThread]:
    thread = DbThread(tmp_path, EventHub(), lambda: None)
    yield thread
    await thread.close()


def router_harness(db: DbThread, dialect: str, port: int, *, limit: float = 10.0, **settings: Any) -> RouterHarness:
    base = f"http://127.0.0.1:{port}{'/v1' if dialect == 'openai' else ''}"
    values: dict[str, Any] = {"max_output_tokens": 500, "price_in": 3.0, "price_out": 15.0, **settings}
    deadline = values.pop("deadline_seconds", 50.0)
    route = Route(dialect=dialect, model="some-model", base_url=base, api_key_env="TEST_KEY", **values)
    routes = Routes(day_limit_usd=limit, reasoner=route.model_copy(update={"deadline_seconds": deadline}))
    events: list[EngineEvent] = []
    pauses: list[float] = []
    hub = EventHub()
    hub.subscribe(events.append)

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    router = ModelRouter(routes, db, hub, environ={"TEST_KEY": KEY}, pause=pause)
    return RouterHarness(router, db, events, pauses)


@dataclass(frozen=True)
class Case:
    """A server's behaviour and the expected result: an answer if `kind` is None. `sent` counts requests."""

    name: str
    behaviour: Behaviour
    kind: FailureKind | None
    sent: int = 1
    dialects: tuple[str, ...] = DIALECTS
    deadline: float = 50.0


K = FailureKind
HTML = "<!doctype html><title>Gateway</title><p>A proxy says hello."
IN_AN_HOUR = email.utils.format_datetime(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1))

CASES = (
    Case("good", server.good, None),
    Case("hang", server.hang, K.TIMEOUT, deadline=1.0),
    Case("slow headers", server.slow_headers, K.TIMEOUT, deadline=1.0),
    Case("slow drip", server.slow_drip, K.TIMEOUT, deadline=1.0),
    Case("1xx for ever", server.continue_for_ever, K.TIMEOUT, deadline=1.0),
    Case("close without an answer", server.close_at_once, K.UNREACHABLE),
    Case("reset mid-body", server.reset_mid_body, K.UNREACHABLE),
    Case("body shorter than stated", server.short_body, K.UNREACHABLE),
    Case("not HTTP at all", lambda talk: talk.send(b"SSH-2.0-Other\r\n\r\n"), K.UNREACHABLE),
    Case("endless headers", server.endless_headers, K.UNREACHABLE),
    Case("endless body", server.endless_body, K.TOO_LARGE),
    Case("10 MB body", server.body(" " * 10 * server.MEGABYTE), K.TOO_LARGE),
    Case("gzip bomb", server.body(server.gzip_bomb(), content_encoding="gzip"), K.TOO_LARGE),
    Case("honest gzip", server.wrapped(lambda text: gzip.compress(text.encode()), content_encoding="gzip"), None),
    Case("broken gzip", server.body(b"no gzip at all", content_encoding="gzip"), K.INVALID),
    Case("gzip cut short", server.wrapped(lambda text: gzip.compress(text.encode())[:-9], content_encoding="gzip"), K.INVALID),
    Case("two gzips", server.wrapped(lambda text: gzip.compress(text.encode()) * 2, content_encoding="gzip"), K.INVALID),
    Case("unknown encoding", server.body("{}", content_encoding="br"), K.INVALID),
    Case("truncated JSON", server.wrapped(lambda text: text[:-20]), K.INVALID),
    Case("HTML 200", server.body(HTML, kind="text/html"), K.INVALID),
    Case("HTML 502", server.status(502, HTML), K.UNAVAILABLE, sent=2),
    Case("empty body", server.body(""), K.EMPTY),
    Case("blank body", server.body(" \n\t "), K.EMPTY),
    Case("a list", server.body("[1, 2]"), K.INVALID),
    Case("null", server.body("null"), K.INVALID),
    Case("204", server.status(204, ""), K.REJECTED),
    Case("error in a good answer", server.body('{"error": {"message": "no"}}'), K.INVALID),
    Case("wrong content type", server.wrapped(str, kind="text/plain"), None),
    Case("invalid UTF-8", server.body(b'{"choices": "\xff\xfe"}'), K.INVALID),
    Case("BOM before the body", server.wrapped(lambda text: "\ufeff" + text), None),
    Case("something after the body", server.wrapped(lambda text: text + text), K.INVALID),
    Case("NaN around the answer", server.wrapped(lambda text: text[:-1] + ', "x": NaN}'), K.INVALID),
    Case("twins around the answer", server.wrapped(lambda text: text[:-1] + ', "x": 1, "x": 2}'), K.INVALID),
    Case("nested too deep around the answer", server.body(server.nested(100_000)), K.INVALID),
    Case("a number of 5,000 digits", server.body('{"x": ' + "9" * 5_000 + "}"), K.INVALID),
    Case("a stream that nobody asked for", server.events, K.INVALID),
    Case("blank text", server.text(" \n " * 5_000), K.EMPTY),
    Case("null text", server.text(None), K.EMPTY),
    Case("wrong types", server.text(server.changed(points="Ask Ines.")), K.INVALID),
    Case("a number for text", server.text(server.changed(summary=5)), K.INVALID),
    Case("missing keys", server.text(server.changed(points=None)), K.INVALID),
    Case("extra keys", server.text(server.changed(mood="fine")), None),
    Case("nested too deep", server.text(server.nested(50_000)), K.INVALID),
    Case("NaN", server.text('{"summary": "a", "points": [], "x": NaN}'), K.INVALID),
    Case("Infinity", server.text('{"summary": "a", "points": [], "x": -Infinity}'), K.INVALID),
    Case("1e999", server.text('{"summary": "a", "points": [], "x": 1e999}'), K.INVALID),
    Case("twins", server.text('{"summary": "a", "summary": "b", "points": []}'), K.INVALID),
    Case("half a character", server.text('{"summary": "\\ud83d", "points": []}'), K.INVALID),
    Case("refusal as text", server.text("I am sorry, I cannot help with that."), K.INVALID),
    Case("JSON in a fence", server.text(f"```json\n{json.dumps(GOOD)}\n```"), None),
    Case("JSON in a fence among words", server.text(f"Here:\n```\n{json.dumps(GOOD)}\n```\nBye."), None),
    Case("JSON and then words", server.text(f"{json.dumps(GOOD)}\n\nI hope that {{helps}}!"), None),
    Case("thoughts first", server.text(f"<think>{{hm}}</think>{json.dumps(GOOD)}"), None),
    Case("BOM in the text", server.text("\ufeff" + json.dumps(GOOD)), None),
    Case("no figures", server.usage(None, None), None),
    Case("negative figures", server.usage(-5, -7), None),
    Case("huge figures", server.usage(10**18, 10**30), None),
    Case("figures as text", server.usage("many", True), None),
    Case("redirect to another host", server.redirect_elsewhere, K.EGRESS_REFUSED),
    Case("redirect to itself", server.redirect_loop, K.REJECTED),
    Case("400", server.status(400), K.REJECTED),
    Case("401 with the key", server.status(401, json.dumps({"error": {"message": f"bad key {KEY} for {PROMPT}"}})), K.AUTH),
    Case("403", server.status(403), K.AUTH),
    Case("404", server.status(404), K.REJECTED),
    Case("413", server.status(413), K.TOO_LARGE),
    Case("422", server.status(422, "not json"), K.REJECTED),
    Case("504", server.status(504), K.TIMEOUT),
    Case("429", server.status(429), K.RATE_LIMITED, sent=3),
    Case("429 for an hour", server.status(429, retry_after="3600"), K.RATE_LIMITED),
    Case("429 until a date", server.status(429, retry_after=IN_AN_HOUR), K.RATE_LIMITED),
    Case("429 until nonsense", server.status(429, retry_after="soon"), K.RATE_LIMITED, sent=3),
    Case("429 until infinity", server.status(429, retry_after="inf"), K.RATE_LIMITED, sent=3),
    Case("429 then good", server.then_good(1, server.status(429, retry_after="2")), None, sent=2),
    Case("500 then good", server.then_good(1, server.status(500)), None, sent=2),
    Case("500 for ever", server.status(500), K.UNAVAILABLE, sent=2),
    Case("503 twice then good", server.then_good(2, server.status(503)), None, sent=3),
    Case("503 for ever", server.status(503), K.UNAVAILABLE, sent=3),
    Case("529 for ever", server.status(529), K.UNAVAILABLE, sent=3),
    Case(
        "broken off",
        server.of_each(
            openai=server.text("{", choices=[server.choice(finish_reason="length")]),
            anthropic=server.text("{", stop_reason="max_tokens"),
            ollama=server.text("{", done_reason="length"),
        ),
        K.TRUNCATED,
    ),
    Case(
        "refusal",
        server.of_each(
            openai=server.text("", choices=[server.choice(message={"content": None, "refusal": "No."})]),
            anthropic=server.text("No.", stop_reason="refusal"),
        ),
        K.REFUSED,
        dialects=("openai", "anthropic"),
    ),
    Case("filtered", server.text("", choices=[server.choice(finish_reason="content_filter")]), K.FILTERED, dialects=("openai",)),
    Case(
        "another tool",
        server.of_each(
            openai=server.text("", choices=[server.choice(finish_reason="tool_calls", message={"content": None})]),
            anthropic=server.text(None, content=[{"type": "tool_use", "name": "delete_all", "input": GOOD}]),
            ollama=server.text("", message={"content": "", "tool_calls": [{"function": {"name": "delete_all"}}]}),
        ),
        K.INVALID,
        dialects=("openai",),
    ),
    Case(
        "another tool and nothing else",
        server.of_each(
            anthropic=server.text(None, content=[{"type": "tool_use", "name": "delete_all", "input": GOOD}]),
            ollama=server.text("", message={"content": "", "tool_calls": [{"function": {"name": "delete_all"}}]}),
        ),
        K.EMPTY,
        dialects=("anthropic", "ollama"),
    ),
    Case("two choices", server.text("", choices=[server.choice(), server.choice(index=1)]), None, dialects=("openai",)),
    Case("no choices", server.text("", choices=[]), K.INVALID, dialects=("openai",)),
    Case("choices of another type", server.text("", choices="x"), K.INVALID, dialects=("openai",)),
    Case("text of another type", server.text("", choices=[server.choice(message={"content": [1]})]), K.INVALID, dialects=("openai",)),
    Case("blocks of another type", server.text("", content="x"), K.INVALID, dialects=("anthropic",)),
    Case("blocks that are no blocks", server.text("", content=[1, None, {"type": 5}]), K.EMPTY, dialects=("anthropic",)),
    Case("not done", server.text(json.dumps(GOOD), done=False), K.INVALID, dialects=("ollama",)),
)  # fmt: skip


def runs() -> list[Any]:
    return [pytest.param(case, each, id=f"{case.name}-{each}") for case in CASES for each in case.dialects]


@pytest.mark.cases(4)
@pytest.mark.parametrize(("case", "dialect"), runs())
async def test_a_call_is_bounded_classified_and_paid_once(
    case: Case, dialect: str, db: DbThread, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    strange = ModelServer(dialect, case.behaviour)
    async with strange.running() as port:
        harness = router_harness(db, dialect, port, deadline_seconds=case.deadline)
        if case.kind is None:
            done = await harness.request()
            assert done.output == Answer(**GOOD)
            metadata: CompletionMetadata | None = done.metadata
        else:
            with pytest.raises(ModelCallError) as caught:
                await harness.request()
            assert caught.value.kind is case.kind
            _reveals_nothing(caught.value)
            metadata = caught.value.metadata
    assert len(strange.requests) == case.sent
    assert strange.billed <= 1
    await _was_recorded(harness, metadata, case.kind)
    assert KEY not in caplog.text
    assert PROMPT not in caplog.text
    assert NOTE not in caplog.text


def _reveals_nothing(error: ModelCallError) -> None:
    text = "".join((*traceback.format_exception(error), error.message, error.hint or "", repr(error)))
    for secret in (KEY, PROMPT, NOTE):
        assert secret not in text


async def _was_recorded(harness: RouterHarness, metadata: CompletionMetadata | None, kind: FailureKind | None) -> None:
    assert metadata is not None
    outcome = kind or "ok"
    [row] = await harness.rows()
    assert row == (outcome, metadata.tokens_in, metadata.tokens_out, metadata.cost_usd)
    [event] = [each for each in harness.events if isinstance(each, ModelCalled)]
    assert (event.outcome, event.cost_usd, event.task_type) == (outcome, metadata.cost_usd, "draft_meeting_note")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_missing_server_is_tried_three_times(dialect: str, db: DbThread) -> None:
    async with ModelServer(dialect, server.good).running() as port:
        pass
    harness = router_harness(db, dialect, port)
    with pytest.raises(ModelCallError) as caught:
        await harness.request()
    assert caught.value.kind is FailureKind.UNREACHABLE
    assert len(harness.pauses) == 2
    assert harness.pauses[0] < harness.pauses[1]
    assert await harness.rows() == [("unreachable", 0, 0, 0.0)]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_token_counts_and_cost_reported_by_the_server_are_kept(dialect: str, db: DbThread) -> None:
    async with ModelServer(dialect, server.good).running() as port:
        done = await router_harness(db, dialect, port).request()
    assert (done.metadata.tokens_in, done.metadata.tokens_out) == (120, 30)
    assert done.metadata.cost_usd == pytest.approx((120 * 3 + 30 * 15) / 1_000_000)
    assert (done.metadata.alias, done.metadata.model) == ("reasoner", "some-model")


@pytest.mark.parametrize("figures", [(None, None), (-1, -1), (10**18, 10**18)])
async def test_missing_token_counts_are_charged_at_the_maximum(figures: tuple[Any, Any], db: DbThread) -> None:
    async with ModelServer("openai", server.usage(*figures)).running() as port:
        done = await router_harness(db, "openai", port).request()
    assert done.metadata.tokens_out == 500
    assert done.metadata.tokens_in > len(PROMPT) + len(NOTE)


@pytest.mark.parametrize("behaviour", [server.hang, server.reset_mid_body, server.endless_body])
async def test_failed_call_is_charged_at_the_maximum(behaviour: Behaviour, db: DbThread) -> None:
    async with ModelServer("openai", behaviour).running() as port:
        with pytest.raises(ModelCallError) as caught:
            await router_harness(db, "openai", port, deadline_seconds=1.0).request()
    assert caught.value.metadata is not None
    assert caught.value.metadata.tokens_out == 500


async def test_the_server_says_how_long_to_wait(db: DbThread) -> None:
    async with ModelServer("anthropic", server.then_good(2, server.status(429, retry_after="7"))).running() as port:
        harness = router_harness(db, "anthropic", port)
        await harness.request()
    assert harness.pauses == [7.0, 7.0]


async def test_a_call_fails_rather_than_wait_long(db: DbThread) -> None:
    async with ModelServer("anthropic", server.status(503, retry_after="1800")).running() as port:
        harness = router_harness(db, "anthropic", port)
        with pytest.raises(ModelCallError):
            await harness.request()
    assert harness.pauses == []


async def test_a_cancelled_call_is_in_the_ledger(db: DbThread) -> None:
    waiting = ModelServer("openai", server.hang)
    async with waiting.running() as port:
        harness = router_harness(db, "openai", port)
        task = asyncio.create_task(harness.request())
        async with asyncio.timeout(PATIENCE):
            while not waiting.requests:
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    [(outcome, _, tokens_out, _)] = await harness.rows()
    assert (outcome, tokens_out) == ("cancelled", 500)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_request_contains_no_unneeded_headers(
    dialect: str, db: DbThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "x-leak: LEAKED")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "LEAKED")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    listening = ModelServer(dialect, server.good)
    async with listening.running() as port:
        await router_harness(db, dialect, port).request()
    [head] = listening.heads
    assert not [each for each in head if each.startswith(("x-", "openai-", "user-agent")) and each != "x-api-key"]
    assert "leaked" not in listening.requests[0][0].lower()
    assert KEY.lower() in (head.get("authorization", "") + head.get("x-api-key", ""))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_request_contains_model_prompt_and_note_with_new_markers(dialect: str, db: DbThread) -> None:
    listening = ModelServer(dialect, server.good)
    async with listening.running() as port:
        harness = router_harness(db, dialect, port)
        await harness.request()
        await harness.request()
    first, second = (json.loads(data) for _, data in listening.requests)
    assert first["model"] == "some-model"
    assert PROMPT in json.dumps(first)
    assert NOTE in first["messages"][-1]["content"]
    assert first["messages"][-1] != second["messages"][-1], "the markers must be new each time"
    limits = {"openai": first.get("max_tokens"), "anthropic": first.get("max_tokens")}
    assert limits.get(dialect, first.get("options", {}).get("num_predict")) == 500


async def test_the_limit_of_the_day_stops_a_call_before_it_is_sent(db: DbThread) -> None:
    listening = ModelServer("openai", server.usage(100_000, 0))
    async with listening.running() as port:
        harness = router_harness(db, "openai", port, limit=0.3)
        await harness.request()
        with pytest.raises(ModelCallError) as caught:
            await harness.request()
    assert caught.value.kind is FailureKind.OVER_DAY_LIMIT
    assert len(listening.requests) == 1
    assert len(await harness.rows()) == 1


async def test_two_calls_at_once_do_not_pass_the_limit_together(db: DbThread) -> None:
    listening = ModelServer("openai", server.good)
    async with listening.running() as port:
        harness = router_harness(db, "openai", port, limit=0.015)
        ended = await asyncio.gather(*(harness.request() for _ in range(4)), return_exceptions=True)
    kinds = [each.kind for each in ended if isinstance(each, ModelCallError)]
    assert kinds == [FailureKind.OVER_DAY_LIMIT] * len(kinds)
    assert len(listening.requests) == 4 - len(kinds) == 1


async def test_a_model_that_costs_nothing_is_never_over_the_limit(db: DbThread) -> None:
    async with ModelServer("ollama", server.good).running() as port:
        done = await router_harness(db, "ollama", port, limit=0.0, price_in=None, price_out=None).request()
    assert done.metadata.cost_usd == 0.0


@pytest.mark.parametrize("key", ["", "  ", "two words", "lïne", "a\nb"])
async def test_an_invalid_key_is_not_sent(key: str, db: DbThread) -> None:
    listening = ModelServer("openai", server.good)
    async with listening.running() as port:
        harness = router_harness(db, "openai", port)
        harness.router._environ = {"TEST_KEY": key}
        with pytest.raises(ModelCallError) as caught:
            await harness.request()
    assert caught.value.kind is FailureKind.AUTH
    assert "TEST_KEY" in caught.value.message
    assert not key.strip() or key not in caught.value.message
    assert listening.connections == 0


async def test_oversized_prompt_is_not_sent(db: DbThread) -> None:
    listening = ModelServer("openai", server.good)
    huge = Payload(system="s", segments=(Segment(text="x" * 500_000, sensitivity=Sensitivity.PUBLIC),))
    async with listening.running() as port:
        with pytest.raises(ModelCallError) as caught:
            await router_harness(db, "openai", port).router.complete(huge, task_type="t", schema=Answer)
    assert caught.value.kind is FailureKind.TOO_LARGE
    assert listening.connections == 0


async def test_without_a_model_it_says_so(db: DbThread) -> None:
    router = ModelRouter(Routes(), db, EventHub())
    with pytest.raises(ModelCallError) as caught:
        await router.complete(outgoing(), task_type="t", schema=Answer)
    assert caught.value.kind is FailureKind.NOT_CONFIGURED
    assert not router.may_read(Sensitivity.PUBLIC)
