"""The time zone of this machine, and days in it."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal


def local_zone() -> ZoneInfo:
    """The zone that this machine's clock is set to; UTC where that cannot be told."""
    try:
        return tzlocal.get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def zone_named(name: str) -> ZoneInfo:
    """The zone with an IANA name; that of this machine if there is none."""
    try:
        return ZoneInfo(name) if name else local_zone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return local_zone()


def instant(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """A moment in UTC; one without a zone is in `zone`. Those at the ends of the calendar are kept within it."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    try:
        return aware.astimezone(datetime.UTC)
    except OverflowError:
        return aware.replace(tzinfo=datetime.UTC)


def midnight(day: datetime.date, zone: datetime.tzinfo) -> datetime.datetime:
    """When a day begins in a zone, in UTC."""
    return instant(datetime.datetime(day.year, day.month, day.day), zone)


def local(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """An aware moment as the clocks of a zone show it."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment
