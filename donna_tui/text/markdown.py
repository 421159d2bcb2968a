"""Cuts a note into sections: a heading with the headings above it, and the text up to the next heading."""

from __future__ import annotations

from collections.abc import Iterator

from donna_tui.records import dataclass
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.outline import Heading, headings

HEADING_CHARS = 500
"""A longer heading is shortened in the heading path: every passage below it repeats the path."""


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a note, by half-open character offsets and by 1-based, inclusive lines of the whole text.

    Level 0, with an empty heading path, is the text before the first heading. `body_start` is the offset after the
    lines of the heading itself. Headings without words appear in no path.
    """

    heading_path: tuple[str, ...]
    level: int
    start: int
    end: int
    start_line: int
    end_line: int
    body_start: int


def split_sections(text: str, start: int = 0) -> list[Section]:
    """The sections of `text` from the line start `start` on: in order, without gaps, in linear time on any input."""
    if start >= len(text):
        return []
    found = headings(text, start)
    bounds = [*(heading.start for heading in found), len(text)]
    starts = line_starts(text)
    preamble = [_section((), Heading(0, "", start, start), bounds[0], starts)] if bounds[0] > start else []
    below = zip(_paths(found), bounds[1:], strict=True)
    return preamble + [_section(path, heading, end, starts) for (path, heading), end in below]


def _section(path: tuple[str, ...], heading: Heading, end: int, starts: list[int]) -> Section:
    return Section(
        heading_path=path,
        level=heading.level,
        start=heading.start,
        end=end,
        start_line=line_of(starts, heading.start),
        end_line=line_of(starts, end - 1),
        body_start=heading.body_start,
    )


def _paths(found: list[Heading]) -> Iterator[tuple[tuple[str, ...], Heading]]:
    """Each heading with its path: it replaces all headings before it of its own level or deeper."""
    above: list[tuple[int, str]] = []
    for heading in found:
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, shorten(heading.text, HEADING_CHARS)))
        yield tuple(text for _, text in above if text), heading


def shorten(text: str, chars: int) -> str:
    """`text` in at most `chars` characters, cut after a word where it has one, with an ellipsis."""
    if len(text) <= chars:
        return text
    kept, rest = text[: chars - 1], text[chars - 1 :]
    if not (rest[0].isspace() or kept[-1:].isspace()):
        kept = kept.rpartition(" ")[0] or kept
    return kept.rstrip() + "…"
