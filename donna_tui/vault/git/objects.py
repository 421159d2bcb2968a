"""Write an operation as git objects with one `git fast-import`: blobs, the commit on the branch, and its record."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from donna_tui.vault.git.operations import each_operation, message_of
from donna_tui.vault.git.repository import GitRepo, RefState, RepoLocation
from donna_tui.vault.write.changes import BlobChange, Change, Operation


@dataclass(frozen=True, slots=True)
class Author:
    name: str
    email: str

    def line(self, at: float) -> str:
        """Return the author line in git's format, in UTC. Characters that would end a field are removed."""

        def cleaned(field: str) -> str:
            return "".join(char for char in field if char.isprintable() and char not in "<>")

        return f"{cleaned(self.name)} <{cleaned(self.email)}> {int(at)} +0000"


def blob_id(data: bytes, object_format: str) -> str:
    """Return the git blob id of these bytes. No filter or line ending conversion is applied."""
    return hashlib.new(object_format, b"blob %d\0" % len(data) + data).hexdigest()


def blob_changes(changes: Sequence[Change], object_format: str) -> tuple[BlobChange, ...]:

    def known(data: bytes | None) -> str | None:
        return None if data is None else blob_id(data, object_format)

    return tuple(
        BlobChange(path=change.path, before=known(change.before), after=known(change.after), mode=change.mode)
        for change in changes
    )


def prepare(
    repo: GitRepo,
    location: RepoLocation,
    tip: RefState,
    operation: Operation,
    author: Author,
    images: Iterable[bytes] = (),
    *,
    home: str,
) -> tuple[Operation, str]:
    """Write the commit and the record of an operation. Return the operation with its commit, and the record.

    They are referenced by Donna's pending refs of this `home`. `images` are the bytes before and after that git does
    not have yet. Record-only changes are not in the commit and not named in its message; if there are no others, no
    commit is written.
    """
    at, before = author.line(operation.at), tip.record or _last_operation(repo)
    record = open_commit(location.pending(home, "record"), 2, at, message_of(operation).encode(), before)
    parts = [*blobs(images), *record, *_images(operation.changes), b"\n"]
    if operation.is_record_only:
        (recorded,) = repo.fast_import(b"".join([*parts, b"get-mark :2\ndone\n"]))
        return replace(operation, commit=tip.commit or ""), recorded
    is_revealing = any(path in operation.subject for path in operation.hidden)
    subject = "Change notes" if is_revealing else operation.subject
    public = replace(operation, changes=operation.published, subject=subject)
    parts += open_commit(location.pending(home, "commit"), 1, at, message_of(public).encode(), tip.commit)
    parts += entries(location, [change for change in operation.changes if not change.record_only])
    commit, recorded = repo.fast_import(b"".join([*parts, b"get-mark :1\nget-mark :2\ndone\n"]))
    return replace(operation, commit=commit), recorded


def prepare_record(
    repo: GitRepo, operation: Operation, author: Author, images: Iterable[bytes], *, ref: str
) -> tuple[str | None, str]:
    """Write a record outside the branch, referenced by `ref`. Return the previous record and the new one."""
    previous = repo.record()
    at, before = author.line(operation.at), previous or _last_operation(repo)
    head = open_commit(ref, 1, at, message_of(operation).encode(), before)
    stream = b"".join((*blobs(images), *head, *_images(operation.changes), b"\nget-mark :1\ndone\n"))
    (record,) = repo.fast_import(stream)
    return previous, record


def _last_operation(repo: GitRepo) -> str | None:
    """Return the parent of the first record: the last operation of a history that has no records, such as a clone."""
    return next((operation.commit for operation in each_operation(repo, None)), None)


def blobs(images: Iterable[bytes]) -> Iterator[bytes]:
    for data in images:
        yield b"blob\ndata %d\n" % len(data) + data + b"\n"


def open_commit(ref: str, mark: int, author: str, message: bytes, parent: str | None) -> Iterator[bytes]:
    """Yield the fast-import header of a commit, which its file entries follow."""
    yield f"reset {ref}\n\ncommit {ref}\nmark :{mark}\nauthor {author}\ncommitter {author}\n".encode()
    yield f"data {len(message)}\n".encode() + message + b"\n"
    if parent:
        yield f"from {parent}\n".encode()


def entries(location: RepoLocation, changes: Sequence[BlobChange]) -> Iterator[bytes]:
    """Yield the fast-import commands that apply these changes to the tree of the parent commit."""
    for change in sorted(changes, key=lambda change: change.after is not None):  # a case-only move deletes first
        path = quoted(location.full(change.path))
        yield (f"M {change.mode:o} {change.in_branch} {path}\n" if change.in_branch else f"D {path}\n").encode()
    yield b"\n"


def _images(changes: Sequence[BlobChange]) -> Iterator[bytes]:
    """Yield the tree of a record: only the blobs needed to undo and redo each change."""
    yield b"deleteall\n"
    for number, change in enumerate(changes):
        for side, blob in (("before", change.before), ("after", change.after)):
            if blob:
                yield f"M {change.mode:o} {blob} {side}/{number}\n".encode()


def quoted(path: str) -> str:
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in os.fsencode(path)) + '"'
