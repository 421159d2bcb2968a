"""Restore the text in temporary files that interrupted writes left next to notes, if their journal is lost."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from donna_tui.vault.git.objects import blob_id
from donna_tui.vault.git.operations import each_operation
from donna_tui.vault.git.repository import GitRepo, RepoLocation
from donna_tui.vault.paths import VaultRoot, check_relative
from donna_tui.vault.write.atomic import read_existing, remove, rename_new, try_read
from donna_tui.vault.write.changes import BlobChange, Operation
from donna_tui.vault.write.files import MARK, vault_errors

UPLOAD = f"{MARK}upload-"
"""Prefix of the files that `serve-webdav` is receiving; its next start removes them."""

MAX_NAMES = 1_000
_NAME = re.compile(rf"{re.escape(MARK)}(?P<operation>[0-9a-f]{{20}})-(?P<number>\d{{1,6}})(?:-back)?")


class Fate(StrEnum):
    RESTORED = "restored"
    COPIED = "copied"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of restoring one file: the path of the note that has its text now, or empty if it was removed."""

    path: str
    fate: Fate
    note: str = ""


def find_orphans(root: Path) -> list[str]:
    """Return the paths of temporary files below a vault, sorted. Skips git's folders and follows no symbolic links."""
    paths: list[str] = []
    for top, folders, files in os.walk(root):
        folders[:] = [folder for folder in folders if folder != ".git"]
        for name in files:
            full = Path(top, name)
            if name.startswith(MARK) and stat.S_ISREG(full.lstat().st_mode):
                paths.append(full.relative_to(root).as_posix())
    return sorted(paths)


class OrphanFiles:
    """Restore orphaned files. Must be used while no other Donna writes, and after `recover`.

    A text never replaces another one: it is restored under the name of its note if that is free, and otherwise as a
    conflict copy next to it. A file is removed only if its text is in the note, in a commit or in a record.
    """

    def __init__(self, root: VaultRoot, repo: GitRepo, location: RepoLocation | None) -> None:
        self._root, self._repo, self._location = root, repo, location
        recorded = list(each_operation(repo, repo.record())) if location else []
        self._done = {operation.id for operation in recorded}
        self._known = {each.id: each for each in (*recorded, *self._pending())}
        self._stamp = time.strftime("%Y-%m-%d %H%M%S")

    def restore(self, path: str) -> Restored:
        """Restore one file. Raises VaultWriteError; the file then remains."""
        *parts, name = check_relative(path)
        with vault_errors(path), self._root.open_folder(parts) as folder:
            data = read_existing(folder, name)
            operation, change = self._change(name)
            note = self._note(parts, change, data)
            if not data or self._is_stored(folder, data, operation, change, note):
                remove(folder, name)
                os.fsync(folder)
                return Restored(path, Fate.REMOVED)
            fate, target = self._name(folder, name, note)
            os.fsync(folder)
            return Restored(path, fate, "/".join([*parts, target]))

    def _pending(self) -> Iterator[Operation]:
        if self._location is None:
            return
        below = f"{self._location.refs}/pending/"
        refs = self._repo.command.run("for-each-ref", "--format=%(objectname)", below, check=False)
        for commit in refs.output.decode("ascii", "replace").split():
            yield from each_operation(self._repo, commit, limit=1)

    def _change(self, name: str) -> tuple[Operation | None, BlobChange | None]:
        parts = _NAME.fullmatch(name)
        operation = self._known.get(parts["operation"]) if parts else None
        if parts is None or operation is None or int(parts["number"]) >= len(operation.changes):
            return operation, None
        return operation, operation.changes[int(parts["number"])]

    def _note(self, parts: list[str], change: BlobChange | None, data: bytes | None) -> str:
        """Return the name of the note that the text is from, according to the operation or the last commit."""
        if change is not None:
            return PurePosixPath(change.path).name
        if self._location is None or data is None:
            return ""
        tip = self._repo.tip().commit
        blob, folder = blob_id(data, self._location.object_format), "/".join(parts)
        known = self._repo.all_blob_ids(tip, self._location) if tip else {}
        same_text = (PurePosixPath(path) for path, each in known.items() if each == blob)
        return next((path.name for path in same_text if str(path.parent) == (folder or ".")), "")

    def _is_stored(
        self, folder: int, data: bytes, operation: Operation | None, change: BlobChange | None, note: str
    ) -> bool:
        """Return whether the text is in the note or the history, or is a prefix of what Donna was about to write."""
        there = try_read(folder, note) if note else None
        if there == data:
            return True
        if change is None or operation is None or self._location is None:
            return change is None and there is not None  # the last commit, which contains the text, names `note`
        blob = blob_id(data, self._location.object_format)
        if operation.id in self._done and blob in change.sides:
            return True
        if blob == change.before or change.after is None:
            return False
        (after,) = self._repo.blobs([change.after])
        return after is not None and after.startswith(data)

    def _name(self, folder: int, name: str, note: str) -> tuple[Fate, str]:
        """Rename the file to the first free name: that of its note, or a similar one."""
        for target in self._names(note):
            if rename_new(folder, name, folder, target):
                return (Fate.RESTORED if target == note else Fate.COPIED), target
        raise FileExistsError(17, "no name is free", name)

    def _names(self, note: str) -> Iterator[str]:
        if note:
            yield note
        stem, dot, ending = (note or "Recovered.md").rpartition(".")
        mark = f" (Donna's conflicted copy {self._stamp})" if note else f" {self._stamp}"
        for number in range(1, MAX_NAMES):
            yield f"{stem}{mark}{f' ({number})' if number > 1 else ''}{dot}{ending}"
