"""The user's own index: it follows the branch where nothing is staged, and is left alone where something is."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from donna_tui.errors import VaultWriteError
from donna_tui.vault.changes import BlobChange
from donna_tui.vault.repository import GitRepo, Place, Tip

COPY = "donna-index"
"""The name of our copy in git's folder: what it is, should it ever be found there."""


def nothing_staged(repo: GitRepo, tip: Tip) -> bool:
    """Whether the index says exactly what the tip says, so that it holds no work of the user's."""
    if tip.commit is None:
        return not repo.command.ask("ls-files", "-z", "--cached", ":/", literal=False).output
    return repo.command.ask("diff-index", "--cached", "--quiet", "--no-ext-diff", tip.commit, "--").status == 0


def follow_tip(repo: GitRepo, place: Place, changes: Sequence[BlobChange]) -> bool:
    """Make the index say of these notes what the branch says now; False if it was busy and stays as it is.

    Without this, git would show the user a staged change that takes Donna's back. The new index is complete before
    it takes the lock, and takes the lock's place by a rename: no moment leaves half an index.
    """
    index, copy = place.git_dir / "index", place.git_dir / COPY
    try:
        before = _stamp(index)
        if before is not None:
            shutil.copyfile(index, copy)
        given = b"".join(_entry(place, change) for change in changes)
        repo.command.run("update-index", "-z", "--index-info", given=given, index=copy)
        return _install(copy, index, before)
    except (OSError, VaultWriteError):
        return False
    finally:
        for left in (copy, copy.with_name(f"{COPY}.lock")):
            with contextlib.suppress(OSError):
                left.unlink()


def _entry(place: Place, change: BlobChange) -> bytes:
    what = f"{change.mode:o} {change.after}" if change.after else f"0 {'0' * len(change.before or '')}"
    return os.fsencode(f"{what}\t{place.full(change.path)}\0")


def _install(copy: Path, index: Path, before: tuple[int, ...] | None) -> bool:
    lock = index.with_name("index.lock")
    os.link(copy, lock)
    try:
        if _stamp(index) != before:
            return False
        lock.rename(index)
    finally:
        with contextlib.suppress(FileNotFoundError):
            if lock.samefile(copy):
                lock.unlink()
    return True


def _stamp(index: Path) -> tuple[int, ...] | None:
    try:
        found = index.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
