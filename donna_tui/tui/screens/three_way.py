"""Why something cannot be taken back: a note was changed since. Its three versions, and what can be done."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.tui.bindings import action_binding
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.refusals import Refusal
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.key_line import KeyLine
from donna_tui.tui.widgets.three_way_view import ThreeWayView
from donna_tui.vault.changes import Clash


class ThreeWayScreen(Dialogue[bool]):
    """Shows the clashes; `leads` say what was to be taken back.

    It answers True if the versions shall be merged, which is offered with `can_merge`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [action_binding("conflict.merge", "merge")]

    def __init__(
        self, refusal: Refusal, leads: tuple[str, ...], clashes: tuple[Clash, ...], keys: Keys, *, can_merge: bool
    ) -> None:
        super().__init__(keys)
        self._refusal = refusal
        self._leads = leads
        self._clashes = clashes
        self._can_merge = can_merge

    def compose(self) -> ComposeResult:
        with Vertical(classes="plan-box") as box:
            box.border_title = Content("Not taken back: changed since")
            yield Static(Content("\n").join(map(Content, self._leads)), classes="plan-lead")
            yield Static(Content(self._refusal.what), id="plan-count")
            yield ThreeWayView(self._clashes, id="plan-diff")
            yield Static(Content(self._step()), classes="plan-remarks")
            merge = [("conflict.merge", "take back what does not touch")] if self._can_merge else []
            yield KeyLine(self._keys, *merge, ("esc", "leave it as it is"))

    def on_mount(self) -> None:
        self.query_one(ThreeWayView).focus()

    def action_merge(self) -> None:
        """Take back what the later edits do not touch."""
        if self._can_merge:
            self.dismiss(True)
        else:
            self.notify("The later edits touch the same lines; edit the note yourself.", timeout=4, markup=False)

    def _step(self) -> str:
        if self._can_merge:
            return "The later edits touch other lines: the old ones can come back beside them, as a change of its own."
        return self._refusal.step
