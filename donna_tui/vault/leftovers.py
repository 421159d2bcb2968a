"""Locks that a git which was stopped half-way leaves in the repository: the intent tells them from those of others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from donna_tui.vault.journal import Intent
from donna_tui.vault.repository import Place
from donna_tui.vault.userindex import COPY

EMPTY_LOCK_SECONDS = 1.0
"""How long an empty lock must stand still before it counts as left behind: git fills a lock at once."""


def remove_stale_locks(place: Place, intent: Intent | None) -> None:
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
