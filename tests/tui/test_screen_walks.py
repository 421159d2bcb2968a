"""Walks through the screens in a real terminal: links, feedback, help and palette, Activity, and small habits."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import Terminal, plain
from tests.tui.walking import BACK, DOWN, ENTER, ESC, FORWARD, Start, both_ways, letters, play, start, vault

__all__ = ["start", "vault"]

F1, PAGE_DOWN, END = b"\x1bOP", b"\x1b[6~", b"\x1b[F"
SWITCH, PALETTE, SUSPEND = b"\x0b", b"\x10", b"\x1a"

NOTES = {
    "Walk/Home.md": "# Home\n\nTo [[Plants]].\n",
    "Walk/Plants.md": "# Plants\n\n[[List]] or [[Home]].\n",
    "Walk/List.md": "# List\n\nNot yet: [[Absent note]].\n",
}


@pytest.fixture
def notes(vault: Path) -> Path:
    """Return three notes that link to one another, and to a missing note."""
    (vault / "Walk").mkdir()
    for path, text in NOTES.items():
        (vault / path).write_text(text)
    return vault


def texts(vault: Path) -> dict[str, bytes]:
    return {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*.md")}


def absent(text: str) -> Callable[[list[str]], bool]:
    """Return a check that no line of the screen has a text."""
    return lambda lines: not any(text in line for line in lines)


@pytest.mark.slow
@both_ways
def test_links_are_followed_and_the_way_leads_back(start: Start, notes: Path, burst: bool) -> None:
    before = texts(notes)
    with start() as terminal:
        play(terminal, SWITCH, *letters("walk/home"), ENTER, burst=burst, shows="To Plants.")
        play(terminal, ENTER, burst=burst, shows="List or Home.")
        play(terminal, ENTER, b"a", burst=burst, shows="Not yet: Absent note.")
        terminal.until(lambda lines: lines[-1].startswith(" ↵ open"))
        play(terminal, ENTER, burst=burst, shows="↵ create it")
        play(terminal, ESC, burst=burst, shows=absent("create it"))
        assert texts(notes) == before
        play(terminal, BACK, BACK, burst=burst, shows="To Plants.")
        play(terminal, FORWARD, burst=burst, shows="List or Home.")
        lines = play(terminal, b"L", burst=burst, shows="← Home")
        place = next(number for number, line in enumerate(lines) if "← Home" in line)
        assert "line 3" in lines[place]
        assert "To Plants." in lines[place + 1]
        terminal.quit()
    assert texts(notes) == before


@pytest.mark.slow
@both_ways
def test_a_change_is_reported_in_one_line_and_undone(start: Start, notes: Path, burst: bool) -> None:
    note, before = notes / "Walk/List.md", NOTES["Walk/List.md"]
    with start(EDITOR="true") as terminal:
        play(terminal, SWITCH, *letters("walk/list"), ENTER, burst=burst, shows="Not yet: Absent note.")
        play(terminal, b"i", burst=burst, shows="show the diff")
        play(terminal, *letters("Edited. "), ESC, burst=burst, shows="write it")
        play(terminal, ENTER, burst=burst, shows="Create a repository")
        assert note.read_text() == before
        lines = play(terminal, ENTER, burst=burst, shows="+1 −1 · z undo")
        assert sum("+1 −1" in line for line in lines) == 1
        assert note.read_text() == f"Edited. {before}"
        undo(terminal, burst=burst, said="Undone · +1 −1")
        assert note.read_text() == before
        terminal.quit()
        assert "no such file" not in plain(bytes(terminal.written)).casefold()


def undo(terminal: Terminal, *, burst: bool, said: str) -> None:
    """Preview the undo, and confirm it."""
    play(terminal, b"z", burst=burst, shows=lambda lines: lines[-1].startswith(" ↵ undo"))
    play(terminal, ENTER, burst=burst, shows=said)


@pytest.mark.slow
@both_ways
@pytest.mark.parametrize(("columns", "rows"), [(60, 15), pytest.param(80, 24, marks=pytest.mark.stress)])
def test_help_and_palette_scroll_to_their_ends(start: Start, columns: int, rows: int, burst: bool) -> None:
    with start(rows=rows, columns=columns) as terminal:
        lines = play(terminal, F1, burst=burst, shows="Type, and passages of your notes")
        assert not any("by its name." in line for line in lines), "the help must not fit on one screen"
        lines = play(terminal, END, burst=burst, shows="by its name.")
        assert lines[-1] == " ↑↓ scroll  pgup pgdn a page  g G beginning, end  esc close"
        play(terminal, ESC, burst=burst, shows=lambda lines: "ctrl+t mode" in lines[-1])
        lines = play(terminal, PALETTE, burst=burst, shows="name of an action")
        assert not any("theme: ansi-light" in line for line in lines)
        lines = play(terminal, *[PAGE_DOWN] * 40, burst=burst, shows="theme: ansi-light")
        assert lines[-1] == " ↵ choose  ↑↓ select  pgup pgdn a page  esc cancel"
        play(terminal, ESC, burst=burst, shows=lambda lines: "ctrl+t mode" in lines[-1])
        terminal.quit()


@pytest.mark.slow
@both_ways
def test_activity_counts_an_import_and_reports_a_missing_vault_once(start: Start, vault: Path, burst: bool) -> None:
    with start() as terminal:
        play(terminal, *letters("printer"), burst=burst, shows="passages in")
        play(terminal, b"\x1b6", burst=burst, shows="“printer”: ")
        for number in range(300):
            note = vault / f"Import/{number % 7}/{number}.md"
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"# Note {number}\n\ntamarin {number}\n")
        terminal.until(lambda lines: any("All 344 notes" in line for line in lines))
        for read, total in re.findall(r"(\d+) of (\d+) notes", plain(bytes(terminal.written))):
            assert int(read) <= int(total) <= 344

        play(terminal, b" ", burst=burst, shows="paused · ")
        play(terminal, b" ", burst=burst, shows=absent("paused · "))

        away = vault.with_name("away")
        vault.rename(away)
        terminal.until(lambda lines: any("▲ Paused:" in line for line in lines))
        terminal.rest(3.0)  # in which a repeated line would appear again
        away.rename(vault)
        terminal.until(lambda lines: any("available again" in line for line in lines))
        (vault / "Back.md").write_text("# Back\n\nzanzibar\n")
        lines = terminal.until(lambda lines: any("Back.md" in line for line in lines))
        for said in ("▲ Paused ", "available again"):
            assert sum(said in line for line in lines) == 1, said
        assert not any("▲ Problem " in line or "● Resolved " in line for line in lines)
        play(terminal, b"1", b"/", *letters("zanzibar"), burst=burst, shows="Back.md:1–3")
        terminal.quit()


@pytest.mark.slow
@both_ways
def test_the_way_back_from_similar_passages_leads_to_the_same_row(start: Start, burst: bool) -> None:
    with start() as terminal:
        play(terminal, *letters("printer"), burst=burst, shows="passages in")
        play(terminal, DOWN, DOWN, burst=burst, shows="▌ Jonas Feld")
        play(terminal, ESC, burst=burst, shows="v show in Vault")
        play(terminal, b"m", burst=burst, shows="like Jonas Feld")
        play(terminal, ESC, burst=burst, shows=absent("like Jonas"))
        terminal.until(lambda lines: any("▌ Jonas Feld" in line for line in lines))
        terminal.quit()


def state_of(terminal: Terminal) -> str:
    return Path(f"/proc/{terminal.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the state of a process is read from /proc")
@both_ways
def test_app_can_be_suspended_resumed_and_quit_with_colon_q(start: Start, burst: bool) -> None:
    with start() as terminal:
        play(terminal, *letters("printer"), burst=burst, shows="passages in")
        play(terminal, ESC, burst=burst, shows="v show in Vault")
        play(terminal, SUSPEND, burst=burst, shows=lambda _: state_of(terminal) == "T")
        os.killpg(terminal.process.pid, signal.SIGCONT)
        terminal.wait_for("all folders")
        assert state_of(terminal) != "T"
        play(terminal, DOWN, DOWN, burst=burst, shows="▌ Jonas Feld")
        play(terminal, b":", b"q", burst=burst, shows="app: quit")
        terminal.quit(ENTER)
