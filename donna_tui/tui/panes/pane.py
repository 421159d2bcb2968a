"""What the main screen expects of a pane, besides being a widget."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from donna_tui.errors import DonnaError
from donna_tui.tui.action import ActionState
from donna_tui.tui.backend import Backend


@runtime_checkable
class Pane(Protocol):
    """A screenful with actions of its own.

    Besides this it handles the messages `EngineEvents` and `StatusChanged`, has a method `action_…` for each action of
    its context, and posts `ActionsChanged` when other actions become possible.
    """

    def connect(self, backend: Backend) -> None:
        """Begin to show a vault; called once, when its engine runs."""

    def cannot_open(self, error: DonnaError) -> None:
        """Say why there is no engine."""

    def action_state(self, base: ActionState) -> ActionState:
        """What is possible here, on top of what is true everywhere."""

    def focus_first(self) -> None:
        """Put the focus where one begins."""

    def go_back(self) -> bool:
        """One level out. False if this is the outermost one."""
