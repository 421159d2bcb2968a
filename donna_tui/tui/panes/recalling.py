"""Recalls the newest question within the newest budget, and lets only the answer to that through."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from time import monotonic

from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker

from donna_tui.errors import DonnaError
from donna_tui.memories import RecallResult
from donna_tui.tui.backend import MemoryBackend

GAP = 0.12
"""Seconds between two recalls while somebody types or moves the slider: a recall counts tokens beside searching."""


class Recalling:
    """Owns question and budget. Timers and workers belong to `owner`, so that they end with it.

    A recall is always one for a model elsewhere: nothing that must stay on this machine is even looked at.
    """

    def __init__(
        self, owner: Widget, answered: Callable[[RecallResult], None], failed: Callable[[DonnaError], None]
    ) -> None:
        self.query = ""
        self.budget = 0
        self._owner = owner
        self._answered = answered
        self._failed = failed
        self._desk: MemoryBackend | None = None
        self._number = 0
        self._last_asked = -GAP
        self._timer: Timer | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to ask."""
        return not self.query.strip()

    def connect(self, desk: MemoryBackend) -> None:
        """Ask this desk from now on, first of all what was typed meanwhile."""
        self._desk = desk
        self.ask()

    def typed(self, query: str) -> None:
        """The question has changed."""
        self.query = query
        self._ask_soon()

    def within(self, budget: int) -> None:
        """The budget has changed."""
        self.budget = budget
        self._ask_soon()

    def ask(self) -> None:
        """Ask now. An empty question only takes back the one before."""
        self._number += 1
        self._last_asked = monotonic()
        if self.is_empty:
            self._owner.workers.cancel_group(self._owner, "recall")
        elif self._desk is not None:
            self._run(partial(self._recall, self._desk, self._number))

    def _ask_soon(self) -> None:
        """Older answers are not let through from now on."""
        self._number += 1
        wait = self._last_asked + GAP - monotonic()
        if wait <= 0 or self.is_empty:
            self.ask()
        elif self._timer is None:
            self._timer = self._owner.set_timer(wait, self._ask_what_is_there)

    def _ask_what_is_there(self) -> None:
        self._timer = None
        self.ask()

    def _run(self, work: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
        return self._owner.run_worker(work, group="recall", exclusive=True)

    async def _recall(self, desk: MemoryBackend, number: int) -> None:
        try:
            result = await desk.recall(self.query, token_budget=self.budget, remote=True)
        except DonnaError as error:
            if number == self._number:
                self._failed(error)
            return
        if number == self._number:
            self._answered(result)
