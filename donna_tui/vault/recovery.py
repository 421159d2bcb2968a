"""After a crash: finishes the write that was under way, or drops it, and removes what it left behind."""

from __future__ import annotations

import contextlib
from enum import Enum

from donna_tui.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.changes import BlobChange, Change
from donna_tui.vault.commits import blob_id
from donna_tui.vault.journal import Intent
from donna_tui.vault.leftovers import remove_stale_locks
from donna_tui.vault.protocol import Workshop, advance, intend, is_done, make_objects
from donna_tui.vault.repository import Place
from donna_tui.vault.userindex import follow_tip, nothing_staged

_ELSEWHERE = frozenset({Reason.PATH_ESCAPE, Reason.NOT_REGULAR})
"""Where a folder or a file made way for something else, nothing of a write can wait any more."""


class State(Enum):
    """What a note holds that a write was to change."""

    BEFORE = "before"
    AFTER = "after"
    OTHER = "other"


def recover(shop: Workshop, place: Place) -> VaultWriteError | None:
    """Bring the vault to the end or to the beginning of the write that a crash cut short. Must be called `alone`.

    Returns what to tell the user if somebody edited a note meanwhile: then nothing is written, and what the note held
    before stays in the record. Raises VaultWriteError if it is not possible now; the next call goes on.
    """
    intent = shop.journal.read()
    remove_stale_locks(place, intent)
    if intent is None:
        return None
    states = [_settle(shop, place, intent, number) for number in range(len(intent.operation.changes))]
    clash = None
    if is_done(shop, intent):
        _follow(shop, place, intent)
    elif State.OTHER in states:
        clash = _clash(intent, states)
    elif State.AFTER in states and _is_whole(shop, intent):
        _finish(shop, place, intent, states)
    elif State.AFTER in states:
        clash = _lost(intent)
    shop.journal.clear()
    return clash


def _settle(shop: Workshop, place: Place, intent: Intent, number: int) -> State:
    """The state of one note, after what waited beside it was put away or, if it is the user's, given its place."""
    change, waiting = intent.operation.changes[number], intent.waiting(number)
    state = _state(place, change, _bytes(shop, change.path))
    try:
        left = shop.files.displaced(change.path, waiting)
    except VaultReadError as error:
        if error.reason in _ELSEWHERE:
            return state
        raise VaultWriteError(error.reason, error.message, hint=error.hint, path=change.path) from error
    ours = left is None or blob_id(left, place.object_format) in (change.before, change.after)
    if state is State.AFTER and not ours:
        shop.files.put_back(change.path, waiting)
        return State.OTHER
    shop.files.drop(change.path, waiting)
    return state


def _bytes(shop: Workshop, path: str) -> bytes | VaultReadError | None:
    try:
        return shop.files.read(path)
    except VaultReadError as error:
        if error.reason is Reason.ROOT_MISSING:
            raise VaultWriteError(error.reason, error.message, hint=error.hint) from error
        return error


def _state(place: Place, change: BlobChange, found: bytes | VaultReadError | None) -> State:
    if isinstance(found, VaultReadError):
        return State.OTHER
    blob = None if found is None else blob_id(found, place.object_format)
    return State.AFTER if blob == change.after else State.BEFORE if blob == change.before else State.OTHER


def _finish(shop: Workshop, place: Place, intent: Intent, states: list[State]) -> None:
    """Go on to the end: put the notes that are still as they were, and move the branch."""
    shop.repo.check_at_rest(place)
    unfinished = [number for number, state in enumerate(states) if state is State.BEFORE]
    changes = {number: _with_bytes(shop, intent.operation.changes[number]) for number in unfinished}
    for number, change in changes.items():
        shop.files.put(change, intent.waiting(number))
    tip = shop.repo.tip()
    clean = nothing_staged(shop.repo, tip)
    if tip != intent.tip:
        intent = intend(shop, tip, make_objects(shop, place, tip, intent.operation))
    advance(shop, place, intent)
    for number, change in changes.items():
        shop.files.settle(change, intent.waiting(number))
    if clean:
        follow_tip(shop.repo, place, intent.operation.changes)


def _with_bytes(shop: Workshop, change: BlobChange) -> Change:
    sides = [each for each in (change.before, change.after) if each]
    images: dict[str | None, bytes | None] = dict(zip(sides, shop.repo.blobs(sides), strict=True))
    return Change(path=change.path, before=images.get(change.before), after=images.get(change.after), mode=change.mode)


def _follow(shop: Workshop, place: Place, intent: Intent) -> None:
    """The branch has moved; perhaps the user's index has not followed yet."""
    with contextlib.suppress(DonnaError):
        if shop.repo.tip().commit == intent.operation.commit and nothing_staged(shop.repo, intent.tip):
            follow_tip(shop.repo, place, intent.operation.changes)


def _is_whole(shop: Workshop, intent: Intent) -> bool:
    """Whether git still has what was being written; not if somebody has made the repository anew."""
    wanted = {side for change in intent.operation.changes for side in (change.before, change.after) if side}
    return shop.repo.existing(sorted(wanted)) >= wanted


def _lost(intent: Intent) -> VaultWriteError:
    return VaultWriteError(
        Reason.GIT_FAILED,
        "Donna was stopped while writing, and git no longer has what she wrote: the notes stay as they are",
        hint="look at them: some may hold the new text and some the old one",
        path=intent.operation.changes[0].path,
    )


def _clash(intent: Intent, states: list[State]) -> VaultWriteError:
    number = states.index(State.OTHER)
    return VaultWriteError(
        Reason.CONFLICT,
        "Donna was stopped while writing, and this note was edited since: it stays as you left it",
        hint=f"what it held before is kept in the record {intent.record[:12]}",
        path=intent.operation.changes[number].path,
    )
