"""Jump mode: a letter on everything in sight; typing it goes there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from donna_tui.records import dataclass
from donna_tui.tui.widgets.modal import Modal

LABELS = "asdfghjklqwertyuiopzxcvbnm"


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A cell of the screen to put a label on, and what happens when the label is typed."""

    x: int
    y: int
    go: Callable[[], object]


@runtime_checkable
class HasJumpTargets(Protocol):
    """A widget with more than one place to jump to."""

    def jump_targets(self) -> Iterable[JumpTarget]: ...


class JumpOverlay(Modal[JumpTarget]):
    """Shows the labels over the screen; any other key, or a click, leaves."""

    def __init__(self, targets: Iterable[JumpTarget]) -> None:
        super().__init__(id="jump")
        self._targets = dict(zip(LABELS, targets, strict=False))

    def compose(self) -> ComposeResult:
        for letter, target in self._targets.items():
            label = Static(Content(f" {letter} "), classes="jump-label")
            label.styles.offset = (target.x, target.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(self._targets.get(event.character or ""))

    def on_click(self, event: events.Click) -> None:
        self.dismiss(None)
