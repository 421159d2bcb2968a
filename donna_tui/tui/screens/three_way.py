"""Why something cannot be taken back: a note was changed since. Its three versions, and what can be done."""

from __future__ import annotations

from enum import StrEnum
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


class Way(StrEnum):
    """What becomes of a note that was changed since."""

    MERGE = "merge"
    RESTORE = "restore"
    BOTH = "both"


class ThreeWayScreen(Dialogue[Way]):
    """Shows the clashes; `leads` say what was to be undone. `can_merge` and `can_settle` say what is offered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding("conflict.merge", "merge"),
        action_binding("conflict.mine", "settle('restore')"),
        action_binding("conflict.both", "settle('both')"),
        action_binding("conflict.reload", "leave"),
    ]

    def __init__(
        self,
        refusal: Refusal,
        leads: tuple[str, ...],
        clashes: tuple[Clash, ...],
        keys: Keys,
        *,
        can_merge: bool,
        can_settle: bool,
    ) -> None:
        super().__init__(keys)
        self._refusal = refusal
        self._leads = leads
        self._clashes = clashes
        self._can_merge = can_merge
        self._can_settle = can_settle

    def compose(self) -> ComposeResult:
        with Vertical(classes="plan-box") as box:
            box.border_title = Content("Not taken back: changed since")
            yield Static(Content("\n").join(map(Content, self._leads)), classes="plan-lead")
            yield Static(Content(self._refusal.what), id="plan-count")
            yield ThreeWayView(self._clashes, id="plan-diff")
            yield Static(Content(self._step()), classes="plan-remarks")
            merge = [("conflict.merge", "undo what does not touch")] if self._can_merge else []
            settle = [("conflict.mine", "overwrite"), ("conflict.both", "edit both")] if self._can_settle else []
            yield KeyLine(self._keys, *merge, *settle, ("esc", "leave it as it is"))

    def on_mount(self) -> None:
        self.query_one(ThreeWayView).focus()

    def action_merge(self) -> None:
        """Take back what the later edits do not touch."""
        if self._can_merge:
            self.dismiss(Way.MERGE)
        else:
            self.notify("The later edits touch the same lines.", timeout=4, markup=False)

    def action_settle(self, way: str) -> None:
        """Restore the old version, or edit both."""
        if self._can_settle:
            self.dismiss(Way(way))
        else:
            self.notify("Several notes were changed since; undo them one by one.", timeout=4, markup=False)

    def _step(self) -> str:
        if self._can_merge:
            return "The later edits touch other lines: the old ones can come back beside them, as a change of its own."
        return self._refusal.step
