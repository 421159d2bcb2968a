"""The tree of notes, with what is special about each."""

from __future__ import annotations

from textual.content import Content

from donna_tui.notes import NoteRow, NoteState
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.humanize import count
from donna_tui.tui.widgets.row_list import RowList
from donna_tui.tui.widgets.scrolled import row_of
from donna_tui.tui.widgets.tree_rows import (
    OPEN_AT_FIRST,
    SHORT_WORDS,
    TreeRow,
    best_of,
    folders_of,
    rank_of,
    states_of,
    tree_rows,
)

_TONES = {
    NoteState.CONFLICT: "warning",
    NoteState.MARKERS: "warning",
    NoteState.OUTSIDE: "warning",
    NoteState.DRAFT: "accent",
}
_DEEPEST = 8
"""Levels that are indented; deeper ones stand where the last of these does."""


class NoteTree(RowList):
    """Folders and notes. What is under the cursor stays there while notes come and go."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._notes: tuple[NoteRow, ...] = ()
        self._folded: set[str] = set()
        self._rows: list[TreeRow] = []
        self._query = ""
        self._is_new = True

    @property
    def line_count(self) -> int:
        return len(self._rows)

    @property
    def notes(self) -> tuple[NoteRow, ...]:
        """Every note, also those that are folded away."""
        return self._notes

    @property
    def rows(self) -> list[TreeRow]:
        """The rows as they are shown."""
        return self._rows

    @property
    def selected(self) -> TreeRow | None:
        """The row under the cursor."""
        return self._rows[self.selected_index] if self._rows else None

    @property
    def query_text(self) -> str:
        """What the tree is narrowed to."""
        return self._query

    def show(self, notes: tuple[NoteRow, ...]) -> None:
        """Show these notes."""
        self._notes = notes
        if self._is_new and notes:
            self._is_new = False
            self._folded = folders_of(notes) if len(notes) > OPEN_AT_FIRST else set()
        self._lay_out()

    def narrow(self, query: str) -> None:
        """Show only notes that fit a query, with the one that fits best under the cursor."""
        if query != self._query:
            self._query = query
            self._lay_out(best_of(self._notes, query))

    def shows(self, path: str) -> bool:
        """Whether the query lets a note through."""
        words = self._query.split()
        return any(note.path == path and (not words or rank_of(note, words) is not None) for note in self._notes)

    def holds(self, path: str) -> bool:
        """Whether there is such a note."""
        return any(note.path == path for note in self._notes)

    def reveal(self, path: str) -> None:
        """Open the folders above a note, and select it if it is there."""
        folder = path.rpartition("/")[0]
        while folder:
            self._folded.discard(folder)
            folder = folder.rpartition("/")[0]
        self._lay_out(path)

    def fold(self) -> None:
        """Close the selected folder, or go to the one above."""
        row = self.selected
        if row is None:
            return
        if row.is_folder and not row.folded and not self._query:
            self._folded.add(row.path)
            self._lay_out()
        else:
            above = row.path.rpartition("/")[0]
            self.select(next((place for place, each in enumerate(self._rows) if each.path == above), 0))

    def unfold(self) -> bool:
        """Open the selected folder. False if there is nothing to open."""
        row = self.selected
        if row is None or not row.folded:
            return False
        self._folded.discard(row.path)
        self._lay_out()
        return True

    def row(self, index: int, width: int) -> Content:
        row = self._rows[index]
        indent = "  " * min(row.depth, _DEEPEST)
        if row.note is None:
            left = Content.assemble(indent, ("▸ " if row.folded else "▾ ", "quiet"), (clean_line(row.name), "strong"))
            return row_of(left, _inside(row), width)
        name = clean_line(row.name)
        stem = name[:-3] if name.endswith(".md") else name
        state = next(iter(states_of(row.note)), None)
        tone = "quiet" if state is NoteState.NOT_INDEXED else "plain"
        word = Content.styled(SHORT_WORDS[state], _TONES.get(state, "quiet")) if state is not None else Content("")
        return row_of(Content.assemble(indent, "  ", (stem, tone)), word, width)

    def _lay_out(self, select: str = "") -> None:
        before = select or (self.selected.path if self.selected is not None else "")
        self._rows = tree_rows(self._notes, self._folded, self._query)
        self.rows_changed(self._place_of(before))

    def _place_of(self, path: str) -> int:
        """Where a path is now, or the nearest folder above it that is in sight; else the cursor stays in its line."""
        places = {row.path: place for place, row in reversed(list(enumerate(self._rows)))}
        while path and path not in places:
            path = path.rpartition("/")[0]
        return places.get(path, self.selected_index)


def _inside(row: TreeRow) -> Content:
    if row.folded and row.edited:
        return Content.styled(f"{count(row.edited)} edited", "warning")
    return Content.styled(count(row.notes), "quiet")
