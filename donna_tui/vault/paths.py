"""Open files by vault-relative path without ever leaving the vault. All file access is resolved here."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from donna_tui.types.errors import Reason, VaultReadError

LONGEST_NAME = 255
LONGEST_PATH = 4_096
WITHIN = "give a path within the vault, such as Projects/plan.md"
IS_LINK = "it is a symbolic link or in a linked folder; links are not followed"

_REASONS = {
    errno.ENOENT: (Reason.MISSING, "there is no such file"),
    errno.ENOTDIR: (Reason.PATH_ESCAPE, IS_LINK),
    errno.ELOOP: (Reason.PATH_ESCAPE, IS_LINK),
    errno.EACCES: (Reason.UNREADABLE, "permission denied"),
    errno.EPERM: (Reason.UNREADABLE, "permission denied"),
    errno.ENAMETOOLONG: (Reason.TOO_LONG, "its name is too long"),
    errno.ENXIO: (Reason.NOT_REGULAR, "it is not a regular file"),
    errno.ENODEV: (Reason.NOT_REGULAR, "it is not a regular file"),
}

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that are unrelated to the vault itself."""


def check_relative(path: str) -> list[str]:
    """Split a vault-relative path. Raises VaultReadError if it is absolute, contains `..` or cannot exist."""
    parts = path.split("/")
    if misplaced := outside(path, parts):
        raise VaultReadError(Reason.PATH_ESCAPE, misplaced, hint=WITHIN)
    with contextlib.suppress(UnicodeEncodeError):
        if len(path.encode()) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in parts):
            raise VaultReadError(Reason.TOO_LONG, "the path is too long")
        return parts
    raise VaultReadError(Reason.NOT_TEXT, "the name is not valid UTF-8")


def outside(path: str, parts: Sequence[str]) -> str:
    """Return the reason why a path does not lead to a place below the vault; empty if it does."""
    reasons = {
        "the path is empty": not path,
        "the path is absolute": path.startswith(("/", "~/")),
        "the path is outside the vault": ".." in parts,
        "the path contains “.” as a part": "." in parts,
        "the path has a slash too many": "" in parts,
        "the path contains a control character": "\0" in path,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def folders_above(path: str) -> list[str]:
    """Return the folders that contain a vault-relative path, the outermost first."""
    *folders, _ = path.split("/")
    return ["/".join(folders[: depth + 1]) for depth in range(len(folders))]


def refused(error: OSError) -> VaultReadError:
    reason, message = _REASONS.get(error.errno or 0, (Reason.IO_ERROR, f"it cannot be read ({error.strerror})"))
    return VaultReadError(reason, message)


class VaultRoot:
    def __init__(self, root: Path) -> None:
        self.path = root

    def can_be_opened(self) -> bool:
        try:
            with self._open_root():
                return True
        except VaultReadError:
            return False

    @contextlib.contextmanager
    def open(self, path: str) -> Iterator[int]:
        """Open a regular file below the root and yield its descriptor.

        Every part is opened relative to the one before it and no symbolic link is followed, so that a folder replaced
        meanwhile cannot lead outside. A FIFO or device does not block. Raises VaultReadError.
        """
        *folders, name = check_relative(path)
        with self.open_folder(folders) as folder, opened_in(folder, name) as descriptor:
            yield descriptor

    @contextlib.contextmanager
    def open_folder(self, parts: Iterable[str] = ()) -> Iterator[int]:
        """Open the root, or the folder with this path below it, and yield its descriptor. Raises VaultReadError."""
        with contextlib.ExitStack() as held:
            folder = held.enter_context(self._open_root())
            for part in parts:
                folder = held.enter_context(_descriptor(part, folder, os.O_DIRECTORY | os.O_NOFOLLOW))
            yield folder

    @contextlib.contextmanager
    def _open_root(self) -> Iterator[int]:
        try:
            root = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        except OSError as error:
            raise (refused(error) if error.errno in _EXHAUSTED else _no_root(self.path, error)) from error
        try:
            yield root
        finally:
            os.close(root)


@contextlib.contextmanager
def opened_in(folder: int, name: str) -> Iterator[int]:
    """Open a regular file in an open folder and yield its descriptor. A FIFO does not block. Raises VaultReadError."""
    with _descriptor(name, folder, os.O_NOFOLLOW | os.O_NONBLOCK) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise VaultReadError(Reason.NOT_REGULAR, "it is not a regular file")
        yield descriptor


@contextlib.contextmanager
def _descriptor(name: str, folder: int, flags: int) -> Iterator[int]:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOTDIR and not _is_link(name, folder):
            raise VaultReadError(Reason.MISSING, "there is no such file") from error
        raise refused(error) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_link(name: str, folder: int) -> bool:
    """Return whether a part that failed to open as a folder is a symbolic link: a file gives the same error."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _no_root(root: Path, error: OSError) -> VaultReadError:
    message, hint = f"the vault {root} does not exist", "mount the disk, or choose another vault"
    if error.errno in (errno.EACCES, errno.EPERM):
        message, hint = f"permission denied: the vault {root} cannot be read", "give yourself permission for the folder"
    return VaultReadError(Reason.ROOT_MISSING, message, hint=hint)
