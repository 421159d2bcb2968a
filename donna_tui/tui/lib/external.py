"""Run the user's editor, Obsidian and the clipboard, and return to the app."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from textual.app import App

from donna_tui.safety.terminal import clean_line
from donna_tui.text.encodable import encodable
from donna_tui.tui.lib.error_messages import lowered

_EDITORS = {
    name: (tuple(arguments.split()), has_window)
    for names, arguments, has_window in (
        ("vi vim nvim view nano pico emacs emacsclient kak ne joe mg", "+{line} {path}", False),
        ("gvim mvim vimr gedit", "+{line} {path}", True),
        ("micro", "+{line}:1 {path}", False),
        ("hx helix", "{path}:{line}", False),
        ("subl sublime_text zed zeditor", "{path}:{line}", True),
        ("code code-insiders codium vscodium cursor windsurf", "--goto {path}:{line}", True),
        ("idea pycharm webstorm", "--line {line} {path}", True),
        ("kate mate", "-l {line} {path}", True),
    )
    for name in names.split()
}
"""The arguments of each known editor, and whether it has its own window."""

_LONGEST_WAIT_SECONDS = 1.0
"""Seconds to wait for git to say what happened to a missing note."""

_USUAL_EDITORS = ("nvim", "vim", "hx", "micro", "nano", "vi")


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments. With `in_terminal` it needs the terminal exclusively until it exits."""

    argv: tuple[str, ...]
    in_terminal: bool


@dataclass(frozen=True, slots=True)
class External:
    """The programs of this machine, read from the environment. In a browser nothing can be opened on the server."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform
    which: Callable[[str], str | None] = shutil.which
    in_browser: bool = False

    @property
    def no_editor(self) -> str:
        """Return why no editor can be opened; empty if one can."""
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
        """Return why no link can be opened; empty if one can."""
        if self.in_browser:
            return "In the browser Donna cannot open Obsidian; y copies a link to the note."
        if not self._opener():
            return "Obsidian cannot be opened: there is no desktop here."
        return ""

    def edit(self, path: Path, line: int) -> Command:
        """Return the command that opens a file at a line (1-based). `path` must be absolute, so that it is never an
        option.
        """
        if not path.is_absolute():
            raise ValueError("An editor needs an absolute path")
        program = self._editor()
        name = PurePath(program[0]).name.removesuffix(".exe")
        arguments, has_window = _EDITORS.get(name, (("{path}",), False))
        argv = (*program, *(part.format(path=path, line=line) for part in arguments))
        return Command(argv, in_terminal=not has_window)

    def open(self, uri: str) -> Command:
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


class ExternalPrograms:
    """Run programs for an app. While one has the terminal, the app does not draw, but the engine keeps running."""

    def __init__(self, app: App[None], external: External) -> None:
        self._app = app
        self.external = external
        self.whereabouts: Callable[[Path], Awaitable[str]] | None = None
        self.has_terminal = False
        """Return whether a program is running in this terminal."""

    async def edit(self, path: Path, line: int) -> None:
        """Open a file in the user's editor, at a line (1-based), and wait if the editor uses this terminal.

        A missing file is not opened: the editor would show an empty buffer and create an empty note.
        """
        if await self._is_there(path):
            await self._run(self.external.edit(path, line))

    async def open_in_obsidian(self, root: Path, path: str) -> None:
        from donna_tui.vault.obsidian import obsidian_uri

        if await self._is_there(root / path):
            await self._run(self.external.open(obsidian_uri(root, path)))

    async def open_page(self, url: str) -> None:
        if self.external.no_desktop:
            self._complain(self.external.no_desktop)
        else:
            await self._run(self.external.open(url))

    async def _is_there(self, path: Path) -> bool:
        """Check whether the file exists; if not, notify the user with the reason, if it is known."""
        if await asyncio.to_thread(path.is_file):
            return True
        became = ""
        if self.whereabouts is not None:
            with suppress(TimeoutError):
                became = await asyncio.wait_for(self.whereabouts(path), _LONGEST_WAIT_SECONDS)
        self._complain(f"This note no longer exists: {path.name}. {became}".strip())
        return False

    def copy(self, text: str, what: str) -> None:
        """Send text to the terminal's clipboard, which does not confirm that it was accepted."""
        self._app.copy_to_clipboard(encodable(text))
        self._app.notify(f"Copied {lowered(what)}.", timeout=3)

    async def _run(self, command: Command) -> None:
        with ExitStack() as stack:
            if command.in_terminal:
                stack.enter_context(self._app.suspend())
                stack.enter_context(self._app.batch_update())
                stack.enter_context(_no_interrupts())
                stack.callback(setattr, self, "has_terminal", False)
                self.has_terminal = True
            # An exception raised inside `suspend` would leave the app suspended, so errors are returned as text.
            failure = await _failure_of(command)
        if failure:
            self._complain(f"{command.argv[0]} {failure}.")

    def _complain(self, message: str) -> None:
        self._app.notify(clean_line(message), severity="error", timeout=8)


async def _failure_of(command: Command) -> str:
    """Run a program, until it exits if it has this terminal; return an error message, or an empty string."""
    nowhere = asyncio.subprocess.DEVNULL
    apart: dict[str, Any] = {"stdin": nowhere, "stdout": nowhere, "stderr": nowhere, "start_new_session": True}
    try:
        process = await asyncio.create_subprocess_exec(*command.argv, **({} if command.in_terminal else apart))
    except OSError as error:
        return f"could not be started: {error.strerror}"
    code = await process.wait() if command.in_terminal else 0
    return f"ended with an error ({code})" if code else ""


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Ignore SIGINT: the terminal sends ctrl+c to Donna as well as to the editor."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
