"""The panes behind the first one: imported, styled and drawn after it, since they would be a quarter of the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from donna_tui.resources import style_sheet
from donna_tui.tui.action import Pane as PaneName
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.outside import Outside

if TYPE_CHECKING:
    from textual.css.stylesheet import Stylesheet
    from textual.widget import Widget


def import_later() -> None:
    """Import what draws them. On a thread, since it takes as long as some ten keys."""
    from donna_tui.tui.panes import activity, meetings, memory, review, vault  # noqa: F401


def later_panes(outside: Outside, keys: Keys, styles: Stylesheet) -> Iterator[Widget]:
    """Make them one by one, each when it is asked for; what draws them is told their style sheet before each."""
    from donna_tui.tui.panes.activity import ActivityPane
    from donna_tui.tui.panes.meetings import MeetingsPane
    from donna_tui.tui.panes.memory import MemoryPane
    from donna_tui.tui.panes.review import ReviewPane
    from donna_tui.tui.panes.vault import VaultPane

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
