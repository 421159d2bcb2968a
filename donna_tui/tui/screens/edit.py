"""A text field over the whole screen, to edit a note in place."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import TextArea

from donna_tui.safety.terminal import clean, clean_line
from donna_tui.tui.bindings import action_binding
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.key_line import KeyLine


class NoteField(TextArea):
    """A text field that takes of what is pasted only what a terminal would not obey."""

    def on_mount(self) -> None:
        self.cursor_blink = False

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = "\t".join(clean(part) for part in event.text.split("\t"))
        await super()._on_paste(event)


class EditScreen(Dialogue[str]):
    """Answers with the text when it is left, whichever way; nothing is written here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+s,f2", "leave", show=False, priority=True),
        action_binding("app.quit", "leave"),
    ]

    field = query_one(NoteField)

    def __init__(self, path: str, text: str, line: int, keys: Keys) -> None:
        super().__init__(keys)
        self._path = path
        self._text = text
        self._line = line

    def compose(self) -> ComposeResult:
        with Vertical(classes="edit-box") as box:
            box.border_title = Content(clean_line(self._path))
            yield NoteField(self._text, soft_wrap=True, tab_behavior="indent", show_line_numbers=True, compact=True)
            yield KeyLine(self._keys, ("esc", "look at the difference"), ("ctrl+z", "undo typing"))

    def on_mount(self) -> None:
        self.field.focus()
        self.field.move_cursor((max(0, self._line - 1), 0))

    def action_leave(self) -> None:
        """Go on to the difference."""
        self.dismiss(self.field.text)
