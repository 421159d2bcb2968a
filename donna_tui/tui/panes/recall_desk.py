"""The right part of the Memory screen: a question, a budget, and what a prompt would get for it."""

from __future__ import annotations

from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.errors import DonnaError
from donna_tui.memories import Cut, MemoryChunk, RecallResult
from donna_tui.tui.backend import MemoryBackend
from donna_tui.tui.bindings import bindings
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.panes.memory_state import LOADING, NOT_ASKED, cannot_recall, nothing_recalled, recall_facts
from donna_tui.tui.panes.recalling import Recalling
from donna_tui.tui.widgets.budget_bar import BudgetBar
from donna_tui.tui.widgets.line_input import LineInput
from donna_tui.tui.widgets.memory_list import marked
from donna_tui.tui.widgets.notice import Notice, Words
from donna_tui.tui.widgets.panel import make_panel
from donna_tui.tui.widgets.recall_list import RecallList
from donna_tui.tui.widgets.row_list import RowList


class MemoryInput(LineInput):
    """An input whose up and down keys move the list that it belongs to."""

    BINDINGS = bindings("memory.input")


class RecallDesk(Vertical):
    """Asks while one types. The last answer stays until the next one is there, so nothing flickers."""

    input = query_one(MemoryInput)
    bar = query_one(BudgetBar)
    rows = query_one(RecallList)
    notice = query_one(Notice)

    class Changed(Message):
        """Another answer or row is there."""

    def __init__(self, keys: Keys, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes="-empty")
        make_panel(self, "Recall")
        self._keys = keys
        self._recalling = Recalling(self, self._answered, self._failed)
        self._result: RecallResult | None = None
        self._is_connected = False

    def compose(self) -> ComposeResult:
        with Horizontal(id="recall-ask"):
            yield Static(Content("❯"), id="recall-prompt")
            yield MemoryInput(placeholder="Ask what is remembered", compact=True, select_on_focus=False)
        yield BudgetBar(id="recall-budget")
        yield RecallList(id="recall-rows")
        yield Notice(keys=self._keys, id="recall-notice")
        yield Static(id="recall-facts")

    def on_mount(self) -> None:
        self._say(NOT_ASKED)

    @property
    def result(self) -> RecallResult | None:
        """What the last recall gave; None while nothing is asked."""
        return self._result

    @property
    def selected(self) -> MemoryChunk | None:
        """The memory under the cursor."""
        return self.rows.selected

    @property
    def query_text(self) -> str:
        """What is asked."""
        return self._recalling.query

    @property
    def list(self) -> Widget:
        """The list, or the notice in its place."""
        return self.notice if self.has_class("-empty") else self.rows

    def connect(self, desk: MemoryBackend) -> None:
        """Begin to recall, once; what was typed meanwhile is asked at once."""
        if self._is_connected:
            return
        self._is_connected = True
        self.bar.begin(desk.token_budget)
        self._recalling.budget = self.bar.budget
        self._recalling.connect(desk)

    def ask_again(self) -> None:
        """The same question once more."""
        self._recalling.ask()

    def mark(self, identity: str, *, pinned: bool | None = None, forgotten: bool | None = None) -> None:
        """Show at once what was done with a memory; the next answer follows the index."""
        if self._result is not None and not self.has_class("-empty"):
            self._result = marked_result(self._result, identity, pinned, forgotten)
            self.rows.show(self._result)

    def step(self, by: int) -> None:
        """Change the budget."""
        self.bar.step(by)

    def focus_input(self) -> None:
        """Begin to type, with the old question selected so that typing replaces it."""
        self.screen.set_focus(self.input)
        self.input.action_select_all()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Recall what is typed; an empty question shows what can be asked."""
        event.stop()
        self._recalling.typed(event.value)
        if self._recalling.is_empty:
            self._result = None
            self._say(NOT_ASKED)
        elif self._result is None and not self.notice.has_focus:
            self._say(LOADING)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to what was recalled."""
        event.stop()
        self.list.focus()

    def on_budget_bar_chosen(self, event: BudgetBar.Chosen) -> None:
        """Recall within another budget."""
        event.stop()
        self._recalling.within(event.budget)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Tell the screen."""
        event.stop()
        self.post_message(self.Changed())

    def _answered(self, result: RecallResult) -> None:
        self._result = result
        if not result.memories and not result.cut:
            self._say(nothing_recalled(result.query, result.note))
            return
        was_said = self.notice.has_focus
        self.remove_class("-empty")
        self.bar.used = result.total_tokens
        self.rows.show(result)
        self.query_one("#recall-facts", Static).update(Content.styled(recall_facts(result), "$text-disabled"))
        if was_said:
            self.rows.focus()
        self.post_message(self.Changed())

    def _failed(self, error: DonnaError) -> None:
        self._result = None
        self._say(cannot_recall(error))

    def _say(self, words: Words) -> None:
        """Show words instead of the list."""
        had_focus = self.rows.has_focus
        self.bar.used = None
        self.rows.show(None)
        self.notice.say(words)
        self.query_one("#recall-facts", Static).update(Content(""))
        self.add_class("-empty")
        if had_focus:
            self.notice.focus()
        self.post_message(self.Changed())


def marked_result(result: RecallResult, identity: str, pinned: bool | None, forgotten: bool | None) -> RecallResult:
    """A recall in which a memory is pinned or forgotten; what is forgotten is in no prompt any more."""
    memories = [marked(each, identity, pinned, forgotten) for each in result.memories]
    cut = [Cut(marked(each.memory, identity, pinned, forgotten), each.why) for each in result.cut]
    return replace(
        result,
        memories=tuple(each for each in memories if not each.forgotten),
        cut=tuple(each for each in cut if not each.memory.forgotten),
    )
