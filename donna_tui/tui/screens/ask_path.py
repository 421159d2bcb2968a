"""Asks for the name of a note: a new one, or where one is moved to."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.key_line import KeyLine
from donna_tui.tui.widgets.line_input import LineInput

ENDING = ".md"


class AskPath(Dialogue[str]):
    """An input with a path in it; enter answers with it, ending added."""

    field = query_one(LineInput)

    def __init__(
        self, title: str, path: str, keys: Keys, *, problem: str = "", taken: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(keys)
        self._title = title
        self._path = path
        self._problem = problem
        self._taken = taken

    def compose(self) -> ComposeResult:
        with Vertical(classes="ask-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(self._path, placeholder="Folder/Name of the note", compact=True, select_on_focus=False)
            yield Static(id="ask-says")
            yield KeyLine(self._keys, ("↵", "go on"), ("esc", "leave"))

    def on_mount(self) -> None:
        stem = self._path.removesuffix(ENDING)
        self.field.focus()
        self.field.cursor_position = len(stem)
        self._say(self._problem)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what the note will be called."""
        event.stop()
        if event.value != self._path:
            self._say(self._objection(note_path(event.value)))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer, if there is a name."""
        event.stop()
        path = note_path(event.value)
        objection = self._objection(path)
        if path and not objection:
            self.dismiss(path)
        else:
            self._say(objection or "Type a name.")

    def _objection(self, path: str) -> str:
        if path in self._taken:
            return f"There is a note {clean_line(path)} already."
        return ""

    def _say(self, problem: str) -> None:
        path = note_path(self.field.value)
        becomes = f"It will be called {clean_line(path)}" if path and path != self.field.value else ""
        words = Content.styled(problem or becomes, "$text-warning" if problem else "$text-muted")
        self.query_one("#ask-says", Static).update(words)


def note_path(typed: str) -> str:
    """What was typed as the path of a note: without blanks around it, with its ending; empty if there is no name."""
    path = typed.strip()
    if not path or path.endswith("/"):
        return ""
    return path if path.lower().endswith((".md", ".markdown")) else path + ENDING
