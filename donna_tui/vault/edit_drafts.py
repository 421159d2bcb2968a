"""Store edits that are not written to the vault yet, so that typed text survives the end of the program or terminal."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath

from donna_tui.platform.paths import modified_ns, private_folder
from donna_tui.text.encodable import encodable
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.notes import Edit
from donna_tui.vault.write.durable import remove_durably, write_durably

_BEGUN = "edit.json"
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class EditorCopy:
    """A file opened in an external editor: the initial edit, the process that owns it, and the current text.

    `text` is None if it cannot be read as UTF-8; `other_files` are files that the editor left, such as vim's swap file.
    """

    folder: Path
    file: Path
    begun: Edit
    owner: int
    text: str | None
    other_files: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Return whether nothing was saved and the editor left no recovery file."""
        return self.text in (self.begun.text, self.begun.base) and not self.other_files

    @property
    def is_open(self) -> bool:
        return self.owner != os.getpid() and _runs(self.owner)


class EditDrafts:
    """Store one file per edit, named after a hash of the note's path, in a folder that only this user can read.

    An editor gets a separate folder with a copy under the note's name, so that each save in the editor is stored at
    once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, edit: Edit) -> None:
        """Store an edit, replacing an earlier one of the same note. Raises VaultWriteError."""
        write_durably(self._file(edit.path), json.dumps(asdict(edit)))
        for copy in self._copies(edit.path):
            if copy.text == edit.text and not copy.other_files and not copy.is_open:
                shutil.rmtree(copy.folder, ignore_errors=True)

    def drop(self, path: str) -> None:
        remove_durably(self._file(path))
        for copy in self._copies(path):
            if not copy.is_open:
                shutil.rmtree(copy.folder, ignore_errors=True)

    def edits(self) -> tuple[Edit, ...]:
        """Return all stored edits, sorted by path. Files that are not edits are skipped.

        Text saved by an editor takes precedence over an edit stored earlier. Unchanged copies of a program that has
        ended are removed.
        """
        files = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        found = {edit.path: edit for edit in (_edit(file) for file in files) if edit}
        for copy in self.copies():
            if copy.is_open:
                continue
            if copy.is_unchanged:
                shutil.rmtree(copy.folder, ignore_errors=True)
            elif copy.text is not None and copy.text not in (copy.begun.text, copy.begun.base):
                found[copy.begun.path] = replace(copy.begun, text=copy.text)
        return tuple(sorted(found.values(), key=lambda edit: edit.path))

    def begin(self, edit: Edit) -> Path:
        """Create the copy of an edit for an editor. Raises VaultWriteError (`io_error`) if it cannot be created."""
        folder = self._folder / f"{_hash(edit.path)}-{secrets.token_hex(4)}"
        file = folder / _plain_name(edit.path)
        try:
            private_folder(self._folder)
            write_durably(folder / _BEGUN, json.dumps({**asdict(edit), "owner": os.getpid()}))
            file.touch(mode=0o600)
            file.write_bytes(edit.text.encode("utf-8"))
        except OSError as error:
            message = f"a copy for the editor cannot be created ({error.strerror})"
            raise VaultWriteError(Reason.IO_ERROR, message, hint=f"check the free space in {self._folder}") from error
        except DonnaError as error:
            raise VaultWriteError(error.reason, error.message, hint=error.hint) from error
        return file

    def copies(self) -> list[EditorCopy]:
        """Return all files opened in editors and not dropped, oldest first."""
        return sorted(self._copies(), key=lambda copy: modified_ns(copy.file))

    def _copies(self, path: str = "") -> Iterator[EditorCopy]:
        pattern = f"{_hash(path)}-*" if path else "*-*"
        for folder in self._folder.glob(pattern) if self._folder.is_dir() else ():
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                raw = json.loads((folder / _BEGUN).read_text(encoding="utf-8"))
                begun, file = _checked(raw), folder / _plain_name(raw["path"])
                others = tuple(sorted({entry.name for entry in folder.iterdir()} - {_BEGUN, file.name}))
                if begun is not None:
                    yield EditorCopy(folder, file, begun, int(raw["owner"]), _text(file), others)

    def _file(self, path: str) -> Path:
        return self._folder / f"{_hash(path)}.json"


def edited_text(file: Path) -> str:
    """Read the text that the editor saved in its copy. Raises VaultWriteError, and leaves the copy in place."""
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        message = f"the edited copy cannot be read ({error.strerror})"
        raise VaultWriteError(Reason.IO_ERROR, message, hint=f"it is at {file}") from error
    except UnicodeDecodeError as error:
        hint = f"your text is safe at {file}; save it as UTF-8"
        raise VaultWriteError(Reason.ENCODING, "the editor did not save the copy as UTF-8", hint=hint) from error


def _text(file: Path) -> str | None:
    try:
        return edited_text(file)
    except VaultWriteError:
        return None


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain_name(path: str) -> str:
    """Return the note's name without unsafe characters: editors show it and pick highlighting by its extension."""
    stem = PurePosixPath(path).stem
    kept = "".join(char if char.isalnum() or char in " ._()+" else "_" for char in stem)[:_LONGEST_NAME].strip(". ")
    return encodable(f"{kept or 'note'}.md")


def _edit(file: Path) -> Edit | None:
    try:
        return _checked(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _checked(raw: dict[str, str]) -> Edit | None:
    edit = Edit(path=raw["path"], base=raw["base"], etag=raw["etag"], text=raw["text"])
    texts = (edit.path, edit.base, edit.text, "" if edit.etag is None else edit.etag)
    return edit if all(isinstance(text, str) for text in texts) else None
