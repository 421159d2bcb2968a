"""Walks in a real terminal by the habits of Obsidian, lazygit and fzf: keys one by one, and the same in a burst."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from donna_tui.platform.paths import resource
from tests.terminal import PATIENCE_SECONDS, Terminal, plain, python_in_terminal

ESC, UP, ENTER = b"\x1b", b"\x1b[A", b"\r"

Start = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    shutil.copytree(resource("vault_templates", "demo"), root)
    return root


@pytest.fixture
def start(vault: Path, tmp_path: Path) -> Start:
    """Donna on the vault, with the cursor in the search box."""

    @contextmanager
    def started(**environ: str) -> Iterator[Terminal]:
        home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        with python_in_terminal("-m", "tests.cli.without_model", str(vault), **{**home, **environ}) as terminal:
            terminal.wait_for("all folders")
            yield terminal

    return started


def type_keys(terminal: Terminal, keys: list[bytes], *, burst: bool, until: str) -> None:
    """Type keys one by one, letting the screen follow each, or as fast as a terminal multiplexer sends a macro."""
    start = len(terminal.written)
    for key in keys:
        os.write(terminal.descriptor, key)
        terminal.rest(0.02 if burst else 0.15)
    if until not in plain(bytes(terminal.written[start:])):
        terminal.wait_for(until)


@pytest.mark.slow
@pytest.mark.parametrize("burst", [False, True], ids=["one by one", "burst"])
def test_switching(start: Start, burst: bool) -> None:
    with start() as terminal:
        terminal.press(b"cache", until="passages")
        terminal.press(b"\x1b2", until="Blame")
        type_keys(
            terminal,
            [b"/", *(bytes([each]) for each in b"roadplan"), ENTER],
            burst=burst,
            until="Meetings/2026-02-10-roadmap",
        )
        terminal.press(b"\x1b6", until="Performance")
        terminal.press(b"\x1b2", until="Meetings/2026-02-10-roadmap")
        terminal.press(b"\x10blamev", until="vault: blame")
        terminal.leave()


EDITOR = """#!{python}
import pathlib, sys
file = pathlib.Path(sys.argv[-1])
assert file.is_relative_to({vault!r}), file
file.write_text(file.read_text() + "Saved in the editor.\\n")
"""
PLANNING = "Meetings/2026-02-10-roadmap-planning.md"


def git(vault: Path, *arguments: str) -> str:
    return subprocess.run(("git", *arguments), cwd=vault, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("burst", [False, True], ids=["one by one", "burst"])
def test_editing_the_note_itself(start: Start, vault: Path, tmp_path: Path, burst: bool) -> None:
    editor = tmp_path / "vi"
    editor.write_text(EDITOR.format(python=sys.executable, vault=str(vault)))
    editor.chmod(0o700)
    before = (vault / PLANNING).read_text()
    with start(EDITOR=str(editor)) as terminal:
        terminal.press(b"\x1b2", until="Blame")
        type_keys(terminal, [b"/", *(bytes([each]) for each in b"roadplan"), ENTER], burst=burst, until=PLANNING[:20])
        terminal.press(b"e", until="Create a repository")
        terminal.press(ENTER, until="Committed")
        assert (vault / PLANNING).read_text() == before + "Saved in the editor.\n"
        assert git(vault, "show", f"HEAD:{PLANNING}") == before + "Saved in the editor.\n"
        terminal.press(b"z", until="esc cancel")
        terminal.press(ENTER, until="Undone")
        assert (vault / PLANNING).read_text() == before == git(vault, "show", f"HEAD:{PLANNING}")
        (vault / PLANNING).write_text(before + "Typed in Obsidian.\n")
        terminal.press(b"r", until="commit")
        os.write(terminal.descriptor, b"C")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while git(vault, "status", "--porcelain", "--", PLANNING):
            assert time.monotonic() < deadline
            terminal.rest(0.1)
        terminal.leave()
