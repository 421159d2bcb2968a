"""Ask for a recall within a budget, and show what a prompt would contain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import make_panel
from donna_tui.tui.lib.humanize import count, plural
from donna_tui.tui.lib.inputs import LineInput, Notice, NoticeText, error_notice
from donna_tui.tui.lib.lines import ItemList, RowList, row_of
from donna_tui.tui.memory.list import marked, omitted_line, packed_line
from donna_tui.tui.memory.wording import LOADING, NO_QUESTION, nothing_recalled, recall_facts
from donna_tui.types.errors import DonnaError
from donna_tui.types.memory import MemoryChunk, Omitted, RecallResult

if TYPE_CHECKING:
    from donna_tui.engine.memory_service import MemoryService

GAP = 0.12
"""Seconds between two recalls while typing or moving the slider: a recall counts tokens in addition to searching."""


STEPS = (100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000)
"""Budgets to choose from, in steps that make a difference."""

_LABEL = 8
_NUMBER = 7


class BudgetBar(Widget):
    """A slider, which is moved by keys, clicks, dragging and the mouse wheel, above a meter of the tokens used."""

    budget: reactive[int] = reactive(0)
    used: reactive[int | None] = reactive[int | None](None)

    @dataclass
    class Chosen(Message):
        budget: int

    _steps: tuple[int, ...] = STEPS

    def begin(self, budget: int) -> None:
        self._steps = tuple(sorted({*STEPS, budget} - {0}))
        self.budget = budget or STEPS[0]

    def step(self, by: int) -> None:
        self._choose(self._step + by)

    def render(self) -> Content:
        width = max(1, self.content_size.width - _LABEL - _NUMBER - 1)
        return Content("\n").join((self._slider(width), self._meter(width)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._choose_at(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._choose_at(event)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.step(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.step(-1)

    @property
    def _step(self) -> int:
        return min(bisect_left(self._steps, self.budget), len(self._steps) - 1)

    def _choose(self, place: int) -> None:
        budget = self._steps[max(0, min(place, len(self._steps) - 1))]
        if budget != self.budget:
            self.budget = budget
            self.post_message(self.Chosen(budget))

    def _choose_at(self, event: events.MouseEvent) -> None:
        width = max(1, self.content_size.width - _LABEL - _NUMBER - 1)
        x = event.x - self.gutter.left - _LABEL
        self._choose(round(x / max(1, width - 1) * (len(self._steps) - 1)))

    def _slider(self, width: int) -> Content:
        knob = round(self._step / (len(self._steps) - 1) * (width - 1))
        return Content.assemble(
            ("budget".ljust(_LABEL), "$text-disabled"),
            ("─" * knob, "$text-disabled"),
            ("●", "$accent"),
            ("─" * (width - 1 - knob), "$text-disabled"),
            (f" {count(self.budget):>{_NUMBER}}", "$text-muted"),
        )

    def _meter(self, width: int) -> Content:
        used = self.used
        label = Content.styled("used".ljust(_LABEL), "$text-disabled")
        if used is None:
            return Content.assemble(label, ("━" * width, "$border-blurred"))
        filled = min(width, -(-width * used // self.budget)) if self.budget else 0
        return Content.assemble(
            label,
            ("━" * filled, "$accent"),
            ("━" * (width - filled), "$border-blurred"),
            (f" {count(used):>{_NUMBER}}", "$text-muted"),
        )


RecallRow = MemoryChunk | Omitted | str
"""A memory that was packed, one that was cut, or a separator."""


class RecallList(ItemList[RecallRow]):
    """Rows of a `RecallResult`. The cursor skips separators."""

    _query = ""

    @property
    def selected(self) -> MemoryChunk | None:
        return _memory(super().selected)

    def show(self, result: RecallResult | None) -> None:
        """List a recall. For the same question the cursor stays on its memory, or else at its position."""
        query, self._query = self._query, result.query if result is not None else ""
        if query != self._query:
            self.items, self.selected_index = (), 0
        self.set_items(rows_of(result) if result is not None else (), otherwise=self.selected_index)

    def key(self, item: RecallRow) -> object:
        memory = _memory(item)
        return (memory.id, memory.content) if memory is not None else None

    def can_select(self, item: RecallRow) -> bool:
        return not isinstance(item, str)

    def row(self, index: int, width: int) -> Content:
        row = self.items[index]
        if isinstance(row, str):
            columns = "fit  tokens" if index == 0 else ""
            return row_of(Content.styled(row, "quiet"), Content.styled(columns, "quiet"), width)
        above = _memory(self.items[index - 1])
        if isinstance(row, Omitted):
            return omitted_line(row, above, width)
        return packed_line(index, row, above, width)


def rows_of(result: RecallResult) -> tuple[RecallRow, ...]:
    if not result.memories and not result.cut:
        return ()
    number = plural(len(result.memories), "memory", "memories")
    packed = f"In the prompt: {number}" if result.memories else "Nothing fits"
    cut: tuple[RecallRow, ...] = (f"Left out: {count(len(result.cut))}", *result.cut) if result.cut else ()
    return (packed, *result.memories, *cut)


def _memory(row: RecallRow | None) -> MemoryChunk | None:
    return row.memory if isinstance(row, Omitted) else row if isinstance(row, MemoryChunk) else None


class MemoryInput(LineInput):
    """An input whose up and down keys move the list that it belongs to."""

    BINDINGS = bindings("memory.input")


class RecallPanel(Vertical):
    """Recall while typing. The last answer is kept until the next arrives, to avoid flicker.

    Recalls are always made for a remote model, so that private memories are not searched.
    """

    input = query_one(MemoryInput)
    bar = query_one(BudgetBar)
    rows = query_one(RecallList)
    notice = query_one(Notice)

    class Changed(Message):
        """Posted when there is another answer, or another row is selected."""

    def __init__(self) -> None:
        super().__init__(id="recall", name="recall", classes="-empty")
        make_panel(self, "Recall")
        self.query_text = ""
        self.result: RecallResult | None = None
        """The result of the last recall; None for an empty question."""
        self._service: MemoryService | None = None
        self._number = 0
        self._last_run = -GAP
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="recall-ask"):
            yield Static(Content("❯"), classes="prompt")
            yield MemoryInput(placeholder="Ask what is remembered", compact=True, select_on_focus=False)
        yield BudgetBar(id="recall-budget")
        yield RecallList(id="recall-rows")
        yield Notice(id="recall-notice")
        yield Static(id="recall-facts")

    def on_mount(self) -> None:
        self.input.focus_after = lambda: self.list
        self._show_notice(NO_QUESTION)

    @property
    def list(self) -> Widget:
        return self.notice if self.has_class("-empty") else self.rows

    def connect(self, service: MemoryService) -> None:
        """Connect to the service once, and recall for the question typed meanwhile."""
        if self._service is None:
            self._service = service
            self.bar.begin(service.token_budget)
            self.ask()

    def ask(self) -> None:
        """Run the recall now. An empty question cancels the previous one."""
        self._number += 1
        self._last_run = monotonic()
        if not self.query_text.strip():
            self.workers.cancel_group(self, "recall")
        elif self._service is not None:
            self._recall(self._service, self._number)

    def _ask_soon(self) -> None:
        """Schedule a recall; answers to older questions are discarded."""
        self._number += 1
        wait = self._last_run + GAP - monotonic()
        if wait <= 0 or not self.query_text.strip():
            self.ask()
        elif self._timer is None:
            self._timer = self.set_timer(wait, self._ask_now)

    def _ask_now(self) -> None:
        self._timer = None
        self.ask()

    @work(group="recall", exclusive=True)
    async def _recall(self, service: MemoryService, number: int) -> None:
        try:
            result = await service.recall(self.query_text, token_budget=self.bar.budget, remote=True)
        except DonnaError as error:
            if number == self._number:
                self.result = None
                self._show_notice(error_notice(error, ("memory.refresh", "try again")))
            return
        if number == self._number:
            self._answered(result)

    def mark(self, identity: str, **flags: bool) -> None:
        """Show the effect of an action on a memory immediately; the next answer follows the index."""
        if self.result is not None and not self.has_class("-empty"):
            self.result = marked_result(self.result, identity, flags)
            self.rows.show(self.result)

    def focus_input(self) -> None:
        """Focus the input, with the old question selected so that typing replaces it."""
        self.screen.set_focus(self.input)
        self.input.action_select_all()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_text = event.value
        self._ask_soon()
        if not event.value.strip():
            self.result = None
            self._show_notice(NO_QUESTION)
        elif self.result is None and not self.notice.has_focus:
            self._show_notice(LOADING)

    def on_budget_bar_chosen(self, event: BudgetBar.Chosen) -> None:
        event.stop()
        self._ask_soon()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        self.post_message(self.Changed())

    def _answered(self, result: RecallResult) -> None:
        self.result = result
        if not result.memories and not result.cut:
            self._show_notice(nothing_recalled(result.query, result.note))
            return
        notice_had_focus = self.notice.has_focus
        self.remove_class("-empty")
        self.bar.used = result.total_tokens
        self.rows.show(result)
        self.query_one("#recall-facts", Static).update(Content.styled(recall_facts(result), "$text-disabled"))
        if notice_had_focus:
            self.rows.focus()
        self.post_message(self.Changed())

    def _show_notice(self, words: NoticeText) -> None:
        had_focus = self.rows.has_focus
        self.bar.used = None
        self.rows.show(None)
        self.notice.set_text(words)
        self.query_one("#recall-facts", Static).update(Content(""))
        self.add_class("-empty")
        if had_focus:
            self.notice.focus()
        self.post_message(self.Changed())


def marked_result(result: RecallResult, identity: str, flags: Mapping[str, bool]) -> RecallResult:
    """Return the recall with a memory's flags changed; forgotten memories are removed from it."""
    memories = [marked(each, identity, flags) for each in result.memories]
    cut = [Omitted(marked(each.memory, identity, flags), each.why) for each in result.cut]
    return replace(
        result,
        memories=tuple(memory for memory in memories if not memory.forgotten),
        cut=tuple(omitted for omitted in cut if not omitted.memory.forgotten),
    )
