"""Programs outside: the user's editor at a line, and the desktop's own way to open a link. Never through a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path, PurePath

from donna_tui.records import dataclass

_PLUS_LINE = ("+{line}", "{path}")
_COLON_LINE = ("{path}:{line}",)
_GOTO_LINE = ("--goto", "{path}:{line}")
_JUST_THE_FILE = ("{path}",)


@dataclass(frozen=True, slots=True)
class _Habit:
    """How a known editor takes a line, and whether it opens a window of its own."""

    arguments: tuple[str, ...]
    has_window: bool = False


_IN_TERMINAL = ("vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "kak", "ne", "joe", "mg")
_LIKE_CODE = ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf")

_HABITS: dict[str, _Habit] = {
    **dict.fromkeys(_IN_TERMINAL, _Habit(_PLUS_LINE)),
    **dict.fromkeys(("gvim", "mvim", "vimr", "gedit"), _Habit(_PLUS_LINE, has_window=True)),
    "micro": _Habit(("+{line}:1", "{path}")),
    **dict.fromkeys(("hx", "helix"), _Habit(_COLON_LINE)),
    **dict.fromkeys(("subl", "sublime_text", "zed", "zeditor"), _Habit(_COLON_LINE, has_window=True)),
    **dict.fromkeys(_LIKE_CODE, _Habit(_GOTO_LINE, has_window=True)),
    **dict.fromkeys(("idea", "pycharm", "webstorm"), _Habit(("--line", "{line}", "{path}"), has_window=True)),
    **dict.fromkeys(("kate", "mate"), _Habit(("-l", "{line}", "{path}"), has_window=True)),
}
_UNKNOWN = _Habit(_JUST_THE_FILE)

_USUAL_EDITORS = ("nvim", "vim", "hx", "micro", "nano", "vi")


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments. `in_terminal` says that it needs the terminal to itself until it ends."""

    argv: tuple[str, ...]
    in_terminal: bool


@dataclass(frozen=True, slots=True)
class External:
    """What this machine offers, read from the environment. In a browser nothing can be opened on the server."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform
    which: Callable[[str], str | None] = shutil.which
    in_browser: bool = False

    @property
    def no_editor(self) -> str:
        """Why no editor can be opened; empty if one can."""
        if self.in_browser:
            return "In the browser Donna cannot open an editor; y copies a link to the note."
        program = self._editor()
        if not program:
            return "No editor is set. Put its name into the variable EDITOR, for example EDITOR=nano."
        if self.which(program[0]) is None:
            return f"The editor {program[0]} is not installed. The variables VISUAL and EDITOR name it."
        return ""

    @property
    def no_desktop(self) -> str:
        """Why no link can be opened; empty if one can."""
        if self.in_browser:
            return "In the browser Donna cannot open Obsidian; y copies a link to the note."
        if not self._opener():
            return "There is no desktop here to open Obsidian on."
        return ""

    def edit(self, path: Path, line: int) -> Command:
        """The command that opens a file at a line (1-based). `path` must be absolute, so that it is never an option."""
        if not path.is_absolute():
            raise ValueError("An editor needs an absolute path")
        program = self._editor()
        name = PurePath(program[0]).name.removesuffix(".exe")
        habit = _HABITS.get(name, _UNKNOWN)
        arguments = (part.format(path=path, line=line) for part in habit.arguments)
        return Command((*program, *arguments), in_terminal=not habit.has_window)

    def open(self, uri: str) -> Command:
        """The command that opens a link with the desktop's program for it."""
        return Command((*self._opener(), uri), in_terminal=False)

    def _editor(self) -> tuple[str, ...]:
        for name in ("VISUAL", "EDITOR"):
            try:
                words = shlex.split(self.environ.get(name, ""))
            except ValueError:
                words = []
            if words:
                return tuple(words)
        return next(((name,) for name in _USUAL_EDITORS if self.which(name)), ())

    def _opener(self) -> tuple[str, ...]:
        if self.platform == "darwin":
            return ("open",)
        has_display = self.environ.get("WAYLAND_DISPLAY") or self.environ.get("DISPLAY")
        return ("xdg-open",) if has_display and self.which("xdg-open") else ()
