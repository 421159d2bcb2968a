"""The note around a passage, for reading it where it stands."""

from __future__ import annotations

from donna_tui.records import dataclass
from donna_tui.safety.classify import Sensitivity
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import Section, split_sections
from donna_tui.vault.client import VaultClient, VaultNote

LONGEST_PASSAGE = 16_000
"""Characters that are shown; a longer note is cut around its marked lines, at headings where there are some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A note, or a part of it, with marked lines. All lines are 1-based, inclusive lines of the file; `text` is lines
    `start_line` to `end_line` as they stand there. `heading_path` leads to the section of the first marked line.
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
    """The note with lines `start_line` to `end_line` marked.

    The note is read from disk: lines beyond its present end are moved to it. Raises VaultReadError.
    """
    note = client.read(path)
    starts = line_starts(note.text)
    first = max(1, min(start_line, len(starts)))
    last = max(first, min(end_line, len(starts)))
    section = section_at(note, starts[first - 1])
    low, high = _window(note, starts[first - 1], starts[last] if last < len(starts) else len(note.text))
    return Passage(
        path=path,
        title=note.title,
        heading_path=section.heading_path,
        text=note.text[low:high].rstrip("\r\n"),
        start_line=line_of(starts, low),
        end_line=line_of(starts, max(low, high - 1)),
        mark_start=first,
        mark_end=last,
        truncated=(low, high) != (0, len(note.text)),
        linked_from=linked_from,
        sensitive=note.sensitivity is not Sensitivity.PUBLIC,
    )


def section_at(note: VaultNote, offset: int) -> Section:
    """The section of a note that holds a character; the frontmatter belongs to the first."""
    sections = split_sections(note.text, note.body_start)
    inside = [section for section in sections if section.start <= offset]
    whole = Section((), 0, 0, len(note.text), 1, 1, 0)
    return inside[-1] if inside else (sections[0] if sections else whole)


def _window(note: VaultNote, low: int, high: int) -> tuple[int, int]:
    """The whole note, or what is around the marked lines where it is too long to show."""
    text = note.text
    if len(text) <= LONGEST_PASSAGE:
        return 0, len(text)
    room = max(0, LONGEST_PASSAGE - (high - low)) // 2
    first, last = max(0, low - room), min(len(text), high + room)
    starts = [section.start for section in split_sections(text, note.body_start)]
    begin = next((start for start in starts if first <= start <= low), text.rfind("\n", 0, first) + 1)
    end = text.find("\n", last)
    return begin, (len(text) if end < 0 else end + 1)
