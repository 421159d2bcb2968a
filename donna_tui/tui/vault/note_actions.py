"""Act on the selected note: copy, open, move, delete, and edit, each after its diff."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from textual.containers import Horizontal
from textual.getters import query_one

from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.dialogs import one_dialog
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.keymap import Keys, shown_key
from donna_tui.tui.vault.flows import VaultFlows
from donna_tui.tui.vault.note_detail import NoteDetail
from donna_tui.tui.vault.tree import NoteTree, TreeRow
from donna_tui.tui.vault.wording import outside_paths, outside_remark
from donna_tui.types.errors import DonnaError
from donna_tui.types.notes import NoteText
from donna_tui.vault.write.changes import OperationKind, Outcome


class NoteActions(Horizontal):
    """Base of the Vault screen, with the actions that go beyond it. The screen itself says how the tree is read."""

    note_tree = query_one(NoteTree)
    detail = query_one(NoteDetail)

    def __init__(self, outside: ExternalPrograms, keys: Keys) -> None:
        super().__init__(id="vault", classes="-on-tree -empty")
        self._outside = outside
        self._keys = keys
        self._backend: Backend | None = None
        self._writing: VaultFlows | None = None
        self._drops = ""

    @property
    def writing(self) -> VaultFlows | None:
        """How this vault is changed, once it is open."""
        return self._writing

    @property
    def unkept_edits(self) -> tuple[str, ...]:
        """The notes with an edit that leaving now would lose."""
        return tuple(sorted(self._writing.edits.unkept)) if self._writing is not None else ()

    def waits(self, row: TreeRow | None) -> bool:
        """Whether an edit of a note was begun and not written."""
        return row is not None and self._writing is not None and self._writing.edits.of(row.path) is not None

    @property
    def note(self) -> NoteText | None:
        """The note under the cursor once it is read, or what waits to be written of one that is not there."""
        row = self.note_tree.selected
        if self.detail.note is not None or row is None or self._writing is None:
            return self.detail.note
        return self._writing.edits.as_note(row.path) if row.note and not row.note.mtime_ns else None

    def look(self, show: str = "") -> None:
        """Read the tree again, and select a note if it is there."""
        raise NotImplementedError

    def look_soon(self) -> None:
        """The same in a moment, once for all that happens meanwhile."""
        raise NotImplementedError

    def follow(self) -> None:
        """Let the desk show what is under the cursor."""
        raise NotImplementedError

    def action_vault_copy_link(self) -> None:
        """Copy a wikilink to the note, or to each note that is selected."""
        row = self.note_tree.selected
        known = {note.path for note in self.note_tree.notes}
        marked = [path for path in self.note_tree.marked if path in known]
        paths = marked or ([row.path] if row is not None else [])
        links = "\n".join(f"[[{path.removesuffix('.md')}]]" for path in paths)
        if links:
            self._outside.copy(links, "The link to this note" if len(paths) == 1 else f"Links to {len(paths)} notes")

    def action_vault_copy_text(self) -> None:
        """Copy the text of the note, or the difference."""
        if self.detail.diff.has_focus and self.detail.diff.diffs:
            self._outside.copy(self.detail.diff.text, "The difference")
        elif self.detail.note is not None:
            self._outside.copy(self.detail.note.text, "The text of the note")

    async def action_vault_obsidian(self) -> None:
        """Open the note in Obsidian."""
        row = self.note_tree.selected
        if row is not None and self._backend is not None:
            await self._outside.open_in_obsidian(Path(self._backend.status().root), row.path)

    def action_vault_edit(self) -> None:
        """Open the note itself in the editor."""
        row = self.note_tree.selected
        if row is not None:
            self.edit_file(row.path, self.detail.text.line)

    def edit_file(self, path: str, line: int) -> None:
        """Open a note itself in the editor, at a line (1-based), and commit what was saved."""
        if self._backend is None or self._writing is None:
            return
        try:
            file = self._backend.absolute_path(path)
        except DonnaError as error:
            self.notify(sentence(error.message), severity="error", timeout=8, markup=False)
        else:
            self._change(partial(self._writing.edit, path, file, line))

    def action_vault_commit(self) -> None:
        """Commit what was edited outside."""
        paths = outside_paths(self.note_tree.selected, self.note_tree.notes)
        if paths and self._writing is not None:
            self._change(partial(self._writing.commit, paths))

    def action_vault_edit_copy(self) -> None:
        """Edit a copy in the editor."""
        note, line = self.note, self.detail.text.line
        if note is not None and self._writing is not None:
            self._change(partial(self._writing.edit_copy, note, line, self._remarks()))

    def action_vault_edit_here(self) -> None:
        """Edit on this screen."""
        note, line = self.note, self.detail.text.line
        if note is not None and self._writing is not None:
            self._change(partial(self._writing.edit_here, note, line, self._remarks()))

    def action_vault_new(self) -> None:
        """Begin a note in the folder where the cursor is."""
        if self._writing is not None:
            self._change(partial(self._writing.new, self._folder, self.note_tree.notes))

    def create(self, path: str) -> None:
        """Create a note at a path."""
        if self._writing is not None:
            self._change(partial(self._writing.create, path, self.note_tree.notes))

    def action_vault_move(self) -> None:
        """Rename or move the note or the folder, or move what is selected."""
        tree, note = self.note_tree, self.detail.note
        row = tree.selected
        if self._writing is None:
            return
        if tree.marked:
            self._change(partial(self._writing.move_all, tree.marked, tree.folders))
        elif row is not None and row.is_folder and row.notes:
            self._change(partial(self._writing.move_folder, row.path, tree.folders))
        elif row is not None and row.is_folder:
            self._change_folder(partial(self._writing.rename_empty, row.path, tree.folders))
        elif note is not None:
            self._change(partial(self._writing.move, note, self.note_tree.notes, self._remarks()))

    def action_vault_delete(self) -> None:
        """Delete the note or the folder, or what is selected."""
        tree, note = self.note_tree, self.detail.note
        row = tree.selected
        if self._writing is None:
            return
        if tree.marked or (row is not None and row.is_folder and row.notes):
            self._change(partial(self._writing.delete_all, tree.marked or ((row.path,) if row is not None else ())))
        elif row is not None and row.is_folder:
            self._change_folder(partial(self._removed, self._writing, row.path))
        elif note is not None:
            self._change(partial(self._writing.delete, note, self._remarks()))

    def action_vault_mark(self) -> None:
        """Select the row, or no longer."""
        self.note_tree.mark()

    def action_vault_new_folder(self) -> None:
        """Create a folder in the one where the cursor is."""
        if self._writing is not None:
            self._change_folder(partial(self._writing.new_folder, self._folder, self.note_tree.folders))

    async def _removed(self, writing: VaultFlows, path: str) -> str:
        await writing.remove_empty(path)
        return path.rpartition("/")[0]

    @one_dialog("change")
    async def _change_folder(self, flow: Callable[[], Awaitable[str]]) -> None:
        self.look(await flow())

    @property
    def _folder(self) -> str:
        """The folder where the cursor is."""
        row = self.note_tree.selected
        return "" if row is None else row.path if row.is_folder else row.path.rpartition("/")[0]

    def action_vault_settle(self) -> None:
        """Settle the conflict copy."""
        row = self.note_tree.selected
        if row is not None and self._writing is not None:
            self._change(partial(self._writing.settle, row.path))

    def action_vault_undo(self) -> None:
        """Take the last change back; in the history, the selected one."""
        operation = self.detail.selected_operation
        if self._writing is not None and operation is not None:
            self._change(partial(self._writing.undo_one, operation))
        elif self._writing is not None:
            self._change(partial(self._writing.step_back, OperationKind.UNDO))

    def action_vault_redo(self) -> None:
        """Do again what was taken back."""
        if self._writing is not None:
            self._change(partial(self._writing.step_back, OperationKind.REDO))

    async def action_vault_discard(self) -> None:
        """Drop the edit that waits; the first time say so, the second time do it."""
        row = self.note_tree.selected
        if row is None or self._writing is None:
            return
        if self._drops != row.path:
            self._drops = row.path
            key = shown_key(self._keys["vault.discard"], typing=False)
            said = f"This discards your edit for good. {key} again drops it."
            self.notify(said, severity="warning", timeout=6, markup=False)
            return
        self._drops = ""
        await self._writing.drop(row.path)
        self.look()
        self.follow()

    @one_dialog("change")
    async def _change(self, flow: Callable[[], Awaitable[Outcome | None]]) -> None:
        outcome = await flow()
        if outcome is not None:
            self.note_tree.unmark()
        self.look(_new_place(outcome))
        gone = (
            ()
            if outcome is None
            else (path for path, etag in zip(outcome.paths, outcome.etags, strict=True) if not etag)
        )
        if self.detail.note is None or self.detail.note.path not in gone:
            self.detail.reload()

    def _remarks(self) -> tuple[str, ...]:
        return outside_remark(self.note_tree.selected)


def _new_place(outcome: Outcome | None) -> str:
    """The note to show after a change: the first one that is still there."""
    if outcome is None:
        return ""
    return next((path for path, etag in zip(outcome.paths, outcome.etags, strict=True) if etag), "")
