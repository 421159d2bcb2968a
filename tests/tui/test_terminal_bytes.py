"""What really goes to the terminal: Donna runs on a pseudo-terminal, and every byte that she writes is looked at."""

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

import pytest

from tests.tui import hostile

ROWS, COLUMNS = 40, 140
PATIENCE_SECONDS = 30.0
QUIET_SECONDS = 0.3

CSI = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
OF_TEXTUAL = re.compile(
    rb"\x1b\["
    rb"(?:[0-9;]*[mHJK]"  # colours, cursor position, erasing
    rb"|\?(?:1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2031|2048|25|7)[hl]"  # modes that Textual switches
    rb"|\?(?:2026|2048)\$p"  # whether the terminal knows a mode
    rb"|[<>=][0-9;]*u"  # keyboard protocol
    rb"|6n|\?996n"  # cursor position at the start, colour scheme
    rb")"
)

POINTER = re.compile(rb"\x1b\]22;[a-z-]+\x07")
"""The shape of the mouse pointer: the only other kind of sequence that Textual sends."""


@dataclass
class Terminal:
    """A pseudo-terminal with Donna in it. `written` is everything that she wrote so far."""

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
def donna(*arguments: str) -> Iterator[Terminal]:
    """Donna on the hostile vault, in a terminal of her own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none", "LC_ALL": "C.UTF-8"}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tui.hostile_app", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**kept, **settings},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_nothing_in_a_hostile_vault_reaches_the_terminal_as_anything_but_text() -> None:
    with donna() as terminal:
        terminal.wait_for("problems")
        terminal.press(b"invoice", until="29 passages")
        terminal.press(b"\x1b[B\x1b[B\x1b[B", until="DONNA-C1-TITLE")
        terminal.press(b"\x06", until="Hostile")
        terminal.press(b"\x1b", until="passages")
        terminal.press(b"\x1b", until="keys")
        terminal.press(b"G", until="ohne")
        terminal.press(b"+", until="DONNA-LEFT-SCREEN")
        terminal.press(b"6", until="What happened")
        terminal.press(b"k\r", until="What happened")
        terminal.press(b"\x1b", until="Needs attention")
        terminal.press(b"\tG\r", until="What helps")
        terminal.press(b"\x1b", until="Needs attention")
        terminal.press(b"R", until="DONNA-LEFT-SCREEN")
        terminal.press(b"f\x1b[B\x1b[B", until="problems")
        terminal.press(b"\x1b", until="What happened")
        terminal.press(b"?", until="Everywhere")
        terminal.press(b"\x1b", until="What happened")
        terminal.leave()
        assert_only_text(bytes(terminal.written))


def test_hostile_names_of_vaults_are_text_too() -> None:
    with donna("first_run") as terminal:
        terminal.wait_for("Or the folder")
        terminal.press(b"jjj\x1b[F", until="DONNA-ZERO")
        terminal.leave()
        assert_only_text(bytes(terminal.written))


def assert_only_text(output: bytes) -> None:
    """Only what Textual itself sends is obeyed by the terminal, and the payloads stand there as symbols."""
    assert "␛]52;c;RE9OTkEtU1RPTEUtVEhJUw==␇" in plain(output)
    for payload in hostile.STOLEN:
        assert payload not in output
    output = POINTER.sub(b"", output)
    text = output.decode("utf-8")
    assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029\ud800-\udfff]", text)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", text)
    unknown = {match.group() for match in CSI.finditer(output) if not OF_TEXTUAL.fullmatch(match.group())}
    assert unknown == set()
    assert re.findall(rb"\x1b[^\[].{0,20}", output) == []


@pytest.mark.parametrize(
    "stolen", [b"\x1b]52;c;eA==\x07", b"\x1b]0;title\x1b\\", "\x9b31m".encode(), b"\x1bc", b"\x1b[?1003s", b"\x07"]
)
def test_the_check_itself_finds_what_it_is_there_for(stolen: bytes) -> None:
    harmless = "␛]52;c;RE9OTkEtU1RPTEUtVEhJUw==␇".encode() + b"\x1b[1;31mred\x1b[0m"
    assert_only_text(harmless)
    with pytest.raises(AssertionError):
        assert_only_text(harmless + stolen)
