"""Write small files in Donna's own folders that are either complete or missing, even after a power failure."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from donna_tui.platform.paths import private_folder
from donna_tui.types.errors import DonnaError, VaultWriteError


def write_durably(path: Path, text: str) -> None:
    """Replace a file with a text, atomically. Raises VaultWriteError; the old file then remains."""
    pending = path.with_suffix(".new")
    try:
        private_folder(path.parent)
        with open(pending, "w", encoding="utf-8", opener=_private) as file:  # Path.open has no opener
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        pending.replace(path)
        _sync(path.parent)
    except OSError as error:
        from donna_tui.vault.write.files import refused_write  # not at the start, which needs no other part of writing

        with contextlib.suppress(OSError):
            pending.unlink()
        raise refused_write(error, "") from error
    except DonnaError as error:
        raise VaultWriteError(error.reason, error.message, hint=error.hint) from error


def remove_durably(path: Path) -> None:
    """Remove a file. Errors are ignored: the caller tolerates a file that remains."""
    with contextlib.suppress(OSError):
        path.unlink()
        _sync(path.parent)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
