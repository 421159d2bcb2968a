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
    above_of,
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
        self._empty: tuple[str, ...] = ()
        self._marked: set[str] = set()

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

    @property
    def marked(self) -> tuple[str, ...]:
        """The paths of the notes and folders that were selected together, without what is in a selected folder."""
        inside = (path for path in sorted(self._marked) if not any(above in self._marked for above in above_of(path)))
        return tuple(inside)

    @property
    def folders(self) -> tuple[str, ...]:
        """Every folder, also an empty one."""
        return tuple(sorted({*folders_of(self._notes), *self._empty}))

    def mark(self) -> None:
        """Add the row under the cursor to the selection, or remove it, and go on to the next row."""
        row = self.selected
        if row is not None:
            self._marked ^= {row.path}
            self.refresh()
            self.action_cursor_down()

    def unmark(self) -> bool:
        """Drop the selection. False if there was none."""
        had, self._marked = bool(self._marked), set()
        self.refresh()
        return had

    def show(self, notes: tuple[NoteRow, ...], empty: tuple[str, ...] = ()) -> None:
        """Show these notes, and these folders without any."""
        self._notes = notes
        self._empty = empty
        self._marked &= {*(note.path for note in notes), *self.folders}
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
        is_marked = row.path in self._marked
        if row.note is None:
            sign = ("● ", "accent") if is_marked else ("▸ " if row.folded else "▾ ", "quiet")
            left = Content.assemble(indent, sign, (clean_line(row.name), "strong"))
            return row_of(left, _inside(row), width)
        name = clean_line(row.name)
        stem = name[:-3] if name.endswith(".md") else name
        state = next(iter(states_of(row.note)), None)
        tone = "quiet" if state is NoteState.NOT_INDEXED else "plain"
        word = Content.styled(SHORT_WORDS[state], _TONES.get(state, "quiet")) if state is not None else Content("")
        sign = ("● ", "accent") if is_marked else ("  ", tone)
        return row_of(Content.assemble(indent, sign, (stem, tone)), word, width)

    def _lay_out(self, select: str = "") -> None:
        before = select or (self.selected.path if self.selected is not None else "")
        self._rows = tree_rows(self._notes, self._folded, self._query, self._empty)
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
    return Content.styled(count(row.notes) if row.notes else "empty", "quiet")
