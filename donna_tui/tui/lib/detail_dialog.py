"""Show one problem or one event in full, however long its path and message are."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Modal

Facts = tuple[tuple[str, str], ...]
_LONGEST = 4_000


class DetailScreen(Modal[None]):
    """Sanitised facts under a title; escape, enter or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,space", "dismiss", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    def __init__(self, title: str, facts: Facts) -> None:
        super().__init__(classes="dialog")
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
                    yield Static(Content(text[:_LONGEST]), classes="detail-text")
