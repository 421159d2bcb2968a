"""Explain the current screen on a help page."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from donna_tui.tui.lib.action import Pane
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.keymap import Keys, shown_key
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.lib.passage_view import PassageView

_KEY = re.compile(r"\{([a-z_.-]+)\}")


def help_text(pane: Pane, keys: Keys) -> str:
    """Return the help page of a pane, with the current keys."""
    page = files(PANES[pane].module.rpartition(".")[0]).joinpath("help.md")
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return _KEY.sub(lambda found: shown_key(keys[found[1]], typing=False) or "no key", text)


class HelpScreen(Dialog[None]):
    """The help of one pane; escape or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter", "dismiss", show=False),
    ]

    def __init__(self, pane: Pane, keys: Keys) -> None:
        super().__init__(keys)
        self._pane = pane

    def compose(self) -> ComposeResult:
        with Vertical(classes="help-box") as box:
            box.border_title = Content(PANES[self._pane].title)
            box.border_subtitle = Content("esc close")
            yield PassageView()

    @property
    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        return ("↑↓", "scroll"), ("pgup pgdn", "a page"), ("g G", "beginning, end"), ("esc", "close")

    def on_mount(self) -> None:
        view = self.query_one(PassageView)
        view.show(help_text(self._pane, self._keys))
        view.focus()
