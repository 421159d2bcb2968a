"""The problem log: percentiles, throughput, and the current problems."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from donna_tui.ingest.problem_log import RATE_WINDOW_SECONDS, SAMPLES, ProblemLog, Throughput, percentiles
from donna_tui.types.errors import Reason
from donna_tui.types.events import (
    IngestBatch,
    NoteEmbedded,
    NoteIndexed,
    ProblemCleared,
    ProblemRaised,
    SearchDone,
    StageTimes,
)
from donna_tui.types.status import Latency


def searched(ms: float) -> SearchDone:
    return SearchDone(mode="hybrid", k=8, hits=1, latency_ms=ms)


def indexed(embedded: int, found_after_ms: float | None = None) -> NoteIndexed:
    return NoteIndexed(
        path="a.md", why="new", chunks=3, embedded=embedded, stages=StageTimes(), found_after_ms=found_after_ms
    )


def test_latency_percentiles_are_computed() -> None:
    assert percentiles([]) == Latency()
    assert percentiles([7.0]) == Latency(p50=7.0, p95=7.0, samples=1)
    assert percentiles(float(each) for each in range(101)) == Latency(p50=50.0, p95=95.0, samples=101)


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_are_samples_in_order(samples: list[float]) -> None:
    found = percentiles(samples)
    assert found.p50 in samples
    assert found.p95 in samples
    assert min(samples) <= found.p50 <= found.p95 <= max(samples)


def test_latencies_are_kept_apart_and_bounded() -> None:
    log = ProblemLog()
    for number in range(SAMPLES + 50):
        log(searched(float(number)))
    log(indexed(0, 40.0))
    log(indexed(0))
    log(NoteEmbedded(path="a.md", computed=1, reused=0, latency_ms=1.0, found_after_ms=90.0))
    search, keyword, meaning = log.latencies()
    assert search.samples == SAMPLES
    assert search.p50 is not None
    assert search.p50 > 150
    assert (keyword, meaning) == (Latency(p50=40.0, p95=40.0, samples=1), Latency(p50=90.0, p95=90.0, samples=1))


def test_embedded_and_reused_are_counted() -> None:
    log = ProblemLog()
    log(IngestBatch(notes=1, chunks=5, latency_ms=1.0))
    log(indexed(2))
    log(NoteEmbedded(path="a.md", computed=5, reused=3, latency_ms=1.0))
    assert (log.embedded, log.reused) == (5, 5)


def test_a_problem_stays_until_it_is_cleared() -> None:
    log = ProblemLog()
    log(ProblemRaised(reason=Reason.DISK_FULL, message="full"))
    log(ProblemRaised(reason=Reason.DISK_FULL, message="still full", hint="free some"))
    log(ProblemRaised(reason=Reason.UNREADABLE, message="no", path="a.md"))
    assert [(each.reason, each.path, each.message) for each in log.problems] == [
        (Reason.DISK_FULL, "", "still full"),
        (Reason.UNREADABLE, "a.md", "no"),
    ]
    assert len({each.id for each in log.problems}) == 2
    log(ProblemCleared(reason=Reason.UNREADABLE, path="b.md"))
    log(ProblemCleared(reason=Reason.DISK_FULL))
    assert [each.path for each in log.problems] == ["a.md"]


def test_the_rate_is_counted_by_the_second() -> None:
    rate = Throughput()
    for second, count in ((100, 3), (100, 4), (102, 5)):
        rate.add(count, second)
    series = rate.series(103)
    assert len(series) == RATE_WINDOW_SECONDS
    assert series[-4:] == (7.0, 0.0, 5.0, 0.0)
    assert rate.per_second(103) == 6.0


def test_rate_excludes_the_current_second() -> None:
    rate = Throughput()
    rate.add(10, 100)
    assert rate.per_second(100) == 0.0
    assert rate.per_second(101) == 10.0


def test_rate_excludes_work_outside_its_window() -> None:
    rate = Throughput()
    rate.add(10, 100)
    assert rate.per_second(200) == 0.0
    assert set(rate.series(200)) == {0.0}
    for second in range(100, 300):
        rate.add(1, second)
    assert rate.series(299) == (1.0,) * RATE_WINDOW_SECONDS
