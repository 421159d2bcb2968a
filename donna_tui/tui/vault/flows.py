"""Change notes: plan, show the diff, confirm, and offer undo."""

from __future__ import annotations

import asyncio
import re
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from textual.widget import Widget

from donna_tui.memory.checkboxes import checked, line_of_task, task_line, task_typed, with_task
from donna_tui.safety.terminal import clean_line
from donna_tui.text.merge import has_conflict_markers, marked_text, merge_texts
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.dialogs import LinePrompt
from donna_tui.tui.lib.edit_dialog import EditScreen
from donna_tui.tui.lib.error_messages import Refusal, error_text, lowered, refusal_of
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import moment, plural
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.vault.conflict_dialogs import ConflictChoice, ConflictCopyDialog, ConflictScreen, ThreeWayScreen
from donna_tui.tui.vault.plan_dialog import Answer, FolderPrompt, PathPrompt, Proposal
from donna_tui.tui.vault.plan_flow import TRANSIENT, PlanFlow, T, UnsavedEdits, retried
from donna_tui.tui.vault.wording import actor_name, done_by, names_of
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.memory import SessionChange
from donna_tui.types.notes import Edit, NoteRow, NoteText
from donna_tui.vault.note.diff import diff_changes
from donna_tui.vault.obsidian import formatted, unknown_token
from donna_tui.vault.write.changes import (
    Clash,
    Operation,
    OperationKind,
    Outcome,
    Plan,
    Version,
    etag_of,
    whole_sessions,
)

MARKER = "<<<<<<< "
"""The beginning of the first line of a conflict."""

TASKS_NOTE = "Inbox/Tasks.md"
"""Where tasks are added that have no note of their own, as by `donna task add`."""

STILL_MARKED = "Conflict markers are still in it"
UNCHANGED = "Nothing was changed."

_SAYS_DUE = re.compile(r"\sdue:?\s+\S", re.IGNORECASE)
_FIELD = re.compile(r"\{\{\s*(title|date|time)\s*(?::([^{}\n]{1,60}))?\s*\}\}", re.IGNORECASE)
_USUAL = {"date": "YYYY-MM-DD", "time": "HH:mm"}


class VaultFlows(PlanFlow):
    """The operations of a pane that change a vault. Each must run in a worker; it returns its outcome, or None."""

    def __init__(self, pane: Widget, programs: ExternalPrograms, backend: Backend) -> None:
        super().__init__(pane, backend)
        self._programs = programs
        self.edits = UnsavedEdits(backend)
        self._known: frozenset[str] | None = None
        """The notes that there were when an edit began, if that is known."""
        self._edits_without_history = False
        """True once the user has declined to create a repository before an edit."""

    async def edit(
        self, path: str, file: Path, line: int, as_it_was: str = UNCHANGED, *, known: frozenset[str] | None = None
    ) -> Outcome | None:
        """Open the note itself in the user's editor, and commit the saved text; report `as_it_was` if it is the same.

        The current version is committed before the editor runs. A note that Donna may not commit is opened
        nevertheless. The note can have been moved meanwhile to any path but the `known` ones.
        """
        self._known = known
        version, why = await self._before_editing(path)
        if version is None and not why:
            return None
        stamp = await asyncio.to_thread(_stamp, file)
        await self._programs.edit(file, line)
        step = "Save it there, then continue here to commit what you saved. If you cancel, it counts as edited outside."
        if self._has_window(file, line) and not await self._agrees(_in_window(clean_line(path), step), "commit"):
            return None
        if version is None:
            if stamp != await asyncio.to_thread(_stamp, file):
                self._report(f"Saved, but not committed, so undo cannot restore what was there. {why}")
            return None
        outcome = await self._adopted(partial(self._backend.notes.plan_since, version), as_it_was)
        if outcome is not None and (moved := await self._moved(len(version.data), etag_of(version.data))):
            words = "while you edited it, and your editor saved it at its old path, so there are two notes now."
            self._report(f"The note was moved to {clean_line(moved)} {words}")
        return outcome

    async def commit(self, paths: tuple[str, ...]) -> Outcome | None:
        return await self._adopted(partial(self._backend.notes.plan_outside, paths), UNCHANGED)

    @retried("created")
    async def begin_history(self) -> None:
        """Create a repository if the user agrees; the notes as they are become its first commit."""
        if await self.creates_repository():
            self._report("Repository created. Your notes as they are now are its first commit.")

    @retried("committed")
    async def _adopted(self, make: Callable[[], Awaitable[Plan]], as_it_was: str) -> Outcome | None:
        """Commit the version on disk. The diff is not shown if the user has just saved one note, without a remark."""
        try:
            plan = await make()
            gone = [each.path for each in plan.changes if each.after is None]
            if gone or plan.remarks or len(plan.changes) > 1:
                is_move = plan.kind is OperationKind.MOVE
                summary = tuple(f"Deleted or moved outside: {path}" for path in gone if not is_move)
                return await self._offer(
                    Proposal(plan, title=f"Commit: {plan.subject}", does="commit", summary=summary)
                )
            if plan.changes:
                return await self._carry_out(plan)
            self._report(as_it_was)
        except DonnaError as error:
            if error.reason is not Reason.MISSING:
                raise
            self._report("The note is no longer there; nothing was committed.")
        return None

    async def _before_editing(self, path: str) -> tuple[Version | None, str]:
        """Commit the current version of a note. Return it, else the reason of a failure.

        Without a repository the user is asked once whether to create one, and may edit without. If creating it fails,
        that is reported, and the reason is empty.
        """
        while True:
            try:
                with self.waiting():
                    return await self._backend.notes.commit_version(path), ""
            except DonnaError as error:
                if error.reason is not Reason.NO_REPOSITORY or self._edits_without_history:
                    return None, refusal_of(error).what
            try:
                self._edits_without_history = not await self.creates_repository()
            except DonnaError as error:
                if not await self._refused(error):
                    return None, ""

    async def edit_text(
        self,
        note: NoteText,
        line: int,
        remarks: tuple[str, ...] = (),
        *,
        here: bool,
        as_it_was: str = UNCHANGED,
        known: frozenset[str] | None = None,
    ) -> Outcome | None:
        """Edit a copy of a note, on this screen (`here`) or in the editor, and write it after showing its diff.

        The note can have been moved meanwhile to any path but the `known` ones.
        """
        self._known = known
        edit = self.edits.of(note.path) or Edit(note.path, note.text, note.etag, note.text)
        text = await self._edited(edit, line, here=here)
        if text is None:
            return None
        if text == edit.base:
            await self.drop(edit.path)
            self._report(as_it_was)
            return None
        edit = replace(edit, text=text)
        await self._store(edit)
        return await self._write(edit, remarks)

    async def new(self, folder: str, notes: tuple[NoteRow, ...]) -> Outcome | None:
        """Create a note, from a template if there is one, and open it in the editor."""
        template = await self._template(templates_of(notes))
        if template is None:
            return None
        return await self._new_from(template, f"{folder}/" if folder else "", "", notes)

    async def create(self, path: str, notes: tuple[NoteRow, ...], template: str = "") -> Outcome | None:
        """Create a note at a path, from a template if its path is given, and open it; if this is refused, ask for
        another path.
        """
        text = ""
        if template:
            try:
                text = (await self._backend.notes.read_note(template)).text
            except DonnaError as error:
                self._report(f"The template {clean_line(template)} is not used: {lowered(error_text(error))}")
        try:
            return await self._do_at(path, partial(self._created, template=text), "created")
        except DonnaError as error:
            return await self._new_from(text, path, refusal_of(error).what, notes)

    async def _new_from(self, template: str, path: str, problem: str, notes: tuple[NoteRow, ...]) -> Outcome | None:
        window = partial(PathPrompt, "New note", taken=names_of(notes), check=self._backend.notes.why_not_new)
        do = partial(self._created, template=template)
        return await self._at_path(window, path, do, problem=problem, undone="created")

    async def _at_path(
        self,
        window: Callable[..., PathPrompt],
        path: str,
        do: Callable[[str], Awaitable[T]],
        *,
        problem: str = "",
        before: str = "",
        undone: str = "moved",
    ) -> T | None:
        """Ask for a path until `do` accepts it. Return None if the user cancels, or leaves it as it was `before`."""
        while True:
            new_path = await self._prompt(window(path, problem=problem))
            if new_path is None or new_path == before:
                return None
            try:
                return await self._do_at(new_path, do, undone)
            except DonnaError as error:
                path, problem = new_path, error_text(error)

    async def _do_at(self, path: str, do: Callable[[str], Awaitable[T]], undone: str) -> T | None:
        """Run `do`, and again if the user retries after a refusal that is not about the path.

        Raises DonnaError for one that is, so that another path is asked for.
        """

        def is_about_path(error: DonnaError) -> bool:
            is_conflict = error.reason is Reason.CONFLICT and getattr(error, "path", "") in ("", path)
            return is_conflict or error.reason not in TRANSIENT

        return await self._retrying(partial(do, path), undone, is_about_path)

    async def _created(self, path: str, template: str) -> Outcome | None:
        """Write a new note without a diff, and open it in the editor. Raises DonnaError."""
        text = fill(template, title=PurePosixPath(path).stem, now=datetime.now())
        plan = await self._backend.notes.plan_write(path, text, None)
        outcome = await self._carry_out(plan, reports=False)
        if outcome is None:
            return None
        line = text.count("\n") + 1
        if self._programs.external.no_editor:
            note = await self._now(path)
            edited = await self.edit_text(note, line, here=True, as_it_was="") if note is not None else None
        else:
            edited = await self.edit(path, self._backend.absolute_path(path), line, as_it_was="")
        if edited is None:
            await self._report_change(plan, outcome)
        return edited or outcome

    async def add_task(self) -> Outcome | None:
        """Prompt for a task and append its check box to a note, which is created if missing."""
        today = date.today()

        def hint_for(text: str) -> str:
            _, due = task_typed(text, today)
            unread = ". The words after “due” are not a date" if _SAYS_DUE.search(text) else ""
            deadline = f", due {due}" if due else unread or ". End with “due friday” to set a deadline"
            return f"Adds it to {TASKS_NOTE}{deadline}."

        prompt = LinePrompt("Add a task", "add it", placeholder="call the bank due tomorrow", hint_for=hint_for)
        text = await self._prompt(prompt)
        if text is None:
            return None
        title, due = task_typed(text, today)
        line = task_line(title, due=due, created=today.isoformat())
        return await self._rewritten(TASKS_NOTE, lambda text: with_task(text, line), is_new_fine=True)

    async def tick(self, path: str, task: str) -> Outcome | None:
        """Check the box of a task, which is named by its hash."""

        def done(text: str) -> str | None:
            line = line_of_task(text, task)
            return checked(text, line, date.today().isoformat()) if line is not None else None

        return await self._rewritten(path, done)

    @retried("written")
    async def _rewritten(
        self, path: str, change: Callable[[str], str | None], *, is_new_fine: bool = False
    ) -> Outcome | None:
        """Change some lines of a note that the user named, without showing a diff first."""
        note = await self._now(path)
        if note is None and not is_new_fine:
            self._report(f"{clean_line(path)} is no longer there.")
            return None
        text = change(note.text if note is not None else "")
        if text is None:
            self._report("The note no longer contains this task, or it is already done.")
            return None
        etag = note.etag if note is not None else None
        return await self._carry_out(await self._backend.notes.plan_write(path, text, etag))

    async def move(self, note: NoteText, notes: tuple[NoteRow, ...], remarks: tuple[str, ...] = ()) -> Outcome | None:
        service, taken = self._backend.notes, names_of(notes) - {note.path}

        async def move(new_path: str) -> Outcome | None:
            now = await service.read_note(note.path)  # what the plan changes in it is shown first
            return await self._planned(partial(service.plan_move, note.path, new_path, now.etag), remarks)

        check = partial(service.why_not_new, besides=note.path)
        window = partial(PathPrompt, "Move or rename", taken=taken, check=check)
        return await self._at_path(window, note.path, move, before=note.path)

    async def move_all(self, paths: tuple[str, ...], folders: tuple[str, ...]) -> Outcome | None:
        folder = await self._prompt(FolderPrompt(f"Move {plural(len(paths), 'item')} to", folders))
        if folder is None:
            return None
        return await self._with_retry(partial(self._backend.notes.plan_move_into, paths, folder))

    async def new_folder(self, above: str, folders: tuple[str, ...]) -> str:
        """Create a folder, which git stores once a note is in it. Return its path, or an empty string."""

        async def create(path: str) -> str:
            await self._backend.notes.create_folder(path)
            self._report("Folder created. Git tracks it once it contains a note.")
            return path

        start = f"{above}/" if above else ""
        return await self._at_folder("New folder", start, folders, create, undone="created") or ""

    async def rename_empty(self, path: str, folders: tuple[str, ...]) -> str:
        async def rename(new: str) -> str:
            await self._backend.notes.rename_folder(path, new)
            self._report("Moved. The folder was empty.")
            return new

        return await self._at_folder("Move or rename", path, folders, rename) or ""

    async def remove_empty(self, path: str) -> str:
        """Remove a folder without notes. Return the folder that contained it, or the folder itself if it is kept."""
        try:
            is_removed = await self._backend.notes.remove_folder(path)
        except DonnaError as error:
            return await self.remove_empty(path) if await self._refused(error, undone="deleted") else path
        kept = "Not deleted: the folder contains files that are not notes."
        self._report("Deleted. The folder was empty." if is_removed else kept)
        return path.rpartition("/")[0] if is_removed else path

    async def move_folder(self, path: str, folders: tuple[str, ...]) -> Outcome | None:
        def move(new: str) -> Awaitable[Outcome | None]:
            return self._planned(partial(self._backend.notes.plan_move_folder, path, new))

        return await self._at_folder("Move or rename the folder", path, folders, move)

    async def _at_folder(
        self,
        title: str,
        path: str,
        folders: tuple[str, ...],
        do: Callable[[str], Awaitable[T]],
        *,
        undone: str = "moved",
    ) -> T | None:
        """Ask for the path of a folder until `do` accepts it, as `_at_path` does."""

        def check(new: str) -> Awaitable[str]:
            return self._backend.notes.why_not_new(f"{new}/note.md", besides=path)

        window = partial(PathPrompt, title, taken=frozenset(folders), check=check, is_folder=True)
        return await self._at_path(window, path, do, before=path, undone=undone)

    async def delete_all(self, paths: tuple[str, ...]) -> Outcome | None:
        return await self._deleted(lambda unlinks: self._backend.notes.plan_delete_all(paths, unlinks=unlinks), ())

    async def delete(self, note: NoteText, remarks: tuple[str, ...] = ()) -> Outcome | None:
        async def plan(unlinks: bool) -> Plan:
            now = await self._backend.notes.read_note(note.path)
            return await self._backend.notes.plan_delete(note.path, now.etag, unlinks=unlinks)

        return await self._deleted(plan, remarks)

    @retried("deleted")
    async def _deleted(
        self, make: Callable[[bool], Awaitable[Plan]], remarks: tuple[str, ...], *, unlinks: bool = False
    ) -> Outcome | None:
        plan = await make(unlinks)
        answer = await self._confirm(Proposal(plan, remarks))
        if answer is Answer.UNLINK:
            return await self._deleted(make, remarks, unlinks=True)
        return await self._carry_out(plan) if answer is Answer.DO else None

    @retried("resolved")
    async def resolve_copy(self, path: str) -> Outcome | None:
        notes = self._backend.notes
        conflict = await notes.conflict(path)
        keep = await self._prompt(ConflictCopyDialog(conflict))
        return await self._planned(partial(notes.plan_resolution, conflict, keep)) if keep is not None else None

    @retried("undone")
    async def undo_one(self, operation: Operation) -> Outcome | None:
        try:
            plan = await self._backend.notes.plan_undo_one(operation.id)
            return await self._offer(Proposal(plan, summary=(_summary_line(operation),)))
        except DonnaError as error:
            if error.reason is not Reason.UNDO_CONFLICT:
                raise
            return await self._three_ways(OperationKind.UNDO, 1, error, operation)

    async def step_back(self, kind: OperationKind) -> Outcome | None:
        """Undo or redo as many steps as the user selects in the preview."""
        notes, steps = self._backend.notes, 1
        while True:
            try:
                operations = await self._operations(kind)
                planning = notes.plan_undo if kind is OperationKind.UNDO else notes.plan_redo
                plan = await planning(steps)
                summary = tuple(map(_summary_line, operations[:steps]))
                answer = await self._confirm(Proposal(plan, summary=summary, steps=steps, most_steps=len(operations)))
                if answer not in (Answer.MORE, Answer.FEWER):
                    outcome = await self._carry_out(plan) if answer is Answer.DO else None
                    if outcome is not None:
                        await self._change_memories(kind, operations, steps)
                    return outcome
                steps += 1 if answer is Answer.MORE else -1
            except DonnaError as error:
                if error.reason is Reason.UNDO_CONFLICT:
                    return await self._three_ways(kind, steps, error)
                if not await self._refused(error, undone="undone" if kind is OperationKind.UNDO else "redone"):
                    return None

    async def drop(self, path: str) -> None:
        try:
            await self.edits.drop(path)
        except DonnaError as error:
            self._warn(error)

    async def follow(self, old: str, new: str) -> None:
        """Let the unsaved edit of a renamed note, if there is one, follow it."""
        try:
            await self.edits.renamed(old, new)
        except DonnaError as error:
            self._warn(error)

    async def _store(self, edit: Edit) -> None:
        """Save an edit until it is written, also across restarts."""
        try:
            await self.edits.store(edit)
        except DonnaError as error:
            self._warn(error)

    async def _carry_out(
        self, plan: Plan, do: Callable[[Plan], Awaitable[Outcome]] | None = None, *, reports: bool = True
    ) -> Outcome | None:
        """Apply a plan as `PlanFlow` does, and let unsaved edits follow the notes that it moves."""
        outcome = await super()._carry_out(plan, do, reports=reports)
        gone = {change.path for change in plan.changes if change.after is None}.intersection(self.edits.paths)
        if outcome is not None and gone:
            for diff in await asyncio.to_thread(diff_changes, plan.changes):
                if diff.old_path in gone:
                    await self.follow(diff.old_path, diff.path)
        return outcome

    # Writing an edit

    async def _write(self, edit: Edit, remarks: tuple[str, ...]) -> Outcome | None:
        """Show the diff of an edit and write it; it stays in `edits` until it is written or dropped."""
        while True:
            try:
                plan = await self._backend.notes.plan_write(edit.path, edit.text, edit.etag)
                has_markers = has_conflict_markers(edit.text.encode("utf-8", "surrogatepass"))
                remarks = (*remarks, STILL_MARKED) if has_markers and STILL_MARKED not in remarks else remarks
                proposal = Proposal(plan, remarks, can_discard=True)
                answer = await self._confirm(proposal) if plan.changes else Answer.DISCARD
                outcome = await self._carry_out(plan) if answer is Answer.DO else None
            except DonnaError as error:
                retry = await self._resolve_refused(edit, error)
                if retry is None:
                    return None
                if retry.path != edit.path and retry.etag == edit.etag:
                    remarks = (*remarks, f"The note was moved to {retry.path} while you edited it")
                edit = retry
                continue
            if outcome is not None or answer is Answer.DISCARD:
                await self.drop(edit.path)
            return outcome

    async def _resolve_refused(self, edit: Edit, error: DonnaError) -> Edit | None:
        """Ask how to resolve a refused edit; return the edit to try next, or None."""
        if error.reason not in (Reason.CONFLICT, Reason.MISSING) or edit.etag is None:
            return edit if await self._refused(error) else None
        theirs = await self._now(edit.path)
        size = len(edit.base.encode("utf-8", "surrogatepass"))
        if theirs is None and (moved := await self._moved(size, edit.etag)):
            await self.follow(edit.path, moved)
            return replace(edit, path=moved)
        merge = merge_texts(edit.base, edit.text, theirs.text if theirs is not None else "")
        screen = ConflictScreen(edit, theirs.text if theirs is not None else None, merge)
        choice = await self._prompt(screen)
        if choice is None:
            return None
        await self.drop(edit.path)
        retry = await self._apply_choice(choice, edit, theirs, merge.text)
        if retry is not None:
            await self._store(retry)
        return retry

    async def _moved(self, size: int, etag: str) -> str:
        """Return the path of a note that appeared with the version from before an edit; empty if there is none."""
        if self._known is None:
            return ""
        with suppress(DonnaError):
            for row in await self._backend.notes.vault_rows():
                is_new = row.path not in self._known and row.path not in self.edits.paths
                if is_new and row.size - size in (0, len(BOM_UTF8)):
                    note = await self._now(row.path)
                    if note is not None and note.etag == etag:
                        return row.path
        return ""

    async def _apply_choice(
        self, choice: ConflictChoice, edit: Edit, theirs: NoteText | None, merged: str
    ) -> Edit | None:
        if choice is ConflictChoice.COPY:
            path = edit.path if theirs is None else await self._free_name(edit.path)
            return Edit(path, "", None, edit.text)
        if choice is ConflictChoice.RELOAD or theirs is None:
            return None
        if choice is ConflictChoice.BOTH:
            marked = marked_text(edit.base, edit.text, theirs.text)
            return await self._edit_conflict_markers(Edit(edit.path, theirs.text, theirs.etag, marked))
        text = merged if choice is ConflictChoice.MERGE else edit.text
        return Edit(edit.path, theirs.text, theirs.etag, text)

    async def _edit_conflict_markers(self, edit: Edit) -> Edit | None:
        """Edit a text with conflict markers in the editor, or on this screen if there is no editor."""
        await self._store(edit)
        line = edit.text[: edit.text.index(MARKER)].count("\n") + 1 if MARKER in edit.text else 1
        text = await self._edited(edit, line, here=bool(self._programs.external.no_editor))
        return replace(edit, text=text) if text is not None else None

    async def _now(self, path: str) -> NoteText | None:
        """Return the current note; None if it is missing or cannot be read."""
        try:
            return await self._backend.notes.read_note(path)
        except VaultReadError:
            return None

    async def _free_name(self, path: str) -> str:
        """Return a free name next to a note: `Note (my edit).md`, `Note (my edit 2).md`, …"""
        taken = names_of(await self._backend.notes.vault_rows())
        stem, ending = path[: -len(PurePosixPath(path).suffix)], PurePosixPath(path).suffix
        numbers = ("", *(f" {number}" for number in range(2, 1_000)))
        return next(name for number in numbers if (name := f"{stem} (my edit{number}){ending}") not in taken)

    # Undo and redo

    async def _change_memories(self, kind: OperationKind, operations: Sequence[Operation], steps: int) -> None:
        """Redo the memories of agents' sessions of which nothing is left to redo, or undo them again with the notes."""
        memory, chosen = self._backend.memory, operations[:steps]
        try:
            if kind is OperationKind.UNDO:
                by_agents = [operation.id for operation in chosen if operation.session]
                if by_agents and await memory.undo_redone(by_agents):
                    self._report("The agent's changes to the memory are undone too.")
                return
            for session in whole_sessions(operations, steps):
                redone = [operation.id for operation in chosen if operation.session == session]
                if await memory.redo_session(session, redone) != SessionChange():
                    self._report("The agent's changes to the memory are redone too.")
        except DonnaError as error:
            self._report(f"The memory was not changed: {refusal_of(error).what}")

    async def _operations(self, kind: OperationKind) -> tuple[Operation, ...]:
        return await (self._backend.notes.undoable() if kind is OperationKind.UNDO else self._backend.notes.redoable())

    @retried("written")
    async def _three_ways(
        self, kind: OperationKind, steps: int, error: DonnaError, one: Operation | None = None
    ) -> Outcome | None:
        """Show the clashes that block an undo or redo, or that of `one` operation, and offer to restore the lines that
        later edits do not touch.

        The choices are only for an undo of a single note, since they write that note and nothing else.
        """
        operations = (await self._operations(kind))[:steps] if one is None else (one,)
        clashes = await self._backend.notes.clashes(kind, steps, "" if one is None else one.id)
        paths = {change.path for operation in operations for change in operation.changes}
        others = len(paths.union(clash.path for clash in clashes)) - 1
        only = clashes[0] if clashes and not others else None  # there are none if the note was restored meanwhile
        merged = None if only is None else _merged(only)
        screen = ThreeWayScreen(
            refusal_of(error),
            tuple(map(_summary_line, operations)),
            clashes,
            can_merge=merged is not None,
            can_resolve=only is not None and _texts(only.found, only.wanted) is not None,
            others=others,
        )
        choice = await self._prompt(screen)
        if only is None or choice is None:
            return None
        if choice is ConflictChoice.MERGE and merged is not None:
            return await self._with_retry(partial(self._backend.notes.plan_write, only.path, merged, _etag(only)))
        return await self._restored(only, choice)

    async def _restored(self, clash: Clash, choice: ConflictChoice) -> Outcome | None:
        """Restore the wanted version, or merge it with the current one in the editor."""
        path, etag = clash.path, _etag(clash)
        found, wanted = ((data or b"").decode() for data in (clash.found, clash.wanted))
        if choice is ConflictChoice.BOTH:
            names = "restored", "now"
            marked = marked_text((clash.expected or b"").decode("utf-8", "replace"), wanted, found, names=names)
            resolved = await self._edit_conflict_markers(Edit(path, found, etag, marked))
            return await self._write(resolved, ()) if resolved is not None else None
        if clash.wanted is None:
            return await self._with_retry(partial(self._backend.notes.plan_delete, path, etag or ""))
        return await self._with_retry(partial(self._backend.notes.plan_write, path, wanted, etag))

    # Dialogs and the editor

    async def _edited(self, edit: Edit, line: int, *, here: bool) -> str | None:
        """Open an edit on this screen, or a copy of it in the editor; return its text, or None if the user cancels."""
        if here:
            return await self._prompt(EditScreen(edit, line, self._store))
        copy = await self._retrying(partial(self._backend.notes.begin_edit, edit))
        if copy is None:
            return None
        await self._programs.edit(copy, line)
        step = "Save and close it there, then continue here to see the diff."
        window = _in_window(f"A copy of {clean_line(edit.path)}", step)
        if self._has_window(copy, line) and not await self._agrees(window, "continue"):
            return None
        return await self._retrying(partial(self._backend.notes.edited_text, copy))

    def _has_window(self, file: Path, line: int) -> bool:
        """Check whether the editor has its own window, so that its command returns immediately."""
        return not self._programs.external.edit(file, line).in_terminal

    @retried("written")
    async def _template(self, paths: list[str]) -> str | None:
        if not paths:
            return ""
        empty = Choice(value="", title="empty note")
        choices = [empty, *(Choice(value=path, title=PurePosixPath(path).stem, section="Templates") for path in paths)]
        path = await self._prompt(Picker[str]("New note from", choices, placeholder="template"))
        return (await self._backend.notes.read_note(path)).text if path else path

    def _warn(self, error: DonnaError) -> None:
        message = f"Your edit is not saved to disk for now: {refusal_of(error).what}"
        self._pane.notify(message, severity="warning", timeout=8)


def _stamp(file: Path) -> tuple[int, int]:
    """Return the modification time and size of a file; zeros if it is missing."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _etag(clash: Clash) -> str | None:
    return None if clash.found is None else etag_of(clash.found)


def _texts(*versions: bytes | None) -> list[str] | None:
    """Decode versions of a note; None if one of them is not text."""
    try:
        return [(data or b"").decode() for data in versions]
    except UnicodeDecodeError:
        return None


def _summary_line(operation: Operation) -> str:
    return f"{moment(operation.at)} · {actor_name(operation.actor)} · {done_by(operation)}"


def _merged(clash: Clash) -> str | None:
    """Merge the wanted version of a note with its later edits; None if they overlap."""
    versions = clash.expected, clash.wanted, clash.found
    texts = None if None in versions else _texts(*versions)
    if texts is None:
        return None
    merge = merge_texts(*texts)
    return merge.text if merge.is_clean and merge.text != texts[2] else None


def _in_window(what: str, step: str) -> Refusal:
    return Refusal("In your editor", f"{what} is open in your editor's window.", step)


def templates_of(notes: Iterable[NoteRow]) -> list[str]:
    return sorted(note.path for note in notes if note.path.split("/")[0].casefold() == "templates" and "/" in note.path)


def fill(template: str, *, title: str, now: datetime) -> str:
    """Fill a template for a new note. The fields and formats are those of Obsidian's templates (moment.js tokens); a
    field with an unknown token is left as it is.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1].lower()
        if name == "title":
            return title
        pattern = match[2] or _USUAL[name]
        return match[0] if unknown_token(pattern) else formatted(now, pattern)

    return _FIELD.sub(value, template)
