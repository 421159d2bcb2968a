"""The note under the cursor: its text, its history, who wrote what, its links; and beside them the difference that was
chosen.
"""

from __future__ import annotations

from typing import Literal, cast

from textual import work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Static

from donna_tui.errors import DonnaError
from donna_tui.notes import NoteState, NoteText
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.backend import Backend
from donna_tui.tui.humanize import moment
from donna_tui.tui.origins import author_of, what_of
from donna_tui.tui.panes.vault_state import AS_RECORDED, PICK_CHANGE, note_head, why_said
from donna_tui.tui.refusals import refusal_of
from donna_tui.tui.widgets.blame_list import BlameList
from donna_tui.tui.widgets.diff_view import DiffView
from donna_tui.tui.widgets.history_list import Entry, HistoryList
from donna_tui.tui.widgets.link_list import LinkList
from donna_tui.tui.widgets.link_spots import FollowLink, LinkFollowed
from donna_tui.tui.widgets.note_view import NoteView
from donna_tui.tui.widgets.panel import Panel
from donna_tui.tui.widgets.row_list import RowList
from donna_tui.tui.widgets.section_tabs import SectionTabs
from donna_tui.tui.widgets.tree_rows import TreeRow
from donna_tui.vault.changes import Change, Operation, Revision

PAUSE = 0.03
"""Seconds that a row is selected before it is read, so that running through a list reads nothing."""

MOST_HISTORY = 200

Tab = Literal["note", "history", "blame", "links"]
TABS: tuple[Tab, ...] = ("note", "history", "blame", "links")


class ReadingDesk(Container):
    """Follows the cursor of the tree. What was there stays until the next note is read, so nothing flickers."""

    head = query_one("#desk-head", Static)
    says = query_one("#desk-says", Static)
    tabs = query_one("#desk-tabs", SectionTabs)
    switcher = query_one("#desk-parts", ContentSwitcher)
    text = query_one("#note", NoteView)
    history = query_one("#history", HistoryList)
    blame = query_one("#blame", BlameList)
    links = query_one("#links", LinkList)
    diff = query_one("#diff", DiffView)
    diff_title = query_one("#diff-title", Static)

    class Changed(Message):
        """Another note, tab or change is shown."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._backend: Backend | None = None
        self._row: TreeRow | None = None
        self._note: NoteText | None = None
        self._outside: Change | None = None
        self._whole_vault = False
        self._timer: Timer | None = None
        self._waiting_edit = False

    def compose(self) -> ComposeResult:
        with Panel("Note", id="desk-middle"):
            yield Static(id="desk-head")
            yield SectionTabs(id="desk-tabs")
            yield Static(id="desk-says")
            with ContentSwitcher(initial="note", id="desk-parts"):
                yield NoteView(id="note")
                yield HistoryList(id="history")
                yield BlameList(id="blame")
                yield LinkList(id="links")
        with Panel("Changes", id="desk-diff"):
            yield Static(id="diff-title")
            yield DiffView(id="diff")

    def on_mount(self) -> None:
        self.tabs.can_focus = False
        self._name_tabs()

    @property
    def note(self) -> NoteText | None:
        """The note that is shown, once it is read."""
        return self._note if self._row is not None and self._note and self._note.path == self._row.path else None

    @property
    def tab(self) -> Tab:
        """Which part of the note is shown."""
        return TABS[self.tabs.chosen]

    @property
    def part(self) -> Widget:
        """The widget that shows it."""
        return cast(Widget, self.switcher.visible_content)

    @property
    def selected_operation(self) -> Operation | None:
        """The operation under the cursor of the history, if that has the focus."""
        entry = self.history.selected if self.history.has_focus else None
        return entry.revision.operation if entry is not None and entry.revision is not None else None

    @property
    def whole_vault(self) -> bool:
        """Whether the history is that of the whole vault."""
        return self._whole_vault or self._path == ""

    @property
    def waiting_edit(self) -> bool:
        """Whether an edit of the note was begun and not written."""
        return self._waiting_edit

    @waiting_edit.setter
    def waiting_edit(self, waits: bool) -> None:
        if waits != self._waiting_edit:
            self._waiting_edit = waits
            self._tell_head()

    def connect(self, backend: Backend) -> None:
        """Read from this backend."""
        self._backend = backend

    def follow(self, row: TreeRow | None, *, at_once: bool = False) -> None:
        """Show the note of a row, in a moment. Of several rows in quick succession only the last one is read."""
        if row == self._row and not at_once:
            return
        if row is None or self._row is None or row.path != self._row.path:
            self._outside = None
        self._row = row
        self._tell_head()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(0.001 if at_once else PAUSE, self._load)

    def reload(self) -> None:
        """Read again what is shown."""
        self._load()

    def show_tab(self, tab: Tab) -> None:
        """Show another part of the note."""
        self.tabs.chosen = TABS.index(tab)

    def walk(self, by: int) -> None:
        """Go some sections on, in the text or in the blame."""
        self.text.walk(by)
        if self.tab == "blame":
            self._load_tab()

    def toggle_scope(self) -> None:
        """The history of the note, or that of the whole vault."""
        self._whole_vault = not self._whole_vault
        self._name_tabs()
        self._load_tab()

    def on_section_tabs_chosen(self, event: SectionTabs.Chosen) -> None:
        """Show the part, with the focus in it if it was in the one before."""
        event.stop()
        focused = self.screen.focused in (self.text, self.history, self.blame, self.links)
        self.switcher.current = self.tab
        if focused:
            self.part.focus()
        self._load_tab()
        self._show_diff()
        self.post_message(self.Changed())

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Let the difference follow the history and the blame."""
        event.stop()
        if event.rows is self.part:
            self._show_diff()
        if event.rows is self.blame:
            self.blame.refresh()

    def on_note_view_moved(self) -> None:
        self._tell_head()

    def on_link_followed(self, event: LinkFollowed) -> None:
        """Say of which note the link is."""
        event.stop()
        if self.note is not None:
            self.post_message(FollowLink(self.note.path, event.ref))

    def follow_link(self) -> None:
        """Follow the selected row of the links, or a link of the text in sight."""
        row = self.links.selected
        if self.tab == "note":
            self.text.pick_link()
        elif self.tab == "links" and row is not None:
            self.post_message(FollowLink(self._path, row.ref))

    @property
    def _path(self) -> str:
        return self._row.path if self._row is not None and self._row.note is not None else ""

    def _load(self) -> None:
        if self._backend is not None and self._row is not None:
            self._read(self._backend, self._row)
            self._load_tab()

    def _load_tab(self) -> None:
        if self._backend is None:
            return
        if self.tab == "history":
            self._read_history(self._backend, "" if self._whole_vault else self._path)
        elif self.tab == "blame":
            self._read_blame(self._backend)
        elif self.tab == "links":
            self._read_links(self._backend, self._path)

    @work(group="read", exclusive=True)
    async def _read(self, backend: Backend, row: TreeRow) -> None:
        if row.note is None:
            self._note = None
            self.text.show_note("")
            self._tell_head()
            self._show_diff()
            self.post_message(self.Changed())
            return
        is_same = self._note is not None and self._note.path == row.path
        try:
            self._note = await backend.notes.read_note(row.path)
            is_outside = NoteState.OUTSIDE in row.note.states
            self._outside = await backend.notes.outside_change(row.path) if is_outside else None
        except DonnaError as error:
            self._note = None
            refusal = refusal_of(error)
            self.text.show_note(f"{refusal.what}\n\n{refusal.step}")
        else:
            self.text.show_note(self._note.text, keep=is_same)
        self._tell_head()
        self._show_diff()
        self.post_message(self.Changed())

    @work(group="history", exclusive=True)
    async def _read_history(self, backend: Backend, path: str) -> None:
        try:
            revisions = await backend.notes.history(path, limit=MOST_HISTORY)
            entries = tuple(Entry(revision) for revision in revisions)
            outside = await backend.notes.outside_change(path) if path and self._is_outside else None
        except DonnaError as error:
            entries, outside = (), None
            refusal = refusal_of(error)
            self.history.empty_text = f"{refusal.what} {refusal.step}"
        else:
            self.history.empty_text = "Nothing in the history yet."
        self._outside = outside
        self.history.show((*([Entry(outside=outside)] if outside is not None else []), *entries), keep=True)

    @work(group="blame", exclusive=True)
    async def _read_blame(self, backend: Backend) -> None:
        section = self.text.section
        note = self.note
        if note is None:
            self.blame.empty_text = "Select a note to see who wrote its lines."
            self.blame.show(())
            return
        first, last = (section.start_line, section.end_line) if section is not None else (1, 1)
        try:
            lines = await backend.notes.blame(note.path, first, last)
        except DonnaError as error:
            refusal = refusal_of(error)
            self.blame.empty_text = f"{refusal.what} {refusal.step}"
            lines = ()
        else:
            self.blame.empty_text = "There are no lines here."
        self.blame.show(lines)

    @work(group="links", exclusive=True)
    async def _read_links(self, backend: Backend, path: str) -> None:
        try:
            links = await backend.notes.links(path) if path else None
        except DonnaError as error:
            links = None
            refusal = refusal_of(error)
            self.links.empty_text = f"{refusal.what} {refusal.step}"
        else:
            self.links.empty_text = (
                "No links to this note, and none in it." if path else "Select a note to see its links."
            )
        if path == self._path:
            self.links.show(links)

    @property
    def _is_outside(self) -> bool:
        row = self._row
        return row is not None and row.note is not None and NoteState.OUTSIDE in row.note.states

    def _show_diff(self) -> None:
        """Show the difference that belongs to what is selected."""
        entry = self.history.selected if self.tab == "history" else None
        line = self.blame.selected if self.tab == "blame" else None
        commit = line.commit if line is not None else ""
        if entry is not None and entry.revision is not None:
            self._show_revision(entry.revision.commit, _title(entry.revision))
        elif commit and line is not None:
            self._show_revision(commit, f"{moment(line.at)} · {clean_line(line.author)}")
        elif self._outside is not None and (self.tab != "history" or entry is not None):
            self.workers.cancel_group(self, "revision")
            self._draw((self._outside,), "You edited this outside; it is not in the history yet")
        else:
            self.workers.cancel_group(self, "revision")
            picks = self.tab in ("history", "blame")
            self._draw((), "", empty=PICK_CHANGE if picks else AS_RECORDED if self._path else "")

    def _show_revision(self, commit: str, title: str) -> None:
        if self._backend is not None:
            self._read_revision(self._backend, commit, title)

    @work(group="revision", exclusive=True)
    async def _read_revision(self, backend: Backend, commit: str, title: str) -> None:
        try:
            changes = await backend.notes.revision_changes(commit)
        except DonnaError as error:
            self._draw((), title, empty=refusal_of(error).what)
            return
        own = sorted(changes, key=lambda change: change.path != self._path)
        self._draw(tuple(own), title, empty="It changed no note.")

    def _draw(self, changes: tuple[Change, ...], title: str, *, empty: str = "") -> None:
        self.diff_title.update(Content.styled(title, "$text-muted"))
        self.diff.show(changes, empty=empty)

    def _tell_head(self) -> None:
        self._name_tabs()
        if self._row is None:
            self.head.update(Content(""))
            return
        place = self.text.place if self.note is not None else ""
        self.head.update(note_head(self._row, self.note, place=place, waiting=self._waiting_edit))
        said = why_said(self._row, self.note)
        self.says.update(Content.styled(said, "$text-warning"))
        self.says.display = bool(said)

    def _name_tabs(self) -> None:
        self.tabs.names = ("Note", "History of the vault" if self.whole_vault else "History", "Blame", "Links")


def _title(revision: Revision) -> str:
    return f"{moment(revision.at)} · {author_of(revision)} · {what_of(revision)}"
