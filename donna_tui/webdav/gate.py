"""Check every request before wsgidav: origin, password, limits."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

from donna_tui.http.guard import LONGEST_HEADER, has_long_header, network_of
from donna_tui.platform.addresses import is_this_machine
from donna_tui.platform.paths import private_text
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.write.durable import write_durably

if TYPE_CHECKING:
    from donna_tui.webdav.server import Connection

VARIABLE = "DONNA_WEBDAV_PASSWORD"
SHORTEST = 12
"""Minimum number of characters of a chosen password."""

MAX_BYTES = 1_024
_COST = {"n": 2**14, "r": 8, "p": 1}
"""Parameters of scrypt; source: RFC 7914 §2, for a check of about 50 ms."""


class Password:
    """A hashed password, compared in constant time."""

    def __init__(self, salt: bytes, digest: bytes) -> None:
        self._salt, self._digest = salt, digest
        self._key = secrets.token_bytes(32)
        self._last_right = b""

    @classmethod
    def of(cls, text: str) -> Password:
        salt = secrets.token_bytes(16)
        return cls(salt, _hash(text, salt))

    def matches(self, password: str) -> bool:
        """Return whether a password is right. The right one is cached, as clients send it with each request."""
        quick = hmac.digest(self._key, password.encode("utf-8", "replace"), "sha256")
        if hmac.compare_digest(quick, self._last_right):
            return True
        if len(password) > MAX_BYTES or not hmac.compare_digest(_hash(password, self._salt), self._digest):
            return False
        self._last_right = quick
        return True

    def as_json(self) -> str:
        return json.dumps({"salt": self._salt.hex(), "scrypt": self._digest.hex()})

    @classmethod
    def from_json(cls, text: str) -> Password:
        """Load a password from JSON. Raises ValueError, KeyError or TypeError."""
        stored = json.loads(text)
        return cls(bytes.fromhex(stored["salt"]), bytes.fromhex(stored["scrypt"]))


def given_password(environ: Mapping[str, str], file: Path | None) -> Password | None:
    """Return the password in the file or the environment, or None. Raises DonnaError."""
    if file is not None:
        return Password.of(_long_enough(private_text(file, MAX_BYTES).split("\n", 1)[0].rstrip("\r"), str(file)))
    text = environ.get(VARIABLE)
    return None if text is None else Password.of(_long_enough(text, VARIABLE))


def stored_password(folder: Path) -> Password | None:
    """Return the password generated earlier; None if there is none, or it cannot be read."""
    try:
        return Password.from_json(_password_path(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def make_password(folder: Path) -> tuple[str, Password]:
    """Generate a password and store its hash in this private folder. This is the only time that its text is known."""
    text = "-".join(secrets.token_hex(3) for _ in range(5))
    password = Password.of(text)
    write_durably(_password_path(folder), password.as_json())
    return text, password


def _password_path(folder: Path) -> Path:
    return folder / "password.json"


def _hash(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode("utf-8", "replace"), salt=salt, **_COST)


def _long_enough(text: str, where: str) -> str:
    if len(text) < SHORTEST:
        raise DonnaError(Reason.USAGE, f"the password in {where} has fewer than {SHORTEST} characters")
    return text


USER = "donna"
MAX_XML_BYTES = 64 * 1024
LONGEST_LOCK_SECONDS = 600
MAX_FAILURES = 10
"""Wrong passwords from one address in `FAILURE_SECONDS`, after which answers are delayed. A right one never is."""

FAILURE_SECONDS = 60.0
LATE_SECONDS = 1.0
MAX_ADDRESSES = 1_000
MAX_REFUSED_BYTES = 64 * 1024
"""Maximum number of body bytes read for a refused request, so that a small one completes in order."""

OBSIDIAN = frozenset({"app://obsidian.md", "capacitor://localhost", "http://localhost"})
"""The origins sent by Obsidian on a computer, on iOS and on Android."""

_CUT = re.compile(r"[?#;\x00-\x1f\x7f]")
"""Characters that a decoded destination path must not contain: urllib drops them, or cuts the path there."""

_DECLARES = re.compile(rb"<\0*!\0*(?:D\0*O\0*C\0*T|E\0*N\0*T\0*I)")
"""A document type or entity declaration in XML, even in UTF-16: no client needs one, and entities can explode."""

_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; sandbox"),
    ("Cache-Control", "no-store"),
)

CONNECTION = "donna.connection"
"""The key of the connection in the environment of a request."""


Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()


class Failures:
    """Count wrong passwords by source address. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = Lock()

    def add(self, address: str) -> bool:
        """Count one failure of an address; return whether answers to it are delayed."""
        network, now = network_of(address), self._clock()
        with self._lock:
            recent = [at for at in self._times.get(network, ()) if at > now - FAILURE_SECONDS]
            self._times[network] = [*recent, now]
            while len(self._times) > MAX_ADDRESSES:
                self._times.popitem(last=False)
        return len(recent) + 1 >= MAX_FAILURES


class Gate:
    """WSGI middleware around an application served at `host`: for this machine only, if that is loopback."""

    def __init__(self, inner: Application, password: Password, *, host: str, max_bytes: int) -> None:
        self._inner, self._password = inner, password
        self._local_names = {"localhost", "127.0.0.1", "::1", host} if is_this_machine(host) else set[str]()
        self._max_bytes = max_bytes
        self._failures = Failures()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        refusal = self._origin_refusal(environ) or self._password_refusal(environ) or self._request_refusal(environ)
        if refusal is not None:
            return _refuse(refusal, environ, start_response)
        environ["wsgidav.auth.user_name"] = USER

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(status, [*headers, *_HEADERS], *exc_info)

        return self._inner(environ, start)

    def _origin_refusal(self, environ: Environ) -> _Refusal | None:
        """Refuse requests from web pages elsewhere, including DNS rebinding, and long headers.

        wsgidav parses some headers with patterns that take quadratic time.
        """
        if has_long_header(value for name, value in environ.items() if name.startswith("HTTP_")):
            message = f"a header may have up to {LONGEST_HEADER:,} bytes"
            return _Refusal("431 Request Header Fields Too Large", message)
        host = environ.get("HTTP_HOST", "")
        if self._local_names and _name_of(host) not in self._local_names:
            return _Refusal("403 Forbidden", "this address is for this machine only")
        origin = environ.get("HTTP_ORIGIN")
        own_origin = f"{environ.get('wsgi.url_scheme', 'http')}://{host}"
        if origin is not None and origin != own_origin and origin not in OBSIDIAN:
            return _Refusal("403 Forbidden", "requests of web pages are refused")
        return None

    def _password_refusal(self, environ: Environ) -> _Refusal | None:
        if header := environ.get("HTTP_AUTHORIZATION", ""):
            if self._is_right(environ, *_credentials(header)):
                return None
            if self._failures.add(environ.get("REMOTE_ADDR", "")):
                time.sleep(LATE_SECONDS)
                wait = ("Retry-After", str(int(FAILURE_SECONDS)))
                return _Refusal("429 Too Many Requests", "too many wrong passwords", (wait,))
        challenge = ("WWW-Authenticate", 'Basic realm="Donna", charset="UTF-8"')
        return _Refusal("401 Unauthorized", "the password is missing or wrong", (challenge,))

    def _is_right(self, environ: Environ, user: str, password: str) -> bool:
        connection: Connection = environ[CONNECTION]
        with connection.verifying():
            # compare both, so that the time does not reveal whether the name was right
            is_right = self._password.matches(password) & (user == USER)
            if is_right:
                connection.trust()
        return is_right

    def _request_refusal(self, environ: Environ) -> _Refusal | None:
        length = environ.get("CONTENT_LENGTH") or "0"
        if not _is_length(environ):
            return _Refusal("400 Bad Request", "the length is not a number")
        max_bytes = self._max_bytes if environ["REQUEST_METHOD"] == "PUT" else MAX_XML_BYTES
        if int(length) > max_bytes:
            return _Refusal("413 Content Too Large", f"up to {max_bytes:,} bytes are accepted")
        if environ["REQUEST_METHOD"] == "PROPFIND" and environ.setdefault("HTTP_DEPTH", "1") not in ("0", "1"):
            return _Refusal("403 Forbidden", "one folder is listed at a time (Depth: 1)")
        try:  # WSGI passes the bytes of the path as Latin-1
            environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8")
        except ValueError:
            return _Refusal("400 Bad Request", "the name is not valid UTF-8")
        if environ["REQUEST_METHOD"] != "PUT" and int(length):
            body = environ["wsgi.input"].read(int(length))
            if _DECLARES.search(body):
                return _Refusal("400 Bad Request", "XML with declarations is not accepted")
            environ["wsgi.input"] = BytesIO(body)
        if "HTTP_TIMEOUT" in environ or environ["REQUEST_METHOD"] == "LOCK":
            environ["HTTP_TIMEOUT"] = f"Second-{_lock_seconds(environ.get('HTTP_TIMEOUT', ''))}"
        if "HTTP_DESTINATION" in environ:
            destination = _destination(environ["HTTP_DESTINATION"])
            if destination is None:
                return _Refusal("400 Bad Request", "the destination is not a valid name")
            environ["HTTP_DESTINATION"] = destination
        return None


def _credentials(header: str) -> tuple[str, str]:
    """Return name and password of basic authentication; both empty for anything else."""
    scheme, _, coded = header.partition(" ")
    try:
        plain = base64.b64decode(coded.strip(), validate=True).decode("utf-8") if scheme.lower() == "basic" else ""
    except (binascii.Error, ValueError):
        plain = ""
    user, _, password = plain.partition(":")
    return user, password


def _destination(header: str) -> str | None:
    """Return a destination that wsgidav parses correctly, or None if it would take another name from it.

    It decodes the header before it splits it, so that a name with a question mark would be cut.
    """
    try:
        parts = urlsplit(header.encode("latin-1").decode("utf-8"))
        path = unquote_to_bytes(parts.path).decode("utf-8")
    except ValueError:
        return None
    if not path.startswith("/") or parts.query or parts.fragment or _CUT.search(path):
        return None
    base = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    return base + quote(path)


def _is_length(environ: Environ) -> bool:
    """Return whether the length of the body is valid; with a negative one cheroot would read for ever."""
    length = environ.get("CONTENT_LENGTH") or "0"
    return bool(length.isascii() and length.isdigit())


def _lock_seconds(header: str) -> int:
    """Return the limited timeout of a lock: a client that has disappeared must not lock a note for a week."""
    for part in header.split(","):
        _, dash, seconds = part.strip().partition("-")
        if dash and seconds.isascii() and seconds.isdigit():
            return max(1, min(int(seconds[:9]), LONGEST_LOCK_SECONDS))
    return LONGEST_LOCK_SECONDS


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _refuse(refusal: _Refusal, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Send an error and close the connection: the rest of the request must not be parsed as the next one."""
    if _is_length(environ) and "HTTP_TRANSFER_ENCODING" not in environ:  # a chunk is read whole, however large it is
        environ["wsgi.input"].read(MAX_REFUSED_BYTES)
    page = f"{refusal.message}\n".encode()
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(page)))]
    start_response(refusal.status, [*headers, *refusal.headers, *_HEADERS, ("Connection", "close")])
    return [page]
