"""Show the selected note: its text, history, authors and links."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partialmethod
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

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import Section, split_sections
from donna_tui.text.merge import shared_ends
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.diff import DiffView
from donna_tui.tui.lib.error_messages import Refusal, refusal_of
from donna_tui.tui.lib.humanize import count, moment
from donna_tui.tui.lib.inputs import SectionTabs, show_label
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.links import FollowLink
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.vault.lists import BlameList, HistoryList, LinkList
from donna_tui.tui.vault.parts_pane import LOAD_DELAY, MAX_WAIT_SECONDS
from donna_tui.tui.vault.tree import TreeRow
from donna_tui.tui.vault.wording import (
    AS_RECORDED,
    FOLDER_AS_RECORDED,
    PICK_CHANGE,
    author_of,
    gone_with_edit,
    note_head,
    why_special,
)
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.notes import BlameLine, NoteLinks, NoteState, NoteText
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.changes import Change, Operation, Revision

PAGE = 40_000
"""Characters of a page; a longer section is split between lines."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a note. `first_line` is 1-based."""

    text: str
    first_line: int


@dataclass(frozen=True, slots=True)
class Pages:
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]

    def page_of(self, line: int) -> int:
        return max(0, bisect_right([page.first_line for page in self.pages], line) - 1)

    def section_of(self, line: int) -> int:
        """Return the index of the section of a line; the first one for lines before it."""
        return max(0, bisect_right([section.start_line for section in self.sections], line) - 1)


def pages_of(text: str) -> Pages:
    found = split_sections(text, parse_frontmatter(text).body_start)
    # there may be empty lines between the properties and the first heading
    sections = [each for each in found if not text[each.start : each.end].isspace()]
    starts = line_starts(text)
    cuts = list(_cuts(text, [section.start for section in sections]))
    ends = [*cuts[1:], len(text)]
    pages = (Page(text[start:end], line_of(starts, start)) for start, end in zip(cuts, ends, strict=True))
    return Pages(tuple(pages), tuple(sections))


def _cuts(text: str, headings: list[int]) -> Iterator[int]:
    here = 0
    yield here
    while len(text) - here > PAGE:
        place = bisect_right(headings, here + PAGE) - 1
        heading = headings[place] if place >= 0 else 0
        if heading <= here:
            line = text.rfind("\n", here, here + PAGE) + 1
            heading = line if line > here else here + PAGE
        here = heading
        yield here


class NoteView(PassageView):
    """A scrollable note; scrolling past the end of a page opens the next one."""

    class Moved(Message):
        """Another page or section is visible."""

    _pages = Pages((), ())
    _page = 0
    _chosen: int | None = None
    _text: str | None = None
    _aim: int | None = None

    def show_note(self, text: str, *, keep: bool = False) -> None:
        """Show a note from its beginning; with `keep` preserve the position in a newer version of the same note."""
        if keep and text == self._text:
            return
        line = self.line if keep else 1
        changed = changed_lines(self._text, text) if keep and self._text else range(0)
        self._text = text
        self._pages = pages_of(text)
        self._chosen = None
        self._open(self._pages.page_of(line))
        self.scroll_to_line(line - self._first_line)
        if changed:
            self._flash_lines(changed)

    def _flash_lines(self, lines: range) -> None:
        """Highlight lines of the note (1-based) for a moment, on the page that they are on."""
        page = self._pages.page_of(lines.start)
        if page != self._page:
            self._open(page)
        self.flash(range(lines.start - self._first_line, lines.stop - self._first_line))

    @property
    def line(self) -> int:
        """Return the line of the file at the top, or that of the chosen section. 1-based."""
        if self._aim is not None:
            return self._aim
        if self._chosen is not None:
            return self._pages.sections[self._chosen].start_line
        return self._first_line + self.top_line

    @property
    def section(self) -> Section | None:
        if not self._pages.sections:
            return None
        return self._pages.sections[self._section_index]

    @property
    def place(self) -> str:
        total = len(self._pages.pages)
        return f"page {count(self._page + 1)} of {count(total)}" if total > 1 else ""

    def walk(self, by: int) -> None:
        if not self._pages.sections:
            return
        is_before_first = self._chosen is None and by > 0 and not self.top_line
        index = self._section_index + by - is_before_first
        self._choose(max(0, min(index, len(self._pages.sections) - 1)))

    def show_line(self, line: int) -> None:
        """Show the section that begins at a line (1-based), marked, or the line itself if it is inside a section."""
        if self._pages.sections:
            index = self._pages.section_of(line)
            self._choose(index, None if line == self._pages.sections[index].start_line else line)

    def _scroll(self, by: int, scroll: Callable[[NoteView], None]) -> None:
        if not self._turned(by):
            scroll(self)

    action_cursor_down = partialmethod(_scroll, 1, PassageView.action_cursor_down)
    action_cursor_up = partialmethod(_scroll, -1, PassageView.action_cursor_up)
    action_page_down = partialmethod(_scroll, 1, PassageView.action_page_down)
    action_page_up = partialmethod(_scroll, -1, PassageView.action_page_up)

    @property
    def _first_line(self) -> int:
        return self._pages.pages[self._page].first_line if self._pages.pages else 1

    @property
    def _section_index(self) -> int:
        if self._chosen is not None:
            return self._chosen
        return self._pages.section_of(self._first_line + self.top_line)

    def _choose(self, index: int, line: int | None = None) -> None:
        self._chosen, self._aim = index, line
        section = self._pages.sections[index]
        begin, end = (line, line) if line is not None else (section.start_line, section.end_line)
        self._page = self._pages.page_of(begin)
        first = self._first_line
        mark = range(begin - first, end - first + 1)
        self.show(self._pages.pages[self._page].text, mark)
        self.post_message(self.Moved())

    def _open(self, page: int) -> None:
        self._page, self._aim = page, None
        self.show(self._pages.pages[page].text if self._pages.pages else "")
        self.scroll_home(animate=False, immediate=True)
        self.post_message(self.Moved())

    def _turned(self, by: int) -> bool:
        """Show the next page, or the end of the previous one, at an end of the page. Return whether there was one."""
        page = self._page + by
        is_at_end = self.scroll_offset.y >= self.max_scroll_y if by > 0 else self.scroll_offset.y <= 0
        if not is_at_end or not 0 <= page < len(self._pages.pages):
            return False
        self._chosen = None
        self._open(page)
        if by < 0:
            self.scroll_end(animate=False)
        return True


def changed_lines(before: str, after: str) -> range:
    """Return the lines (1-based) from the first to the last one that differs from an earlier version."""
    old, new = before.split("\n"), after.split("\n")
    head, tail = shared_ends(old, new)
    first = min(head + 1, len(new))
    return range(first, max(len(new) - tail, first) + 1)


MAX_HISTORY = 200
"""Maximum number of commits that are listed, and of notes edited outside that are shown."""

ASKING = "Asking git what changed …"
EDITED_OUTSIDE = "You edited this outside; it is not in the history yet"

Tab = Literal["note", "history", "blame", "links"]
TABS: tuple[Tab, ...] = ("note", "history", "blame", "links")


class NoteDetail(Container):
    """The detail view of the selected row. The previous note remains visible until the next one is loaded."""

    head = query_one("#detail-head", Static)
    remark_line = query_one("#detail-remark", Static)
    tabs = query_one("#detail-tabs", SectionTabs)
    switcher = query_one("#detail-parts", ContentSwitcher)
    text = query_one("#note", NoteView)
    history = query_one("#history", HistoryList)
    blame = query_one("#blame", BlameList)
    links = query_one("#links", LinkList)
    diff = query_one("#diff", DiffView)
    diff_title = query_one("#diff-title", Static)

    class Changed(Message):
        """Another note, tab or change is shown."""

    _backend: Backend | None = None
    _row: TreeRow | None = None
    _note: NoteText | None = None
    _outside: Change | None = None
    _outside_unknown = ""
    """Why it is unknown what was changed outside; empty once git has answered."""
    _whole_vault = False
    _timer: Timer | None = None
    _has_unsaved_edit = False
    _has_failed = False
    no_history = ""
    """Why there is no history to read; empty if there is one."""
    edited_outside: tuple[str, ...] = ()
    """The notes of the vault that were edited, renamed or deleted outside."""

    def compose(self) -> ComposeResult:
        with Panel("Note", id="detail-middle"):
            yield Static(id="detail-head")
            yield SectionTabs(id="detail-tabs")
            yield Static(id="detail-remark")
            with ContentSwitcher(initial="note", id="detail-parts"):
                yield NoteView(id="note")
                yield HistoryList(id="history")
                yield BlameList(id="blame")
                yield LinkList(id="links")
        with Panel("Changes", id="detail-diff", name="diff"):
            yield Static(id="diff-title")
            yield DiffView(id="diff")

    def on_mount(self) -> None:
        self._is_read = asyncio.Event()
        self.tabs.can_focus = False
        self._name_tabs()

    @property
    def note(self) -> NoteText | None:
        """Return the note that is shown, once it is loaded."""
        return self._note if self._row is not None and self._note and self._note.path == self._row.path else None

    @property
    def tab(self) -> Tab:
        return TABS[self.tabs.chosen]

    @property
    def part(self) -> Widget:
        return cast(Widget, self.switcher.visible_content)

    @property
    def has_selected_change(self) -> bool:
        """Check whether a change of the history is selected, by Donna or not, or its diff has the focus."""
        is_shown = self.tab == "history" and self.screen.focused in (self.history, self.diff)
        return is_shown and self.history.selected is not None

    @property
    def selected_operation(self) -> Operation | None:
        entry = self.history.selected if self.has_selected_change else None
        return entry.operation if isinstance(entry, Revision) else None

    @property
    def whole_vault(self) -> bool:
        return self._whole_vault or self._path == ""

    def connect(self, backend: Backend) -> None:
        self._backend = backend

    def follow(self, row: TreeRow | None, *, has_unsaved_edit: bool) -> None:
        """Show the note of a row after a short delay. Of several rows in quick succession only the last is loaded."""
        if has_unsaved_edit != self._has_unsaved_edit:
            self._has_unsaved_edit = has_unsaved_edit
            self._show_head()
        if row == self._row and not self._has_failed:
            return
        if row is None or self._row is None or row.path != self._row.path:
            self._outside, self._outside_unknown = None, ASKING
        self._row = row
        self._is_read.clear()
        self._show_head()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(LOAD_DELAY, self.reload)

    async def wait_until_read(self) -> None:
        """Wait a moment until the selected row is read, for a key that is pressed right after a movement."""
        if self._row is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_read.wait(), MAX_WAIT_SECONDS)

    def reload(self) -> None:
        self._has_failed = False
        if self._backend is not None:
            self._read(self._backend, self._row)
            if self.tab != "blame":  # which needs the note
                self._load_tab()

    def walk(self, by: int) -> None:
        self.text.walk(by)
        if self.tab == "blame":
            self._load_tab()

    def show_scope(self, *, whole_vault: bool) -> None:
        """Show the history of the note, or of the whole vault."""
        self._whole_vault = whole_vault
        self._name_tabs()
        self._load_tab()

    def toggle_scope(self) -> None:
        self.show_scope(whole_vault=not self._whole_vault)

    def on_section_tabs_chosen(self, event: SectionTabs.Chosen) -> None:
        event.stop()
        focused = self.screen.focused in (self.text, self.history, self.blame, self.links)
        self.switcher.current = self.tab
        if focused:
            self.part.focus()
        self._load_tab()
        self._show_diff()
        self.post_message(self.Changed())

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        if event.rows is self.part:
            self._show_diff()
        if event.rows is self.blame:
            self.blame.refresh()

    def on_note_view_moved(self) -> None:
        self._show_head()

    def follow_link(self) -> None:
        row = self.links.selected
        if self.tab == "note":
            self.text.pick_link()
        elif self.tab == "links" and row is not None:
            self.post_message(FollowLink(self._path, row.ref))

    @property
    def _path(self) -> str:
        return self._row.path if self._row is not None and self._row.note is not None else ""

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
    async def _read(self, backend: Backend, row: TreeRow | None) -> None:
        if row is None or row.note is None:
            self._note = None
            self.text.show_note("")
            self._show_head()
            self._show_diff()
            self._end_reading(row)
            return
        before = self._note
        try:
            note = await backend.notes.read_note(row.path)
        except DonnaError as error:
            self._note = None
            refusal = self._failed(error)
            said = why_special(row, None)
            is_gone = error.reason is Reason.MISSING and self._has_unsaved_edit
            is_copy = error.reason is Reason.CONFLICT_COPY
            step = f"{shown_key('vault.resolve')} compares it with its note." if is_copy else refusal.step
            words = (gone_with_edit(),) if is_gone else (refusal.what, step)
            self.text.show_note("\n\n".join(each for each in words if each != said))
        else:
            self._note, self.text.path = note, note.path
            is_same = before is not None and (before.path == note.path or before.etag == note.etag)
            self.text.show_note(note.text, keep=is_same)
        self._show_head()
        self._end_reading(row)
        is_outside = self._note is not None and NoteState.OUTSIDE in row.note.states
        if is_outside and self._outside is None:
            self._show_diff()
        try:  # git may take its time
            self._outside = await backend.notes.outside_change(row.path) if is_outside else None
            self._outside_unknown = ""
        except DonnaError as error:
            self._outside, self._outside_unknown = None, self._failed(error).what
        self._show_diff()

    def _end_reading(self, row: TreeRow | None) -> None:
        if row == self._row:  # else another row was selected meanwhile, and is still to be read
            self._is_read.set()
        if self.tab == "blame":
            self._load_tab()
        self.post_message(self.Changed())

    @work(group="history", exclusive=True)
    async def _read_history(self, backend: Backend, path: str) -> None:
        revisions: Sequence[Revision] = ()
        outside: Change | None = None
        with self._explaining(self.history, self.no_history or "Nothing in the history yet."):
            revisions = await backend.notes.history(path, limit=MAX_HISTORY)
            outside = await backend.notes.outside_change(path) if path and self._is_outside else None
        self._outside = outside
        first = outside if path else self.edited_outside
        self.history.show((*([first] if first else []), *revisions))

    @work(group="blame", exclusive=True)
    async def _read_blame(self, backend: Backend) -> None:
        section, note = self.text.section, self.note
        first, last = (section.start_line, section.end_line) if section is not None else (1, 1)
        empty = "There are no lines here." if note is not None else "Select a note to see who wrote its lines."
        lines: Sequence[BlameLine] = ()
        with self._explaining(self.blame, empty):
            lines = await backend.notes.blame(note.path, first, last) if note is not None else ()
        self.blame.show(lines)

    @work(group="links", exclusive=True)
    async def _read_links(self, backend: Backend, path: str) -> None:
        links: NoteLinks | None = None
        empty = "No links to this note, and none in it." if path else "Select a note to see its links."
        with self._explaining(self.links, empty):
            links = await backend.notes.links(path) if path else None
        if path == self._path:
            self.links.show(links)

    @property
    def _is_outside(self) -> bool:
        row = self._row
        return row is not None and row.note is not None and NoteState.OUTSIDE in row.note.states

    @property
    def _outside_below(self) -> tuple[str, ...]:
        """Return the notes edited outside in the selected folder."""
        folder = self._row.path if self._row is not None and self._row.is_folder else None
        return tuple(path for path in self.edited_outside if folder and path.startswith(f"{folder}/"))

    @contextmanager
    def _explaining(self, rows: RowList, empty: str) -> Iterator[None]:
        """Read what a list shows; an empty one shows `empty`, or why it could not be read."""
        try:
            yield
        except DonnaError as error:
            refusal = self._failed(error)
            is_missing = error.reason is Reason.NO_REPOSITORY and self.no_history
            rows.empty_text = self.no_history if is_missing else f"{refusal.what} {refusal.step}"
        else:
            rows.empty_text = empty

    def _failed(self, error: DonnaError) -> Refusal:
        """Return why something could not be read; it is read again when the tree is reloaded."""
        self._has_failed = True
        return refusal_of(error)

    def _show_diff(self) -> None:
        entry = self.history.selected if self.tab == "history" else None
        line = self.blame.selected if self.tab == "blame" else None
        commit = line.commit if line is not None else ""
        if isinstance(entry, Revision):
            self._read_revision(entry.commit, f"{moment(entry.at)} · {author_of(entry)} · {self.history.what(entry)}")
        elif below := entry if isinstance(entry, tuple) else self._outside_below if self.tab == "note" else ():
            self._read_revision(below, EDITED_OUTSIDE)
        elif commit and line is not None:
            self._read_revision(commit, f"{moment(line.at)} · {clean_line(line.author)}")
        elif self._outside is not None and (self.tab != "history" or entry is not None):
            self.workers.cancel_group(self, "revision")
            self._draw((self._outside,), EDITED_OUTSIDE)
        else:
            self.workers.cancel_group(self, "revision")
            picks = self.tab in ("history", "blame")
            unknown = self._outside_unknown if self._is_outside and self.tab != "history" else ""
            recorded = AS_RECORDED if self._path else FOLDER_AS_RECORDED if self._row is not None else ""
            self._draw((), "", empty=unknown or self.no_history or (PICK_CHANGE if picks else recorded))

    @work(group="revision", exclusive=True)
    async def _read_revision(self, commit: str | tuple[str, ...], title: str) -> None:
        """Show the changes of a commit, or those of these notes since the last one."""
        if self._backend is None:
            return
        notes = self._backend.notes
        changes: Sequence[Change]
        try:
            if isinstance(commit, tuple):
                changes = (await notes.plan_outside(commit[:MAX_HISTORY])).changes
            else:
                changes = await notes.revision_changes(commit)
        except DonnaError as error:
            self._draw((), title, empty=self._failed(error).what)
            return
        own = sorted(changes, key=lambda change: change.path != self._path)
        self._draw(tuple(own), title, empty="It changed no note.")

    def _draw(self, changes: tuple[Change, ...], title: str, *, empty: str = "") -> None:
        self.diff_title.update(Content.styled(title, "$text-muted"))
        self.diff.show(changes, empty=empty)

    def _show_head(self) -> None:
        self._name_tabs()
        if self._row is None:
            self.head.update(Content(""))
            return
        place = self.text.place if self.note is not None else ""
        self.head.update(note_head(self._row, self.note, place=place, waiting=self._has_unsaved_edit))
        show_label(self.remark_line, Content.styled(why_special(self._row, self.note), "$text-warning"))

    def _name_tabs(self) -> None:
        self.tabs.names = ("Note", "History of the vault" if self.whole_vault else "History", "Blame", "Links")
