"""Define the base classes of dialogs, and the dialog that explains a refusal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

from textual import events, work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.tui.lib.actions import ACTIONS
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.lib.inputs import KeyLine
from donna_tui.tui.lib.keymap import Keys, key_name
from donna_tui.tui.lib.styled import TEXT_CLASSES

T = TypeVar("T")


class ClosesOnce(Screen[T]):
    """A screen that can be dismissed only while it is the top one. `Screen.dismiss` removes whatever screen is on top,
    so the second of two quick keys would remove the screen below. A screen that is still being mounted is dismissed
    afterwards: without its children its `on_mount` would fail.
    """

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        if not self.is_mounted:
            self.call_later(self._dismiss_mounted, result)
            return AwaitComplete()
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def _dismiss_mounted(self, result: T | None) -> None:
        self.dismiss(result)  # a handler of the screen must not await this


class Modal(ClosesOnce[T | None], ModalScreen[T | None], Generic[T]):
    """A modal screen that a click outside closes."""

    BINDINGS: ClassVar[list[BindingType]] = [action_binding("app.suspend", "app.suspend_process")]

    @property
    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        """Return the footer items of the window: its keys and their effects."""
        lines = self.query(KeyLine)
        return lines.first().items if lines else (("esc", "close"),)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow only closing until the dialog is mounted: an earlier key of a burst would find no widgets."""
        return self.is_mounted or action in ("leave", "dismiss")

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Close on a click outside the window."""
        if event.widget is self:
            self.action_leave()


class Dialog(Modal[T], Generic[T]):
    """A modal dialog. Escape or a click outside closes it with None, through `action_leave`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = TEXT_CLASSES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    def __init__(self, keys: Keys) -> None:
        super().__init__(classes="dialog")
        self._keys = keys

    async def action_run(self, action_id: str) -> None:
        """Run an action of the registry; list actions apply to the focused widget."""
        action = ACTIONS[action_id]
        if action.context != "list":
            await self.app.run_action(action.method.removeprefix("action_"), self)
            return
        what = action.method.removeprefix("action_list_")
        name = {"down": "cursor_down", "up": "cursor_up"}.get(what, what)
        if self.focused is not None and hasattr(self.focused, f"action_{name}"):
            await self.app.run_action(name, self.focused)

    def shown(self, action_id: str) -> str:
        """Return the key of an action, as displayed."""
        return key_name(self._keys[action_id][0])


P = ParamSpec("P")
W = TypeVar("W", bound=Widget)


def one_dialog(
    group: str,
) -> Callable[[Callable[Concatenate[W, P], Awaitable[None]]], Callable[Concatenate[W, P], None]]:
    """Run a method in a worker of this group, unless one of the widget's is still running, so that repeated keys open
    one dialog. An exclusive worker would cancel the first one instead, perhaps in the middle of a write.
    """

    def decorate(method: Callable[Concatenate[W, P], Awaitable[None]]) -> Callable[Concatenate[W, P], None]:
        start = work(group=group)(method)

        @wraps(method)
        def begin(widget: W, /, *args: P.args, **kwargs: P.kwargs) -> None:
            running = (each for each in widget.workers if each.node is widget and each.group == group)
            if all(each.is_finished for each in running):
                start(widget, *args, **kwargs)

        return cast(Callable[Concatenate[W, P], None], begin)

    return decorate


class RefusalScreen(Dialog[bool]):
    """A dialog that shows a `Refusal`. With `does`, enter answers True; `does` describes that remedy."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer", show=False),
        Binding("q,space", "leave", show=False),
    ]

    def __init__(self, refusal: Refusal, keys: Keys, *, does: str = "", leaves: str = "leave") -> None:
        super().__init__(keys)
        self._leaves = leaves
        self._refusal = refusal
        self._does = does

    def compose(self) -> ComposeResult:
        refusal = self._refusal
        with Vertical(classes="refusal-box") as box:
            box.border_title = Content(refusal.title)
            yield Static(Content(refusal.what), classes="refusal-what")
            if refusal.path:
                yield Static(Content(refusal.path), classes="refusal-path")
            yield Static(Content(refusal.step), classes="refusal-step")
            does = [("↵", self._does)] if self._does else []
            yield KeyLine(self._keys, *does, ("esc", self._leaves))

    def action_answer(self) -> None:
        """Return True if there is a remedy, else close."""
        self.dismiss(bool(self._does))
