"""Dates in a question, as the phrases by which notes name them: “May 2nd” is also 05-02 and “2 May”."""

from __future__ import annotations

import re
from collections.abc import Iterator

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?=\W|$)(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+{_YEAR}\b",
        r"\b(?P<year>(?:19|20)\d\d)-(?P<number>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?\b",
    )
)


def date_phrases(text: str) -> tuple[str, ...]:
    """Phrases that stand for the dates in `text`, for a keyword index that takes hyphens for spaces."""
    return tuple(dict.fromkeys(phrase for form in _FORMS for match in form.finditer(text) for phrase in _names(match)))


def _names(match: re.Match[str]) -> Iterator[str]:
    parts = match.groupdict()
    month, year, day = _month_number(parts), parts.get("year"), parts.get("day")
    name = MONTHS[month - 1]
    if day:
        yield f"{month:02} {int(day):02}"
        yield f"{name} {int(day)}"
        yield f"{int(day)} {name}"
    elif year:
        yield f"{year} {month:02}"
        yield f"{name} {year}"


def _month_number(parts: dict[str, str | None]) -> int:
    if number := parts.get("number"):
        return int(number)
    begun = str(parts["month"]).lower()[:3]
    return next(index for index, name in enumerate(MONTHS, 1) if name.startswith(begun))


def without_dates(text: str) -> str:
    """The rest of `text`."""
    for form in _FORMS:
        text = form.sub(" ", text)
    return text
