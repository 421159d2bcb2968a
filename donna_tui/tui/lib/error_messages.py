"""Describe reason codes and refusals in sentences, with the next step for every reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import DonnaError, Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal. `title` names it, `what` is one sentence, `step` is the next step. All of it is sanitised."""

    title: str
    what: str
    step: str
    path: str = ""


class ReasonText(NamedTuple):
    """A reason in words: its name, and for errors without a more exact message a sentence and the next step.

    `title` replaces the name as the title of a refusal.
    """

    name: str
    what: str = "This is not possible."
    step: str = "See the log file named on the Activity screen."
    title: str = ""


REASONS: dict[Reason, ReasonText] = {
    Reason.PATH_ESCAPE: ReasonText("path not allowed",
        "Donna cannot use this name for a note.",
        "Choose a name inside the vault, without a dot at the beginning of a folder or note."),
    Reason.NOT_MARKDOWN: ReasonText("not a Markdown file", "Donna writes only Markdown notes.", "End the name in .md."),
    Reason.MISSING: ReasonText("no longer there",
        "The note is no longer there.", "Refresh the vault; it may have been moved."),
    Reason.IGNORED: ReasonText("ignored by your settings",
        "Your settings exclude this path.", "Choose another folder, or change vault.ignore_globs."),
    Reason.NOT_REGULAR: ReasonText("not a regular file",
        "Something at this path is not a regular file.",
        "Choose another name; Donna follows no links and opens no devices."),
    Reason.UNREADABLE: ReasonText("cannot be read",
        "Permission denied: Donna cannot read or write here.",
        "Give yourself permission for the file and its folder."),
    Reason.TOO_LARGE: ReasonText("too large",
        "The text is larger than Donna may read or write.",
        "Split the note, or raise safety.max_read_bytes and safety.max_note_bytes."),
    Reason.TOO_LONG: ReasonText("name too long", "The name is too long for the file system.", "Choose a shorter name."),
    Reason.NOT_TEXT: ReasonText("not text", "The file is not text.", "Open it with the program that made it."),
    Reason.CONFLICT_COPY: ReasonText("sync conflict copy",
        "This is a copy that a sync program left.",
        "Resolve it in the Vault, or run donna conflicts resolve."),
    Reason.INVALID_FRONTMATTER: ReasonText("properties cannot be read",
        "The properties at the top of the note cannot be parsed reliably, so Donna changes none of them.",
        "Fix the block between the --- lines; you can always open the file itself in your editor."),
    Reason.OUTSIDE_ALLOWLIST: ReasonText("outside the folders that Donna may write to",
        "Donna may not write to this folder.", "Choose another folder, or add this one to safety.path_allowlist."),
    Reason.CONFLICT: ReasonText("conflict",
        "This note was edited elsewhere a moment ago.", "Reload the note, and try again."),
    Reason.SENSITIVE: ReasonText("marked as sensitive",
        "The note is marked as sensitive; Donna reads it here and never writes to it.",
        "Edit the file itself in your editor, or remove the mark from its properties."),
    Reason.ENCODING: ReasonText("not valid UTF-8",
        "The note is not valid UTF-8, so writing it would change bytes that cannot be shown.",
        "Save it as UTF-8 in your editor first."),
    Reason.GIT_BUSY: ReasonText("a git operation is in progress",
        "A merge, rebase or similar operation is in progress in this vault.",
        "Finish or abort it in git; until then Donna changes nothing."),
    Reason.GIT_LOCKED: ReasonText("git is locked",
        "Another program is using the git repository right now.",
        "Try again in a moment. If nothing else runs, git left a lock behind; donna doctor names it."),
    Reason.GIT_FAILED: ReasonText("git failed",
        "Git failed, so nothing was changed.", "See the log file named on the Activity screen."),
    Reason.NO_REPOSITORY: ReasonText("no git repository",
        "This vault is not in a git repository yet, and without one nothing could be undone.",
        "Donna can create one in the folder of the vault. Your notes stay as they are.", title="No history yet"),
    Reason.EXECUTABLE: ReasonText("code that plugins run"),
    Reason.NOT_TRUSTED: ReasonText("repository not trusted",
        "This git repository is not trusted: it is not yours, or points outside its own folder.",
        "Check the folder .git of the vault; git clone creates an intact one."),
    Reason.IGNORED_BY_GIT: ReasonText("ignored by git",
        "Git ignores this path, so nothing there could be undone.", "Choose another folder, or change .gitignore."),
    Reason.WOULD_TRACK: ReasonText("private until now",
        "This note was private and is not in git. Without its mark it would be committed, and pushed with the rest.",
        "Confirm that, or leave the note marked as private.", title="Commit a note that was private?"),
    Reason.NOTHING_TO_UNDO: ReasonText("nothing to undo",
        "There is nothing left to undo here.",
        "Donna undoes only its own changes, never your edits.", title="Nothing to undo"),
    Reason.NOTHING_TO_REDO: ReasonText("nothing to redo",
        "There is nothing to redo.", "Every new change clears what could be redone.", title="Nothing to redo"),
    Reason.UNDO_CONFLICT: ReasonText("changed since",
        "A note was changed since, and this undo would discard that change too.",
        "Compare the three versions; merge them yourself where they overlap."),
    Reason.QUOTA: ReasonText("limit of writes per hour reached"),
    Reason.CONFIG_INVALID: ReasonText("a setting is not valid"),
    Reason.KEYMAP_INVALID: ReasonText("a key setting is not valid"),
    Reason.NO_VAULT: ReasonText("no vault chosen"),
    Reason.ROOT_MISSING: ReasonText("the vault's folder is missing",
        "The folder of the vault is missing.", "Is a drive or a sync folder missing?"),
    Reason.MASS_DISAPPEARANCE: ReasonText("many notes are missing"),
    Reason.NOT_INDEXED: ReasonText("not indexed"),
    Reason.BUSY: ReasonText("another Donna process is running",
        "Another Donna process is writing to this vault.", "Try again in a moment, or close the other one."),
    Reason.MODEL_MISSING: ReasonText("semantic search is not installed"),
    Reason.MODEL_INVALID: ReasonText("the model's files are damaged"),
    Reason.EMBEDDING_FAILED: ReasonText("the model failed"),
    Reason.EGRESS_REFUSED: ReasonText("must not leave this machine"),
    Reason.MODEL_CALL_FAILED: ReasonText("no answer from the language model"),
    Reason.DATABASE_CORRUPT: ReasonText("the index is damaged"),
    Reason.DATABASE_LOCKED: ReasonText("the index is in use"),
    Reason.DATABASE_NEWER: ReasonText("the index was made by a newer Donna"),
    Reason.DISK_FULL: ReasonText("the disk is full",
        "The disk is full. The note is unchanged.", "Free some space, and try again; your text is still here."),
    Reason.IO_ERROR: ReasonText("disk error",
        "A disk error occurred. The note is unchanged.", "Check the disk, and try again; nothing was lost."),
    Reason.CALENDAR_FAILED: ReasonText("a calendar cannot be read"),
    Reason.LOGIN_REFUSED: ReasonText("a server rejected the name or password"),
    Reason.TEMPLATE_ERROR: ReasonText("a template cannot be used"),
    Reason.NOT_A_DRAFT: ReasonText("no longer a draft",
        step="Refresh Review with f5; x also lists approved and rejected drafts."),
    Reason.WATCHER_DEGRADED: ReasonText("changes are noticed late"),
    Reason.NO_TERMINAL: ReasonText("no terminal"),
    Reason.USAGE: ReasonText("invalid usage"),
    Reason.INTERNAL: ReasonText("internal error"),
}  # fmt: skip


def reason_words(code: str) -> str:
    """Describe a reason code; an unknown code is made readable."""
    try:
        return REASONS[Reason(code)].name
    except ValueError:
        return clean_line(code).replace("_", " ")


def reason_title(code: str) -> str:
    words = reason_words(code)
    return words[:1].upper() + words[1:]


def refusal_of(error: DonnaError) -> Refusal:
    """Convert an error to a refusal. The message of the engine replaces the general sentence for its reason."""
    words = REASONS[error.reason]
    return Refusal(
        title=words.title or f"Not written: {words.name}",
        what=sentence(error.message) or words.what,
        step=sentence(error.hint or "") or words.step,
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
