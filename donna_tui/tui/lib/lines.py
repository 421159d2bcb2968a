"""Views that draw only the visible lines: LineView, and lists with a cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, partialmethod
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

from textual import events
from textual.content import Content
from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.styled import content_strip

OWN_STYLES = ("selected", "cursor")
"""Style names that depend on the focus: component classes of the view; those of `LINE_STYLES` belong to its screen."""

_FILLED = frozenset(("selected", "added", "removed", "added-word", "removed-word", "wanted", "wanted-word", "gap"))
"""Styles with a background, which Textual omits from a partial style."""


def set_content_height(view: ScrollView, lines: int) -> None:
    """Update a view for another number of lines without laying out the screen, as Textual does for another
    `virtual_size`, which takes 10 to 20 ms. It is laid out only if the height of the view depends on its lines, or the
    scroll bar appears or disappears.
    """
    size = Size(view.scrollable_content_region.width, lines)
    has_bar = view.styles.overflow_y == "scroll" or lines > view.container_size.height
    if view.styles.auto_dimensions or has_bar != view.show_vertical_scrollbar:
        view.virtual_size = size
        return
    view.set_reactive(Widget.virtual_size, size)
    view.scroll_y = view.validate_scroll_y(view.scroll_y)
    if has_bar:  # drawn in the next frame: together, the bar delays the lines by as much as they take
        view.call_after_refresh(setattr, view.vertical_scrollbar, "window_virtual_size", lines)


class ScrollKeys(ScrollView, can_focus=True, inherit_bindings=False):
    """Scroll a view with the keys of a list."""

    BINDINGS = bindings("list")

    action_cursor_down = partialmethod(ScrollView.scroll_down, animate=False)
    action_cursor_up = partialmethod(ScrollView.scroll_up, animate=False)
    action_first = partialmethod(ScrollView.scroll_home, animate=False)
    action_last = partialmethod(ScrollView.scroll_end, animate=False)
    action_page_down = partialmethod(ScrollView.scroll_page_down, animate=False)
    action_page_up = partialmethod(ScrollView.scroll_page_up, animate=False)

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Set the position of a scroll bar that appears after the view was scrolled."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y


class LineView(ScrollKeys):
    """Base of views of lines. A subclass provides the lines."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{name}" for name in OWN_STYLES}

    empty_text = ""
    _laid_out_width = 0

    @property
    def line_count(self) -> int:
        raise NotImplementedError

    def line(self, index: int, width: int) -> Content:
        """Return a line for a view of `width` cells. Its spans have names of `LINE_STYLES` or `OWN_STYLES`."""
        raise NotImplementedError

    def base_of(self, index: int) -> str:
        """Return the name of the style that fills a whole line, or an empty string."""
        return ""

    def lines_changed(self) -> None:
        width = self.scrollable_content_region.width
        self._laid_out_width = self._laid_out_width if width else 0
        set_content_height(self, self.line_count)
        self.refresh()

    def on_resize(self) -> None:
        self._laid_out_width = self.scrollable_content_region.width
        self.lines_changed()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if width and not self._laid_out_width:
            # When a hidden view receives the focus, Textual lays out the screen but sends no Resize.
            self._laid_out_width = width
            self.post_message(Resize(self.size, self.virtual_size, self.container_size))
        index = y + self.scroll_offset.y
        if not self.line_count:
            return self._empty_line(y, width)
        if index >= self.line_count or width < 1:
            return Strip.blank(width, self.rich_style)
        name = self.base_of(index)
        base = self._style_of(name) if name else self.visual_style
        return content_strip(self.line(index, width), base, self._style_of, width)

    def _empty_line(self, y: int, width: int) -> Strip:
        rows = Content(self.empty_text).wrap(max(10, width - 4)) if self.empty_text else []
        index = y - max(0, (self.size.height - len(rows)) // 3)
        if not 0 <= index < len(rows) or width < 1:
            return Strip.blank(width, self.rich_style)
        text = rows[index].center(width)
        return content_strip(text.stylize("quiet"), self.visual_style, self._style_of, width)

    def _style_of(self, name: str | Style) -> Style:
        if isinstance(name, Style):
            return name
        owner = self if name in OWN_STYLES else self.screen
        return owner.get_visual_style(f"line--{name}", partial=name not in _FILLED)


def row_of(left: Content, right: Content, width: int) -> Content:
    """Return a line with right-aligned content; the left side is truncated if there is no room for both."""
    room = width - (right.cell_length + 1 if right else 0)
    if room < 4:
        return left.truncate(width, ellipsis=True, pad=True)
    return Content.assemble(left.truncate(room, ellipsis=True, pad=True), " " if right else "", right)


class CursorView(ScrollKeys):
    """Base of views with a cursor over rows of `row_height` lines; `selected_index` is the row under it."""

    row_height = 1
    selected_index = 0

    class Opened(Message):
        """The selected row was double-clicked."""

    @property
    def row_count(self) -> int:
        raise NotImplementedError

    def cursor_moved(self) -> None:
        """Draw the new selection, and post a message about it."""
        raise NotImplementedError

    def select(self, index: int) -> None:
        """Move the cursor to the row `index`, or the nearest one."""
        index = max(0, min(index, self.row_count - 1))
        if self.row_count and index != self.selected_index:
            self.selected_index = index
            self._show_cursor()
            self.cursor_moved()

    def jump_targets(self) -> list[JumpTarget]:
        top, high = self.scroll_offset.y, self.row_height
        last = min(top + self.size.height, self.row_count * high)
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

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y + self.scroll_offset.y >= self.row_count * self.row_height:
            return
        self.select((offset.y + self.scroll_offset.y) // self.row_height)
        if event.chain == 2:
            self.post_message(self.Opened())

    @property
    def _page(self) -> int:
        return max(1, self.size.height // self.row_height - 1)

    def _jump_to(self, index: int) -> None:
        self.focus()
        self.select(index)

    def _show_cursor(self) -> None:
        region = Region(0, self.selected_index * self.row_height, 1, self.row_height)
        # Forced, since after the first rows the scroll bar appears only in the next frame.
        self.scroll_to_region(region, animate=False, immediate=True, x_axis=False, force=True)


_GUTTER = 2


class RowList(LineView, CursorView):
    """A list with a cursor. A subclass draws the rows."""

    has_cursor = True
    """False after the selected row was removed by another program, until the cursor is moved."""

    @dataclass
    class Selected(Message):
        """Another row is selected, or the selected row was replaced."""

        rows: RowList

    @property
    def row_count(self) -> int:
        return self.line_count // self.row_height

    def row(self, index: int, width: int) -> Content:
        """Return a row of `width` cells."""
        raise NotImplementedError

    def row_part(self, index: int, part: int, width: int) -> Content:
        """Return one line of a row; a subclass with several lines for each row overrides this instead of `row`."""
        return self.row(index, width)

    def line(self, index: int, width: int) -> Content:
        row, part = divmod(index, self.row_height)
        mark = Content.styled("▌ ", "cursor") if self._is_selected(row) else Content("  ")
        return mark + self.row_part(row, part, width - _GUTTER - 1)

    def base_of(self, index: int) -> str:
        return "selected" if self._is_selected(index // self.row_height) else ""

    def _is_selected(self, row: int) -> bool:
        return self.has_cursor and row == self.selected_index

    def select(self, index: int) -> None:
        if not self.has_cursor and self.row_count:
            self.has_cursor, self.selected_index = True, -1
        super().select(index)

    def action_cursor_down(self) -> None:
        self.select(self.selected_index + 1 if self.has_cursor else self.selected_index)

    def rows_changed(self, selected: int) -> None:
        """Update the list after the rows have changed, and select the row `selected`."""
        self.selected_index = max(0, min(selected, self.row_count - 1))
        self.lines_changed()
        self._show_cursor()
        self.post_message(self.Selected(self))

    def cursor_moved(self) -> None:
        self.refresh()
        self.post_message(self.Selected(self))

    def on_resize(self) -> None:
        self.lines_changed()
        self._show_cursor()


T = TypeVar("T")


class ItemList(RowList, Generic[T]):
    """A list of items. The cursor skips those that cannot be selected, such as headings between the others."""

    items: Sequence[T] = ()

    key: Callable[[Any], object] = staticmethod(lambda item: item)
    """Returns what an item has in common with a newer version of it."""

    def can_select(self, item: T) -> bool:
        return True

    def set_items(self, items: Sequence[T], *, select: object = None, otherwise: int = 0) -> None:
        """Replace the items, and select the one with the key `select`, else the one selected before, else a row."""
        before = self.key(self.selected) if self.selected is not None else None
        self.items = items
        keys = [self.key(item) for item in items]
        found = (keys.index(key) for key in (select, before) if key is not None and key in keys)
        self.rows_changed(self._nearest(next(found, otherwise)))

    def select(self, index: int) -> None:
        super().select(self._nearest(index))

    def _nearest(self, index: int) -> int:
        """Return the nearest row that can be selected: in the direction of the movement, else in the other one."""
        index = max(0, min(index, len(self.items) - 1))
        after, before = range(index, len(self.items)), range(index, -1, -1)
        order = chain(after, before) if index >= self.selected_index else chain(before, after)
        return next((row for row in order if self.items and self.can_select(self.items[row])), index)

    @property
    def line_count(self) -> int:
        return len(self.items) * self.row_height

    @property
    def selected(self) -> T | None:
        return self.items[self.selected_index] if self.has_cursor and self.selected_index < len(self.items) else None
