"""After a crash: finishes the write that was under way, or drops it, and removes what it left behind."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from donna_tui.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.changes import BlobChange, Change
from donna_tui.vault.commits import blob_id, prepare
from donna_tui.vault.journal import Intent
from donna_tui.vault.protocol import Workshop, advance, intend
from donna_tui.vault.repository import Place
from donna_tui.vault.userindex import COPY, follow_tip, nothing_staged

EMPTY_LOCK_SECONDS = 1.0
"""How long an empty lock must stand still before it counts as left behind: git fills a lock at once."""


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
    _remove_stale_locks(place, intent)
    if intent is None:
        return None
    states = [_settle(shop, place, intent, number) for number in range(len(intent.operation.changes))]
    clash = None
    if _is_done(shop, intent):
        _follow(shop, place, intent)
    elif State.OTHER in states:
        clash = _clash(intent, states)
    elif State.AFTER in states:
        _finish(shop, place, intent, states)
    shop.journal.clear()
    return clash


def _is_done(shop: Workshop, intent: Intent) -> bool:
    """Whether the operation is in the history. Git moves the branch first: a record that was left behind catches up."""
    tip = shop.repo.tip()
    if _contains(shop, tip.record, intent.record):
        return True
    if tip.commit is None or not _contains(shop, tip.commit, intent.operation.commit):
        return False
    if tip.record == intent.previous_record:
        shop.repo.advance(tip, tip.commit, intent.record, f"donna: {intent.operation.kind}")
    return _contains(shop, shop.repo.record(), intent.record)


def _contains(shop: Workshop, tip: str | None, commit: str) -> bool:
    return bool(tip) and shop.repo.command.ask("merge-base", "--is-ancestor", commit, str(tip)).status == 0


def _settle(shop: Workshop, place: Place, intent: Intent, number: int) -> State:
    """The state of one note, after what waited beside it was put away or, if it is the user's, given its place."""
    change, waiting = intent.operation.changes[number], intent.waiting(number)
    state = _state(place, change, _bytes(shop, change.path))
    with contextlib.suppress(VaultReadError):
        left = shop.files.displaced(change.path, waiting)
        if left is None:
            return state
        known = (change.before, change.after)
        if blob_id(left, place.object_format) not in known and state is State.AFTER:
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
    for number, (change, state) in enumerate(zip(intent.operation.changes, states, strict=True)):
        if state is State.BEFORE:
            before, after = shop.repo.blobs([each or "0" * 40 for each in (change.before, change.after)])
            shop.files.put(
                Change(path=change.path, before=before, after=after, mode=change.mode), intent.waiting(number)
            )
    tip = shop.repo.tip()
    clean = nothing_staged(shop.repo, tip)
    if tip != intent.tip:
        intent = intend(shop, tip, prepare(shop.repo, place, tip, intent.operation, shop.author))
    advance(shop, place, intent)
    if clean:
        follow_tip(shop.repo, place, intent.operation.changes)


def _follow(shop: Workshop, place: Place, intent: Intent) -> None:
    """The branch has moved; perhaps the user's index has not followed yet."""
    with contextlib.suppress(DonnaError):
        if shop.repo.tip().commit == intent.operation.commit and nothing_staged(shop.repo, intent.tip):
            follow_tip(shop.repo, place, intent.operation.changes)


def _clash(intent: Intent, states: list[State]) -> VaultWriteError:
    number = states.index(State.OTHER)
    return VaultWriteError(
        Reason.CONFLICT,
        "Donna was stopped while writing, and this note was edited since: it stays as you left it",
        hint=f"what it held before is kept in the record {intent.record[:12]}",
        path=intent.operation.changes[number].path,
    )


def _remove_stale_locks(place: Place, intent: Intent | None) -> None:
    """Remove locks that a stopped write of ours left: nobody else writes as Donna now, and others' are told apart."""
    for lock in (place.common_dir / "refs" / "donna").rglob("*.lock"):
        _unlink(lock)
    copy, index_lock = place.git_dir / COPY, place.git_dir / "index.lock"
    with contextlib.suppress(OSError):
        if copy.samefile(index_lock):
            _unlink(index_lock)
    _unlink(copy)
    _unlink(copy.with_name(f"{COPY}.lock"))
    for lock in _left_behind(place, intent) if intent is not None else ():
        _unlink(lock)


def _left_behind(place: Place, intent: Intent) -> list[Path]:
    """The locks of the branch that hold the very commit we were about to set, or stay empty since our write began."""
    empty: dict[Path, float] = {}
    ours: list[Path] = []
    for lock in _branch_locks(place, intent):
        with contextlib.suppress(OSError, ValueError):
            written, text = lock.stat().st_mtime, lock.read_text(encoding="ascii").strip()
            if text == intent.operation.commit:
                ours.append(lock)
            elif not text and written >= intent.since - 1:
                empty[lock] = written
    if empty:
        time.sleep(EMPTY_LOCK_SECONDS)
    return ours + [lock for lock, written in empty.items() if _stands_still(lock, written)]


def _branch_locks(place: Place, intent: Intent) -> Iterator[Path]:
    yield place.git_dir / "HEAD.lock"
    if intent.ref != "HEAD":
        yield place.common_dir / f"{intent.ref}.lock"


def _stands_still(lock: Path, written: float) -> bool:
    try:
        found = lock.stat()
    except OSError:
        return False
    return found.st_mtime == written and found.st_size == 0


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
