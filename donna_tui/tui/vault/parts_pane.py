"""The base of the screens of parts, of which narrow terminals show one at a time. They share the flows of the vault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partialmethod
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal
from textual.getters import query_one
from textual.messages import Prune
from textual.timer import Timer
from textual.widget import Widget

from donna_tui.tui.lib.action import Action
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.inputs import Notice, NoticeText, error_notice
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import CursorView
from donna_tui.types.errors import DonnaError, Reason

if TYPE_CHECKING:
    from donna_tui.tui.vault.flows import VaultFlows

LOAD_DELAY = 0.03
"""Seconds that a row is selected before it is loaded, so that moving quickly through a list loads nothing."""

MAX_WAIT_SECONDS = 1.0
"""Seconds that a key waits for what its action needs to know."""

_LOOK_SECONDS = 0.005


async def wait_while(is_busy: Callable[[], object]) -> None:
    """Wait until a condition is false, for at most `MAX_WAIT_SECONDS`."""
    until = monotonic() + MAX_WAIT_SECONDS
    while is_busy() and monotonic() < until:
        await asyncio.sleep(_LOOK_SECONDS)


class PartsPane(Horizontal):
    """A screen of parts, each in a container with its name. The class `-on-<part>` marks the current one, which narrow
    terminals show alone; with `-empty` a notice is shown instead of the parts or of the list, and with `-zoomed` the
    current part is maximised.
    """

    parts: ClassVar[tuple[str, ...]]
    """The names of the parts. The first one is the initial part."""

    places: ClassVar[tuple[str, ...]] = ()
    """The places in the order of tab: the parts, and further widgets within them. Without any, tab goes through all
    widgets.
    """

    notice = query_one(Notice)

    vault_flows: VaultFlows | None = None
    """The flows that change notes, once the vault is open. All screens share them, and so the unsaved edits."""

    reload_delay: ClassVar[float] = 0.3
    """Seconds after an event until the list is read again, so that many events cause one read."""

    def __init__(self, name: str, programs: ExternalPrograms) -> None:
        super().__init__(id=name, classes=f"-on-{self.parts[0]} -empty")
        self._programs = programs
        self._backend: Backend | None = None
        self._no_undo = self._no_redo = ""
        self._steps_error: DonnaError | None = None
        self._timer: Timer | None = None
        self._is_stale = True

    async def on_prune(self, event: Prune) -> None:
        """Cancel the workers: Textual removes the widgets that they use first."""
        self.workers.cancel_node(self)

    @property
    def backend(self) -> Backend:
        """Return the backend, for what is only possible once the vault is open."""
        assert self._backend is not None
        return self._backend

    @property
    def flows(self) -> VaultFlows:
        """Return the flows, for actions that are only possible once the vault is open."""
        assert self.vault_flows is not None
        return self.vault_flows

    def connect(self, backend: Backend) -> None:
        """Connect to the backend; what is listed is read once the screen is shown."""
        self._backend = backend
        self.reload()

    def cannot_open(self, error: DonnaError) -> None:
        self._show_notice(error_notice(error))

    def on_cursor_view_opened(self, event: CursorView.Opened) -> None:
        """Open the row on a double click, as Enter does."""
        event.stop()
        self.call_later(self.app.run_action, f"run('{self.id}.open')", self.screen)

    @property
    def loading_words(self) -> str:
        """Return the notice that the list is still being loaded; empty once it is there."""
        return self.notice.words.title if self.has_class("-empty") and self.notice.words.is_loading else ""

    async def wait_until_loaded(self) -> None:
        """Wait a moment until the list is there, for a key that is pressed right after the screen is shown."""
        await wait_while(lambda: self._backend is not None and self.loading_words)

    async def update_needs(self, action: Action) -> None:
        """Update what an action needs, so that a key right after a change is not refused by the state before."""
        needs = action.needs.split()
        is_refused = (self._no_undo and "no_undo" in needs) or (self._no_redo and "no_redo" in needs)
        if is_refused and self._backend is not None:
            with suppress(TimeoutError):  # while git works, the key is refused
                await asyncio.wait_for(self._read_steps(self._backend), MAX_WAIT_SECONDS)

    async def _read_steps(self, backend: Backend) -> None:
        """Read why there is nothing to undo and to redo; empty if there is something, or if that is unknown."""
        own = f"There is nothing to undo. {shown_key('vault.undo')} undoes changes made with Donna."
        nothing = (own, "There is nothing to redo.")
        try:
            undoable, redoable = await backend.notes.undoable(), await backend.notes.redoable()
        except DonnaError as error:
            self._steps_error = error
            self._no_undo, self._no_redo = nothing if self._lacks_repository else ("", "")
        else:
            self._steps_error = None
            self._no_undo, self._no_redo = "" if undoable else nothing[0], "" if redoable else nothing[1]

    @property
    def _lacks_repository(self) -> bool:
        return self._steps_error is not None and self._steps_error.reason is Reason.NO_REPOSITORY

    def action_view_zoom(self) -> None:
        self.toggle_class("-zoomed")

    def focus_first(self) -> None:
        self.show_part(self.parts[0])

    def show_part(self, place: str) -> None:
        """Focus a place, and show its part on narrow screens."""
        widget = self._part(place)
        self._set_part(self._area_of(widget) or place)
        self.screen.set_focus(widget)

    def on_descendant_focus(self) -> None:
        """Show the part with the focus on narrow screens."""
        if self.screen.focused is not None and (part := self._area_of(self.screen.focused)):
            self._set_part(part)

    def _area_of(self, widget: Widget) -> str:
        """Return the part that a widget belongs to; empty if it belongs to none."""
        return next((node.name for node in widget.ancestors_with_self if node.name in self.parts), None) or ""

    def on_show(self) -> None:
        if self._is_stale:
            self.reload()

    def reload(self) -> None:
        raise NotImplementedError

    def reload_soon(self) -> None:
        """Schedule a reload, once for several events."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.reload_delay, self._reload_all)

    def _reload_all(self) -> None:
        self.reload()

    def _is_at(self, part: str) -> bool:
        """Return whether a part is the current one, which is set before the focus follows."""
        return self.has_class(f"-on-{part}")

    def _set_part(self, part: str) -> None:
        for each in self.parts:
            self.set_class(each == part, f"-on-{each}")

    def _walk(self, by: int) -> None:
        """Show the next or previous place, even if it is not visible."""
        if not self.places:
            (self.screen.focus_next if by > 0 else self.screen.focus_previous)()
            return
        here = self.screen.focused
        place = next((candidate for candidate in self.places if self._part(candidate) is here), self.places[0])
        self.show_part(self.places[(self.places.index(place) + by) % len(self.places)])

    action_view_next = partialmethod(_walk, 1)
    action_view_previous = partialmethod(_walk, -1)

    def _part(self, place: str) -> Widget:
        raise NotImplementedError

    def _hide_notice(self, rows: Widget) -> None:
        """Show the parts again; `rows` gets the focus if the notice had it."""
        had_focus = self.screen.focused is self.notice
        self.remove_class("-empty")
        if had_focus:
            rows.focus()

    def _set_notice(self, words: NoticeText, *, takes_focus: bool) -> None:
        self.notice.set_text(words)
        self.add_class("-empty")
        if takes_focus:
            self.notice.focus()

    def _show_notice(self, words: NoticeText) -> None:
        """Show a notice, and set `-empty`."""
        raise NotImplementedError
