"""The queue of drafts, and the sources of the selected line."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import PurePosixPath

from rich.cells import cell_len
from textual.content import Content

from donna_tui.search.citations import line_range
from donna_tui.tui.lib.humanize import age, clock, near_moment, one_line, short_line, shorten_path
from donna_tui.tui.lib.lines import ItemList, row_of
from donna_tui.tui.memory.list import KINDS
from donna_tui.types.drafts import DraftRow, DraftState, Evidence
from donna_tui.types.search import MemorySource

_TITLE = 120
_NAME = 40
"""Maximum number of characters of a title, and of the name of a template, where it may be wrapped."""

_INDENT = "  "
_GLYPHS = {
    DraftState.WAITING: ("●", "accent"), DraftState.APPROVED: ("✓", "quiet"), DraftState.REJECTED: ("✗", "quiet"),
    DraftState.FAILED: ("!", "error"), DraftState.GONE: ("?", "warning"),
}  # fmt: skip


def title_of(row: DraftRow) -> str:
    return short_line(row.title, _TITLE) or short_line(PurePosixPath(row.target).stem, _TITLE) or "untitled"


def kind_of(row: DraftRow) -> str:
    return short_line(row.skill, _NAME).replace("_", " ")


def first_line(row: DraftRow, width: int, now: float) -> Content:
    """Format state and title, with the time of the meeting or the age of the draft."""
    glyph, tone = _GLYPHS[row.state]
    title = "strong" if row.state in (DraftState.WAITING, DraftState.FAILED) else "muted"
    left = Content.assemble((f"{glyph} ", tone), (title_of(row), title))
    return row_of(left, Content.styled(when_of(row, now) or age(row.created_at, now), "quiet"), width)


def when_of(row: DraftRow, now: float) -> str:
    """Return when the meeting of a draft is; empty if it is not a draft of a meeting."""
    if row.meeting_at is None:
        return ""
    return f"{near_moment(row.meeting_at, now)}{', cancelled' if row.meeting_cancelled else ''}"


def second_line(row: DraftRow, width: int) -> Content:
    """Format kind and target of a waiting draft; the reason of a failed one, and the time of its next attempt."""
    if row.state is DraftState.FAILED:
        tries = f"retry {clock(row.next_try)[:5]}" if row.next_try is not None else "no retry"
        why = f"{_INDENT}{one_line(row.detail)}"
        return row_of(Content.styled(why, "warning"), Content.styled(tries, "quiet"), width)
    label = _INDENT + kind_of(row) + ("" if row.state is DraftState.WAITING else f", {row.state.value}")
    room = max(8, width - cell_len(label) - 3)
    where = shorten_path(one_line(row.target), room)
    return Content.assemble((label, "muted"), (f" → {where}", "quiet")).truncate(width, ellipsis=True, pad=True)


class DraftList(ItemList[DraftRow]):
    """A list with two lines per draft, the newest first. The cursor stays on its draft if possible."""

    row_height = 2
    key = attrgetter("id")
    _now = 0.0

    def show(self, drafts: Sequence[DraftRow], now: float, *, reveal: str = "") -> None:
        """List drafts with their age at the Unix time `now`; select the draft with the id `reveal`."""
        self._now = now
        self.set_items(drafts, select=reveal, otherwise=self.selected_index)

    def row_part(self, index: int, part: int, width: int) -> Content:
        row = self.items[index]
        return second_line(row, width) if part else first_line(row, width, self._now)


_SOURCE_INDENT = "   "


class EvidenceList(ItemList[Evidence]):
    """A list with two lines per passage: path and lines; and the headings above it."""

    row_height = 2
    key = attrgetter("number")

    def row_part(self, index: int, part: int, width: int) -> Content:
        passage = self.items[index]
        if part:
            trail = _SOURCE_INDENT + (trail_of(passage) or one_line(passage.title))
            return row_of(Content.styled(trail, "muted"), Content.styled(source_of(passage), "quiet"), width)
        number = f"{passage.number:>2} "
        score = f"{passage.score:.2f}" if passage.score is not None else ""
        lines = f":{line_range(passage)}"
        room = max(6, width - cell_len(number) - cell_len(lines) - cell_len(score) - 2)
        where = shorten_path(one_line(passage.cited_path), room)
        left = Content.assemble((number, "accent"), (where, "strong"), (lines, "muted"))
        return row_of(left, Content.styled(score, "muted"), width)


def trail_of(passage: Evidence) -> str:
    return " › ".join(one_line(heading) for heading in passage.heading_path[:8])


def source_of(passage: Evidence) -> str:
    """Return the kind of a source that is not a note: `chat`, `task`."""
    if passage.source_type == MemorySource.VAULT:
        return ""
    known = {str(source): word for source, word in KINDS.items()}
    return known.get(passage.source_type) or one_line(passage.source_type)[:12]


def citation_text(passage: Evidence) -> str:
    """Format the citation of a passage for pasting: `Projects/a.md › Decisions › Cache : 41–58`."""
    trail = filter(None, (one_line(passage.cited_path), trail_of(passage)))
    return f"{' › '.join(trail)} : {line_range(passage)}"
