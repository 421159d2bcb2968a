"""Write or remove one file of the vault without ever losing bytes, neither in a crash nor to a concurrent writer."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import PurePosixPath

from donna_tui.types.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.vault.paths import VaultRoot, check_relative
from donna_tui.vault.write import atomic
from donna_tui.vault.write.changes import REGULAR_FILE, Change
from donna_tui.vault.write.durable import refused_write

MARK = ".donna-"
"""Prefix of temporary files next to notes. It hides them, so that neither Donna nor Obsidian lists them."""


def changed_meanwhile(path: str) -> VaultWriteError:
    """Return the error for a note that another program saved between reading and writing."""
    hint = "read it again, and repeat your change"
    return VaultWriteError(Reason.CONFLICT, "this note was just edited elsewhere", hint=hint, path=path)


class VaultFiles:
    """Write files below one root. Every folder is held open while it is used; no symbolic link is followed."""

    def __init__(self, root: VaultRoot) -> None:
        self._root = root

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None if there is none. Raises VaultReadError if it is not a regular file."""
        *parts, name = check_relative(path)
        try:
            with self._root.open_folder(parts) as folder:
                return atomic.read_at(folder, name)
        except VaultReadError as error:
            if error.reason is Reason.MISSING:
                return None
            raise

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path, and no link is on the way. Raises VaultWriteError if unknown."""
        with vault_errors(path):
            try:
                with self._root.open_folder(check_relative(path)):
                    return True
            except VaultReadError as error:
                if error.reason in (Reason.IO_ERROR, Reason.UNREADABLE, Reason.ROOT_MISSING):
                    raise
                return False

    def is_same(self, path: str, other: str) -> bool:
        """Return whether two paths lead to the same file or folder, as on a disk that ignores case."""
        with contextlib.suppress(OSError, VaultReadError):
            return os.path.samestat(self._stat(path), self._stat(other))
        return False

    def _stat(self, path: str) -> os.stat_result:
        *parts, name = check_relative(path)
        with self._root.open_folder(parts) as folder:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def below(self, folder: str) -> Iterator[str]:
        """List all files in a folder, at any depth, also hidden ones; links are not followed. Raises VaultReadError."""
        with self._root.open_folder(check_relative(folder)) as opened, os.scandir(opened) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in sorted(entries):
            if is_folder:
                yield from self.below(f"{folder}/{name}")
            else:
                yield f"{folder}/{name}"

    def make_folder(self, path: str) -> None:
        """Create a folder, with those above it. Raises VaultWriteError."""
        with vault_errors(path):
            self._make_folders(check_relative(path))

    def remove_empty(self, path: str) -> bool:
        """Remove a folder if it is empty. Return whether it was removed."""
        *parts, name = check_relative(path)
        try:
            with self._root.open_folder(parts) as folder:
                os.rmdir(name, dir_fd=folder)
                os.fsync(folder)
        except OSError:
            return False
        except VaultReadError as error:
            return error.reason is Reason.MISSING
        return True

    def respell(self, path: str) -> None:
        """Rename a folder to its name in `path`, if a disk that ignores case found it under another spelling."""
        *parts, name = check_relative(path)
        with contextlib.suppress(OSError, VaultReadError), self._root.open_folder(parts) as folder:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries]
            twins = () if name in names else (twin for twin in names if twin.casefold() == name.casefold())
            for twin in twins:
                os.rename(twin, name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)

    def empty_folders(self) -> list[str]:
        """List the visible folders without any file, at any depth. Raises VaultReadError for a missing vault."""
        return self._empty_in([])[0]

    def _empty_in(self, parts: list[str]) -> tuple[list[str], bool]:
        with self._root.open_folder(parts) as opened, os.scandir(opened) as entries:
            children = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        found: list[str] = []
        is_empty = True
        for name, is_folder in sorted(children):
            if not is_folder or name.startswith("."):
                is_empty = False
                continue
            try:
                inner, inner_empty = self._empty_in([*parts, name])
            except (OSError, VaultReadError):
                is_empty = False
                continue
            found += [*(["/".join([*parts, name])] if inner_empty else []), *inner]
            is_empty = is_empty and inner_empty
        return found, is_empty

    def nested_repository(self, path: str) -> str:
        """Return the folder along the path of a file that is a nested git repository, or an empty string."""
        parts = check_relative(path)[:-1]
        for depth in range(1, len(parts) + 1):
            with contextlib.suppress(VaultReadError), self._root.open_folder(parts[:depth]) as folder:
                if atomic.exists(folder, ".git"):
                    return "/".join(parts[:depth])
        return ""

    def mode(self, path: str) -> int:
        """Return the git mode of a file: executable or not. Raises VaultWriteError."""
        with vault_errors(path), self._root.open(path) as descriptor:
            return REGULAR_FILE | (0o111 if os.fstat(descriptor).st_mode & stat.S_IXUSR else 0)

    def owner(self, path: str) -> str:
        """Return user and group of a file as `uid:gid`; empty if they are those of this process, or unknown."""
        with contextlib.suppress(VaultReadError), self._root.open(path) as descriptor:
            status = os.fstat(descriptor)
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                return f"{status.st_uid}:{status.st_gid}"
        return ""

    def put(self, change: Change, temporary: str) -> None:
        """Apply `change` to a file; keep the displaced bytes next to it under the name `temporary`.

        Raises VaultWriteError: `conflict` if the file does not hold the bytes of `before`. Call `complete`
        afterwards, or `revert`, even after an error.
        """
        *parts, name = check_relative(change.path)
        with vault_errors(change.path):
            if change.after is not None:
                self._make_folders(parts)
            with self._root.open_folder(parts) as folder:
                atomic.put(folder, name, temporary, change)
                os.fsync(folder)

    def revert(self, change: Change, temporary: str) -> bool:
        """Undo a `put`, even a partial one. A file saved since then is kept. Needs no disk space.

        Return False if a displaced file has the only copy of a text.
        """
        done = True
        with _if_there(), self._folder_of(change.path) as (folder, name):
            done = atomic.revert(folder, name, temporary, change)
            os.fsync(folder)
        return done

    def complete(self, change: Change, temporary: str) -> bool:
        """Remove what a `put` displaced, once its change is in the history. Return False if that is other text."""
        done = True
        with _if_there(), self._folder_of(change.path) as (folder, name):
            done = atomic.complete(folder, name, temporary, change)
        return done

    def displaced(self, path: str, temporary: str) -> bytes | None:
        """Return the bytes that an incomplete `put` left under the name `temporary`."""
        return self.read(str(PurePosixPath(path).with_name(temporary)))

    def put_back(self, path: str, temporary: str, ours: bytes | None) -> None:
        """Restore the file named `temporary` to `path`, if that holds `ours`, which is then displaced instead."""
        with self._folder_of(path) as (folder, name):
            atomic.restore_displaced(folder, name, temporary, ours)
            os.fsync(folder)

    def drop(self, path: str, temporary: str) -> None:
        """Remove the displaced file next to a file, if there is one; there is none if the folder has become a link."""
        with _if_there(Reason.PATH_ESCAPE), self._folder_of(path) as (folder, _):
            for name in (temporary, atomic.spare_name(temporary)):
                atomic.remove(folder, name)

    @contextlib.contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        *parts, name = check_relative(path)
        with vault_errors(path), self._root.open_folder(parts) as folder:
            yield folder, name

    def _make_folders(self, parts: list[str]) -> None:
        for depth, part in enumerate(parts):
            with self._root.open_folder(parts[:depth]) as folder, contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
                os.fsync(folder)


@contextlib.contextmanager
def _if_there(*elsewhere: Reason) -> Iterator[None]:
    """Ignore errors for a missing folder, or with the reasons `elsewhere`: there is no displaced file."""
    try:
        yield
    except VaultWriteError as error:
        if error.reason not in (Reason.MISSING, *elsewhere):
            raise


@contextlib.contextmanager
def vault_errors(path: str) -> Iterator[None]:
    """Convert errors raised in the block to a VaultWriteError about this path."""
    try:
        yield
    except atomic.SavedMeanwhileError:
        raise changed_meanwhile(path) from None
    except VaultReadError as error:
        raise VaultWriteError(error.reason, error.message, hint=error.hint, path=path) from error
    except OSError as error:
        raise refused_write(error, path) from error
