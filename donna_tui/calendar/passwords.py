"""Passwords and keys of calendars: files that nobody else can read, or variables of the environment."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from donna_tui.config.calendars import CalendarConfig
from donna_tui.errors import CalendarError, Reason
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
