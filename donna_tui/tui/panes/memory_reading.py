"""How the list of the Memory screen is read: once somebody looks, a page at a time, again when something happened."""

from __future__ import annotations

import time

from textual import work
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widgets import Static

from donna_tui.errors import DonnaError
from donna_tui.tui.backend import Backend
from donna_tui.tui.keysheet import Keys, shown_key
from donna_tui.tui.messages import ActionsChanged
from donna_tui.tui.outside import Outside
from donna_tui.tui.panes.memory_acts import MemoryActs
from donna_tui.tui.panes.memory_state import (
    NOTHING_YET,
    Narrowing,
    cannot_look,
    list_head,
    nothing_left,
    suggestion_line,
)
from donna_tui.tui.widgets.memory_list import PAGE, MemoryList
from donna_tui.tui.widgets.notice import Notice, Words
from donna_tui.tui.widgets.telling import tell

LOOK_AGAIN = 0.4
"""Seconds after an event until the list is read again, so that a flood of events costs one look."""

FILL = 0.03
"""Seconds until rows that came into sight are read, so that running through the list reads only where it stops."""


class MemoryReading(MemoryActs):
    """Base of the Memory screen, between its actions and its layout."""

    notice = query_one("#memory-notice", Notice)

    def __init__(self, outside: Outside, keys: Keys) -> None:
        super().__init__(outside, keys)
        self._narrowing = Narrowing()
        self._is_stale = True
        self._timer: Timer | None = None
        self._filling: Timer | None = None

    def on_show(self) -> None:
        """Nobody waits for the list while another screen is shown: it is read now."""
        if self._is_stale:
            self.look()

    def on_memory_list_wanted(self, event: MemoryList.Wanted) -> None:
        """Rows came into sight that are not there: read them in a moment."""
        event.stop()
        if self._filling is None:
            self._filling = self.set_timer(FILL, self._fill)

    def look(self) -> None:
        """Read the list again; out of sight, once it comes into sight."""
        self._is_stale = not self.display
        if self._backend is not None and not self._is_stale:
            self._look(self._backend)

    def look_soon(self) -> None:
        """The same in a moment, once for all that happens meanwhile; what was recalled too."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(LOOK_AGAIN, self._look_again)

    def _look_again(self) -> None:
        self.look()
        self.recall.ask_again()

    @work(group="look", exclusive=True)
    async def _look(self, backend: Backend) -> None:
        wanted = self._narrowing.wanted(time.time())
        pages = self.rows.pages_in_sight
        try:
            desk = backend.memory
            self.recall.connect(desk)
            total = await desk.count(wanted)
            found = {page: await desk.memories(wanted, limit=PAGE, skip=page * PAGE) for page in pages}
            self._suggestions = await desk.suggestions()
            gone = {each.id for each in self._kept.values() if await desk.memory(each.id) is None}
        except DonnaError as error:
            self._say(cannot_look(error))
            return
        kept = {place: each for place, each in self._kept.items() if each.id in gone}
        self._tell(total, bool(kept))
        self._tell_suggestions()
        self.rows.show(total, found, kept)
        self._follow()

    def _fill(self) -> None:
        self._filling = None
        if self._backend is not None and self.rows.missing:
            self._read_missing(self._backend)

    @work(group="fill", exclusive=True)
    async def _read_missing(self, backend: Backend) -> None:
        wanted = self._narrowing.wanted(time.time())
        for page in self.rows.missing:
            try:
                found = await backend.memory.memories(wanted, limit=PAGE, skip=page * PAGE)
            except DonnaError as error:
                self._say(cannot_look(error))
                return
            self.rows.fill(page, found)

    def _narrow(self, narrowing: Narrowing) -> None:
        """List something else, from its beginning."""
        if narrowing != self._narrowing:
            self._narrowing = narrowing
            self._kept = {}
            self.rows.select(0)
            self.look()

    def _tell(self, total: int, keeps: bool) -> None:
        """Say how much is listed, or why nothing is."""
        if not total and not keeps and not self._narrowing.is_narrow:
            self._say(NOTHING_YET)
            return
        was_said = self.notice.has_focus
        self.remove_class("-empty")
        if was_said:
            self.rows.focus()
        key = shown_key(self._keys["memory.all"], typing=False)
        self.rows.empty_text = nothing_left(self._narrowing, key)
        self._tell_head(list_head(self._narrowing, total))

    def _tell_suggestions(self) -> None:
        """Offer what was stated in chats, in one line."""
        offer = self.query_one("#memory-suggestion", Static)
        key = shown_key(self._keys["memory.suggestions"], typing=False)
        tell(offer, suggestion_line(self._suggestions, key))
        offer.display = bool(self._suggestions)

    def _tell_head(self, words: str) -> None:
        style = "$text-accent" if self._narrowing.is_narrow else "$text-disabled"
        self.query_one("#memory-head", Static).update(Content.styled(words, style))

    def _say(self, words: Words) -> None:
        """Show words instead of the list."""
        had_focus = self.rows.has_focus
        self.notice.say(words)
        self.add_class("-empty")
        self._tell_head("")
        if had_focus:
            self.notice.focus()
        self._follow()

    def _follow(self) -> None:
        """Let the card show what is selected."""
        self.card.show(self.selected, shown_key(self._keys["memory.pin"], typing=False))
        self.post_message(ActionsChanged())
