"""The date of a note: what its frontmatter says, else a date in its file name, else the time of its last change."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import Any

from donna_tui.vault.frontmatter import frontmatter_value

DATE_KEYS = ("date", "event_start", "created")
"""Frontmatter keys that date a note, the first one that holds a date wins."""

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_TIME = r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?"

_IN_NAME = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\d.-]){_YEAR}(?P<mark>[-_./])(?P<number>0[1-9]|1[0-2])(?P=mark)(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
        rf"(?<!\d){_YEAR}(?P<number>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?:{_TIME})?(?!\d)",
        rf"(?<!\d)(?P<day>0[1-9]|[12]\d|3[01])\.(?P<number>0[1-9]|1[0-2])\.{_YEAR}(?!\d)",
        rf"(?<![\w.]){_DAY}(?:st|nd|rd|th|\.)?[ _-]+(?:of )?{_MONTH},?[ _-]+{_YEAR}(?!\d)",
        rf"(?<!\w){_MONTH}[ _-]+{_DAY}(?:st|nd|rd|th)?,?[ _-]+{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}-?w(?P<week>0[1-9]|[1-4]\d|5[0-3])(?!\d)",
        rf"(?<![\d.-]){_YEAR}-(?P<number>0[1-9]|1[0-2])(?![\d-])",
    )
)
"""`2026-03-12`, `20260312` (a time of day may follow), `12.03.2026`, `12 March 2026`, `March 12, 2026`, `2026-W11`,
`2026-03`."""

_NESTED = re.compile(rf"(?:^|/){_YEAR}/(?P<number>0[1-9]|1[0-2])/(?P<day>0[1-9]|[12]\d|3[01])(?!\d)[^/]*$")
"""A daily note in folders: `Journal/2026/03/12.md`."""


def note_date(frontmatter: Mapping[str, Any], path: str, mtime: float) -> float:
    """The date of a note as Unix time.

    A day without a time counts as noon of that day, local time: it stays the same day wherever the machine travels.
    """
    for key in DATE_KEYS:
        found = _moment(frontmatter_value(frontmatter, key))
        if found is not None:
            return found
    day = next(_days_in(path), None)
    at = None if day is None else _timestamp(_noon(day))
    return mtime if at is None else at


def iso_date(at: float | None) -> str:
    """The local day of a moment, as 2026-03-12; empty where there is none."""
    try:
        return datetime.datetime.fromtimestamp(at).date().isoformat() if at else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _moment(value: object) -> float | None:
    """The moment that a frontmatter value stands for; the first of a list."""
    while isinstance(value, list):  # `[[2026-03-12]]` without quotes is a list in a list
        value = value[0] if value else None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value).strip()[:100]
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        day = next(_days_in(text), None)
        return None if day is None else _timestamp(_noon(day))
    is_day = len(text) <= len("2026-03-12")
    return _timestamp(_noon(moment.date()) if is_day else moment)


def _days_in(text: str) -> Iterator[datetime.date]:
    """The real days that a file name or a value names, the most exact form first."""
    name = text.rsplit("/", 1)[-1]
    for form, within in (*((each, name) for each in _IN_NAME), (_NESTED, text)):
        for match in form.finditer(within):
            day = _day(match.groupdict())
            if day is not None:
                yield day


def _day(parts: Mapping[str, str | None]) -> datetime.date | None:
    year = int(parts["year"] or 0)
    try:
        if week := parts.get("week"):
            return datetime.date.fromisocalendar(year, int(week), 1)
        month = int(number) if (number := parts.get("number")) else _month_number(str(parts["month"]))
        return datetime.date(year, month, int(parts.get("day") or 1))
    except ValueError:
        return None


def _month_number(name: str) -> int:
    begun = name[:3].casefold()
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(begun))


def _noon(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(12))


def _timestamp(moment: datetime.datetime) -> float | None:
    try:
        return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None
