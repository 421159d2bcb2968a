"""Asks for the name of a note or a folder: a new one, or where one is moved to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from donna_tui.errors import DonnaError
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.refusals import sentence
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.key_line import KeyLine
from donna_tui.tui.widgets.line_input import LineInput

ENDING = ".md"


Check = Callable[[str], Awaitable[str]]
"""Finds out why something cannot have a path; empty if it can."""


class AskPath(Dialogue[str]):
    """An input with a path in it; enter answers with it, ending added. With `is_folder` it is the path of a folder.

    What the input says of a path was checked: enter does it.
    """

    field = query_one(LineInput)

    def __init__(
        self,
        title: str,
        path: str,
        keys: Keys,
        *,
        problem: str = "",
        taken: frozenset[str] = frozenset(),
        check: Check | None = None,
        is_folder: bool = False,
    ) -> None:
        super().__init__(keys)
        self._check = check
        self._is_folder = is_folder
        self._title = title
        self._path = path
        self._problem = problem
        self._taken = taken

    def compose(self) -> ComposeResult:
        with Vertical(classes="ask-box") as box:
            box.border_title = Content(self._title)
            placeholder = "Folder/Name of the folder" if self._is_folder else "Folder/Name of the note"
            yield LineInput(self._path, placeholder=placeholder, compact=True, select_on_focus=False)
            yield Static(id="ask-says")
            yield KeyLine(self._keys, ("↵", "go on"), ("esc", "leave"))

    def on_mount(self) -> None:
        stem = self._path.removesuffix(ENDING)
        self.field.focus()
        self.field.cursor_position = len(stem)
        self._say(self._problem)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what the note will be called, or why it cannot be called so."""
        event.stop()
        if event.value == self._path:
            return
        path = self._answer(event.value)
        objection = self._objection(path)
        self._say(objection, "" if objection or self._check is not None else path)
        if path and not objection and self._check is not None:
            self._examine(self._check, path)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer, if there is a name."""
        event.stop()
        path = self._answer(event.value)
        objection = self._objection(path)
        if path and not objection:
            self.dismiss(path)
        else:
            self._say(objection or "Type a name.")

    @work(group="examine", exclusive=True)
    async def _examine(self, check: Check, path: str) -> None:
        try:
            problem = await check(path)
        except DonnaError as error:
            problem = error.message
        if path == self._answer(self.field.value):
            self._say(sentence(problem), path)

    def _answer(self, typed: str) -> str:
        return typed.strip().strip("/") if self._is_folder else note_path(typed)

    def _objection(self, path: str) -> str:
        if path in self._taken:
            return f"There is a {'folder' if self._is_folder else 'note'} {clean_line(path)} already."
        return ""

    def _say(self, problem: str, path: str = "") -> None:
        becomes = f"It will be called {clean_line(path)}" if path and path != self.field.value else ""
        words = Content.styled(problem or becomes, "$text-warning" if problem else "$text-muted")
        self.query_one("#ask-says", Static).update(words)


def note_path(typed: str) -> str:
    """What was typed as the path of a note: without blanks around it, with its ending; empty if there is no name."""
    path = typed.strip()
    if not path or path.endswith("/"):
        return ""
    return path if path.lower().endswith((".md", ".markdown")) else path + ENDING
