"""Replace one file atomically, so that at no moment its old or new text is missing."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import signal
import stat
import time
from collections.abc import Callable

from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.vault.paths import opened_in, refused
from donna_tui.vault.write.changes import REGULAR_FILE, Change

_LINUX_RENAME_EXCHANGE = 2
_MACOS_RENAME_SWAP = 2
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two existing names in the folder behind a descriptor. False if this system or disk cannot do it.

    Raises OSError as a rename does. Source: renameat2(2) of Linux 3.15, renameatx_np(2) of macOS 10.12.
    """
    swap = _system_call()
    if swap is None:
        return False
    if swap(folder, os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), one)


@functools.cache
def _system_call() -> Callable[[int, bytes, bytes], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    for name, flag in (("renameat2", _LINUX_RENAME_EXCHANGE), ("renameatx_np", _MACOS_RENAME_SWAP)):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            return functools.partial(_call, function, flag)
    return None


def _call(function: Callable[..., int], flag: int, folder: int, one: bytes, other: bytes) -> int:
    return function(folder, one, folder, other, flag)


def open_for_writing(descriptor: int) -> bool:
    """Whether some program has the file behind a descriptor, which is open to read only, open for writing.

    False too where the system or the disk cannot tell. Source: leases of fcntl(2), Linux 2.4. The lease is held
    no longer than the question takes, and its signal is one that nobody minds.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


_TURNS = 16
"""How often a file is exchanged back while a neighbour saves it again and again."""

_WRITER_PATIENCE_SECONDS = 1.0
"""How long a neighbour who is in the middle of saving may take."""

_NO_FILE = frozenset({Reason.NOT_REGULAR, Reason.PATH_ESCAPE})
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK})
"""What a disk says that cannot give a file a second name."""


class SavedMeanwhileError(Exception):
    """The file is not what it was to be changed from: somebody saved it a moment ago."""


def put(folder: int, name: str, waiting: str, change: Change) -> None:
    """Make a file what `change` says; until `settle` or `revert`, what it displaced is kept under `waiting`.

    Raises SavedMeanwhileError if the file is not as `before` says; it then has its own bytes again.
    """
    if change.after is None:
        _take_away(folder, name, waiting, change)
    elif change.before is None:
        _create(folder, name, waiting, change)
    else:
        _replace(folder, name, waiting, change)


def revert(folder: int, name: str, waiting: str, change: Change) -> bool:
    """Undo as much of `put` as was done, unless somebody saved the file since.

    False if text that stands nowhere else still waits: the caller must keep it before it may go.
    """
    here = found(folder, name)
    if change.before is None:
        if here == change.after:
            remove(folder, waiting)  # perhaps another name of the same file, which a rename would leave as it is
            _take_away(folder, name, waiting, change.reversed)
    elif change.after is None:
        if here is None and found(folder, waiting) is not None:
            _bring_back(folder, name, waiting)
    elif here == change.after:
        _restore(folder, name, waiting, change)
    left = found(folder, waiting)
    if left == change.before:
        may_go = left is None or found(folder, name) == left
    else:
        may_go = left is None or (change.after is not None and change.after.startswith(left))
    if may_go:
        remove(folder, waiting)
    return may_go


def settle(folder: int, name: str, waiting: str, change: Change) -> bool:
    """Let go of what a `put` displaced, unless somebody who had it open has written to it since: that gets the name.

    False if it cannot get the name because a third version is there: it still waits then, to be kept by the caller.
    """
    if found(folder, waiting) not in (None, change.before, change.after):
        give_name(folder, name, waiting, change.after)
    may_go = found(folder, waiting) in (None, change.before, change.after)
    if may_go:
        remove(folder, waiting)
    return may_go


def give_name(folder: int, name: str, waiting: str, ours: bytes | None) -> None:
    """Give what waits the name of the note if that holds nothing but `ours`; a third version keeps the name."""
    if ours is None:
        _bring_back(folder, name, waiting)
    elif found(folder, name) == ours:
        _exchange_back(folder, name, waiting, ours)


def spare(waiting: str) -> str:
    """The name by which bytes come back where two names cannot be exchanged."""
    return f"{waiting}-back"


def found(folder: int, name: str) -> bytes | None:
    """The bytes under a name, None where nothing is. Raises VaultReadError for what is no regular file."""
    try:
        return read_at(folder, name)
    except VaultReadError as error:
        if error.reason is Reason.MISSING:
            return None
        raise


def read_at(folder: int, name: str) -> bytes:
    """The bytes of a regular file in an open folder. Raises VaultReadError."""
    with opened_in(folder, name) as descriptor:
        try:
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read()
        except OSError as error:
            raise refused(error) from error


def remove(folder: int, name: str) -> None:
    """Take a name away, if it is there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _create(folder: int, name: str, waiting: str, change: Change) -> None:
    _write(folder, waiting, change, None)
    try:
        os.link(waiting, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise SavedMeanwhileError from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _create_without_links(folder, name, waiting, change)
    else:
        remove(folder, waiting)


def _create_without_links(folder: int, name: str, waiting: str, change: Change) -> None:
    """For disks such as FAT: an exclusive empty file keeps the place, and the written one replaces it."""
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder))
    except FileExistsError:
        raise SavedMeanwhileError from None
    os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)


def _replace(folder: int, name: str, waiting: str, change: Change) -> None:
    assert change.after is not None
    _expect(folder, name, change)
    _write(folder, waiting, change, name)
    if not exchange(folder, waiting, name):
        _expect(folder, name, change)  # for disks without an exchange: look once more, then rename
        os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        _expect_at_rest(folder, waiting, change)
    except (SavedMeanwhileError, VaultReadError):
        _exchange_back(folder, name, waiting, change.after)
        raise


def _take_away(folder: int, name: str, waiting: str, change: Change) -> None:
    _expect(folder, name, change)
    os.rename(name, waiting, src_dir_fd=folder, dst_dir_fd=folder)
    try:
        _expect_at_rest(folder, waiting, change)
    except (SavedMeanwhileError, VaultReadError):
        _bring_back(folder, name, waiting)
        raise


def _bring_back(folder: int, name: str, waiting: str) -> None:
    """Give a file that was taken away its name again; if somebody saved a newer one there, it goes on waiting."""
    try:
        os.link(waiting, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if not _exists(folder, name):
            os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    remove(folder, waiting)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _restore(folder: int, name: str, waiting: str, change: Change) -> None:
    assert change.after is not None
    if found(folder, waiting) is not None:
        _exchange_back(folder, name, waiting, change.after)
        return
    _write(folder, spare(waiting), change.reversed, name)
    _expect(folder, name, change.reversed)
    os.rename(spare(waiting), name, src_dir_fd=folder, dst_dir_fd=folder)


def _exchange_back(folder: int, name: str, waiting: str, ours: bytes) -> None:
    """Give the name to what waits, and go on as long as somebody saved something newer there meanwhile."""
    expected: bytes | None = ours
    for _ in range(_TURNS):
        given = _readable(folder, waiting)
        exchange(folder, waiting, name)
        if _readable(folder, waiting) in (expected, None):
            return
        expected = given


def _expect(folder: int, name: str, change: Change) -> None:
    """Raises SavedMeanwhileError unless the name holds the bytes to be changed, VaultReadError if nobody can tell."""
    try:
        here = found(folder, name)
    except VaultReadError as error:
        if error.reason in _NO_FILE:
            raise SavedMeanwhileError from error
        raise
    if here != change.before:
        raise SavedMeanwhileError


def _expect_at_rest(folder: int, waiting: str, change: Change) -> None:
    """`_expect` for a file that was just displaced, into which a neighbour may be about to write."""
    deadline = time.monotonic() + _WRITER_PATIENCE_SECONDS
    while _is_being_written(folder, waiting):
        if time.monotonic() > deadline:
            raise SavedMeanwhileError
        time.sleep(0.005)
    _expect(folder, waiting, change)


def _is_being_written(folder: int, name: str) -> bool:
    try:
        with opened_in(folder, name) as descriptor:
            return open_for_writing(descriptor)
    except VaultReadError:
        return False


def _readable(folder: int, name: str) -> bytes | None:
    """The bytes under a name; None where nothing, or nothing that can be read, is."""
    try:
        return read_at(folder, name)
    except VaultReadError:
        return None


def _write(folder: int, name: str, change: Change, like: str | None) -> None:
    """Our bytes, safe on the disk under a name of their own, with the rights of the file `like`."""
    assert change.after is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(change.after)
        file.flush()
        if like is None and change.owner:
            user, _, group = change.owner.partition(":")
            _give(descriptor, int(user), int(group))
        dress(folder, like, descriptor, change.mode)
        os.fsync(descriptor)


def dress(folder: int, like: str | None, descriptor: int, mode: int) -> None:
    """Give a new file the owner, the rights and the extended attributes of the one that it replaces.

    Raises VaultReadError (`unreadable`) if that one belongs to somebody who would lose access to it.
    """
    if like is None:
        if mode != REGULAR_FILE:
            os.fchmod(descriptor, os.fstat(descriptor).st_mode | 0o111)
        return
    old = os.open(like, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        there = os.fstat(old)
        _give(descriptor, there.st_uid, there.st_gid)
        _check_access(there, os.fstat(descriptor))
        os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
        _copy_attributes(old, descriptor)
    finally:
        os.close(old)


def _give(descriptor: int, user: int, group: int) -> None:
    """Give a file to a user and a group, as far as that is permitted: only root gives files to others."""
    there = os.fstat(descriptor)
    if (there.st_uid, there.st_gid) == (user, group):
        return
    try:
        os.fchown(descriptor, user, group)
    except OSError:
        with contextlib.suppress(OSError):
            os.fchown(descriptor, -1, group)


def _check_access(old: os.stat_result, new: os.stat_result) -> None:
    """Raises VaultReadError if a file of another owner would leave those without access who have it now."""
    of_user, of_group, of_all = ((old.st_mode >> shift) & 0o6 for shift in (6, 3, 0))
    keeps_group = old.st_gid == new.st_gid
    user_loses = old.st_uid != new.st_uid and of_user & ~((of_group if keeps_group else 0) | of_all)
    group_loses = not keeps_group and of_group & ~of_all
    if user_loses or group_loses:
        raise VaultReadError(
            Reason.UNREADABLE,
            "the note belongs to another user or group, who would lose access to it if you replaced it",
            hint="ask its owner to share it with your group (chgrp, chmod g+rw), or change it as its owner",
        )


def _copy_attributes(source: int, target: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))
