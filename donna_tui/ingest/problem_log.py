"""Keep statistics of the engine from its events: progress, throughput, latencies and problems."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from donna_tui.types import events
from donna_tui.types.status import Latency, Problem

SAMPLES = 300
"""Latencies kept for the percentiles."""

RATE_WINDOW_SECONDS = 60
SMOOTHED_SECONDS = 8


def percentiles(samples: Iterable[float]) -> Latency:
    """Return p50 and p95 of some latencies in milliseconds, by nearest rank."""
    ordered = sorted(samples)
    if not ordered:
        return Latency()
    last = len(ordered) - 1
    return Latency(p50=ordered[round(last * 0.50)], p95=ordered[round(last * 0.95)], samples=len(ordered))


@dataclass(slots=True)
class Throughput:
    """Chunks embedded in each of the last sixty seconds."""

    buckets: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=RATE_WINDOW_SECONDS))

    def add(self, count: int, second: int) -> None:
        if self.buckets and self.buckets[-1][0] == second:
            count += self.buckets.pop()[1]
        self.buckets.append((second, count))

    def series(self, second: int) -> tuple[float, ...]:
        counts = dict(self.buckets)
        return tuple(float(counts.get(each, 0)) for each in range(second - RATE_WINDOW_SECONDS + 1, second + 1))

    def per_second(self, second: int) -> float:
        """Return the mean over the last full seconds in which there was work."""
        recent = [count for each, count in self.buckets if second - SMOOTHED_SECONDS <= each < second]
        return sum(recent) / len(recent) if recent else 0.0


class ProblemLog:
    """Collect statistics from the hub's events. Safe to read from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._search: deque[float] = deque(maxlen=SAMPLES)
        self._keyword: deque[float] = deque(maxlen=SAMPLES)
        self._semantic: deque[float] = deque(maxlen=SAMPLES)
        self._problems: dict[tuple[str, str], Problem] = {}
        self._rate = Throughput()
        self.embedded = 0
        self.reused = 0

    def __call__(self, event: events.EngineEvent) -> None:
        with self._lock:
            if isinstance(event, events.SearchDone):
                self._search.append(event.latency_ms)
            elif isinstance(event, events.NoteIndexed):
                self.reused += event.embedded
                if event.found_after_ms is not None:
                    self._keyword.append(event.found_after_ms)
            elif isinstance(event, events.NoteEmbedded):
                self.reused += event.reused
                if event.found_after_ms is not None:
                    self._semantic.append(event.found_after_ms)
            elif isinstance(event, events.IngestBatch):
                self.embedded += event.chunks
                self._rate.add(event.chunks, int(time.monotonic()))
            elif isinstance(event, events.ProblemRaised):
                self._problems[event.reason, event.path] = Problem(
                    id=f"{event.reason}:{event.path}",
                    reason=event.reason,
                    message=event.message,
                    hint=event.hint,
                    path=event.path,
                    since=event.at,
                    retryable=True,
                )
            elif isinstance(event, events.ProblemCleared):
                self._problems.pop((event.reason, event.path), None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        with self._lock:
            return tuple(self._problems.values())

    def latencies(self) -> tuple[Latency, Latency, Latency]:
        """Return the latencies of searches, of saved notes until in keyword search, and until in semantic search."""
        with self._lock:
            return percentiles(self._search), percentiles(self._keyword), percentiles(self._semantic)

    def throughput(self) -> tuple[tuple[float, ...], float]:
        """Return the chunks embedded in each of the last sixty seconds, and the current rate per second."""
        second = int(time.monotonic())
        with self._lock:
            return self._rate.series(second), self._rate.per_second(second)
