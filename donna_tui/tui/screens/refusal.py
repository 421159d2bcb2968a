"""Why something was not done, and what to do about it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.tui.keysheet import Keys
from donna_tui.tui.refusals import Refusal
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.key_line import KeyLine


class RefusalScreen(Dialogue[bool]):
    """Shows a `Refusal`. Where enter can do something about it, `does` says what; then it answers True."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer", show=False),
        Binding("q,space", "leave", show=False),
    ]

    def __init__(self, refusal: Refusal, keys: Keys, *, does: str = "", leaves: str = "leave") -> None:
        super().__init__(keys)
        self._leaves = leaves
        self._refusal = refusal
        self._does = does

    def compose(self) -> ComposeResult:
        refusal = self._refusal
        with Vertical(classes="refusal-box") as box:
            box.border_title = Content(refusal.title)
            yield Static(Content(refusal.what), classes="refusal-what")
            if refusal.path:
                yield Static(Content(refusal.path), classes="refusal-path")
            yield Static(Content(refusal.step), classes="refusal-step")
            does = [("↵", self._does)] if self._does else []
            yield KeyLine(self._keys, *does, ("esc", self._leaves))

    def action_answer(self) -> None:
        """Do something about it, or just close."""
        self.dismiss(bool(self._does))
