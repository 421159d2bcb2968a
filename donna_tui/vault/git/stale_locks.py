"""Remove locks that an interrupted git left in the repository; the intent distinguishes them from those of others."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

from donna_tui.vault.git.index import COPY
from donna_tui.vault.git.repository import OWN_REFS, RepoLocation
from donna_tui.vault.git.trust import read_small
from donna_tui.vault.write.journal import Intent

EMPTY_LOCK_SECONDS = 1.0
"""Seconds for which an empty lock must be unchanged before it counts as stale: git fills a lock at once."""


_OWN_LOCK = re.compile(r"(?:[0-9a-f]{16}/)?(?:operations|pending/[\w/-]+)\.lock", re.ASCII)
"""The locks of Donna's own refs, relative to their folder."""


def remove_stale_locks(place: RepoLocation, intent: Intent | None) -> None:
    """Remove the locks of an interrupted write. The caller holds Donna's write lock; other programs' locks are kept."""
    _remove_locks_of_own_refs(place.common_dir)
    copy, index_lock = place.git_dir / COPY, place.git_dir / "index.lock"
    with contextlib.suppress(OSError):
        if copy.samefile(index_lock):
            _unlink(index_lock)
    _unlink(copy)
    _unlink(copy.with_name(f"{COPY}.lock"))
    for lock in _abandoned_locks(place, intent) if intent is not None else ():
        _unlink(lock)


def _remove_locks_of_own_refs(common_dir: Path) -> None:
    """Walk Donna's refs by file descriptors, so that a symbolic link, even one created meanwhile, is not followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.ExitStack() as held, contextlib.suppress(OSError):
        folder = os.open(common_dir, flags)
        held.callback(os.close, folder)
        for name in OWN_REFS.split("/"):
            folder = os.open(name, flags, dir_fd=folder)
            held.callback(os.close, folder)
        for where, _, files, descriptor in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
            for name in files:
                if _OWN_LOCK.fullmatch(f"{where}/{name}".removeprefix("./")):
                    with contextlib.suppress(OSError):
                        os.unlink(name, dir_fd=descriptor)


def _abandoned_locks(place: RepoLocation, intent: Intent) -> list[Path]:
    """Return the locks of the branch that hold the commit of the intent, or have been empty since the write began."""
    empty: dict[Path, float] = {}
    ours: list[Path] = []
    locks = [place.git_dir / "HEAD.lock"]
    if intent.ref != "HEAD":
        locks.append(place.common_dir / f"{intent.ref}.lock")
    for lock in locks:
        with contextlib.suppress(OSError, ValueError):
            data = read_small(lock)
            if data is None:
                continue
            written, text = lock.lstat().st_mtime, data.decode("ascii").strip()
            if text == intent.operation.commit:
                ours.append(lock)
            elif not text and written >= intent.since - 1:
                empty[lock] = written
    if empty:
        time.sleep(EMPTY_LOCK_SECONDS)
    return ours + [lock for lock, written in empty.items() if _is_unchanged(lock, written)]


def _is_unchanged(lock: Path, written: float) -> bool:
    try:
        found = lock.lstat()
    except OSError:
        return False
    return found.st_mtime == written and found.st_size == 0


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
