"""Format a count with its noun."""

from __future__ import annotations


def plural(number: int, noun: str, many: str = "") -> str:
    """Format a count with its noun: `1 note`, `2,914 notes`; `many` is the plural if it is not formed with an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
