"""The user's own index: it follows the branch where nothing is staged, and is left alone where something is."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from donna_tui.errors import VaultWriteError
from donna_tui.vault.changes import BlobChange
from donna_tui.vault.gitcommand import refusal
from donna_tui.vault.repository import GitRepo, Place, Tip

COPY = "donna-index"
"""The name of our copy in git's folder: what it is, should it ever be found there."""

_PATIENCE_SECONDS = 1.0
"""How long another program may hold the index before it is left as it is."""


class _Stamp(NamedTuple):
    """What changes when somebody else writes the index."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def nothing_staged(repo: GitRepo, tip: Tip) -> bool:
    """Whether the index says exactly what the tip says, so that it holds no work of the user's."""
    if tip.commit is None:
        answer = repo.command.ask("ls-files", "-z", "--cached", ":/", literal=False)
    else:
        answer = repo.command.ask("diff-index", "--cached", "--quiet", "--no-ext-diff", tip.commit, "--")
    if answer.status not in (0, 1):
        raise refusal("diff-index" if tip.commit else "ls-files", answer.complaint)
    return answer.status == 0 and not answer.output


def follow_tip(repo: GitRepo, place: Place, changes: Sequence[BlobChange]) -> bool:
    """Make the index say of these notes what the branch says now; False if it stays as it is.

    Without this, git would show the user a staged change that takes Donna's back. Another program may hold the index
    for a moment.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    with contextlib.suppress(OSError, VaultWriteError):
        while not _followed(repo, place, changes):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
    return False


def _followed(repo: GitRepo, place: Place, changes: Sequence[BlobChange]) -> bool:
    """Try once; False if the index is busy. Raises OSError and VaultWriteError.

    The new index is complete before it takes the lock, and takes the index's place by a rename: no moment leaves half
    an index.
    """
    index, copy = place.git_dir / "index", place.git_dir / COPY
    try:
        before = _stamp(index)
        if before is not None:
            _copy(index, copy)
            os.utime(copy, (0, 0))  # or git would read files as young as the index, by way of the vault's filters
        given = b"".join(_entry(place, change) for change in changes)
        repo.command.run("update-index", "-z", "--index-info", given=given, index=copy)
        if before is not None:
            os.utime(copy, ns=(before.mtime_ns, before.mtime_ns))  # what was too young to trust still is
        return _install(copy, index, before)
    finally:
        for left in (copy, copy.with_name(f"{COPY}.lock")):
            with contextlib.suppress(OSError):
                left.unlink()


def _copy(source: Path, target: Path) -> None:
    """Copy a file to a new one; whatever has its name is removed and never written through."""
    with contextlib.suppress(FileNotFoundError):
        target.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with source.open("rb") as old, open(target, "wb", opener=lambda path, _: os.open(path, flags, 0o666)) as new:
        shutil.copyfileobj(old, new, 1 << 20)


def _entry(place: Place, change: BlobChange) -> bytes:
    what = f"{change.mode:o} {change.after}" if change.after else f"0 {'0' * len(change.before or '')}"
    return os.fsencode(f"{what}\t{place.full(change.path)}\0")


def _install(copy: Path, index: Path, before: _Stamp | None) -> bool:
    lock = index.with_name("index.lock")
    try:
        os.link(copy, lock)
    except FileExistsError:
        return False
    try:
        if _stamp(index) != before:
            return False
        lock.rename(index)
    finally:
        with contextlib.suppress(FileNotFoundError):
            if lock.samefile(copy):
                lock.unlink()
    return True


def _stamp(index: Path) -> _Stamp | None:
    try:
        found = index.stat()
    except FileNotFoundError:
        return None
    return _Stamp(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
