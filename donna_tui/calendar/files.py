"""Calendar files on this machine, read whole but bounded, and never a device or a pipe."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from donna_tui.calendar.values import FILE_BYTES
from donna_tui.errors import CalendarError, Reason

FOLDER_BYTES = 20_000_000
MOST_FILES = 20_000

Version = tuple[tuple[str, int, int], ...]
"""Name, size and modification time of each file: it changes when they do."""


def calendar_files(path: Path) -> list[Path]:
    """The file, or the `.ics` files in the folder, by name. Raises CalendarError if there is neither."""
    try:
        if not path.is_dir():
            return [path]
        files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".ics" and file.name[0] != ".")
    except OSError as error:
        raise unreadable(path, error) from error
    if len(files) > MOST_FILES:
        raise CalendarError(Reason.CALENDAR_FAILED, f"{path} has more than {MOST_FILES:,} calendar files")
    return files


def version_of(path: Path) -> Version:
    """What tells one version of a calendar from another; empty if it cannot be looked at."""
    try:
        statuses = [(file.name, file.stat()) for file in calendar_files(path)]
    except (OSError, CalendarError):
        return ()
    return tuple((name, status.st_size, status.st_mtime_ns) for name, status in statuses)


def read_calendar_file(file: Path) -> bytes:
    """The bytes of a file; one byte more than `FILE_BYTES` if it is larger than that. Raises CalendarError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CalendarError(Reason.CALENDAR_FAILED, f"{file} is not a file")
            return opened.read(FILE_BYTES + 1)
    except OSError as error:
        raise unreadable(file, error) from error


def unreadable(path: Path, error: OSError) -> CalendarError:
    """The error for a file or folder that cannot be read."""
    return CalendarError(Reason.CALENDAR_FAILED, f"{path} cannot be read ({error.strerror})")
