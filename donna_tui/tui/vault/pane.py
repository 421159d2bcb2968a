"""The Vault screen: the tree of notes, the selected note with its history, and its diff."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial, partialmethod
from pathlib import Path

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import WorkerError

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.action import Action, ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.dialogs import one_dialog, showing_errors
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import count, plural
from donna_tui.tui.lib.inputs import LineInput, Notice, NoticeText, error_notice
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.messages import ActionsChanged, EngineEvents
from donna_tui.tui.vault import wording
from donna_tui.tui.vault.flows import VaultFlows
from donna_tui.tui.vault.note_detail import TABS, NoteDetail, Tab
from donna_tui.tui.vault.parts_pane import PartsPane
from donna_tui.tui.vault.plan_flow import UnsavedEdits
from donna_tui.tui.vault.tree import NoteTree, TreeRow
from donna_tui.types import events
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory_events import VaultWritten
from donna_tui.types.notes import NoteState, NoteText
from donna_tui.vault.write.changes import Operation, OperationKind, Outcome

_OF_A_WRITE = (Reason.CONFLICT, Reason.GIT_FAILED)
"""Reasons why an interrupted write could not be recovered: the user must learn the location of the displaced text."""

_NOT_ABOUT_NOTES = (events.IndexProgress, events.ModelStateChanged, events.SearchDone, events.WatcherStateChanged)


class TreeFilter(LineInput):
    """An input whose up and down keys move the tree."""

    BINDINGS = bindings("vault.input")


class VaultPane(PartsPane):
    """The Vault screen: the tree of notes, the selected note, and its changes as a diff."""

    note_tree = query_one(NoteTree)
    detail = query_one(NoteDetail)
    BINDINGS = bindings("vault")
    parts = ("tree", "note", "diff")
    filter = query_one(TreeFilter)

    def __init__(self, programs: ExternalPrograms) -> None:
        super().__init__("vault", programs)
        self._drops = ""
        self._to_select = ""
        self._pending_line: tuple[str, int] | None = None
        self._is_opening = False

    def compose(self) -> ComposeResult:
        with Panel("Notes", id="tree-part", name="tree"):
            with Horizontal(id="tree-filter"):
                yield Static(Content("/"), classes="prompt")
                yield TreeFilter(placeholder="letters of a path, or a state", compact=True)
            yield NoteTree(id="tree")
            yield Static(id="tree-foot", classes="one-line")
        yield NoteDetail(id="detail", name="note")
        yield Notice(id="vault-notice")

    def on_mount(self) -> None:
        self.filter.focus_after = self._filtered_tree
        self._show_notice(wording.LOADING)

    def connect(self, backend: Backend) -> None:
        self.vault_flows = VaultFlows(self, self._programs, backend)
        self.detail.connect(backend)
        self._load_unsaved_edits(self.vault_flows.edits)
        super().connect(backend)

    async def wait_until_loaded(self) -> None:
        """Wait for the note that was asked for too, which is shown with its text once it is read."""
        await super().wait_until_loaded()
        if self._pending_line is not None:
            await self.detail.wait_until_read()
            self._arrive()

    async def update_needs(self, action: Action) -> None:
        if not {"no_write", "no_move"}.isdisjoint(action.needs.split()):
            await self.detail.wait_until_read()
        await super().update_needs(action)

    def action_state(self, base: ActionState) -> ActionState:
        row, note = self.note_tree.selected, self.note
        own_editor = shown_key("vault.edit")
        is_folder = row is not None and row.is_folder
        unread = sentence(row.note.detail) if note is None and row is not None and row.note is not None else ""
        return replace(
            base,
            row=row is not None,
            note=row is not None and not is_folder,
            several=self.vault_flows is not None and (bool(self.note_tree.marked) or is_folder),
            no_write=unread or wording.why_no_write(note, own_editor),
            no_write_here=unread or wording.why_not_here(note, own_editor),
            no_move=unread or wording.why_no_move(note, own_editor),
            outside_edit=self._lacks_repository or self.note_tree.has_outside(self._committed),
            no_undo="" if self.detail.has_selected_change else self._no_undo,
            no_redo=self._no_redo,
            unsaved_edit=self.has_unsaved_edit(row),
            conflict=row is not None and row.note is not None and NoteState.CONFLICT in row.note.states,
        )

    def go_back(self) -> None:
        if self.screen.focused is self.filter or (self.note_tree.query_text and self.screen.focused is self.note_tree):
            self._end_filter()
        elif self._is_at("tree") and self.note_tree.unmark():
            self._show_tree()
        elif self._is_at("diff"):
            self.show_part("note")
        elif not self._is_at("tree") and not self.has_class("-empty"):
            self.remove_class("-diffing")
            self.show_part("tree")

    def on_engine_events(self, event: EngineEvents) -> None:
        """Reload the tree after events about notes, follow renamed notes, and report writes that were not recovered."""
        if not all(isinstance(each, _NOT_ABOUT_NOTES) for each in event.events):
            self.reload_soon()
        for posted in event.events:
            if isinstance(posted, events.NoteRenamed):
                self.note_tree.renamed(posted.old_path, posted.path)
                self._follow_edit(posted.old_path, posted.path)
            elif isinstance(posted, events.NoteIndexed):
                self.note_tree.indexed(posted.path)
            elif isinstance(posted, VaultWritten):
                self.note_tree.written(posted.paths)
            elif isinstance(posted, events.NoteDeleted):
                if self.note_tree.deleted(posted.path):
                    self.notify(f"{clean_line(posted.path)} was deleted elsewhere.", severity="warning", timeout=6)
            elif isinstance(posted, events.ProblemRaised) and posted.path and posted.reason in _OF_A_WRITE:
                message = f"{clean_line(posted.path)}: {sentence(posted.message)} {sentence(posted.hint)}".strip()
                self.notify(message, severity="warning", timeout=12)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        self.follow()

    def on_note_detail_changed(self, event: NoteDetail.Changed) -> None:
        event.stop()
        self._arrive()
        self.set_class(self.detail.tab == "history", "-history")
        self.post_message(ActionsChanged())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        text = event.input.value  # a later one than the event's in a burst of keys
        self.note_tree.empty_text = f"Nothing matches “{clean_line(text)[:60]}”."
        self.note_tree.narrow(text)
        self._show_tree()

    def _filtered_tree(self) -> NoteTree:
        """Return the tree, filtered by the text of the input already."""
        self.note_tree.narrow(self.filter.value)
        return self.note_tree

    def action_vault_open(self) -> None:
        row = self.note_tree.selected
        if self._is_at("note") and self.detail.tab in ("note", "links"):
            self.detail.follow_link()
        elif self._is_at("note"):
            self.show_part("diff")
        elif row is not None and row.is_folder and self._is_at("tree"):
            if not self.note_tree.unfold():
                self.note_tree.fold()
        else:
            self.show_part("note")

    def action_vault_history(self) -> None:
        if self.detail.tab != "history" or self._is_at("tree"):
            self.detail.show_scope(whole_vault=False)
        elif self._is_at("note"):
            self.detail.toggle_scope()
        self._show_tab("history")

    def action_vault_diff(self) -> None:
        self.add_class("-diffing")
        self.show_part("diff")

    def action_vault_left(self) -> None:
        if self._is_at("tree"):
            self.note_tree.fold()
        elif self._is_at("diff"):
            self.show_part("note")
        elif self.detail.tab == "note":
            self.show_part("tree")
        else:
            self._show_tab(TABS[TABS.index(self.detail.tab) - 1])

    def action_vault_right(self) -> None:
        if self._is_at("tree"):
            if not self.note_tree.unfold():
                self.show_part("note")
        elif self._is_at("note") and self.detail.tab != TABS[-1]:
            self._show_tab(TABS[TABS.index(self.detail.tab) + 1])

    def action_vault_next_section(self) -> None:
        self.detail.walk(1)

    def action_vault_previous_section(self) -> None:
        self.detail.walk(-1)

    def action_vault_layout(self) -> None:
        self.detail.diff.toggle_layout()

    def action_vault_unfold(self) -> None:
        self.detail.diff.toggle_unchanged()

    def action_vault_wrap(self) -> None:
        self.detail.diff.toggle_wrap()

    def action_vault_filter(self) -> None:
        if self.has_class("-empty"):
            self.notify("There are no notes to filter.", timeout=4)
            return
        self.add_class("-filtering")
        self.query_one("#tree-filter").display = True
        self.filter.focus()

    action_search_focus = action_vault_filter

    def action_vault_next(self) -> None:
        self.note_tree.action_cursor_down()

    def action_vault_previous(self) -> None:
        self.note_tree.action_cursor_up()

    def open_note(self, path: str, line: int = 1) -> None:
        """Show a note at the section of a line (1-based). If it is listed, it is selected at once, for the next key."""
        self._pending_line, self._is_opening = (path, line), True
        if self.note_tree.query_text:
            self._end_filter()
        if self.note_tree.contains(path):
            self.note_tree.reveal(path)
            self.follow()
        self.reload(path)

    @property
    def opening(self) -> tuple[str, int] | None:
        """Return the note that was asked for and is not shown yet, and its line; None if there is none."""
        row, pending = self.note_tree.selected, self._pending_line
        if pending is None or not (self._is_opening or (row is not None and row.path == pending[0])):
            return None
        return pending

    @property
    def place(self) -> tuple[str, int] | None:
        """Return the note that is shown, and the line (1-based) at the top; None if there is none."""
        note = self.detail.note
        return (note.path, self.detail.text.line) if note is not None else None

    def reload(self, show: str = "") -> None:
        """Reload the tree, and select a note if it exists; a hidden pane is reloaded when it is shown.

        A reload that replaces an unfinished one selects its note.
        """
        self._is_stale = not self.display
        if self._backend is not None and not self._is_stale:
            self._to_select = show or self._to_select
            self._load(self._backend)

    action_vault_refresh = reload

    @work(group="load", exclusive=True)
    async def _load(self, backend: Backend) -> None:
        try:
            notes = await backend.notes.vault_rows()
            empty = await backend.notes.empty_folders()
        except DonnaError as error:
            self._is_opening, self._to_select = False, ""
            self._show_notice(error_notice(error, ("vault.refresh", "try again")))
            return
        self.note_tree.show(self.vault_flows.edits.marked(notes) if self.vault_flows is not None else notes, empty)
        show, self._to_select = self._to_select, ""
        if show:
            if not self.note_tree.matches(show) and self.note_tree.contains(show):
                self._end_filter()
            self.note_tree.reveal(show)
        self._is_opening = False
        self._show_tree()
        self.follow()
        self._arrive()
        await self._read_steps(backend)
        history = wording.no_history(self._steps_error), self.note_tree.outside(("",))
        if history != (self.detail.no_history, self.detail.edited_outside):
            self.detail.no_history, self.detail.edited_outside = history
            self.detail.reload()
        self.post_message(ActionsChanged())

    def _arrive(self) -> None:
        """Scroll to the line that `open_note` requested, once its note is loaded."""
        note = self.detail.note
        if self._pending_line is None or note is None or note.path != self._pending_line[0]:
            return
        line, self._pending_line = self._pending_line[1], None
        self.detail.text.show_line(line)
        self._show_tab("note")

    @work(group="take-up")
    async def _load_unsaved_edits(self, edits: UnsavedEdits) -> None:
        with showing_errors(self, lambda error: sentence(error.message)):
            await edits.find()
        if edits.paths:
            others = f" and {plural(len(edits.paths) - 1, 'other note')}" if len(edits.paths) > 1 else ""
            what = f"There is an unsaved edit of {clean_line(edits.paths[0])}{others}."
            self.notify(f"{what} In the Vault, {wording.keys_of_edit()}.", timeout=8)
            self.reload()

    @work(group="follow-edit")
    async def _follow_edit(self, old: str, new: str) -> None:
        """Let an unsaved edit follow its note, once no dialog or editor may have it open."""
        if self.vault_flows is None or self.vault_flows.edits.of(old) is None:
            return
        await self._wait_for("change")
        await self.flows.follow(old, new)
        self.reload()

    async def _wait_for(self, group: str) -> None:
        """Wait until the workers of a group that are running have finished."""
        for worker in [each for each in self.workers if each.group == group and each.node is self]:
            with suppress(WorkerError):
                await worker.wait()

    def follow(self) -> None:
        row = self.note_tree.selected
        if row is None or row.path != self._drops:
            self._drops = ""
        self.detail.follow(row, has_unsaved_edit=self.has_unsaved_edit(row))
        self.post_message(ActionsChanged())

    def _show_tab(self, tab: Tab) -> None:
        self.detail.tabs.chosen = TABS.index(tab)
        self.show_part("note")

    action_vault_note = partialmethod(_show_tab, "note")
    action_vault_blame = partialmethod(_show_tab, "blame")
    action_vault_links = partialmethod(_show_tab, "links")

    def _part(self, place: str) -> Widget:
        if self.has_class("-empty"):
            return self.notice
        return {"tree": self.note_tree, "note": self.detail.part, "diff": self.detail.diff}[place]

    def _end_filter(self) -> None:
        self.filter.value = ""
        self.note_tree.narrow("")
        self.remove_class("-filtering")
        self.query_one("#tree-filter").display = False
        self.note_tree.focus()

    def _show_tree(self) -> None:
        if not self.note_tree.notes and not self.note_tree.folders:
            self._show_notice(wording.EMPTY)
            return
        self._hide_notice(self.note_tree)
        shown = sum(not row.is_folder for row in self.note_tree.items)
        total = len(self.note_tree.notes)
        words = f"{count(shown)} of {count(total)}" if self.note_tree.query_text else self.note_tree.counted
        marked = self.note_tree.number_marked
        chosen = Content.styled(f"{count(marked)} selected · " if marked else "", "$text-accent")
        self.query_one("#tree-foot", Static).update(chosen + Content.styled(words, "$text-disabled"))

    def action_vault_mark(self) -> None:
        self.note_tree.mark()
        self._show_tree()
        self.post_message(ActionsChanged())

    def _show_notice(self, words: NoticeText) -> None:
        self._set_notice(words, takes_focus=self.note_tree.has_focus)
        self.post_message(ActionsChanged())

    @property
    def edits_in_memory_only(self) -> tuple[str, ...]:
        """Return the notes with an edit that would be lost on exit."""
        return tuple(sorted(self.vault_flows.edits.in_memory_only)) if self.vault_flows is not None else ()

    def has_unsaved_edit(self, row: TreeRow | None) -> bool:
        return row is not None and self.vault_flows is not None and self.vault_flows.edits.of(row.path) is not None

    @property
    def note(self) -> NoteText | None:
        """Return the note under the cursor once it is loaded, or the unsaved edit of one that does not exist."""
        row = self.note_tree.selected
        if self.detail.note is not None or row is None or self.vault_flows is None:
            return self.detail.note
        return self.vault_flows.edits.as_note(row.path) if row.note and not row.note.mtime_ns else None

    def action_vault_copy_link(self) -> None:
        row = self.note_tree.selected
        known = {note.path for note in self.note_tree.notes}
        marked = [path for path in self.note_tree.marked if path in known]
        paths = marked or ([row.path] if row is not None else [])
        links = "\n".join(f"[[{path.removesuffix('.md')}]]" for path in paths)
        if links:
            what = f"The link {clean_line(links)}" if len(paths) == 1 else f"Links to {len(paths)} notes"
            self._programs.copy(links, what)

    def action_vault_copy_text(self) -> None:
        if self.screen.focused is self.detail.diff and self.detail.diff.diffs:
            self._programs.copy(self.detail.diff.text, "The difference")
        elif self.detail.note is not None:
            self._programs.copy(self.detail.note.text, "The text of the note")

    async def action_vault_obsidian(self) -> None:
        row = self.note_tree.selected
        if row is not None:
            await self._programs.open_in_obsidian(Path(self.backend.status().root), row.path)

    def action_vault_edit(self) -> None:
        row = self.note_tree.selected
        if row is not None:
            self.edit_file(row.path, self.detail.text.line)

    def edit_file(self, path: str, line: int) -> None:
        """Open a note itself in the editor, at a line (1-based), and commit what was saved."""
        with showing_errors(self, lambda error: sentence(error.message)):
            file = self.backend.absolute_path(path)
            known = wording.names_of(self.note_tree.notes)
            self._change(partial(self.flows.edit, path, file, line, known=known))

    def action_vault_commit(self) -> None:
        if self._lacks_repository:
            self._change(self.flows.begin_history)
        else:
            self._change(partial(self.flows.commit, self.note_tree.outside(self._committed)))

    @property
    def _committed(self) -> tuple[str, ...]:
        """Return the notes and folders that a commit is about; an empty path for all, from the history of the vault."""
        row, detail = self.note_tree.selected, self.detail
        if self._is_at("note") and detail.tab == "history" and detail.whole_vault:
            return ("",)
        return self.note_tree.marked or ((row.path,) if row is not None else ())

    def _edit_text(self, *, here: bool) -> None:
        if self.note is not None:
            known = wording.names_of(self.note_tree.notes)
            flow = partial(self.flows.edit_text, here=here, known=known)
            self._change(partial(flow, self.note, self.detail.text.line, self._remarks))

    action_vault_edit_copy = partialmethod(_edit_text, here=False)
    action_vault_edit_here = partialmethod(_edit_text, here=True)

    def action_vault_new(self) -> None:
        self._change(partial(self.flows.new, self._folder, self.note_tree.notes))

    def create(self, path: str, template: str = "") -> None:
        """Create a note at a path, from the template at another path if one is given."""
        self._change(partial(self.flows.create, path, self.note_tree.notes, template))

    def action_vault_move(self) -> None:
        tree, note = self.note_tree, self.detail.note
        row = tree.selected
        if tree.marked:
            self._change(partial(self.flows.move_all, tree.marked, tree.folders))
        elif row is not None and row.is_folder and row.notes:
            self._change(partial(self.flows.move_folder, row.path, tree.folders))
        elif row is not None and row.is_folder:
            self._change_folder(partial(self.flows.rename_empty, row.path, tree.folders))
        elif note is not None:
            self._change(partial(self.flows.move, note, tree.notes, self._remarks))
        else:
            self.notify(wording.gone_with_edit(), timeout=6)

    def action_vault_delete(self) -> None:
        tree, note = self.note_tree, self.detail.note
        row = tree.selected
        if tree.marked or (row is not None and row.is_folder and row.notes):
            self._change(partial(self.flows.delete_all, tree.marked or ((row.path,) if row is not None else ())))
        elif row is not None and row.is_folder:
            tree.written([row.path])
            self._change_folder(partial(self.flows.remove_empty, row.path))
        elif note is not None:
            self._change(partial(self.flows.delete, note, self._remarks))
        else:
            self.notify(wording.gone_with_edit(), timeout=6)

    def action_vault_new_folder(self) -> None:
        self._change_folder(partial(self.flows.new_folder, self._folder, self.note_tree.folders))

    @one_dialog("change")
    async def _change_folder(self, flow: Callable[[], Awaitable[str]]) -> None:
        self.reload(await flow())

    @property
    def _folder(self) -> str:
        row = self.note_tree.selected
        return "" if row is None else row.path if row.is_folder else row.path.rpartition("/")[0]

    def action_vault_resolve(self) -> None:
        row = self.note_tree.selected
        if row is not None:
            self._change(partial(self.flows.resolve_copy, row.path))

    def action_vault_undo(self) -> None:
        operation = self.detail.selected_operation
        if operation is not None:
            self._undo_one(operation)
        elif self.detail.has_selected_change:
            self.notify(wording.why_not_undone(self.detail.history.selected), timeout=8)
        else:
            self._change(partial(self.flows.step_back, OperationKind.UNDO))

    def _undo_one(self, operation: Operation) -> None:
        is_undone = self.detail.history.is_undone(operation)
        redo = "" if self._no_redo else shown_key("vault.redo")
        if refusal := wording.why_no_undo(operation, is_undone=is_undone, redo=redo):
            self.notify(refusal, timeout=6)
        else:
            self._change(partial(self.flows.undo_one, operation))

    def action_vault_redo(self) -> None:
        self._change(partial(self.flows.step_back, OperationKind.REDO))

    def action_vault_discard(self) -> None:
        row = self.note_tree.selected
        if row is None:
            return
        if self._drops != row.path:
            self._drops = row.path
            message = f"This discards your edit for good. Press {shown_key('vault.discard')} again to discard it."
            self.notify(message, severity="warning", timeout=6)
            return
        self._drops = ""
        self._discard(row.path)

    @one_dialog("discard")
    async def _discard(self, path: str) -> None:
        await self.flows.drop(path)
        if self.detail.note is None:  # the row was that of the edit
            self.note_tree.written([path])
        self.app.clear_notifications()  # which ask for the key once more
        self.reload()
        self.follow()

    @one_dialog("change")
    async def _change(self, flow: Callable[[], Awaitable[Outcome | None]]) -> None:
        row = self.note_tree.selected
        outcome = await flow()
        if outcome is not None:
            self.note_tree.unmark()
            if outcome.kind not in (OperationKind.UNDO, OperationKind.REDO):
                self.detail.history.next_operation = outcome.operation
        deleted = [path for path, etag in zip(outcome.paths, outcome.etags, strict=True) if not etag] if outcome else []
        self.note_tree.written(deleted)
        self.reload(_new_place(outcome, row.path if row is not None else ""))
        if self.detail.note is None or self.detail.note.path not in deleted:
            self.detail.reload()
        await self._wait_for("load")  # the next key is about the row that is selected then

    @property
    def _remarks(self) -> tuple[str, ...]:
        return wording.outside_remark(self.note_tree.selected)


def _new_place(outcome: Outcome | None, selected: str) -> str:
    """Return the note to show after a change: the selected one if it was changed, else the one the change is about.

    A change lists that one first, and an undo last. A deletion leaves the choice to the tree.
    """
    if outcome is None or outcome.kind is OperationKind.DELETE:
        return ""
    there = [path for path, etag in zip(outcome.paths, outcome.etags, strict=True) if etag]
    if not there or selected in there:
        return selected if there else ""
    return there[-1] if outcome.kind is OperationKind.UNDO else there[0]
