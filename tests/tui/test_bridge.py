"""The bridge from the engine to the screens loses no event, floods no screen, and accepts events from any thread."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest
from textual.message import Message

from donna_tui.tui.bridge import FLUSH_SECONDS, KEPT_EVENTS, MAX_UNREAD, EngineBridge
from donna_tui.tui.lib.messages import EngineEvents, StatusChanged
from donna_tui.tui.shell.main import MainScreen
from donna_tui.types.events import IndexProgress, NoteDeleted, SearchDone
from donna_tui.types.status import Status
from tests.tui import scenarios
from tests.tui.driving import driving
from tests.tui.fake_backend import FakeBackend


class Pane:
    """Records the messages that it gets."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.message_queue_size = 0

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    @property
    def paths(self) -> list[str]:
        batches = [message for message in self.messages if isinstance(message, EngineEvents)]
        return [event.path for batch in batches for event in batch.events if isinstance(event, NoteDeleted)]


def progress(done: int) -> IndexProgress:
    return IndexProgress(notes=9, text_done=done, chunks=0, chunks_embedded=0, seconds_left=None)


def bridged() -> tuple[FakeBackend, Pane, EngineBridge]:
    """Return a backend and a pane with an open bridge between them."""
    backend, pane = scenarios.normal(), Pane()
    return backend, pane, EngineBridge(backend, (pane,))  # type: ignore[arg-type]


async def flushed() -> None:
    await asyncio.sleep(FLUSH_SECONDS * 2)


async def test_a_thousand_events_from_a_thread_are_one_batch_and_one_status_per_pane() -> None:
    backend, first, second = scenarios.normal(), Pane(), Pane()
    EngineBridge(backend, (first, second))  # type: ignore[arg-type]

    def flood() -> None:
        for number in range(1_000):
            backend.post(NoteDeleted(path=f"{number}.md"))

    thread = threading.Thread(target=flood)
    thread.start()
    await asyncio.to_thread(thread.join)
    await flushed()
    for pane in (first, second):
        assert pane.paths == [f"{number}.md" for number in range(1_000)]
        assert len(pane.messages) <= 6


async def test_bridge_counts_events_dropped_above_its_limit() -> None:
    backend, pane, _ = bridged()
    backend.post(*(NoteDeleted(path=f"{number}.md") for number in range(KEPT_EVENTS + 7)))
    await flushed()
    (batch,) = [message for message in pane.messages if isinstance(message, EngineEvents)]
    assert batch.dropped == 7
    assert len(batch.events) == KEPT_EVENTS
    assert pane.paths[-1] == f"{KEPT_EVENTS + 6}.md"


async def test_progress_is_the_status_at_the_time_of_forwarding() -> None:
    backend, pane, _ = bridged()
    backend.post(progress(1), progress(2))
    backend.change(queued=42)
    await flushed()
    (message,) = pane.messages
    assert isinstance(message, StatusChanged)
    assert message.status.queued == 42


async def test_bridge_sends_nothing_without_events_or_after_closing() -> None:
    backend, pane, bridge = bridged()
    await flushed()
    assert pane.messages == []
    backend.post(NoteDeleted(path="a.md"))
    bridge.close()
    await flushed()
    assert pane.messages == []
    assert backend.listeners == []


async def test_the_screen_shows_a_status_once_although_each_pane_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[Status]()
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.rest()
        monkeypatch.setattr(MainScreen, "on_status_changed", lambda _, event: shown.append(event.status))
        backend.current = replace(backend.current, queued=7)
        backend.post(NoteDeleted(path="gone.md"))
        await donna.rest()
        assert [status.queued for status in shown] == [7]


def test_only_a_newer_status_replaces_a_status() -> None:
    status = StatusChanged(scenarios.AT_REST)
    assert status.can_replace(StatusChanged(replace(scenarios.AT_REST, queued=1)))
    assert not status.can_replace(EngineEvents(()))


async def test_the_newest_events_are_kept_for_panes_that_are_not_mounted() -> None:
    backend, pane = scenarios.normal(), Pane()
    bridge = EngineBridge(backend, ())
    for number in range(KEPT_EVENTS + 5):
        backend.post(NoteDeleted(path=f"{number}.md"))
    await flushed()
    bridge.serve((pane,))  # type: ignore[arg-type]
    assert pane.paths == [f"{number}.md" for number in range(5, KEPT_EVENTS + 5)]
    assert [each.dropped for each in pane.messages if isinstance(each, EngineEvents)] == [5]
    backend.post(NoteDeleted(path="later.md"))
    await flushed()
    assert pane.paths[-1] == "later.md"


async def test_a_pane_that_does_not_read_is_left_alone() -> None:
    backend, pane, _ = bridged()
    pane.message_queue_size = MAX_UNREAD + 1
    backend.post(NoteDeleted(path="one.md"))
    await flushed()
    assert pane.messages == []
    pane.message_queue_size = 0
    await flushed()
    assert pane.paths == ["one.md"]


async def test_the_first_event_after_a_while_is_passed_on_at_once_and_the_next_ones_together() -> None:
    backend, pane, _ = bridged()
    delays: list[float] = []
    loop = asyncio.get_running_loop()
    backend.post(NoteDeleted(path="first.md"))
    await asyncio.sleep(0)
    while not pane.messages:
        delays.append(loop.time())
        await asyncio.sleep(0)
    assert len(delays) < 10, "the event was delayed"
    for name in ("second.md", "third.md"):
        backend.post(NoteDeleted(path=name))
    for _ in range(10):
        await asyncio.sleep(0)
    assert pane.paths == ["first.md"]
    await flushed()
    assert pane.paths == ["first.md", "second.md", "third.md"]
    assert len([each for each in pane.messages if isinstance(each, EngineEvents)]) == 2


async def turns() -> None:
    """Run as many iterations of the event loop as an urgent event takes to be forwarded."""
    for _ in range(4):
        await asyncio.sleep(0)


def search_done() -> SearchDone:
    return SearchDone(mode="hybrid", k=25, hits=3, latency_ms=12.0, sources="")


async def test_search_done_event_is_delayed_until_results_are_drawn() -> None:
    backend, pane, _ = bridged()
    backend.post(search_done())
    await turns()
    assert pane.messages == []
    await flushed()
    assert [type(message) for message in pane.messages] == [EngineEvents, StatusChanged]


async def test_other_events_are_not_delayed_by_a_search_done_event() -> None:
    backend, pane, _ = bridged()
    backend.post(search_done())
    backend.post(NoteDeleted(path="a.md"))
    await turns()
    assert pane.paths == ["a.md"]
    await flushed()
    assert len(pane.messages) == 2
