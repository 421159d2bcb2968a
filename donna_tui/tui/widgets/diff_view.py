"""Shows what changed: lines below each other or side by side, whatever the width or the reader wants."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import work
from textual.content import Content
from textual.message import Message

from donna_tui.tui.widgets.diff_rows import DiffRow, Shape, diff_rows
from donna_tui.tui.widgets.scrolled import Scrolled
from donna_tui.vault.changes import Change
from donna_tui.vault.diff import WHOLE, FileDiff, as_unified, diff_changes

WIDE = 110
"""Cells from which on a difference is shown side by side if nobody chose."""

_CONTEXT = 3


class DiffView(Scrolled):
    """The difference that some changes make. It is computed on a thread; until it is there the last one stays."""

    class Ready(Message):
        """The difference is there."""

        def __init__(self, view: DiffView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> DiffView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._changes: tuple[Change, ...] = ()
        self._diffs: tuple[FileDiff, ...] = ()
        self._rows: list[DiffRow] = []
        self._side_by_side: bool | None = None
        self._wrap = True
        self._whole = False

    @property
    def line_count(self) -> int:
        return len(self._rows)

    @property
    def diffs(self) -> tuple[FileDiff, ...]:
        """What is shown."""
        return self._diffs

    @property
    def is_side_by_side(self) -> bool:
        """Whether old and new stand beside each other."""
        if self._side_by_side is not None:
            return self._side_by_side
        return self.scrollable_content_region.width >= WIDE

    @property
    def text(self) -> str:
        """The difference as text."""
        return "\n".join(as_unified(diff) for diff in self._diffs)

    def show(self, changes: Sequence[Change], *, empty: str = "") -> None:
        """Show what these changes do; `empty` is said if there are none."""
        same = tuple(changes) == self._changes and bool(self._diffs)
        self.empty_text = empty
        self._changes = tuple(changes)
        if not self._changes:
            self._compute(())
        elif not same:
            self.scroll_home(animate=False)
            self._compute(self._changes)

    def line(self, index: int, width: int) -> Content:
        return self._rows[index].content

    def base_of(self, index: int) -> str:
        return self._rows[index].base

    def on_resize(self) -> None:
        self._lay_out()

    def toggle_layout(self) -> None:
        """Side by side, or lines below each other."""
        self._side_by_side = not self.is_side_by_side
        self._lay_out()

    def toggle_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self._wrap = not self._wrap
        self._lay_out()

    def toggle_unchanged(self) -> None:
        """Show every line of the files, or fold those that did not change."""
        self._whole = not self._whole
        self._compute(self._changes)

    @work(group="diff", exclusive=True)
    async def _compute(self, changes: tuple[Change, ...]) -> None:
        context = WHOLE if self._whole else _CONTEXT
        self._diffs = await asyncio.to_thread(diff_changes, changes, context=context) if changes else ()
        self._lay_out()
        self.post_message(self.Ready(self))

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        shape = Shape(width, self.is_side_by_side, self._wrap)
        self._rows = diff_rows(self._diffs, shape) if width > 0 else []
        self.lines_changed()
