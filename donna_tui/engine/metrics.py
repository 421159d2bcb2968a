"""Count events as Prometheus metrics, and serve them on this machine if enabled."""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from donna_tui.http.guard import Head, Limits, SmallServer, page
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import (
    AutowriteFailed,
    AutowriteSkipped,
    Autowritten,
    EngineEvent,
    EventHub,
    IngestBatch,
    ModelCalled,
    NoteDeleted,
    NoteEmbedded,
    NoteFailed,
    NoteIndexed,
    NoteRenamed,
    SearchDone,
    WatchHint,
)

MOST_SERIES = 200
"""Most label combinations of one metric; further ones are counted under `other`, which bounds the memory use."""

SEARCH_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CALL_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)

Labels = tuple[str, ...]


class Counter:
    """A monotonic counter with labels. One without labels begins at 0."""

    kind = "counter"

    def __init__(self, name: str, help_text: str, labels: Labels = ()) -> None:
        self.name, self.help, self.labels = name, help_text, labels
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        """Add an amount to the series of these labels."""
        key = _series(self._values, labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def samples(self) -> Iterator[str]:
        """Yield the lines of the exposition format."""
        for key, value in sorted(self._values.items()):
            yield _line(self.name, zip(self.labels, key, strict=True), value)


class Histogram:
    """A histogram of durations in seconds with labels. `buckets` are inclusive upper bounds."""

    kind = "histogram"

    def __init__(self, name: str, help_text: str, labels: Labels, buckets: tuple[float, ...]) -> None:
        self.name, self.help, self.labels, self._buckets = name, help_text, labels, buckets
        self._counts: defaultdict[Labels, list[int]] = defaultdict(lambda: [0] * (len(buckets) + 1))
        self._sums: defaultdict[Labels, float] = defaultdict(float)

    def add(self, *labels: str, seconds: float) -> None:
        """Count one duration."""
        key = _series(self._counts, labels)
        self._counts[key][bisect_left(self._buckets, seconds)] += 1
        self._sums[key] += seconds

    def samples(self) -> Iterator[str]:
        """Yield the lines of the exposition format: cumulative buckets, sum and count."""
        ends = [*(f"{end:g}" for end in self._buckets), "+Inf"]
        for key, counts in sorted(self._counts.items()):
            named = list(zip(self.labels, key, strict=True))
            for end, count in zip(ends, accumulate(counts), strict=True):
                yield _line(f"{self.name}_bucket", [*named, ("le", end)], count)
            yield _line(f"{self.name}_sum", named, self._sums[key])
            yield _line(f"{self.name}_count", named, sum(counts))


class Metrics:
    """A listener that counts events, and their page in the exposition format."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.retrieval = Histogram("donna_retrieval_seconds", "The duration of searches.", ("mode",), SEARCH_SECONDS)
        self.batches = Counter("donna_ingest_batches_total", "Batches of passages that were embedded together.")
        self.indexed = Counter("donna_notes_indexed_total", "Notes whose text was stored, by reason.", ("why",))
        self.failed = Counter("donna_notes_failed_total", "Notes that could not be indexed.", ("reason",))
        self.changes = Counter("donna_note_changes_total", "Changes found in the vault.", ("kind",))
        self.embedded = Counter("donna_chunks_embedded_total", "Passages for which a vector was computed.")
        self.reused = Counter("donna_chunks_reused_total", "Passages whose vector was already stored.")
        self.watched = Counter("donna_watcher_events_total", "Events received from the file system.", ("kind",))
        self.written = Counter("donna_template_writes_total", "Notes that Donna wrote.", ("template",))
        self.skipped = Counter("donna_template_skips_total", "Notes that already existed.", ("template",))
        self.unwritten = Counter(
            "donna_template_failures_total", "Notes that could not be written.", ("template", "reason")
        )
        self.calls = Counter("donna_model_calls_total", "Calls of language models.", ("task_type", "alias", "outcome"))
        self.cost = Counter(
            "donna_model_cost_usd_total", "The cost of these calls, in US dollars.", ("task_type", "alias")
        )
        self.tokens = Counter("donna_model_tokens_total", "Tokens that were read and written.", ("alias", "direction"))
        self.call_time = Histogram("donna_model_call_seconds", "The duration of these calls.", ("alias",), CALL_SECONDS)
        self.all = [each for each in vars(self).values() if isinstance(each, Counter | Histogram)]
        self._count: dict[type, Callable[[Any], None]] = {
            SearchDone: lambda event: self.retrieval.add(event.mode, seconds=event.latency_ms / 1000),
            IngestBatch: lambda event: self.batches.add(),
            NoteIndexed: self._note_indexed,
            NoteFailed: lambda event: self.failed.add(event.reason),
            NoteDeleted: lambda event: self.changes.add("deleted"),
            NoteRenamed: lambda event: self.changes.add("renamed"),
            NoteEmbedded: self._note_embedded,
            WatchHint: lambda event: self.watched.add("rescan" if event.rescan else "hint"),
            Autowritten: lambda event: self.written.add(event.template),
            AutowriteSkipped: lambda event: self.skipped.add(event.template),
            AutowriteFailed: lambda event: self.unwritten.add(event.template, event.reason),
            ModelCalled: self._model_called,
        }

    def __call__(self, event: EngineEvent) -> None:
        """Count one event."""
        count = self._count.get(type(event))
        if count:
            with self._lock:
                count(event)

    def page(self) -> str:
        """Render all metrics in the text format of Prometheus, version 0.0.4."""
        with self._lock:
            return "".join(f"{line}\n" for metric in self.all for line in _block(metric))

    def _note_indexed(self, event: NoteIndexed) -> None:
        self.indexed.add(event.why)
        if event.why in ("new", "changed"):
            self.changes.add(event.why)

    def _note_embedded(self, event: NoteEmbedded) -> None:
        self.embedded.add(amount=event.computed)
        self.reused.add(amount=event.reused)

    def _model_called(self, event: ModelCalled) -> None:
        self.calls.add(event.task_type, event.alias, event.outcome)
        self.cost.add(event.task_type, event.alias, amount=event.cost_usd)
        self.tokens.add(event.alias, "in", amount=event.tokens_in)
        self.tokens.add(event.alias, "out", amount=event.tokens_out)
        self.call_time.add(event.alias, seconds=event.latency_ms / 1000)


def _block(metric: Counter | Histogram) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    yield from metric.samples()


def _series(known: Any, labels: Labels) -> Labels:
    return labels if labels in known or len(known) < MOST_SERIES else ("other",) * len(labels)


def _line(name: str, labels: Any, value: float) -> str:
    named = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{{{named}}} {value:.12g}" if named else f"{name} {value:.12g}"


def _escaped(text: str) -> str:
    return str(text).replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LIMITS = Limits(connections=16, untrusted=16, per_address=16, head_seconds=5.0)


async def serve_metrics(hub: EventHub, port: int) -> None:
    """Count events and answer scrapes until cancelled. Raises DonnaError if the port is not available."""
    metrics = Metrics()
    unsubscribe = hub.subscribe(metrics)
    try:
        async with SmallServer(lambda head: _answer(metrics, head), LIMITS, port).listening():
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
