"""A list of rows, one of which is selected: the tree, the history, the queue of drafts. Rows are equally high."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message

from donna_tui.tui.widgets.jump import JumpTarget
from donna_tui.tui.widgets.scrolled import Scrolled

_GUTTER = 2


class RowList(Scrolled):
    """Moves a cursor over rows of `row_height` lines. A subclass draws them; `selected_index` is the row under the
    cursor.
    """

    row_height: ClassVar[int] = 1

    class Selected(Message):
        """Another row is selected, or the selected one is another now."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            return self.rows

    class Opened(Message):
        """The selected row was double-clicked."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            return self.rows

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.selected_index = 0

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self.line_count // self.row_height

    def row(self, index: int, width: int) -> Content:
        """What is in a row of `width` cells, or in the first line of it."""
        raise NotImplementedError

    def row_part(self, index: int, part: int, width: int) -> Content:
        """What is in one of the lines of a row."""
        return self.row(index, width)

    def line(self, index: int, width: int) -> Content:
        row, part = divmod(index, self.row_height)
        mark = Content.styled("▌ ", "cursor") if row == self.selected_index else Content("  ")
        return mark + self.row_part(row, part, width - _GUTTER - 1)

    def base_of(self, index: int) -> str:
        return "selected" if index // self.row_height == self.selected_index else ""

    def rows_changed(self, selected: int) -> None:
        """There are other rows now; the cursor goes to `selected`."""
        self.selected_index = max(0, min(selected, self.row_count - 1))
        self.lines_changed()
        self._show_cursor()
        self.post_message(self.Selected(self))

    def select(self, index: int) -> None:
        """Move the cursor, to the nearest row if there is none at `index`."""
        index = max(0, min(index, self.row_count - 1))
        if self.row_count and index != self.selected_index:
            self.selected_index = index
            self._show_cursor()
            self.refresh()
            self.post_message(self.Selected(self))

    def jump_targets(self) -> list[JumpTarget]:
        """The rows in sight, for jump mode."""
        top, high = self.scroll_offset.y, self.row_height
        last = min(top + self.size.height, self.line_count)
        x, y = self.content_region.offset
        return [
            JumpTarget(x, y + row * high - top, partial(self._jump_to, row))
            for row in range(-(-top // high), -(-last // high))
        ]

    def action_cursor_down(self) -> None:
        self.select(self.selected_index + 1)

    def action_cursor_up(self) -> None:
        self.select(self.selected_index - 1)

    def action_first(self) -> None:
        self.select(0)

    def action_last(self) -> None:
        self.select(self.row_count - 1)

    def action_page_down(self) -> None:
        self.select(self.selected_index + self._page)

    def action_page_up(self) -> None:
        self.select(self.selected_index - self._page)

    def on_resize(self) -> None:
        self.lines_changed()
        self._show_cursor()

    def on_click(self, event: events.Click) -> None:
        """Select the row under the mouse; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y + self.scroll_offset.y >= self.line_count:
            return
        self.select((offset.y + self.scroll_offset.y) // self.row_height)
        if event.chain == 2:
            self.post_message(self.Opened(self))

    @property
    def _page(self) -> int:
        return max(1, self.size.height // self.row_height - 1)

    def _jump_to(self, index: int) -> None:
        self.focus()
        self.select(index)

    def _show_cursor(self) -> None:
        region = Region(0, self.selected_index * self.row_height, 1, self.row_height)
        self.scroll_to_region(region, animate=False, immediate=True, x_axis=False)
