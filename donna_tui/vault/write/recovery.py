"""Recover from a crash: complete or abandon the interrupted write, without losing any displaced text."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.git.index import follow_tip, remove_stale_locks
from donna_tui.vault.git.objects import blob_id, prepare_record
from donna_tui.vault.git.operations import each_operation, new_operation_id
from donna_tui.vault.git.repository import RepoLocation
from donna_tui.vault.write.changes import BlobChange, Operation, OperationKind
from donna_tui.vault.write.journal import Intent
from donna_tui.vault.write.protocol import (
    REBUILD_PATIENCE_SECONDS,
    WriteContext,
    advance,
    ensure_recorded,
    make_objects,
    record_intent,
)

_ELSEWHERE = frozenset({Reason.PATH_ESCAPE, Reason.NOT_REGULAR})
"""Errors of a path that another kind of file has replaced: no file of a write is left there."""

_RECENT = 50
"""Number of recent records searched for a text that an interrupted recovery has already kept."""


class State(Enum):
    """The content of a note that a write was to change."""

    BEFORE = "before"
    AFTER = "after"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileOnDisk:
    """The state on disk of one change: the note, and the temporary file next to it."""

    change: BlobChange
    temporary: str
    state: State
    note: bytes | None
    displaced: bytes | None
    is_foreign: bool
    """True if the temporary file has neither side of the change: an editor that had the note open wrote to it."""

    def images(self) -> Iterator[bytes]:
        """Yield the bytes that git may lack: the displaced file, and the note if it is the new version."""
        if self.displaced is not None:
            yield self.displaced
        if self.state is State.AFTER and self.note is not None:
            yield self.note


def recover(context: WriteContext, location: RepoLocation) -> VaultWriteError | None:
    """Complete or roll back the write that a crash interrupted. Must be called within `write_lock`.

    Return a message for the user if somebody edited a note meanwhile: then nothing is written, and the earlier text of
    the note is kept as a record. No displaced file is removed before git has it below a ref. Raises VaultWriteError if
    recovery is not possible now; the next call continues.
    """
    intent = context.journal.read()
    remove_stale_locks(location, intent)
    if intent is None:
        return None
    files = _examine(context, location, intent)
    if ensure_recorded(context, intent):
        problem = _complete(context, location, intent, files)
    elif any(map(_is_edited, files)):
        problem = _edited_meanwhile(intent, files, _record(context, location, intent.operation, files))
    elif any(file.state is State.AFTER for file in files):
        problem = _roll_forward(context, location, intent, files)
    else:
        problem = None
    if _remove_displaced(context, files):
        context.journal.clear()
    return problem


def record_displaced(context: WriteContext, location: RepoLocation) -> None:
    """Keep as a record what a refused write had displaced and could not restore because of a concurrent save.

    A write whose notes could not all be restored is left to `recover`. Must be called within `write_lock`.
    """
    with contextlib.suppress(VaultWriteError):
        intent = context.journal.read()
        if intent is None or ensure_recorded(context, intent):
            return
        files = _examine(context, location, intent)
        if any(file.state is State.AFTER for file in files) or not any(map(_is_edited, files)):
            return
        _record(context, location, intent.operation, files)
        if _remove_displaced(context, files):
            context.journal.clear()


def _complete(
    context: WriteContext, location: RepoLocation, intent: Intent, files: Sequence[FileOnDisk]
) -> VaultWriteError | None:
    """Complete a write that is in the history. Text that an editor wrote to the displaced file is restored or kept."""
    with contextlib.suppress(DonnaError):  # the user's index may not have followed the moved branch yet
        if context.repo.tip().commit == intent.operation.commit:
            follow_tip(context.repo, location, intent.tip, intent.operation.changes)
    third = [file for file in files if file.is_foreign and file.state is not State.AFTER]
    return _edited_meanwhile(intent, third, _record(context, location, intent.operation, third)) if third else None


def _roll_forward(
    context: WriteContext, location: RepoLocation, intent: Intent, files: Sequence[FileOnDisk]
) -> VaultWriteError | None:
    """Write the notes that are still unchanged, with the bytes in git or else on disk, and move the branch."""
    wanted = {side for change in intent.operation.changes for side in change.sides if side}
    images = {blob_id(data, location.object_format): data for file in files for data in file.images()}
    missing = wanted - context.repo.existing(sorted(wanted))
    if not missing <= images.keys():
        kept = _record(context, location, intent.operation, files)
        message = "a write was interrupted and cannot be completed: git lost a part of it; recovery changed nothing"
        hint = f"some notes may have the new text and others the old; what was found is saved: donna diff {kept}"
        return VaultWriteError(Reason.GIT_FAILED, message, hint=hint, path=intent.operation.changes[0].path)
    context.repo.check_at_rest(location)
    tip = context.repo.tip()
    if missing or tip != intent.tip:
        lacking = [images[blob] for blob in sorted(missing)]
        intent = record_intent(context, tip, *make_objects(context, location, tip, intent.operation, lacking))
    unfinished = [file for file in files if file.state is State.BEFORE]
    blobs = context.repo.images(side for file in unfinished for side in file.change.sides)
    changes = [(file.change.with_bytes(blobs), file.temporary) for file in unfinished]
    for change, temporary in changes:
        context.files.drop(change.path, temporary)
        context.files.put(change, temporary)
    advance(context, location, intent)
    for change, temporary in changes:
        context.files.complete(change, temporary)
    follow_tip(context.repo, location, tip, intent.operation.changes)
    return None


def _is_edited(file: FileOnDisk) -> bool:
    """Return whether somebody else wrote to the note, or to its displaced file, since the write began."""
    return file.is_foreign or file.state is State.OTHER


def _remove_displaced(context: WriteContext, files: Sequence[FileOnDisk]) -> bool:
    """Remove the displaced files. Return False if one was just saved, for the next recovery to check again."""
    for file in files:
        if file.is_foreign and file.state is State.AFTER:
            context.files.put_back(file.change.path, file.temporary, file.note)
            if _displaced(context, file.change.path, file.temporary) not in (None, file.note):
                return False
        context.files.drop(file.change.path, file.temporary)
    return True


def _examine(context: WriteContext, location: RepoLocation, intent: Intent) -> list[FileOnDisk]:
    files = []
    for number, change in enumerate(intent.operation.changes):
        temporary = intent.temporary_name(number)
        note, state = _note(context, location, change)
        displaced = _displaced(context, change.path, temporary)
        is_foreign = _is_foreign(context, location, change, displaced)
        files.append(FileOnDisk(change, temporary, state, note, displaced, is_foreign))
    return files


def _displaced(context: WriteContext, path: str, temporary: str) -> bytes | None:
    try:
        return context.files.displaced(path, temporary)
    except VaultReadError as error:
        if error.reason in _ELSEWHERE:
            return None
        raise VaultWriteError(error.reason, error.message, hint=error.hint, path=path) from error


def _is_foreign(context: WriteContext, location: RepoLocation, change: BlobChange, displaced: bytes | None) -> bool:
    """Return whether the bytes are neither a side of the change nor a prefix of what was to be written."""
    if displaced is None or blob_id(displaced, location.object_format) in change.sides:
        return False
    (after,) = context.repo.blobs([change.after]) if change.after else (None,)
    return after is None or not after.startswith(displaced)


def _note(context: WriteContext, location: RepoLocation, change: BlobChange) -> tuple[bytes | None, State]:
    try:
        note = context.files.read(change.path)
    except VaultReadError as error:
        if error.reason is Reason.ROOT_MISSING:
            raise VaultWriteError(error.reason, error.message, hint=error.hint) from error
        return None, State.OTHER
    blob = None if note is None else blob_id(note, location.object_format)
    return note, State.AFTER if blob == change.after else State.BEFORE if blob == change.before else State.OTHER


def _record(context: WriteContext, location: RepoLocation, operation: Operation, files: Sequence[FileOnDisk]) -> str:
    """Append a record of what a write displaced to the chain of operations. Return its id, for `donna diff`."""
    images = {blob_id(data, location.object_format): data for file in files for data in file.images()}
    changes = _known_changes(context, location, files, set(images))
    return record_changes(context, location, operation, changes, list(images.values()))


def _known_changes(
    context: WriteContext, location: RepoLocation, files: Sequence[FileOnDisk], at_hand: set[str]
) -> tuple[BlobChange, ...]:
    """Return the changes as far as their bytes are known, and one more per text that an editor left next to a note."""
    changes = [each.change for each in files]
    for file in files:
        if file.is_foreign and file.displaced is not None:
            changes.append(dataclasses.replace(file.change, before=blob_id(file.displaced, location.object_format)))
    wanted = {side for change in changes for side in change.sides if side}
    known = {blob: blob for blob in (*context.repo.existing(sorted(wanted)), *at_hand)}
    whole = (
        dataclasses.replace(change, before=known.get(change.before or ""), after=known.get(change.after or ""))
        for change in changes
    )
    return tuple(change for change in whole if change.before != change.after)


def record_changes(
    context: WriteContext,
    location: RepoLocation,
    of: Operation,
    changes: tuple[BlobChange, ...],
    images: Sequence[bytes],
    *,
    subject: str = "",
) -> str:
    """Append a record of these changes to the chain of operations, unless a recent one is equal. Return its id.

    It is not part of a commit on the branch and not an undo step: it only preserves bytes. Raises VaultWriteError.
    """
    deadline = time.monotonic() + REBUILD_PATIENCE_SECONDS
    changes = tuple(
        BlobChange(path=change.path, before=change.before, after=change.after, mode=change.mode) for change in changes
    )
    while True:
        recent = list(each_operation(context.repo, context.repo.record(), limit=_RECENT))
        same = (each for each in recent if each.kind is OperationKind.KEPT and each.changes == changes)
        if (known := next(same, None)) is not None:
            return known.id
        record = dataclasses.replace(
            of,
            id=new_operation_id(recent[0].id if recent else ""),
            kind=OperationKind.KEPT,
            subject=subject or f"Saved from an interrupted write: {of.subject}",
            at=time.time(),
            changes=changes,
            undoes=(),
            redoes=(),
        )
        ref = location.pending(context.journal.home(), "kept")
        previous, commit = prepare_record(context.repo, record, context.author, images, ref=ref)
        if context.repo.append_record(previous, commit, f"donna: {record.kind}"):
            return record.id
        if time.monotonic() > deadline:
            raise VaultWriteError(Reason.GIT_LOCKED, "another program is changing Donna's own refs", hint="try again")


def _edited_meanwhile(intent: Intent, files: Sequence[FileOnDisk], kept: str) -> VaultWriteError:
    path = next((file.change.path for file in files if _is_edited(file)), intent.operation.changes[0].path)
    message = "Donna was stopped while writing, and this note was edited since: it was not changed"
    return VaultWriteError(Reason.CONFLICT, message, hint=f"its previous text is saved: donna diff {kept}", path=path)
