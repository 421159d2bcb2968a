"""Write small files in Donna's own folders that are either complete or missing, even after a power failure."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from donna_tui.platform.paths import fsync, is_full, private_folder, replace_durably
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError

_MODES = {errno.EACCES: "permission denied", errno.EPERM: "permission denied", errno.EROFS: "it is read-only"}


def refused_write(error: OSError, path: str, *, what: str = "the note") -> VaultWriteError:
    if is_full(error):
        return VaultWriteError(Reason.DISK_FULL, "the disk is full", hint="free some space and try again", path=path)
    if error.errno == errno.ENAMETOOLONG:
        return VaultWriteError(Reason.TOO_LONG, "the name is too long for this disk", path=path)
    why = _MODES.get(error.errno or 0, (error.strerror or "unknown error").lower())
    return VaultWriteError(Reason.IO_ERROR, f"{what} cannot be written: {why}", path=path)


def write_durably(path: Path, text: str) -> None:
    """Replace a file with a text, atomically. Raises VaultWriteError; the old file then remains."""
    try:
        private_folder(path.parent)
        replace_durably(path, text)
    except OSError as error:
        raise refused_write(error, "", what=f"the file {path.name}") from error
    except DonnaError as error:
        raise VaultWriteError(error.reason, error.message, hint=error.hint) from error


def remove_durably(path: Path) -> None:
    """Remove a file. Errors are ignored: the caller tolerates a file that remains."""
    with contextlib.suppress(OSError):
        path.unlink()
        fsync(path.parent)
