"""Lines that are drawn only while they are in sight, so that ten thousand of them cost no more than forty."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from donna_tui.tui.bindings import bindings
from donna_tui.tui.widgets.strips import content_strip

STYLES = (
    "plain",
    "strong",
    "muted",
    "quiet",
    "accent",
    "warning",
    "error",
    "selected",
    "cursor",
    "added",
    "removed",
    "added-word",
    "removed-word",
    "added-mark",
    "removed-mark",
    "wanted",
    "wanted-word",
    "gap",
)
"""Names that the spans of a line may carry; each is a component class `line--…`."""

_FILLED = frozenset(("selected", "added", "removed", "added-word", "removed-word", "wanted", "wanted-word", "gap"))
"""Those with a background, which Textual leaves out of a partial style."""


class Scrolled(ScrollView, can_focus=True, inherit_bindings=False):
    """Base of views of lines. A subclass says how many there are and what is in each; keys for lists scroll."""

    BINDINGS = bindings("list")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{name}" for name in STYLES}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.empty_text = ""
        self._told_width = 0

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def line(self, index: int, width: int) -> Content:
        """What is in a line, for a view of `width` cells. Its spans carry names of `STYLES`."""
        raise NotImplementedError

    def base_of(self, index: int) -> str:
        """The name of the style that fills a whole line, or nothing."""
        return ""

    def lines_changed(self) -> None:
        """There are other lines now."""
        width = self.scrollable_content_region.width
        self._told_width = self._told_width if width else 0
        self.virtual_size = Size(width, self.line_count)
        self.refresh()

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
        self._told_width = self.scrollable_content_region.width
        self.lines_changed()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if width and not self._told_width:
            # Where the focus comes to a hidden view, Textual lays the screen out to find it, and tells of no size.
            self._told_width = width
            self.post_message(Resize(self.size, self.virtual_size, self.container_size))
        index = y + self.scroll_offset.y
        if not self.line_count:
            return self._empty_line(y, width)
        if index >= self.line_count or width < 1:
            return Strip.blank(width, self.rich_style)
        name = self.base_of(index)
        base = self.get_visual_style(f"line--{name}") if name else self.visual_style
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
        return self.get_visual_style(f"line--{name}", partial=name not in _FILLED)


def row_of(left: Content, right: Content, width: int) -> Content:
    """A line with something at its right end; the left side is cut where there is no room for both."""
    room = width - (right.cell_length + 1 if right else 0)
    if room < 4:
        return left.truncate(width, ellipsis=True, pad=True)
    return Content.assemble(left.truncate(room, ellipsis=True, pad=True), " " if right else "", right)
