"""Define the base classes of dialogs, and those that all screens use: facts, texts, a refusal, a line of text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast
from weakref import WeakSet

from textual import events, work
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker

from donna_tui.tui.lib.action import Action
from donna_tui.tui.lib.actions import ACTIONS
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.error_messages import Refusal, error_text
from donna_tui.tui.lib.inputs import Item, KeyLine, LineInput
from donna_tui.tui.lib.styled import TEXT_CLASSES
from donna_tui.types.errors import DonnaError

T = TypeVar("T")


@contextmanager
def showing_errors(node: Widget | App[Any], words: Callable[[DonnaError], str] = error_text) -> Iterator[None]:
    """Show a DonnaError of the block to the user, in words."""
    try:
        yield
    except DonnaError as error:
        node.notify(words(error), severity="error", timeout=8)


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


async def run_list_action(screen: Screen[T], action: Action) -> None:
    """Run an action for lists on the widget with the focus, if it has that action."""
    what = action.method.removeprefix("action_list_")
    name = {"down": "cursor_down", "up": "cursor_up"}.get(what, what)
    if screen.focused is not None and hasattr(screen.focused, f"action_{name}"):
        await screen.app.run_action(name, screen.focused)


class Modal(ClosesOnce[T | None], ModalScreen[T | None], Generic[T]):
    """A modal screen that a click outside closes."""

    BINDINGS: ClassVar[list[BindingType]] = [action_binding("app.suspend", "app.suspend_process")]

    @property
    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        lines = self.query(KeyLine)
        return lines.first().items if lines else (("esc", "close"),)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow only closing until the dialog is mounted: an earlier key of a burst would find no widgets."""
        return self.is_mounted or action == "leave"

    def action_leave(self) -> None:
        """Close the dialog. Before it is mounted, as by a burst of keys, it has no result."""
        if self.is_mounted:
            self.leave()
        else:
            self.dismiss(None)

    def leave(self) -> None:
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.action_leave()


class Dialog(Modal[T], Generic[T]):
    """A modal dialog. Escape or a click outside closes it with None, through `action_leave`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = TEXT_CLASSES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    async def action_run(self, action_id: str) -> None:
        """Run an action of the registry; list actions apply to the focused widget."""
        action = ACTIONS[action_id]
        if action.context != "list":
            await self.app.run_action(action.method.removeprefix("action_"), self)
            return
        await run_list_action(self, action)


Facts = Sequence[tuple[str, str]]
"""Pairs of a label and a text."""

_LONGEST_DETAIL = 4_000
"""Maximum number of characters of a text that are shown."""


class DetailScreen(Dialog[None]):
    """Show sanitised facts about one problem or event in full; escape, enter or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q,space", "leave", show=False)]

    def __init__(self, title: str, facts: Facts) -> None:
        super().__init__()
        self._heading = title
        self._facts = facts

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="detail-box") as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = Content("esc close")
            for label, text in self._facts:
                if label and text:
                    yield Static(Content(label), classes="detail-label")
                if text:
                    yield Static(Content(text[:_LONGEST_DETAIL]), classes="detail-text")


P = ParamSpec("P")
W = TypeVar("W", bound=Widget)
_started: WeakSet[Worker[None]] = WeakSet()


def flow_without_dialog(app: App[Any]) -> Worker[None] | None:
    """Return a running method of `one_dialog` that is about to open its first or next dialog, or to end."""
    if isinstance(app.screen, Modal):
        return None
    return next((worker for worker in _started if not worker.is_finished and worker.node.app is app), None)


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
            running = (worker for worker in widget.workers if worker.node is widget and worker.group == group)
            if all(worker.is_finished for worker in running):
                _started.add(start(widget, *args, **kwargs))

        return cast(Callable[Concatenate[W, P], None], begin)

    return decorate


class TextDialog(Dialog[T], Generic[T]):
    """A dialog of sanitised texts above the keys that answer. `texts` are pairs of a CSS class and a text."""

    def __init__(self, title: str, texts: Sequence[tuple[str, str]], *items: Item) -> None:
        super().__init__()
        self._title = title
        self._texts = texts
        self._items = items

    def compose(self) -> ComposeResult:
        with Vertical(classes="refusal-box") as box:
            box.border_title = Content(self._title)
            for name, text in self._texts:
                yield Static(Content(text), classes=name)
            yield KeyLine(*self._items)


class RefusalScreen(TextDialog[bool]):
    """A dialog that shows a `Refusal`. With `does`, enter answers True; `does` describes that remedy."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer", show=False),
        Binding("q,space", "leave", show=False),
    ]

    def __init__(self, refusal: Refusal, *, does: str = "", leaves: str = "") -> None:
        shown = (("refusal-what", refusal.what), ("refusal-path", refusal.path))
        texts = [*(each for each in shown if each[1]), ("refusal-step", refusal.step)]
        leaves = leaves or ("cancel" if does else "close")
        super().__init__(refusal.title, texts, *([("↵", does)] if does else []), ("esc", leaves))
        self._has_remedy = bool(does)

    def action_answer(self) -> None:
        self.dismiss(self._has_remedy)


class LinePrompt(Dialog[str]):
    """An input with a text in it; enter returns the text. `hint_for` describes its effect below it."""

    field = query_one(LineInput)

    def __init__(
        self, title: str, does: str, *, placeholder: str, hint_for: Callable[[str], str], text: str = ""
    ) -> None:
        super().__init__()
        self._text = text
        self._title = title
        self._does = does
        self._placeholder = placeholder
        self._hint_for = hint_for

    def compose(self) -> ComposeResult:
        with Vertical(classes="prompt-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(self._text, placeholder=self._placeholder, compact=True, select_on_focus=False)
            yield Static(Content(self._hint_for("")), id="prompt-hint")
            yield KeyLine(("↵", self._does), ("esc", "cancel"))

    def on_mount(self) -> None:
        self.field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        answer = self._answer(event.value)
        if objection := self._objection(answer):
            self._show_hint(objection, "$text-warning")
        else:
            self.dismiss(answer)

    def _typed(self, text: str) -> None:
        self._show_hint(self._hint_for(text))

    def _answer(self, typed: str) -> str:
        return typed.strip()

    def _objection(self, answer: str) -> str:
        return "" if answer else "Type something first."

    def _show_hint(self, words: str, style: str = "$text-muted") -> None:
        self.query_one("#prompt-hint", Static).update(Content.styled(words, style))
