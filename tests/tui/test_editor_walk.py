"""An editor in the terminal: saved text is offered again if the terminal closes, and its keys are not the app's."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from donna_tui.platform.paths import resource
from tests.cli.running import Donna
from tests.terminal import PATIENCE_SECONDS, Terminal, python_in_terminal

EDITOR = """#!{python}
import pathlib, sys, time
file = pathlib.Path(sys.argv[-1])
file.write_text(file.read_text() + "Typed in the editor.\\n")
pathlib.Path({saved!r}).write_text(str(file))
time.sleep(60)
"""


def open_note(terminal: Terminal) -> None:
    """Open a note of the demo in the Vault."""
    terminal.wait_for("all folders")
    terminal.press(b"\x1b", until="keys")
    terminal.press(b"2", until="44 notes · 1 left out")
    terminal.press(b"/", until="letters of a path")
    terminal.press(b"roadmap-planning\r", until="Planning")


@pytest.mark.slow
def test_text_saved_in_an_editor_survives_a_closed_terminal(tmp_path: Path) -> None:
    vault, saved, editor = tmp_path / "vault", tmp_path / "saved", tmp_path / "vi"
    shutil.copytree(resource("vault_templates", "demo"), vault)
    editor.write_text(EDITOR.format(python=sys.executable, saved=str(saved)))
    editor.chmod(0o700)
    home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "EDITOR": str(editor)}
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    with python_in_terminal("-m", "tests.cli.without_model", str(vault), **home) as terminal:
        open_note(terminal)
        os.write(terminal.descriptor, b"E")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not saved.exists():
            assert time.monotonic() < deadline, f"the editor did not start: {terminal._end()}"
            terminal.rest(0.05)
        os.killpg(terminal.process.pid, signal.SIGHUP)
        terminal.process.wait(PATIENCE_SECONDS)
    copy = Path(saved.read_text())
    assert copy.is_relative_to(tmp_path / "home" / "state")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before
    doctor = Donna(tmp_path / "home", tmp_path)("doctor", "--repair", "--json", "--space", vault)
    (finding,) = (each for each in doctor.json["findings"] if each["id"] == "edits")
    assert "unsaved edit of " in finding["message"]
    with python_in_terminal("-m", "tests.cli.without_model", str(vault), **home) as again:
        again.wait_for("all folders")
        again.press(b"\x1b", until="keys")
        again.press(b"2", until="unsaved")
        again.quit()
    assert copy.read_text().endswith("Typed in the editor.\n")


@pytest.mark.slow
def test_keys_that_are_typed_while_an_editor_starts_are_not_for_the_app(tmp_path: Path) -> None:
    vault, editor = tmp_path / "vault", tmp_path / "vi"
    shutil.copytree(resource("vault_templates", "demo"), vault)
    editor.write_text("#!/bin/sh\nsleep 2\n")
    editor.chmod(0o700)
    home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "EDITOR": str(editor)}
    with python_in_terminal("-m", "tests.cli.without_model", str(vault), **home) as terminal:
        open_note(terminal)
        terminal.press(b"E?", until="Nothing was changed")
        terminal.rest(0.5)
        assert not any("a key or what it does" in line for line in terminal.screen())
        terminal.press(b"?", until="a key or what it does")
