"""The actions of the window that settles a conflict copy."""

from __future__ import annotations

from donna_tui.tui.action import Action

SETTLE = (
    Action(
        id="settle.mine",
        title="keep the note",
        help="Keep the note as it is and drop the conflict copy; you see the change first.",
        group="settle",
        context="settle",
        keys=("m",),
        footer=True,
    ),
    Action(
        id="settle.theirs",
        title="keep the copy",
        help="Put the text of the conflict copy in the place of the note; you see the change first.",
        group="settle",
        context="settle",
        keys=("t",),
        footer=True,
    ),
    Action(
        id="settle.both",
        title="keep both",
        help="Put both versions together in the note; you see the result first.",
        group="settle",
        context="settle",
        keys=("b",),
        footer=True,
    ),
)
