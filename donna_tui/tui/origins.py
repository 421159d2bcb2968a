"""Who changed something, what they did and when, in the words of the history."""

from __future__ import annotations

from datetime import datetime

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.humanize import moment, plural
from donna_tui.vault.changes import Operation, OperationKind, Revision

_PEOPLE = {"": "Donna", "donna": "Donna", "user": "you", "me": "you", "you": "you"}
_LONGEST_NAME = 60
_DONE = {
    OperationKind.WRITE: "wrote",
    OperationKind.DELETE: "deleted",
    OperationKind.MOVE: "moved",
    OperationKind.UNDO: "took back",
    OperationKind.REDO: "did again",
    OperationKind.KEPT: "kept",
}


def actor_name(actor: str) -> str:
    """Who is behind an operation: `you`, `Donna`, or an agent by its name."""
    return _PEOPLE.get(actor.casefold()) or clean_line(actor.removeprefix("agent:")[:_LONGEST_NAME]) or "Donna"


def author_of(revision: Revision) -> str:
    """Who made a commit."""
    if revision.operation is None:
        return clean_line(revision.author[:_LONGEST_NAME]) or "somebody"
    return actor_name(revision.operation.actor)


def what_of(revision: Revision) -> str:
    """What a commit did."""
    if revision.operation is None:
        return clean_line(revision.subject) or "changed"
    return done_by(revision.operation)


def done_by(operation: Operation) -> str:
    """What an operation did, and to which note: `wrote Projects/a.md`."""
    if not operation.changes:
        return clean_line(operation.subject) or _DONE[operation.kind]
    if operation.kind is OperationKind.MOVE:
        return f"moved {moved_words(operation) or paths_words(operation.paths)}"
    is_new = operation.kind is OperationKind.WRITE and all(change.before is None for change in operation.changes)
    return f"{'created' if is_new else _DONE[operation.kind]} {paths_words(operation.paths)}"


def moved_words(operation: Operation) -> str:
    """From where to where; empty if that cannot be told."""
    gone = [change.path for change in operation.changes if change.after is None]
    come = [change.path for change in operation.changes if change.before is None]
    return f"{clean_line(gone[0])} → {clean_line(come[0])}" if len(gone) == len(come) == 1 else ""


def paths_words(paths: tuple[str, ...]) -> str:
    """The first path, and how many more there are."""
    if not paths:
        return "nothing"
    more = f" and {plural(len(paths) - 1, 'more note')}" if len(paths) > 1 else ""
    return f"{clean_line(paths[0])}{more}"


def when(at: float, newest: float) -> str:
    """Day and time, or day and year for what is not from the year of the newest entry."""
    return moment(at) if _year(at) == _year(newest) else day_of(at, newest)


def day_of(at: float, newest: float) -> str:
    """The day, with the year for what is not from the year of the newest entry."""
    pattern = "%d %b" if _year(at) == _year(newest) else "%d %b %Y"
    try:
        return datetime.fromtimestamp(at).astimezone().strftime(pattern).lstrip("0")
    except (OverflowError, ValueError, OSError):
        return "–"


def _year(at: float) -> int:
    try:
        return datetime.fromtimestamp(at).astimezone().year
    except (OverflowError, ValueError, OSError):
        return 0
