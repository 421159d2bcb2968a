"""Entries of Google's Calendar API (version 3) as meetings. Nothing of what the server says is taken on trust."""

from __future__ import annotations

import datetime
from typing import Any
from zoneinfo import ZoneInfo

from donna_tui.calendar.people import distinct, named
from donna_tui.calendar.rules import UnusableError
from donna_tui.calendar.values import DESCRIPTION_CHARS, LOCATION_CHARS, TITLE_CHARS, bounded
from donna_tui.calendar.zones import instant, local, midnight
from donna_tui.drafting import Attendee, Meeting

ID_CHARS = 1_100
"""Google's ids have at most 1,024 characters."""

_NOT_PEOPLE = ("@group.calendar.google.com", "@resource.calendar.google.com")


def google_meeting(item: Any, calendar: str, zone: ZoneInfo) -> Meeting:
    """The meeting of one item of `events.list`. Raises UnusableError."""
    if not isinstance(item, dict):
        raise UnusableError("it is not an entry")
    original = item.get("originalStartTime")
    first = _moment(item.get("start", original), "its start cannot be read", zone)
    last = _moment(item.get("end", item.get("start", original)), "its end cannot be read", zone)
    all_day = not isinstance(first, datetime.datetime)
    start = _instant(first, zone)
    return Meeting(
        event_id=_event_id(item, original, zone),
        calendar=calendar,
        title=_text(item, "summary", TITLE_CHARS),
        start=start,
        end=max(start, _instant(last, zone)),
        day=local(start, zone).date() if isinstance(first, datetime.datetime) else first,
        all_day=all_day,
        series_id=_text(item, "recurringEventId", ID_CHARS),
        location=_text(item, "location", LOCATION_CHARS),
        description=_text(item, "description", DESCRIPTION_CHARS),
        attendees=_people(item),
        cancelled=item.get("status") == "cancelled",
    )


def _event_id(item: dict[str, Any], original: Any, zone: ZoneInfo) -> str:
    """The id of a single entry; of an occurrence that of its series, and when it was to take place at first."""
    own, series = _text(item, "id", ID_CHARS), _text(item, "recurringEventId", ID_CHARS)
    if not own.isprintable() or not series.isprintable() or not own:
        raise UnusableError("it has no id")
    if not series:
        return own
    moment = _moment(original, "it does not tell which occurrence it is", zone)
    if isinstance(moment, datetime.datetime):
        return f"{series}/{instant(moment, zone):%Y%m%dT%H%M%SZ}"
    return f"{series}/{moment:%Y%m%d}"


def _moment(value: Any, problem: str, zone: ZoneInfo) -> datetime.date:
    """A day, or an aware moment."""
    try:
        if "dateTime" in value:
            moment = datetime.datetime.fromisoformat(value["dateTime"])
            return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(value.get("timeZone") or zone.key))
        return datetime.date.fromisoformat(value["date"])
    except (TypeError, ValueError, KeyError, OSError) as error:
        raise UnusableError(problem) from error


def _instant(value: datetime.date, zone: ZoneInfo) -> datetime.datetime:
    return instant(value, zone) if isinstance(value, datetime.datetime) else midnight(value, zone)


def _text(item: dict[str, Any], name: str, most: int) -> str:
    value = item.get(name)
    return bounded(value, most) if isinstance(value, str) else ""


def _people(item: dict[str, Any]) -> tuple[Attendee, ...]:
    """Who is invited, the organiser first; rooms and calendars are no people."""
    attendees = item.get("attendees")
    invited = attendees if isinstance(attendees, list) else []
    addresses = [each for each in (item.get("organizer"), *invited) if isinstance(each, dict)]
    people = [_person(each) for each in addresses if not each.get("resource")]
    return distinct(person for person in people if not person.email.endswith(_NOT_PEOPLE))


def _person(address: dict[str, Any]) -> Attendee:
    name, email = address.get("displayName"), address.get("email")
    declined = address.get("responseStatus") == "declined"
    return named(name if isinstance(name, str) else "", email if isinstance(email, str) else "", declined=declined)
