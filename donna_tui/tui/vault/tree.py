"""The tree of notes, with a fuzzy filter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from textual.content import Content

from donna_tui.safety.terminal import clean_line
from donna_tui.text.fuzzy import fuzzy_match
from donna_tui.tui.lib.humanize import count, plural
from donna_tui.tui.lib.lines import ItemList, row_of
from donna_tui.types.notes import NoteRow, NoteState


class StateLabel(NamedTuple):
    """The words for a state, one that fits into a row of the tree, and the tone of both."""

    words: str
    short: str
    tone: str = ""


STATES = {
    NoteState.UNWRITTEN: StateLabel("unsaved edit", "unsaved"),
    NoteState.CONFLICT: StateLabel("conflict copy", "conflict", "warning"),
    NoteState.MARKERS: StateLabel("conflict markers in its text", "conflict", "warning"),
    NoteState.OUTSIDE: StateLabel("edited outside", "edited", "warning"),
    NoteState.DELETED: StateLabel("deleted outside", "deleted", "warning"),
    NoteState.DRAFT: StateLabel("drafted by Donna", "draft", "accent"),
    NoteState.NOT_INDEXED: StateLabel("not in the index", "left out"),
    NoteState.SENSITIVE: StateLabel("sensitive", "sensitive"),
    NoteState.LOCAL_ONLY: StateLabel("private", "private"),
    NoteState.PENDING: StateLabel("waiting for the index", "waiting"),
}
"""The states in order of importance; a row has room for one."""

_STATE_NAMES = {label.short for label in STATES.values()}
_OUTSIDE = {NoteState.OUTSIDE, NoteState.DELETED}
_LEFT_OUT = (NoteState.NOT_INDEXED, NoteState.CONFLICT)

OPEN_AT_FIRST = 60
"""Maximum number of notes of a vault that is initially shown unfolded."""
_IN_NAME = 5.0
"""Bonus of a match in the name of a note over one in its folder."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A folder or a note. `notes` and `edited` are the counts within a folder, the latter with notes that are gone;
    `path` is raw.
    """

    path: str
    name: str
    depth: int
    note: NoteRow | None = None
    folded: bool = False
    notes: int = 0
    edited: int = 0

    @property
    def is_folder(self) -> bool:
        return self.note is None


def tree_rows(
    notes: Iterable[NoteRow],
    folded: Collection[str],
    query: str = "",
    empty: Iterable[str] = (),
    gone: Iterable[NoteRow] = (),
) -> list[TreeRow]:
    """Return the visible rows, with `empty` folders. A query opens every folder and filters the notes and these.

    Notes that are `gone` have no row, and are counted as edited.
    """
    words = query.split()
    folded = () if words else folded
    found = [note for note in notes if not words or rank_of(note, words) is not None]
    shown = [path for path in empty if not words or rank_of(NoteRow(path=path), words) is not None]
    counts = Counter(folder for note in found for folder in ancestors_of(note.path))
    changed = chain((note for note in found if NoteState.OUTSIDE in note.states), gone)
    edited = Counter(folder for note in changed for folder in ancestors_of(note.path))

    def is_visible(path: str) -> bool:
        return not any(above in folded for above in ancestors_of(path))

    def row(path: str, note: NoteRow | None = None) -> TreeRow:
        *above, name = path.split("/")
        return TreeRow(path, name, len(above), note, folded=path in folded, notes=counts[path], edited=edited[path])

    folders = {*counts, *shown, *chain.from_iterable(map(ancestors_of, shown))}
    rows = [*(row(note.path, note) for note in found if is_visible(note.path)), *map(row, filter(is_visible, folders))]
    return sorted(rows, key=_place)


def _place(row: TreeRow) -> list[tuple[bool, tuple[str | int, ...], str]]:
    """Return the sort key of a row: by name at each level as Obsidian does, and folders first."""
    *folders, name = row.path.split("/")
    key = _natural_key(name if row.is_folder else name.removesuffix(".md"))
    return [*((False, _natural_key(part), part) for part in folders), (not row.is_folder, key, name)]


_NUMBER = re.compile(r"(\d+)")


@lru_cache(maxsize=50_000)
def _natural_key(name: str) -> tuple[str | int, ...]:
    """Split a name at its numbers, so that “Week 9” is before “Week 10”."""
    return tuple(int(part) if part.isdecimal() else part for part in _NUMBER.split(name.casefold()))


def best_of(notes: Iterable[NoteRow], query: str) -> str:
    """Return the path of the best match of a query; empty if there is none. Ties are resolved by tree order."""
    words = query.split()
    ranked = [(rank, note.path) for note in notes if words and (rank := rank_of(note, words)) is not None]
    return min(ranked, key=lambda each: (-each[0], each[1].casefold()))[1] if ranked else ""


def rank_of(note: NoteRow, words: Sequence[str]) -> float | None:
    """Score a note against all of these words; return None if it does not match.

    A word is a substring of the path or of a state, or a subsequence of the path. Scattered letters count only if most
    of them begin a word or follow each other, and they are not the name of a state, such as “edited”.
    """
    name = PurePosixPath(note.path).stem
    rank = 0.0
    for word in words:
        ranks = [*_ranks(word, name, _IN_NAME), *_ranks(word, note.path, 0.0)]
        if not ranks and word.casefold() not in searched_text(note):
            return None
        rank += max(ranks, default=0.0)
    return rank


def _ranks(word: str, text: str, bonus: float) -> Iterator[float]:
    match = fuzzy_match(word, text)
    if match is None:
        return
    places = match.places
    runs = sum(after == before + 1 for before, after in pairwise(places))
    starts = sum(place == 0 or not text[place - 1].isalnum() for place in places)
    is_state = word.casefold() in _STATE_NAMES
    if runs == len(places) - 1 or (runs + starts > len(places) / 2 and not is_state):
        yield match.score + bonus


def searched_text(note: NoteRow) -> str:
    """Return the text that a filter searches: the path, and the words for the states."""
    states = " ".join(f"{STATES[state].words} {STATES[state].short}" for state in note.states)
    return f"{note.path} {states}".casefold()


def states_of(note: NoteRow) -> list[NoteState]:
    return [state for state in STATES if state in note.states]


def folders_of(notes: Iterable[NoteRow]) -> set[str]:
    inner = {note.path.rpartition("/")[0] for note in notes} - {""}
    return inner.union(*map(ancestors_of, inner))


def ancestors_of(path: str) -> Iterator[str]:
    """Yield the ancestors of a path, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


_DEEPEST = 8
"""Levels that are indented; deeper ones have the indent of the last of these."""


class NoteTree(ItemList[TreeRow]):
    """A tree of folders and notes. The selection is preserved when notes are added or removed."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.notes: tuple[NoteRow, ...] = ()
        """Every note, including those in folded folders."""
        self._folded: set[str] = set()
        self.query_text = ""
        """The current filter."""
        self._is_new = True
        self._empty: tuple[str, ...] = ()
        self._gone: tuple[NoteRow, ...] = ()
        """The notes that were deleted outside and have no unsaved edit."""
        self._outside: tuple[str, ...] = ()
        self._outside_at: set[str] = set()
        self._marked: set[str] = set()
        self._lost: set[str] = set()
        """Selected rows that are missing: a rename is reported only after its note is listed at the new path."""
        self._renamed: dict[str, str] = {}
        self._missing = ("", "")
        """The selected note, if it is missing, and the row that is selected in its place, if any."""
        self._written: set[str] = set()

    @property
    def marked(self) -> tuple[str, ...]:
        """Return the paths of the selected notes and folders, without the contents of selected folders."""
        return tuple(path for path in sorted(self._marked) if self._marked.isdisjoint(ancestors_of(path)))

    @property
    def number_marked(self) -> int:
        """Return the number of rows that are shown as selected."""
        return len(self._marked)

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(sorted({*folders_of(self.notes), *self._empty}))

    @property
    def counted(self) -> str:
        """Format the number of notes, as on the Activity screen: files that are not indexed are counted separately."""
        left_out = sum(not note.states.isdisjoint(_LEFT_OUT) for note in self.notes)
        return plural(len(self.notes) - left_out, "note") + (f" · {count(left_out)} left out" if left_out else "")

    def has_outside(self, places: Iterable[str]) -> bool:
        """Return whether `outside` returns any notes."""
        return not self._outside_at.isdisjoint(places)

    def outside(self, places: Iterable[str]) -> tuple[str, ...]:
        """Return the notes that were edited or deleted outside, of these notes and folders; all if one is empty.

        Conflict copies are excluded; they are resolved, not committed.
        """
        wanted = set(places)
        return tuple(path for path in self._outside if not wanted.isdisjoint((path, "", *ancestors_of(path))))

    def mark(self) -> None:
        """Add the row under the cursor to the selection, or remove it, and go on to the next row."""
        row = self.selected
        if row is not None:
            self._marked ^= {row.path}
            self.refresh()
            self.action_cursor_down()

    def unmark(self) -> bool:
        """Clear the selection. Return False if there was none."""
        had, self._marked = bool(self._marked), set()
        self._lost.clear()
        self.refresh()
        return had

    def show(self, rows: tuple[NoteRow, ...], empty: tuple[str, ...] = ()) -> None:
        self._gone = tuple(row for row in rows if row.states == {NoteState.DELETED})
        self.notes = notes = tuple(row for row in rows if row.states != {NoteState.DELETED})
        outside = (row for row in rows if row.states & _OUTSIDE and NoteState.CONFLICT not in row.states)
        self._outside = tuple(row.path for row in outside)
        self._outside_at = {place for path in self._outside for place in (path, "", *ancestors_of(path))}
        self._empty = empty
        folders = set(self.folders)
        there = {*(note.path for note in notes), *folders}
        self._lost -= folders  # a folder that is there again is another one
        for folder in (self._marked | self._lost | self._folded) - there:
            if new := self._moved_to(folder):
                for paths in (self._marked, self._lost, self._folded):
                    if folder in paths:
                        paths.remove(folder)
                        paths.add(new)
        selected = self._marked | self._lost
        self._marked, self._lost = selected & there, selected - there
        if self._is_new and notes:
            self._is_new = False
            self._folded = folders_of(notes) if len(notes) > OPEN_AT_FIRST else set()
        self._lay_out()

    def renamed(self, old: str, new: str) -> None:
        """Let the cursor and the selection follow a note to its new path, once that is shown."""
        self._renamed.pop(new, None)
        self._renamed[old] = new
        if old in self._marked | self._lost:
            self._lost.discard(old)
            self._marked = self._marked - {old} | {new}
            self.refresh()

    def indexed(self, path: str) -> None:
        """Forget the rename of an earlier note at this path, and that Donna wrote it."""
        self._renamed.pop(path, None)
        self._written.discard(path)

    def deleted(self, path: str) -> bool:
        """Deselect a note: a later one at this path is another note. Return whether another program deleted it while
        the cursor was at it.
        """
        self._marked.discard(path)
        self._lost.discard(path)
        is_here = path == self._missing[0] or (self.selected is not None and self.selected.path == path)
        if path == self._missing[0]:
            self._missing = ("", "")
        return is_here and not self._is_written(path)

    def written(self, paths: Iterable[str]) -> None:
        """Remember what Donna wrote or deleted: if it is removed, the cursor moves to a sibling."""
        self._written.update(paths)

    def _is_written(self, path: str) -> bool:
        return any(each == path or each.startswith(f"{path}/") for each in self._written)

    def _moved_to(self, folder: str) -> str:
        """Return the new path of a renamed folder: the one whose notes all were in it; empty if there is none."""
        old = {new: path for path, new in self._renamed.items() if path.startswith(f"{folder}/")}
        places = {new.removesuffix(path.removeprefix(folder)) for new, path in old.items()}
        place = places.pop() if len(places) == 1 else ""
        inside = [note.path for note in self.notes if place and note.path.startswith(f"{place}/")]
        return place if inside and all(path in old for path in inside) else ""

    def narrow(self, query: str) -> None:
        if query != self.query_text:
            self.query_text = query
            self._lay_out(best_of(self.notes, query))

    def matches(self, path: str) -> bool:
        words = self.query_text.split()
        return any(note.path == path and (not words or rank_of(note, words) is not None) for note in self.notes)

    def contains(self, path: str) -> bool:
        return any(note.path == path for note in self.notes)

    def reveal(self, path: str) -> None:
        self._folded.difference_update(ancestors_of(path))
        self._lay_out(path)

    def fold(self) -> None:
        """Fold the selected folder, or select its parent."""
        row = self.selected
        if row is None:
            return
        if row.is_folder and not row.folded and not self.query_text:
            self._folded.add(row.path)
            self._lay_out()
        else:
            above = row.path.rpartition("/")[0]
            self.select(next((place for place, each in enumerate(self.items) if each.path == above), 0))

    def unfold(self) -> bool:
        """Unfold the selected folder. Return False if there is nothing to unfold."""
        row = self.selected
        if row is None or not row.folded:
            return False
        self._folded.discard(row.path)
        self._lay_out()
        return True

    def row(self, index: int, width: int) -> Content:
        row = self.items[index]
        indent = "  " * min(row.depth, _DEEPEST)
        is_marked = row.path in self._marked
        if row.note is None:
            sign = ("● ", "accent") if is_marked else ("▸ " if row.folded else "▾ ", "quiet")
            left = Content.assemble(indent, sign, (clean_line(row.name), "strong"))
            return row_of(left, _folder_count(row), width)
        name = clean_line(row.name)
        stem = name[:-3] if name.endswith(".md") else name
        state = next(iter(states_of(row.note)), None)
        tone = "quiet" if state is NoteState.NOT_INDEXED else "plain"
        word = Content("") if state is None else Content.styled(STATES[state].short, STATES[state].tone or "quiet")
        sign = ("● ", "accent") if is_marked else ("  ", tone)
        return row_of(Content.assemble(indent, sign, (stem, tone)), word, width)

    def _lay_out(self, select: str = "") -> None:
        here = self.selected.path if self.selected is not None else ""
        missing, instead = self._missing
        is_back = missing in self._renamed or (not self.has_cursor and self.contains(missing))
        aim = select or (missing if is_back and here == instead else here)
        path = self._path_now(aim)
        before, self.items = self.items, tree_rows(self.notes, self._folded, self.query_text, self._empty, self._gone)
        places = {row.path: place for place, row in enumerate(self.items)}
        is_there = path in places or self.contains(path) or path in self.folders
        is_lost = bool(path) and not is_there and not self._is_written(path)
        instead_of = () if is_lost else chain(_siblings(path, before), ancestors_of(path))
        wanted = chain((path,), () if select else (here,), instead_of)
        found = next((places[each] for each in wanted if each in places), None)
        self.has_cursor = found is not None or (self.has_cursor and not is_lost)
        self.rows_changed(self.selected_index if found is None else found)
        if path:
            self._missing = ("", "") if path in places else (aim, self.selected.path if self.selected else "")

    def _path_now(self, path: str) -> str:
        """Return the new path of a renamed note or folder, in unfolded folders; the same path for any other."""
        path = self._moved_to(path) or path
        while path in self._renamed and not self.contains(path):
            path = self._renamed[path]
            self._folded.difference_update(ancestors_of(path))
        return path


def _siblings(path: str, rows: Iterable[TreeRow]) -> Iterator[str]:
    """Yield the siblings of a path, to select in its place: those below it first, then those above it."""
    folder = path.rpartition("/")[0]
    siblings = [row.path for row in rows if row.path.rpartition("/")[0] == folder]
    if path in siblings:
        place = siblings.index(path)
        yield from (*siblings[place + 1 :], *reversed(siblings[:place]))


def _folder_count(row: TreeRow) -> Content:
    if row.folded and row.edited:
        return Content.styled(f"{count(row.edited)} edited", "warning")
    return Content.styled(count(row.notes) if row.notes else "empty", "quiet")
