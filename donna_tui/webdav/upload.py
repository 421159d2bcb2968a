"""Receive uploads atomically, and preserve the files that clients overwrite or delete."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.atomic import NEW_FILE, NO_LINKS, copy_metadata, exchange, read_at, remove, rename_new
from donna_tui.vault.write.changes import REGULAR_FILE, Change, OperationKind
from donna_tui.vault.write.files import changed_meanwhile, vault_errors
from donna_tui.vault.write.orphans import UPLOAD
from donna_tui.vault.write.writer import VaultWriter

ACTOR = "webdav"

TRASH = ".trash"
"""Obsidian's own folder for deleted files; it is never served, listed or indexed."""

MAX_RECORDED_BYTES = 64 * 1024 * 1024
"""Larger files are moved to the trash instead of being read into memory and into git."""

MAX_NAMES = 10_000


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a request changes: an open folder, the name in it, and the bytes before and after.

    `size` is that of the current file, None if there is none. `after` returns the new bytes, or None if the file is
    removed. `is_lost` is set if the bytes before would exist nowhere afterwards.
    """

    folder: int
    name: str
    path: str
    size: int | None
    new_size: int
    after: Callable[[], bytes | None]
    is_lost: bool = True


Keep = Callable[[OperationKind, tuple[ChangedFile, ...]], contextlib.AbstractContextManager[None]]


class Preimages:
    """Preserve the bytes of files before the block changes them, and drop them again if the block fails."""

    def __init__(self, root: VaultRoot, writer: VaultWriter) -> None:
        self._root, self._writer = root, writer

    @contextlib.contextmanager
    def keep(self, kind: OperationKind, touched: tuple[ChangedFile, ...]) -> Iterator[None]:
        """Preserve what would be lost. Raises VaultWriteError, and then the block has not been entered."""
        lost = [file for file in touched if file.is_lost and file.size]
        if not lost:
            yield
        elif self._writer.repo.find() is None or any(
            max(file.size or 0, file.new_size) > MAX_RECORDED_BYTES for file in touched
        ):
            with contextlib.ExitStack() as stack:
                for file in lost:
                    stack.enter_context(self._in_trash(file))
                yield
        else:
            changes = tuple(change for file in touched if (change := _change(file)).before != change.after)
            with self._writer.recording(kind, changes, actor=ACTOR) if changes else contextlib.nullcontext():
                yield

    @contextlib.contextmanager
    def _in_trash(self, lost: ChangedFile) -> Iterator[None]:
        """Link the file into the trash, where it stays when the block removes or replaces it."""
        with self._root.open_folder() as root, contextlib.suppress(FileExistsError):
            os.mkdir(TRASH, dir_fd=root)
        with self._root.open_folder([TRASH]) as trash:
            name = _linked(lost, trash)
            try:
                yield
            except BaseException:
                remove(trash, name)
                raise
            os.fsync(trash)


def _change(touched: ChangedFile) -> Change:
    with vault_errors(touched.path):
        before = read_at(touched.folder, touched.name) if touched.size is not None else None
    return Change(path=touched.path, before=before, after=touched.after())


def _linked(lost: ChangedFile, trash: int) -> str:
    """Link the file under a free name in the trash, or copy it if the disk has no hard links. Return the name."""
    stem, dot, ending = lost.name.rpartition(".")
    for number in range(1, MAX_NAMES):
        name = lost.name if number == 1 else f"{stem} {number}{dot}{ending}" if stem else f"{lost.name} {number}"
        try:
            os.link(lost.name, name, src_dir_fd=lost.folder, dst_dir_fd=trash, follow_symlinks=False)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            if not _copied(lost, trash, name):
                continue
        return name
    raise VaultWriteError(
        Reason.IO_ERROR, f"there are too many files with this name in {TRASH}", hint="empty it", path=lost.path
    )


def _copied(lost: ChangedFile, trash: int, name: str) -> bool:
    try:
        descriptor = os.open(name, NEW_FILE, 0o666, dir_fd=trash)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as copy:
        copy.write(read_at(lost.folder, lost.name))
        copy.flush()
        os.fsync(copy.fileno())
    return True


@dataclass(frozen=True, slots=True)
class Item:
    """A file or folder as served. `path` is relative to the vault, empty for the vault itself."""

    path: str
    is_folder: bool
    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, path: str, stat: os.stat_result, *, is_folder: bool) -> Item:
        return cls(path, is_folder, stat.st_size, stat.st_mtime_ns, stat.st_ino)

    @property
    def etag(self) -> str:
        return f"{self.inode:x}-{self.size:x}-{self.mtime_ns:x}"

    def is_still(self, stat: os.stat_result) -> bool:
        return (self.inode, self.size, self.mtime_ns) == (stat.st_ino, stat.st_size, stat.st_mtime_ns)


class Upload:
    """Receive the bytes of one file. End it with `keep` or `drop`; further calls of either do nothing.

    `expected` is the version that it replaces, None for a new file; `keep` preserves the bytes of that version.
    """

    def __init__(self, folder: int, path: str, expected: Item | None, keep: Keep) -> None:
        self._path, self._expected, self._keep = path, expected, keep
        self._name = path.rpartition("/")[2]
        self._temporary = f"{UPLOAD}{secrets.token_hex(8)}"
        with vault_errors(path):
            self._file = os.fdopen(os.open(self._temporary, NEW_FILE, 0o666, dir_fd=folder), "wb")
        self._folder: int | None = os.dup(folder)
        self.size = 0

    def write(self, data: bytes) -> None:
        with vault_errors(self._path):
            self._file.write(data)
        self.size += len(data)

    def keep(self) -> None:
        """Move the file to its destination. Raises VaultWriteError: `conflict` if that is not the expected version."""
        with self._end() as folder:
            if folder is None:
                return
            self._file.flush()
            copy_metadata(folder, self._name if self._expected else None, self._file.fileno(), REGULAR_FILE)
            os.fsync(self._file.fileno())
            if self._expected is None:
                if not rename_new(folder, self._temporary, folder, self._name):
                    raise changed_meanwhile(self._path)
            else:
                self._expect(folder, self._expected)
                new = partial(read_at, folder, self._temporary)
                touched = ChangedFile(folder, self._name, self._path, self._expected.size, self.size, new)
                with self._keep(OperationKind.WRITE, (touched,)):
                    self._replace(folder, self._expected)
            os.fsync(folder)

    def drop(self) -> None:
        with self._end():
            pass

    @contextlib.contextmanager
    def _end(self) -> Iterator[int | None]:
        """Yield the open folder for the last step, then close it and remove the temporary file."""
        folder, self._folder = self._folder, None
        if folder is None:
            yield None
            return
        try:
            with vault_errors(self._path):
                yield folder
        finally:
            with contextlib.suppress(OSError):  # a full disk raises once more on close
                self._file.close()
            with contextlib.suppress(OSError):
                remove(folder, self._temporary)
            os.close(folder)

    def _replace(self, folder: int, expected: Item) -> None:
        """Exchange the two files and check the displaced one: if it was saved meanwhile, exchange them back."""
        self._expect(folder, expected)
        if not exchange(folder, self._temporary, self._name):
            os.rename(self._temporary, self._name, src_dir_fd=folder, dst_dir_fd=folder)
        elif not expected.is_still(os.stat(self._temporary, dir_fd=folder, follow_symlinks=False)):
            exchange(folder, self._temporary, self._name)
            raise changed_meanwhile(self._path)

    def _expect(self, folder: int, expected: Item) -> None:
        try:
            is_still = expected.is_still(os.stat(self._name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            is_still = False
        if not is_still:
            raise changed_meanwhile(self._path)


def sweep(root: Path) -> None:
    """Remove the temporary files of a killed server. No other server may be running."""
    for file in list(root.rglob(f"{UPLOAD}*")):
        with contextlib.suppress(OSError):
            file.unlink()
