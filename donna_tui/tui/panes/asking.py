"""Asks the engine the newest question, and lets only the answer to the newest question through."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic

from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker, WorkerError

from donna_tui.errors import DonnaError
from donna_tui.results import SearchOutcome
from donna_tui.tui.backend import Backend
from donna_tui.tui.panes.search_state import PAGE, Question

TYPING_GAP = 0.05
"""Seconds between two searches while somebody types: shorter than the gap between two keys of most people, so that
most keys are answered at once, and a burst of keys costs few searches."""

REFRESH_PAUSE = 1.0
"""Seconds between two searches that only follow changes of the index."""


class Asking:
    """Owns the question. `answered` gets an outcome, and whether somebody asked for it just now; `failed` an error.

    Timers and workers belong to `owner`, so that they end with it.
    """

    def __init__(
        self,
        owner: Widget,
        answered: Callable[[SearchOutcome, bool], None],
        failed: Callable[[DonnaError], None],
    ) -> None:
        self.question = Question()
        self._owner = owner
        self._answered = answered
        self._failed = failed
        self._backend: Backend | None = None
        self._number = 0
        self._last_asked = -TYPING_GAP
        self._typing: Timer | None = None
        self._refreshing: Timer | None = None
        self._searching: Worker[None] | None = None

    def connect(self, backend: Backend) -> None:
        """Ask this backend from now on, first of all what was typed meanwhile."""
        self._backend = backend
        self.ask(self.question)

    def typed(self, text: str) -> None:
        """The text has changed: from now on older answers are not let through."""
        self._number += 1
        self.question = replace(self.question, text=text, like=None, most=PAGE)
        wait = self._last_asked + TYPING_GAP - monotonic()
        if wait <= 0:
            self.ask(self.question)
        elif self._typing is None:
            self._typing = self._owner.set_timer(wait, self._ask_what_is_typed)

    def ask(self, question: Question) -> None:
        """Ask now. An empty question only takes back the one before."""
        self._number += 1
        self._last_asked = monotonic()
        self.question = question
        if question.is_empty:
            self._owner.workers.cancel_group(self._owner, "search")
        elif self._backend is not None:
            self._searching = self._run(partial(self._search, self._backend, self._number), "search")

    async def settled(self) -> None:
        """Wait until no question is under way."""
        while self._searching is not None and not self._searching.is_finished:
            with suppress(WorkerError):
                await self._searching.wait()

    def _ask_what_is_typed(self) -> None:
        self._typing = None
        self.ask(self.question)

    def look_again_soon(self) -> None:
        """Ask the same question once more before long, because the index has changed."""
        if self._refreshing is None:
            self._refreshing = self._owner.set_timer(REFRESH_PAUSE, self._look_again)

    def _look_again(self) -> None:
        self._refreshing = None
        if self._backend is not None and not self.question.is_empty:
            self._run(partial(self._refresh, self._backend, self._number), "refresh")

    def _run(self, work: Callable[[], Coroutine[None, None, None]], group: str) -> Worker[None]:
        return self._owner.run_worker(work, group=group, exclusive=True)

    async def _search(self, backend: Backend, number: int) -> None:
        try:
            outcome = await _answer(backend, self.question)
        except DonnaError as error:
            if number == self._number:
                self._failed(error)
            return
        if number == self._number:
            self._answered(outcome, True)

    async def _refresh(self, backend: Backend, number: int) -> None:
        try:
            outcome = await _answer(backend, self.question)
        except DonnaError:
            return  # nobody asked: the answer in sight still stands, and the next question says what is wrong
        if number == self._number:
            self._answered(outcome, False)


async def _answer(backend: Backend, question: Question) -> SearchOutcome:
    if question.like is not None:
        return await backend.more_like(question.like, question.request())
    return await backend.search(question.request())
