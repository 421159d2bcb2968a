"""The panes behind the first one: imported, styled and drawn after it, since they would be a quarter of the start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from donna_tui.resources import style_sheet
from donna_tui.tui.action import Pane as PaneName
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.outside import Outside

if TYPE_CHECKING:
    from textual.css.stylesheet import Stylesheet
    from textual.widget import Widget

LATER: tuple[PaneName, ...] = ("vault", "review", "meetings", "memory", "activity")


def later_panes(outside: Outside, keys: Keys, styles: Stylesheet) -> Iterator[Widget]:
    """Make them one by one, in the order of `LATER`; what draws them is told their style sheet before each."""
    for name in LATER:
        styles.read(style_sheet(name))
        yield _pane(name, outside, keys)


def _pane(name: PaneName, outside: Outside, keys: Keys) -> Widget:
    if name == "vault":
        from donna_tui.tui.panes.vault import VaultPane

        return VaultPane(outside, keys)
    if name == "review":
        from donna_tui.tui.panes.review import ReviewPane

        return ReviewPane(outside, keys)
    if name == "meetings":
        from donna_tui.tui.panes.meetings import MeetingsPane

        return MeetingsPane(outside, keys)
    if name == "memory":
        from donna_tui.tui.panes.memory import MemoryPane

        return MemoryPane(outside, keys)
    from donna_tui.tui.panes.activity import ActivityPane

    return ActivityPane(id="activity")
