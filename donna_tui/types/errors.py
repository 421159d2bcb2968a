"""The errors of Donna: each has a stable reason code, a plain sentence and, if there is one, the next step."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Stable codes that scripts may rely on; the message beside them is for people."""

    PATH_ESCAPE = "path_escape"
    NOT_MARKDOWN = "not_markdown"
    MISSING = "missing"
    IGNORED = "ignored"
    NOT_REGULAR = "not_regular"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    NOT_TEXT = "not_text"
    CONFLICT_COPY = "conflict_copy"
    INVALID_FRONTMATTER = "invalid_frontmatter"

    OUTSIDE_ALLOWLIST = "outside_allowlist"
    CONFLICT = "conflict"
    SENSITIVE = "sensitive"
    ENCODING = "encoding"
    GIT_BUSY = "git_busy"
    GIT_LOCKED = "git_locked"
    GIT_FAILED = "git_failed"
    NO_REPOSITORY = "no_repository"
    NOT_TRUSTED = "not_trusted"
    IGNORED_BY_GIT = "ignored_by_git"
    WOULD_TRACK = "would_track"
    NOTHING_TO_UNDO = "nothing_to_undo"
    NOTHING_TO_REDO = "nothing_to_redo"
    UNDO_CONFLICT = "undo_conflict"
    QUOTA = "quota"
    EXECUTABLE = "executable"

    CONFIG_INVALID = "config_invalid"
    KEYMAP_INVALID = "keymap_invalid"
    NO_VAULT = "no_vault"
    ROOT_MISSING = "root_missing"
    MASS_DISAPPEARANCE = "mass_disappearance"
    NOT_INDEXED = "not_indexed"
    BUSY = "busy"

    MODEL_MISSING = "model_missing"
    MODEL_INVALID = "model_invalid"
    EMBEDDING_FAILED = "embedding_failed"

    EGRESS_REFUSED = "egress_refused"
    MODEL_CALL_FAILED = "model_call_failed"

    DATABASE_CORRUPT = "database_corrupt"
    DATABASE_LOCKED = "database_locked"
    DATABASE_NEWER = "database_newer"
    DISK_FULL = "disk_full"
    IO_ERROR = "io_error"

    CALENDAR_FAILED = "calendar_failed"
    LOGIN_REFUSED = "login_refused"

    WATCHER_DEGRADED = "watcher_degraded"
    TEMPLATE_ERROR = "template_error"
    NOT_A_DRAFT = "not_a_draft"

    NO_TERMINAL = "no_terminal"
    USAGE = "usage"
    INTERNAL = "internal"


class DonnaError(Exception):
    """The base of expected failures: what happened, and what to do. Neither ever holds the text of a note."""

    def __init__(self, reason: Reason, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint


class VaultReadError(DonnaError):
    """A note cannot be read, or must not be."""


class VaultWriteError(DonnaError):
    """The vault was not changed. `path` is the note that prevented it, or empty."""

    def __init__(self, reason: Reason, message: str, *, hint: str | None = None, path: str = "") -> None:
        super().__init__(reason, message, hint=hint)
        self.path = path


class ConfigError(DonnaError):
    """A configuration file, variable or flag is not valid."""


class DatabaseError(DonnaError):
    """The index cannot be opened, read or written."""


class ModelError(DonnaError):
    """The embedding model is absent, damaged or misbehaves."""


class ModelAwayError(ModelError):
    """The server of the embedding model is unavailable or rejects all requests; `passing` for a transient failure."""

    def __init__(self, reason: Reason, message: str, *, hint: str | None = None, passing: bool = True) -> None:
        super().__init__(reason, message, hint=hint)
        self.passing = passing


class CalendarError(DonnaError):
    """A calendar cannot be reached or read. The message names its host or file, never its whole address."""


class SpaceError(DonnaError):
    """The space cannot be found, or cannot be used right now."""
