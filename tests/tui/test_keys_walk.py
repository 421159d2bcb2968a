"""Walks in a real terminal with the habits of Obsidian, lazygit and fzf: keys one by one, and in a burst."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.walking import ENTER, Start, both_ways, letters, play, start, vault

__all__ = ["start", "vault"]


@pytest.mark.slow
@both_ways
def test_note_and_screen_switching_works_in_a_terminal(start: Start, burst: bool) -> None:
    with start() as terminal:
        terminal.press(b"cache", until="passages")
        terminal.press(b"\x1b2", until="Blame")
        play(terminal, b"/", *letters("roadplan"), ENTER, burst=burst, shows="Meetings/2026-02-10-roadmap")
        terminal.press(b"\x1b6", until="Performance")
        terminal.press(b"\x1b2", until="Meetings/2026-02-10-roadmap")
        terminal.press(b"\x10blamev", until="vault: blame")
        terminal.quit()


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
@both_ways
def test_editing_a_note_in_place_works_in_a_terminal(start: Start, vault: Path, tmp_path: Path, burst: bool) -> None:
    editor = tmp_path / "vi"
    editor.write_text(EDITOR.format(python=sys.executable, vault=str(vault)))
    editor.chmod(0o700)
    before = (vault / PLANNING).read_text()
    with start(EDITOR=str(editor)) as terminal:
        terminal.press(b"\x1b2", until="Blame")
        play(terminal, b"/", *letters("roadplan"), ENTER, burst=burst, shows=PLANNING[:20])
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
        terminal.until(lambda _: not git(vault, "status", "--porcelain", "--", PLANNING))
        terminal.quit()
