"""The password of the server: from the environment or a private file, or made once and kept as a salted hash."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from donna_tui.errors import DonnaError, Reason
from donna_tui.vault.durable import write_durably

VARIABLE = "DONNA_WEBDAV_PASSWORD"
SHORTEST = 12
"""Characters of a password that somebody chose."""

MOST_BYTES = 1_024
_COST = {"n": 2**14, "r": 8, "p": 1}
"""Of scrypt; source: RFC 7914 §2, for a check of about 50 ms."""


class Password:
    """Says whether a password is the right one, in a time that does not tell how nearly it was."""

    def __init__(self, salt: bytes, digest: bytes) -> None:
        self._salt, self._digest = salt, digest
        self._key = secrets.token_bytes(32)
        self._known = b""

    @classmethod
    def of(cls, text: str) -> Password:
        """The password itself; only its salted hash is kept."""
        salt = secrets.token_bytes(16)
        return cls(salt, _hash(text, salt))

    def matches(self, given: str) -> bool:
        """Whether this is it. The right one costs little once it was seen, since clients send it with each request."""
        quick = hmac.digest(self._key, given.encode("utf-8", "replace"), "sha256")
        if hmac.compare_digest(quick, self._known):
            return True
        if len(given) > MOST_BYTES or not hmac.compare_digest(_hash(given, self._salt), self._digest):
            return False
        self._known = quick
        return True

    def as_json(self) -> str:
        """What is kept of it."""
        return json.dumps({"salt": self._salt.hex(), "scrypt": self._digest.hex()})

    @classmethod
    def from_json(cls, text: str) -> Password:
        """What was kept. Raises ValueError, KeyError or TypeError."""
        kept = json.loads(text)
        return cls(bytes.fromhex(kept["salt"]), bytes.fromhex(kept["scrypt"]))


def given_password(environ: Mapping[str, str], file: Path | None) -> Password | None:
    """The password that the file or the environment holds; None if neither does. Raises DonnaError."""
    if file is not None:
        return Password.of(_long_enough(_private_line(file), str(file)))
    text = environ.get(VARIABLE)
    return None if text is None else Password.of(_long_enough(text, VARIABLE))


def kept_password(folder: Path) -> Password | None:
    """The password that was made earlier; None if none was, or what is there cannot be read."""
    try:
        return Password.from_json(_kept(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def make_password(folder: Path) -> str:
    """Make a password and keep its hash in this private folder; the only time that anybody sees it."""
    text = "-".join(secrets.token_hex(3) for _ in range(5))
    write_durably(_kept(folder), Password.of(text).as_json())
    return text


def _kept(folder: Path) -> Path:
    return folder / "password.json"


def _hash(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode("utf-8", "replace"), salt=salt, **_COST)


def _long_enough(text: str, where: str) -> str:
    if len(text) < SHORTEST:
        raise DonnaError(Reason.USAGE, f"the password in {where} has fewer than {SHORTEST} characters")
    return text


def _private_line(file: Path) -> str:
    """The first line of a file that only its owner may read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise DonnaError(Reason.USAGE, f"{file} cannot be read ({error.strerror})") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise DonnaError(Reason.USAGE, f"{file} is not a file")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise DonnaError(Reason.USAGE, f"others can read {file}", hint=f"chmod 600 {file}")
        return os.read(descriptor, MOST_BYTES).decode("utf-8", "replace").split("\n", 1)[0].rstrip("\r")
    finally:
        os.close(descriptor)
