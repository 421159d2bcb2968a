"""Nine everyday tasks and their keys. A test sends these keys one by one; the key reference counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MAX_KEYS = 15


class Walk(NamedTuple):
    """A task: where it begins, and its keys by their names in Textual. Letters are typed as they are."""

    task: str
    begins: str
    keys: tuple[str, ...]
    shown: str


WALKS: Mapping[str, Walk] = {
    "open": Walk("Open a recently changed note", "anywhere", ("ctrl+k", "down", "enter"), "`ctrl+k` `↓` `↵`"),
    "links": Walk(
        "Follow two links and return",
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
        "Rename a note and update the links to it",
        "on the note",
        ("m", "2", "enter", "enter"),
        "`m`, the name, `↵` `↵`",
    ),
    "undo": Walk(
        "Undo an earlier edit of one note",
        "on the note",
        ("h", "z", "enter"),
        "`h`, `↓` unless it is the latest, `z` `↵`",
    ),
    "conflict": Walk(
        "Resolve a conflict with a line that was changed elsewhere",
        "where the edit is refused",
        ("o", "enter"),
        "`o` yours, `t` theirs or `e` both, `↵`",
    ),
    "daily": Walk("Write in today's note", "anywhere", ("alt+d",), "`alt+d`"),
    "tick": Walk("Check the box of a task", "anywhere", ("alt+5", "T", "space"), "`alt+5` `T` `space`"),
    "why": Walk(
        "Find out why a note is not found",
        "in the search box, nothing found",
        ("f6", *"runbook", "enter"),
        "`f6`, letters of the note, `↵`",
    ),
}


def walks_markdown() -> str:
    """Return the table for the key reference."""
    lines = ["## Common tasks", "", "| Task | Start | Keys |", "|---|---|---|"]
    lines += [f"| {walk.task} | {walk.begins} | {walk.shown} |" for walk in WALKS.values()]
    return "\n".join(lines) + "\n\n"
