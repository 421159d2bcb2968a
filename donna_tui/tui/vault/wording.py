"""Format the texts of the Vault screen about notes, folders, changes and their authors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from textual.content import Content

from donna_tui.safety.terminal import clean, clean_line
from donna_tui.tui.lib.error_messages import refusal_of, sentence
from donna_tui.tui.lib.event_messages import DECIDED
from donna_tui.tui.lib.humanize import local, moment, plural, size
from donna_tui.tui.lib.inputs import NoticeText
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.vault.tree import STATES, TreeRow, states_of
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.notes import NoteRow, NoteState, NoteText
from donna_tui.vault.write.changes import Change, Operation, OperationKind, Plan, Revision

_PEOPLE = {"": "Donna", "donna": "Donna", "user": "you", "me": "you", "you": "you"}
_LONGEST_NAME = 60


class KindWords(NamedTuple):
    """The words for a kind of operation: in the title of a plan, on the key that applies it, of its author, and after
    it is done.
    """

    title: str
    does: str
    did: str
    done: str


KIND_WORDS = {
    OperationKind.WRITE: KindWords("Write", "write it", "wrote", "Written"),
    OperationKind.DELETE: KindWords("Delete", "delete it", "deleted", "Deleted"),
    OperationKind.MOVE: KindWords("Move", "move it", "moved", "Moved"),
    OperationKind.UNDO: KindWords("Undo", "undo", "undid", "Undone"),
    OperationKind.REDO: KindWords("Redo", "redo", "redid", "Redone"),
    OperationKind.KEPT: KindWords("Record", "record it", "recorded", "Recorded"),
}


def actor_name(actor: str) -> str:
    """Return the display name of an actor: `you`, `Donna`, or the name of an agent."""
    return _PEOPLE.get(actor.casefold()) or clean_line(actor.removeprefix("agent:")[:_LONGEST_NAME]) or "Donna"


def author_of(revision: Revision) -> str:
    if revision.operation is None:
        return clean_line(revision.author[:_LONGEST_NAME]) or "unknown"
    return actor_name(revision.operation.actor)


def what_of(revision: Revision) -> str:
    if revision.operation is None:
        return clean_line(revision.subject) or "changed"
    return done_by(revision.operation)


def done_by(operation: Operation) -> str:
    """Describe an operation and its note: `wrote Projects/a.md`."""
    if operation.actor == "you" and (words := decision_words(operation.subject)):  # agents choose their subjects
        return words
    if not operation.changes:
        return clean_line(operation.subject) or KIND_WORDS[operation.kind].did
    if operation.kind is OperationKind.MOVE:
        sources = tuple(change.path for change in operation.changes if change.after is None)
        return f"moved {moved_words(operation) or paths_words(sources or operation.paths)}"
    if operation.kind is OperationKind.UNDO:  # what the change was about is last
        return f"{KIND_WORDS[operation.kind].did} {paths_words(operation.paths[::-1])}"
    return f"{'created' if _is_new(operation) else KIND_WORDS[operation.kind].did} {paths_words(operation.paths)}"


def plan_title(plan: Plan, steps: int) -> str:
    title = KIND_WORDS[plan.kind].title
    if steps > 1:
        return f"{title} {plural(steps, 'change')}"
    if plan.kind in (OperationKind.UNDO, OperationKind.REDO):
        return title
    deleted = sum(change.after is None for change in plan.changes)
    if plan.kind is OperationKind.MOVE or (deleted > 1 and plan.kind is OperationKind.DELETE):
        return plan.subject + (f": {plural(deleted, 'note')}" if deleted > 1 else "")
    name = plan.paths[0] if plan.paths else ""
    return f"{'New note' if _is_new(plan) else title} {name}"


def done_words(plan: Plan) -> str:
    if decided := decision_words(plan.subject):
        return decided.partition(" ")[0].capitalize()
    done = KIND_WORDS[plan.kind].done
    if plan.on_disk and plan.kind not in (OperationKind.UNDO, OperationKind.REDO):
        return "Committed"
    if plan.kind is OperationKind.WRITE:
        return "Created" if _is_new(plan) else done
    if plan.kind not in (OperationKind.MOVE, OperationKind.DELETE):
        return done
    deleted = sum(change.after is None for change in plan.changes)
    many = f" {plural(deleted, 'note')}" if deleted > 1 else ""
    others = f" with links in {plural(plan.linked, 'note')}" if plan.linked else ""
    return f"{done}{many}{others}"


def _is_new(change: Plan | Operation) -> bool:
    return change.kind is OperationKind.WRITE and all(each.before is None for each in change.changes)


def decision_words(subject: str) -> str:
    """Describe a decision about a draft: `rejected Meetings/a.md`; empty for the subject of another operation."""
    verb, _, what = subject.partition(" ")
    return f"{DECIDED[verb]} {clean_line(what)}" if verb in DECIDED else ""


def moved_words(operation: Operation) -> str:
    """Format the source and destination of a move; empty if they are ambiguous."""
    removed = [change.path for change in operation.changes if change.after is None]
    added = [change.path for change in operation.changes if change.before is None]
    return f"{clean_line(removed[0])} → {clean_line(added[0])}" if len(removed) == len(added) == 1 else ""


def paths_words(paths: tuple[str, ...]) -> str:
    if not paths:
        return "nothing"
    more = f" and {plural(len(paths) - 1, 'more note')}" if len(paths) > 1 else ""
    return f"{clean_line(paths[0])}{more}"


def when(at: float, newest: float) -> str:
    """Format day and time, or day and year if the year differs from that of the newest entry."""
    return moment(at) if local(at, "%Y") == local(newest, "%Y") else day_of(at, newest)


def day_of(at: float, newest: float) -> str:
    """Format the day, with the year if it differs from that of the newest entry."""
    return local(at, "%d %b" if local(at, "%Y") == local(newest, "%Y") else "%d %b %Y").lstrip("0")


LOADING = NoticeText("Loading your notes …", is_loading=True)
EMPTY = NoticeText("This vault has no notes yet.", "Create the first one.", actions=(("vault.new", "create a note"),))
AS_RECORDED = "This note has no changes since the last commit."
FOLDER_AS_RECORDED = "No note here has changes since the last commit."
PICK_CHANGE = "Select a change in the history to see what it did."


def no_history(error: DonnaError | None) -> str:
    """Explain why the history cannot be read; empty without an error."""
    if error is None:
        return ""
    if error.reason is Reason.NO_REPOSITORY:
        key = shown_key("vault.commit")
        return f"This vault is not in a git repository yet, so it has no history. {key} creates one."
    refusal = refusal_of(error)
    return f"{refusal.what} {refusal.step}"


def why_no_undo(operation: Operation, *, is_undone: bool, redo: str) -> str:
    """Explain why an operation of the history cannot be undone; empty if it may be. `redo` is the key of redo, if there
    is something to redo.
    """
    if operation.kind is OperationKind.REDO:
        return "This was a redo. Select the change itself to undo it."
    if operation.kind is not OperationKind.UNDO and not is_undone:
        return ""
    what = "This was an undo." if operation.kind is OperationKind.UNDO else "This change has already been undone."
    return f"{what} {redo} redoes what was undone last." if redo else what


def why_not_undone(selected: Revision | Change | tuple[str, ...] | None) -> str:
    """Explain what to do with a change of the history that was not made with Donna."""
    if not isinstance(selected, Revision):
        return f"This edit was made outside and is not in the history yet. {shown_key('vault.commit')} commits it."
    return f"This commit was not made with Donna. In a terminal, git revert {selected.commit[:10]} reverts it."


def note_head(row: TreeRow, note: NoteText | None, *, place: str = "", waiting: bool = False) -> Content:
    """Format two lines: the path of the row; and the states, size and time of a note, or the counts of a folder."""
    head = Content.styled(clean_line(row.path), "bold")
    if row.note is None:
        edited = f" · {plural(row.edited, 'note')} edited outside" if row.edited else ""
        return Content.assemble(head, "\n", (f"{plural(row.notes, 'note')}{edited}", "$text-muted"))
    states = states_of(row.note)
    parts = [Content.styled("unsaved edit", "$text-warning")] if waiting and NoteState.UNWRITTEN not in states else []
    labels = [STATES[state] for state in states]
    parts += [Content.styled(label.words, f"$text-{label.tone or 'muted'}") for label in labels]
    if note is not None:
        parts.append(Content.styled(f"{size(note.size)} · {moment(note.mtime)}", "$text-disabled"))
    if place:
        parts.append(Content.styled(place, "$text-disabled"))
    return Content.assemble(head, "\n", Content.styled(" · ", "$text-disabled").join(parts))


def why_special(row: TreeRow | None, note: NoteText | None) -> str:
    """Explain why the selected note is not indexed, private, not writable, or shown with replaced bytes."""
    if row is None or row.note is None:
        return ""
    parts = [sentence(row.note.detail)] if row.note.detail else []
    if note is not None and note.path == row.path:
        parts += [sentence(f"{note.problem}, so the note is private")] if note.problem else []
        parts += [sentence(note.refusal)] if note.refusal else []
        parts += ["It is not UTF-8, so it cannot be edited here."] if not note.is_exact else []
        parts += ["Bytes that are not text are shown as �."] if note.lossy else []
    return " ".join(parts)


def why_no_write(note: NoteText | None, key: str) -> str:
    """Explain why Donna may not write to a note; empty if it may. `key` opens the file itself."""
    if note is not None and not note.is_exact and not note.refusal:
        return f"It is not valid UTF-8, so writing it would change other bytes too. {key} opens the file itself."
    return why_no_move(note, key)


def why_no_move(note: NoteText | None, key: str) -> str:
    """Explain why Donna may not move or delete a note; empty if it may. `key` opens the file itself."""
    if note is None:
        return "The note is still being read."
    return f"{sentence(note.refusal)} {key} opens the file itself." if note.refusal else ""


def gone_with_edit() -> str:
    """Describe a note that no longer exists, but has an unsaved edit."""
    return f"This note no longer exists. Your unsaved edit of it is kept: {keys_of_edit()}."


def keys_of_edit() -> str:
    return f"{shown_key('vault.edit-here')} continues it, and {shown_key('vault.discard')} discards it"


def why_not_here(note: NoteText | None, key: str) -> str:
    """Explain why a note cannot be edited on this screen: it contains control characters, or a text field would change
    it.

    `key` opens it in the editor.
    """
    why = _why_no_field(note.text) if note is not None else ""
    return f"{why} {key} opens it in your editor." if why else ""


@lru_cache(maxsize=4)
def _why_no_field(text: str) -> str:
    text = text.replace("\t", " ")
    bare = text.replace("\r\n", "\n")
    if "\r" in bare or ("\r\n" in text and text.count("\r\n") != text.count("\n")):
        return "It has mixed line endings, and a text field would make them the same."
    if clean(bare) != bare:
        line = next(place for place, each in enumerate(bare.split("\n"), start=1) if clean_line(each) != each)
        return f"Line {line} contains control characters or invisible ones."
    return ""


def outside_remark(row: TreeRow | None) -> tuple[str, ...]:
    """Return the remark for a change of a note with edits of the user that are not in git."""
    if row is None or row.note is None or NoteState.OUTSIDE not in row.note.states:
        return ()
    return (
        "Your own edits to this note are not in the history yet; they are recorded there first, and undo restores them",
    )


def names_of(notes: Iterable[NoteRow]) -> frozenset[str]:
    return frozenset(note.path for note in notes)
