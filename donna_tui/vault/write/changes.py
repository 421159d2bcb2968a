"""Value types of changes: a change of a file, a plan, an operation, and the version that a caller has seen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

REGULAR_FILE = 0o100644

OWN_ACTOR = "donna"
"""The actor of what Donna writes by itself, such as the drafts of meetings."""


class OperationKind(StrEnum):
    WRITE = "write"
    DELETE = "delete"
    MOVE = "move"
    UNDO = "undo"
    REDO = "redo"
    KEPT = "kept"
    """A record only: text that an interrupted write had displaced. It changes no note and cannot be undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change of one file: its bytes before and after. None means that there is no file.

    `owner` is the user and group, as `uid:gid`, of a file that is removed or restored, if they differ from Donna's.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int = REGULAR_FILE
    owner: str = ""

    @property
    def sides(self) -> tuple[bytes | None, bytes | None]:
        return self.before, self.after

    @property
    def reversed(self) -> Change:
        return Change(path=self.path, before=self.after, after=self.before, mode=self.mode, owner=self.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An operation that can be reviewed before it is executed.

    It holds only as long as every file still has the bytes of `before`. `remarks` are plain sentences about what the
    plan does not do, such as links in notes that Donna must not write to. A plan without changes does nothing.
    `unread` are the notes and folders whose links a move leaves as they are because they cannot be read.
    `may_track` says that the user agreed to commit notes that were left out of git as private. With `on_disk` the files
    hold the bytes of `after` already, because another program saved them: only the history is still to be written.
    `broken_links` are the links in other notes that lead nowhere afterwards. `emptied` are folders that are removed
    afterwards if nothing is left in them.
    """

    kind: OperationKind
    subject: str
    changes: tuple[Change, ...]
    undoes: tuple[str, ...] = ()
    redoes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    may_track: bool = False
    on_disk: bool = False
    broken_links: int = 0
    emptied: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes)

    @property
    def linked(self) -> int:
        """Count the notes that change only because they link to moved or deleted notes."""
        return sum(change.before is not None and change.after is not None for change in self.changes)

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to do. Undoing both a write and the following deletion is not empty."""
        return not (self.changes or self.undoes or self.redoes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A note before another program opened it. `committed` is its blob in the last commit, or None."""

    path: str
    data: bytes
    committed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobChange:
    """A change in the history: the git blobs of the bytes on disk before and after.

    `stored_before` and `stored_after` are the blobs in the branch, if git's attributes make them differ. `record_only`
    changes are of private notes that are not in the branch, and must not be. A note that has become private again has
    an empty `stored_after`: it is removed from the branch.
    """

    path: str
    before: str | None
    after: str | None
    mode: int = REGULAR_FILE
    stored_before: str | None = None
    stored_after: str | None = None
    record_only: bool = False
    owner: str = ""

    @property
    def sides(self) -> tuple[str | None, str | None]:
        return self.before, self.after

    def with_bytes(self, images: Mapping[str | None, bytes | None]) -> Change:
        before, after = images.get(self.before), images.get(self.after)
        return Change(path=self.path, before=before, after=after, mode=self.mode, owner=self.owner)

    @property
    def in_branch(self) -> str | None:
        """Return the blob to store in the branch; None if the file is removed."""
        return self.after if self.stored_after is None else self.stored_after or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One change of the vault made by Donna: one commit, one undo step. `at` is Unix time in seconds.

    `session` is the id of the client session that requested it; empty for a change by a person or by Donna itself.
    `made` are the folders that it created.
    """

    id: str
    kind: OperationKind
    actor: str
    subject: str
    at: float
    commit: str
    changes: tuple[BlobChange, ...]
    undoes: tuple[str, ...] = ()
    redoes: tuple[str, ...] = ()
    session: str = ""
    made: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes)

    @property
    def is_own(self) -> bool:
        return self.actor == OWN_ACTOR and not self.session

    @property
    def hidden(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes if change.record_only)

    @property
    def published(self) -> tuple[BlobChange, ...]:
        """Return the changes named in the commit message of the branch."""
        return tuple(change for change in self.changes if not change.record_only and change.stored_after != "")

    @property
    def is_record_only(self) -> bool:
        return bool(self.changes) and len(self.hidden) == len(self.changes)


def whole_sessions(redoable: Sequence[Operation], steps: int) -> set[str]:
    """Return the sessions of agents of which nothing is left to redo after so many steps."""
    redone, left = ({operation.session for operation in part} for part in (redoable[:steps], redoable[steps:]))
    return redone - left - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit in the history of the vault or of a note. `operation` is None if a person made it."""

    commit: str
    at: float
    author: str
    subject: str
    paths: tuple[str, ...]
    operation: Operation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a plan. If nothing was written, `operation` is empty and `commit` is the unchanged tip.

    If no change is in the branch, `commit` is that of the record.
    """

    operation: str
    commit: str
    kind: OperationKind
    paths: tuple[str, ...]
    etags: tuple[str, ...]
    """The current etag of each path; empty for a removed file."""
    record_only: tuple[str, ...] = ()
    """The private notes whose change is in Donna's own record and not in the branch."""

    @property
    def changed(self) -> bool:
        return bool(self.operation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A file that conflicts with an undo or redo, in three versions. None means that there is no file.

    `expected` is what Donna left, `found` is the current version, and `wanted` is the one to be restored.
    """

    path: str
    expected: bytes | None
    found: bytes | None
    wanted: bytes | None


def etag_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def in_line_ends_of(like: bytes, data: bytes) -> bytes:
    """Convert bytes without any CR to CR LF if the other bytes use only that."""
    is_crlf = like.count(b"\r\n") == like.count(b"\n") > 0 and b"\r" not in data
    return data.replace(b"\n", b"\r\n") if is_crlf else data


Precondition = Callable[[bytes | None], bool]
"""A predicate: whether these bytes (None: no note) are those that the caller has seen."""


def has_etag(etag: str | None) -> Precondition:
    """Return a predicate that compares with an etag; None means that the note must not exist yet."""
    return lambda found: (None if found is None else etag_of(found)) == etag


def any_version(_: bytes | None) -> bool:
    return True
