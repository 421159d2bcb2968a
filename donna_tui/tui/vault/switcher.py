"""The switcher: open a note or a heading by some letters of its name, or create a missing note."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from donna_tui.safety.terminal import clean_line
from donna_tui.text.fuzzy import fuzzy_match
from donna_tui.tui.lib.error_messages import error_text
from donna_tui.tui.lib.inputs import LineInput, OptionRows, ValueOption
from donna_tui.tui.lib.picker import ListDialog, highlighted
from donna_tui.tui.vault.plan_dialog import note_path
from donna_tui.types.errors import DonnaError
from donna_tui.types.search import NameMatch

SHOWN = 50
CONSIDERED = 400
"""Names that are searched for headings if only headings are wanted."""

HEADING = "heading"
_KEYS = (("↵", "open"), ("alt+e", "in your editor"), ("alt+n", "create"), ("#", "headings"), ("esc", "close"))

Names = Callable[[str, int], Awaitable[tuple[NameMatch, ...]]]
"""Finds names by some of their letters, at most so many."""


@dataclass(frozen=True, slots=True)
class SwitchTo:
    path: str
    line: int
    in_editor: bool = False


@dataclass(frozen=True, slots=True)
class CreateNote:
    path: str


Switched = SwitchTo | CreateNote
How = Literal["open", "edit", "create"]


class Switcher(ListDialog[Switched]):
    """Names as the engine ranks them. One query runs at a time; the next one is for the newest text. A key that picks
    waits for the answer to the text typed before it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+k", "leave", show=False, priority=True),
        Binding("alt+e", "pick('edit')", show=False, priority=True),
        Binding("shift+enter,ctrl+enter,alt+n", "pick('create')", show=False, priority=True),
    ]

    def __init__(self, names: Names, *, title: str = "Switch note", creates: bool = True) -> None:
        super().__init__(classes="dialog")
        self._names = names
        self._title = title
        self._creates = creates
        self._wanted = ""
        self._answered: str | None = None
        self._picked: How | None = None
        self._is_querying = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="picker-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(placeholder="part of a name, # and part of a heading", compact=True)
            yield OptionRows(markup=False, compact=True)

    def on_mount(self) -> None:
        self.options.can_focus = False
        self._show_hint("")
        self._query()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Query for the newest input once the running query is answered."""
        event.stop()
        self._wanted = event.value
        self._query()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_pick("open")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if isinstance(event.option, ValueOption):
            self._pick(event.option.value, "open")

    def action_pick(self, how: How) -> None:
        """Open or create what is selected once the list is that of the letters typed so far."""
        self._picked = how
        self._wanted = self.query_one(LineInput).value
        if self._answered == self._wanted:
            self._pick_selected()
        else:
            self._query()

    def _query(self) -> None:
        if not self._is_querying and self._answered != self._wanted:
            self._is_querying = True
            self._answer()

    @work(group="names")
    async def _answer(self) -> None:
        try:
            while self._answered != self._wanted:
                query = self._wanted
                try:
                    found = await self._found(query)
                except DonnaError as error:
                    self._answered = query
                    self._show_hint(error_text(error))
                else:
                    self._answered = query
                    self._show(query, found)
        finally:
            self._is_querying = False
        self._pick_selected()

    async def _found(self, query: str) -> tuple[NameMatch, ...]:
        note, hash_mark, heading = query.partition("#")
        if not hash_mark:
            found = await self._names(query, SHOWN)
            return tuple(match for match in found if match.kind != HEADING or match.name != match.title)
        if not heading.strip():
            return ()
        found = await self._names(heading, CONSIDERED)
        return tuple(match for match in found if match.kind == HEADING and _is_in(match, note))[:SHOWN]

    def _show(self, query: str, found: tuple[NameMatch, ...]) -> None:
        options: list[Option] = [ValueOption(_row(match), SwitchTo(match.path, match.line)) for match in found]
        path = self._new_path(query, found)
        if path:
            row = Content.assemble(("Create note ", "$accent"), f"“{clean_line(path.removesuffix('.md'))}”")
            options.append(ValueOption(row, CreateNote(path)))
        self.options.set_options(options)
        self.options.highlighted = 0 if options else None
        is_begun = "#" in query and not query.partition("#")[2].strip()
        nothing = "No heading matches." if "#" in query else "No note matches."
        self._show_hint("Type part of a heading." if is_begun else "" if options else nothing)

    def _new_path(self, query: str, found: tuple[NameMatch, ...]) -> str:
        """Return the path of the note that can be created; empty if there is one of this name. A slash at its beginning
        is the top of the vault, as in a link.
        """
        path = note_path(query.replace("\\", "/").lstrip("/ ")) if self._creates and "#" not in query else ""
        same = path.removesuffix(".md").lower()
        for match in found:
            known = match.path.removesuffix(".md").lower()
            if match.kind != HEADING and same in (known, known.rpartition("/")[2], match.name.lower()):
                return ""
        return path

    def _pick_selected(self) -> None:
        how, self._picked = self._picked, None
        if how is None:
            return
        values = [option.value for option in self.options.options if isinstance(option, ValueOption)]
        if how == "create":
            created = next((value for value in values if isinstance(value, CreateNote)), None)
            if created is None:
                self._show_hint("There is already a note with this name." if self._wanted.strip() else "Type a name.")
            else:
                self.dismiss(created)
            return
        option = self.options.highlighted_option
        if isinstance(option, ValueOption):
            self._pick(option.value, how)

    def _pick(self, value: Switched, how: How) -> None:
        if how == "edit" and isinstance(value, SwitchTo):
            value = SwitchTo(value.path, value.line, in_editor=True)
        self.dismiss(value)

    def _show_hint(self, text: str) -> None:
        """Show a sentence in the border, which is always visible, or else the keys."""
        keys = [key for key in _KEYS if self._creates or key[0] not in ("alt+e", "alt+n")]
        hints = Content("  ").join(Content.assemble((key, "$accent"), f" {does}") for key, does in keys)
        self.query_one(".picker-box").border_subtitle = Content(text) if text else hints


def _is_in(match: NameMatch, note: str) -> bool:
    """Return whether a heading is in a note with these letters in its title or path."""
    wanted = note.strip()
    return not wanted or any(fuzzy_match(wanted, text) for text in (match.title, match.path))


def _row(match: NameMatch) -> Content:
    name = highlighted(match.name, match.places)
    if match.kind == HEADING:
        note = f"  {clean_line(match.title)} · {clean_line(match.path)}:{match.line}"
        return Content.assemble(("# ", "$text-muted"), name, (note, "$text-muted"))
    of = f"  {match.kind} of {clean_line(match.title)} ·" if match.kind == "alias" else " "
    return Content.assemble(name, (f"{of} {clean_line(match.path)}", "$text-muted"))
