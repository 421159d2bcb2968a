"""Execute a plan: check it, write git's objects, the intent and the files, and move the branch.

A note always has either its old or its new bytes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from enum import StrEnum

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.attributes import Attributes, attributes_of, stored_changes
from donna_tui.vault.git.command import HELD, refusal
from donna_tui.vault.git.index import Stamp, check_unstaged, follow_tip, remove_stale_locks
from donna_tui.vault.git.objects import Author, prepare
from donna_tui.vault.git.operations import new_operation_id, newest_id
from donna_tui.vault.git.repository import GitRepo, RefState, RepoLocation
from donna_tui.vault.git.tracked import mark_untracked, unstorable, untracked_before
from donna_tui.vault.git.trust import read_small
from donna_tui.vault.paths import folders_above
from donna_tui.vault.write.changes import Change, Operation, OperationKind, Outcome, Plan, etag_of
from donna_tui.vault.write.durable import refused_write
from donna_tui.vault.write.files import VaultFiles, changed_meanwhile, vault_errors
from donna_tui.vault.write.journal import Intent, Journal
from donna_tui.vault.write.rules import WriteRules

LOCK_PATIENCE_SECONDS = 5.0

REBUILD_PATIENCE_SECONDS = 3.0
"""Seconds for which a commit is made again while the branch moves: less than another Donna waits for this one."""


class Step(StrEnum):
    """The steps of a write, after each of which the tests of faults interrupt it."""

    CHECKED = "checked"
    PREPARED = "prepared"
    INTENDED = "intended"
    PUT = "put"
    ADVANCED = "advanced"
    FOLLOWED = "followed"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class WriteContext:
    repo: GitRepo
    files: VaultFiles
    journal: Journal
    rules: WriteRules
    author: Author
    reached: Callable[[Step], None] = lambda _: None


@contextlib.contextmanager
def write_lock(location: RepoLocation) -> Iterator[None]:
    """Hold the exclusive write lock of the repository, against other Donnas and git processes left by a killed one.

    Raises VaultWriteError (`busy`) if it is held for too long.
    """
    try:
        descriptor = os.open(location.common_dir, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except OSError as error:
        raise refused_write(error, "") from error
    try:
        deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
        while not _locked(descriptor):
            if time.monotonic() > deadline:
                raise VaultWriteError(Reason.BUSY, "another Donna process is writing to this vault", hint="try again")
            time.sleep(0.01)
        held = HELD.set((descriptor,))
        try:
            yield
        finally:
            HELD.reset(held)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise refused_write(error, "") from error
    return True


def execute(context: WriteContext, location: RepoLocation, plan: Plan, actor: str, session: str = "") -> Outcome:
    """Execute a plan as one operation. Must be called within `write_lock`, with nothing left to recover.

    Raises VaultWriteError; then the notes are unchanged.
    """
    context.repo.check_at_rest(location)
    tip = context.repo.tip()
    if plan.is_empty:
        return Outcome(operation="", commit=tip.commit or "", kind=plan.kind, paths=(), etags=())
    with ThreadPoolExecutor(2, thread_name_prefix="donna-read-history") as pool:
        # Each git process takes milliseconds to start; these need none of the others.
        newest = pool.submit(copy_context().run, newest_id, context.repo, tip.record)
        untracked = pool.submit(copy_context().run, untracked_before, context.repo, location, tip, plan)
        rules = _check(context, location, plan)
        plan = _with_owners(context, plan)
        changes, images = stored_changes(context.repo, location, tip, plan.changes, rules)
        changes = mark_untracked(context.repo, location, tip, context.rules, plan, changes, untracked.result())
        index = check_unstaged(context.repo, location, tip, changes)
    context.reached(Step.CHECKED)
    needed = {folder for change in plan.changes if change.after is not None for folder in folders_above(change.path)}
    operation = Operation(
        id=new_operation_id(newest.result()),
        kind=plan.kind,
        actor=actor,
        subject=plan.subject,
        at=time.time(),
        commit="",
        changes=changes,
        undoes=plan.undoes,
        redoes=plan.redoes,
        session=session,
        made=tuple(folder for folder in sorted(needed) if not context.files.is_folder(folder)),
    )
    images += [data for change in plan.changes for data in change.sides if data is not None]
    prepared = make_objects(context, location, tip, operation, images)
    context.reached(Step.PREPARED)
    commit = _change_vault(context, location, tip, prepared, () if plan.on_disk else plan.changes, index)
    return Outcome(
        operation=operation.id,
        commit=commit,
        kind=plan.kind,
        paths=plan.paths,
        etags=tuple("" if change.after is None else etag_of(change.after) for change in plan.changes),
        record_only=operation.hidden,
    )


def _check(context: WriteContext, location: RepoLocation, plan: Plan) -> Mapping[str, Attributes]:
    """Return the attributes of the notes. Raises VaultWriteError for a change that is not allowed or not possible."""
    for change in plan.changes:
        context.rules.check(change)
        with vault_errors(change.path):
            here = context.files.read(change.path)
        if here != (change.after if plan.on_disk else change.before):
            raise changed_meanwhile(change.path)
    rules = attributes_of(context.repo, location, plan.paths)
    refusals = unstorable(context.repo, location, context.files, plan.changes, rules)
    if refusals:
        raise next(iter(refusals.values()))
    return rules


def _with_owners(context: WriteContext, plan: Plan) -> Plan:
    """Add the owners of removed files, so that a move and an undo can apply them to the files they create."""
    owners = {change.path: context.files.owner(change.path) for change in plan.changes if change.after is None}
    moved = next(iter(owners.values()), "") if plan.kind is OperationKind.MOVE else ""
    if not any(owners.values()):
        return plan
    changes = (
        replace(change, owner=owners.get(change.path) or change.owner or (moved if change.before is None else ""))
        for change in plan.changes
    )
    return replace(plan, changes=tuple(changes))


def make_objects(
    context: WriteContext, location: RepoLocation, tip: RefState, operation: Operation, images: Iterable[bytes] = ()
) -> tuple[Operation, str]:
    """Call `prepare`, and on an error remove the crash report that git leaves in the repository."""
    try:
        return prepare(context.repo, location, tip, operation, context.author, images, home=context.journal.home())
    except VaultWriteError:
        ours = f"parent process     : {os.getpid()}\n".encode()
        for report in location.git_dir.glob("fast_import_crash_*"):
            text = read_small(report)
            if text is not None and (not text or ours in text):
                with contextlib.suppress(OSError):
                    report.unlink()
        raise


def _change_vault(
    context: WriteContext,
    location: RepoLocation,
    tip: RefState,
    prepared: tuple[Operation, str],
    changes: tuple[Change, ...],
    index: Stamp | None,
) -> str:
    intent = record_intent(context, tip, *prepared)
    context.reached(Step.INTENDED)
    files = [(change, intent.temporary_name(number)) for number, change in enumerate(changes)]
    try:
        for file in files:
            context.files.put(*file)
            context.reached(Step.PUT)
        commit = advance(context, location, intent)
    except BaseException:
        _revert(context, intent, files)
        raise
    context.reached(Step.ADVANCED)
    followed = follow_tip(context.repo, location, tip, intent.operation.changes, index)
    context.reached(Step.FOLLOWED)
    with contextlib.suppress(VaultWriteError):  # what cannot be removed now is left to the next recovery
        completed = [context.files.complete(*file) for file in files]
        if followed and all(completed):
            context.journal.clear()
    context.reached(Step.CLEARED)
    return commit


def record_intent(context: WriteContext, tip: RefState, operation: Operation, record: str) -> Intent:
    intent = Intent(
        operation=operation,
        ref=tip.ref,
        parent=tip.commit,
        record=record,
        previous_record=tip.record,
        since=time.time(),
    )
    context.journal.write(intent)
    return intent


def advance(context: WriteContext, location: RepoLocation, intent: Intent) -> str:
    """Move the branch to the operation's commit, which is made again if the branch has moved. Return the commit."""
    deadline = time.monotonic() + REBUILD_PATIENCE_SECONDS
    while not _moved(context, location, intent):
        if time.monotonic() > deadline:
            message = "the branch keeps changing: another program is committing"
            raise VaultWriteError(Reason.GIT_LOCKED, message, hint="try again in a moment")
        context.repo.check_at_rest(location)
        tip = context.repo.tip()
        intent = record_intent(context, tip, *make_objects(context, location, tip, intent.operation))
    return intent.record if intent.operation.is_record_only else intent.operation.commit


def _moved(context: WriteContext, location: RepoLocation, intent: Intent) -> bool:
    """Move the branch once. The result is read from the history, not from git's answer, which may have been cut off."""
    operation = intent.operation
    try:
        moved = context.repo.advance(intent.tip, operation.commit, intent.record, f"donna: {operation.kind}")
    except VaultWriteError as error:
        if error.reason is not Reason.GIT_LOCKED:
            remove_stale_locks(location, intent)
        if ensure_recorded(context, intent):
            return True
        raise
    return moved or ensure_recorded(context, intent)


def ensure_recorded(context: WriteContext, intent: Intent) -> bool:
    """Return whether the operation is in the history, after appending its record if git has moved only the branch."""
    tip, operation = context.repo.tip(), intent.operation
    if _contains(context, tip.record, intent.record):
        return True
    if tip.commit is None or operation.is_record_only or not _contains(context, tip.commit, operation.commit):
        return False
    if tip.record == intent.previous_record:
        context.repo.advance(tip, tip.commit, intent.record, f"donna: {operation.kind}")
    return _contains(context, context.repo.record(), intent.record)


def _contains(context: WriteContext, tip: str | None, commit: str) -> bool:
    if tip is None:
        return False
    answer = context.repo.command.run("merge-base", "--is-ancestor", commit, tip, check=False)
    if answer.status not in (0, 1) and "Not a valid" not in answer.first_error:
        raise refusal("merge-base", answer.first_error)
    return answer.status == 0


def _revert(context: WriteContext, intent: Intent, files: list[tuple[Change, str]]) -> None:
    """Undo the files of a failed write. What cannot be undone now is left to the next recovery."""
    with contextlib.suppress(VaultWriteError):
        latest = context.journal.read() or intent
        if ensure_recorded(context, latest):
            return
        undone = [context.files.revert(*file) for file in reversed(files)]
        if all(undone):
            context.journal.clear()
