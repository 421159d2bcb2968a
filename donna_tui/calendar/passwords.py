"""Passwords and keys of calendars: files that nobody else can read, or variables of the environment."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from donna_tui.config.calendars import CalendarConfig
from donna_tui.errors import CalendarError, DonnaError, Reason
from donna_tui.paths import private_folder
from donna_tui.records import dataclass

MOST_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Login:
    """A name and its password, which shows up in no message."""

    username: str
    password: str = field(repr=False)


def login_of(config: CalendarConfig, environ: Mapping[str, str] = os.environ) -> Login | None:
    """Name and password of a calendar; None if it has neither. Raises CalendarError."""
    password = _password(config, environ)
    return Login(config.username, password) if config.username or password else None


def _password(config: CalendarConfig, environ: Mapping[str, str]) -> str:
    """The password of a calendar, empty if it has none."""
    if config.password_file is not None:
        return private_text(config.password_file).split("\n", 1)[0].rstrip("\r")
    if not config.password_env:
        return ""
    password = environ.get(config.password_env)
    if password is None:
        raise _unusable(f"the variable {config.password_env} with the password of {config.name} is not set")
    return password


def keep_password(folder: Path, name: str, password: str) -> Path:
    """Write the password of the calendar called `name` to a new file in `folder` that only its owner can read.

    Returns the file. Raises DonnaError (`io_error`).
    """
    stem = "-".join(re.findall(r"\w+", name.lower()))[:60] or "calendar"
    try:
        for number in itertools.count(1):
            file = private_folder(folder) / f"{stem}-password{'' if number == 1 else f'-{number}'}"
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                break
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{password}\n")
    except OSError as error:
        message = f"the password cannot be kept in {folder} ({error.strerror})"
        raise DonnaError(Reason.IO_ERROR, message) from error
    return file


def private_text(file: Path) -> str:
    """The text of a file that only its owner may read. Raises CalendarError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unusable(f"{file} cannot be read ({error.strerror})") from error
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unusable(f"{file} is not a file")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise _unusable(f"others can read {file}", hint=f"chmod 600 {file}")
        return opened.read(MOST_BYTES).decode("utf-8", "replace")


def _unusable(message: str, *, hint: str | None = None) -> CalendarError:
    return CalendarError(Reason.CALENDAR_FAILED, message, hint=hint)
