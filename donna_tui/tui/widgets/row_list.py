"""A list of rows of one line, one of which is selected: the tree, the history, the blame."""

from __future__ import annotations

from functools import partial

from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message

from donna_tui.tui.widgets.jump import JumpTarget
from donna_tui.tui.widgets.scrolled import Scrolled

_GUTTER = 2


class RowList(Scrolled):
    """Moves a cursor over rows. A subclass draws them; `selected_index` is the row under the cursor."""

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

    def row(self, index: int, width: int) -> Content:
        """What is in a row of `width` cells."""
        raise NotImplementedError

    def line(self, index: int, width: int) -> Content:
        mark = Content.styled("▌ ", "cursor") if index == self.selected_index else Content("  ")
        return mark + self.row(index, width - _GUTTER - 1)

    def base_of(self, index: int) -> str:
        return "selected" if index == self.selected_index else ""

    def rows_changed(self, selected: int) -> None:
        """There are other rows now; the cursor goes to `selected`."""
        self.selected_index = max(0, min(selected, self.line_count - 1))
        self.lines_changed()
        self._show_cursor()
        self.post_message(self.Selected(self))

    def select(self, index: int) -> None:
        """Move the cursor, to the nearest row if there is none at `index`."""
        index = max(0, min(index, self.line_count - 1))
        if self.line_count and index != self.selected_index:
            self.selected_index = index
            self._show_cursor()
            self.refresh()
            self.post_message(self.Selected(self))

    def jump_targets(self) -> list[JumpTarget]:
        """The rows in sight, for jump mode."""
        top = self.scroll_offset.y
        last = min(top + self.size.height, self.line_count)
        x, y = self.content_region.offset
        return [JumpTarget(x, y + index - top, partial(self._jump_to, index)) for index in range(top, last)]

    def action_cursor_down(self) -> None:
        self.select(self.selected_index + 1)

    def action_cursor_up(self) -> None:
        self.select(self.selected_index - 1)

    def action_first(self) -> None:
        self.select(0)

    def action_last(self) -> None:
        self.select(self.line_count - 1)

    def action_page_down(self) -> None:
        self.select(self.selected_index + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self.select(self.selected_index - max(1, self.size.height - 1))

    def on_resize(self) -> None:
        self.lines_changed()
        self._show_cursor()

    def on_click(self, event: events.Click) -> None:
        """Select the row under the mouse; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y + self.scroll_offset.y >= self.line_count:
            return
        self.select(offset.y + self.scroll_offset.y)
        if event.chain == 2:
            self.post_message(self.Opened(self))

    def _jump_to(self, index: int) -> None:
        self.focus()
        self.select(index)

    def _show_cursor(self) -> None:
        region = Region(0, self.selected_index, 1, 1)
        self.scroll_to_region(region, animate=False, immediate=True, x_axis=False)
