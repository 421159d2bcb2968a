"""Provide planners with the current notes, and check whether a name is free."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.git.attributes import attributes_of
from donna_tui.vault.git.repository import GitRepo
from donna_tui.vault.git.tracked import unstorable
from donna_tui.vault.paths import VaultRoot, folders_above
from donna_tui.vault.write.changes import REGULAR_FILE, Change, Precondition
from donna_tui.vault.write.file_names import check_composed, check_new_name, find_twin
from donna_tui.vault.write.files import VaultFiles, changed_meanwhile, vault_errors
from donna_tui.vault.write.rules import WriteRules

_UNREADABLE = (Reason.TOO_LARGE, Reason.UNREADABLE)


class PlanContext:
    """Read one vault without changing it. Every method blocks and raises VaultWriteError.

    `recover` is called before a plan is made, to complete an interrupted write: a plan based on half-written notes
    would be refused when it is applied.
    """

    def __init__(
        self,
        client: VaultClient,
        root: VaultRoot,
        files: VaultFiles,
        rules: WriteRules,
        repo: GitRepo,
        recover: Callable[[], None],
    ) -> None:
        self.rules, self.repo, self.recover = rules, repo, recover
        self._client, self._root, self._files = client, root, files

    def read(self, path: str) -> bytes | None:
        with vault_errors(path):
            return self._files.read(path)

    def notes(self, moved: str) -> tuple[list[str], list[str]]:
        """Return all notes that can be read, and the notes and folders that cannot: too large, or not permitted.

        `moved` is the note to which they may link. Raises VaultWriteError on a disk error, as the unreadable part may
        have links too.
        """
        with vault_errors(moved):
            entries = list(self._client.scan())
        for entry in entries:
            if entry.reason is Reason.IO_ERROR:
                raise unseen(moved, entry.path, entry.reason, entry.message)
        unreadable = sorted(entry.path for entry in entries if entry.reason in _UNREADABLE)
        return sorted(entry.path for entry in entries if entry.reason is None), unreadable

    def inside(self, folder: str) -> tuple[list[str], list[str]]:
        """List the notes in a folder, at any depth, and the other files in it, which Donna does not move or delete."""
        with vault_errors(folder):
            entries = [entry for entry in self._client.scan(folder) if entry.path.startswith(f"{folder}/")]
            paths = sorted(entry.path for entry in entries if entry.reason is None)
            return paths, sorted(set(self._files.below(folder)) - set(paths))

    def is_folder(self, path: str) -> bool:
        return self._files.is_folder(path)

    def existing(self, path: str, expected: Precondition) -> bytes:
        """Return the bytes of an existing note, checked to be the version that the caller has seen."""
        self.rules.check_path(path)
        before = self.read(path)
        if before is None:
            raise note_missing(path)
        if not expected(before):
            raise changed_meanwhile(path)
        return before

    def mode(self, path: str, before: bytes | None) -> int:
        """Return the git mode of a note; a new one is a regular file."""
        if before is None:
            return REGULAR_FILE
        return self._files.mode(path) if self.repo.knows_modes() else self.repo.mode(path)

    def check_new(self, path: str, *, besides: str = "", vacated: Collection[str] = ()) -> None:
        """Raise VaultWriteError for a new name that is taken, or is invalid or equal to a taken one on some system.

        `besides` is the note that is moved there, `vacated` are folders of which nothing is left by then.
        """
        check_new_name(path)
        if not unicodedata.is_normalized("NFC", path):
            folders = (folder.rpartition("/")[2] for folder in folders_above(path) if self._files.is_folder(folder))
            check_composed(path, {*besides.split("/"), *folders})
        self._check_folders(path)
        self.check_free(path, besides={besides, *vacated})

    def _check_folders(self, path: str) -> None:
        """Raise VaultWriteError if a folder of a new path is a file."""
        folder = next((each for each in folders_above(path) if not self._files.is_folder(each)), "")
        if folder and self.read(folder) is not None:
            message = f"“{folder}” is a file, so there can be nothing in it"
            raise VaultWriteError(Reason.CONFLICT, message, hint="choose another folder", path=path)

    def check_free(self, path: str, *, besides: Collection[str]) -> None:
        """Raise VaultWriteError for a name that is taken, or equal to a taken one on some system.

        `besides` are notes and folders that are gone by then.
        """
        is_gone = path in besides or any(self.is_respelled(each, path) for each in besides)
        if not is_gone and self.read(path) is not None:
            message = "a note with that name already exists"
            raise VaultWriteError(Reason.CONFLICT, message, hint="choose another name", path=path)
        with vault_errors(path):
            twin = find_twin(self._root, path, besides=besides)
        if twin:
            message = f"“{twin}” differs only in case or Unicode form, which some systems do not distinguish"
            raise VaultWriteError(Reason.CONFLICT, message, hint="use the existing name", path=path)

    def vacated(self, folders: Sequence[str], removed: Collection[str]) -> set[str]:
        """Return those of these folders whose names are free once these files are removed.

        Nothing is left in them then, or the disk ignores case, and takes the new name for the same folder.
        """
        return {
            each
            for each in folders
            if self._files.is_same(each, each.swapcase())
            or (self.is_folder(each) and set(self._files.below(each)) <= set(removed))
        }

    def is_respelled(self, old: str, new: str) -> bool:
        """Return whether two paths differ only in case, and are the same file or folder for the disk."""
        return old.casefold() == new.casefold() and self._files.is_same(old, new)

    def refused(self, changes: Sequence[Change]) -> set[str]:
        if not changes:
            return set()
        location = self.repo.location()
        rules = attributes_of(self.repo, location, [change.path for change in changes])
        not_ours = set(unstorable(self.repo, location, self._files, changes, rules))
        return not_ours | {change.path for change in changes if self.rules.objection(change)}


def note_missing(path: str) -> VaultWriteError:
    return VaultWriteError(Reason.MISSING, "there is no such note", path=path)


def unseen(moved: str, other: str, reason: Reason, message: str) -> VaultWriteError:
    """Return the error for an unreadable note or folder that may have links to the note that is moved."""
    hint = "make it readable, or add it to vault.ignore_globs"
    return VaultWriteError(reason, f"links in “{other}” cannot be checked: {message}", hint=hint, path=moved)
