"""Preserve files that clients overwrite or delete: in the vault's history if any, else in Obsidian's `.trash`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.atomic import NO_LINKS, read_at, remove
from donna_tui.vault.write.changes import Change, OperationKind
from donna_tui.vault.write.files import vault_errors
from donna_tui.vault.write.writer import VaultWriter

ACTOR = "webdav"

TRASH = ".trash"
"""Obsidian's own folder for deleted files; it is never served, listed or indexed."""

MOST_RECORDED_BYTES = 64 * 1024 * 1024
"""Larger files are moved to the trash instead of being read into memory and into git."""

MOST_NAMES = 10_000


@dataclass(frozen=True, slots=True)
class Touched:
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


Keep = Callable[[OperationKind, tuple[Touched, ...]], contextlib.AbstractContextManager[None]]


def preserve_nothing(_: OperationKind, __: tuple[Touched, ...]) -> contextlib.AbstractContextManager[None]:
    """Preserve nothing, for a read-only tree."""
    return contextlib.nullcontext()


class Preimages:
    """Preserve the bytes of files before the block changes them, and drop them again if the block fails."""

    def __init__(self, root: VaultRoot, writer: VaultWriter) -> None:
        self._root, self._writer = root, writer

    @contextlib.contextmanager
    def keep(self, kind: OperationKind, touched: tuple[Touched, ...]) -> Iterator[None]:
        """Preserve what would be lost. Raises VaultWriteError, and then the block has not been entered."""
        lost = [each for each in touched if each.is_lost and each.size]
        if not lost:
            yield
        elif self._writer.repo.find() is None or any(
            max(each.size or 0, each.new_size) > MOST_RECORDED_BYTES for each in touched
        ):
            with contextlib.ExitStack() as stack:
                for each in lost:
                    stack.enter_context(self._in_trash(each))
                yield
        else:
            changes = tuple(change for each in touched if (change := _change(each)).before != change.after)
            with self._writer.recording(kind, changes, actor=ACTOR) if changes else contextlib.nullcontext():
                yield

    @contextlib.contextmanager
    def _in_trash(self, lost: Touched) -> Iterator[None]:
        """Link the file into the trash. That is its only name once the block has ended."""
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


def _change(touched: Touched) -> Change:
    with vault_errors(touched.path):
        before = read_at(touched.folder, touched.name) if touched.size is not None else None
    return Change(path=touched.path, before=before, after=touched.after())


def _linked(lost: Touched, trash: int) -> str:
    """Link the file under a free name in the trash, or copy it if the disk has no hard links. Return the name."""
    stem, dot, ending = lost.name.rpartition(".")
    for number in range(1, MOST_NAMES):
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
        Reason.IO_ERROR, f"there are too many files of this name in {TRASH}", hint="empty it", path=lost.path
    )


def _copied(lost: Touched, trash: int, name: str) -> bool:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, 0o666, dir_fd=trash)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as copy:
        copy.write(read_at(lost.folder, lost.name))
        copy.flush()
        os.fsync(copy.fileno())
    return True
