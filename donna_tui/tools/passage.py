"""The section of a note around a passage, for reading: the preview, `donna get` and agents show the same."""

from __future__ import annotations

from donna_tui.records import dataclass
from donna_tui.safety.classify import Sensitivity
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import Section, split_sections
from donna_tui.vault.client import VaultClient, VaultNote

LONGEST_SECTION = 8_000
"""Characters of a section that are shown; a longer one is cut around its marked lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A section with marked lines. All lines are 1-based, inclusive lines of the file; `text` is lines
    `start_line` to `end_line` as they stand there.
    """

    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    start_line: int
    end_line: int
    mark_start: int
    mark_end: int
    truncated: bool
    linked_from: tuple[str, ...]
    sensitive: bool


def read_passage(
    client: VaultClient, path: str, start_line: int, end_line: int, linked_from: tuple[str, ...] = ()
) -> Passage:
    """The section that holds `start_line`, with lines `start_line` to `end_line` marked.

    The note is read from disk: lines beyond its present end are moved to it. Raises VaultReadError.
    """
    note = client.read(path)
    starts = line_starts(note.text)
    first = max(1, min(start_line, len(starts)))
    last = max(first, min(end_line, len(starts)))
    section = section_at(note, starts[first - 1])
    low, high = _window(note.text, section, starts[first - 1], starts[last] if last < len(starts) else len(note.text))
    return Passage(
        path=path,
        title=note.title,
        heading_path=section.heading_path,
        text=note.text[low:high].rstrip("\r\n"),
        start_line=line_of(starts, low),
        end_line=line_of(starts, max(low, high - 1)),
        mark_start=first,
        mark_end=last,
        truncated=(low, high) != (section.start, section.end),
        linked_from=linked_from,
        sensitive=note.sensitivity is not Sensitivity.PUBLIC,
    )


def section_at(note: VaultNote, offset: int) -> Section:
    """The section of a note that holds a character; the frontmatter belongs to the first."""
    sections = split_sections(note.text, note.body_start)
    inside = [section for section in sections if section.start <= offset]
    whole = Section((), 0, 0, len(note.text), 1, 1, 0)
    return inside[-1] if inside else (sections[0] if sections else whole)


def _window(text: str, section: Section, low: int, high: int) -> tuple[int, int]:
    """The whole section, or the lines of it around the marked ones where it is too long to show."""
    if section.end - section.start <= LONGEST_SECTION:
        return section.start, section.end
    room = max(0, LONGEST_SECTION - (high - low)) // 2
    begin = text.rfind("\n", section.start, max(section.start, low - room)) + 1 or section.start
    end = text.find("\n", min(high + room, section.end), section.end)
    return max(begin, section.start), (section.end if end < 0 else end + 1)
