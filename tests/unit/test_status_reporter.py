"""The status reporter: one `Status` from counts and events, and no more counting than necessary."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from donna_tui.engine import status_reporter
from donna_tui.engine.status_reporter import Measurement, StatusReporter, file_bytes
from donna_tui.types.errors import Reason
from donna_tui.types.events import (
    EngineEvent,
    EngineStateChanged,
    EventHub,
    IndexProgress,
    IngestBatch,
    ModelStateChanged,
    NoteDeleted,
    ProblemRaised,
    SearchDone,
    WatcherStateChanged,
)
from donna_tui.types.status import Coverage, ModelPhase, Problem, Status


class Harness:
    """A reporter over a made-up index."""

    def __init__(self) -> None:
        self.hub, self.counted = EventHub(), 0
        self.coverage = Coverage(notes=4, text=4, vectors=2, chunks=8, chunks_embedded=6)
        self.problems: tuple[Problem, ...] = ()
        self.queued = 0
        self.reporter = StatusReporter(self.hub, self.measure)
        self.events: list[EngineEvent] = []
        self.hub.subscribe(self.events.append)

    async def measure(self) -> Measurement:
        self.counted += 1
        return Measurement(self.coverage, self.problems, self.queued, 5.0, "sqlite-vec")

    def status(self, folder: Path) -> Status:
        return self.reporter.status(
            space="Notes", root=folder, database=folder / "index.db", owner="me", log_file=folder / "donna.log"
        )

    @property
    def progress(self) -> list[IndexProgress]:
        return [event for event in self.events if isinstance(event, IndexProgress)]


async def test_a_status_contains_what_was_reported_and_counted(tmp_path: Path) -> None:
    harness = Harness()
    harness.problems = (Problem(id="x", reason=Reason.TOO_LARGE, message="big", path="b.md"),)
    harness.hub.post(EngineStateChanged(state="paused", detail="the vault is gone"))
    harness.hub.post(ModelStateChanged(phase=ModelPhase.READY, model="m@1"))
    harness.hub.post(WatcherStateChanged(mode="polling", detail="no events"))
    harness.hub.post(ProblemRaised(reason=Reason.DISK_FULL, message="full"))
    harness.hub.post(SearchDone(mode="hybrid", k=8, hits=1, latency_ms=12.0))
    await harness.reporter.refresh()
    status = harness.status(tmp_path)
    assert (status.state, status.state_detail) == ("paused", "the vault is gone")
    assert (status.model_phase, status.model) == (ModelPhase.READY, "m@1")
    assert status.watcher == "polling"
    assert [problem.message for problem in status.problems] == ["full", "big"]
    assert status.coverage == harness.coverage
    assert (status.vector_engine, status.last_reconcile) == ("sqlite-vec", 5.0)
    assert status.search_latency.p50 == 12.0
    harness.reporter.close()


async def test_before_anything_is_known_there_is_a_status(tmp_path: Path) -> None:
    status = Harness().status(tmp_path)
    assert (status.state, status.watcher, status.coverage) == ("starting", "off", Coverage())
    assert status.database_bytes == 0


async def test_status_is_recounted_only_after_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_reporter, "INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(status_reporter, "MIN_REST", 0)
    harness = Harness()
    task = asyncio.create_task(harness.reporter.run())
    await let_tasks_run()
    assert harness.counted == 1
    for number in range(50):
        harness.hub.post(NoteDeleted(path=f"{number}.md"))
    await let_tasks_run()
    assert 2 <= harness.counted <= 3
    counted = harness.counted
    harness.hub.post(SearchDone(mode="hybrid", k=8, hits=1, latency_ms=12.0))
    await let_tasks_run()
    assert harness.counted == counted
    assert len(harness.progress) == harness.counted
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def let_tasks_run() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_closed_status_reporter_ignores_events(tmp_path: Path) -> None:
    harness = Harness()
    harness.reporter.close()
    harness.hub.post(EngineStateChanged(state="failed"))
    harness.hub.post(ProblemRaised(reason=Reason.DISK_FULL, message="full"))
    status = harness.status(tmp_path)
    assert (status.state, status.problems) == ("starting", ())


@pytest.mark.parametrize(
    ("phase", "embedded", "expected"),
    [
        (ModelPhase.READY, 6, 0.2),
        (ModelPhase.READY, 8, None),
        (ModelPhase.MISSING, 6, None),
        (ModelPhase.FAILED, 6, None),
    ],
)
async def test_the_time_left_follows_from_the_present_rate(
    monkeypatch: pytest.MonkeyPatch, phase: ModelPhase, embedded: int, expected: float | None
) -> None:
    harness = Harness()
    harness.coverage = Coverage(notes=4, text=4, chunks=8, chunks_embedded=embedded)
    monkeypatch.setattr(harness.reporter.problem_log, "throughput", lambda: ((), 10.0))
    harness.hub.post(ModelStateChanged(phase=phase))
    await harness.reporter.refresh()
    assert harness.progress[-1].seconds_left == expected


async def test_notes_that_wait_count_as_many_chunks_as_others_have(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness()
    harness.queued = 10
    monkeypatch.setattr(harness.reporter.problem_log, "throughput", lambda: ((), 11.0))
    await harness.reporter.refresh()
    assert harness.progress[-1].seconds_left == (2 + 10 * 2) / 11.0


async def test_without_a_rate_there_is_no_estimate() -> None:
    harness = Harness()
    harness.hub.post(IngestBatch(notes=0, chunks=0, latency_ms=1.0))
    await harness.reporter.refresh()
    assert harness.progress[-1].seconds_left is None


def test_a_database_counts_with_its_journal(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"12345")
    (tmp_path / "index.db-wal").write_bytes(b"123")
    assert file_bytes(tmp_path / "index.db") == 8
    assert file_bytes(tmp_path / "none.db") == 0
