"""The Search screen: a question at the top, passages that answer it at the left, the section of one at the right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.errors import DonnaError
from donna_tui.events import (
    EngineEvent,
    IndexSwapped,
    ModelPhase,
    ModelStateChanged,
    NoteDeleted,
    NoteEmbedded,
    NoteIndexed,
    NoteRenamed,
)
from donna_tui.results import Hit, SearchOutcome
from donna_tui.search.citations import citation, citation_link
from donna_tui.status import Status
from donna_tui.tui.actions import ActionState
from donna_tui.tui.backend import Backend
from donna_tui.tui.bindings import bindings
from donna_tui.tui.keysheet import Keys, shown_key
from donna_tui.tui.messages import ActionsChanged, EngineEvents, StatusChanged
from donna_tui.tui.outside import Outside
from donna_tui.tui.panes.search_state import (
    Question,
    bar_facts,
    before_asking,
    failed,
    keeps_place,
    list_title,
    note_of,
    nothing_found,
    opened_badly,
    rows_of,
)
from donna_tui.tui.screens.scope import ScopePicker
from donna_tui.tui.widgets.jump import JumpTarget
from donna_tui.tui.widgets.notice import Notice, Words
from donna_tui.tui.widgets.preview import Preview
from donna_tui.tui.widgets.result_list import ResultList
from donna_tui.tui.widgets.search_bar import SearchBar, SearchInput

TYPING_PAUSE = 0.045
"""Seconds without a key before a search starts: shorter than the gap between two keys of a fast typist."""

PREVIEW_PAUSE = 0.03
ROOMY = 28
"""Lines of the pane from which on a result shows two lines of its text."""

REFRESH_PAUSE = 1.0
"""Seconds between two searches that only follow changes of the index."""


class SearchPane(Vertical):
    """Live search. An answer is drawn only if it answers the newest question, and a refresh that nobody asked for
    only if it leaves the row under the cursor where it is.
    """

    BINDINGS = bindings("search")

    bar = query_one(SearchBar)
    results = query_one(ResultList)
    preview = query_one(Preview)
    notice = query_one(Notice)

    def __init__(self, outside: Outside, keys: Keys) -> None:
        super().__init__(id="search")
        self._keys = keys
        self._outside = outside
        self._backend: Backend | None = None
        self._status: Status | None = None
        self._question = Question()
        self._outcome: SearchOutcome | None = None
        self._asked = 0
        self._previewed = 0
        self._newer: SearchOutcome | None = None
        self._typing_timer: Timer | None = None
        self._preview_timer: Timer | None = None
        self._refresh_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield SearchBar()
        with Horizontal(id="search-body"):
            with Vertical(id="search-list"):
                yield Static(id="search-title")
                yield ResultList(id="results")
                yield Notice(keys=self._keys, id="search-notice")
                yield Static(id="search-note")
            yield Preview(id="preview")

    def on_mount(self) -> None:
        self._say(before_asking(None))
        self._tell_bar()

    @property
    def question(self) -> Question:
        """What is being asked."""
        return self._question

    @property
    def selected(self) -> Hit | None:
        """The result under the cursor."""
        return self.results.selected

    def connect(self, backend: Backend) -> None:
        """Begin to search; what was typed meanwhile is asked at once."""
        self._backend = backend
        self._take_status(backend.status())
        self._ask()

    def cannot_open(self, error: DonnaError) -> None:
        """Say why there is nothing to search."""
        self._say(opened_badly(error))

    def action_state(self, base: ActionState) -> ActionState:
        """What is possible here."""
        return replace(
            base,
            pane="search",
            typing=isinstance(self.screen.focused, Input),
            selected=self.selected is not None,
            question=not self._question.is_empty,
        )

    def jump_targets(self) -> Iterable[JumpTarget]:
        """The input, the results in sight and the preview."""
        for widget in (self.bar.input, self.preview.view):
            if widget.is_on_screen and widget.region:
                yield JumpTarget(max(0, widget.region.x - 3), widget.region.y, go=widget.focus)
        yield from self.results.jump_targets()

    def focus_first(self) -> None:
        """Begin to type, with the old question selected so that typing replaces it."""
        self.remove_class("-zoomed")
        self.bar.input.focus()
        self.bar.input.action_select_all()

    def go_back(self) -> bool:
        """One level out. False if this is the outermost one."""
        if self.has_class("-zoomed"):
            self._zoom(on=False)
        elif self._question.like is not None:
            self._change(replace(self._question, like=None))
        elif self._question.near_misses:
            self._change(replace(self._question, near_misses=False))
        elif self.screen.focused not in (self.results, self.notice):
            self._stand_in.focus()
        else:
            return False
        return True

    def on_resize(self) -> None:
        self.results.snippet_lines = 2 if self.size.height >= ROOMY else 1

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask when the typing pauses. Answers to what was typed before are not drawn any more."""
        event.stop()
        self._question = replace(self._question, text=event.value, like=None)
        self._asked += 1
        self._typing_timer = _restart(self._typing_timer, self.set_timer(TYPING_PAUSE, self._ask))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.call_later(self.screen.run_action, "run('search.open')")

    def on_result_list_opened(self, event: ResultList.Opened) -> None:
        event.stop()
        self.call_later(self.screen.run_action, "run('search.open')")

    def on_result_list_selected(self, event: ResultList.Selected) -> None:
        event.stop()
        self._previewed += 1
        self._preview_timer = _restart(self._preview_timer, self.set_timer(PREVIEW_PAUSE, self._show_preview))
        self.post_message(ActionsChanged())

    def on_status_changed(self, event: StatusChanged) -> None:
        self._take_status(event.status)

    def on_engine_events(self, event: EngineEvents) -> None:
        """Look again when the index knows something new."""
        if self._refresh_timer is None and any(map(_changes_answers, event.events)):
            self._refresh_timer = self.set_timer(REFRESH_PAUSE, self._refresh_quietly)
        shown = self.selected
        if shown is not None and any(
            isinstance(each, NoteIndexed) and each.path == shown.path for each in event.events
        ):
            self._show_preview()

    async def action_search_open(self) -> None:
        if self.selected is not None and self._backend is not None:
            await self._outside.edit(self._backend.absolute_path(self.selected.path), self.selected.start_line)

    async def action_search_obsidian(self) -> None:
        if self.selected is not None and self._status is not None:
            await self._outside.open_in_obsidian(Path(self._status.root), self.selected.path)

    def action_search_copy_link(self) -> None:
        if self.selected is not None:
            self._outside.copy(citation_link(self.selected), "The link to this section")

    def action_search_copy_text(self) -> None:
        if self.selected is not None:
            self._outside.copy(f"{self.selected.content}\n\n{citation(self.selected)}\n", "The passage")

    async def action_search_filter(self) -> None:
        if self._backend is not None:
            self.run_worker(self._choose_scope(self._backend), group="filter", exclusive=True)

    def action_search_next(self) -> None:
        self.results.action_cursor_down()

    def action_search_previous(self) -> None:
        self.results.action_cursor_up()

    def action_search_more(self) -> None:
        self._change(replace(self._question, like=self.selected, near_misses=False))

    def action_search_near(self) -> None:
        self._change(replace(self._question, near_misses=not self._question.near_misses))

    def action_search_mode(self) -> None:
        self._change(self._question.next_mode())

    def action_search_refresh(self) -> None:
        if self._newer is not None:
            self._draw(self._newer, keep=True)
        else:
            self._ask()

    def action_view_zoom(self) -> None:
        self._zoom(on=not self.has_class("-zoomed"))

    async def _choose_scope(self, backend: Backend) -> None:
        try:
            folders, sources = await backend.folders(), await backend.sources()
        except DonnaError as error:
            self.notify(error.message, severity="error", markup=False)
            return
        scope = await self.app.push_screen_wait(ScopePicker(folders, sources, self._question.scope))
        if scope is not None:
            self._change(replace(self._question, scope=scope))

    def _zoom(self, *, on: bool) -> None:
        on = on and bool(self.results.rows)
        self.set_class(on, "-zoomed")
        (self.preview.view if on else self._stand_in).focus()

    @property
    def _stand_in(self) -> Widget:
        """The list, or the notice in its place while there are no results."""
        return self.results if self.results.rows else self.notice

    def _change(self, question: Question) -> None:
        self._question = question
        self._tell_bar()
        self._ask()

    def _ask(self) -> None:
        self._asked += 1
        self._newer = None
        self._tell_bar()
        if self._question.is_empty:
            self.workers.cancel_group(self, "search")
            self._outcome = None
            self._clear(before_asking(self._status))
        elif self._backend is not None:
            self.run_worker(self._search(self._backend, self._asked), group="search", exclusive=True)

    async def _search(self, backend: Backend, number: int) -> None:
        try:
            outcome = await self._answer(backend)
        except DonnaError as error:
            if number == self._asked:
                self._outcome = None
                self._clear(failed(error))
            return
        if number == self._asked:
            self._draw(outcome, keep=self.screen.focused is self.results)

    async def _answer(self, backend: Backend) -> SearchOutcome:
        question = self._question
        if question.like is not None:
            return await backend.more_like(question.like, question.request())
        return await backend.search(question.request())

    def _refresh_quietly(self) -> None:
        self._refresh_timer = None
        if self._backend is not None and not self._question.is_empty:
            self.run_worker(self._look_again(self._backend, self._asked), group="refresh", exclusive=True)

    async def _look_again(self, backend: Backend, number: int) -> None:
        try:
            outcome = await self._answer(backend)
        except DonnaError:
            return  # the answer on the screen still stands, and a question that somebody asks says what is wrong
        if number != self._asked:
            return
        rows = rows_of(outcome, near_misses=self._question.near_misses)
        if keeps_place(self.results.rows, self.results.index, rows):
            self._draw(outcome, keep=True)
        else:
            self._newer = outcome
            key = shown_key(self._keys["search.refresh"], typing=isinstance(self.screen.focused, Input))
            self._note(f"The index has changed since; {key} shows the newer order.")

    def _draw(self, outcome: SearchOutcome, *, keep: bool) -> None:
        self._outcome, self._newer = outcome, None
        rows = rows_of(outcome, near_misses=self._question.near_misses)
        self._tell_bar()
        if not rows:
            self._clear(nothing_found(self._question, outcome, self._status))
            return
        kept = self.selected.chunk_id if keep and self.selected is not None else ""
        self.set_class(False, "-empty")
        self.query_one("#search-title", Static).update(Content(list_title(self._question, outcome)))
        self._note(note_of(outcome))
        self.results.show(rows, keep=kept)

    def _clear(self, words: Words) -> None:
        self.results.show(())
        self.preview.clear()
        self._say(words)

    def _say(self, words: Words) -> None:
        self.notice.say(words)
        self._note("")
        self.set_class(True, "-empty")
        self.post_message(ActionsChanged())

    def _note(self, text: str) -> None:
        note = self.query_one("#search-note", Static)
        note.update(Content(text))
        note.display = bool(text)

    def _tell_bar(self) -> None:
        self.bar.state(*bar_facts(self._question, self._outcome))

    def _take_status(self, status: Status) -> None:
        self._status = status
        if self._question.is_empty:
            self._say(before_asking(status))

    def _show_preview(self) -> None:
        hit = self.selected
        if hit is not None and self._backend is not None:
            self.run_worker(self._load_preview(self._backend, hit, self._previewed), group="preview", exclusive=True)

    async def _load_preview(self, backend: Backend, hit: Hit, number: int) -> None:
        try:
            passage = await backend.passage(hit.path, hit.start_line, hit.end_line)
        except DonnaError as error:
            if number == self._previewed:
                self.preview.fail(hit, error.message, error.hint or "")
            return
        if number == self._previewed:
            self.preview.show(hit, passage)


def _restart(old: Timer | None, new: Timer) -> Timer:
    if old is not None:
        old.stop()
    return new


def _changes_answers(event: EngineEvent) -> bool:
    if isinstance(event, ModelStateChanged):
        return event.phase is ModelPhase.READY
    return isinstance(event, NoteIndexed | NoteEmbedded | NoteDeleted | NoteRenamed | IndexSwapped)
