"""Define the protocol of a pane, and import the panes that are not needed for the first frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from donna_tui.platform.paths import style_sheet
from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.action import Pane as PaneName
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.keymap import Keys
from donna_tui.types.errors import DonnaError

if TYPE_CHECKING:
    from textual.css.stylesheet import Stylesheet
    from textual.widget import Widget


@runtime_checkable
class Pane(Protocol):
    """A screen with its own actions.

    A pane also handles the messages `EngineEvents` and `StatusChanged`, has a method `action_…` for each action of its
    context, and posts `ActionsChanged` when other actions become possible.
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
    from donna_tui.tui.activity import pane as activity  # noqa: F401
    from donna_tui.tui.meetings import pane as meetings  # noqa: F401
    from donna_tui.tui.memory import pane as memory  # noqa: F401
    from donna_tui.tui.review import pane as review  # noqa: F401
    from donna_tui.tui.vault import pane as vault  # noqa: F401


def later_panes(outside: ExternalPrograms, keys: Keys, styles: Stylesheet) -> Iterator[Widget]:
    """Create the other panes lazily, one by one; the style sheet of each is loaded first."""
    from donna_tui.tui.activity.pane import ActivityPane
    from donna_tui.tui.meetings.pane import MeetingsPane
    from donna_tui.tui.memory.pane import MemoryPane
    from donna_tui.tui.review.pane import ReviewPane
    from donna_tui.tui.vault.pane import VaultPane

    makers: dict[PaneName, Callable[[], Widget]] = {
        "vault": lambda: VaultPane(outside, keys),
        "review": lambda: ReviewPane(outside, keys),
        "meetings": lambda: MeetingsPane(outside, keys),
        "memory": lambda: MemoryPane(outside, keys),
        "activity": lambda: ActivityPane(id="activity"),
    }
    for name, make in makers.items():
        styles.read(style_sheet(name))
        yield make()
