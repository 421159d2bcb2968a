"""Handle closed standard streams, and report unexpected errors in one sentence."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from donna_tui.cli.output import ExitCode, print_message
from donna_tui.types.errors import DonnaError, Reason

MAX_FRAMES = 40

_closed: set[int] = set()
"""The standard streams that were closed when the program started."""


class AppCrashError(Exception):
    """The full-screen app ended with an unhandled error, which is the cause."""


def open_closed_streams() -> None:
    """Open /dev/null for each closed standard stream, as with `donna … >&-`.

    Otherwise the next opened file would get its descriptor, and output would be written to that file. Standard output
    is opened read-only, so that writing a result fails and is reported.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            _closed.add(descriptor)
            os.open(os.devnull, mode)  # uses the lowest free descriptor, which is this one
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def require_open_streams(what: str, *descriptors: int) -> None:
    """Raise DonnaError (`usage`) if one of the standard streams that `what` needs was closed."""
    if closed := _closed & set(descriptors):
        name = "standard input" if 0 in closed else "standard output"
        raise DonnaError(Reason.USAGE, f"{what} needs {name}, which is closed")


def report_failure(error: Exception) -> ExitCode:
    """Log the traceback of an unexpected error, and report it in one sentence."""
    from donna_tui.platform.paths import is_full

    cause = error.__cause__ if isinstance(error, AppCrashError) and isinstance(error.__cause__, Exception) else error
    if isinstance(cause, OSError) and cause.errno == errno.EBADF and 1 in _closed:
        print_message("donna: the result cannot be written: standard output is closed")
        return ExitCode.FAILED
    if isinstance(cause, OSError) and is_full(cause):
        print_message(f"donna: stopped: {(cause.strerror or 'the disk is full').lower()}")
        return ExitCode.FAILED
    log = _logged(cause)
    where = f"details are in the log: {log}" if log is not None else "set DONNA_DEBUG=1 for a traceback"
    print_message(f"donna: stopped by an unexpected error ({type(cause).__name__}); {where}")
    return ExitCode.FAILED


def _logged(error: Exception) -> Path | None:
    """Append an error to the log: its type and traceback, but not its message, which may quote a note."""
    from donna_tui.platform.log import LOG_NAME
    from donna_tui.platform.paths import app_paths

    entry = {
        "event": "unexpected_error",
        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        "error": type(error).__name__,
        "frames": [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        ],
    }
    try:
        path = app_paths().make().log / LOG_NAME
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w", encoding="ascii") as log:
            log.write(json.dumps(entry) + "\n")
    except Exception:  # a full disk, or a home that cannot be created: the sentence is still printed
        return None
    return path
