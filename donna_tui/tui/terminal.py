"""Drive the terminal, and restore its state when the app ends for any reason."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import termios
from collections.abc import Awaitable, Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from donna_tui.types.notes import Edit

AltDigit = Enum("AltDigit", {f"ALT_{digit}": f"alt+{digit}" for digit in range(10)})  # type: ignore[misc]


class TerminalDriver(LinuxDriver):
    """A driver that ignores undecodable input, such as a paste from a Latin-1 terminal, and that survives SIGCONT."""

    _raw: list[Any] | None = None
    """The attributes of the terminal in application mode."""

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._raw = _attributes()

    def _sigcont_application(self, *_: Any) -> None:
        """Enter application mode again if a shell has changed the terminal. After SIGSTOP, which cannot be handled and
        which tools such as cpulimit send, Textual would start a second input thread, which takes keys and blocks exit.
        """
        if self._auto_restart and not self._must_signal_resume:
            if _attributes() in (self._raw, None):
                return
            self.suspend_application_mode()
            self._must_signal_resume = True
        super()._sigcont_application()

    def run_input_thread(self) -> None:
        while not self.exit_event.is_set():
            try:
                return super().run_input_thread()
            except UnicodeDecodeError:
                continue


# Decode escape and a digit as alt and that digit. Textual decodes them as the characters of macOS, such as § for alt+6,
# which would be inserted into the focused input.
for key in AltDigit:
    cast(dict[str, Any], ANSI_SEQUENCES_KEYS)[f"\x1b{key.value[-1]}"] = (key,)


TTY_CHECK_SECONDS = 2.0
SILENT_SECONDS = 0.5
"""Seconds that the end of the app may take without a message."""


def has_terminal() -> bool:
    try:
        return sys.__stdin__ is not None and os.isatty(sys.__stdin__.fileno())
    except (OSError, ValueError):
        return False


END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
LONGEST_LEAVE_SECONDS = 5.0
"""Seconds to finish pending work after a signal."""

_RESET = (
    b"\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Resets paste mode, wrapping, resize reports, mouse, keyboard, alternate screen, cursor and focus reports."""


async def save_unsaved(edits: tuple[Edit, ...], save: Callable[[Edit], Awaitable[None]]) -> list[str]:
    """Save each edit to the state folder, or to a temporary file if that fails. Return the messages to print."""
    messages = []
    for edit in edits:
        try:
            await save(edit)
        except Exception:
            messages.append(await asyncio.to_thread(_copied, edit))
        else:
            messages.append(f"Your edit of {edit.path} is stored; the Vault lists it at the next start.")
    return messages


def _copied(edit: Edit) -> str:
    from donna_tui.vault.edit_drafts import EditDrafts

    try:
        copy = EditDrafts(Path(tempfile.mkdtemp(prefix="donna-edit-"))).begin(edit)
        return f"Your edit of {edit.path} could not be stored as usual; it is in {copy}"
    except Exception:
        return f"Your edit of {edit.path} could not be stored: no space left."


@contextlib.contextmanager
def restored_terminal() -> Iterator[None]:
    """Restore the terminal on exit, even if the app could not."""
    before = _attributes()
    try:
        yield
    finally:
        restore_terminal(before)


def restore_terminal(before: list[Any] | None) -> None:
    """Leave raw mode and the alternate screen, unless the app has done so."""
    if before is None or _attributes() == before:
        return
    with contextlib.suppress(OSError, ValueError, termios.error):
        os.write(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, _RESET)
        termios.tcsetattr(0, termios.TCSANOW, before)


def _attributes() -> list[Any] | None:
    with contextlib.suppress(OSError, ValueError, termios.error):
        return termios.tcgetattr(0)
    return None


@contextlib.contextmanager
def ending_signals(leave: Callable[[int], None]) -> Iterator[None]:
    """Call `leave` on the loop for the first termination signal; the second one ends the process immediately."""
    loop, before = asyncio.get_running_loop(), _attributes()
    received: list[int] = []

    def end(number: int, frame: Any) -> None:
        received.append(number)
        if len(received) > 1:
            restore_terminal(before)
            os._exit(128 + number)
        loop.call_soon_threadsafe(leave, number)

    previous = {number: signal.getsignal(number) for number in END_SIGNALS}
    for number, handler in previous.items():
        if handler is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
