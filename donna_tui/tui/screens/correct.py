"""A text field with what a memory or a passage says, to say what is right."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.safety.terminal import clean
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.screens.edit import NoteField
from donna_tui.tui.widgets.key_line import KeyLine


class CorrectScreen(Dialogue[str]):
    """Answers with the corrected text; with None if it was left, or says what it said before.

    `text` is raw: of it the field takes what a terminal would not obey. `becomes` says what the correction does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "store", show=False, priority=True)]

    field = query_one(NoteField)

    def __init__(self, citation: str, text: str, becomes: str, keys: Keys) -> None:
        super().__init__(keys)
        self._citation = citation
        self._text = clean(text)
        self._becomes = becomes

    def compose(self) -> ComposeResult:
        with Vertical(classes="refusal-box correct-box") as box:
            box.border_title = Content("What is right?")
            yield Static(Content(self._citation), classes="refusal-path")
            yield NoteField(self._text, soft_wrap=True, compact=True)
            yield Static(Content(self._becomes), classes="refusal-step")
            yield KeyLine(self._keys, ("f2", "store the correction"), ("esc", "leave"), ("ctrl+z", "undo typing"))

    def on_mount(self) -> None:
        self.field.focus()

    def action_store(self) -> None:
        """Answer, if something was corrected."""
        text = self.field.text.strip()
        if not text or text == self._text.strip():
            empty = "Nothing is left; forget the memory instead." if not text else "It says the same as before."
            self.query_one(KeyLine).say(f"{empty} esc leaves.")
        else:
            self.dismiss(text)
