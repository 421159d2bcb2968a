"""Names of months and days of the week, and the word by which a date is indexed."""

from __future__ import annotations

import re

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
GERMAN_MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GERMAN_WEEKDAYS = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")

_ABBREVIATED = ("sept", *(f"{name[:3]}(?:{name[3:]})?" for name in dict.fromkeys((*MONTHS, *GERMAN_MONTHS))))
MONTH = "|".join(_ABBREVIATED)
"""The English and German names of the months and their abbreviations, as a pattern to be followed by a boundary."""

WEEKDAY = "|".join((*WEEKDAYS, *GERMAN_WEEKDAYS))
"""The English and German names of the days of the week, as a pattern to be followed by a boundary."""

ANY_WEEKDAY = rf"{WEEKDAY}|mon|tues?|weds?|thu(?:rs?)?|fri|(?-i:S(?:at|un)|Mo|Di|Mi|Do|Fr|Sa|So)"
"""The same with abbreviations, many of which are words: to be used only after “by”, “bis”, “this” or the like."""


def month_number(name: str) -> int:
    """Return the number of a month by its English or German name or abbreviation, in any case."""
    names = enumerate(zip(MONTHS, GERMAN_MONTHS, strict=True), 1)
    # matched as by MONTH, for which “ı” is an “i” in other case
    return next(
        number for number, (month, german) in names if re.match(f"{month[:3]}|{german[:3]}", name, re.IGNORECASE)
    )


def date_word(month: str, day: str = "", year: str = "") -> str:
    """Return the word by which the keyword index finds notes of a date, such as “2026y03m12d”. Numbers are padded."""
    return f"{f'{year}y' if year else ''}{month}m{f'{day}d' if day else ''}"


def ordinal(day: int) -> str:
    """Return the English ordinal of a day of a month, such as “3rd”."""
    suffix = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"
