"""The picker of themes, with a live preview of the highlighted one."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.timer import Timer
from textual.widgets import OptionList

from donna_tui.tui.lib.inputs import ValueOption
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.themes import THEME_NAMES

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
        """Preview the highlighted theme after a short delay."""
        super().on_option_list_option_highlighted(event)
        if isinstance(event.option, ValueOption) and event.option is self.options.highlighted_option:
            name = event.option.value.value
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(PAUSE, lambda: self._show(name))

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close; without a result restore the previous theme."""
        if self._timer is not None:
            self._timer.stop()
        if result is None:
            self._show(self._before)
        return super().dismiss(result)

    def _show(self, name: str) -> None:
        if self.app.theme != name:
            self.app.theme = name
