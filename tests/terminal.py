"""A program on a pseudo-terminal: what it writes is kept, and keys are typed to it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

PATIENCE_SECONDS = 30.0
QUIET_SECONDS = 0.3

CSI = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


@dataclass
class Terminal:
    """A pseudo-terminal with a program in it. `written` is everything that it wrote so far."""

    process: subprocess.Popen[bytes]
    descriptor: int
    written: bytearray = field(default_factory=bytearray)

    def wait_for(self, text: str) -> None:
        """Read until the text has been drawn since the last call, and nothing more comes."""
        start, deadline = len(self.written), time.monotonic() + PATIENCE_SECONDS
        while text not in plain(bytes(self.written[start:])):
            assert time.monotonic() < deadline, f"{text!r} never came; the last output was {self._end()!r}"
            self._read(QUIET_SECONDS)
        while self._read(QUIET_SECONDS):
            assert time.monotonic() < deadline, "the screen never came to rest"

    def press(self, keys: bytes, *, until: str) -> None:
        """Type, and wait for what that must show."""
        os.write(self.descriptor, keys)
        self.wait_for(until)

    def leave(self) -> None:
        """Quit with ctrl+q and read what is left."""
        os.write(self.descriptor, b"\x11")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it did not leave; the last output was {self._end()!r}"
            self._read(0.05)
        self._read(0.05)
        assert self.process.returncode == 0, self._end()

    def rest(self, seconds: float) -> None:
        """Let it go on for a while, and read what it writes."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return False
        with contextlib.suppress(OSError):
            self.written += os.read(self.descriptor, 1 << 16)
            return True
        return False

    def _end(self) -> str:
        return plain(bytes(self.written[-4_000:]))


def plain(output: bytes) -> str:
    """Output without the sequences that place and colour it."""
    return CSI.sub(b"", output).decode("utf-8", "replace")


@contextlib.contextmanager
def python_in_terminal(*arguments: str, rows: int = 40, columns: int = 140, **environ: str) -> Iterator[Terminal]:
    """`python` with these arguments in a terminal of its own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none", "LC_ALL": "C.UTF-8"}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**kept, **settings, **environ},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
