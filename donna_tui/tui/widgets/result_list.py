"""The list of results. Draws only the rows in sight, so that two hundred results cost no more than ten."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from donna_tui.results import Hit
from donna_tui.tui.bindings import bindings
from donna_tui.tui.widgets.jump import JumpTarget
from donna_tui.tui.widgets.result_row import Row, row_lines
from donna_tui.tui.widgets.strips import content_strip

_GUTTER = 3
_RIGHT_MARGIN = 1
_FIXED_LINES = 3
_STYLE_NAMES = ("title", "near", "trail", "path", "why", "score", "bar", "rest", "snippet", "match", "cursor")


class ResultList(ScrollView, can_focus=True, inherit_bindings=False):
    """Results, one of them selected. `show` keeps the selection on the same passage."""

    BINDINGS = bindings("list")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"result--{name}" for name in _STYLE_NAMES} | {"result--selected"}

    class Selected(Message):
        """Another result is selected, or none."""

        def __init__(self, hit: Hit | None) -> None:
            super().__init__()
            self.hit = hit

    class Opened(Message):
        """The selected result was double-clicked."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: tuple[Row, ...] = ()
        self._index = 0
        self._snippet_lines = 1
        self._strips: LRUCache[tuple[int, int, bool, bool], Strip] = LRUCache(512)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, best first."""
        return self._rows

    @property
    def index(self) -> int:
        """The place of the selected row, from 0."""
        return self._index

    @property
    def selected(self) -> Hit | None:
        """The selected hit."""
        return self._rows[self._index].hit if self._rows else None

    @property
    def snippet_lines(self) -> int:
        """How many lines of its snippet a row shows."""
        return self._snippet_lines

    @snippet_lines.setter
    def snippet_lines(self, lines: int) -> None:
        if lines != self._snippet_lines:
            self._snippet_lines = lines
            self._lay_out()
            self._scroll_to_selected()

    @property
    def row_height(self) -> int:
        """Lines of a row, with the blank one after it."""
        return _FIXED_LINES + self._snippet_lines

    def show(self, rows: tuple[Row, ...], *, keep: str = "") -> None:
        """Replace the rows. The passage with chunk id `keep` is selected, if it is among them, else the first row."""
        before = self.selected
        self._rows = rows
        self._index = next((place for place, row in enumerate(rows) if row.hit.chunk_id == keep), 0)
        self._lay_out()
        self._scroll_to_selected()
        if self.selected != before:
            self.post_message(self.Selected(self.selected))

    def select(self, index: int) -> None:
        """Select a row, the nearest one if there is none at `index`."""
        index = max(0, min(index, len(self._rows) - 1))
        if self._rows and index != self._index:
            self._index = index
            self._scroll_to_selected()
            self.refresh()
            self.post_message(self.Selected(self.selected))

    def jump_targets(self) -> list[JumpTarget]:
        """The rows in sight, for jump mode."""
        top, height = self.scroll_offset.y, self.row_height
        first, last = -(-top // height), (top + self.size.height - 1) // height
        x, y = self.content_region.offset
        return [
            JumpTarget(x, y + place * height - top, partial(self._jump_to, place))
            for place in range(first, min(last + 1, len(self._rows)))
        ]

    def action_cursor_down(self) -> None:
        self.select(self._index + 1)

    def action_cursor_up(self) -> None:
        self.select(self._index - 1)

    def action_first(self) -> None:
        self.select(0)

    def action_last(self) -> None:
        self.select(len(self._rows) - 1)

    def action_page_down(self) -> None:
        self.select(self._index + self._rows_in_sight)

    def action_page_up(self) -> None:
        self.select(self._index - self._rows_in_sight)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        place = (offset.y + self.scroll_offset.y) // self.row_height
        if place < len(self._rows):
            self.select(place)
            if event.chain == 2:
                self.post_message(self.Opened())

    def on_resize(self) -> None:
        self._lay_out()
        self._scroll_to_selected()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        place, line = divmod(y + self.scroll_offset.y, self.row_height)
        width = self.scrollable_content_region.width
        if place >= len(self._rows) or width <= _GUTTER + _RIGHT_MARGIN:
            return Strip.blank(width, self.rich_style)
        key = (place, line, place == self._index, self.has_focus)
        strip = self._strips.get(key)
        if strip is None:
            self._draw(place)
            strip = self._strips[key]
        return strip

    @property
    def _rows_in_sight(self) -> int:
        return max(1, self.size.height // self.row_height)

    def _jump_to(self, place: int) -> None:
        self.focus()
        self.select(place)

    def _draw(self, place: int) -> None:
        is_selected = place == self._index
        base = self.get_visual_style("result--selected") if is_selected else self.visual_style
        width = self.scrollable_content_region.width
        lines = row_lines(self._rows[place], width - _GUTTER - _RIGHT_MARGIN, self._snippet_lines)
        cursor = Content.styled(" ▌ ", "cursor") if is_selected else Content("   ")
        for number, content in enumerate([*(cursor + line for line in lines), Content("")]):
            is_gap = number == len(lines)
            strip = content_strip(content, self.visual_style if is_gap else base, self._style_of, width)
            self._strips[place, number, is_selected, self.has_focus] = strip

    def _style_of(self, name: str | Style) -> Style:
        if isinstance(name, Style):
            return name
        return self.get_visual_style(f"result--{name}", partial=True)

    def _lay_out(self) -> None:
        self._strips.clear()
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows) * self.row_height)
        self.refresh()

    def _scroll_to_selected(self) -> None:
        region = Region(0, self._index * self.row_height, 1, self.row_height)
        self.scroll_to_region(region, animate=False, immediate=True, x_axis=False)
