"""Prompt for a calendar to follow: a file, a folder or an address, which is read before it is added."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.error_messages import error_text
from donna_tui.tui.lib.inputs import KeyLine, LineInput, show_label
from donna_tui.types.drafts import CalendarRow
from donna_tui.types.errors import DonnaError, Reason

if TYPE_CHECKING:
    from donna_tui.engine.calendar_service import CalendarService

PLACE, NAME, USERNAME, PASSWORD = "place", "name", "username", "password"
_FIELDS = (
    (PLACE, "File, folder or address", "~/work.ics, or https://…"),
    (NAME, "Name (optional)", "default: the name of the file or server"),
    (USERNAME, "User name (if its server asks for one)", ""),
    (PASSWORD, "Password", "stored in a file that only you can read"),
)
_OF_SERVERS = (USERNAME, PASSWORD)


class AddCalendar(Dialog[CalendarRow]):
    """A dialog that returns the calendar once it is followed. Errors are shown below the field that they concern.

    User name and password are requested only if the place is a web address.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,down", "other_field(1)", show=False, priority=True),
        Binding("shift+tab,up", "other_field(-1)", show=False, priority=True),
    ]

    def __init__(self, service: CalendarService) -> None:
        super().__init__()
        self._service = service
        self._is_reading = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="prompt-box", id="calendar-box") as box:
            box.border_title = Content("Add a calendar")
            with VerticalScroll(id="calendar-fields", can_focus=False):
                for name, label, placeholder in _FIELDS:
                    with Vertical(id=f"calendar-{name}", classes="calendar-field"):
                        yield Static(Content(label), classes="field-label")
                        yield LineInput(placeholder=placeholder, compact=True, password=name == PASSWORD)
                        yield Static(classes="field-hint")
            yield KeyLine(("↵", "follow it"), ("tab", "other field"), ("esc", "cancel"))

    def on_mount(self) -> None:
        self._show_hint()
        self._show_login()
        self.field(PLACE).focus()

    def field(self, name: str) -> LineInput:
        return self.query_one(f"#calendar-{name} LineInput", LineInput)

    def action_other_field(self, step: int) -> None:
        shown = [name for name, *_ in _FIELDS if self.query_one(f"#calendar-{name}").display]
        here = next((place for place, name in enumerate(shown) if self.field(name).has_focus), 0)
        self.field(shown[(here + step) % len(shown)]).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_login()
        if not self._is_reading:
            self._show_hint()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._is_reading:
            return
        if not self.field(PLACE).value.strip():
            self._show_hint(PLACE, "Type the path of an .ics file or folder, or a web address.")
            self.field(PLACE).focus()
            return
        self._is_reading = True
        self._read()

    @property
    def _is_on_a_server(self) -> bool:
        return "://" in self.field(PLACE).value

    def _show_login(self) -> None:
        for name in _OF_SERVERS:
            self.query_one(f"#calendar-{name}").display = self._is_on_a_server

    def _show_hint(self, of: str = "", words: str = "", style: str = "$text-warning") -> None:
        for name, *_ in _FIELDS:
            hint = Content.styled(words if name == of else "", style)
            show_label(self.query_one(f"#calendar-{name} .field-hint", Static), hint)

    @work(group="read", exclusive=True)
    async def _read(self) -> None:
        self._show_hint(PLACE, "Reading it …", "$text-muted")
        place, name = self.field(PLACE).value.strip(), self.field(NAME).value.strip()
        has_login = self._is_on_a_server
        try:
            row = await self._service.add_calendar(
                place,
                name,
                username=self.field(USERNAME).value.strip() if has_login else "",
                password=self.field(PASSWORD).value if has_login else "",
            )
        except DonnaError as error:
            of = {Reason.CONFLICT: NAME, Reason.LOGIN_REFUSED: USERNAME}.get(error.reason, PLACE)
            self._show_hint(of, error_text(error))
            self.field(of).focus()
        else:
            self.dismiss(row)
        finally:
            self._is_reading = False
