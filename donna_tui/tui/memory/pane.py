"""The Memory screen: what is remembered and why, and what a prompt would contain for a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.inputs import Notice, Words, set_label
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.keymap import Keys
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.messages import ActionsChanged, EngineEvents, StatusChanged
from donna_tui.tui.memory.card import MemoryCard, note_of
from donna_tui.tui.memory.flows import MemoryReading
from donna_tui.tui.memory.list import MemoryList
from donna_tui.tui.memory.recall_panel import MemoryInput, RecallPanel
from donna_tui.tui.memory.wording import (
    LOADING,
    NOTHING_TO_UNDO,
    Narrowing,
    why_no_forgetting,
    why_no_prompt,
    why_no_tick,
    why_not_kept_true,
)
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import BackfillDone, EngineEvent, IndexSwapped, NoteDeleted, NoteEmbedded, SourceIngested
from donna_tui.types.memory import MemoryChunk
from donna_tui.types.status import Status

PLACES = ("list", "text", "ask", "recall")
_ABOUT_MEMORY = (SourceIngested, BackfillDone, IndexSwapped, NoteEmbedded, NoteDeleted)


class MemoryPane(MemoryReading):
    """The layout of the Memory screen. The width decides which parts are visible: the classes `-on-list`, `-on-text`
    and `-on-recall` name the current part.

    The list is read when the screen is shown, and again after changes of the memory.
    """

    BINDINGS = bindings("memory")

    words = query_one("#memory-words", MemoryInput)

    def __init__(self, outside: ExternalPrograms, keys: Keys) -> None:
        super().__init__(outside, keys)
        self._status: Status | None = None
        self._came_from = "list"

    def compose(self) -> ComposeResult:
        with Vertical(id="memory-part"):
            with Panel("Remembered", id="memory-list"):
                yield Static(id="memory-head")
                with Horizontal(id="memory-filter"):
                    yield Static(Content("/"), id="memory-prompt")
                    yield MemoryInput(placeholder="words that memories hold", compact=True, id="memory-words")
                yield MemoryList(id="memories")
                yield Notice(keys=self._keys, id="memory-notice")
                yield Static(id="memory-suggestion")
                yield Static(id="memory-note")
            yield MemoryCard("Memory", id="memory-card")
        yield RecallPanel(self._keys, id="recall")

    def on_mount(self) -> None:
        self._say(LOADING)

    @property
    def selected(self) -> MemoryChunk | None:
        """The memory that actions apply to: that of the current list, or of the one the card was opened from."""
        return self.recall.selected if self._is_in_recall else self.rows.selected

    def connect(self, backend: Backend) -> None:
        """Connect to the backend; the list is read once the screen is shown."""
        self._backend = backend
        self._take_status(backend.status())
        self.look()

    def cannot_open(self, error: DonnaError) -> None:
        """Show why there is no engine."""
        self._say(Words(sentence(error.message), sentence(error.hint or ""), is_error=True))

    def action_state(self, base: ActionState) -> ActionState:
        """Return the state that decides which actions are possible."""
        memory = self.selected
        return replace(
            base,
            pane="memory",
            typing=isinstance(self.screen.focused, Input),
            memory=memory is not None,
            no_open=base.no_editor if memory is not None and note_of(memory) else "",
            no_forget=why_no_forgetting(memory),
            no_suggestion="" if self._suggestions else "No preference that was stated in a chat waits for an answer.",
            no_bring_back="" if self._forgotten or self._writing is not None else NOTHING_TO_UNDO,
            no_tick=why_no_tick(memory),
            no_writing="" if self._writing is not None else "The vault is still being opened.",
            no_prompt=why_no_prompt(self.recall.result),
            filtered=self._narrowing.is_narrow,
        )

    def focus_first(self) -> None:
        """Focus the list, or the notice in its place."""
        self.go("list")

    def go_back(self) -> bool:
        """Go one level out. Return False if this is the outermost one."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.screen.focused is self.words:
            self._end_words()
        elif self._is_at("text"):
            self.go(self._came_from)
            self._follow()
        elif self.screen.focused is self.recall.input:
            self.go("recall")
        elif self._is_at("recall"):
            self.go("list")
        elif self._narrowing.is_narrow:
            self.action_memory_all()
        else:
            return False
        return True

    def go(self, place: str) -> None:
        """Focus a part, and show it on narrow screens."""
        if place == "text" and not self._is_at("text"):
            self._came_from = "recall" if self._is_at("recall") else "list"
        self._place("recall" if place == "ask" else place)
        self.screen.set_focus(self._part(place))

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the visible rows and parts."""
        for rows in (self.rows, self.recall.rows):
            if rows.is_on_screen and rows.region:
                yield from rows.jump_targets()
        for widget in (self.card.view, self.recall.input):
            if widget.is_on_screen and widget.region:
                yield JumpTarget(*widget.region.offset, go=widget.focus)

    def on_descendant_focus(self) -> None:
        """Show the part with the focus on narrow screens, and update the card for its selection."""
        focused = self.screen.focused
        before = self._is_in_recall
        if focused in (self.rows, self.notice, self.words):
            self._place("list")
        elif focused is self.card.view and not self._is_at("text"):
            self._came_from = "recall" if self._is_at("recall") else "list"
            self._place("text")
        elif focused is not None and self.recall in focused.ancestors:
            self._place("recall")
        if before != self._is_in_recall:
            self._follow()

    def on_engine_events(self, event: EngineEvents) -> None:
        """Schedule reading the list after something was remembered or forgotten."""
        if any(map(_is_about_memory, event.events)):
            self.look_soon()

    def on_status_changed(self, event: StatusChanged) -> None:
        """Show a note while another process maintains the index."""
        self._take_status(event.status)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Update the card for the selected row of the list."""
        event.stop()
        if not self._is_in_recall:
            self._follow()

    def on_recall_panel_changed(self, event: RecallPanel.Changed) -> None:
        """Update the card for the selected row of the recall."""
        event.stop()
        if self._is_in_recall:
            self._follow()
        self.post_message(ActionsChanged())

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Open the row on a double click, as Enter does."""
        event.stop()
        self.call_later(self.app.run_action, "run('memory.open')", self.screen)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list while typing."""
        event.stop()
        self._narrow(replace(self._narrowing, text=event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Focus the filtered list on Enter."""
        event.stop()
        self.go("list")

    def action_memory_source(self) -> None:
        """List the next source."""
        self._narrow(self._narrowing.next_source())

    def action_memory_tasks(self) -> None:
        """List the tasks, or everything else again."""
        self._place("list")
        self._narrow(self._narrowing.only_tasks())
        if not self.has_class("-empty"):
            self.screen.set_focus(self.rows)

    def action_memory_type(self) -> None:
        """List the next type."""
        self._narrow(self._narrowing.next_type())

    def action_memory_age(self) -> None:
        """List the next period."""
        self._narrow(self._narrowing.next_age())

    def action_memory_words(self) -> None:
        """Filter by words."""
        self._place("list")
        self.add_class("-filtering")
        self.screen.set_focus(self.words)

    def action_memory_all(self) -> None:
        """List everything again."""
        with self.words.prevent(Input.Changed):
            self.words.value = ""
        self.remove_class("-filtering")
        self._narrow(Narrowing())

    def action_memory_less(self) -> None:
        """Reduce the budget."""
        self.recall.step(-1)

    def action_memory_more(self) -> None:
        """Increase the budget."""
        self.recall.step(1)

    def action_memory_next(self) -> None:
        """Select the next row."""
        (self.recall.rows if self._is_in_recall else self.rows).action_cursor_down()

    def action_memory_previous(self) -> None:
        """Select the previous row."""
        (self.recall.rows if self._is_in_recall else self.rows).action_cursor_up()

    def action_memory_refresh(self) -> None:
        """Read the list again, and recall again."""
        self._kept = {}
        self.look()
        self.recall.ask_again()

    def action_search_focus(self) -> None:
        """Focus the question for a recall: on this screen, the memory is searched."""
        self._place("recall")
        self.recall.focus_input()

    def action_view_next(self) -> None:
        """Go to the next part, even if it is not visible."""
        self._walk(1)

    def action_view_previous(self) -> None:
        """Go to the previous part."""
        self._walk(-1)

    def action_view_zoom(self) -> None:
        """Zoom the part with the focus, or restore the layout."""
        self.toggle_class("-zoomed")

    def _take_status(self, status: Status) -> None:
        self._status = status
        words = why_not_kept_true(status)
        note = self.query_one("#memory-note", Static)
        set_label(note, Content(words))
        note.display = bool(words)

    def _end_words(self) -> None:
        if not self.words.value:
            self.remove_class("-filtering")
        self.go("list")

    def _walk(self, by: int) -> None:
        here = self.screen.focused
        place = next((each for each in PLACES if self._part(each) is here), "list")
        self.go(PLACES[(PLACES.index(place) + by) % len(PLACES)])

    def _part(self, place: str) -> Widget:
        first = self.notice if self.has_class("-empty") else self.rows
        parts = {"list": first, "text": self.card.view, "ask": self.recall.input, "recall": self.recall.list}
        return parts[place]

    @property
    def _is_in_recall(self) -> bool:
        """Whether the recall is current, or the card was opened from it."""
        return self._is_at("recall") or (self._is_at("text") and self._came_from == "recall")

    def _is_at(self, place: str) -> bool:
        """Return whether a part is the current one, which is set before the focus follows."""
        return self.has_class(f"-on-{place}")

    def _place(self, place: str) -> None:
        for each in ("list", "text", "recall"):
            self.set_class(each == place, f"-on-{each}")


def _is_about_memory(event: EngineEvent) -> bool:
    return isinstance(event, _ABOUT_MEMORY)
