"""Print results and messages, with exit codes."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import sys
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, NoReturn, TextIO

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import DonnaError, Reason


def named_day(text: str) -> datetime.date:
    """Parse a day in ISO 8601. Raises DonnaError."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise DonnaError(Reason.USAGE, f"{text} is not a date", hint="write it as 2026-03-12") from None


class ExitCode(IntEnum):
    """The exit codes of `donna`."""

    FINE = 0
    NOTHING_FOUND = 1
    USAGE = 2
    REFUSED = 3
    DEGRADED = 4
    FAILED = 5


_REASONS = {
    ExitCode.USAGE: {
        Reason.USAGE, Reason.CONFIG_INVALID, Reason.KEYMAP_INVALID, Reason.NO_VAULT, Reason.NO_TERMINAL,
    },
    ExitCode.DEGRADED: {Reason.MODEL_MISSING, Reason.WATCHER_DEGRADED},
    ExitCode.FAILED: {
        Reason.MODEL_INVALID, Reason.EMBEDDING_FAILED, Reason.CALENDAR_FAILED, Reason.LOGIN_REFUSED,
        Reason.TEMPLATE_ERROR, Reason.MODEL_CALL_FAILED, Reason.DATABASE_CORRUPT, Reason.DISK_FULL, Reason.IO_ERROR,
        Reason.INTERNAL,
    },
}  # fmt: skip


def exit_code(reason: Reason) -> ExitCode:
    """Return the exit code for a reason. Unlisted reasons are refusals: the request was valid and not carried out."""
    return next((code for code, reasons in _REASONS.items() if reason in reasons), ExitCode.REFUSED)


def emit(data: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result on stdout: `data` as one JSON object with `ok`, or else `lines`, sanitised.

    If the reader has closed the pipe, the process exits silently.
    """
    if as_json:
        emit_lines([json_text({"ok": True, **data})])
    else:
        emit_lines(clean_line(line) for line in lines)


def emit_lines(lines: Iterable[str]) -> None:
    """Print lines that need no sanitising, such as JSON, on stdout."""
    try:
        _write(sys.stdout, lines)
    except BrokenPipeError:
        _discard(sys.stdout)
        raise SystemExit(ExitCode.FINE) from None
    except OSError as error:
        _discard(sys.stdout)
        print_message(f"donna: the result cannot be written: {error.strerror}")
        raise SystemExit(ExitCode.FAILED) from error


def print_message(*lines: str) -> None:
    """Print messages on stderr, sanitised."""
    try:
        _write(sys.stderr, [clean_line(line) for line in lines])
    except OSError:
        _discard(sys.stderr)


def require_found(found: object, message: str = "") -> None:
    """Exit with 1 if nothing was found, after a message if there is one."""
    if not found:
        if message:
            print_message(message)
        raise SystemExit(ExitCode.NOTHING_FOUND)


def print_problem(message: str, hint: str | None) -> None:
    """Print a problem on stderr, with its hint if there is one."""
    print_message(f"donna: {message}", *([f"       {hint}"] if hint else []))


def fail(error: DonnaError, as_json: bool) -> NoReturn:
    if as_json:
        fields = {"ok": False, "reason": error.reason, "message": error.message, "hint": error.hint or ""}
        with contextlib.suppress(SystemExit):  # nobody reads it: the exit code still says that it failed
            emit_lines([json_text(fields)])
    else:
        path = getattr(error, "path", "")
        message = error.message if path in error.message else f"{path}: {error.message}"
        print_problem(message, error.hint)
    raise SystemExit(exit_code(error.reason))


def json_text(data: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Serialise to ASCII JSON, so that no control character of a note or file name reaches a terminal."""
    return json.dumps(data, indent=indent, ensure_ascii=True)


def _write(stream: TextIO | None, lines: Iterable[str]) -> None:
    if stream is None:  # the process was started with this stream closed
        return
    encoding = stream.encoding or "utf-8"
    for line in lines:
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


def _discard(stream: TextIO) -> None:
    """Redirect a stream to /dev/null, so that flushing its buffer at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
