"""Show exactly what would be forgotten, and ask for confirmation."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.inputs import KeyLine
from donna_tui.tui.lib.keymap import Keys


class Forgetting(StrEnum):
    """The way to forget: reversibly, or for good."""

    FOR_NOW = "for_now"
    FOR_GOOD = "for_good"


class ForgetScreen(Dialog[Forgetting]):
    """Show one line of what is forgotten. All texts are safe to show."""

    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding("forget.apply", "screen.forget_apply"),
        action_binding("forget.for-good", "screen.forget_for_good"),
    ]

    def __init__(self, words: str, citation: str, means: str, keys: Keys) -> None:
        super().__init__(keys)
        self._words = words
        self._citation = citation
        self._means = means
        self._warned = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="refusal-box forget-box") as box:
            box.border_title = Content("Forget this?")
            yield Static(Content(self._words), classes="forget-words")
            yield Static(Content(self._citation), classes="refusal-path")
            yield Static(Content(self._means), classes="refusal-step", id="forget-means")
            yield KeyLine(self._keys, ("forget.apply", "forget"), ("esc", "cancel"), ("forget.for-good", "for good"))

    def action_forget_apply(self) -> None:
        """Forget it, so that it can be restored."""
        self.dismiss(Forgetting.FOR_NOW)

    def action_forget_for_good(self) -> None:
        """Erase it, after a second press to confirm."""
        if self._warned:
            self.dismiss(Forgetting.FOR_GOOD)
            return
        self._warned = True
        key = self.shown("forget.for-good")
        words = (
            "For good, its words are erased from Donna's memory, from summaries of its session and from the backups. "
            f"This cannot be undone. {key} again erases them; esc cancels."
        )
        self.query_one("#forget-means", Static).update(Content.styled(words, "$text-warning"))
