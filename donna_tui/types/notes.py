"""Notes as shown by the Vault screen and the commands: a row of the tree, a text, a line with its origin, an edit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NoteState(StrEnum):
    """A state of a note that is marked in lists."""

    OUTSIDE = "outside"
    """On disk but not in git: something other than Donna edited it."""
    DELETED = "deleted"
    """In git but not on disk: something other than Donna deleted or moved it."""
    DRAFT = "draft"
    LOCAL_ONLY = "local_only"
    SENSITIVE = "sensitive"
    NOT_INDEXED = "not_indexed"
    CONFLICT = "conflict"
    """A second version of a note, which a sync program left beside it."""
    MARKERS = "markers"
    """Its text holds the markers that git leaves around a conflict."""
    PENDING = "pending"
    UNWRITTEN = "unwritten"
    """It has an unsaved edit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """A file of the vault. `detail` says why it is not indexed, in plain words. `size` is in bytes."""

    path: str
    states: frozenset[NoteState] = frozenset()
    detail: str = ""
    size: int = 0
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note to read. `mtime` is Unix time in seconds, `size` is in bytes.

    `lossy` says that some bytes are not text, and were replaced. Without `is_exact`, `text` encoded as UTF-8 differs
    from the bytes on disk, so that the note can be moved and deleted, but not edited. `problem` says why its
    frontmatter cannot be parsed, and `refusal` why Donna may not change the note at all; both may be empty.
    """

    path: str
    text: str
    etag: str
    size: int = 0
    mtime: float = 0.0
    sensitivity: str = "public"
    lossy: bool = False
    is_exact: bool = True
    problem: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The destination of a link: a line (1-based) of a note, or a page on the web.

    Without `exists` there is no note at `path`, and one could be created there. `problem` says, as a sentence, why the
    link has no destination, or only the beginning of the note.
    """

    path: str = ""
    line: int = 1
    exists: bool = True
    url: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLine:
    """A line (1-based) of the note at `path` with a link to the note at `target`, which may not exist."""

    path: str
    line: int
    text: str
    target: str
    exists: bool = True
    fragment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLinks:
    """The lines of a note that link to others, and the lines of others that link to it."""

    path: str
    outgoing: tuple[LinkLine, ...] = ()
    incoming: tuple[LinkLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlameLine:
    """A line of a note and its commit, empty if it is not committed yet; `at` is Unix time in seconds."""

    line: int
    commit: str
    at: float
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """An unsaved edit of a note. `base` is its text before, `etag` the version of its file, None for a new note."""

    path: str
    base: str
    etag: str | None
    text: str
