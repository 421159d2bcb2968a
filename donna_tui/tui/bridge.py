"""Forward engine events from any thread to the panes as messages, in batches that bound the size of their queues."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence

from textual.message_pump import MessagePump

from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.messages import EngineEvents, StatusChanged
from donna_tui.types.events import EngineEvent, IndexProgress, SearchDone

FLUSH_SECONDS = 0.1
KEPT_EVENTS = 2_000
MAX_UNREAD = 50
"""Maximum length of a pane's message queue. Above it, for example while another program has the terminal, events remain
in the bounded queue of the bridge.
"""


class EngineBridge:
    """Subscribe to one backend on behalf of some panes, on whose event loop it is created.

    A pane receives at most one `EngineEvents` and one `StatusChanged` per `FLUSH_SECONDS`. `IndexProgress` is not
    forwarded, because the status contains the same and more. Without events there is no activity. Without panes the
    newest `KEPT_EVENTS` are queued.
    """

    def __init__(self, backend: Backend, panes: Sequence[MessagePump]) -> None:
        self._backend = backend
        self._panes = panes
        self._lock = threading.Lock()
        self._waiting: deque[EngineEvent] = deque(maxlen=KEPT_EVENTS)
        self._dropped = 0
        self._due: float | None = None
        self._flushed_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        self._unsubscribe = backend.subscribe(self._receive)

    def serve(self, panes: Sequence[MessagePump]) -> None:
        self._panes = panes
        if self._waiting:
            self._flush()

    def close(self) -> None:
        """Unsubscribe; events that are not flushed yet are dropped."""
        if not self._is_closed:
            self._is_closed = True
            self._unsubscribe()

    def _receive(self, event: EngineEvent) -> None:
        with self._lock:
            if not isinstance(event, IndexProgress):
                self._dropped += len(self._waiting) == KEPT_EVENTS
                self._waiting.append(event)
            if self._is_closed or self._loop.is_closed():
                return
            # The first event after a pause is flushed immediately, because a question may be waiting for the model;
            # `SearchDone` is delayed until its results are drawn.
            due = (self._loop.time() if isinstance(event, SearchDone) else self._flushed_at) + FLUSH_SECONDS
            if self._due is not None and self._due <= due:
                return
            self._due = due
        self._loop.call_soon_threadsafe(self._loop.call_at, due, self._flush_if_due, due)

    def _flush_if_due(self, due: float | None) -> None:
        """Flush, unless a more urgent event has rescheduled the flush."""
        if due == self._due and not self._is_closed:
            self._flush()

    def _flush(self) -> None:
        if any(pane.message_queue_size > MAX_UNREAD for pane in self._panes):
            self._loop.call_later(FLUSH_SECONDS, self._flush_if_due, self._due)
            return
        with self._lock:
            self._due = None
            if not self._panes:
                return
            events, dropped = tuple(self._waiting), self._dropped
            self._waiting.clear()
            self._dropped = 0
        self._flushed_at = self._loop.time()
        status = self._backend.status()
        for pane in self._panes:
            if events:
                pane.post_message(EngineEvents(events, dropped))
            pane.post_message(StatusChanged(status))
