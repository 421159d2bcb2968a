"""Textual's driver for terminals, which ends with an exception when bytes arrive that are no UTF-8."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Goes on reading after bytes that cannot be decoded, as a paste from a Latin-1 terminal sends them."""

    def run_input_thread(self) -> None:
        while not self.exit_event.is_set():
            try:
                return super().run_input_thread()
            except UnicodeDecodeError:
                continue
