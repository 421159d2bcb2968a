"""One line of names, one of them chosen: which part of a pane is shown where there is no room for all."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

_GAP = 3


class SectionTabs(Widget, can_focus=True):
    """Names with an optional count each; arrow keys and clicks choose."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tabs--chosen", "tabs--other"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "choose(-1)", "previous part", show=False),
        Binding("right,l", "choose(1)", "next part", show=False),
    ]

    names: reactive[tuple[str, ...]] = reactive(())
    chosen: reactive[int] = reactive(0)

    class Chosen(Message):
        """Another name was chosen."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def render(self) -> Content:
        styles = (".tabs--chosen" if index == self.chosen else ".tabs--other" for index in range(len(self.names)))
        parts = [Content.styled(name, style) for name, style in zip(self.names, styles, strict=True)]
        return Content(" " * _GAP).join(parts)

    def watch_chosen(self, chosen: int) -> None:
        """Tell the pane."""
        self.post_message(self.Chosen(chosen))

    def action_choose(self, by: int) -> None:
        """Go `by` names to the right; after the last one comes the first."""
        if self.names:
            self.chosen = (self.chosen + by) % len(self.names)

    def on_click(self, event: events.Click) -> None:
        """Choose the name under the mouse."""
        start = 0
        for index, name in enumerate(self.names):
            if start <= event.x < start + len(name):
                self.chosen = index
            start += len(name) + _GAP
