"""A conflict copy beside its note: how the two differ, and which one stays."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.bindings import bindings
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.diff_view import DiffView
from donna_tui.tui.widgets.key_line import KeyLine
from donna_tui.tui.widgets.three_way_rows import Titles
from donna_tui.tui.widgets.three_way_view import ThreeWayView
from donna_tui.vault.changes import Change, Clash
from donna_tui.vault.conflicts import Conflict, Keep

TITLES: Titles = ("In the history", "The note", "The conflict copy")


class SettleScreen(Dialogue[Keep]):
    """Shows both versions, and the nearest one in the history, where there is one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("settle")

    def __init__(self, conflict: Conflict, keys: Keys) -> None:
        super().__init__(keys)
        self._conflict = conflict

    def compose(self) -> ComposeResult:
        conflict = self._conflict
        with Vertical(classes="plan-box") as box:
            box.border_title = Content(f"Conflict: {clean_line(conflict.note)}")
            yield Static(Content(f"The copy is {clean_line(conflict.copy)}"), classes="plan-lead")
            yield Static(Content.styled(self._about(), "$text-muted"), id="plan-count")
            if conflict.base is None:
                yield DiffView(id="plan-diff")
            else:
                sides = {"expected": conflict.base, "found": conflict.mine, "wanted": conflict.theirs}
                yield ThreeWayView((Clash(path=conflict.note, **sides),), titles=TITLES, id="plan-diff")
            yield Static(Content("Whatever you choose, you see the change before it is made."), classes="plan-remarks")
            yield self._key_line()

    def on_mount(self) -> None:
        if self._conflict.base is None:
            change = Change(path=self._conflict.note, before=self._conflict.mine, after=self._conflict.theirs)
            changes = (change,) if change.before != change.after else ()
            self.query_one(DiffView).show(changes, empty="Both say the same.")
        self.query_one("#plan-diff").focus()

    def action_settle_mine(self) -> None:
        """Keep the note."""
        self.dismiss(Keep.MINE)

    def action_settle_theirs(self) -> None:
        """Keep the copy."""
        self.dismiss(Keep.THEIRS)

    def action_settle_both(self) -> None:
        """Keep both."""
        if self._conflict.mine is not None:
            self.dismiss(Keep.BOTH)

    def _about(self) -> str:
        if self._conflict.mine is None:
            return "The note itself is gone. This is what the copy says:"
        if self._conflict.base is None:
            return "From the note to the conflict copy:"
        return f"The nearest version in the history is that of commit {clean_line(self._conflict.base_commit[:12])}:"

    def _key_line(self) -> KeyLine:
        is_gone = self._conflict.mine is None
        mine = "drop the copy" if is_gone else "keep the note"
        both = [] if is_gone else [("settle.both", "both")]
        theirs = "make it the note" if is_gone else "keep the copy"
        return KeyLine(
            self._keys, ("settle.mine", mine), ("settle.theirs", theirs), *both, ("esc", "leave both as they are")
        )
