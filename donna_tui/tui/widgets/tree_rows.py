"""Notes as the rows of a tree: folders first, folded ones closed, and only what matches while one filters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import field

from donna_tui.notes import NoteRow, NoteState
from donna_tui.records import dataclass

STATE_ORDER = (
    NoteState.UNWRITTEN,
    NoteState.CONFLICT,
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
    NoteState.OUTSIDE: "edited",
    NoteState.DRAFT: "draft",
    NoteState.NOT_INDEXED: "left out",
    NoteState.SENSITIVE: "sensitive",
    NoteState.LOCAL_ONLY: "local",
    NoteState.PENDING: "waiting",
}
OPEN_AT_FIRST = 60
"""A vault with at most so many notes is shown unfolded."""


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


def tree_rows(notes: Iterable[NoteRow], folded: Collection[str], query: str = "") -> list[TreeRow]:
    """The rows in sight. With a query every folder is open and only matching notes are shown."""
    words = query.casefold().split()
    root = _Folder("")
    for note in notes:
        if all(word in searched_text(note) for word in words):
            _put(root, note)
    return list(_rows(root, 0, () if words else folded))


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


def _put(root: _Folder, note: NoteRow) -> None:
    folder = root
    *parts, _ = note.path.split("/")
    edited = NoteState.OUTSIDE in note.states
    for part in parts:
        path = f"{folder.path}/{part}" if folder.path else part
        folder = folder.folders.setdefault(part, _Folder(path))
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
