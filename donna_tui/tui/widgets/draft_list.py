"""The queue of drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content

from donna_tui.drafting import DraftRow
from donna_tui.tui.widgets.draft_row import first_line, second_line
from donna_tui.tui.widgets.row_list import RowList


class DraftList(RowList):
    """Two lines a draft, the newest first. The cursor stays on its draft where it can."""

    row_height: ClassVar[int] = 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._drafts: tuple[DraftRow, ...] = ()
        self._now = 0.0

    @property
    def line_count(self) -> int:
        return len(self._drafts) * self.row_height

    @property
    def drafts(self) -> tuple[DraftRow, ...]:
        """What is listed."""
        return self._drafts

    @property
    def selected(self) -> DraftRow | None:
        """The draft under the cursor."""
        return self._drafts[self.selected_index] if self.selected_index < len(self._drafts) else None

    def show(self, drafts: Sequence[DraftRow], now: float, *, reveal: str = "") -> None:
        """List these, with their age at the Unix time `now`; the cursor goes to the draft of the id `reveal`."""
        before = self.selected
        wanted = reveal or (before.id if before is not None else "")
        self._drafts = tuple(drafts)
        self._now = now
        places = (index for index, each in enumerate(self._drafts) if each.id == wanted)
        self.rows_changed(next(places, self.selected_index))

    def row(self, index: int, width: int) -> Content:
        return first_line(self._drafts[index], width, self._now)

    def row_part(self, index: int, part: int, width: int) -> Content:
        return second_line(self._drafts[index], width) if part else self.row(index, width)
