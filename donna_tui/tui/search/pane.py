"""The Search screen: the question at the top, matching passages on the left, the selected section on the right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic, time

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerError

from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import citation, citation_link
from donna_tui.tui.lib import messages
from donna_tui.tui.lib.action import Action, ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import BlankColumn, BlankRow, Panel, name_panel
from donna_tui.tui.lib.dialogs import one_dialog, showing_errors
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.inputs import NoticeText, error_notice, notice_content, show_label
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import CursorView
from donna_tui.tui.lib.links import FollowLink
from donna_tui.tui.lib.places import Place
from donna_tui.tui.search import wording
from donna_tui.tui.search.bar import SearchBar
from donna_tui.tui.search.preview import Preview
from donna_tui.tui.search.results import ResultList, ResultRow
from donna_tui.tui.search.start_page import RepeatSearch, StartPage, start_facts
from donna_tui.tui.vault.parts_pane import wait_while
from donna_tui.types.errors import DonnaError
from donna_tui.types.search import Hit, MemorySource, NameMatch, SearchOutcome
from donna_tui.types.status import Status

TYPING_GAP = 0.05
"""Seconds between two searches while typing: shorter than most people's interval between two keys, so that most keys
are answered at once, and a burst of keys causes few searches.
"""

REFRESH_SECONDS = 1.0
"""Seconds between two refreshes of the answer, or of the start page, that only changes of the index cause."""


class SearchRunner:
    """Hold the question and run its searches. `answered` is called with an outcome, and whether it was requested by the
    user rather than a refresh; `failed` with an error.

    Timers and workers belong to `owner`, so that they end with it.
    """

    def __init__(
        self, owner: Widget, answered: Callable[[SearchOutcome, bool], None], failed: Callable[[DonnaError], None]
    ) -> None:
        self.question = wording.Question()
        self._owner = owner
        self._answered = answered
        self._failed = failed
        self._backend: Backend | None = None
        self._number = 0
        self._last_run = -TYPING_GAP
        self._is_scheduled = False
        self._refreshing: Timer | None = None
        self._searching: Worker[None] | None = None

    def connect(self, backend: Backend) -> None:
        """Connect to the backend, and ask what was typed meanwhile."""
        self._backend = backend
        self.run(self.question)

    def typed(self, text: str) -> None:
        """Update the text; answers to older text are discarded. It is searched for when it is `drawn`, or the time
        between two searches is over.
        """
        self._number += 1
        self.question = replace(self.question, text=text, like=None, most=wording.PAGE)
        if (wait := self._wait) > 0 and not self._is_scheduled:
            self._owner.set_timer(wait, self._run_typed)
        self._is_scheduled = True

    def drawn(self) -> None:
        """Search for the text that was typed, unless the last search has just begun. Both at once, drawing and
        searching, would delay the key by as much as the search gains.
        """
        if self._wait <= 0:
            self._run_typed()

    @property
    def _wait(self) -> float:
        return self._last_run + TYPING_GAP - monotonic()

    def run(self, question: wording.Question) -> None:
        """Run a question now. An empty question cancels the previous one."""
        self._number += 1
        self._last_run = monotonic()
        self._is_scheduled = False
        self.question = question
        if question.is_empty:
            self._owner.workers.cancel_group(self._owner, "search")
        elif self._backend is not None:
            self._searching = self._start(self._backend, "search", asked=True)

    async def wait_until_idle(self) -> None:
        while self._searching is not None and not self._searching.is_finished:
            with suppress(WorkerError):
                await self._searching.wait()

    async def answer_typed(self) -> None:
        """Answer what was typed already, for a key that needs the results; wait for it a moment."""
        self._run_typed()
        await wait_while(lambda: self._searching is not None and not self._searching.is_finished)

    def _run_typed(self) -> None:
        if self._is_scheduled:
            self.run(self.question)

    def refresh_soon(self) -> None:
        """Schedule a refresh of the answer, because the index has changed."""
        if self._refreshing is None:
            self._refreshing = self._owner.set_timer(REFRESH_SECONDS, self._refresh_now)

    def _refresh_now(self) -> None:
        self._refreshing = None
        if self._backend is not None and not self.question.is_empty:
            self._start(self._backend, "refresh", asked=False)

    def _start(self, backend: Backend, group: str, *, asked: bool) -> Worker[None]:
        search = partial(self._search, backend, self._number, asked=asked)
        return self._owner.run_worker(search, group=group, exclusive=True)

    async def _search(self, backend: Backend, number: int, *, asked: bool) -> None:
        like, request = self.question.like, self.question.request()
        try:
            outcome = await (backend.search(request) if like is None else backend.more_like(like, request))
        except DonnaError as error:
            if asked and number == self._number:  # after a failed refresh the visible answer stays
                self._failed(error)
            return
        if number == self._number:
            self._answered(outcome, asked)


ROOMY = 28
"""Height of the pane in lines from which a result shows two lines of its text."""


class SearchPane(BlankColumn):
    """Live search. A refreshed answer is held back if the row under the cursor would not keep its place."""

    BINDINGS = bindings("search")

    bar = query_one(SearchBar)
    results = query_one(ResultList)
    preview = query_one(Preview)
    body = query_one("#search-body", BlankRow)
    start = query_one(StartPage)

    def __init__(self, programs: ExternalPrograms, first_notes: tuple[NameMatch, ...] = ()) -> None:
        super().__init__(id="search")
        self._first_notes = first_notes
        self._programs = programs
        self._runner = SearchRunner(self, self._answered, self._failed)
        self._backend: Backend | None = None
        self._status: Status | None = None
        self._outcome: SearchOutcome | None = None
        self._waiting: SearchOutcome | None = None
        self._unfolded: set[tuple[str, str]] = set()
        self._longer: wording.Question | None = None
        self._questions: tuple[str, ...] = ()
        self._recalled: int | None = None
        self._is_complete = False
        self._is_start_stale = True
        self._refreshing: Timer | None = None
        self._returns_to = ""

    def compose(self) -> ComposeResult:
        yield SearchBar()
        with BlankRow(id="search-body"):
            with Panel("Results", id="search-list"):
                yield ResultList(id="results")
                yield Static(id="search-note")
            yield Preview("Note", id="preview")
        start = StartPage(self._first_notes)
        start.display = False
        yield start

    def on_mount(self) -> None:
        self.watch(self.bar.input, "value", self._typed, init=False)
        self._begin()

    @property
    def question(self) -> wording.Question:
        return self._runner.question

    @property
    def selected(self) -> Hit | None:
        return self.results.selected

    @property
    def place(self) -> Place:
        """Return the question with the selected passage, for returning to it; another row of its answer is no stop."""
        question, passage = self.question, self.selected.chunk_id if self.selected is not None else ""
        return Place("search", (question.text, question.like), partial(self._restore, question, passage))

    def _restore(self, question: wording.Question, passage: str) -> None:
        """Run an earlier question again, and select the passage that was selected in its answer."""
        self._unfolded.clear()
        self._returns_to = passage
        self._run_question(question)
        self.bar.input.value = question.text
        self.results.focus()

    def connect(self, backend: Backend) -> None:
        self._backend = backend
        self._set_status(backend.status())
        self._runner.connect(backend)
        self.preview.connect(backend)
        if self.question.is_empty or self._is_complete:  # a question that was typed meanwhile is answered first
            self._refresh_start()

    async def wait_until_idle(self) -> None:
        await self._runner.wait_until_idle()

    def completed(self) -> None:
        """Load the rest of the start page, once the other screens exist."""
        self._is_complete = True
        self._refresh_start()

    def cannot_open(self, error: DonnaError) -> None:
        self._show_start(on=False)
        self._show_notice(error_notice(error, ("app.quit", "quit")))

    def action_state(self, base: ActionState) -> ActionState:
        return replace(
            base,
            selected=self.selected is not None,
            start_line=self._is_on_start and self.start.selected is not None,
            question=not self.question.is_empty,
            zoomable=bool(self.results.rows),
        )

    async def update_needs(self, action: Action) -> None:
        """Answer what was typed first, for a key that uses the results or moves to them."""
        uses_results = "selected" in action.needs.split() or action.id in ("search.next", "view.back")
        if uses_results and self._is_typing:
            await self._runner.answer_typed()

    def focus_first(self) -> None:
        """Focus the input, with the old question selected so that typing replaces it."""
        self.remove_class("-zoomed")
        self.bar.input.focus()
        self.bar.input.action_select_all()

    def go_back(self) -> None:
        if self.question.like is not None:
            self._returns_to = self.question.like.chunk_id
            self._run_question(replace(self.question, like=None))
        elif self.question.near_misses:
            self._run_question(replace(self.question, near_misses=False))
        elif self.screen.focused is not self._list:
            self._list.focus()

    def jump_targets(self) -> Iterable[JumpTarget]:
        for widget in (self.bar.input, *([self.preview.view] if self.results.rows else [])):
            if widget.is_on_screen and widget.region:
                yield JumpTarget(max(0, widget.region.x - 3), widget.region.y, go=widget.focus)
        yield from self.start.jump_targets() if self._is_on_start else self.results.jump_targets()
        if self.results.rows and self.preview.is_on_screen:
            yield from self.preview.jump_targets()

    def on_resize(self) -> None:
        self.results.set_snippet_lines(2 if self.size.height >= ROOMY else 1)

    def _typed(self, text: str) -> None:
        """Search for the input; for an empty input, show the start page."""
        if text == self.question.text:
            return
        self._unfolded.clear()
        if self._recalled is not None and text != self._questions[self._recalled]:
            self._recalled = None
        self._returns_to = ""
        self._runner.typed(text)
        if self.question.is_empty:
            self._begin()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search for the new text: this message arrives when the key is drawn."""
        event.stop()
        self._runner.drawn()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open the selected result, or line of the start page, on Enter in the input."""
        event.stop()
        self.save_question()
        self.call_later(self.app.run_action, "run('search.open')", self.screen)

    def on_cursor_view_opened(self, event: CursorView.Opened) -> None:
        event.stop()
        self.call_later(self.app.run_action, "run('search.open')", self.screen)

    def on_result_list_selected(self, event: ResultList.Selected) -> None:
        event.stop()
        if event.hit is not None and self.results.selected_index == len(self.results.rows) - 1:
            self._load_more()
        self.preview.follow(event.hit)
        self.post_message(messages.ActionsChanged())

    def on_descendant_focus(self) -> None:
        if self.screen.focused in (self.results, self.preview.view):
            self.save_question()

    def on_hide(self) -> None:
        self.save_question()
        self.start.leave()

    def on_show(self) -> None:
        self._refresh_start()

    def on_repeat_search(self, event: RepeatSearch) -> None:
        event.stop()
        self._type(event.question)
        self.bar.input.focus()
        self.save_question()

    def on_status_changed(self, event: messages.StatusChanged) -> None:
        self._set_status(event.status)

    def on_engine_events(self, event: messages.EngineEvents) -> None:
        """Refresh after changes of the index; immediately when the model becomes ready and no result is selected."""
        if self._refreshing is None and any(map(wording.changes_start, event.events)):
            self._refreshing = self.set_timer(REFRESH_SECONDS, self._refresh_start_again)
        untouched = not self._is_in_list and not self.results.selected_index
        if untouched and any(map(wording.makes_semantic, event.events)):
            self._run_question(self.question)
        elif any(wording.changes_answers(posted) for posted in event.events):
            self._runner.refresh_soon()
            self.preview.changed(event.events)

    def action_search_open(self) -> None:
        if self._is_on_start and self.start.open_selected():
            return
        view = self.preview.view
        if self.screen.focused is view and view.jump_targets():
            view.pick_link()
        else:
            self.action_search_edit()

    def action_search_show(self) -> None:
        if self.selected is None:
            return
        note = self.selected.note
        if not note:
            self.notify("No note contains this passage.", severity="warning", timeout=4)
        elif not self._refuses_elsewhere(self.selected, "see it in its Vault"):
            self.post_message(messages.OpenNote(note, self.selected.start_line))

    def on_follow_link(self, event: FollowLink) -> None:
        """Block links of another space, which can only be followed there."""
        if self.selected is not None and self._refuses_elsewhere(self.selected, "follow its links"):
            event.stop()

    def action_search_edit(self) -> None:
        """Open the selected note in the editor; zoom in on a passage that is in no note."""
        if self.selected is None or self._backend is None:
            return
        note = self.selected.note
        if not note:
            self._zoom(on=True)
        elif self._is_elsewhere(self.selected):
            self._edit_elsewhere(self._backend, self.selected)
        else:
            self.post_message(messages.EditNote(note, self.selected.start_line))

    @one_dialog("edit")
    async def _edit_elsewhere(self, backend: Backend, hit: Hit) -> None:
        with showing_errors(self):
            await self._programs.edit(backend.absolute_path(hit.note, hit.space), hit.start_line)

    async def action_search_obsidian(self) -> None:
        if self.selected is None or self._backend is None:
            return
        note = self.selected.note
        if not note:
            self.notify("No note contains this passage.", severity="warning", timeout=4)
            return
        with showing_errors(self):
            await self._programs.open_in_obsidian(self._backend.root_of(self.selected.space), note)

    def action_search_copy_link(self) -> None:
        if self.selected is None:
            return
        note = self.selected.note
        if note and not self._is_elsewhere(self.selected):
            self._programs.copy(citation_link(replace(self.selected, path=note)), "The link to this section")
        else:
            self._programs.copy(citation(self.selected), "The citation")

    def action_search_copy_text(self) -> None:
        if self.selected is not None:
            self._programs.copy(f"{self.selected.content}\n\n{citation(self.selected)}\n", "The passage")

    @one_dialog("correct")
    async def action_search_correct(self) -> None:
        from donna_tui.tui.search.dialogs import correct, correction_effect

        hit = self.selected
        if hit is None or self._backend is None or self._refuses_elsewhere(hit, "correct it"):
            return
        await correct(
            self.app,
            self._backend.memory,
            identity=f"{hit.source_type}:{hit.path}",
            text=hit.content,
            citation=clean_line(citation(hit)),
            becomes=correction_effect(MemorySource(hit.source_type)),
            query=self.question.text,
        )

    def action_search_why(self) -> None:
        hit = self.selected
        if self._backend is None:
            return
        if self.question.like is not None:
            self.notify("Ask a question first: this list shows similar passages.", timeout=4)
        elif hit is None or not self._refuses_elsewhere(hit, "ask why"):
            self._explain(self._backend, hit.cited_path if hit is not None else "")

    @one_dialog("filter")
    async def action_search_filter(self) -> None:
        from donna_tui.tui.search.dialogs import ScopePicker

        if self._backend is None:
            return
        with showing_errors(self):
            folders, sources = await self._backend.folders(), await self._backend.sources()
            scope = await self.app.push_screen_wait(ScopePicker(folders, sources, self.question.scope))
            if scope is not None:
                self._run_question(replace(self.question, scope=scope))

    def action_search_next(self) -> None:
        self._list.action_cursor_down()

    def action_search_previous(self) -> None:
        is_at_top = self.start.selected is None if self._is_on_start else self._recalled is not None
        if is_at_top and not self.results.selected_index:
            self._recall()
        else:
            self._list.action_cursor_up()

    def save_question(self) -> None:
        """Store a question that has a word in the history, immediately in memory and shortly after on disk."""
        text = self.question.text.strip()
        if self._backend is None or not any(map(str.isalnum, text)) or self._questions[:1] == (text,):
            return
        self._questions = (text, *(question for question in self._questions if question != text))
        self._recalled = 0 if self._recalled is not None else None
        self._save_question(self._backend, text)

    @work(group="history")
    async def _save_question(self, backend: Backend, text: str) -> None:
        with suppress(DonnaError):  # on a full disk it is known until the end
            await backend.save_question(text)

    def _recall(self) -> None:
        older = 0 if self._recalled is None else self._recalled + 1
        if older < len(self._questions):
            self._recalled = older
            self._type(self._questions[older])

    def _type(self, text: str) -> None:
        self.bar.input.value = clean_line(text)
        self.bar.input.cursor_position = len(self.bar.input.value)

    def _refresh_start_again(self) -> None:
        self._refreshing = None
        if self._is_on_start and self.display:
            self._refresh_start()

    @work(group="start", exclusive=True)
    async def _refresh_start(self) -> None:
        """Load the facts of the start page: notes first, and the rest once the other screens exist."""
        if self._backend is None:
            return
        self._is_start_stale = False
        async for found in start_facts(self._backend, self.start.facts, in_full=self._is_complete):
            self._questions = self._questions or found.questions
            self.start.show(replace(found, questions=self._questions), self._status, time())

    def action_search_unfold(self) -> None:
        row = self.results.selected_row
        if row is not None and row.folded:
            self._fold(row, on=False)
        else:
            self.action_search_fold()

    def action_search_fold(self) -> None:
        row = self.results.selected_row
        if row is not None and row.note in self._unfolded and not row.near:
            self._fold(row, on=True)

    def _fold(self, row: ResultRow, *, on: bool) -> None:
        """Fold or unfold a note; when folding, its best passage is selected."""
        (self._unfolded.add, self._unfolded.discard)[on](row.note)
        if self._outcome is None:
            return
        rows = self._rows_of(self._outcome)
        first = next(other for other in rows if other.note == row.note)
        self.results.show(rows, keep=first.hit.chunk_id if on else row.hit.chunk_id)
        loaded = sum(ResultRow(hit).note == row.note for hit in self._outcome.hits)
        if not on and loaded < row.hit.in_note:
            self._load_more()

    def _load_more(self) -> None:
        """Load another page of the same question, if there is one and it is not being loaded."""
        asked = self.question
        if self._outcome is not None and asked != self._longer and wording.has_more(self._outcome):
            self._longer = replace(asked, most=asked.most + wording.PAGE)
            self._run_question(self._longer)

    def action_search_more(self) -> None:
        self.post_message(messages.RememberPlace(self.place))
        self._run_question(replace(self.question, like=self.selected, near_misses=False))

    def action_search_undo(self) -> None:
        self.post_message(messages.StepBack())

    def action_search_redo(self) -> None:
        self.post_message(messages.StepBack(redo=True))

    def action_search_near(self) -> None:
        outcome, question = self._outcome, self.question
        if outcome is not None and outcome.near_misses and not (outcome.hits or question.near_misses):
            self.notify("Nothing is relevant, so near misses are shown already.", timeout=4)
            return
        self._run_question(replace(self.question, near_misses=not self.question.near_misses))

    def action_search_mode(self) -> None:
        self._run_question(self.question.next_mode())

    def action_search_refresh(self) -> None:
        """Show the answer that was held back, or ask again."""
        if self._waiting is not None:
            self._draw(self._waiting, keep=True)
        else:
            self._run_question(self.question)

    def action_view_zoom(self) -> None:
        self._zoom(on=not self.has_class("-zoomed"))

    @property
    def _is_on_start(self) -> bool:
        return self.start.display and self.question.is_empty

    @property
    def _is_listed_already(self) -> bool:
        """Return whether there are notes to list although the vault is still being opened."""
        is_opening = self._status is None or self._status.state == "starting"
        return is_opening and bool(self.start.facts.recent)

    @property
    def _list(self) -> StartPage | ResultList:
        return self.start if self._is_on_start else self.results

    def _show_start(self, *, on: bool) -> None:
        """Show or hide the start page; only on a change, because it lays out the screen again.

        `display` is set on the two parts: with a class of the pane, the styles of all widgets in it would be computed
        again, which delays the first results by 10 ms.
        """
        if on == self.start.display:
            return
        had_focus = self.screen.focused in ((self.start, self.results, self.preview.view) if on else (self.start,))
        self.start.leave()
        self.start.display, self.body.display = on, not on
        if had_focus:
            (self.start if on else self.results).focus()

    def _begin(self) -> None:
        """Show the start page, or a notice of why it would be empty."""
        words = None if self._is_listed_already else wording.empty_start_text(self._status)
        self._clear(words or NoticeText(""))
        self._show_start(on=words is None)
        if words is None:
            self.start.show(replace(self.start.facts, questions=self._questions), self._status, time())
        if self._is_start_stale:
            self._refresh_start()

    @property
    def _is_typing(self) -> bool:
        return isinstance(self.screen.focused, Input)

    def _is_elsewhere(self, hit: Hit) -> bool:
        return hit.space not in ("", self._status.space if self._status else "")

    def _refuses_elsewhere(self, hit: Hit, does: str) -> bool:
        """Check whether a hit is of another space, and if so, say that this is only possible there."""
        is_elsewhere = self._is_elsewhere(hit)
        if is_elsewhere:
            self.notify(f"Switch to {clean_line(hit.space)} to {does}.", timeout=4)
        return is_elsewhere

    @property
    def _is_in_list(self) -> bool:
        return bool(self.results.rows) and self.screen.focused is self.results

    def _zoom(self, *, on: bool) -> None:
        self.set_class(on, "-zoomed")
        (self.preview.view if on else self.results).focus()

    @one_dialog("why")
    async def _explain(self, backend: Backend, path: str) -> None:
        from donna_tui.tui.search.dialogs import explanation_screen
        from donna_tui.tui.vault.switcher import Switcher, SwitchTo

        request = self.question.request()
        if not path:
            switcher = Switcher(backend.names, title="Which note is not found?", creates=False)
            chosen = await self.app.push_screen_wait(switcher)
            if not isinstance(chosen, SwitchTo):
                return
            path = chosen.path
        with showing_errors(self):
            self.app.push_screen(explanation_screen(await backend.why_not(path, request), request.text))

    def _run_question(self, question: wording.Question) -> None:
        self._runner.run(question)
        self._show_bar()

    def _answered(self, outcome: SearchOutcome, asked: bool) -> None:
        is_longer = self._longer == self.question
        self._longer = None
        if asked and is_longer and self._outcome is not None:
            self._draw(wording.with_more(self._outcome, outcome), keep=True)
        elif asked:
            returns_to, self._returns_to = self._returns_to, ""
            self._draw(outcome, keep=self._is_in_list, select=returns_to)
        elif wording.is_at_same_place(self.results.rows, self.results.selected_index, self._rows_of(outcome)):
            self._draw(outcome, keep=True)
        else:
            self._waiting = outcome
            self._note(f"There are newer results; {shown_key('search.refresh', typing=self._is_typing)} shows them.")

    def _rows_of(self, outcome: SearchOutcome) -> tuple[ResultRow, ...]:
        return wording.rows_of(outcome, near_misses=self.question.near_misses, unfolded=self._unfolded)

    def _failed(self, error: DonnaError) -> None:
        self._show_start(on=False)
        self._outcome = None
        self._clear(wording.failed(error))

    def _draw(self, outcome: SearchOutcome, *, keep: bool, select: str = "") -> None:
        self._outcome, self._waiting = outcome, None
        self._show_start(on=False)
        rows = self._rows_of(outcome)
        if not rows:
            self._clear(wording.nothing_found(self.question, outcome, self._status))
            return
        kept = self.selected.chunk_id if keep and self.selected is not None else ""
        self.call_after_refresh(self._show_bar)
        self._title(wording.list_title(self.question, outcome))
        self._note(wording.note_of(outcome))
        self.results.show(rows, keep=select or kept)

    def _clear(self, words: NoticeText) -> None:
        """Show a notice instead of results, and move the focus from the preview to it."""
        was_in_section = self.screen.focused is self.preview.view
        self._waiting = None
        if self.question.is_empty:
            self._outcome = None
        self._show_notice(words)
        if was_in_section:
            self.results.focus()

    def _show_notice(self, words: NoticeText) -> None:
        """Show a notice without changing the layout around it: laying out the screen while typing takes 20 ms."""
        self.results.show_notice(notice_content(words))
        self._title("")
        self._note("")
        self.remove_class("-zoomed")
        self._show_bar()
        self.post_message(messages.ActionsChanged())

    def _title(self, text: str) -> None:
        name_panel(self.query_one("#search-list", Panel), text or "Results")

    def _note(self, text: str) -> None:
        show_label(self.query_one("#search-note", Static), Content(text), layout=False)

    def _show_bar(self) -> None:
        found = None if self._outcome is None or self.question.is_empty else wording.number_found(self._outcome)
        self.bar.state(self.question.mode, str(self.question.scope), found)
        self.bar.mark(tuple(each.text for each in self._outcome.filter_problems) if self._outcome else ())

    def _set_status(self, status: Status) -> None:
        if self._status is None or self._status.state != status.state:
            self._is_start_stale = True
        self._status = status
        if not self.question.is_empty:
            return
        if self.start.display and (self._is_listed_already or wording.empty_start_text(status) is None):
            self.start.show(self.start.facts, status, time())
        else:
            self._begin()
        if self._is_start_stale:
            self._refresh_start()
