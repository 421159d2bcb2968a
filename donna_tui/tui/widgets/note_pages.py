"""A note cut into pages at its headings, so that one of any length can be drawn, and its sections can be walked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from donna_tui.records import dataclass
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import Section, split_sections
from donna_tui.vault.frontmatter import parse_frontmatter

PAGE = 40_000
"""Characters of a page; a longer section is cut between lines."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a note. `first_line` is 1-based."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Pages:
    """A note to walk through."""

    pages: tuple[Page, ...]
    sections: tuple[Section, ...]

    def page_of(self, line: int) -> int:
        """The index of the page that shows a line."""
        return max(0, bisect_right([page.first_line for page in self.pages], line) - 1)

    def section_of(self, line: int) -> int:
        """The index of the section that a line belongs to; the first one for what stands before it."""
        return max(0, bisect_right([section.start_line for section in self.sections], line) - 1)


def pages_of(text: str) -> Pages:
    """The pages and sections of a note."""
    sections = split_sections(text, parse_frontmatter(text).body_start)
    starts = line_starts(text)
    cuts = list(_cuts(text, [section.start for section in sections]))
    ends = [*cuts[1:], len(text)]
    pages = (
        Page(text[start:end], line_of(starts, start), line_of(starts, max(start, end - 1)))
        for start, end in zip(cuts, ends, strict=True)
    )
    return Pages(tuple(pages), tuple(sections))


def _cuts(text: str, headings: list[int]) -> Iterator[int]:
    """Where pages begin."""
    here = 0
    yield here
    while len(text) - here > PAGE:
        place = bisect_right(headings, here + PAGE) - 1
        heading = headings[place] if place >= 0 else 0
        if heading <= here:
            line = text.rfind("\n", here, here + PAGE) + 1
            heading = line if line > here else here + PAGE
        here = heading
        yield here
