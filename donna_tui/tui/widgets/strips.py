"""From styled text to strips of the screen, for widgets that draw their own lines."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

StyleOf = Callable[[str | Style], Style]


def content_strip(content: Content, base: Style, style_of: StyleOf, width: int) -> Strip:
    """One line of content on `base`, exactly `width` cells. `style_of` turns the names in its spans into styles."""
    segments = [Segment(text, style.rich_style) for text, style in content.render(base, end="", parse_style=style_of)]
    return Strip(segments).adjust_cell_length(width, base.rich_style)
