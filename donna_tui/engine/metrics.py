"""Count events as Prometheus metrics, and serve them on this machine if enabled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest

from donna_tui.http.guard import Head, SmallServer, page
from donna_tui.types import events
from donna_tui.types.draft_events import AutowriteFailed, AutowriteSkipped, Autowritten, ModelCalled
from donna_tui.types.errors import DonnaError, Reason

SEARCH_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CALL_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


disable_created_metrics()  # type: ignore[no-untyped-call]  # they would be one more series of each label combination


class Metrics:
    """A listener that counts events, and their page in the exposition format."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._retrieval = self._timer("donna_retrieval_seconds", "The duration of searches.", "mode", SEARCH_SECONDS)
        self._batches = self._counter("donna_ingest_batches_total", "Batches of passages that were embedded together.")
        self._indexed = self._counter("donna_notes_indexed_total", "Notes whose text was stored, by reason.", "why")
        self._failed = self._counter("donna_notes_failed_total", "Notes that could not be indexed.", "reason")
        self._changes = self._counter("donna_note_changes_total", "Changes found in the vault.", "kind")
        self._embedded = self._counter("donna_chunks_embedded_total", "Passages for which a vector was computed.")
        self._reused = self._counter("donna_chunks_reused_total", "Passages whose vector was already stored.")
        self._watched = self._counter("donna_watcher_events_total", "Events received from the file system.", "kind")
        self._written = self._counter("donna_template_writes_total", "Notes that Donna wrote.", "template")
        self._skipped = self._counter("donna_template_skips_total", "Notes that already existed.", "template")
        self._unwritten = self._counter(
            "donna_template_failures_total", "Notes that could not be written.", "template", "reason"
        )
        self._calls = self._counter(
            "donna_model_calls_total", "Calls of language models.", "task_type", "alias", "outcome"
        )
        self._cost = self._counter(
            "donna_model_cost_usd_total", "The cost of these calls, in US dollars.", "task_type", "alias"
        )
        self._tokens = self._counter(
            "donna_model_tokens_total", "Tokens that were read and written.", "alias", "direction"
        )
        self._call_time = self._timer("donna_model_call_seconds", "The duration of these calls.", "alias", CALL_SECONDS)
        self._count: dict[type, Callable[[Any], None]] = {
            events.SearchDone: lambda event: self._retrieval.labels(event.mode).observe(event.latency_ms / 1000),
            events.IngestBatch: lambda event: self._batches.inc(),
            events.NoteIndexed: self._note_indexed,
            events.NoteFailed: lambda event: self._failed.labels(event.reason).inc(),
            events.NoteDeleted: lambda event: self._changes.labels("deleted").inc(),
            events.NoteRenamed: lambda event: self._changes.labels("renamed").inc(),
            events.NoteEmbedded: self._note_embedded,
            events.WatchEvent: lambda event: self._watched.labels("rescan" if event.rescan else "hint").inc(),
            Autowritten: lambda event: self._written.labels(event.template).inc(),
            AutowriteSkipped: lambda event: self._skipped.labels(event.template).inc(),
            AutowriteFailed: lambda event: self._unwritten.labels(event.template, event.reason).inc(),
            ModelCalled: self._model_called,
        }

    def __call__(self, event: events.EngineEvent) -> None:
        count = self._count.get(type(event))
        if count:
            count(event)

    def page(self) -> str:
        return generate_latest(self._registry).decode()

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(name, help_text, labels, registry=self._registry)

    def _timer(self, name: str, help_text: str, label: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, help_text, (label,), buckets=buckets, registry=self._registry)

    def _note_indexed(self, event: events.NoteIndexed) -> None:
        self._indexed.labels(event.why).inc()
        if event.why in ("new", "changed"):
            self._changes.labels(event.why).inc()

    def _note_embedded(self, event: events.NoteEmbedded) -> None:
        self._embedded.inc(event.computed)
        self._reused.inc(event.reused)

    def _model_called(self, event: ModelCalled) -> None:
        self._calls.labels(event.task_type, event.alias, event.outcome).inc()
        self._cost.labels(event.task_type, event.alias).inc(event.cost_usd)
        self._tokens.labels(event.alias, "in").inc(event.tokens_in)
        self._tokens.labels(event.alias, "out").inc(event.tokens_out)
        self._call_time.labels(event.alias).observe(event.latency_ms / 1000)


PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def serve_metrics(hub: events.EventHub, port: int) -> None:
    """Count events and answer scrapes until cancelled. Raises DonnaError if the port is not available."""
    metrics = Metrics()
    unsubscribe = hub.subscribe(metrics)
    try:
        async with SmallServer(lambda head: _answer(metrics, head), port).listening():
            await asyncio.Event().wait()
    except OSError as error:
        message = f"metrics cannot be served on port {port} ({error.strerror or 'no such port'})"
        raise DonnaError(Reason.IO_ERROR, message, hint="set metrics.port to another one, or to 0") from error
    finally:
        unsubscribe()


def _answer(metrics: Metrics, head: Head) -> bytes:
    if head.target.partition("?")[0] != PATH:
        return page(404)
    if head.method not in ("GET", "HEAD"):
        return page(405)
    return page(200, metrics.page(), kind=CONTENT_TYPE, with_body=head.method == "GET")
