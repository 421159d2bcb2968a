"""Leaving the terminal and coming back: editor, Obsidian, clipboard. What fails is said, never raised."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from textual.app import App

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.external import Command, External


class Outside:
    """Runs programs for an app. While one has the terminal, the app does not draw, but the engine goes on working."""

    def __init__(self, app: App[None], external: External) -> None:
        self._app = app
        self.external = external
        self.whereabouts: Callable[[Path], Awaitable[str]] = _unknown

    async def edit(self, path: Path, line: int) -> None:
        """Open a file in the user's editor, at a line (1-based), and wait if the editor uses this terminal.

        A file that is gone is not opened: the editor would show an empty buffer and make an empty note of it.
        """
        if await self._is_there(path):
            await self._run(self.external.edit(path, line))

    async def open_in_obsidian(self, root: Path, path: str) -> None:
        """Open a note of the vault at `root` in Obsidian."""
        from donna_tui.vault.obsidian import obsidian_uri

        if await self._is_there(root / path):
            await self._run(self.external.open(obsidian_uri(root, path)))

    async def open_page(self, url: str) -> None:
        """Open a web page in the user's browser."""
        if self.external.no_desktop:
            self._complain(self.external.no_desktop)
        else:
            await self._run(self.external.open(url))

    async def _is_there(self, path: Path) -> bool:
        """Whether there is such a file; if not, say so, and what became of it where that is known."""
        if await asyncio.to_thread(path.is_file):
            return True
        became = await self.whereabouts(path)
        self._complain(f"This note no longer exists: {path.name}. {became}".strip())
        return False

    def copy(self, text: str, what: str) -> None:
        """Send text to the terminal's clipboard, which does not say whether it took it."""
        self._app.copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))
        self._app.notify(f"{what} was sent to the terminal's clipboard.", timeout=3, markup=False)

    async def _run(self, command: Command) -> None:
        if command.in_terminal:
            # An exception that left `suspend` would leave the app suspended: failures come back as text.
            with self._app.suspend(), self._app.batch_update(), _no_interrupts():
                failure = await _run_here(command)
        else:
            failure = await _run_apart(command)
        if failure:
            self._complain(f"{command.argv[0]} {failure}.")

    def _complain(self, message: str) -> None:
        self._app.notify(clean_line(message), severity="error", timeout=8, markup=False)


async def _unknown(_: Path) -> str:
    return ""


async def _run_here(command: Command) -> str:
    """Run a program in this terminal until it ends; gives back what went wrong, or nothing."""
    try:
        process = await asyncio.create_subprocess_exec(*command.argv)
    except OSError as error:
        return f"could not be started: {error.strerror}"
    code = await process.wait()
    return f"ended with an error ({code})" if code else ""


async def _run_apart(command: Command) -> str:
    """Start a program that has a window of its own, and let it be; gives back why it did not start, or nothing."""
    nowhere = asyncio.subprocess.DEVNULL
    try:
        await asyncio.create_subprocess_exec(
            *command.argv, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        return f"could not be started: {error.strerror}"
    return ""


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Ctrl+C in the editor is for the editor, although the terminal sends it to Donna too."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
