"""Textual's driver for terminals, with two repairs: bytes that are no UTF-8 do not end it, and alt+1 is a key."""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.drivers.linux_driver import LinuxDriver

AltDigit = Enum("AltDigit", {f"ALT_{digit}": f"alt+{digit}" for digit in range(10)})  # type: ignore[misc]


class TerminalDriver(LinuxDriver):
    """Goes on reading after bytes that cannot be decoded, as a paste from a Latin-1 terminal sends them."""

    def run_input_thread(self) -> None:
        while not self.exit_event.is_set():
            try:
                return super().run_input_thread()
            except UnicodeDecodeError:
                continue


def name_alt_digits() -> None:
    """Read escape and a digit as alt and that digit. Textual reads the characters that macOS has there, such as § for
    alt+6, which would be typed into whatever has the focus.
    """
    sequences = cast(dict[str, Any], ANSI_SEQUENCES_KEYS)
    for key in AltDigit:
        sequences[f"\x1b{key.value[-1]}"] = (key,)


name_alt_digits()
