"""Measure, truncate, wrap and draw lines of styled runs.

`Content` offers the same and more, but is too slow for lists that are redrawn at each key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

_NARROW = re.compile("[ -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u203a\u2500-\u25fc]*")
"""Texts in which each character takes one cell: Latin, dashes, quotes, ellipsis, box lines. Rich would
look up every character of a text with a dash, a quote or an ellipsis.
"""

LINE_STYLES = (
    "plain strong muted quiet accent warning error added removed added-word removed-word added-mark removed-mark wanted"
    " wanted-word gap"
).split()
"""Style names for the spans of the lines of a list or a diff."""

MARKDOWN_STYLES = (
    "hit bar h1 h2 h3 heading code comment string number keyword link strong emphasis gone mark quote dim key note tip"
    " warning danger"
).split()
"""Style names for the spans of a rendered note, a hit in it, and the bar next to a passage."""

TEXT_CLASSES = {f"line--{name}" for name in LINE_STYLES} | {f"md--{name}" for name in MARKDOWN_STYLES}
"""The component classes of these styles. A screen has them for all views in it: Textual computes the styles of a view's
own classes again whenever the focus moves into or out of its panel.
"""

Run = tuple[str, str]
"""A sanitised text, and the name of its style; an empty name is the style of the line."""

Line = Sequence[Run]


def plain(line: Line) -> str:
    return "".join([text for text, _ in line])


def width_of(text: str) -> int:
    return len(text) if _NARROW.fullmatch(text) else cell_len(text)


def cells(line: Line) -> int:
    return sum([width_of(text) for text, _ in line])


def cut(line: Line, width: int) -> Line:
    """Truncate a line with an ellipsis if it is wider than `width` cells."""
    return line if cells(line) <= width else _styled_as(line, f"{_first_cells(plain(line), width - 1)}…")


def wrapped(line: Line, width: int, most: int) -> list[Line]:
    """Wrap a line at spaces into rows of at most `width` cells; an ellipsis marks the last of `most` rows if text
    remains.

    Only a word that is wider than a row is broken.
    """
    text, rows, start = plain(line), list[Line](), 0
    while start < len(text) and len(rows) < most:
        end = start + _filling(text[start:], width)
        rows.append(_part(line, start, end))
        start = end + text.startswith(" ", end)
    if rows and start < len(text):
        rows[-1] = [*_to_a_word(rows[-1], max(width - 2, 1)), (" …", line[-1][1])]
    return rows


def _filling(text: str, width: int) -> int:
    """Count the characters of a text that fit in a row of `width` cells."""
    if width_of(text) <= width:
        return len(text)
    kept = _first_cells(text, width)
    fits = len(kept) - (not text.startswith(kept))  # half of a wide letter has become a space
    space = text.rfind(" ", 0, fits + 1)
    return space if space > 0 else max(1, fits)


def _first_cells(text: str, width: int) -> str:
    """Return the beginning of a wider text that fills `width` cells."""
    with_next = _NARROW.fullmatch(text, 0, width + 1)  # the next character may be an accent on the last one
    return text[:width] if with_next else set_cell_size(text, width)


def _to_a_word(row: Line, width: int) -> Line:
    """Return the words of a row that fit, or a part of the first one if it is too wide."""
    text = plain(row)
    if width_of(text) <= width:
        return row
    text = _first_cells(text, width)
    return _styled_as(row, text[: text.rfind(" ")] if text.rfind(" ") > 0 else text)


def _part(line: Line, start: int, end: int) -> Line:
    runs, position = [], 0
    for text, style in line:
        if piece := text[max(0, start - position) : max(0, end - position)]:
            runs.append((piece, style))
        position += len(text)
    return runs


def _styled_as(line: Line, text: str) -> Line:
    """Apply the styles of a line to another text that is not longer."""
    runs, position = [], 0
    for before, style in line:
        runs.append((text[position : position + len(before)], style))
        position += len(before)
    return runs


StyleOf = Callable[[str | Style], Style]


def content_strip(content: Content, base: Style, style_of: StyleOf, width: int) -> Strip:
    """Render one line of content on `base`, exactly `width` cells. `style_of` maps the names in its spans to styles."""
    segments = [Segment(text, style.rich_style) for text, style in content.render(base, end="", parse_style=style_of)]
    return Strip(segments).adjust_cell_length(width, base.rich_style)
