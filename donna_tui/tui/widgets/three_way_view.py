"""Three versions of notes: where they began, and what two sides made of them."""

from __future__ import annotations

from textual.content import Content

from donna_tui.tui.widgets.diff_rows import DiffRow
from donna_tui.tui.widgets.scrolled import Scrolled
from donna_tui.tui.widgets.three_way_rows import UNDOING, Titles, three_way_rows
from donna_tui.vault.changes import Clash


class ThreeWayView(Scrolled):
    """Scrolls through clashes."""

    def __init__(
        self,
        clashes: tuple[Clash, ...],
        *,
        titles: Titles = UNDOING,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._titles = titles
        self._clashes = clashes
        self._rows: list[DiffRow] = []
        self.empty_text = "Nothing stands in the way any more."

    @property
    def line_count(self) -> int:
        return len(self._rows)

    def line(self, index: int, width: int) -> Content:
        return self._rows[index].content

    def base_of(self, index: int) -> str:
        return self._rows[index].base

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        self._rows = (
            [row for clash in self._clashes for row in three_way_rows(clash, width, self._titles)] if width > 0 else []
        )
        self.lines_changed()
