"""Explain in sentences why something was not written, with the next step for every reason."""

from __future__ import annotations

from dataclasses import dataclass

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.event_messages import reason_title
from donna_tui.types.errors import DonnaError, Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal. `title` names it, `what` is one sentence, `step` is the next step. All of it is sanitised."""

    reason: Reason
    title: str
    what: str
    step: str
    path: str = ""


_WORDS: dict[Reason, tuple[str, str]] = {
    Reason.PATH_ESCAPE: (
        "Donna cannot use this name for a note.",
        "Choose a name inside the vault, without a dot at the beginning of a folder or note.",
    ),
    Reason.NOT_MARKDOWN: ("Donna writes only Markdown notes.", "End the name in .md."),
    Reason.MISSING: ("The note is no longer there.", "Refresh the vault; it may have been moved."),
    Reason.IGNORED: (
        "Your settings exclude this path.",
        "Choose another folder, or change vault.ignore_globs.",
    ),
    Reason.NOT_REGULAR: (
        "There is something at this path that is not a regular file.",
        "Choose another name; Donna follows no links and opens no devices.",
    ),
    Reason.UNREADABLE: (
        "Permission denied: Donna cannot read or write here.",
        "Give yourself permission for the file and its folder.",
    ),
    Reason.TOO_LARGE: (
        "The text is larger than Donna may write.",
        "Split the note, or raise safety.max_write_bytes.",
    ),
    Reason.TOO_LONG: ("The name is longer than disks can hold.", "Choose a shorter name."),
    Reason.NOT_TEXT: ("The file is not text.", "Open it with the program that made it."),
    Reason.CONFLICT_COPY: (
        "This is a copy that a sync program left.",
        "Resolve it with its key in the vault's tree, or with donna resolve.",
    ),
    Reason.INVALID_FRONTMATTER: (
        "The properties at the top of the note cannot be parsed reliably, so Donna changes none of them.",
        "Fix the block between the --- lines; you can always open the file itself in your editor.",
    ),
    Reason.OUTSIDE_ALLOWLIST: (
        "Donna may not write to this folder.",
        "Choose another folder, or add this one to safety.path_allowlist.",
    ),
    Reason.CONFLICT: (
        "This note was edited elsewhere a moment ago.",
        "Reload the note, and try again.",
    ),
    Reason.SENSITIVE: (
        "The note is marked as sensitive; Donna reads it here and never writes to it.",
        "Edit the file itself in your editor, or remove the mark from its properties.",
    ),
    Reason.ENCODING: (
        "The note is not valid UTF-8, so writing it would change bytes that cannot be shown.",
        "Save it as UTF-8 in your editor first.",
    ),
    Reason.GIT_BUSY: (
        "A merge, rebase or similar operation is in progress in this vault.",
        "Finish or abort it in git; until then Donna changes nothing.",
    ),
    Reason.GIT_LOCKED: (
        "Another program is using the git repository right now.",
        "Try again in a moment. If nothing else runs, git left a lock behind; donna doctor names it.",
    ),
    Reason.GIT_FAILED: (
        "Git failed, so nothing was changed.",
        "See the log file named on the Activity screen.",
    ),
    Reason.NO_REPOSITORY: (
        "This vault is in no git repository yet, and without one nothing could be undone.",
        "Donna can create one in the folder of the vault. Your notes stay as they are.",
    ),
    Reason.NOT_TRUSTED: (
        "This git repository is not trusted: it is not yours, or points outside its own folder.",
        "Check the folder .git of the vault; git clone creates an intact one.",
    ),
    Reason.IGNORED_BY_GIT: (
        "Git ignores this path, so nothing there could be undone.",
        "Choose another folder, or change .gitignore.",
    ),
    Reason.WOULD_TRACK: (
        "This note was private and is not in git. Without its mark it would be committed, and pushed with the rest.",
        "Confirm that, or leave the note marked as private.",
    ),
    Reason.NOTHING_TO_UNDO: (
        "There is nothing left to undo here.",
        "Your own edits are yours to undo.",
    ),
    Reason.NOTHING_TO_REDO: (
        "There is nothing to redo.",
        "Every new change clears what could be redone.",
    ),
    Reason.UNDO_CONFLICT: (
        "A note was changed since, and this undo would discard that change too.",
        "Compare the three versions; merge them yourself where they overlap.",
    ),
    Reason.ROOT_MISSING: ("The folder of the vault is not there.", "Is a drive or a sync folder missing?"),
    Reason.BUSY: ("Another Donna is writing to this vault.", "Try again in a moment, or use the other one."),
    Reason.DISK_FULL: (
        "The disk is full. The note is as it was.",
        "Free some space, and try again; your text is still here.",
    ),
    Reason.IO_ERROR: (
        "The disk gave an error. The note is as it was.",
        "Check the disk, and try again; your text is still here.",
    ),
}
"""A sentence and the next step for each reason, for errors without a more exact message."""

_TITLES = {
    Reason.NOTHING_TO_UNDO: "Nothing to undo",
    Reason.NOTHING_TO_REDO: "Nothing to redo",
    Reason.NO_REPOSITORY: "No history yet",
    Reason.WOULD_TRACK: "Commit a note that was private?",
}


def refusal_of(error: DonnaError) -> Refusal:
    """Convert an error to a refusal. The message of the engine replaces the general sentence for its reason."""
    what, step = _WORDS.get(error.reason, ("This is not possible.", "See the log file named on the Activity screen."))
    title = _TITLES.get(error.reason) or f"Not written: {lowered(reason_title(error.reason))}"
    return Refusal(
        reason=error.reason,
        title=title,
        what=sentence(error.message) or what,
        step=sentence(error.hint or "") or step,
        path=clean_line(getattr(error, "path", "")),
    )


def sentence(text: str) -> str:
    """Format a message as a sentence, with a capital letter and a full stop."""
    line = clean_line(text).strip()
    if not line:
        return ""
    return line[:1].upper() + line[1:] + ("" if line.endswith((".", "!", "?", "…")) else ".")


def error_text(error: DonnaError) -> str:
    """Format an error as a sentence with its next step."""
    return " ".join(filter(None, (sentence(error.message), sentence(error.hint or ""))))


def lowered(text: str) -> str:
    """Lower the first letter of a sentence, to append it to another one."""
    return text[:1].lower() + text[1:]
