"""Prompt for one line of text: what to remember, or a task to add."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.inputs import KeyLine, LineInput
from donna_tui.tui.lib.keymap import Keys


class LinePrompt(Dialog[str]):
    """An input; enter returns its text. `hint_for` describes the effect below it."""

    field = query_one(LineInput)

    def __init__(self, title: str, does: str, keys: Keys, *, placeholder: str, hint_for: Callable[[str], str]) -> None:
        super().__init__(keys)
        self._title = title
        self._does = does
        self._placeholder = placeholder
        self._hint_for = hint_for

    def compose(self) -> ComposeResult:
        with Vertical(classes="prompt-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(placeholder=self._placeholder, compact=True)
            yield Static(Content(self._hint_for("")), id="prompt-hint")
            yield KeyLine(self._keys, ("↵", self._does), ("esc", "cancel"))

    def on_mount(self) -> None:
        self.field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Describe what enter does."""
        event.stop()
        self._show_hint(self._hint_for(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the input, if there is any."""
        event.stop()
        if event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self._show_hint("Type something first.", "$text-warning")

    def _show_hint(self, words: str, style: str = "$text-muted") -> None:
        self.query_one("#prompt-hint", Static).update(Content.styled(words, style))
