"""A pane with one action, for `extended_app`. The app imports it by name."""

from __future__ import annotations

from textual.widgets import Static

from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.types.errors import DonnaError


class ClockPane(Static, can_focus=True):
    BINDINGS = bindings("clock")

    def __init__(self, outside: ExternalPrograms) -> None:
        super().__init__("0 ticks", id="clock")
        self._ticks = 0

    def connect(self, backend: Backend) -> None:
        pass

    def cannot_open(self, error: DonnaError) -> None:
        pass

    def action_state(self, base: ActionState) -> ActionState:
        return base

    def focus_first(self) -> None:
        self.focus()

    def go_back(self) -> None:
        pass

    def action_clock_tick(self) -> None:
        self._ticks += 1
        self.update(f"{self._ticks} ticks")
