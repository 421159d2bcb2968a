"""The monitor: one `Status` from what was counted and what was heard, and no more counting than needed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from donna_tui.engine import status_reporter as monitor_module
from donna_tui.engine.status_reporter import Measurement, StatusReporter, file_bytes
from donna_tui.types.errors import Reason
from donna_tui.types.events import (
    EngineEvent,
    EngineStateChanged,
    EventHub,
    IndexProgress,
    IngestBatch,
    ModelPhase,
    ModelStateChanged,
    NoteDeleted,
    ProblemRaised,
    SearchDone,
    WatcherStateChanged,
)
from donna_tui.types.status import Coverage, Problem, Status


class Bench:
    """A monitor over an index that a test makes up."""

    def __init__(self) -> None:
        self.hub, self.counted = EventHub(), 0
        self.coverage = Coverage(notes=4, text=4, vectors=2, chunks=8, chunks_embedded=6)
        self.problems: tuple[Problem, ...] = ()
        self.queued = 0
        self.monitor = StatusReporter(self.hub, self.measure)
        self.events: list[EngineEvent] = []
        self.hub.subscribe(self.events.append)

    async def measure(self) -> Measurement:
        self.counted += 1
        return Measurement(self.coverage, self.problems, self.queued, 5.0, "sqlite-vec")

    def status(self, folder: Path) -> Status:
        return self.monitor.status(
            space="Notes", root=folder, database=folder / "index.db", owner="me", log_file=folder / "donna.log"
        )

    @property
    def progress(self) -> list[IndexProgress]:
        return [event for event in self.events if isinstance(event, IndexProgress)]


async def test_a_status_holds_what_was_heard_and_counted(tmp_path: Path) -> None:
    bench = Bench()
    bench.problems = (Problem(id="x", reason=Reason.TOO_LARGE, message="big", path="b.md"),)
    bench.hub.post(EngineStateChanged(state="paused", detail="the vault is gone"))
    bench.hub.post(ModelStateChanged(phase=ModelPhase.READY, model="m@1"))
    bench.hub.post(WatcherStateChanged(mode="polling", detail="no events"))
    bench.hub.post(ProblemRaised(reason=Reason.DISK_FULL, message="full"))
    bench.hub.post(SearchDone(mode="hybrid", k=8, hits=1, latency_ms=12.0))
    await bench.monitor.refresh()
    status = bench.status(tmp_path)
    assert (status.state, status.state_detail) == ("paused", "the vault is gone")
    assert (status.model_phase, status.model) == (ModelPhase.READY, "m@1")
    assert (status.watcher, status.watcher_detail) == ("polling", "no events")
    assert [problem.message for problem in status.problems] == ["full", "big"]
    assert status.coverage == bench.coverage
    assert (status.vector_engine, status.last_reconcile) == ("sqlite-vec", 5.0)
    assert status.search_latency.p50 == 12.0
    bench.monitor.close()


async def test_before_anything_is_known_there_is_a_status(tmp_path: Path) -> None:
    status = Bench().status(tmp_path)
    assert (status.state, status.watcher, status.coverage) == ("starting", "off", Coverage())
    assert status.database_bytes == 0


async def test_counting_again_only_when_something_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor_module, "INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(monitor_module, "LEAST_REST", 0)
    bench = Bench()
    task = asyncio.create_task(bench.monitor.run())
    await settle()
    assert bench.counted == 1
    for number in range(50):
        bench.hub.post(NoteDeleted(path=f"{number}.md"))
    await settle()
    assert 2 <= bench.counted <= 3
    counted = bench.counted
    bench.hub.post(SearchDone(mode="hybrid", k=8, hits=1, latency_ms=12.0))
    await settle()
    assert bench.counted == counted
    assert len(bench.progress) == bench.counted
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_once_closed_nothing_is_heard(tmp_path: Path) -> None:
    bench = Bench()
    bench.monitor.close()
    bench.hub.post(EngineStateChanged(state="failed"))
    bench.hub.post(ProblemRaised(reason=Reason.DISK_FULL, message="full"))
    status = bench.status(tmp_path)
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
    bench = Bench()
    bench.coverage = Coverage(notes=4, text=4, chunks=8, chunks_embedded=embedded)
    monkeypatch.setattr(bench.monitor.problem_log, "throughput", lambda: ((), 10.0))
    bench.hub.post(ModelStateChanged(phase=phase))
    await bench.monitor.refresh()
    assert bench.progress[-1].seconds_left == expected


async def test_notes_that_wait_count_as_many_chunks_as_others_have(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    bench.queued = 10
    monkeypatch.setattr(bench.monitor.problem_log, "throughput", lambda: ((), 11.0))
    await bench.monitor.refresh()
    assert bench.progress[-1].seconds_left == (2 + 10 * 2) / 11.0


async def test_without_a_rate_nobody_guesses() -> None:
    bench = Bench()
    bench.hub.post(IngestBatch(notes=0, chunks=0, latency_ms=1.0))
    await bench.monitor.refresh()
    assert bench.progress[-1].seconds_left is None


def test_a_database_counts_with_its_journal(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"12345")
    (tmp_path / "index.db-wal").write_bytes(b"123")
    assert file_bytes(tmp_path / "index.db") == 8
    assert file_bytes(tmp_path / "none.db") == 0
