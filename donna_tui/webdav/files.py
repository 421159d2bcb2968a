"""Serve the visible files of a vault, and withhold private ones unless the server was started to serve them."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import BinaryIO

from donna_tui.safety.classify import Sensitivity
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.vault.client import NOTE_ENDINGS, decode
from donna_tui.vault.include import GlobSet
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.paths import VaultRoot, refused
from donna_tui.vault.write.atomic import read_at, rename_new
from donna_tui.vault.write.changes import OperationKind
from donna_tui.vault.write.file_names import check_place, find_twin
from donna_tui.vault.write.files import changed_meanwhile, vault_errors
from donna_tui.vault.write.orphans import UPLOAD
from donna_tui.webdav.upload import ChangedFile, Item, Keep, Upload

MAX_KNOWN = 100_000
"""Maximum number of files whose classification is cached."""


def private_files(root: VaultRoot, *, max_bytes: int, key: str) -> Callable[[Item], bool]:
    """Return a function that says whether a file is private. It caches results while a file is unchanged. Thread-safe.

    Backups and conflict copies of a note are as private as the note, so every text is read. A note that cannot be
    classified is private.
    """

    @lru_cache(MAX_KNOWN)
    def is_private(item: Item) -> bool:
        in_doubt = item.path.lower().endswith(NOTE_ENDINGS)
        if item.size > max_bytes:
            return in_doubt
        try:
            with root.open(item.path) as descriptor, open(descriptor, "rb", closefd=False) as file:
                if not item.is_still(os.fstat(descriptor)):
                    return True  # never serve a version that has already been replaced
                text, _ = decode(file.read(max_bytes))
        except (DonnaError, OSError):
            return in_doubt
        return parse_frontmatter(text).sensitivity(text, key) is not Sensitivity.PUBLIC

    return is_private


_FATAL = frozenset({Reason.ROOT_MISSING, Reason.IO_ERROR})


class ServedTree:
    """Read one vault and change it as its user does. Every method blocks; all may be called from any thread.

    Hidden and ignored files, symbolic links and devices are invisible. `withheld` returns whether a file is withheld;
    `keep` stores the bytes of files before they are overwritten or removed.
    """

    def __init__(
        self,
        root: VaultRoot,
        ignore: GlobSet,
        withheld: Callable[[Item], bool] = lambda _: False,
        keep: Keep = lambda _kind, _touched: contextlib.nullcontext(),
    ) -> None:
        self._root = root
        self._keep = keep
        self._ignore = ignore
        self._withheld = withheld

    def find(self, path: str) -> Item | None:
        """Return the item at a path, or None if none is visible. Raises VaultReadError if the vault is missing."""
        if not path:
            with self._root.open_folder() as folder:
                return Item.of("", os.fstat(folder), is_folder=True)
        try:
            *parts, name = self._checked(path)
            with self._root.open_folder(parts) as folder:
                return self._visible_item(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            return None
        except DonnaError as error:
            if error.reason in _FATAL:
                raise
            return None

    def within(self, path: str) -> list[Item]:
        """Return the items of a folder, sorted by name. Raises VaultReadError."""
        parts = path.split("/") if path else []
        try:
            with self._root.open_folder(parts) as folder, os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
                return [item for entry in entries if (item := self._listed(path, entry))]
        except OSError as error:
            raise refused(error) from error

    def open(self, item: Item) -> BinaryIO:
        """Open a file for reading. Raises VaultReadError, and VaultWriteError (`conflict`) for another version."""
        with self._root.open(item.path) as descriptor:
            if not item.is_still(os.fstat(descriptor)):
                raise changed_meanwhile(item.path)
            return os.fdopen(os.dup(descriptor), "rb")

    def begin_upload(self, path: str, expected: Item | None) -> Upload:
        """Open an upload for a file that replaces `expected`, or is new. Raises VaultWriteError."""
        with self._place(path, is_new=expected is None) as (folder, _):
            return Upload(folder, path, expected, self._keep)

    def make_folder(self, path: str) -> None:
        """Create a folder. Raises VaultWriteError."""
        with self._place(path, is_new=True) as (folder, name):
            os.mkdir(name, dir_fd=folder)
            os.fsync(folder)

    def remove(self, item: Item) -> None:
        """Remove a file or an empty folder. Raises VaultWriteError: `conflict` for another version."""
        with self._place(item.path) as (folder, name):
            if item.is_folder:
                try:
                    os.rmdir(name, dir_fd=folder)
                except OSError as error:
                    if error.errno != errno.ENOTEMPTY:
                        raise
                    message = "the folder contains files that are not served, so it was not deleted"
                    raise VaultWriteError(Reason.CONFLICT, message, path=item.path) from error
            else:
                _check_version(item, folder, name)
                removed = ChangedFile(folder, name, item.path, item.size, 0, lambda: None)
                with self._keep(OperationKind.DELETE, (removed,)):
                    _unlink_version(item, folder, name)
            os.fsync(folder)

    def move(self, item: Item, path: str, replaced: Item | None) -> None:
        """Move a file or folder, replacing `replaced` if given. Raises VaultWriteError (`conflict`)."""
        source = self._place(item.path)
        target = self._place(path, is_new=replaced is None, besides=item.path)
        with source as (old_folder, old), target as (new_folder, new):
            _check_version(item, old_folder, old)
            if replaced is None and not item.is_folder:
                _rename_file(item, old_folder, old, new_folder, new)
            elif replaced is None:
                os.rename(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder)
            else:
                moved = partial(read_at, old_folder, old)
                over = ChangedFile(new_folder, new, path, replaced.size, item.size, moved)
                moved_away = ChangedFile(old_folder, old, item.path, item.size, 0, lambda: None, is_lost=False)
                with self._keep(OperationKind.MOVE, (over, moved_away)):
                    if not replaced.is_still(os.stat(new, dir_fd=new_folder, follow_symlinks=False)):
                        raise changed_meanwhile(path)
                    _check_version(item, old_folder, old)
                    os.rename(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder)
            os.fsync(new_folder)
            os.fsync(old_folder)

    @contextlib.contextmanager
    def _place(self, path: str, *, is_new: bool = False, besides: str = "") -> Iterator[tuple[int, str]]:
        """Yield the open folder of a writable path, and the name in it. A new path must be free."""
        *parts, name = self._checked(path)
        with vault_errors(path), self._root.open_folder(parts) as folder:
            if is_new:
                self._check_free(folder, path, name, besides)
            yield folder, name

    def _check_free(self, folder: int, path: str, name: str, besides: str) -> None:
        """Raise VaultWriteError for a name taken by any file, even if hidden, or an equivalent name on some system."""
        twin = find_twin(self._root, path, besides=(besides,))
        if twin:
            message = f"“{twin}” differs only in case or Unicode form, which some systems do not distinguish"
            raise VaultWriteError(Reason.CONFLICT, message, path=path)
        try:
            existing = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not (besides and _is_same(self.find(besides), existing)):
            raise VaultWriteError(Reason.CONFLICT, "a file with that name exists, but is not served", path=path)

    def _checked(self, path: str) -> list[str]:
        parts = check_place(path)
        if any(self._ignore.matches("/".join(parts[: depth + 1])) for depth in range(len(parts))):
            raise VaultWriteError(Reason.IGNORED, "the path is ignored", path=path)
        return parts

    def _listed(self, folder: str, entry: os.DirEntry[str]) -> Item | None:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            self._checked(path)
            return self._visible_item(path, entry.stat(follow_symlinks=False))
        except (DonnaError, FileNotFoundError):
            return None

    def _visible_item(self, path: str, status: os.stat_result) -> Item | None:
        if stat.S_ISDIR(status.st_mode):
            return Item.of(path, status, is_folder=True)
        if not stat.S_ISREG(status.st_mode):
            return None
        item = Item.of(path, status, is_folder=False)
        return None if self._withheld(item) else item


def _check_version(item: Item, folder: int, name: str) -> None:
    """Raise VaultWriteError (`conflict`) for another version of a file; a folder changes with every file in it."""
    if not item.is_folder and not item.is_still(os.stat(name, dir_fd=folder, follow_symlinks=False)):
        raise changed_meanwhile(item.path)


def _unlink_version(item: Item, folder: int, name: str) -> None:
    """Remove a file only in this version: rename it first, and rename it back if it was saved meanwhile."""
    waiting = f"{UPLOAD}{secrets.token_hex(8)}"
    os.rename(name, waiting, src_dir_fd=folder, dst_dir_fd=folder)
    if not item.is_still(os.stat(waiting, dir_fd=folder, follow_symlinks=False)):
        _rename_file(item, folder, waiting, folder, name)
        raise changed_meanwhile(item.path)
    os.unlink(waiting, dir_fd=folder)


def _rename_file(item: Item, old_folder: int, old: str, new_folder: int, new: str) -> None:
    """Rename without ever replacing a file created meanwhile; a new name may be the same file, in another case."""
    if rename_new(old_folder, old, new_folder, new):
        return
    if not _is_same(item, os.stat(new, dir_fd=new_folder, follow_symlinks=False)):
        raise changed_meanwhile(item.path)
    os.rename(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder)


def _is_same(item: Item | None, existing: os.stat_result) -> bool:
    """Return whether two names refer to one file, such as names that differ in case on a case-insensitive disk."""
    return item is not None and item.inode == existing.st_ino
