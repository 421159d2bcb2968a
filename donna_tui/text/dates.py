"""Names of months and days of the week, and the word by which a date is indexed."""

from __future__ import annotations

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
GERMAN_MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MONTH = "|".join(("sept", *(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)))
"""The names of the months and their abbreviations, as a pattern."""


def month_number(name: str) -> int:
    """Return the number of a month by its name or abbreviation, in any case."""
    begun = name[:3].title()
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(begun))


def date_word(month: str, day: str = "", year: str = "") -> str:
    """Return the word by which the keyword index finds notes of a date, such as “2026y03m12d”. Numbers are padded."""
    return f"{f'{year}y' if year else ''}{month}m{f'{day}d' if day else ''}"
