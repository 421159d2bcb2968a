"""Editors and links: argv lists that open the right line and cannot become options or shell code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from donna_tui.tui.lib.external import Command, External, ExternalPrograms

NOTE = Path("/v/My Notes/-rf $(x).md")


def external(editor: str = "", **options: object) -> External:
    environ = {"EDITOR": editor} if editor else {}
    return External(**{"environ": environ, "platform": "linux", "which": lambda name: f"/bin/{name}", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("editor", "argv"),
    [
        ("vim", ("vim", "+41", str(NOTE))),
        ("nvim -u NONE", ("nvim", "-u", "NONE", "+41", str(NOTE))),
        ("/usr/bin/nano", ("/usr/bin/nano", "+41", str(NOTE))),
        ("emacsclient -t", ("emacsclient", "-t", "+41", str(NOTE))),
        ("micro", ("micro", "+41:1", str(NOTE))),
        ("hx", ("hx", f"{NOTE}:41")),
        ("code -w", ("code", "-w", "--goto", f"{NOTE}:41")),
        ("subl", ("subl", f"{NOTE}:41")),
        ("'/opt/my editor/zed' --wait", ("/opt/my editor/zed", "--wait", f"{NOTE}:41")),
        ("kate", ("kate", "-l", "41", str(NOTE))),
        ("ed", ("ed", str(NOTE))),
    ],
)
def test_each_editor_gets_the_line_in_its_own_way(editor: str, argv: tuple[str, ...]) -> None:
    assert external(editor).edit(NOTE, 41).argv == argv


@pytest.mark.parametrize(("editor", "in_terminal"), [("vim", True), ("ed", True), ("code", False), ("gvim", False)])
def test_only_editors_without_a_window_take_the_terminal(editor: str, in_terminal: bool) -> None:
    assert external(editor).edit(NOTE, 1).in_terminal is in_terminal


def test_a_relative_path_is_refused() -> None:
    with pytest.raises(ValueError, match="absolute"):
        external("vim").edit(Path("-rf.md"), 1)


def test_visual_takes_precedence_over_editor() -> None:
    assert external(environ={"VISUAL": "hx", "EDITOR": "nano"}).edit(NOTE, 2).argv[0] == "hx"


def test_a_variable_that_cannot_be_read_is_passed_over() -> None:
    assert external(environ={"VISUAL": "vim 'unclosed", "EDITOR": "nano"}).edit(NOTE, 2).argv[0] == "nano"


def test_without_a_variable_a_usual_editor_is_found() -> None:
    found = external(which=lambda name: "/bin/micro" if name == "micro" else None)
    assert found.no_editor == ""
    assert found.edit(NOTE, 3).argv[0] == "micro"


def test_missing_editor_or_desktop_is_explained() -> None:
    nothing = {"which": lambda name: None}
    assert "No editor is set" in external(**nothing).no_editor
    assert "nosuch is not installed" in external("nosuch", **nothing).no_editor
    assert "browser" in external("vim", in_browser=True).no_editor
    assert "browser" in external(in_browser=True).no_desktop
    assert "no desktop" in external().no_desktop
    assert external(environ={"WAYLAND_DISPLAY": "w"}).no_desktop == ""


def test_links_open_with_the_platforms_opener() -> None:
    assert external(platform="darwin").open("obsidian://x").argv == ("open", "obsidian://x")
    assert external(environ={"DISPLAY": ":0"}).open("obsidian://x").argv == ("xdg-open", "obsidian://x")


class Terminal:
    """The part of an app that suspends and resumes its terminal."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.steps: list[str] = []
        self.copied = ""

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.steps.append("suspended")
        yield
        self.steps.append("resumed")  # as in Textual: not reached if the block raises

    @contextmanager
    def batch_update(self) -> Iterator[None]:
        yield

    def notify(self, message: str, **options: object) -> None:
        self.told.append(message)

    def copy_to_clipboard(self, text: str) -> None:
        self.copied = text


async def test_an_editor_really_runs_with_the_terminal_to_itself(tmp_path: Path) -> None:
    note = tmp_path / "$(touch harm) note.md"
    note.write_text("old", encoding="utf-8")
    script = tmp_path / "editor"
    script.write_text(f'#!{sys.executable}\nimport sys\nopen(sys.argv[1], "w").write("new")\n', encoding="utf-8")
    script.chmod(0o755)
    terminal = Terminal()
    outside = ExternalPrograms(terminal, External(environ={"EDITOR": str(script)}, which=shutil.which))  # type: ignore[arg-type]
    await outside.edit(note, 1)
    assert note.read_text(encoding="utf-8") == "new"
    assert terminal.steps == ["suspended", "resumed"]
    assert sorted(os.listdir(tmp_path)) == sorted([note.name, "editor"])


async def test_an_editor_that_fails_or_is_missing_is_reported(tmp_path: Path) -> None:
    terminal = Terminal()
    outside = ExternalPrograms(terminal, External(environ={"EDITOR": "false"}))  # type: ignore[arg-type]
    (tmp_path / "x.md").touch()
    await outside.edit(tmp_path / "x.md", 1)
    await outside._run(Command(("/no/such/program",), in_terminal=True))
    assert terminal.told[0] == "false ended with an error (1)."
    assert "/no/such/program could not be started" in terminal.told[1]
    assert terminal.steps == ["suspended", "resumed"] * 2


def test_copy_accepts_lone_surrogates_and_notifies() -> None:
    terminal = Terminal()
    ExternalPrograms(terminal, External()).copy("bad\ud800name", "The passage")  # type: ignore[arg-type]
    assert terminal.copied == "bad?name"
    assert terminal.told == ["Copied the passage."]


async def test_a_note_that_is_gone_is_not_opened(tmp_path: Path) -> None:
    """The editor would show an empty buffer, and `:wq` would create an empty note."""
    terminal, note = Terminal(), tmp_path / "gone.md"
    outside = ExternalPrograms(terminal, External(environ={"EDITOR": "touch", "DISPLAY": ":0"}, platform="linux"))  # type: ignore[arg-type]

    async def became(path: Path) -> str:
        return f"It was moved to Archive/{path.name}."

    outside.whereabouts = became
    await outside.edit(note, 1)
    await outside.open_in_obsidian(tmp_path, note.name)
    assert not note.exists()
    assert not terminal.steps
    assert terminal.told == ["This note no longer exists: gone.md. It was moved to Archive/gone.md."] * 2
