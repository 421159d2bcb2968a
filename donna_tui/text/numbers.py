"""Numbers with their nouns, as they are told to people."""

from __future__ import annotations


def plural(number: int, noun: str, many: str = "") -> str:
    """`1 note`, `2,914 notes`; `many` where the plural is not made with an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
