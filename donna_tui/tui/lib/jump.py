"""Jump mode: label every visible target with a letter, or two if there are many; typing a label opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.tui.lib.dialogs import Modal

LABELS = "asdfghjklqwertyuiopzxcvbnm"


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A cell of the screen to label, and the action for its label."""

    x: int
    y: int
    go: Callable[[], object]


@runtime_checkable
class HasJumpTargets(Protocol):
    """A widget with more than one place to jump to."""

    def jump_targets(self) -> Iterable[JumpTarget]: ...


def visible_targets(widgets: Iterable[Widget]) -> Iterator[JumpTarget]:
    """Yield the targets within each visible widget, and the widget itself where it has no other one."""
    for widget in widgets:
        if widget.is_on_screen and widget.region:
            inside = list(widget.jump_targets()) if isinstance(widget, HasJumpTargets) else []
            yield from inside
            if widget.region.offset not in {(target.x, target.y) for target in inside}:
                yield JumpTarget(*widget.region.offset, go=widget.focus)


class JumpOverlay(Modal[JumpTarget]):
    """Show the labels over the screen; any other key, a click or another size of the terminal closes it."""

    def __init__(self, targets: Iterable[JumpTarget]) -> None:
        super().__init__(classes="jump")
        self._typed = ""
        self._targets = labelled(tuple(targets))

    def compose(self) -> ComposeResult:
        self._fits = self.app.size
        for name, target in self._targets.items():
            label = Static(Content(f" {name} "), classes="jump-label", name=name)
            label.styles.offset = (target.x, target.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self._typed += event.character or " "
        if not any(name.startswith(self._typed) and name != self._typed for name in self._targets):
            self.dismiss(self._targets.get(self._typed))
            return
        for label in self.query(".jump-label"):
            label.display = (label.name or "").startswith(self._typed)

    def on_click(self, event: events.Click) -> None:
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        if event.size != self._fits:  # the targets are elsewhere now
            self.dismiss(None)


def jump(widget: Widget, targets: Sequence[JumpTarget], *, if_none: str) -> None:
    """Go to the only target, or to the one of several whose label is typed; without any, show `if_none`."""
    if not targets:
        widget.notify(if_none, timeout=3)
    elif len(targets) == 1:
        targets[0].go()
    else:
        widget.app.push_screen(JumpOverlay(targets), lambda target: target.go() if target else None)


def labelled(targets: Sequence[JumpTarget]) -> dict[str, JumpTarget]:
    """Assign labels to targets: one letter each, or two each if there are not enough letters."""
    pairs = (first + second for first in LABELS for second in LABELS)
    names = LABELS if len(targets) <= len(LABELS) else pairs
    return dict(zip(names, targets, strict=False))
