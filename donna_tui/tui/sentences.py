"""What a sentence about an event is made of: its kind and tone, and the words for reason codes."""

from __future__ import annotations

from enum import StrEnum

from donna_tui.errors import Reason
from donna_tui.records import dataclass
from donna_tui.safety.terminal import clean_line


class Kind(StrEnum):
    """What a person may want to see alone. The values are the words on screen."""

    NOTES = "notes"
    PROBLEMS = "problems"
    SEARCHES = "searches"
    ENGINE = "Donna"


class Tone(StrEnum):
    """How much a line asks for attention."""

    GOOD = "good"
    PLAIN = "plain"
    QUIET = "quiet"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One event in words, sanitised. `took` is how long it took, `stages` where that time went; all may be empty."""

    kind: Kind
    tone: Tone
    what: str
    path: str = ""
    detail: str = ""
    took: str = ""
    stages: str = ""


REASONS: dict[Reason, str] = {
    Reason.PATH_ESCAPE: "leads out of the vault",
    Reason.NOT_MARKDOWN: "not a Markdown file",
    Reason.MISSING: "no longer there",
    Reason.IGNORED: "ignored by your settings",
    Reason.NOT_REGULAR: "not an ordinary file",
    Reason.UNREADABLE: "cannot be read",
    Reason.TOO_LARGE: "too large",
    Reason.TOO_LONG: "name too long",
    Reason.NOT_TEXT: "not text",
    Reason.CONFLICT_COPY: "copy made by sync",
    Reason.INVALID_FRONTMATTER: "properties cannot be read",
    Reason.OUTSIDE_ALLOWLIST: "outside the folders that Donna may write to",
    Reason.CONFLICT: "edited elsewhere",
    Reason.SENSITIVE: "marked as sensitive",
    Reason.ENCODING: "not written in UTF-8",
    Reason.GIT_BUSY: "git is in the middle of something",
    Reason.GIT_LOCKED: "git is locked",
    Reason.GIT_FAILED: "git failed",
    Reason.NO_REPOSITORY: "no git repository",
    Reason.EXECUTABLE: "code that plugins run",
    Reason.NOT_TRUSTED: "repository not trusted",
    Reason.IGNORED_BY_GIT: "left out of the history",
    Reason.WOULD_TRACK: "private until now",
    Reason.NOTHING_TO_UNDO: "nothing to undo",
    Reason.NOTHING_TO_REDO: "nothing to redo",
    Reason.UNDO_CONFLICT: "changed since",
    Reason.QUOTA: "all writes of this session are used up",
    Reason.CONFIG_INVALID: "a setting is not valid",
    Reason.KEYMAP_INVALID: "a key setting is not valid",
    Reason.NO_VAULT: "no vault chosen",
    Reason.ROOT_MISSING: "the vault's folder is missing",
    Reason.MASS_DISAPPEARANCE: "many notes are gone",
    Reason.NOT_INDEXED: "not indexed",
    Reason.BUSY: "another Donna is at work here",
    Reason.MODEL_MISSING: "search by meaning is not installed",
    Reason.MODEL_INVALID: "the model's files are damaged",
    Reason.EMBEDDING_FAILED: "the model failed",
    Reason.EGRESS_REFUSED: "may not leave this machine",
    Reason.MODEL_CALL_FAILED: "no answer from the language model",
    Reason.DATABASE_CORRUPT: "the index is damaged",
    Reason.DATABASE_LOCKED: "the index is in use",
    Reason.DATABASE_NEWER: "the index was made by a newer Donna",
    Reason.DISK_FULL: "the disk is full",
    Reason.IO_ERROR: "the disk gave an error",
    Reason.CALENDAR_FAILED: "a calendar cannot be read",
    Reason.LOGIN_REFUSED: "a server refuses the name or password",
    Reason.TEMPLATE_ERROR: "a template cannot be used",
    Reason.NOT_A_DRAFT: "it is no draft any more",
    Reason.WATCHER_DEGRADED: "changes are noticed late",
    Reason.NO_TERMINAL: "no terminal",
    Reason.USAGE: "not understood",
    Reason.INTERNAL: "a fault in Donna",
}


def reason_words(code: str) -> str:
    """A reason code in words; an unknown code is at least made readable."""
    try:
        return REASONS[Reason(code)]
    except ValueError:
        return clean_line(code).replace("_", " ")


def reason_title(code: str) -> str:
    """A reason code as the title of a problem."""
    words = reason_words(code)
    return words[:1].upper() + words[1:]


def joined(*parts: str, mark: str = " · ") -> str:
    """The parts that are not empty, with a mark between them."""
    return mark.join(part for part in parts if part)
