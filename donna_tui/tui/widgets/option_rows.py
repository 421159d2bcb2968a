"""An option list whose rows carry what they stand for, and which outlives clicks on rows that are gone."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual import events
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

T = TypeVar("T")


class ValueOption(Option, Generic[T]):
    """A row with its value. A message about a row may arrive after the list was narrowed, when the row number in it
    means another row or none.
    """

    def __init__(self, row: Content, value: T, *, disabled: bool = False) -> None:
        super().__init__(row, disabled=disabled)
        self.value = value


class OptionRows(OptionList):
    """A list whose rows may be replaced at any time, and which bears keys before it has a size."""

    def action_page_up(self) -> None:
        """Do nothing before there is a page: `OptionList` looks up lines that it has not laid out yet."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Do nothing before there is a page, as in `action_page_up`."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]

    def on_click(self, event: events.Click) -> None:
        """Ignore a click on a row that has left the list since the screen was drawn."""
        row = event.style.meta.get("option")
        if row is not None and row >= self.option_count:
            event.prevent_default()
