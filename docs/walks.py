"""Nine everyday tasks and their keys. A test sends these keys one by one; the key reference counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MOST_KEYS = 15


class Walk(NamedTuple):
    """A task: where one begins, and its keys in Textual's names. Letters are typed as they are."""

    task: str
    begins: str
    keys: tuple[str, ...]
    shown: str


WALKS: Mapping[str, Walk] = {
    "open": Walk("Open a note that was changed lately", "anywhere", ("ctrl+k", "down", "enter"), "`ctrl+k` `↓` `↵`"),
    "links": Walk(
        "Follow two links and come back",
        "in a note",
        ("enter", "enter", "a", "ctrl+left", "ctrl+left"),
        "`↵` `↵` and a label, `ctrl+←` `ctrl+←`",
    ),
    "find": Walk(
        "Find a sentence that you half remember, and read it in its note",
        "in the search box",
        (*"failover", "f7"),
        "a word or two, `f7`",
    ),
    "rename": Walk(
        "Rename a note, with the links to it", "on the note", ("m", "2", "enter", "enter"), "`m`, the name, `↵` `↵`"
    ),
    "undo": Walk(
        "Undo an earlier edit of one note",
        "on the note",
        ("h", "z", "enter"),
        "`h`, `↓` where it is not the latest, `z` `↵`",
    ),
    "conflict": Walk(
        "Resolve an edit of a line that changed meanwhile",
        "where the edit is refused",
        ("o", "enter"),
        "`o` yours, `t` theirs or `e` both, `↵`",
    ),
    "daily": Walk("Write in the note of today", "anywhere", ("alt+d",), "`alt+d`"),
    "tick": Walk("Check the box of a task", "anywhere", ("alt+5", "T", "space"), "`alt+5` `T` `space`"),
    "why": Walk(
        "Find out why a note is not found",
        "in the search box, nothing found",
        ("f6", *"runbook", "enter"),
        "`f6`, letters of the note, `↵`",
    ),
}


def walks_markdown() -> str:
    """The table of the key reference."""
    lines = ["## Nine tasks, in keys", "", "| Task | Begins | Keys | How many |", "|---|---|---|---|"]
    lines += [f"| {walk.task} | {walk.begins} | {walk.shown} | {len(walk.keys)} |" for walk in WALKS.values()]
    return "\n".join(lines) + "\n\n"
