"""Titled boxes: every part of a screen is one, and the one with the focus carries the accent."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

PANEL = "panel"
"""The class that `styles/base.tcss` draws as a box."""


class Panel(Vertical):
    """Widgets below each other in a titled box."""

    def __init__(self, title: str, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        make_panel(self, title)


def make_panel(widget: Widget, title: str) -> None:
    """Draw a widget as a titled box."""
    widget.add_class(PANEL)
    widget.border_title = Content(title)


def name_panel(widget: Widget, title: str | Content) -> None:
    """Change the title of a box. The same title again costs nothing."""
    content = title if isinstance(title, Content) else Content(title)
    before = widget.border_title
    if before != content.markup:
        widget.border_title = content
