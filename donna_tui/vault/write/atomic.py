"""Replace one file atomically, so that neither its old nor its new text is ever missing."""

from __future__ import annotations

import contextlib
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
_COPYFILE_XATTR = 1 << 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two existing names in an open folder. Return False if the system or the disk cannot do it.

    Raises OSError as a rename does. Source: renameat2(2) of Linux 3.15, renameatx_np(2) of macOS 10.12.
    """
    import ctypes  # takes 5 ms of each start, and only a write needs it

    swap = _system_call()
    if swap is None:
        return False
    if swap(folder, os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), one)


@functools.cache
def _system_call() -> Callable[[int, bytes, bytes], int] | None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    for name, flag in (("renameat2", _LINUX_RENAME_EXCHANGE), ("renameatx_np", _MACOS_RENAME_SWAP)):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            return lambda folder, one, other: int(function(folder, one, folder, other, flag))
    return None


def open_for_writing(descriptor: int) -> bool:
    """Return whether a program has the file of a read-only descriptor open for writing.

    Also False if the system or the disk cannot report it. Source: leases of fcntl(2), Linux 2.4. The lease is held only
    for the query, and its signal (SIGURG) is ignored by default.
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


_MAX_EXCHANGES = 16
"""Maximum number of exchanges while another program saves the file again and again."""

_WRITER_PATIENCE_SECONDS = 1.0
"""Seconds that another program may take to finish a save in progress."""

_NO_FILE = frozenset({Reason.NOT_REGULAR, Reason.PATH_ESCAPE})
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK})
"""Errors of a disk that does not support hard links."""

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class SavedMeanwhileError(Exception):
    """The file does not hold the expected bytes: another program saved it in the meantime."""


def put(folder: int, name: str, temporary: str, change: Change) -> None:
    """Apply `change` to a file; what it displaced is kept as `temporary` until `complete` or `revert`.

    Raises SavedMeanwhileError if the file does not match `before`; its own bytes are then restored.
    """
    if change.after is None:
        _move_aside(folder, name, temporary, change)
    elif change.before is None:
        _write(folder, temporary, change, None)
        if not rename_new(folder, temporary, folder, name):
            raise SavedMeanwhileError
    else:
        _replace(folder, name, temporary, change)


def revert(folder: int, name: str, temporary: str, change: Change) -> bool:
    """Undo as much of `put` as was done, unless another program saved the file since.

    Return False if `temporary` has the only copy of a text: the caller must store it before removing the file.
    """
    current = read_existing(folder, name)
    if change.before is None:
        if current == change.after:
            remove(folder, temporary)  # may be a hard link to the same file, for which a rename does nothing
            _move_aside(folder, name, temporary, change.reversed)
    elif change.after is None:
        if current is None and read_existing(folder, temporary) is not None:
            _restore_name(folder, name, temporary)
    elif current == change.after:
        _restore(folder, name, temporary, change)
    displaced = read_existing(folder, temporary)
    if displaced == change.before:
        is_removable = displaced is None or read_existing(folder, name) == displaced
    else:
        is_removable = displaced is None or (change.after is not None and change.after.startswith(displaced))
    if is_removable:
        remove(folder, temporary)
    return is_removable


def complete(folder: int, name: str, temporary: str, change: Change) -> bool:
    """Remove the file that a `put` displaced; if a program that had it open wrote to it since, give it its name back.

    Return False if a third version has the name: the displaced file is still there, and the caller must store it.
    """
    if read_existing(folder, temporary) not in (None, change.before, change.after):
        restore_displaced(folder, name, temporary, change.after)
    is_removable = read_existing(folder, temporary) in (None, change.before, change.after)
    if is_removable:
        remove(folder, temporary)
    return is_removable


def restore_displaced(folder: int, name: str, temporary: str, ours: bytes | None) -> None:
    """Give the displaced file its name back if nothing but `ours` has it; a third version keeps the name."""
    if ours is None:
        _restore_name(folder, name, temporary)
    elif read_existing(folder, name) == ours:
        _exchange_back(folder, name, temporary, ours)


def spare_name(temporary: str) -> str:
    """Return the name of a temporary file for restored bytes, for a disk that cannot exchange two names."""
    return f"{temporary}-back"


def read_existing(folder: int, name: str) -> bytes | None:
    """Return the bytes under a name, or None if there is no file. Raises VaultReadError if it is not a regular file."""
    try:
        return read_at(folder, name)
    except VaultReadError as error:
        if error.reason is Reason.MISSING:
            return None
        raise


def read_at(folder: int, name: str) -> bytes:
    """Read a regular file in an open folder. Raises VaultReadError."""
    with opened_in(folder, name) as descriptor:
        try:
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read()
        except OSError as error:
            raise refused(error) from error


def remove(folder: int, name: str) -> None:
    if exists(folder, name):  # a read-only disk refuses to remove even a missing file
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def rename_new(folder: int, name: str, new_folder: int, new: str) -> bool:
    """Rename a file without ever replacing another one. Return False if the new name is taken."""
    try:
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        try:  # on a disk such as FAT: an exclusively created empty file reserves the name, then is replaced
            os.close(os.open(new, NEW_FILE, 0o666, dir_fd=new_folder))
        except FileExistsError:
            return False
        try:
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=new_folder)
        except OSError:
            remove(new_folder, new)
            raise
    else:
        remove(folder, name)
    return True


def _replace(folder: int, name: str, temporary: str, change: Change) -> None:
    assert change.after is not None
    _expect(folder, name, change)
    _write(folder, temporary, change, name)
    if not exchange(folder, temporary, name):
        _expect(folder, name, change)  # for disks without an exchange: check once more, then rename
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        _expect_at_rest(folder, temporary, change)
    except (SavedMeanwhileError, VaultReadError):
        _exchange_back(folder, name, temporary, change.after)
        raise


def _move_aside(folder: int, name: str, temporary: str, change: Change) -> None:
    _expect(folder, name, change)
    os.rename(name, temporary, src_dir_fd=folder, dst_dir_fd=folder)
    try:
        _expect_at_rest(folder, temporary, change)
    except (SavedMeanwhileError, VaultReadError):
        _restore_name(folder, name, temporary)
        raise


def _restore_name(folder: int, name: str, temporary: str) -> None:
    """Restore the name of a displaced file; if a newer file has it, leave the displaced one where it is."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if not exists(folder, name):
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    remove(folder, temporary)


def exists(folder: int, name: str) -> bool:
    """Return whether there is anything under a name. Raises OSError."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _restore(folder: int, name: str, temporary: str, change: Change) -> None:
    assert change.after is not None
    if read_existing(folder, temporary) is not None:
        _exchange_back(folder, name, temporary, change.after)
        return
    _write(folder, spare_name(temporary), change.reversed, name)
    _expect(folder, name, change.reversed)
    os.rename(spare_name(temporary), name, src_dir_fd=folder, dst_dir_fd=folder)


def _exchange_back(folder: int, name: str, temporary: str, ours: bytes) -> None:
    """Restore the displaced file to the name; repeat while another program saves something newer there."""
    expected: bytes | None = ours
    for _ in range(_MAX_EXCHANGES):
        given = try_read(folder, temporary)
        exchange(folder, temporary, name)
        if try_read(folder, temporary) in (expected, None):
            return
        expected = given


def _expect(folder: int, name: str, change: Change) -> None:
    """Raise SavedMeanwhileError unless the file holds the bytes of `before`, VaultReadError if it cannot be read."""
    try:
        current = read_existing(folder, name)
    except VaultReadError as error:
        if error.reason in _NO_FILE:
            raise SavedMeanwhileError from error
        raise
    if current != change.before:
        raise SavedMeanwhileError


def _expect_at_rest(folder: int, temporary: str, change: Change) -> None:
    """Check a file that was just displaced as `_expect` does, after waiting for a program that is writing to it."""
    deadline = time.monotonic() + _WRITER_PATIENCE_SECONDS
    while _is_being_written(folder, temporary):
        if time.monotonic() > deadline:
            raise SavedMeanwhileError
        time.sleep(0.005)
    _expect(folder, temporary, change)


def _is_being_written(folder: int, name: str) -> bool:
    try:
        with opened_in(folder, name) as descriptor:
            return open_for_writing(descriptor)
    except VaultReadError:
        return False


def try_read(folder: int, name: str) -> bytes | None:
    try:
        return read_at(folder, name)
    except VaultReadError:
        return None


def _write(folder: int, name: str, change: Change, like: str | None) -> None:
    """Write the new bytes to a new file and sync it, with the permissions of the file `like`."""
    assert change.after is not None
    descriptor = os.open(name, NEW_FILE, 0o666, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(change.after)
        file.flush()
        if like is None and change.owner:
            user, _, group = change.owner.partition(":")
            _change_owner(descriptor, int(user), int(group))
        copy_metadata(folder, like, descriptor, change.mode)
        os.fsync(descriptor)


def copy_metadata(folder: int, like: str | None, descriptor: int, mode: int) -> None:
    """Copy owner, permissions and attributes. Raises VaultReadError (`unreadable`) if the owner would lose access."""
    if like is None:
        if mode != REGULAR_FILE:
            os.fchmod(descriptor, os.fstat(descriptor).st_mode | 0o111)
        return
    old = os.open(like, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        status = os.fstat(old)
        _change_owner(descriptor, status.st_uid, status.st_gid)
        _check_access(status, os.fstat(descriptor))
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        _copy_attributes(old, descriptor)
    finally:
        os.close(old)


def _change_owner(descriptor: int, user: int, group: int) -> None:
    """Change the user and group of a file as far as permitted: only root may change the user."""
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) == (user, group):
        return
    try:
        os.fchown(descriptor, user, group)
    except OSError:
        with contextlib.suppress(OSError):
            os.fchown(descriptor, -1, group)


def _check_access(old: os.stat_result, new: os.stat_result) -> None:
    """Raise VaultReadError if the new owner or group would take access from those who have it now."""
    of_user, of_group, of_all = ((old.st_mode >> shift) & 0o6 for shift in (6, 3, 0))
    keeps_group = old.st_gid == new.st_gid
    user_loses = old.st_uid != new.st_uid and of_user & ~((of_group if keeps_group else 0) | of_all)
    group_loses = not keeps_group and of_group & ~of_all
    if user_loses or group_loses:
        message = "the note belongs to another user or group, who would lose access to it if you replaced it"
        hint = "ask its owner to share it with your group (chgrp, chmod g+rw), or change it as its owner"
        raise VaultReadError(Reason.UNREADABLE, message, hint=hint)


def _copy_attributes(source: int, target: int) -> None:
    """Copy the extended attributes of an open file, such as Finder's tags, as far as possible.

    Source: fcopyfile(3) of macOS, for which Python has no functions.
    """
    if not hasattr(os, "listxattr"):
        import ctypes

        if copy := getattr(ctypes.CDLL(None), "fcopyfile", None):
            copy(source, target, None, ctypes.c_uint(_COPYFILE_XATTR))
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))
