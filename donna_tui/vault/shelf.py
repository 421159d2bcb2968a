"""Edits that were begun and are not written to the vault yet, kept so that what was typed outlives the program."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from donna_tui.notes import Edit
from donna_tui.vault.durable import remove_durably, write_durably


class EditShelf:
    """One file an edit, named after a hash of the note's path, in a folder that only this user can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, edit: Edit) -> None:
        """Keep an edit in the place of an earlier one of the same note. Raises VaultWriteError."""
        write_durably(self._file(edit.path), json.dumps(asdict(edit)))

    def drop(self, path: str) -> None:
        """The edit of this note is written, or not wanted any more."""
        remove_durably(self._file(path))

    def edits(self) -> tuple[Edit, ...]:
        """All that is kept, sorted by path; a file that is not an edit is left alone."""
        files = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        found = (_edit(file) for file in files)
        return tuple(sorted((edit for edit in found if edit), key=lambda edit: edit.path))

    def _file(self, path: str) -> Path:
        name = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{name[:32]}.json"


def _edit(file: Path) -> Edit | None:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        edit = Edit(path=raw["path"], base=raw["base"], etag=raw["etag"], text=raw["text"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = (edit.path, edit.base, edit.text, "" if edit.etag is None else edit.etag)
    return edit if all(isinstance(each, str) for each in texts) else None
