"""Notes as the rows of a tree: folders first, folded ones closed, and only what matches while one filters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from pathlib import PurePosixPath

from donna_tui.notes import NoteRow, NoteState
from donna_tui.records import dataclass
from donna_tui.text.fuzzy import fuzzy_match

STATE_ORDER = (
    NoteState.UNWRITTEN,
    NoteState.CONFLICT,
    NoteState.MARKERS,
    NoteState.OUTSIDE,
    NoteState.DRAFT,
    NoteState.NOT_INDEXED,
    NoteState.SENSITIVE,
    NoteState.LOCAL_ONLY,
    NoteState.PENDING,
)
"""What matters most comes first; a row has room for one."""

STATE_WORDS = {
    NoteState.UNWRITTEN: "your edit waits, not written",
    NoteState.CONFLICT: "conflict copy",
    NoteState.MARKERS: "conflict markers in its text",
    NoteState.OUTSIDE: "edited outside",
    NoteState.DRAFT: "drafted by Donna",
    NoteState.NOT_INDEXED: "not in the index",
    NoteState.SENSITIVE: "sensitive",
    NoteState.LOCAL_ONLY: "local only",
    NoteState.PENDING: "waiting for the index",
}
SHORT_WORDS = {
    NoteState.UNWRITTEN: "unwritten",
    NoteState.CONFLICT: "conflict",
    NoteState.MARKERS: "conflict",
    NoteState.OUTSIDE: "edited",
    NoteState.DRAFT: "draft",
    NoteState.NOT_INDEXED: "left out",
    NoteState.SENSITIVE: "sensitive",
    NoteState.LOCAL_ONLY: "local",
    NoteState.PENDING: "waiting",
}
OPEN_AT_FIRST = 60
"""A vault with at most so many notes is shown unfolded."""
_IN_NAME = 5.0
"""What a match in the name of a note counts more than one in its folder."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A folder or a note. `notes` and `edited` count what is inside a folder; `path` is raw."""

    path: str
    name: str
    depth: int
    note: NoteRow | None = None
    folded: bool = False
    notes: int = 0
    edited: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether it holds notes."""
        return self.note is None


@dataclass(slots=True)
class _Folder:
    path: str
    folders: dict[str, _Folder] = field(default_factory=dict)
    notes: list[NoteRow] = field(default_factory=list)
    count: int = 0
    edited: int = 0


def tree_rows(
    notes: Iterable[NoteRow], folded: Collection[str], query: str = "", empty: Iterable[str] = ()
) -> list[TreeRow]:
    """The rows in sight, with `empty` folders. With a query every folder is open and only matching notes are shown."""
    words = query.split()
    root = _Folder("")
    for path in () if words else empty:
        _open(root, path.split("/"))
    for note in notes:
        if not words or rank_of(note, words) is not None:
            _put(root, note)
    return list(_rows(root, 0, () if words else folded))


def best_of(notes: Iterable[NoteRow], query: str) -> str:
    """The path of the note that a query fits best; empty if it fits none. Of equals the first in the tree wins."""
    words = query.split()
    ranked = [(rank, note.path) for note in notes if words and (rank := rank_of(note, words)) is not None]
    return min(ranked, key=lambda each: (-each[0], each[1].casefold()))[1] if ranked else ""


def rank_of(note: NoteRow, words: Sequence[str]) -> float | None:
    """How well a note fits all of these words; None if it does not.

    A word is a part of the path or of a state, or letters of the path in their order. Letters that are scattered count
    only where most of them begin a word or follow each other.
    """
    name, whole = PurePosixPath(note.path).stem, note.path
    rank = 0.0
    for word in words:
        ranks = [*_ranks(word, name, _IN_NAME), *_ranks(word, whole, 0.0)]
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
    if runs == len(places) - 1 or runs + starts > len(places) / 2:
        yield match.score + bonus


def searched_text(note: NoteRow) -> str:
    """What a filter looks at: the path, and the words for the states."""
    states = " ".join(f"{STATE_WORDS[state]} {SHORT_WORDS[state]}" for state in note.states)
    return f"{note.path} {states}".casefold()


def states_of(note: NoteRow) -> list[NoteState]:
    """The states of a note, what matters most first."""
    return [state for state in STATE_ORDER if state in note.states]


def folders_of(notes: Iterable[NoteRow]) -> set[str]:
    """Every folder that holds a note, at any depth."""
    found: set[str] = set()
    for note in notes:
        folder = note.path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def above_of(path: str) -> Iterator[str]:
    """The folders above a path, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


def _open(root: _Folder, parts: Iterable[str]) -> Iterator[_Folder]:
    """The folders on the way, created where they are missing."""
    folder, way = root, []
    for part in parts:
        path = f"{folder.path}/{part}" if folder.path else part
        folder = folder.folders.setdefault(part, _Folder(path))
        way.append(folder)
    return iter(way)


def _put(root: _Folder, note: NoteRow) -> None:
    folder = root
    edited = NoteState.OUTSIDE in note.states
    for folder in _open(root, note.path.split("/")[:-1]):
        folder.count += 1
        folder.edited += edited
    folder.notes.append(note)


def _rows(folder: _Folder, depth: int, folded: Collection[str]) -> Iterator[TreeRow]:
    for name, inner in sorted(folder.folders.items(), key=lambda item: (item[0].casefold(), item[0])):
        closed = inner.path in folded
        yield TreeRow(inner.path, name, depth, folded=closed, notes=inner.count, edited=inner.edited)
        if not closed:
            yield from _rows(inner, depth + 1, folded)
    for note in sorted(folder.notes, key=lambda note: (note.path.casefold(), note.path)):
        yield TreeRow(note.path, note.path.rpartition("/")[2], depth, note)
