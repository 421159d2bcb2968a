"""Edit a text over the whole screen: a note in place, or the correction of a passage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widgets import Static, TextArea
from textual.widgets.text_area import Selection

from donna_tui.safety.terminal import clean, clean_line, without_hidden
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.inputs import KeyLine, run_key
from donna_tui.types.notes import Edit
from donna_tui.vault.note.read import parse_frontmatter

SAVE_SECONDS = 1.0
"""Seconds between two saves of the typed text; a crash loses at most that."""


class NoteField(TextArea):
    """A text field that removes control and hidden characters from pasted text, and accepts typed joiners."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "document(0)", show=False),
        Binding("ctrl+end", "document(1)", show=False),
    ]

    def action_document(self, end: int) -> None:
        """Move to the beginning or the end of the text."""
        self.move_cursor(self.document.end if end else (0, 0))

    def on_mount(self) -> None:
        self.cursor_blink = False

    def _refresh_size(self) -> None:
        """Refresh the size with the cursor inside the text: after an undo that removes lines, Textual moves the cursor
        back later, and if that hides the scroll bar it scrolls to a line that no longer exists.
        """
        inside = Selection(*map(self.clamp_visitable, self.selection))
        if inside != self.selection:
            self.set_reactive(TextArea.selection, inside)
        super()._refresh_size()

    async def _on_paste(self, event: events.Paste) -> None:
        """Change the text that Textual's own handler inserts, which runs after this one."""
        text = without_hidden(event.text)
        if len(text) < len(event.text.replace("\r\n", "\n")):
            self.notify("Hidden characters were removed from the pasted text.", timeout=6)
        event.text = text

    async def _on_key(self, event: events.Key) -> None:
        """Insert a zero-width joiner or non-joiner, which Textual does not consider printable. Run the action of any
        other key immediately, also that of the dialog: closed by the app, it would lose the letters before the key.
        """
        await run_key(self, event, self, self.screen)
        if event.character in ("\u200c", "\u200d"):
            event.stop()
            event.prevent_default()
            self.replace(event.character, *self.selection, maintain_selection_offset=False)


class EditScreen(Dialog[str]):
    """A full-screen editor that returns the text however it is closed. Unsaved text is saved outside the vault
    meanwhile.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+s,f2", "leave", show=False),
        action_binding("app.quit", "leave"),
    ]

    field = query_one(NoteField)

    def __init__(self, edit: Edit, line: int, save: Callable[[Edit], Awaitable[None]]) -> None:
        super().__init__()
        self._edit = edit
        self._line = line
        self._save = save
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="edit-box") as box:
            box.border_title = Content(clean_line(self._edit.path))
            yield NoteField(
                self._edit.text, soft_wrap=True, tab_behavior="indent", show_line_numbers=True, compact=True
            )
            yield KeyLine(("esc", "show the diff"), ("ctrl+z", "undo typing"))

    def on_mount(self) -> None:
        self.field.focus()
        text = self._edit.text
        head = text[: parse_frontmatter(text).body_start].count("\n")  # what is typed there breaks the properties
        self.field.move_cursor((max(head, self._line - 1), 0))

    def on_text_area_changed(self) -> None:
        if self.field.text != self._edit.text and self._timer is None:
            self._timer = self.set_timer(SAVE_SECONDS, self._save_typed)

    @work(group="keep", exclusive=True)
    async def _save_typed(self) -> None:
        self._timer = None
        self._edit = self.typed
        await self._save(self._edit)

    @property
    def typed(self) -> Edit:
        return replace(self._edit, text=self.field.text)

    def leave(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self.dismiss(self.field.text)


class CorrectScreen(Dialog[str]):
    """An editor that returns the corrected text, or None if it is closed. It does not accept an unchanged text.

    `text` is raw: the field removes control characters from it. `becomes` describes the effect of the correction.
    `typed` is a correction that could not be saved.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "store", show=False)]

    field = query_one(NoteField)

    def __init__(self, citation: str, text: str, becomes: str, typed: str = "") -> None:
        super().__init__()
        self._citation = citation
        self._text = clean(text)
        self._typed = typed or self._text
        self._has_warned = False
        self._becomes = becomes

    def compose(self) -> ComposeResult:
        with Vertical(classes="refusal-box correct-box") as box:
            box.border_title = Content("Correct it")
            yield Static(Content(self._citation), classes="refusal-path")
            yield NoteField(self._typed, soft_wrap=True, compact=True)
            yield Static(Content(self._becomes), classes="refusal-step")
            yield KeyLine(("f2", "save the correction"), ("esc", "cancel"), ("ctrl+z", "undo typing"))

    def on_mount(self) -> None:
        self.field.focus()

    def on_text_area_changed(self) -> None:
        self._has_warned = False
        self.query_one(KeyLine).set_text("")

    def leave(self) -> None:
        """Close the dialog; a correction is discarded after a second press to confirm."""
        if self._has_warned or self.field.text.strip() == self._text.strip():
            self.dismiss(None)
            return
        self._has_warned = True
        self.query_one(KeyLine).set_text("Press esc again to discard your correction, f2 to save it.")

    def action_store(self) -> None:
        text = self.field.text.strip()
        if not text or text == self._text.strip():
            empty = "The text is empty; forget the memory instead." if not text else "Nothing was changed."
            self.query_one(KeyLine).set_text(f"{empty} esc cancels.")
        else:
            self.dismiss(text)
