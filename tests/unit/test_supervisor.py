"""Background tasks: a failure is reported and the task restarts; stopping ends all tasks."""

from __future__ import annotations

import asyncio

import pytest

from donna_tui.platform import supervisor as supervisor_module
from donna_tui.platform.supervisor import Supervisor, after, set_within
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.events import EngineEvent, EventHub, ProblemCleared, ProblemRaised


class Harness:
    """A supervisor whose events are recorded."""

    def __init__(self) -> None:
        self.events: list[EngineEvent] = []
        hub = EventHub()
        hub.subscribe(self.events.append)
        self.supervisor = Supervisor(hub)

    @property
    def problems(self) -> list[ProblemRaised]:
        return [event for event in self.events if isinstance(event, ProblemRaised)]


async def test_finished_task_is_not_restarted() -> None:
    harness, done = Harness(), asyncio.Event()

    async def work() -> None:
        done.set()

    harness.supervisor.start("once", work)
    await asyncio.wait_for(done.wait(), 10)
    await harness.supervisor.stop()
    assert harness.problems == []


async def test_a_failure_is_reported_and_the_task_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_module, "FIRST_PAUSE_SECONDS", 0.0)
    harness, runs, done = Harness(), 0, asyncio.Event()

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise DatabaseError(Reason.DISK_FULL, "the disk is full", hint="free some space")
        if runs == 2:
            raise ValueError("secret text of a note")
        done.set()

    harness.supervisor.start("reading", work)
    await asyncio.wait_for(done.wait(), 10)
    await harness.supervisor.stop()
    known, unknown = harness.problems
    assert (known.reason, known.message, known.hint) == (Reason.DISK_FULL, "the disk is full", "free some space")
    assert unknown.reason is Reason.INTERNAL
    assert "reading" in unknown.message
    assert "ValueError" in unknown.message
    assert "secret" not in unknown.message


DOUBLED = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


@pytest.mark.parametrize(("recovered_after", "wanted"), [(5.0, DOUBLED), (0.0, [1.0] * 9)])
async def test_the_pause_doubles_up_to_a_minute_until_the_task_has_recovered(
    monkeypatch: pytest.MonkeyPatch, recovered_after: float, wanted: list[float]
) -> None:
    monkeypatch.setattr(supervisor_module, "RECOVERED_SECONDS", recovered_after)
    harness, pauses, enough = Harness(), list[float](), asyncio.Event()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            enough.set()
            await asyncio.Event().wait()

    async def work() -> None:
        raise RuntimeError

    real = asyncio.sleep
    monkeypatch.setattr(supervisor_module.asyncio, "sleep", sleep)
    harness.supervisor.start("failing", work)
    await asyncio.wait_for(enough.wait(), 10)
    monkeypatch.setattr(supervisor_module.asyncio, "sleep", real)
    await harness.supervisor.stop()
    assert pauses == wanted


async def test_stopping_waits_until_every_task_has_cleaned_up() -> None:
    harness, cleaned, started = Harness(), list[str](), asyncio.Event()

    async def work() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append("yes")

    harness.supervisor.start("forever", work)
    harness.supervisor.start("forever too", work)
    await started.wait()
    await asyncio.sleep(0)
    await harness.supervisor.stop()
    assert cleaned == ["yes", "yes"]
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("donna-")]
    await harness.supervisor.stop()


async def test_a_task_that_works_again_is_no_problem_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_module, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(supervisor_module, "RECOVERED_SECONDS", 0.05)
    harness, runs = Harness(), 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise DatabaseError(Reason.DISK_FULL, "the disk is full")
        assert harness.supervisor.failure
        await asyncio.Event().wait()

    harness.supervisor.start("reading", work)
    while harness.supervisor.failure or runs < 2:
        await asyncio.sleep(0.01)
    await harness.supervisor.stop()
    assert [event.reason for event in harness.events if isinstance(event, ProblemCleared)] == [Reason.DISK_FULL]


async def test_a_task_that_is_stopped_in_the_turn_in_which_its_event_is_set_ends() -> None:
    harness, asked, rounds = Harness(), asyncio.Event(), 0

    async def work() -> None:
        nonlocal rounds
        while True:
            await set_within(asked, 60)
            rounds += 1
            asked.clear()

    harness.supervisor.start("waiting", work)
    await asyncio.sleep(0.01)
    asked.set()
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await harness.supervisor.stop()
    assert rounds <= 1


async def test_waiting_for_an_event_ends_with_it_or_with_the_time() -> None:
    event = asyncio.Event()
    assert not await set_within(event, 0.01)
    event.set()
    assert await set_within(event, 60)
    assert await set_within(event, None)


async def test_task_started_after_an_event_waits_for_it() -> None:
    harness, first, said = Harness(), asyncio.Event(), list[str]()

    async def before() -> None:
        await first.wait()
        said.append("first")

    async def work() -> None:
        said.append("then")
        ended.set()

    ended = asyncio.Event()
    harness.supervisor.start("it", after(before, work))
    await asyncio.sleep(0.05)
    assert said == []
    first.set()
    assert await set_within(ended, 10.0)
    assert said == ["first", "then"]
    await harness.supervisor.stop()
