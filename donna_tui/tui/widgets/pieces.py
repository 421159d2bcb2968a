"""A line of a screen as pieces of text, each with the name of its style.

`Content` says the same and can do more; where a list is drawn anew with each key, that shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

Piece = tuple[str, str]
"""A text that is safe to show, and the name of its style; an empty name is the style of the line."""

Line = Sequence[Piece]


def plain(line: Line) -> str:
    """Its text alone."""
    return "".join([text for text, _ in line])


def cells(line: Line) -> int:
    """How wide it is."""
    return sum([cell_len(text) for text, _ in line])


def cut(line: Line, width: int) -> Line:
    """The line with an ellipsis at its end where it is wider than `width` cells."""
    return line if cells(line) <= width else _styled_as(line, f"{set_cell_size(plain(line), width - 1)}…")


def wrapped(line: Line, width: int, most: int) -> list[Line]:
    """Rows of at most `width` cells, broken at spaces; the last of `most` says that there is more.

    Only a word that is wider than a row is broken itself.
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
    """How many characters of a text are in a row of `width` cells."""
    if cell_len(text) <= width:
        return len(text)
    fits = width
    if cell_len(text[:width]) != width:
        kept = set_cell_size(text, width)
        fits = len(kept) - (not text.startswith(kept))  # half of a wide letter has become a space
    space = text.rfind(" ", 0, fits + 1)
    return space if space > 0 else max(1, fits)


def _to_a_word(row: Line, width: int) -> Line:
    """As many of its words as have room; a part of the first one if that is too wide already."""
    text = plain(row)
    if cell_len(text) <= width:
        return row
    text = set_cell_size(text, width)
    return _styled_as(row, text[: text.rfind(" ")] if text.rfind(" ") > 0 else text)


def _part(line: Line, start: int, end: int) -> Line:
    """Its characters from `start` to `end`."""
    pieces, position = [], 0
    for text, style in line:
        if piece := text[max(0, start - position) : max(0, end - position)]:
            pieces.append((piece, style))
        position += len(text)
    return pieces


def _styled_as(line: Line, text: str) -> Line:
    """Another text in the styles of a line, which is as long or longer."""
    pieces, position = [], 0
    for before, style in line:
        pieces.append((text[position : position + len(before)], style))
        position += len(before)
    return pieces
