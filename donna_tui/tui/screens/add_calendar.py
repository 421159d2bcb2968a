"""Asks for a calendar to follow: a file, a folder or an address, which is read before it is added."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from donna_tui.drafting import CalendarRow
from donna_tui.errors import DonnaError, Reason
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.refusals import told
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.key_line import KeyLine
from donna_tui.tui.widgets.line_input import LineInput

Add = Callable[[str, str], Awaitable[CalendarRow]]
"""Reads the calendar at a place and follows it under a name."""


class AddCalendar(Dialogue[CalendarRow]):
    """Answers with the calendar once it is followed. What is wrong stands below the field that it is about."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,down,shift+tab,up", "other_field", show=False, priority=True),
    ]

    place = query_one("#calendar-place", LineInput)
    called = query_one("#calendar-name", LineInput)

    def __init__(self, add: Add, keys: Keys) -> None:
        super().__init__(keys)
        self._add = add
        self._is_reading = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="ask-box") as box:
            box.border_title = Content("Add a calendar")
            yield Static(Content("File, folder or address"), classes="field-label")
            yield LineInput(placeholder="~/work.ics, or https://…", compact=True, id="calendar-place")
            yield Static(id="place-says", classes="field-says")
            yield Static(Content("Name (optional)"), classes="field-label")
            yield LineInput(placeholder="as the file or the server is called", compact=True, id="calendar-name")
            yield Static(id="name-says", classes="field-says")
            yield KeyLine(self._keys, ("↵", "read it and follow it"), ("tab", "other field"), ("esc", "leave"))

    def on_mount(self) -> None:
        self._say("", "")
        self.place.focus()

    def action_other_field(self) -> None:
        """Go to the other field."""
        (self.called if self.place.has_focus else self.place).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong is being corrected."""
        event.stop()
        if not self._is_reading:
            self._say("", "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Read it."""
        event.stop()
        if self._is_reading:
            return
        if not self.place.value.strip():
            self._say("Type the path of an .ics file or folder, or a web address.", "")
            self.place.focus()
            return
        self._is_reading = True
        self._read(self.place.value.strip(), self.called.value.strip())

    def _say(self, of_place: str, of_name: str, style: str = "$text-warning") -> None:
        for name, words in (("place", of_place), ("name", of_name)):
            says = self.query_one(f"#{name}-says", Static)
            says.update(Content.styled(words, style))
            says.display = bool(words)

    @work(group="read", exclusive=True)
    async def _read(self, place: str, name: str) -> None:
        self._say("Reading it …", "", "$text-muted")
        try:
            row = await self._add(place, name)
        except DonnaError as error:
            is_of_name = error.reason is Reason.CONFLICT
            self._say("" if is_of_name else told(error), told(error) if is_of_name else "")
            (self.called if is_of_name else self.place).focus()
        else:
            self.dismiss(row)
        finally:
            self._is_reading = False
