"""Puts one file of the vault in place, or takes it away, so that no moment and no neighbour can lose its bytes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import PurePosixPath

from donna_tui.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.vault.changes import REGULAR_FILE, Change
from donna_tui.vault.exchange import exchange
from donna_tui.vault.paths import VaultRoot, check_relative, opened_in

MARK = ".donna-"
"""How the names of files that wait to be put in place begin; hidden, so that neither Donna nor Obsidian lists them."""

_TURNS = 16
"""How often a file is exchanged back while a neighbour saves it again and again."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_MODES = {
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.EROFS: "it is read-only",
}


def refused_write(error: OSError, path: str) -> VaultWriteError:
    """What an operating system error means for the writer of a note."""
    if error.errno in _FULL:
        return VaultWriteError(Reason.DISK_FULL, "the disk is full", hint="free some space and try again", path=path)
    if error.errno == errno.ENAMETOOLONG:
        return VaultWriteError(Reason.TOO_LONG, "the name is too long for this disk", path=path)
    why = _MODES.get(error.errno or 0, (error.strerror or "unknown error").lower())
    return VaultWriteError(Reason.IO_ERROR, f"the note cannot be written: {why}", path=path)


def changed_meanwhile(path: str) -> VaultWriteError:
    """Somebody else saved the note between reading and writing."""
    return VaultWriteError(
        Reason.CONFLICT,
        "this note was edited elsewhere a moment ago",
        hint="read it again, and decide which of the two is right",
        path=path,
    )


class VaultFiles:
    """Writes to files below one root. Every folder is held open while it is used; no link is followed."""

    def __init__(self, root: VaultRoot) -> None:
        self._root = root

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, None if there is none. Raises VaultReadError for what is no regular file."""
        *parts, name = check_relative(path)
        try:
            with self._root.open_folder(parts) as folder:
                return read_at(folder, name)
        except VaultReadError as error:
            if error.reason is Reason.MISSING:
                return None
            raise

    def nested_repository(self, path: str) -> str:
        """The folder on the way to a file that is a git repository of its own; empty if none is."""
        parts = check_relative(path)[:-1]
        for depth in range(1, len(parts) + 1):
            with contextlib.suppress(VaultReadError), self._root.open_folder(parts[:depth]) as folder:
                if _is_there(folder, ".git"):
                    return "/".join(parts[:depth])
        return ""

    def mode(self, path: str) -> int:
        """The mode that git keeps for a file: executable or not."""
        with self._root.open(path) as descriptor:
            return REGULAR_FILE | (0o111 if os.fstat(descriptor).st_mode & stat.S_IXUSR else 0)

    def put(self, change: Change, waiting: str) -> None:
        """Make a file what `change` says, by way of a file named `waiting` beside it.

        Raises VaultWriteError: `conflict` if the file does not hold the bytes of `before`; then, and on every other
        error, whatever is there stays there.
        """
        *parts, name = check_relative(change.path)
        with _told(change.path), self._folder(parts, create=change.after is not None) as folder:
            if change.after is None:
                _take_away(folder, name, waiting, change)
            elif change.before is None:
                _create(folder, name, waiting, change)
            else:
                _replace(folder, name, waiting, change)
            os.fsync(folder)

    def displaced(self, path: str, waiting: str) -> bytes | None:
        """What a `put` that did not come to its end left under the name `waiting`."""
        return self.read(str(PurePosixPath(path).with_name(waiting)))

    def put_back(self, path: str, waiting: str) -> None:
        """Give the file under the name `waiting` its place back; what is in that place is dropped."""
        *parts, name = check_relative(path)
        with _told(path), self._folder(parts) as folder:
            os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def drop(self, path: str, waiting: str) -> None:
        """Remove the file under the name `waiting`, if there is one."""
        *parts, _ = check_relative(path)
        with contextlib.suppress(VaultReadError), _told(path), self._folder(parts) as folder:
            _unlink(folder, waiting)

    @contextlib.contextmanager
    def _folder(self, parts: list[str], *, create: bool = False) -> Iterator[int]:
        if create:
            self._make_folders(parts)
        with self._root.open_folder(parts) as folder:
            yield folder

    def _make_folders(self, parts: list[str]) -> None:
        for depth, part in enumerate(parts):
            with self._root.open_folder(parts[:depth]) as folder, contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
                os.fsync(folder)


def read_at(folder: int, name: str) -> bytes:
    """The bytes of a regular file in an open folder. Raises VaultReadError."""
    with opened_in(folder, name) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except VaultReadError as error:
        raise VaultWriteError(error.reason, error.message, hint=error.hint, path=path) from error
    except OSError as error:
        raise refused_write(error, path) from error


def _create(folder: int, name: str, waiting: str, change: Change) -> None:
    with _written(folder, waiting, change, None):
        try:
            os.link(waiting, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise changed_meanwhile(change.path) from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
                raise
            _create_without_links(folder, name, waiting, change)


def _create_without_links(folder: int, name: str, waiting: str, change: Change) -> None:
    """For disks such as FAT: an exclusive empty file keeps the place, and the written one replaces it."""
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder))
    except FileExistsError:
        raise changed_meanwhile(change.path) from None
    os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)


def _replace(folder: int, name: str, waiting: str, change: Change) -> None:
    if _found(folder, name) != change.before:
        raise changed_meanwhile(change.path)
    with _written(folder, waiting, change, name):
        if not exchange(folder, waiting, name):
            _replace_at_once(folder, name, waiting, change)
        elif _found(folder, waiting) != change.before:
            _exchange_back(folder, name, waiting, change)
            raise changed_meanwhile(change.path)


def _replace_at_once(folder: int, name: str, waiting: str, change: Change) -> None:
    """For disks without an exchange: look once more, then rename."""
    if _found(folder, name) != change.before:
        raise changed_meanwhile(change.path)
    os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)


def _exchange_back(folder: int, name: str, waiting: str, change: Change) -> None:
    """Somebody saved the note at the last moment: their bytes get the name, ours the waiting place."""
    for _ in range(_TURNS):
        exchange(folder, waiting, name)
        if _found(folder, waiting) == change.after:
            return


def _take_away(folder: int, name: str, waiting: str, change: Change) -> None:
    if _found(folder, name) != change.before:
        raise changed_meanwhile(change.path)
    os.rename(name, waiting, src_dir_fd=folder, dst_dir_fd=folder)
    if _found(folder, waiting) != change.before:
        with contextlib.suppress(FileExistsError):
            os.link(waiting, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            _unlink(folder, waiting)
        raise changed_meanwhile(change.path)
    _unlink(folder, waiting)


@contextlib.contextmanager
def _written(folder: int, waiting: str, change: Change, like: str | None) -> Iterator[None]:
    """Our bytes, safe on the disk under the name `waiting`, with the rights of the file `like`; no trace remains."""
    assert change.after is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(waiting, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(change.after)
            file.flush()
            _dress(folder, like, descriptor, change.mode)
            os.fsync(descriptor)
        yield
    finally:
        _unlink_ours(folder, waiting, change)


def _unlink_ours(folder: int, waiting: str, change: Change) -> None:
    """Remove the waiting file unless it holds what neither Donna wrote nor git has."""
    if _found(folder, waiting) in (change.before, change.after, None):
        _unlink(folder, waiting)


def _dress(folder: int, like: str | None, descriptor: int, mode: int) -> None:
    """Give a new file the rights and the extended attributes of the one that it replaces."""
    if like is None:
        if mode != REGULAR_FILE:
            os.fchmod(descriptor, os.fstat(descriptor).st_mode | 0o111)
        return
    old = os.open(like, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(descriptor, stat.S_IMODE(os.fstat(old).st_mode))
        _copy_attributes(old, descriptor)
    finally:
        os.close(old)


def _copy_attributes(source: int, target: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))


def _found(folder: int, name: str) -> bytes | None:
    """The bytes under a name; None where nothing, or no regular file, is."""
    try:
        return read_at(folder, name)
    except VaultReadError:
        return None


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _unlink(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
