"""The line above the event log that narrows it: words to look for, and one kind of events."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input

from donna_tui.tui.wording import Kind

_KINDS: tuple[Kind | None, ...] = (None, *Kind)


class KindChoice(Widget):
    """The kinds of events in a row, the chosen one marked."""

    COMPONENT_CLASSES = {"kinds--chosen", "kinds--other"}

    index: reactive[int] = reactive(0)

    def render(self) -> Content:
        names = [kind.value if kind is not None else "everything" for kind in _KINDS]
        styles = [".kinds--chosen" if at == self.index else ".kinds--other" for at in range(len(names))]
        return Content("  ").join([Content.styled(*each) for each in zip(names, styles, strict=True)])


class LogFilter(Horizontal):
    """Posts `Changed` on every change; escape empties and closes it, enter goes back to the log."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "kind(1)", "next kind", show=False),
        Binding("up", "kind(-1)", "previous kind", show=False),
        Binding("escape", "close", "show everything", show=False),
    ]

    class Changed(Message):
        """The log is to show only this."""

        def __init__(self, text: str, kind: Kind | None) -> None:
            super().__init__()
            self.text = text
            self.kind = kind

    class Left(Message):
        """The reader is done here; `closed` says that the filter was taken away."""

        def __init__(self, *, closed: bool) -> None:
            super().__init__()
            self.closed = closed

    def compose(self) -> ComposeResult:
        yield Input(placeholder="words in the log · ↑↓ kind · esc everything", compact=True)
        yield KindChoice()

    def focus_input(self) -> None:
        """Begin to type."""
        self.query_one(Input).focus()

    def action_kind(self, by: int) -> None:
        """Choose the next or previous kind."""
        choice = self.query_one(KindChoice)
        choice.index = (choice.index + by) % len(_KINDS)
        self._tell()

    def action_close(self) -> None:
        """Take the filter away."""
        field = self.query_one(Input)
        with field.prevent(Input.Changed):
            field.value = ""
        self.query_one(KindChoice).index = 0
        self._tell()
        self.post_message(self.Left(closed=True))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow while typing."""
        event.stop()
        self._tell()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and go back to the log."""
        event.stop()
        self.post_message(self.Left(closed=False))

    def _tell(self) -> None:
        self.post_message(self.Changed(self.query_one(Input).value, _KINDS[self.query_one(KindChoice).index]))
