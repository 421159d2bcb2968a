"""Update the user's own index: entries of written notes follow the branch, all others are left unchanged.

Locks that an interrupted git left are removed; the intent of its write distinguishes them from those of others.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.command import each_entry, refusal
from donna_tui.vault.git.objects import blob_id
from donna_tui.vault.git.operations import last_operation
from donna_tui.vault.git.repository import OWN_REFS, PATIENCE_SECONDS, GitRepo, RefState, RepoLocation
from donna_tui.vault.git.trust import read_small
from donna_tui.vault.write.atomic import NEW_FILE
from donna_tui.vault.write.changes import BlobChange
from donna_tui.vault.write.journal import Intent

COPY = "donna-index"
"""Name of our temporary copy in the git folder, chosen to be recognisable if it is ever left behind."""

_PATIENCE_SECONDS = 1.0
"""Seconds to wait for another program that holds the index before it is left unchanged."""

_MAX_PATHS = 500
"""Maximum number of paths on one command line."""


class Stamp(NamedTuple):
    """The file metadata that changes when another program writes the index."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def wait_for_index(location: RepoLocation) -> None:
    """Wait while another program holds the index. Raises VaultWriteError (`git_locked`) if that takes too long."""
    lock = location.git_dir / "index.lock"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while os.path.lexists(lock) and not _is_own(lock):
        if time.monotonic() > deadline:
            raise refusal("update-index", f"Unable to create '{lock}': File exists")
        time.sleep(0.02)


def _is_own(lock: Path) -> bool:
    """Return whether a lock is one of Donna's, which the next write removes if it is stale."""
    try:
        return lock.samefile(lock.with_name(COPY))
    except OSError:
        return False


def check_unstaged(repo: GitRepo, location: RepoLocation, tip: RefState, changes: Sequence[BlobChange]) -> Stamp | None:
    """Return the stamp of the index. Raises VaultWriteError (`git_busy`) if a note is staged with other text.

    After the commit, that text would be a staged change that reverts it.
    """
    before = _stamp(location.git_dir / "index")
    changes = _of_branch(changes)
    if staged := _staged(repo, location, tip, changes):
        message = "the staged text of this note differs from the file on disk"
        hint = "commit it, or unstage it: git restore --staged"
        raise VaultWriteError(Reason.GIT_BUSY, message, hint=hint, path=min(staged))
    return before


def _of_branch(changes: Sequence[BlobChange]) -> list[BlobChange]:
    """Return the changes without those in the record only, such as private notes, which have no index entry."""
    return [change for change in changes if not change.record_only]


def _staged(repo: GitRepo, location: RepoLocation, tip: RefState, changes: Sequence[BlobChange]) -> set[str]:
    """Return the notes whose index entry equals neither the tip, nor the bytes on disk, nor those being written."""
    entries = _differing(repo, tip, [change.path for change in changes])
    known = {location.full(change.path): change for change in changes}
    return {
        known[path].path
        for path, (of_tip, staged) in entries.items()
        if path in known
        and not _may_follow(known[path], of_tip, staged, location.object_format)
        and not _was_left_behind(repo, location, tip, known[path].path, staged)
    }


def _may_follow(change: BlobChange, of_tip: str | None, staged: str | None, object_format: str) -> bool:
    """Return whether an index entry may be updated. An empty entry of a file not in the tip is an intent to add."""
    is_meant = of_tip is None and staged == blob_id(b"", object_format)
    return is_meant or staged in (change.before, change.stored_before or change.before, change.after, change.in_branch)


def _was_left_behind(repo: GitRepo, location: RepoLocation, tip: RefState, path: str, staged: str | None) -> bool:
    """Return whether the index has the version from before Donna's last change, after which it was stopped."""
    last = last_operation(repo, tip.commit, path) if tip.commit else None
    if last is None:
        return False
    before = repo.command.run("ls-tree", "-z", "--full-tree", f"{last.commit}^", "--", location.full(path), check=False)
    return dict(each_entry(before.output)).get(location.full(path)) == staged


def _differing(repo: GitRepo, tip: RefState, paths: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
    """Return the blobs of tip and index, by repository path, for those of these vault paths where they differ."""
    found: dict[str, tuple[str | None, str | None]] = {}
    for start in range(0, len(paths), _MAX_PATHS):
        some = paths[start : start + _MAX_PATHS]
        if tip.commit is None:
            output = repo.command.run("ls-files", "-z", "--stage", "--full-name", "--", *some).output
            for record in os.fsdecode(output).split("\0"):
                mode_and_blob, tab, path = record.partition("\t")
                if tab:
                    found[path] = (None, mode_and_blob.split(" ")[1])
        else:
            arguments = ("--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff")
            output = repo.command.run("diff-index", *arguments, tip.commit, "--", *some).output
            fields = iter(os.fsdecode(output).split("\0"))
            for meta in fields:
                if meta:
                    old, new = (None if set(blob) == {"0"} else blob for blob in meta.split(" ")[2:4])
                    found[next(fields)] = (old, new)
    return found


def follow_tip(
    repo: GitRepo, location: RepoLocation, tip: RefState, changes: Sequence[BlobChange], since: Stamp | None = None
) -> bool:
    """Update the index entries of these notes from `tip` to the current branch. Return False if the index is busy.

    Otherwise git would show a staged change that reverts Donna's. Staged changes of other notes are kept. `since` is
    the stamp of an index that has been checked already.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    changes = _of_branch(changes)
    with contextlib.suppress(OSError, VaultWriteError):
        while changes and not _followed(repo, location, tip, changes, since):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
    return False


def _followed(
    repo: GitRepo, location: RepoLocation, tip: RefState, changes: Sequence[BlobChange], since: Stamp | None
) -> bool:
    """Try once; return False if the index is busy. Raises OSError and VaultWriteError.

    The new index is complete before the lock is taken, and replaces the old one by a rename, so that it is never
    partial.
    """
    index, copy = location.git_dir / "index", location.git_dir / COPY
    before = _stamp(index)
    if before != since or since is None:
        staged = _staged(repo, location, tip, changes)
        changes = [change for change in changes if change.path not in staged]
    try:
        if before is not None:
            _copy(index, copy)
            os.utime(copy, (0, 0))  # or git would re-read files as young as the index, through the vault's filters
        given = b"".join(_entry(location, change) for change in changes)
        # keep a sparse index sparse: git fails on an expanded one that has an intent-to-add entry
        repo.command.run("update-index", "-z", "--index-info", given=given, index=copy, as_configured=("index.sparse",))
        if before is not None:
            os.utime(copy, ns=(before.mtime_ns, before.mtime_ns))  # keep racily clean entries untrusted
        return _install(copy, index, before)
    finally:
        _unlink(copy)
        _unlink(copy.with_name(f"{COPY}.lock"))


def _copy(source: Path, target: Path) -> None:
    """Copy a file to a new one. An existing target is unlinked, never written through."""
    with contextlib.suppress(FileNotFoundError):
        target.unlink()
    with source.open("rb") as old, open(target, "wb", opener=lambda path, _: os.open(path, NEW_FILE, 0o666)) as new:
        shutil.copyfileobj(old, new, 1 << 20)


def _entry(location: RepoLocation, change: BlobChange) -> bytes:
    blob = change.in_branch
    what = f"{change.mode:o} {blob}" if blob else f"0 {'0' * len(change.before or change.after or '')}"
    return os.fsencode(f"{what}\t{location.full(change.path)}\0")


def _install(copy: Path, index: Path, before: Stamp | None) -> bool:
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


def _stamp(index: Path) -> Stamp | None:
    try:
        found = index.stat()
    except FileNotFoundError:
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


EMPTY_LOCK_SECONDS = 1.0
"""Seconds for which an empty lock must be unchanged before it counts as stale: git fills a lock at once."""

_OWN_LOCK = re.compile(r"(?:[0-9a-f]{16}/)?(?:operations|pending/[\w/-]+)\.lock", re.ASCII)
"""The locks of Donna's own refs, relative to their folder."""


def remove_stale_locks(location: RepoLocation, intent: Intent | None) -> None:
    """Remove the locks of an interrupted write. The caller holds Donna's write lock; other programs' locks are kept."""
    _remove_locks_of_own_refs(location.common_dir)
    copy, index_lock = location.git_dir / COPY, location.git_dir / "index.lock"
    with contextlib.suppress(OSError):
        if copy.samefile(index_lock):
            _unlink(index_lock)
    _unlink(copy)
    _unlink(copy.with_name(f"{COPY}.lock"))
    for lock in _abandoned_locks(location, intent) if intent is not None else ():
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


def _abandoned_locks(location: RepoLocation, intent: Intent) -> list[Path]:
    """Return the locks of the branch that hold the commit of the intent, or have been empty since the write began."""
    empty: dict[Path, float] = {}
    ours: list[Path] = []
    locks = [location.git_dir / "HEAD.lock"]
    if intent.ref != "HEAD":
        locks.append(location.common_dir / f"{intent.ref}.lock")
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
