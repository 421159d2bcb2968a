"""Define the protocol of a pane, and import the panes that are not needed for the first frame."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from donna_tui.platform.paths import style_sheet
from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.keymap import Keys
from donna_tui.tui.lib.panes import PANES, PaneEntry
from donna_tui.types.errors import DonnaError

if TYPE_CHECKING:
    from textual.css.stylesheet import Stylesheet
    from textual.widget import Widget


@runtime_checkable
class Pane(Protocol):
    """A screen with its own actions.

    A pane also handles the messages `EngineEvents` and `StatusChanged`, has a method `action_…` for each action of its
    context, which the help of the action describes, and posts `ActionsChanged` when other actions become possible.
    """

    def connect(self, backend: Backend) -> None:
        """Show the vault of a backend; called once, when its engine runs."""

    def cannot_open(self, error: DonnaError) -> None:
        """Show the reason why there is no engine."""

    def action_state(self, base: ActionState) -> ActionState:
        """Return the action state of this pane, based on the global one."""

    def focus_first(self) -> None:
        """Focus the initial part."""

    def go_back(self) -> bool:
        """Leave the current level. Return False at the outermost one."""


def import_later() -> None:
    """Import the modules of the other panes. Run on a thread, because this takes as long as about ten key presses."""
    for entry in _later():
        import_module(entry.module)


def later_panes(outside: ExternalPrograms, keys: Keys, styles: Stylesheet) -> Iterator[Widget]:
    """Create the other panes lazily, one by one; the style sheet of each is loaded first."""
    for entry in _later():
        with contextlib.suppress(FileNotFoundError):
            styles.read(style_sheet(entry.name))
        widget: Widget = getattr(import_module(entry.module), entry.widget)(outside, keys)
        yield widget


def _later() -> Iterator[PaneEntry]:
    """Return the panes that are not part of the first frame."""
    return islice(PANES.values(), 1, None)
