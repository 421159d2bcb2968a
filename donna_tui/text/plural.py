"""Format a count with its noun, and a list of which only the first are named."""

from __future__ import annotations

from collections.abc import Sequence


def plural(number: int, noun: str, many: str = "") -> str:
    """Format a count with its noun: `1 note`, `2,914 notes`; `many` is the plural if it is not formed with an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def first_of(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Join the first `most` names, and count the others: `a, b and 3 more`."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
