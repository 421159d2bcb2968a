"""If an error, a signal or a closed terminal ends the app, the terminal is restored and unsaved edits are preserved."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

import donna_tui.tui.textual_faults  # noqa: F401
from donna_tui.platform.paths import resource
from donna_tui.vault.edit_drafts import EditDrafts
from tests.terminal import PATIENCE_SECONDS, Terminal, plain, python_in_terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Run Donna on the demo vault, in an app that fails at F9."""
    root, home = tmp_path / "vault", {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    shutil.copytree(resource("vault_templates", "demo"), root)
    with python_in_terminal("-m", "tests.tui.crashing_app", str(root), **home) as terminal:
        terminal.wait_for("all folders")
        yield terminal


def type_into_a_note(terminal: Terminal) -> None:
    terminal.press(b"\x1b", until="keys")
    terminal.press(b"2", until="44 notes · 1 left out")
    terminal.press(b"G", until=" ")
    terminal.press(b"i", until="show the diff")
    os.write(terminal.descriptor, b"kept whatever happens ")


def ended(terminal: Terminal) -> int:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while terminal.process.poll() is None:
        assert time.monotonic() < deadline, "the app did not exit"
        terminal.rest(0.1)
    terminal.rest(0.1)
    return terminal.process.returncode


def is_restored(terminal: Terminal) -> None:
    attributes = termios.tcgetattr(terminal.descriptor)[3]
    assert attributes & termios.ECHO
    assert attributes & termios.ICANON
    written = bytes(terminal.written)
    for entered, left in ((b"?1049h", b"?1049l"), (b"?25l", b"?25h"), (b"?1003h", b"?1003l"), (b"?2004h", b"?2004l")):
        assert written.rindex(left) > written.rindex(entered)


def edits(tmp_path: Path) -> list[str]:
    folders = {file.parent for file in (tmp_path / "home" / "state").rglob("*.json")}
    return [edit.text for folder in folders for edit in EditDrafts(folder).edits()]


@pytest.mark.slow
def test_an_error_leaves_the_terminal_as_it_was_and_keeps_what_was_typed(terminal: Terminal, tmp_path: Path) -> None:
    type_into_a_note(terminal)
    os.write(terminal.descriptor, b"\x1b[20~")
    assert ended(terminal) == 5
    is_restored(terminal)
    log = tmp_path / "home" / "logs" / "donna.log"
    last = plain(bytes(terminal.written)).split("\r\n")
    assert f"donna: stopped by an unexpected error (IndexError); details are in the log: {log}" in last[-2]
    assert "is stored; the Vault lists it at the next start" in last[-3]
    assert any("kept whatever happens" in text for text in edits(tmp_path))
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    entry = next(each for each in entries if each["event"] == "unexpected_error")
    assert entry["error"] == "IndexError"
    assert any("fail_at_f9" in frame for frame in entry["frames"])
    assert "private note" not in log.read_text(encoding="utf-8")
    assert b"private note" not in terminal.written


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was_and_keeps_what_was_typed(
    number: signal.Signals, terminal: Terminal, tmp_path: Path
) -> None:
    type_into_a_note(terminal)
    terminal.rest(0.3)
    terminal.process.send_signal(number)
    assert ended(terminal) == 128 + number
    is_restored(terminal)
    assert any("kept whatever happens" in text for text in edits(tmp_path))


@pytest.mark.slow
def test_quitting_reports_that_it_waits_for_git(tmp_path: Path) -> None:
    root, gate, waiting, git = (tmp_path / name for name in ("vault", "gate", "waiting", "bin/git"))
    shutil.copytree(resource("vault_templates", "demo"), root)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    git.parent.mkdir()
    waits = f'test ! -p "{gate}" || {{ touch "{waiting}"; read -r line < "{gate}"; }}'
    git.write_text(f'#!/bin/sh\n{waits}\nexec "{shutil.which("git")}" "$@"\n', encoding="utf-8")
    git.chmod(0o700)
    home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": f"{git.parent}:{os.environ['PATH']}"}
    with python_in_terminal("-m", "tests.tui.crashing_app", str(root), **home) as terminal:
        terminal.wait_for("all folders")
        terminal.press(b"\x1b", until="keys")
        terminal.press(b"2", until="44 notes · 1 left out")
        os.mkfifo(gate)
        os.write(terminal.descriptor, b"h")
        terminal.until(lambda lines: waiting.exists())
        terminal.press(b"\x11", until="Waiting for git to finish …")
        terminal.process.send_signal(signal.SIGHUP)  # a signal while the app is ending changes nothing
        terminal.rest(0.3)
        gate.rename(tmp_path / "open").write_text("\n", encoding="utf-8")
        assert ended(terminal) == 0


@pytest.mark.slow
def test_invalid_utf8_input_does_not_end_the_app(terminal: Terminal) -> None:
    os.write(terminal.descriptor, b"\xff\xfe\xe9")
    terminal.rest(0.3)
    terminal.press(b"qqzz", until="Nothing relevant")
    terminal.quit()


@pytest.mark.slow
def test_stopped_app_continues_with_the_terminal_of_before_or_of_a_shell(terminal: Terminal) -> None:
    raw = termios.tcgetattr(terminal.descriptor)
    cooked = [*raw[:3], raw[3] | termios.ECHO | termios.ICANON, *raw[4:]]
    for attributes in (raw, raw, raw, raw, cooked):
        terminal.process.send_signal(signal.SIGSTOP)
        termios.tcsetattr(terminal.descriptor, termios.TCSANOW, attributes)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.rest(0.3)
        terminal.until(lambda _: termios.tcgetattr(terminal.descriptor) == raw)
    terminal.press(b"qqzz", until="Nothing relevant")
    terminal.quit()


@pytest.mark.slow
def test_unsaved_text_is_kept_when_the_terminal_closes(terminal: Terminal, tmp_path: Path) -> None:
    type_into_a_note(terminal)
    terminal.rest(0.3)
    instead = os.open(os.devnull, os.O_RDWR)
    os.dup2(instead, terminal.descriptor)
    os.close(instead)
    terminal.process.wait(PATIENCE_SECONDS)
    assert any("kept whatever happens" in text for text in edits(tmp_path))


class GoneTerminal(io.StringIO):
    """A closed terminal."""

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_output_for_a_closed_terminal_is_discarded() -> None:
    writer = WriterThread(GoneTerminal())

    def draw() -> None:
        for _ in range(2 * MAX_QUEUED_WRITES):
            writer.write("a frame")
        writer.stop()

    app = threading.Thread(target=draw, daemon=True)
    writer.start()
    app.start()
    app.join(PATIENCE_SECONDS)
    assert not app.is_alive()
