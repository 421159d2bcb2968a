"""Run a program on a pseudo-terminal: record its output, and type keys to it."""

from __future__ import annotations

import codecs
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.cells import cell_len

from tests.forks import Run, start_on_terminal

PATIENCE_SECONDS = 30.0
QUIET_SECONDS = 0.3

CSI = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
PIECE = re.compile(r"\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]P_].*?(?:\x07|\x1b\\)|\x1b[^\[\]P_]|([^\x1b])", re.DOTALL)
SYNCHRONIZED, ASKED, SUPPORTED = "?2026", b"\x1b[?2026$p", b"\x1b[?2026;2$y"
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]P_](?:(?!\x07|\x1b\\).)*)?\Z", re.DOTALL)


class Screen:
    """The characters on the screen of a terminal, from the subset of sequences that Textual writes.

    An update that the app marked as synchronized is shown when it is complete.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._rows, self._columns = rows, columns
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._incomplete, self._y, self._x = "", 0, 0
        self._before: list[str] | None = None
        self._clear()

    def _clear(self) -> None:
        self._cells = [[" "] * self._columns for _ in range(self._rows)]

    def feed(self, output: bytes) -> None:
        """Draw more output. An incomplete sequence waits for the rest of it."""
        text = self._incomplete + self._decoder.decode(output)
        cut = UNFINISHED.search(text)
        end = cut.start() if cut else len(text)
        self._incomplete = text[end:]
        for piece in PIECE.finditer(text, 0, end):
            self._draw(*piece.groups(""))

    def _draw(self, parameters: str, final: str, character: str) -> None:
        if parameters == SYNCHRONIZED:
            self._before = self._present() if final == "h" else None
        elif final == "H":
            self._y, self._x = (int(each or 1) - 1 for each in (parameters or "1;1").split(";"))
        elif final == "J":
            self._clear()
        elif character == "\r":
            self._x = 0
        elif character == "\n":
            self._y += 1
        elif character >= " ":
            width = cell_len(character)
            if self._y < self._rows and self._x + width <= self._columns:
                self._cells[self._y][self._x : self._x + width] = [character, *[""] * (width - 1)][:width]
            self._x += width

    def lines(self) -> list[str]:
        """Return the lines of the last complete update, without trailing spaces."""
        return self._present() if self._before is None else self._before

    def _present(self) -> list[str]:
        return ["".join(line).rstrip() for line in self._cells]


@dataclass
class Terminal:
    """A pseudo-terminal with a program in it. `written` is everything that the program wrote so far."""

    process: subprocess.Popen[bytes] | Run
    descriptor: int
    rows: int
    columns: int
    written: bytearray = field(default_factory=bytearray)
    _drawn: int = 0

    def __post_init__(self) -> None:
        self._screen = Screen(self.rows, self.columns)

    def wait_for(self, text: str) -> None:
        """Read until the text has been drawn since the last call, and the output pauses."""
        start, deadline = len(self.written), time.monotonic() + PATIENCE_SECONDS
        while text not in plain(bytes(self.written[start:])):
            assert time.monotonic() < deadline, "\n".join((f"{text!r} was not drawn; the screen:", *self.screen()))
            self._read(QUIET_SECONDS)
        while self._read(QUIET_SECONDS):
            assert time.monotonic() < deadline, "the output did not pause"

    def press(self, keys: bytes, *, until: str) -> None:
        """Type, and wait for the text that this must draw."""
        os.write(self.descriptor, keys)
        self.wait_for(until)

    def screen(self) -> list[str]:
        """Return the present lines of the screen."""
        self._screen.feed(bytes(self.written[self._drawn :]))
        self._drawn = len(self.written)
        return self._screen.lines()

    def until(self, holds: Callable[[list[str]], object]) -> list[str]:
        """Read until the screen satisfies a condition, and return it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds(lines := self.screen()):
            assert time.monotonic() < deadline, "the condition was never true; the screen is\n" + "\n".join(lines)
            self._read(QUIET_SECONDS)
        return lines

    def quit(self, keys: bytes = b"\x11") -> None:
        """Quit, with ctrl+q or other keys, and read the remaining output."""
        os.write(self.descriptor, keys)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"the program did not exit; the last output was {self._end()!r}"
            self._read(0.05)
        self._read(0.05)
        assert self.process.returncode == 0, self._end()

    def rest(self, seconds: float) -> None:
        """Read the output for a while."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return False
        with contextlib.suppress(OSError):
            output = os.read(self.descriptor, 1 << 16)
            self.written += output
            if ASKED in output:
                os.write(self.descriptor, SUPPORTED)
            return True
        return False

    def _end(self) -> str:
        return plain(bytes(self.written[-4_000:]))


def plain(output: bytes) -> str:
    """Return output without the sequences that position and colour it."""
    return CSI.sub(b"", output).decode("utf-8", "replace")


@contextlib.contextmanager
def python_in_terminal(*arguments: str, rows: int = 40, columns: int = 140, **environ: str) -> Iterator[Terminal]:
    """Run `python` with these arguments in a separate terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none", "LC_ALL": "C.UTF-8"}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = {**kept, **settings, **environ}
    process: subprocess.Popen[bytes] | Run
    if arguments[0] == "-m":
        process = start_on_terminal(arguments[1], arguments[2:], cwd=Path.cwd(), env=env, terminal=theirs)
    else:
        command = [sys.executable, *arguments]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    try:
        yield Terminal(process, ours, rows, columns)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
