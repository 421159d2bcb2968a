"""Containers of which nothing is seen but what they hold: no line, no padding, one colour.

Textual puts every line of every container together for each frame, also below the widgets that cover it: a tenth of the
time from a key to its results. One that says that it is blank is left out.
"""

from __future__ import annotations

from textual.containers import Horizontal, Vertical
from textual.widgets import ContentSwitcher


class BareColumn(Vertical):
    """Widgets below each other."""

    BLANK = True


class BareRow(Horizontal):
    """Widgets beside each other."""

    BLANK = True


class BareSwitcher(ContentSwitcher):
    """One of several widgets."""

    BLANK = True
