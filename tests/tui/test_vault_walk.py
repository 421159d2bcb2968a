"""A walk through the Vault screen with the keyboard, in a real terminal with real notes and real git."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal import Terminal, python_in_terminal
from tests.tui.walking import vault as vault

LEFT = b"\x1b"
NOTE = "Inbox/Walk.md"


@pytest.fixture
def terminal(vault: Path, tmp_path: Path) -> Iterator[Terminal]:
    """Run Donna on the vault, with the cursor in the tree."""
    home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "EDITOR": "true"}
    with python_in_terminal("-m", "tests.cli.without_model", str(vault), **home) as terminal:
        terminal.wait_for("all folders")
        terminal.press(LEFT, until="keys")
        terminal.press(b"2", until="44 notes · 1 left out")
        yield terminal


def git(vault: Path, *arguments: str) -> str:
    return subprocess.run(("git", *arguments), cwd=vault, capture_output=True, text=True, check=True).stdout


def on_disk(vault: Path, path: str, wanted: str | None) -> None:
    """Wait until a note has its expected content: the screen may show it a moment earlier."""
    deadline = time.monotonic() + 30
    file = vault / path
    while (file.read_text(encoding="utf-8") if file.exists() else None) != wanted:
        assert time.monotonic() < deadline, f"{path} is not {wanted!r}"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_note_is_created_written_undone_and_redone(vault: Path, terminal: Terminal) -> None:
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}

    terminal.press(b"n", until="New note from")
    terminal.press(b"\r", until="New note")
    terminal.press(b"\x15" + NOTE.encode(), until="Walk.md")
    terminal.press(b"\r", until="Create a repository")
    assert not (vault / NOTE).exists()
    assert not (vault / ".git").exists()
    terminal.press(b"\r", until="Created · z undo")
    on_disk(vault, NOTE, "")

    terminal.press(b"i", until="show the diff")
    terminal.press(b"# A walk", until="# A walk")
    terminal.press(LEFT, until="write it")
    terminal.press(LEFT, until="unsaved edit")
    on_disk(vault, NOTE, "")
    terminal.press(b"i", until="show the diff")
    terminal.press(LEFT, until="write it")
    terminal.press(b"\r", until="Written")
    on_disk(vault, NOTE, "# A walk")

    terminal.press(b"z", until="esc cancel")
    on_disk(vault, NOTE, "# A walk")
    terminal.press(b"\r", until="Undone")
    on_disk(vault, NOTE, "")
    terminal.press(b"Z", until="esc cancel")
    terminal.press(b"\r", until="Redone")
    on_disk(vault, NOTE, "# A walk")
    terminal.quit()

    assert {path: path.read_bytes() for path in before} == before
    subjects = git(vault, "log", "--format=%s", "--", NOTE).splitlines()
    assert len(subjects) == 4
    assert git(vault, "show", f"HEAD:{NOTE}") == "# A walk"
    assert git(vault, "status", "--porcelain", "--", NOTE) == ""


@pytest.mark.slow
def test_a_note_is_moved_deleted_and_brought_back(vault: Path, terminal: Terminal) -> None:
    start = (vault / "Start here.md").read_text(encoding="utf-8")
    terminal.press(b"G", until="Start here")
    terminal.press(b"m", until="Move or rename")
    terminal.press(b"\x15Inbox/Begin", until="Begin")
    terminal.press(b"\r", until="move it")
    terminal.press(b"\r", until="Create a repository")
    terminal.press(b"\r", until="Moved")
    on_disk(vault, "Start here.md", None)
    assert (vault / "Inbox/Begin.md").exists()
    terminal.press(b"D", until="delete it")
    terminal.press(b"\r", until="Deleted")
    on_disk(vault, "Inbox/Begin.md", None)
    terminal.press(b"z", until="esc cancel")
    terminal.press(b"z", until="2 changes")
    terminal.press(b"\r", until="Undone")
    on_disk(vault, "Start here.md", start)
    on_disk(vault, "Inbox/Begin.md", None)
    terminal.quit()
