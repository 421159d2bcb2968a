"""Whether the terminal that the app is drawn on is still there: without it nobody could ever end the app."""

from __future__ import annotations

import os
import sys

LOOKED_FOR_SECONDS = 2.0


class Lifeline:
    """A window that is closed usually ends what runs in it by a signal; not where the program leads its own session."""

    def __init__(self) -> None:
        self._had = _is_terminal()

    def is_cut(self) -> bool:
        """Whether there was a terminal, and is none any more."""
        return self._had and not _is_terminal()


def _is_terminal() -> bool:
    try:
        return sys.__stdin__ is not None and os.isatty(sys.__stdin__.fileno())
    except (OSError, ValueError):
        return False
