"""Text on its way through an editor: a private copy of a note, and an edit that is not written yet."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path, PurePosixPath

from donna_tui.errors import Reason, VaultWriteError

_LONGEST_NAME = 80


class EditCopy:
    """A copy of a text in a folder that only this user can read; it is the editor's, the note is not touched."""

    def __init__(self, path: str, text: str) -> None:
        """Make the copy. Raises VaultWriteError (IO_ERROR) if there is no room for it."""
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="donna-edit-"))
            self.file = self._folder / _plain_name(path)
            self.file.touch(mode=0o600)
            self.file.write_bytes(text.encode("utf-8"))
        except OSError as error:
            message = f"a copy for the editor cannot be made ({error.strerror})"
            raise VaultWriteError(Reason.IO_ERROR, message, hint="is there room for temporary files?") from error

    def read(self) -> str:
        """What the editor left. Raises VaultWriteError; the copy stays then."""
        try:
            return self.file.read_bytes().decode("utf-8")
        except OSError as error:
            message = f"the edited copy cannot be read ({error.strerror})"
            raise VaultWriteError(Reason.IO_ERROR, message, hint=f"it is at {self.file}") from error
        except UnicodeDecodeError as error:
            hint = f"your text is safe at {self.file}; save it as UTF-8"
            raise VaultWriteError(Reason.ENCODING, "the editor did not save the copy as UTF-8", hint=hint) from error

    def remove(self) -> None:
        """Remove the copy, and whatever the editor left beside it."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _plain_name(path: str) -> str:
    """The note's own name where it is harmless, because editors show it and choose colours by its ending."""
    stem = PurePosixPath(path).stem
    kept = "".join(char if char.isalnum() or char in " ._()+" else "_" for char in stem)[:_LONGEST_NAME].strip(". ")
    return f"{kept or 'note'}.md".encode("utf-8", "replace").decode("utf-8")
