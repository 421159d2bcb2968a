"""Base classes of windows over the screen: each closes once, whatever else was typed or clicked before it was gone."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen

from donna_tui.tui.bindings import action_binding
from donna_tui.tui.widgets.key_line import KeyLine

T = TypeVar("T")


class ClosesOnce(Screen[T]):
    """A screen that can only be dismissed while it is on top. `Screen.dismiss` removes whatever screen is on top, so
    that the second of two quick keys would take away the screen below. One that is being mounted is dismissed after
    that: without its children its `on_mount` would fail.
    """

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        if not self.is_mounted:
            self.call_later(self._dismiss_mounted, result)
            return AwaitComplete()
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def _dismiss_mounted(self, result: T | None) -> None:
        self.dismiss(result)  # which a handler of the screen must not wait for


class Modal(ClosesOnce[T | None], ModalScreen[T | None], Generic[T]):
    """A window over the screen. A click beside it leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [action_binding("app.suspend", "app.suspend_process")]

    @property
    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        """What the footer below it shows: the keys of the window, and what they do."""
        lines = self.query(KeyLine)
        return lines.first().items if lines else (("esc", "close"),)

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Leave on a click beside the window."""
        if event.widget is self:
            self.action_leave()
