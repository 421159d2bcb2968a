"""Lines as Markdown defines them, so that citations have the same line numbers as editors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n?|\n")


def each_line(text: str, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield each line from the line start `start` on: offset, end without its line break, offset of the next line.

    Lines end at LF, CRLF or a lone CR only (CommonMark 0.31 §2.1), unlike those of `str.splitlines`.
    """
    for match in _LINE_END.finditer(text, start):
        yield start, match.start(), match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text), len(text)


def split_lines(text: str, *, keep_ends: bool = False) -> list[str]:
    return [text[start : after if keep_ends else end] for start, end, after in each_line(text)]


def line_starts(text: str) -> list[int]:
    """Return the offset of each line, in order; never empty, because even an empty text has a first line."""
    return [start for start, _, _ in each_line(text)] or [0]


def line_of(starts: list[int], offset: int) -> int:
    """Return the 1-based number of the line that contains `offset`."""
    return bisect_right(starts, offset)
