"""A window with a difference in it, and the keys that change how it is laid out."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import BindingType
from textual.getters import query_one

from donna_tui.tui.bindings import action_binding
from donna_tui.tui.screens.dialogue import Dialogue
from donna_tui.tui.widgets.diff_view import DiffView
from donna_tui.tui.widgets.key_line import Item

T = TypeVar("T")

LOOK: tuple[Item, ...] = (("plan.layout", "side by side"), ("plan.unfold", "unchanged"))
"""The keys for it, as they stand in a key line."""


class DiffDialogue(Dialogue[T]):
    """Base of windows that show what would change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding("plan.layout", "screen.plan_layout"),
        action_binding("plan.unfold", "screen.plan_unfold"),
        action_binding("plan.wrap", "screen.plan_wrap"),
    ]

    view = query_one(DiffView)

    def action_plan_layout(self) -> None:
        """Side by side, or below each other."""
        self.view.toggle_layout()

    def action_plan_unfold(self) -> None:
        """Show or fold unchanged lines."""
        self.view.toggle_unchanged()

    def action_plan_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self.view.toggle_wrap()
