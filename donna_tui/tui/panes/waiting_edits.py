"""Edits that were begun and not written: at hand for the screens, and on disk for the next start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from donna_tui.notes import Edit, NoteRow, NoteState, NoteText
from donna_tui.tui.backend import Backend
from donna_tui.tui.ending import Unsaved


class WaitingEdits:
    """By path. Nothing but the user's own key, or a write that was done, takes one away.

    `unkept` are those that could not be put on disk, which leaving the program would lose.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._edits: dict[str, Edit] = {}
        self.unkept: set[str] = set()

    @property
    def paths(self) -> tuple[str, ...]:
        """The notes that have one."""
        return tuple(self._edits)

    def of(self, path: str) -> Edit | None:
        """The edit of a note."""
        return self._edits.get(path)

    async def find(self) -> None:
        """Take up what an earlier run left. Raises DonnaError."""
        for edit in await self._backend.notes.waiting_edits():
            self._edits.setdefault(edit.path, edit)

    async def keep(self, edit: Edit) -> None:
        """Keep an edit. Raises DonnaError if it is kept in memory only."""
        self._edits[edit.path] = edit
        self.unkept.add(edit.path)
        await self._backend.notes.keep_edit(edit)
        self.unkept.discard(edit.path)

    async def drop(self, path: str) -> None:
        """Forget an edit."""
        self.unkept.discard(path)
        self._edits.pop(path, None)
        await self._backend.notes.drop_edit(path)

    def unsaved(self) -> Iterator[Unsaved]:
        """The edits that are not on disk, to be tried once more."""
        for path in self.unkept:
            yield Unsaved(self._edits[path], self.keep)

    def marked(self, notes: Iterable[NoteRow]) -> tuple[NoteRow, ...]:
        """The rows of a vault, those with an edit marked, and one more for each edit whose note is not there."""
        rows = {note.path: note for note in notes}
        for path in self._edits:
            row = rows.get(path, NoteRow(path=path))
            rows[path] = NoteRow(
                path=path,
                states=row.states | {NoteState.UNWRITTEN},
                detail=row.detail,
                size=row.size,
                mtime_ns=row.mtime_ns,
            )
        return tuple(rows.values())

    def as_note(self, path: str) -> NoteText | None:
        """What is typed of a note that is not there, so that it can be edited on."""
        edit = self._edits.get(path)
        return NoteText(path=path, text=edit.text, etag=edit.etag or "") if edit else None
