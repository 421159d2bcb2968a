"""From engine events, posted on any thread, to messages for the panes: in batches, so that no flood reaches a queue."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence

from textual.message_pump import MessagePump

from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.messages import EngineEvents, StatusChanged
from donna_tui.types.events import EngineEvent, IndexProgress, SearchDone

FLUSH_SECONDS = 0.1
KEPT_EVENTS = 2_000
MOST_UNREAD = 50
"""A pane with more messages than this does not get to them, as while another program has the terminal: what comes then
waits here, where there is an end to it."""


class EngineBridge:
    """Listens to one backend for a few panes.

    However many events come, a pane gets at most one `EngineEvents` and one `StatusChanged` per `FLUSH_SECONDS`.
    `IndexProgress` is not passed on: the status that follows it says the same and more. Without events nothing runs.
    Without panes the newest `KEPT_EVENTS` wait for some.
    """

    def __init__(self, backend: Backend, panes: Sequence[MessagePump]) -> None:
        self._backend = backend
        self._panes = panes
        self._lock = threading.Lock()
        self._waiting: deque[EngineEvent] = deque(maxlen=KEPT_EVENTS)
        self._dropped = 0
        self._due: float | None = None
        self._flushed_at = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unsubscribe: Callable[[], None] | None = None

    def open(self) -> None:
        """Begin to listen. Must be called on the event loop that the panes run on."""
        self._loop = asyncio.get_running_loop()
        self._unsubscribe = self._backend.subscribe(self._receive)

    def serve(self, panes: Sequence[MessagePump]) -> None:
        """Pass on to these panes from now on, first of all what has come meanwhile."""
        self._panes = panes
        if self._waiting:
            self._flush()

    def close(self) -> None:
        """Stop listening; what was not yet flushed is dropped."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._loop = None

    def _receive(self, event: EngineEvent) -> None:
        with self._lock:
            self._keep(event)
            loop = self._loop
            if loop is None or loop.is_closed():
                return
            due = self._due_for(event, loop.time())
            if self._due is not None and self._due <= due:
                return
            self._due = due
        loop.call_soon_threadsafe(loop.call_at, due, self._flush_if_due, due)

    def _due_for(self, event: EngineEvent, now: float) -> float:
        """The first event after a while is passed on at once: it may be the model that a question waits for. That a
        search is done can wait until its results are drawn.
        """
        return (now if isinstance(event, SearchDone) else self._flushed_at) + FLUSH_SECONDS

    def _flush_if_due(self, due: float | None) -> None:
        """Unless another event was more urgent than the one that this was planned for."""
        if due == self._due:
            self._flush()

    def _keep(self, event: EngineEvent) -> None:
        if isinstance(event, IndexProgress):
            return
        self._dropped += len(self._waiting) == KEPT_EVENTS
        self._waiting.append(event)

    def _flush(self) -> None:
        if not self._panes:
            self._due = None
        elif self._loop is not None and any(pane.message_queue_size > MOST_UNREAD for pane in self._panes):
            self._loop.call_later(FLUSH_SECONDS, self._flush_if_due, self._due)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            events, dropped = tuple(self._waiting), self._dropped
            self._waiting.clear()
            self._dropped = 0
            self._due = None
        if self._loop is None:
            return
        self._flushed_at = self._loop.time()
        status = self._backend.status()
        for pane in self._panes:
            if events:
                pane.post_message(EngineEvents(events, dropped))
            pane.post_message(StatusChanged(status))
