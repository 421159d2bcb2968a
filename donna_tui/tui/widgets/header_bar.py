"""The top line: whose notes these are, and the screens with their keys."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.action import Pane
from donna_tui.tui.actions import ACTIONS
from donna_tui.tui.keysheet import Keys, shown_key
from donna_tui.tui.messages import ChooseSpace

PANES: dict[Pane, str] = {
    "search": "view.search",
    "vault": "view.vault",
    "review": "view.review",
    "meetings": "view.meetings",
    "memory": "view.memory",
    "activity": "view.activity",
}
"""The screens there are, and the action that goes to each."""


_LEAST_FOR_NAMES = 78
"""Cells below which only the screen in sight has a name."""

_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


class Tab(Static):
    """One screen's key and name, and how much waits there."""

    waiting: reactive[int] = reactive(0, layout=True)
    is_short: reactive[bool] = reactive(False, layout=True)

    def __init__(self, pane: Pane, key: str) -> None:
        super().__init__(id=f"tab-{pane}", classes="tab")
        self.pane = pane
        self._key = key

    def render(self) -> Content:
        name = "" if self.is_short and not self.has_class("-active") else f" {ACTIONS[PANES[self.pane]].title}"
        return Content.assemble((self._key, "$text-disabled"), name, (counted(self.waiting), "$text-accent"))

    def on_click(self) -> None:
        """Go to the screen."""
        self.post_message(HeaderBar.Chosen(self.pane))


class SpaceName(Static):
    """Whose notes these are."""

    def on_click(self) -> None:
        """Offer others."""
        self.post_message(ChooseSpace())


class HeaderBar(Horizontal):
    """Name of the space at the left, screens at the right."""

    active: reactive[Pane] = reactive[Pane]("search")

    class Chosen(Message):
        """Somebody wants to see another screen."""

        def __init__(self, pane: Pane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, space: str, keys: Keys) -> None:
        super().__init__(id="header")
        self._space = space
        self._keys = keys

    def compose(self) -> ComposeResult:
        yield Static(Content("Donna"), id="brand")
        yield SpaceName(self._space_name(), id="space")
        for pane, action in PANES.items():
            yield Tab(pane, shown_key(self._keys[action], typing=False))

    def name_space(self, space: str) -> None:
        """Show another name for the space."""
        if space != self._space:
            self._space = space
            self.query_one("#space", Static).update(self._space_name())

    def watch_active(self, active: Pane) -> None:
        for tab in self.query(Tab):
            tab.set_class(tab.pane == active, "-active")
            tab.refresh(layout=True)

    def on_resize(self) -> None:
        """Where there is little room, only the screen in sight is named."""
        for tab in self.query(Tab):
            tab.is_short = self.size.width < _LEAST_FOR_NAMES

    def tell_waiting(self, pane: Pane, waiting: int) -> None:
        """Show how much waits on a screen."""
        self.query_one(f"#tab-{pane}", Tab).waiting = waiting

    def _space_name(self) -> Content:
        return Content(f"─ {clean_line(self._space)}" if self._space else "")


def counted(number: int) -> str:
    """A number behind a name: ` ③`; nothing for zero."""
    if number <= 0:
        return ""
    return f" {_CIRCLED[number - 1]}" if number <= len(_CIRCLED) else f" ({number})"
