"""The text of a section, wrapped, with a bar beside the lines of the passage."""

from __future__ import annotations

from typing import ClassVar

from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from donna_tui.tui.bindings import bindings
from donna_tui.tui.widgets.markdown_lines import TextLine, markdown_lines
from donna_tui.tui.widgets.strips import content_strip

WIDEST_TEXT = 92
"""Longer lines are hard to read."""

_GUTTER = 2
_LINES_BEFORE_PASSAGE = 2
_STYLE_NAMES = ("bar", "heading", "code", "link", "strong", "emphasis", "gone", "mark", "quote", "dim", "passage")


class PassageView(ScrollView, can_focus=True, inherit_bindings=False):
    """A section of a note, rendered line by line and scrolled to its marked passage."""

    BINDINGS = bindings("list")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"md--{name}" for name in _STYLE_NAMES}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: tuple[TextLine, ...] = ()
        self._mark = range(0)
        self._rows: list[tuple[Content, bool]] = []
        self._laid_out_for = 0
        self._strips: LRUCache[int, Strip] = LRUCache(512)

    def show(self, text: str, mark: range = range(0)) -> None:
        """Show a section. The lines of `text` in `mark`, counted from 0, are marked and scrolled into view."""
        self._lines = tuple(markdown_lines(text))
        self._mark = mark
        self._lay_out()
        self._scroll_to_passage()

    @property
    def marked_rows(self) -> list[str]:
        """The rows on the screen that belong to the passage, as plain text."""
        return [content.plain for content, is_marked in self._rows if is_marked]

    def action_cursor_down(self) -> None:
        self.scroll_down(animate=False)

    def action_cursor_up(self) -> None:
        self.scroll_up(animate=False)

    def action_first(self) -> None:
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self.scroll_end(animate=False)

    def action_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def on_resize(self) -> None:
        if self._text_width != self._laid_out_for:
            self._lay_out()
            self._scroll_to_passage()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(content.plain for content, _ in self._rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        row, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if row >= len(self._rows) or width <= _GUTTER:
            return Strip.blank(width, self.rich_style)
        strip = self._strips.get(row)
        if strip is None:
            strip = self._strips[row] = self._draw(row, width)
        return strip

    @property
    def _text_width(self) -> int:
        return min(max(self.scrollable_content_region.width - _GUTTER - 1, 2), WIDEST_TEXT)

    def _draw(self, row: int, width: int) -> Strip:
        content, is_marked = self._rows[row]
        if self.text_selection is not None and (span := self.text_selection.get_span(row)) is not None:
            start, end = span
            style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(style, start, len(content) if end == -1 else end)
        gutter = Content.styled("▌ ", "bar") if is_marked else Content("  ")
        base = self.visual_style
        text = content_strip(content, base, self._style_of, width - _GUTTER).apply_offsets(0, row)
        return Strip.join([content_strip(gutter, base, self._style_of, _GUTTER), text])

    def _style_of(self, name: str | Style) -> Style:
        return name if isinstance(name, Style) else self.get_visual_style(f"md--{name}", partial=True)

    def _lay_out(self) -> None:
        self._laid_out_for = self._text_width
        self._rows = [
            (row, number in self._mark)
            for number, line in enumerate(self._lines)
            for row in wrapped(line, self._laid_out_for)
        ]
        self._strips.clear()
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows))
        self.refresh()

    def _scroll_to_passage(self) -> None:
        first = next((number for number, (_, is_marked) in enumerate(self._rows) if is_marked), 0)
        self.scroll_to(y=max(0, first - _LINES_BEFORE_PASSAGE), animate=False, immediate=True)


def wrapped(line: TextLine, width: int) -> list[Content]:
    """A line as rows of at most `width` cells; rows after the first are indented as its text is."""
    rows = line.content.wrap(width) if line.content else [line.content]
    if len(rows) == 1 or not 0 < line.hang <= width // 2:
        return rows
    rest = line.content[len(rows[0]) :]
    rest = rest[len(rest) - len(rest.plain.lstrip(" ")) :]
    return [rows[0], *(row.pad_left(line.hang) for row in rest.wrap(width - line.hang))]
