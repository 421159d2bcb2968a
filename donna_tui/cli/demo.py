"""What the demo vault has beside its notes: a git repository, and a calendar whose meetings lie around now."""

from __future__ import annotations

import datetime

from donna_tui.calendar.mirror import IMPORTED, store
from donna_tui.calendar.values import Fetched, Window
from donna_tui.calendar.zones import local_zone
from donna_tui.cli.session import Session
from donna_tui.drafting import Attendee, Meeting
from donna_tui.memory.book import open_book
from donna_tui.paths import private_folder
from donna_tui.vault.open import open_writer

CALENDAR = "Demo calendar"
TEAM = ("Tomasz Okafor", "Priya Raman", "Ines Albrecht", "Jonas Feld")
PLANNING = ("Ines Albrecht", "Tomasz Okafor", "Jonas Feld", "Ruth Castellan")
AROUND = datetime.timedelta(days=60)

_MEETINGS = (
    # days from today, hour, minutes, title, series, people, agenda
    (-2, 9.5, 15, "Standup", "standup", TEAM, ""),
    (-1, 9.5, 15, "Standup", "standup", TEAM, ""),
    (-1, 14.0, 45, "Kestrel call", "", ("Leo Brandt", "Jonas Feld"), "Release candidate\nSpring rate"),
    (0, 9.5, 15, "Standup", "standup", TEAM, ""),
    (0, 23.0, 30, "1:1 with Ruth", "ruth", ("Ruth Castellan",), "Cutover\nHolidays"),
    (1, 9.5, 15, "Standup", "standup", TEAM, ""),
    (1, 11.0, 120, "Roadmap planning", "", PLANNING, "What is left of the first half\nPrinters\nWho is away when"),
    (2, 9.5, 15, "Standup", "standup", TEAM, ""),
)


def furnish_demo(session: Session) -> None:
    """Create the repository of the demo vault, and bring its calendar up to date. Doing it again changes nothing.

    The vault is Donna's own copy, so nobody has to be asked. Raises DonnaError.
    """
    open_writer(session.config, session.space).init_if_missing()
    now = datetime.datetime.now(local_zone())
    meetings = [*_meetings(now), _next_one(now)]
    window = Window(now - AROUND, now + AROUND)
    book = open_book(private_folder(session.space.state))
    try:
        store(book, CALENDAR, IMPORTED, window, Fetched(tuple(meetings)), now.timestamp())
    finally:
        book.close()


def _meetings(now: datetime.datetime) -> list[Meeting]:
    found = []
    for days, hour, minutes, title, series, people, agenda in _MEETINGS:
        day = now.date() + datetime.timedelta(days=days)
        start = datetime.datetime.combine(day, datetime.time(int(hour), int(hour % 1 * 60)), now.tzinfo)
        found.append(_meeting(f"{series or title}/{day}", title, start, minutes, series, people, agenda))
    return found


def _next_one(now: datetime.datetime) -> Meeting:
    """One that begins within the hour, so that its brief can be seen."""
    start = (now + datetime.timedelta(minutes=40)).replace(second=0, microsecond=0)
    start -= datetime.timedelta(minutes=start.minute % 5)
    return _meeting(
        f"cutover/{now.date()}", "Gateway cutover", start, 30, "", TEAM, "Old client library\nThe five machines"
    )


def _meeting(
    identity: str, title: str, start: datetime.datetime, minutes: int, series: str, people: tuple[str, ...], agenda: str
) -> Meeting:
    return Meeting(
        event_id=f"demo/{identity}",
        calendar=CALENDAR,
        title=title,
        start=start.astimezone(datetime.UTC),
        end=(start + datetime.timedelta(minutes=minutes)).astimezone(datetime.UTC),
        day=start.date(),
        series_id=f"demo/{series}" if series else "",
        description=agenda,
        attendees=tuple(Attendee(name) for name in people),
    )
