"""What a recall packed, in the order of the prompt, and below it what it left out and why."""

from __future__ import annotations

from textual.content import Content

from donna_tui.memories import Cut, MemoryChunk, RecallResult
from donna_tui.tui.humanize import count, plural
from donna_tui.tui.widgets.memory_row import between_line, cut_line, packed_line
from donna_tui.tui.widgets.row_list import RowList

Row = MemoryChunk | Cut | str
"""A memory that was packed, one that was cut, or a line between."""


class RecallList(RowList):
    """Rows of a `RecallResult`. The cursor passes over the lines between."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: tuple[Row, ...] = ()
        self._query = ""

    @property
    def line_count(self) -> int:
        return len(self._rows)

    @property
    def selected(self) -> MemoryChunk | None:
        """The memory under the cursor."""
        row = self._rows[self.selected_index] if self.selected_index < len(self._rows) else ""
        return row.memory if isinstance(row, Cut) else row if isinstance(row, MemoryChunk) else None

    def show(self, result: RecallResult | None) -> None:
        """List what a recall gave. For the same question the cursor stays on its memory, or else at its place."""
        query, self._query = self._query, result.query if result is not None else ""
        before = self.selected if query == self._query else None
        self._rows = rows_of(result) if result is not None else ()
        places = [_memory(row) for row in self._rows]
        same = (
            index
            for index, memory in enumerate(places)
            if before is not None and memory is not None and (memory.id, memory.content) == (before.id, before.content)
        )
        self.rows_changed(next(same, self.selected_index if query == self._query and places else 1))
        if self.selected is None:
            self.select(self.selected_index - 1)

    def select(self, index: int) -> None:
        if 0 <= index < len(self._rows) and isinstance(self._rows[index], str):
            index += 1 if index > self.selected_index or index == 0 else -1
        super().select(index)

    def row(self, index: int, width: int) -> Content:
        row = self._rows[index]
        if isinstance(row, str):
            return between_line(row, "fit  tokens" if index == 0 else "", width)
        if isinstance(row, Cut):
            return cut_line(row, width)
        return packed_line(index, row, width)


def rows_of(result: RecallResult) -> tuple[Row, ...]:
    """The rows of a recall; none if it found nothing."""
    if not result.memories and not result.cut:
        return ()
    packed = (
        f"In the prompt: {plural(len(result.memories), 'memory', 'memories')}" if result.memories else "Nothing fits"
    )
    cut: tuple[Row, ...] = (f"Left out: {count(len(result.cut))}", *result.cut) if result.cut else ()
    return (packed, *result.memories, *cut)


def _memory(row: Row) -> MemoryChunk | None:
    return row.memory if isinstance(row, Cut) else None if isinstance(row, str) else row
