"""Receive an upload into a temporary file next to its destination, and move it there atomically once complete."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from donna_tui.vault.write.atomic import NO_LINKS, dress, exchange, read_at, remove
from donna_tui.vault.write.changes import REGULAR_FILE, OperationKind
from donna_tui.vault.write.files import changed_meanwhile, vault_errors
from donna_tui.vault.write.orphans import UPLOAD
from donna_tui.webdav.preimages import Keep, Touched, preserve_nothing


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
        """Build the item of a file with this stat."""
        return cls(path, is_folder, stat.st_size, stat.st_mtime_ns, stat.st_ino)

    @property
    def etag(self) -> str:
        """Return a tag that differs for every version of the file."""
        return f"{self.inode:x}-{self.size:x}-{self.mtime_ns:x}"

    def is_still(self, stat: os.stat_result) -> bool:
        """Return whether a file with this stat is the same version."""
        return (self.inode, self.size, self.mtime_ns) == (stat.st_ino, stat.st_size, stat.st_mtime_ns)


class Upload:
    """Receive the bytes of one file. End it with `keep` or `drop`; further calls of either do nothing.

    `expected` is the version that it replaces, None for a new file; `keep` preserves the bytes of that version.
    """

    def __init__(self, folder: int, path: str, expected: Item | None, keep: Keep = preserve_nothing) -> None:
        self._path, self._expected, self._keep = path, expected, keep
        self._name = path.rpartition("/")[2]
        self._waiting = f"{UPLOAD}{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with vault_errors(path):
            self._file = os.fdopen(os.open(self._waiting, flags, 0o666, dir_fd=folder), "wb")
        self._folder: int | None = os.dup(folder)
        self.size = 0

    def write(self, data: bytes) -> None:
        """Receive some bytes. Raises VaultWriteError."""
        with vault_errors(self._path):
            self._file.write(data)
        self.size += len(data)

    def keep(self) -> None:
        """Move the file to its destination. Raises VaultWriteError: `conflict` if that is not the expected version."""
        with self._ended() as folder:
            if folder is None:
                return
            self._file.flush()
            dress(folder, self._name if self._expected else None, self._file.fileno(), REGULAR_FILE)
            os.fsync(self._file.fileno())
            if self._expected is None:
                self._create(folder)
            else:
                self._expect(folder, self._expected)
                new = partial(read_at, folder, self._waiting)
                touched = Touched(folder, self._name, self._path, self._expected.size, self.size, new)
                with self._keep(OperationKind.WRITE, (touched,)):
                    self._replace(folder, self._expected)
            os.fsync(folder)

    def drop(self) -> None:
        """Discard the received bytes."""
        with self._ended():
            pass

    @contextlib.contextmanager
    def _ended(self) -> Iterator[int | None]:
        """Yield the open folder a last time; the temporary file is always removed."""
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
                remove(folder, self._waiting)
            os.close(folder)

    def _create(self, folder: int) -> None:
        try:
            os.link(self._waiting, self._name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise changed_meanwhile(self._path) from None
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:  # reserve the name, and replace the empty file
                os.close(os.open(self._name, flags, 0o666, dir_fd=folder))
            except FileExistsError:
                raise changed_meanwhile(self._path) from None
            os.rename(self._waiting, self._name, src_dir_fd=folder, dst_dir_fd=folder)

    def _replace(self, folder: int, expected: Item) -> None:
        """Exchange the two files and check the displaced one: if it was saved meanwhile, exchange them back."""
        self._expect(folder, expected)
        if not exchange(folder, self._waiting, self._name):
            os.rename(self._waiting, self._name, src_dir_fd=folder, dst_dir_fd=folder)
        elif not expected.is_still(os.stat(self._waiting, dir_fd=folder, follow_symlinks=False)):
            exchange(folder, self._waiting, self._name)
            raise changed_meanwhile(self._path)

    def _expect(self, folder: int, expected: Item) -> None:
        try:
            is_still = expected.is_still(os.stat(self._name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            is_still = False
        if not is_still:
            raise changed_meanwhile(self._path)


def sweep(root: Path) -> int:
    """Remove the temporary files of a killed server, and return their number. No other server may be running."""
    removed = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(UPLOAD):
                with contextlib.suppress(OSError):
                    Path(folder, name).unlink()
                    removed += 1
    return removed
