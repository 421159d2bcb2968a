"""Days and times in the words of a note."""

from __future__ import annotations

import datetime

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def long_day(day: datetime.date) -> str:
    """`Wednesday, 3 January 2024`."""
    return f"{DAYS[day.weekday()]}, {short_day(day)}"


def short_day(day: datetime.date) -> str:
    """`3 January 2024`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def when(start: datetime.datetime, end: datetime.datetime, day: datetime.date, *, all_day: bool) -> str:
    """When something took place; both times are of the zone in which they are shown."""
    if all_day:
        return f"{long_day(day)}, all day"
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{short_day(end.date())}, {end:%H:%M}"
    return f"{long_day(start.date())}, {start:%H:%M}–{until}"


def iso_week(day: datetime.date) -> str:
    """`2026-W07`."""
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"
