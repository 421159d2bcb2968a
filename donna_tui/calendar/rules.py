"""Recurrence rules: those that would expand without end are refused, and their last day is brought into one form."""

from __future__ import annotations

import datetime
from typing import Any

from icalendar.prop import vRecur

from donna_tui.calendar.zones import instant

_FREQUENCIES = frozenset({"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"})
MOST_PARTS = 400
"""Values in one part of a rule, such as BYYEARDAY."""


class UnusableError(Exception):
    """An event cannot be used; the text says why, and holds nothing of the event."""


def checked_rule(rule: Any, start: datetime.date, zone: datetime.tzinfo) -> vRecur:
    """The rule of an event that begins at `start`, fit to be expanded. Raises UnusableError."""
    if not isinstance(rule, vRecur):
        raise UnusableError("its rule cannot be read")
    if _frequency(rule) not in _FREQUENCIES:
        raise UnusableError("it repeats every minute or second, or in an unknown way")
    for name in ("INTERVAL", "COUNT"):
        if any(not isinstance(value, int) or value < 1 for value in rule.get(name, [])):
            raise UnusableError(f"the {name} of its rule is not a number from 1")
    if any(isinstance(values, list) and len(values) > MOST_PARTS for values in rule.values()):
        raise UnusableError("its rule is too long")
    return _with_last(rule, start, zone)


def _frequency(rule: vRecur) -> str:
    named = rule.get("FREQ", [])
    return str(named[0]).upper() if isinstance(named, list) and len(named) == 1 else ""


def _with_last(rule: vRecur, start: datetime.date, zone: datetime.tzinfo) -> vRecur:
    """The rule with an UNTIL of the kind that its start asks for: a day for days, else a moment in UTC."""
    if "UNTIL" not in rule:
        return rule
    last = rule["UNTIL"][0] if isinstance(rule["UNTIL"], list) else rule["UNTIL"]
    if not isinstance(last, datetime.date):
        raise UnusableError("the end of its rule cannot be read")
    changed = vRecur(rule)
    changed["UNTIL"] = [_last(last, start, zone)]
    return changed


def _last(last: datetime.date, start: datetime.date, zone: datetime.tzinfo) -> datetime.date:
    if not isinstance(start, datetime.datetime):
        return last.date() if isinstance(last, datetime.datetime) else last
    if not isinstance(last, datetime.datetime):
        last = datetime.datetime(last.year, last.month, last.day, 23, 59, 59)
    return instant(last, start.tzinfo or zone)
