"""Carries out a plan: check, objects, intent, files, branch. A note is at every moment its old bytes or its new."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from donna_tui.errors import DonnaError, Reason, VaultWriteError
from donna_tui.vault.changes import Change, Operation, Outcome, Plan, etag_of
from donna_tui.vault.commits import Author, Prepared, blob_changes, prepare
from donna_tui.vault.files import VaultFiles, changed_meanwhile
from donna_tui.vault.guard import WriteRules
from donna_tui.vault.journal import Intent, Journal
from donna_tui.vault.kept import not_kept
from donna_tui.vault.operations import each_operation, new_operation_id
from donna_tui.vault.repository import GitRepo, Place, Tip
from donna_tui.vault.userindex import follow_tip, nothing_staged

MOST_REBUILDS = 5
"""How often a commit is made anew because the branch moved meanwhile."""

LOCK_PATIENCE_SECONDS = 5.0


class Step(StrEnum):
    """The steps of a write, for those who want to know how far it is."""

    CHECKED = "checked"
    PREPARED = "prepared"
    INTENDED = "intended"
    PUT = "put"
    ADVANCED = "advanced"
    FOLLOWED = "followed"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a write works with."""

    repo: GitRepo
    files: VaultFiles
    journal: Journal
    rules: WriteRules
    author: Author
    reached: Callable[[Step], None] = lambda _: None


@contextlib.contextmanager
def alone(place: Place) -> Iterator[None]:
    """No other Donna writes to this repository meanwhile. Raises VaultWriteError (`busy`) if one does for too long."""
    descriptor = os.open(place.common_dir, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
        while not _locked(descriptor):
            if time.monotonic() > deadline:
                raise VaultWriteError(Reason.BUSY, "another Donna is writing to this vault", hint="try again")
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def carry_out(shop: Workshop, place: Place, plan: Plan, actor: str) -> Outcome:
    """Do what a plan says, as one operation. Must be called `alone`, with nothing left to recover.

    Raises VaultWriteError; then the notes are as they were before.
    """
    shop.repo.check_at_rest(place)
    tip = shop.repo.tip()
    if plan.is_empty:
        return Outcome(operation="", commit=tip.commit or "", kind=plan.kind, paths=(), etags=())
    _check(shop, place, plan)
    shop.reached(Step.CHECKED)
    operation = _operation(shop, place, tip, plan, actor)
    images = [data for change in plan.changes for data in (change.before, change.after) if data is not None]
    prepared = prepare(shop.repo, place, tip, operation, shop.author, images)
    shop.reached(Step.PREPARED)
    commit = _change_vault(shop, place, tip, prepared, plan.changes)
    return Outcome(
        operation=operation.id,
        commit=commit,
        kind=plan.kind,
        paths=plan.paths,
        etags=tuple("" if each.after is None else etag_of(each.after) for each in plan.changes),
    )


def _check(shop: Workshop, place: Place, plan: Plan) -> None:
    for change in plan.changes:
        shop.rules.check(change)
        if shop.files.read(change.path) != change.before:
            raise changed_meanwhile(change.path)
    refusals = not_kept(shop.repo, place, shop.files, plan.changes)
    if refusals:
        raise next(iter(refusals.values()))


def _operation(shop: Workshop, place: Place, tip: Tip, plan: Plan, actor: str) -> Operation:
    newest = next(each_operation(shop.repo, tip.record, limit=1), None)
    return Operation(
        id=new_operation_id(newest.id if newest else ""),
        kind=plan.kind,
        actor=actor,
        subject=plan.subject,
        at=time.time(),
        commit="",
        changes=blob_changes(plan.changes, place.object_format),
        undoes=plan.undoes,
        redoes=plan.redoes,
    )


def _change_vault(shop: Workshop, place: Place, tip: Tip, prepared: Prepared, changes: tuple[Change, ...]) -> str:
    intent = intend(shop, tip, prepared)
    clean = nothing_staged(shop.repo, tip)
    shop.reached(Step.INTENDED)
    try:
        for number, change in enumerate(changes):
            shop.files.put(change, intent.waiting(number))
            shop.reached(Step.PUT)
        commit = advance(shop, place, intent)
    except BaseException:
        _take_back(shop, intent, changes)
        raise
    shop.reached(Step.ADVANCED)
    if clean:
        follow_tip(shop.repo, place, intent.operation.changes)
    shop.reached(Step.FOLLOWED)
    shop.journal.clear()
    shop.reached(Step.CLEARED)
    return commit


def intend(shop: Workshop, tip: Tip, prepared: Prepared) -> Intent:
    """Write down what is about to happen."""
    intent = Intent(
        operation=prepared.operation,
        ref=tip.ref,
        parent=tip.commit,
        record=prepared.record,
        previous_record=tip.record,
        since=time.time(),
    )
    shop.journal.write(intent)
    return intent


def advance(shop: Workshop, place: Place, intent: Intent) -> str:
    """Move the branch to the operation's commit, made anew on a branch that has moved. The commit that it is now."""
    for _ in range(MOST_REBUILDS):
        if _moved(shop, intent):
            return intent.operation.commit
        shop.repo.check_at_rest(place)
        tip = shop.repo.tip()
        intent = intend(shop, tip, prepare(shop.repo, place, tip, intent.operation, shop.author))
    raise VaultWriteError(
        Reason.GIT_LOCKED, "the branch keeps moving: another program is committing", hint="try again in a moment"
    )


def _moved(shop: Workshop, intent: Intent) -> bool:
    """Move the branch once. What counts is where the records are, not what git said before it was cut off."""
    operation = intent.operation
    try:
        moved = shop.repo.advance(intent.tip, operation.commit, intent.record, f"donna: {operation.kind}")
    except VaultWriteError:
        if shop.repo.record() == intent.record:
            return True
        raise
    return moved or shop.repo.record() == intent.record


def _take_back(shop: Workshop, intent: Intent, changes: tuple[Change, ...]) -> None:
    """Undo the files of a write that failed. What cannot be taken back now is left to the next recovery."""
    with contextlib.suppress(DonnaError, OSError):
        for number, change in reversed(list(enumerate(changes))):
            if shop.files.read(change.path) == change.after:
                shop.files.put(change.reversed, intent.waiting(number))
        shop.journal.clear()
