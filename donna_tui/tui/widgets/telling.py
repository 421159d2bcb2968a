"""Changing what a label says."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


def tell(label: Static, content: Content, *, layout: bool = True) -> None:
    """Let a label say something else. Saying the same again costs nothing: to lay out the screen takes milliseconds.

    `layout` is False for a label whose size does not follow from what it says.
    """
    before = label.content
    if not (isinstance(before, Content) and before.is_same(content)):
        label.update(content, layout=layout)
