"""Define containers without a border, and titled panels with a rounded one.

Textual composes every line of every container for each frame, even below the widgets that cover it: a tenth of the time
from a key to its results. A container that is marked as blank is skipped.
"""

from __future__ import annotations

from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import ContentSwitcher


class BlankColumn(Vertical):
    BLANK = True


class BlankRow(Horizontal):
    BLANK = True


class BlankSwitcher(ContentSwitcher):
    BLANK = True


class Panel(Vertical):
    def __init__(self, title: str, *, id: str, name: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, name=name)
        make_panel(self, title)


def make_panel(widget: Widget, title: str) -> None:
    """Give a widget the class that `styles/base.tcss` draws as a box, and a title."""
    widget.add_class("panel", update=False)
    widget.border_title = Content(title)


def name_panel(widget: Widget, title: str) -> None:
    """Change the title of a box and redraw only its line: Textual would redraw the whole box."""
    content = Content(title)
    if widget.border_title != content.markup:
        vars(widget)["_border_title"] = content
        widget.refresh(Region(-1, -1, widget.outer_size.width, 1))
