"""The links to and from a note, each with the line around it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

from textual.content import Content

from donna_tui.notes import LinkLine, NoteLinks
from donna_tui.records import dataclass
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.humanize import count
from donna_tui.tui.widgets.link_spots import LinkRef
from donna_tui.tui.widgets.markdown_lines import inline
from donna_tui.tui.widgets.row_list import RowList
from donna_tui.tui.widgets.scrolled import row_of


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A line with a link; `is_back` says that it is in another note and leads here."""

    link: LinkLine
    is_back: bool

    @property
    def ref(self) -> LinkRef:
        """Where the row leads: to the line with a backlink, or to what a link of this note names."""
        if self.is_back:
            return LinkRef("note", self.link.path, self.link.line)
        if not self.link.exists:
            return LinkRef("wiki", self.link.target)
        return LinkRef("note", self.link.target, fragment=self.link.fragment)


class LinkList(RowList):
    """The backlinks first, then the links of the note itself. The first line names a note, the second is the line."""

    row_height: ClassVar[int] = 2

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: tuple[LinkRow, ...] = ()

    @property
    def line_count(self) -> int:
        return len(self._rows) * self.row_height

    @property
    def rows(self) -> tuple[LinkRow, ...]:
        """What is listed."""
        return self._rows

    @property
    def selected(self) -> LinkRow | None:
        """The row under the cursor."""
        return self._rows[self.selected_index] if self._rows else None

    def show(self, links: NoteLinks | None) -> None:
        """List the links to and from a note; the cursor stays on its row if that is still there."""
        before = self.selected
        incoming, outgoing = (links.incoming, links.outgoing) if links is not None else ((), ())
        self._rows = (*(LinkRow(each, True) for each in incoming), *(LinkRow(each, False) for each in outgoing))
        self.rows_changed(self._rows.index(before) if before in self._rows else 0)

    def row_part(self, index: int, part: int, width: int) -> Content:
        row = self._rows[index]
        if part:
            return _plain(row.link.text, width)
        path = row.link.path if row.is_back else row.link.target
        folder, name = str(PurePosixPath(path).parent), PurePosixPath(path).stem
        arrow = ("← ", "accent") if row.is_back else ("→ ", "quiet")
        where = f"  {clean_line(folder)}" if folder != "." else ""
        left = Content.assemble(arrow, (clean_line(name), "strong"), (where, "quiet"))
        right = f"line {count(row.link.line)}" if row.is_back or row.link.exists else "does not exist"
        return row_of(left, Content.styled(right, "quiet" if row.is_back or row.link.exists else "warning"), width)


def _plain(text: str, width: int) -> Content:
    """A line of Markdown as it reads, in one tone."""
    return Content.styled(f"  {inline(text.strip()).plain}", "muted").truncate(width, ellipsis=True)
