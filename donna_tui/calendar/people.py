"""Who is invited, read off the addresses of an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from donna_tui.calendar.values import MOST_ATTENDEES, NAME_CHARS, bounded
from donna_tui.drafting import Attendee

_THINGS = ("ROOM", "RESOURCE")
_MAILTO = "mailto:"


def invited(organiser: Any, attendees: Iterable[Any]) -> tuple[Attendee, ...]:
    """The people of an event as `icalendar` gives their addresses; the organiser comes first, rooms are none."""
    addresses = [each for each in (organiser, *attendees) if each is not None]
    return distinct(_person(each) for each in addresses if _is_person(each))


def distinct(people: Iterable[Attendee]) -> tuple[Attendee, ...]:
    """Each person once: a mail address is one person, and so is a name without one."""
    found: dict[str, Attendee] = {}
    for person in people:
        key = person.email.casefold() or person.name.casefold()
        known = found.get(key)
        if key and (known is None or _tells_more(person, known)):
            known = found[key] = person
        if known is not None and person.declined and not known.declined:
            found[key] = replace(known, declined=True)
    return tuple(list(found.values())[:MOST_ATTENDEES])


def named(name: str, email: str, *, declined: bool = False) -> Attendee:
    """A person by the name that is given, else by the part of the mail address before the @."""
    email = bounded(email.strip(), NAME_CHARS)
    return Attendee(bounded(name.strip(), NAME_CHARS) or email.partition("@")[0], email, declined)


def _tells_more(person: Attendee, known: Attendee) -> bool:
    """Whether a name was given for somebody who was known by the mail address only."""
    return known.name == known.email.partition("@")[0] and bool(person.name) and person.name != known.name


def _is_person(address: Any) -> bool:
    return str(_parameter(address, "CUTYPE")).upper() not in _THINGS


def _person(address: Any) -> Attendee:
    text = str(address).strip()
    email = text[len(_MAILTO) :] if text.lower().startswith(_MAILTO) else ""
    declined = str(_parameter(address, "PARTSTAT")).upper() == "DECLINED"
    return named(str(_parameter(address, "CN")), email, declined=declined)


def _parameter(address: Any, name: str) -> Any:
    value = getattr(address, "params", {}).get(name, "")
    return value[0] if isinstance(value, list) and value else value
