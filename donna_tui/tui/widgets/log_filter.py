"""The line above the event log that narrows it: words to look for, and one kind of events."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.tui.sentences import Kind
from donna_tui.tui.widgets.line_input import LineInput

KINDS: tuple[Kind | None, ...] = (None, *Kind)
_GAP = 2


def kind_name(kind: Kind | None) -> str:
    """The kind as it is written on the screen."""
    return kind.value if kind is not None else "everything"


class KindChoice(Widget):
    """The kinds of events in a row, the chosen one marked; a click chooses."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"kinds--chosen", "kinds--other"}

    index: reactive[int] = reactive(0)

    class Chosen(Message):
        """Another kind was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def render(self) -> Content:
        names = (
            Content.styled(kind_name(kind), ".kinds--chosen" if place == self.index else ".kinds--other")
            for place, kind in enumerate(KINDS)
        )
        return Content(" " * _GAP).join(names)

    def on_click(self, event: events.Click) -> None:
        """Choose the kind under the mouse."""
        start = 0
        for place, kind in enumerate(KINDS):
            end = start + len(kind_name(kind))
            if start <= event.x < end:
                self.post_message(self.Chosen(place))
            start = end + _GAP


class LogFilter(Horizontal):
    """Posts `Changed` whenever something else is to be shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "kind(1)", show=False),
        Binding("up", "kind(-1)", show=False),
    ]

    field = query_one(Input)
    choice = query_one(KindChoice)

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
        yield Static(Content("❯"), id="log-prompt")
        field = LineInput(placeholder="words to look for  ↑↓ kind", compact=True)
        field.cursor_blink = False
        yield field
        yield KindChoice()

    def focus_input(self) -> None:
        """Begin to type."""
        self.field.focus()

    def clear(self) -> None:
        """Show everything again and leave."""
        with self.field.prevent(Input.Changed):
            self.field.value = ""
        self._choose(0)
        self.post_message(self.Left(closed=True))

    def action_kind(self, by: int) -> None:
        """Choose the next or previous kind."""
        self._choose((self.choice.index + by) % len(KINDS))

    def on_kind_choice_chosen(self, event: KindChoice.Chosen) -> None:
        """Choose the kind that was clicked."""
        event.stop()
        self._choose(event.index)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow while typing."""
        event.stop()
        self._tell()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and go back to the log."""
        event.stop()
        self.post_message(self.Left(closed=False))

    def _choose(self, index: int) -> None:
        self.choice.index = index
        self._tell()

    def _tell(self) -> None:
        self.post_message(self.Changed(self.field.value, KINDS[self.choice.index]))
