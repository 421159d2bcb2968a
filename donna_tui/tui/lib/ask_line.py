"""Asks for one line of text: what to remember, or a task to add."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from donna_tui.tui.lib.dialogs import Dialogue
from donna_tui.tui.lib.inputs import KeyLine, LineInput
from donna_tui.tui.lib.keymap import Keys


class AskLine(Dialogue[str]):
    """An input; enter answers with what was typed. `says` describes below it what that does."""

    field = query_one(LineInput)

    def __init__(self, title: str, does: str, keys: Keys, *, placeholder: str, says: Callable[[str], str]) -> None:
        super().__init__(keys)
        self._title = title
        self._does = does
        self._placeholder = placeholder
        self._says = says

    def compose(self) -> ComposeResult:
        with Vertical(classes="ask-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(placeholder=self._placeholder, compact=True)
            yield Static(Content(self._says("")), id="ask-says")
            yield KeyLine(self._keys, ("↵", self._does), ("esc", "leave"))

    def on_mount(self) -> None:
        self.field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Describe what enter does."""
        event.stop()
        self._say(self._says(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer, if there is something."""
        event.stop()
        if event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self._say("Type something first.", "$text-warning")

    def _say(self, words: str, style: str = "$text-muted") -> None:
        self.query_one("#ask-says", Static).update(Content.styled(words, style))
