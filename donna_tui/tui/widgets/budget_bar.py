"""The budget of a recall as a slider, and how much of it the answer takes as a meter."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from donna_tui.tui.humanize import count

STEPS = (100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000, 32_000)
"""Budgets to choose from: as fine as the difference matters."""

_LABEL = 8
_NUMBER = 7


def steps_with(budget: int) -> tuple[int, ...]:
    """The steps, with the configured budget among them."""
    return tuple(sorted({*STEPS, budget})) if budget > 0 else STEPS


class BudgetBar(Widget):
    """Two lines: the slider, which keys, a click, dragging and the wheel move; and the meter."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "budget--label",
        "budget--knob",
        "budget--track",
        "budget--used",
        "budget--free",
        "budget--number",
    }

    budget: reactive[int] = reactive(0)
    used: reactive[int | None] = reactive[int | None](None)

    class Chosen(Message):
        """Another budget was chosen."""

        def __init__(self, budget: int) -> None:
            super().__init__()
            self.budget = budget

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._steps = steps_with(0)

    def begin(self, budget: int) -> None:
        """Begin with the configured budget."""
        self._steps = steps_with(budget)
        self.budget = budget or STEPS[0]

    def step(self, by: int) -> None:
        """Go `by` steps on, as far as there are any."""
        self._choose(self._place + by)

    def render(self) -> Content:
        width = max(1, self.content_size.width - _LABEL - _NUMBER - 1)
        return Content("\n").join((self._slider(width), self._meter(width)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the knob, and bring it under the mouse."""
        self.capture_mouse()
        self._choose_at(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the knob."""
        if self.app.mouse_captured is self:
            self._choose_at(event)

    def on_mouse_up(self) -> None:
        """Let the knob go."""
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """More."""
        event.stop()
        self.step(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Less."""
        event.stop()
        self.step(-1)

    @property
    def _place(self) -> int:
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
        knob = round(self._place / (len(self._steps) - 1) * (width - 1))
        return Content.assemble(
            ("budget".ljust(_LABEL), ".budget--label"),
            ("─" * knob, ".budget--track"),
            ("●", ".budget--knob"),
            ("─" * (width - 1 - knob), ".budget--track"),
            (f" {count(self.budget):>{_NUMBER}}", ".budget--number"),
        )

    def _meter(self, width: int) -> Content:
        used = self.used
        label = Content.styled("used".ljust(_LABEL), ".budget--label")
        if used is None:
            return Content.assemble(label, ("━" * width, ".budget--free"))
        filled = min(width, -(-width * used // self.budget)) if self.budget else 0
        return Content.assemble(
            label,
            ("━" * filled, ".budget--used"),
            ("━" * (width - filled), ".budget--free"),
            (f" {count(used):>{_NUMBER}}", ".budget--number"),
        )
