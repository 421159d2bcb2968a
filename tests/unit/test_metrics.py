"""Metrics for Prometheus: the right numbers in the right format, on a server that nobody else can use or stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from donna_tui.engine.metrics import Metrics, serve_metrics
from donna_tui.http import guard
from donna_tui.types.draft_events import AutowriteFailed, AutowriteSkipped, Autowritten, ModelCalled
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import (
    EngineEvent,
    EngineStateChanged,
    EventHub,
    IngestBatch,
    NoteDeleted,
    NoteEmbedded,
    NoteFailed,
    NoteIndexed,
    NoteRenamed,
    SearchDone,
    StageTimes,
    WatchEvent,
)
from tests.model_server import free_port

DOCS = Path(__file__).parents[2] / "docs"
PATIENCE = 20
SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"')

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(page: str) -> Samples:
    """Parse a page as Prometheus does; every line must have its format."""
    found: Samples = {}
    typed: set[str] = set()
    assert page.endswith("\n")
    for line in page.removesuffix("\n").split("\n"):
        if line.startswith("# "):
            word, name, rest = re.fullmatch(r"# (HELP|TYPE) ([a-z_]+) (.+)", line).groups()  # type: ignore[union-attr]
            typed |= {name} if word == "TYPE" and rest in ("counter", "histogram") else set()
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        key = sample[1], tuple(sorted(LABEL.findall(sample[2] or "")))
        assert key not in found, line
        assert re.sub(r"_(bucket|sum|count)$", "", sample[1]) in typed
        found[key] = float(sample[3])
    return found


def page_of(*events: EngineEvent) -> str:
    metrics = Metrics()
    for event in events:
        metrics(event)
    return metrics.page()


def counted(*events: EngineEvent) -> Samples:
    return read(page_of(*events))


def described() -> dict[str, tuple[str, list[str]]]:
    """Return the help text and the labels of each metric."""
    page = page_of(*EVENTS)
    labels = {re.sub(r"_(bucket|sum|count)$", "", name): [each for each, _ in found] for name, found in read(page)}
    return {name: (text, labels[name]) for name, text in re.findall(r"^# HELP (\w+) (.+)$", page, re.MULTILINE)}


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, tuple(sorted(labels.items()))]


def indexed(why: Any) -> NoteIndexed:
    return NoteIndexed(path="private name.md", why=why, chunks=3, embedded=0, stages=StageTimes())


def called(outcome: str, cost: float) -> ModelCalled:
    return ModelCalled(
        task_type="draft_meeting_note", alias="reasoner", model="m", outcome=outcome, latency_ms=700.0, tokens_in=100,
        tokens_out=10, cost_usd=cost,
    )  # fmt: skip


EVENTS: tuple[EngineEvent, ...] = (
    SearchDone(mode="hybrid", k=8, hits=3, latency_ms=12.0),
    SearchDone(mode="hybrid", k=8, hits=3, latency_ms=80.0),
    SearchDone(mode="keyword", k=8, hits=0, latency_ms=9_000.0),
    IngestBatch(notes=2, chunks=9, latency_ms=1.0),
    indexed("new"),
    indexed("changed"),
    indexed("rebuild"),
    NoteEmbedded(path="private name.md", computed=4, reused=2, latency_ms=1.0),
    NoteFailed(path="private name.md", reason=Reason.TOO_LARGE, message="private", next_try=None),
    NoteDeleted(path="private name.md"),
    NoteRenamed(path="private name.md", old_path="private old name.md"),
    WatchEvent(paths=3, rescan=False),
    WatchEvent(paths=0, rescan=True),
    Autowritten(template="meeting_note", path="private name.md", key="k"),
    Autowritten(template="weekly_review", path="private name.md", key="k"),
    AutowriteSkipped(template="meeting_note", path="private name.md", key="k"),
    AutowriteFailed(template="meeting_note", path="private name.md", key="k", reason="template_error"),
    called("ok", 0.25),
    called("timeout", 0.5),
    EngineStateChanged(state="running"),
)


def test_every_event_counts_where_it_belongs() -> None:
    found = counted(*EVENTS)
    assert value(found, "donna_retrieval_seconds_bucket", mode="hybrid", le="0.01") == 0
    assert value(found, "donna_retrieval_seconds_bucket", mode="hybrid", le="0.025") == 1
    assert value(found, "donna_retrieval_seconds_bucket", mode="hybrid", le="0.1") == 2
    assert value(found, "donna_retrieval_seconds_bucket", mode="keyword", le="2.5") == 0
    assert value(found, "donna_retrieval_seconds_bucket", mode="keyword", le="+Inf") == 1
    assert value(found, "donna_retrieval_seconds_count", mode="hybrid") == 2
    assert value(found, "donna_retrieval_seconds_sum", mode="hybrid") == pytest.approx(0.092)
    assert value(found, "donna_ingest_batches_total") == 1
    assert [value(found, "donna_notes_indexed_total", why=why) for why in ("new", "changed", "rebuild")] == [1, 1, 1]
    kinds = ("new", "changed", "deleted", "renamed")
    assert [value(found, "donna_note_changes_total", kind=kind) for kind in kinds] == [1, 1, 1, 1]
    assert (value(found, "donna_chunks_embedded_total"), value(found, "donna_chunks_reused_total")) == (4, 2)
    assert value(found, "donna_notes_failed_total", reason="too_large") == 1
    assert [value(found, "donna_watcher_events_total", kind=kind) for kind in ("hint", "rescan")] == [1, 1]
    assert value(found, "donna_template_writes_total", template="weekly_review") == 1
    assert value(found, "donna_template_skips_total", template="meeting_note") == 1
    assert value(found, "donna_template_failures_total", template="meeting_note", reason="template_error") == 1
    task = {"task_type": "draft_meeting_note", "alias": "reasoner"}
    assert value(found, "donna_model_calls_total", **task, outcome="timeout") == 1
    assert value(found, "donna_model_cost_usd_total", **task) == 0.75
    assert value(found, "donna_model_tokens_total", alias="reasoner", direction="in") == 200
    assert value(found, "donna_model_call_seconds_count", alias="reasoner") == 2


def test_no_name_of_a_note_is_served() -> None:
    assert "private" not in page_of(*EVENTS)


def test_only_metrics_without_labels_are_served_before_the_first_event() -> None:
    assert counted() == {
        ("donna_ingest_batches_total", ()): 0.0,
        ("donna_chunks_embedded_total", ()): 0.0,
        ("donna_chunks_reused_total", ()): 0.0,
    }
    assert "_created" not in page_of(*EVENTS)


def test_the_dashboard_asks_only_for_what_there_is_and_for_all_of_it() -> None:
    board = json.loads((DOCS / "grafana" / "donna.json").read_text(encoding="utf-8"))
    served = {name for name, _ in counted(*EVENTS)}
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    asked = {name for query in queries for name in re.findall(r"donna_\w+", query)}
    assert queries
    assert asked <= served
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked} == set(described())
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))


def test_the_dashboard_groups_only_by_labels_that_there_are() -> None:
    board = json.loads((DOCS / "grafana" / "donna.json").read_text(encoding="utf-8"))
    known = described()
    for query in (target["expr"] for panel in board["panels"] for target in panel.get("targets", ())):
        for grouped, name in re.findall(r"by \(([^)]*)\) \(\w+\((donna_\w+)", query):
            wanted = {each.strip() for each in grouped.split(",")} - {"le"}
            assert wanted <= set(known[re.sub(r"_(bucket|sum|count)$", "", name)][1]), query


def test_the_page_on_metrics_names_them_all() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    rows = {
        (name, text, tuple(sorted(re.findall(r"`(\w+)`", labels))))
        for name, labels, text in re.findall(r"^\| `(donna_\w+)` \| (.*)\| (.+) \|$", page, re.MULTILINE)
    }
    assert rows == {(name, text, tuple(sorted(set(labels) - {"le"}))) for name, (text, labels) in described().items()}


# The server


async def say(port: int, data: bytes) -> bytes:
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        with contextlib.suppress(ConnectionError):
            answer = await reader.read()
        writer.close()
        return answer


async def get(port: int, path: str = "/metrics", method: str = "GET", host: str | None = None) -> tuple[int, str]:
    named = f"127.0.0.1:{port}" if host is None else host
    answer = (await say(port, f"{method} {path} HTTP/1.1\r\nHost: {named}\r\n\r\n".encode())).decode()
    head, _, body = answer.partition("\r\n\r\n")
    assert f"Content-Length: {len(body)}" in head or method == "HEAD"
    return int(head.split(" ")[1]), body


@contextlib.asynccontextmanager
async def serving(hub: EventHub) -> AsyncIterator[int]:
    port = free_port()
    task = asyncio.create_task(serve_metrics(hub, port))
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(OSError):
                (await asyncio.open_connection("127.0.0.1", port))[1].close()
                break
            await asyncio.sleep(0.01)
    try:
        yield port
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_scrape_returns_what_was_counted() -> None:
    hub = EventHub()
    async with serving(hub) as port:
        hub.post(IngestBatch(notes=1, chunks=1, latency_ms=1.0))
        status, page = await get(port)
        assert (status, value(read(page), "donna_ingest_batches_total")) == (200, 1)
        hub.post(IngestBatch(notes=1, chunks=1, latency_ms=1.0))
        _, page = await get(port, "/metrics?x=1", host=f"localhost:{port}")
        assert value(read(page), "donna_ingest_batches_total") == 2
        assert await get(port, method="HEAD") == (200, "")


async def test_it_stops_cleanly() -> None:
    hub = EventHub()
    async with serving(hub) as port:
        assert len(hub._listeners) == 1
    assert hub._listeners == ()
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_client_that_says_nothing_does_not_keep_it_from_stopping() -> None:
    async with serving(EventHub()) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await get(port))[0] == 200
    writer.close()


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:{port}", "localhost", "127.0.0.1:1", "localhost:{port}.evil"]
)
async def test_a_web_page_elsewhere_cannot_read_it(host: str) -> None:
    async with serving(EventHub()) as port:
        status, page = await get(port, host=host.format(port=port))
    assert status == 403
    assert "donna_" not in page


@pytest.mark.parametrize("header", ["Origin: http://evil.example", "Origin: null", "Host: evil.example"])
async def test_a_request_that_also_names_another_origin_or_host_is_refused(header: str) -> None:
    async with serving(EventHub()) as port:
        answer = await say(port, f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/", "GET", 404), ("/metrics/x", "GET", 404), ("/metrics", "POST", 405)]
)
async def test_metrics_server_rejects_other_paths_and_methods(path: str, method: str, status: int) -> None:
    async with serving(EventHub()) as port:
        assert (await get(port, path, method))[0] == status


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /metrics SPDY/9\r\n\r\n",
        b"A" * 100_000,
        b"GET /metrics HTTP/1.1\r\n" + b"x: y\r\n" * 20_000,
    ],
)
async def test_malformed_requests_do_not_break_the_metrics_server(data: bytes) -> None:
    async with serving(EventHub()) as port:
        with contextlib.suppress(ConnectionError):
            assert (await say(port, data))[:12] in (b"HTTP/1.1 400", b"")
        assert (await get(port))[0] == 200


@pytest.mark.slow
async def test_silent_clients_make_room_for_one_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SMALL_LIMITS", replace(guard.SMALL_LIMITS, head_seconds=1.0))
    async with serving(EventHub()) as port:
        most = guard.SMALL_LIMITS.connections
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * most)]
        assert (await get(port))[0] == 200
        for reader, writer in silent:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        assert (await get(port))[0] == 200


async def test_a_long_header_is_refused() -> None:
    async with serving(EventHub()) as port:
        answer = await say(port, b"GET /metrics HTTP/1.1\r\nX-Long: " + b"x" * 5_000 + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 431")


async def test_a_port_in_use_is_reported() -> None:
    async with serving(EventHub()) as port:
        with pytest.raises(DonnaError) as caught:
            await serve_metrics(EventHub(), port)
    assert caught.value.reason is Reason.IO_ERROR
    assert str(port) in caught.value.message
