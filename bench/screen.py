"""Run the real app on a pseudo-terminal: start it, type, and time when text appears on the screen."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from bench.program import Home, program

ROWS, COLUMNS = 36, 120
PATIENCE_SECONDS = 60.0
QUIT_SECONDS = 10.0
CTRL_Q = b"\x11"

_CONTROL = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # operating system commands, such as titles
    r"|\x1b[P_^X][^\x1b]*\x1b\\"  # strings for the terminal itself
    r"|\x1b\[[0-?]*[ -/]*([@-~])"  # control sequences; the final byte says which
    r"|\x1b[ -/]*[0-~]"
)
_STYLE = "m"
"""The final byte of the sequences that only change colours, and so do not separate words."""


def words_of(written: str) -> str:
    """Return what a program wrote to a terminal, without colours and with a newline wherever the cursor jumps."""
    return _CONTROL.sub(lambda match: "" if match[1] == _STYLE else "\n", written)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes written by an app in one piece; `at` is in seconds since the keypress."""

    at: float
    written: bytes


@dataclass(slots=True)
class Screen:
    """An app that runs on a pseudo-terminal. Times are in seconds since its process started."""

    pid: int
    terminal: int
    started: float
    _bytes: bytearray = field(default_factory=bytearray)

    def wait_for(self, pattern: str, patience: float = PATIENCE_SECONDS) -> float:
        """Wait until text matching `pattern` has been written, and return the time.

        Raises TimeoutError with the end of the output.
        """
        deadline = time.perf_counter() + patience
        while not self.shows(pattern):
            if time.perf_counter() > deadline or not self._read(deadline):
                raise TimeoutError(f"{pattern!r} never appeared, but {self._words[-800:]!r}")
        return time.perf_counter() - self.started

    def shows(self, pattern: str) -> bool:
        """Return whether text matching `pattern` has been written."""
        return re.search(pattern, self._words) is not None

    def type(self, keys: str | bytes) -> None:
        os.write(self.terminal, keys.encode() if isinstance(keys, str) else keys)

    def echo(self, key: str) -> float:
        """Press a key and return the seconds until its character is drawn again. Raises TimeoutError."""
        before, pressed = len(self._bytes), time.perf_counter()
        self.type(key)
        while key.encode() not in self._bytes[before:]:
            if time.perf_counter() - pressed > PATIENCE_SECONDS or not self._read(pressed + PATIENCE_SECONDS):
                raise TimeoutError(f"{key!r} was not drawn, but {self._words[-800:]!r}")
        return time.perf_counter() - pressed

    def written_after(self, key: str, seconds: float) -> list[Piece]:
        """Press a key and return everything written within `seconds`."""
        pressed = time.perf_counter()
        self.type(key)
        pieces: list[Piece] = []
        while time.perf_counter() < pressed + seconds:
            before = len(self._bytes)
            self._read(pressed + seconds)
            if len(self._bytes) > before:
                pieces.append(Piece(time.perf_counter() - pressed, bytes(self._bytes[before:])))
        return pieces

    def rest(self, seconds: float) -> int:
        """Wait, reading what the app writes, and return the number of bytes."""
        deadline, before = time.perf_counter() + seconds, len(self._bytes)
        while time.perf_counter() < deadline:
            self._read(deadline)
        return len(self._bytes) - before

    @property
    def _words(self) -> str:
        return words_of(self._bytes.decode("utf-8", "ignore"))

    def _read(self, deadline: float) -> bool:
        """Read what the app has written, waiting until the deadline at most. Return False if it has exited."""
        if not select.select([self.terminal], [], [], max(0.0, deadline - time.perf_counter()))[0]:
            return True
        with contextlib.suppress(OSError):  # Linux: the other end of the terminal is closed
            self._bytes += (new := os.read(self.terminal, 65_536))
            return bool(new)
        return False


def app_on_screen(home: Home, vault: Path) -> AbstractContextManager[Screen]:
    return on_screen([*program(), str(vault)], home)


@contextlib.contextmanager
def on_screen(command: Sequence[str], home: Home) -> Iterator[Screen]:
    """Start a Textual app, and quit it at the end of the block; it is killed if it does not exit."""
    environ = {**home.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    terminal, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    started = time.perf_counter()
    app = subprocess.Popen(command, env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    screen = Screen(app.pid, terminal, started)
    try:
        yield screen
    finally:
        _quit(screen, app)


def _quit(screen: Screen, app: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        screen.type(CTRL_Q)
    deadline = time.perf_counter() + QUIT_SECONDS
    while app.poll() is None and time.perf_counter() < deadline:
        screen.rest(0.05)
    app.kill()
    app.wait()
    os.close(screen.terminal)
