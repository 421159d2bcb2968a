"""The passages that a line of a draft rests on: where each stands, and how well it fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content

from donna_tui.drafting import Evidence
from donna_tui.memories import MemorySource
from donna_tui.tui.humanize import shorten_path
from donna_tui.tui.widgets.draft_row import line_of
from donna_tui.tui.widgets.memory_row import KINDS
from donna_tui.tui.widgets.row_list import RowList
from donna_tui.tui.widgets.scrolled import row_of

_INDENT = "   "


class EvidenceList(RowList):
    """Two lines a passage: path and lines; and the headings that lead to it."""

    row_height: ClassVar[int] = 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._passages: tuple[Evidence, ...] = ()

    @property
    def line_count(self) -> int:
        return len(self._passages) * self.row_height

    @property
    def selected(self) -> Evidence | None:
        """The passage under the cursor."""
        return self._passages[self.selected_index] if self.selected_index < len(self._passages) else None

    def show(self, passages: Sequence[Evidence]) -> None:
        """List these; the cursor stays on its passage if it is among them."""
        before = self.selected
        self._passages = tuple(passages)
        places = (index for index, each in enumerate(self._passages) if before and each.number == before.number)
        self.rows_changed(next(places, 0))

    def row(self, index: int, width: int) -> Content:
        passage = self._passages[index]
        number = f"{passage.number:>2} "
        score = f"{passage.score:.2f}" if passage.score is not None else ""
        lines = f":{lines_of(passage)}"
        room = max(6, width - cell_len(number) - cell_len(lines) - cell_len(score) - 2)
        where = shorten_path(line_of(passage.path), room)
        left = Content.assemble((number, "accent"), (where, "strong"), (lines, "muted"))
        return row_of(left, Content.styled(score, "muted"), width)

    def row_part(self, index: int, part: int, width: int) -> Content:
        if not part:
            return self.row(index, width)
        passage = self._passages[index]
        trail = _INDENT + (trail_of(passage) or line_of(passage.title))
        return row_of(Content.styled(trail, "muted"), Content.styled(source_of(passage), "quiet"), width)


def lines_of(passage: Evidence) -> str:
    """The lines of a passage: `41–58`, or `41` for one line."""
    one = passage.start_line == passage.end_line
    return str(passage.start_line) if one else f"{passage.start_line}–{passage.end_line}"


def trail_of(passage: Evidence) -> str:
    """The headings that lead to a passage."""
    return " › ".join(line_of(each) for each in passage.heading_path[:8])


def source_of(passage: Evidence) -> str:
    """What it is if it is no note: `chat`, `task`."""
    if passage.source_type == MemorySource.VAULT:
        return ""
    known = {str(source): word for source, word in KINDS.items()}
    return known.get(passage.source_type) or line_of(passage.source_type)[:12]


def citation_text(passage: Evidence) -> str:
    """Where a passage stands, to paste somewhere: `Projects/a.md › Decisions › Cache : 41–58`."""
    trail = filter(None, (line_of(passage.path), trail_of(passage)))
    return f"{' › '.join(trail)} : {lines_of(passage)}"
