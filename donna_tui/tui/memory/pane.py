"""The Memory screen: what is remembered and why, and what a prompt would contain for a question."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.dialogs import LinePrompt, RefusalScreen, one_dialog, showing_errors
from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import one_line, plural
from donna_tui.tui.lib.inputs import Notice, NoticeText, error_notice, show_label
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.messages import ActionsChanged, EditNote, EngineEvents, StatusChanged
from donna_tui.tui.memory import wording
from donna_tui.tui.memory.card import MemoryCard, citation_of
from donna_tui.tui.memory.dialogs import ForgetScreen, SuggestionScreen
from donna_tui.tui.memory.list import PAGE, MemoryList, own_text
from donna_tui.tui.memory.recall_panel import MemoryInput, RecallPanel
from donna_tui.tui.search.dialogs import correct, correction_effect
from donna_tui.tui.vault.parts_pane import PartsPane
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import ChangedElsewhere, IndexSwapped, NoteDeleted, NoteEmbedded
from donna_tui.types.memory import MemoryChunk, Suggestion
from donna_tui.types.memory_events import BackfillDone, SourceIngested
from donna_tui.types.status import Status
from donna_tui.vault.write.changes import OperationKind, Outcome

FILL = 0.03
"""Seconds until rows that became visible are read, so that scrolling reads only where it stops."""

_ABOUT_MEMORY = (SourceIngested, BackfillDone, IndexSwapped, NoteEmbedded, NoteDeleted, ChangedElsewhere)


LastChange = Literal["", "stored", "written"]
"""The last change on the screen: something remembered or corrected, a note, or something forgotten or undone."""


class MemoryPane(PartsPane):
    """The Memory screen: the list of memories, the selected one, and what a recall would return.

    The list is read when the screen is shown, and again after changes of the memory. Medium widths show two parts.
    """

    rows = query_one(MemoryList)
    card = query_one(MemoryCard)
    recall = query_one(RecallPanel)
    notice = query_one("#memory-notice", Notice)
    BINDINGS = bindings("memory")
    parts = ("list", "text", "recall")
    places = ("list", "text", "ask", "recall")
    reload_delay = 0.4
    words = query_one("#memory-words", MemoryInput)

    def __init__(self, programs: ExternalPrograms) -> None:
        super().__init__("memory", programs)
        self._forgotten: list[MemoryChunk] = []
        self._retained: dict[int, MemoryChunk] = {}
        self._suggestions: tuple[Suggestion, ...] = ()
        self._last_change: LastChange = ""
        self._list_filter = wording.ListFilter()
        self._filling: Timer | None = None
        self._opened_from = "list"

    def compose(self) -> ComposeResult:
        with Vertical(id="memory-part"):
            with Panel("Remembered", id="memory-list", name="list"):
                yield Static(id="memory-head", classes="one-line")
                with Horizontal(id="memory-filter"):
                    yield Static(Content("/"), classes="prompt")
                    yield MemoryInput(placeholder="words in memories", compact=True, id="memory-words")
                yield MemoryList(id="memories")
                yield Notice(id="memory-notice")
                yield Static(id="memory-suggestion", classes="one-line")
                yield Static(id="memory-note")
            yield MemoryCard("Memory", id="memory-card", name="text")
        yield RecallPanel()

    def on_mount(self) -> None:
        self.words.focus_after = lambda: self._part("list")
        self._show_notice(wording.LOADING)

    @property
    def selected(self) -> MemoryChunk | None:
        """Return the memory that actions apply to: that of the current list, or of the one the card was opened from."""
        return self.recall.rows.selected if self._is_in_recall else self.rows.selected

    def connect(self, backend: Backend) -> None:
        super().connect(backend)
        self._set_status(backend.status())

    def action_state(self, base: ActionState) -> ActionState:
        memory = self.selected
        return replace(
            base,
            memory=memory is not None,
            no_open=base.no_editor if memory is not None and memory.note else "",
            no_forget=wording.why_no_forgetting(memory),
            no_suggestion="" if self._suggestions else "No preference from a chat is waiting to be confirmed.",
            no_bring_back="" if self._forgotten or self.vault_flows is not None else wording.NOTHING_TO_UNDO,
            no_tick=wording.why_no_tick(memory),
            no_writing="" if self.vault_flows is not None else "The vault is still being opened.",
            no_prompt=wording.why_no_prompt(self.recall.result),
            no_budget="" if self.recall.region else f"The recall is not visible; {shown_key('search.focus')} shows it.",
            filtered=self._list_filter.is_active,
        )

    def go_back(self) -> None:
        if self.screen.focused is self.words:
            self.set_class(bool(self.words.value), "-filtering")
            self.show_part("list")
        elif self._is_at("text"):
            self.show_part(self._opened_from)
            self._follow()
        elif self.screen.focused is self.recall.input:
            self.show_part("recall")
        elif self._is_at("recall"):
            self.show_part("list")
        elif self._list_filter.is_active:
            self.action_memory_all()

    def _set_part(self, part: str) -> None:
        """Set the current part, and update the card for its selection."""
        before = self._is_in_recall
        if part == "text" and not self._is_at("text"):
            self._opened_from = "recall" if self._is_at("recall") else "list"
        super()._set_part(part)
        if before != self._is_in_recall:
            self._follow()

    def on_engine_events(self, event: EngineEvents) -> None:
        if any(isinstance(posted, _ABOUT_MEMORY) for posted in event.events):
            self.reload_soon()

    def on_status_changed(self, event: StatusChanged) -> None:
        self._set_status(event.status)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        if not self._is_in_recall:
            self._follow()

    def on_recall_panel_changed(self, event: RecallPanel.Changed) -> None:
        event.stop()
        if self._is_in_recall:
            self._follow()
        self.post_message(ActionsChanged())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._set_filter(replace(self._list_filter, text=event.value))

    def action_memory_source(self) -> None:
        self._set_filter(self._list_filter.next_source())

    def action_memory_tasks(self) -> None:
        self._set_part("list")
        self._set_filter(self._list_filter.only_tasks())
        if not self.has_class("-empty"):
            self.screen.set_focus(self.rows)

    def action_memory_age(self) -> None:
        self._set_filter(self._list_filter.next_age())

    def action_memory_words(self) -> None:
        self._set_part("list")
        self.add_class("-filtering")
        self.screen.set_focus(self.words)

    def action_memory_all(self) -> None:
        with self.words.prevent(Input.Changed):
            self.words.value = ""
        self.remove_class("-filtering")
        self._set_filter(wording.ListFilter())

    def action_memory_less(self) -> None:
        self.recall.bar.step(-1)

    def action_memory_more(self) -> None:
        self.recall.bar.step(1)

    def action_memory_next(self) -> None:
        (self.recall.rows if self._is_in_recall else self.rows).action_cursor_down()

    def action_memory_previous(self) -> None:
        (self.recall.rows if self._is_in_recall else self.rows).action_cursor_up()

    def action_memory_refresh(self) -> None:
        self._retained = {}
        self.reload()
        self.recall.ask()

    def action_search_focus(self) -> None:
        """Focus the question for a recall: on this screen, the memory is searched."""
        self._set_part("recall")
        self.recall.focus_input()

    def _set_status(self, status: Status) -> None:
        show_label(self.query_one("#memory-note", Static), Content(wording.read_only_note(status)))

    def _part(self, place: str) -> Widget:
        first = self.notice if self.has_class("-empty") else self.rows
        parts = {"list": first, "text": self.card.view, "ask": self.recall.input, "recall": self.recall.list}
        return parts[place]

    @property
    def _is_in_recall(self) -> bool:
        """Return whether the recall is current, or the card was opened from it."""
        return self._is_at("recall") or (self._is_at("text") and self._opened_from == "recall")

    async def action_memory_open(self) -> None:
        memory = self.selected
        if memory is not None and memory.note:
            self.post_message(EditNote(memory.note, memory.start_line))
        elif memory is not None:
            self._read_around(memory)

    def action_memory_copy_citation(self) -> None:
        if self.selected is not None:
            self._programs.copy(wording.citation_text(self.selected), "The citation")

    def action_memory_copy_text(self) -> None:
        if self.selected is not None:
            self._programs.copy(f"{own_text(self.selected)}\n\n{wording.citation_text(self.selected)}\n", "The memory")

    def action_memory_copy_prompt(self) -> None:
        result = self.recall.result
        if result is not None:
            self._programs.copy(self.backend.memory.prompt(result), "The block for the prompt")

    def action_memory_bring_back(self) -> None:
        if self._last_change == "stored":
            key = shown_key("memory.forget")
            self.notify(f"To undo it, select what you stored and forget it: {key}.", timeout=6)
        elif self._forgotten and self._last_change != "written":
            self._restore(self._forgotten[-1])
        else:
            self._change(partial(self.flows.step_back, OperationKind.UNDO))

    def action_memory_redo(self) -> None:
        self._change(partial(self.flows.step_back, OperationKind.REDO))

    def action_memory_add_task(self) -> None:
        self._change(self.flows.add_task)

    def action_memory_tick(self) -> None:
        memory = self.selected
        if memory is not None:
            self._change(partial(self.flows.tick, memory.note, memory.source_id.rpartition("#")[2]))

    @one_dialog("change")
    async def _change(self, flow: Callable[[], Awaitable[Outcome | None]]) -> None:
        outcome = await flow()
        if outcome is not None:
            self._last_change = "" if outcome.kind is OperationKind.UNDO else "written"
            self.reload_soon()

    @one_dialog("remember")
    async def action_memory_remember(self) -> None:
        examples = "I prefer short answers · The server is called cassius"
        stored = "It is stored on this machine, found in search, and recalled where it fits."
        window = LinePrompt("Remember", "remember it", placeholder=examples, hint_for=lambda _: stored)
        text = await self.app.push_screen_wait(window)
        if text is None:
            return
        with showing_errors(self):
            for held, _ in await self.backend.memory.would_replace(text):
                what = f"“{one_line(text)}” replaces “{one_line(held.content)}”."
                refusal = Refusal("Replace it?", what, "")
                if not await self.app.push_screen_wait(RefusalScreen(refusal, does="replace it")):
                    return
            made = await self.backend.memory.remember(text)
            self.rows.next_memory = next((each.id for each in made), "")
            self.rows.select(0)  # the newest ones are read
            self._last_change = "stored"
            self.notify("Remembered.", timeout=3)
            self.reload_soon()

    @work(group="read-around", exclusive=True)
    async def _read_around(self, memory: MemoryChunk) -> None:
        with showing_errors(self):
            passage = await self.backend.passage(memory.source_id, memory.start_line, memory.end_line)
            if memory == self.selected:
                self.card.view.show_passage(passage)
                self.show_part("text")

    @work(group="pin", exclusive=True)
    async def action_memory_pin(self) -> None:
        memory = self.selected
        if memory is None:
            return
        with showing_errors(self):
            await self.backend.memory.pin(memory.id, pinned=not memory.pinned)
            self.rows.mark(memory.id, pinned=not memory.pinned)
            self.recall.mark(memory.id, pinned=not memory.pinned)
            self.reload_soon()

    @one_dialog("correct")
    async def action_memory_correct(self) -> None:
        memory = self.selected
        if memory is None:
            return
        stored = await correct(
            self.app,
            self.backend.memory,
            identity=memory.id,
            text=own_text(memory),
            citation=citation_of(memory),
            becomes=correction_effect(memory.source),
            query=self.recall.query_text if memory.score else "",
        )
        if stored:
            self._last_change = "stored"
            self.reload_soon()

    @one_dialog("forget")
    async def action_memory_forget(self) -> None:
        memory = self.selected
        if memory is None:
            return
        citation, means = wording.forget_effect(memory)
        window = ForgetScreen(one_line(own_text(memory)), citation, means)
        for_good = await self.app.push_screen_wait(window)
        if for_good is None:
            return
        with showing_errors(self):
            await self.backend.memory.forget(memory.id, for_good=for_good)
            if for_good:
                self.notify("Forgotten for good.", timeout=4)
            else:
                self._last_change = ""
                self._forgotten.append(replace(memory, forgotten=True))
                places = self.rows.places_of(memory.id)
                self._retained |= {place: replace(each, forgotten=True) for place, each in places.items()}
                self.notify(f"Forgotten. {shown_key('memory.bring-back')} restores it.", timeout=4)
            self.rows.mark(memory.id, forgotten=True)
            self.recall.mark(memory.id, forgotten=True)
            self.reload_soon()

    @one_dialog("forget")
    async def _restore(self, memory: MemoryChunk) -> None:
        with showing_errors(self):
            await self.backend.memory.restore(memory.id)
            self._forgotten.remove(memory)
            self._retained = {place: each for place, each in self._retained.items() if each.id != memory.id}
            self.rows.mark(memory.id, forgotten=False)
            self.notify("Restored.", timeout=3)
            self.reload_soon()

    @one_dialog("suggestions")
    async def action_memory_suggestions(self) -> None:
        window = SuggestionScreen(self.backend.memory, self._suggestions)
        remembered = await self.app.push_screen_wait(window)
        if remembered:
            self.notify(f"{plural(remembered, 'preference')} remembered.", timeout=4)
        self.reload_soon()

    def on_memory_list_rows_missing(self, event: MemoryList.RowsMissing) -> None:
        event.stop()
        if self._filling is None:
            self._filling = self.set_timer(FILL, self._read_missing)

    def reload(self) -> None:
        """Reload the list; while hidden, once it is shown."""
        self._is_stale = not self.display
        if self._backend is not None and not self._is_stale:
            self._load(self._backend)

    def _reload_all(self) -> None:
        self.reload()
        self.recall.ask()

    @work(group="load", exclusive=True)
    async def _load(self, backend: Backend) -> None:
        wanted = self._list_filter.wanted(time.time())
        pages = self.rows.visible_pages
        try:
            service = backend.memory
            self.recall.connect(service)
            total = await service.count(wanted)
            found = {page: await service.memories(wanted, limit=PAGE, skip=page * PAGE) for page in pages}
            self._suggestions = await service.suggestions()
            still_missing = {memory.id for memory in self._retained.values() if await service.memory(memory.id) is None}
        except DonnaError as error:
            self._show_notice(error_notice(error, ("memory.refresh", "try again")))
            return
        retained = {place: each for place, each in self._retained.items() if each.id in still_missing}
        self._report(total, bool(retained))
        show_label(self.query_one("#memory-suggestion", Static), wording.suggestion_line(self._suggestions))
        self.rows.show(total, found, retained)
        self._follow()

    @work(group="fill", exclusive=True)
    async def _read_missing(self) -> None:
        self._filling = None
        wanted = self._list_filter.wanted(time.time())
        for page in self.rows.missing:
            try:
                found = await self.backend.memory.memories(wanted, limit=PAGE, skip=page * PAGE)
            except DonnaError as error:
                self._show_notice(error_notice(error, ("memory.refresh", "try again")))
                return
            self.rows.fill(page, found)

    def _set_filter(self, list_filter: wording.ListFilter) -> None:
        if list_filter != self._list_filter:
            self._list_filter = list_filter
            self._retained = {}
            self.rows.select(0)
            self.reload()

    def _report(self, total: int, has_retained: bool) -> None:
        if not total and not has_retained and not self._list_filter.is_active:
            self._show_notice(wording.NOTHING_YET)
            return
        self._hide_notice(self.rows)
        self.rows.empty_text = f"No memories match: {self._list_filter}. {shown_key('memory.all')} lists everything."
        self._show_head(wording.list_head(self._list_filter, total))

    def _show_head(self, words: str) -> None:
        style = "$text-accent" if self._list_filter.is_active else "$text-disabled"
        self.query_one("#memory-head", Static).update(Content.styled(words, style))

    def _show_notice(self, words: NoticeText) -> None:
        self._set_notice(words, takes_focus=self.rows.has_focus)
        self._show_head("")
        self._follow()

    def _follow(self) -> None:
        self.card.show(self.selected)
        self.post_message(ActionsChanged())
