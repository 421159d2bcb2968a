"""The lines of a section, each with who wrote it and since when it stands there."""

from __future__ import annotations

from textual.content import Content

from donna_tui.notes import BlameLine
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.origins import actor_name, day_of
from donna_tui.tui.widgets.row_list import RowList

_ORIGIN = 20
_NARROW_ORIGIN = 14
_LONGEST = 1_000


class BlameList(RowList):
    """Lines; the origin stands beside the first of those that are from the same commit."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: tuple[BlameLine, ...] = ()
        self._newest = 0.0

    @property
    def line_count(self) -> int:
        return len(self._lines)

    @property
    def selected(self) -> BlameLine | None:
        """The line under the cursor."""
        return self._lines[self.selected_index] if self._lines else None

    def show(self, lines: tuple[BlameLine, ...]) -> None:
        """Show these lines, from the first one on."""
        self._lines = lines
        self._newest = max((line.at for line in lines), default=0.0)
        self.rows_changed(0)

    def row(self, index: int, width: int) -> Content:
        line = self._lines[index]
        is_first = not index or self._lines[index - 1].commit != line.commit
        room = _ORIGIN if width >= 60 else _NARROW_ORIGIN
        origin = self._origin(line) if is_first else Content("")
        selected = self.selected
        same = selected is not None and selected.commit == line.commit
        number = Content.styled(f"{line.line:>4}  ", "accent" if same else "quiet")
        text = Content.styled(clean_line(line.text[:_LONGEST]), "plain" if same else "muted")
        return Content.assemble(origin.truncate(room, ellipsis=True, pad=True), number, text).truncate(
            width, ellipsis=True
        )

    def _origin(self, line: BlameLine) -> Content:
        if not line.commit:
            return Content.styled("now · you", "warning")
        return Content.assemble((day_of(line.at, self._newest), "quiet"), " ", (actor_name(line.author), "muted"))
