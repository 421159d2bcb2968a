"""The token that a client over HTTP must show: made once for each space, and readable by its owner only."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from donna_tui.errors import DonnaError, Reason
from donna_tui.paths import private_folder

NAME = "mcp-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def token_file(state: Path) -> Path:
    """Where the token of a space is."""
    return state / NAME


def token_of(state: Path) -> str:
    """The token of a space, made now if there is none. Raises DonnaError if others can read it."""
    file = token_file(state)
    private_folder(state)
    try:
        known = _read(file)
        return known if known is not None else _made(file)
    except OSError as error:
        raise DonnaError(Reason.IO_ERROR, f"the token {file} cannot be read or written ({error.strerror})") from error


def _read(file: Path) -> str | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) & 0o077:
            message = f"others can read the token {file}"
            raise DonnaError(Reason.NOT_TRUSTED, message, hint="delete it; the next start makes another")
        text = opened.read(100).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise DonnaError(
            Reason.NOT_TRUSTED, f"{file} does not hold a token", hint="delete it; the next start makes another"
        )
    return text


def _made(file: Path) -> str:
    token = secrets.token_urlsafe(32)
    pending = file.with_name(f"{NAME}.{os.getpid()}.new")
    descriptor = os.open(pending, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(f"{token}\n")
            opened.flush()
            os.fsync(descriptor)
        os.link(pending, file)  # fails if another process was first
    except FileExistsError:
        return _read(file) or token
    finally:
        pending.unlink(missing_ok=True)
    return token
