"""The mirror in `memory.db`: what was fetched is stored once, what vanished is cancelled, and the past does not change."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.calendar.mirror import (
    IMPORTED,
    Stored,
    calendar_rows,
    delete_unfollowed,
    due_meetings,
    meeting_of,
    meetings_between,
    note_problem,
    set_watermark,
    store,
    watermark,
)
from donna_tui.calendar.values import EntryProblem, Fetched, Window
from donna_tui.memory.database import MemoryDb, open_db
from donna_tui.types.drafts import Attendee, CalendarRow, Meeting
from tests.unit.calendar_parts import meeting, utc

MAY = Window(utc(2024, 5, 1), utc(2024, 6, 1))
NOW = utc(2024, 5, 15).timestamp()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[MemoryDb]:
    opened = open_db(tmp_path)
    yield opened
    opened.close()


def keep(db: MemoryDb, *meetings: Meeting, calendar: str = "Work", complete: bool = True, at: float = NOW) -> Stored:
    return store(db, calendar, "ics", MAY, Fetched(meetings, (), complete), at)


def all_of(db: MemoryDb) -> dict[str, Meeting]:
    found = meetings_between(db.database, utc(1000, 1, 1).timestamp(), utc(9999, 1, 1).timestamp())
    return {each.event_id: each for each in found}


FULL = meeting(
    "full",
    utc(2024, 5, 20, 9),
    title="Plan\n\x1b[31m",
    series_id="s",
    location="Here",
    description="What?",
    attendees=(Attendee("Ana", "ana@example.invalid"), Attendee("Bo")),
)


def test_a_meeting_is_read_as_it_was_stored(db: MemoryDb) -> None:
    odd = replace(FULL, event_id="odd", start=utc(1601, 1, 1), end=utc(9999, 12, 31, 23, 59, 59), all_day=True)
    assert keep(db, FULL, odd) == Stored(new=2)
    assert meeting_of(db.database, "full") == FULL
    assert meeting_of(db.database, "odd") == odd
    assert meeting_of(db.database, "none") is None


def test_storing_the_same_fetch_twice_changes_nothing(db: MemoryDb) -> None:
    early, late = meeting("early", utc(2024, 5, 2)), meeting("late", utc(2024, 5, 30))
    assert keep(db, early, FULL, late) == Stored(new=3)
    assert keep(db, early, FULL, late) == Stored()
    assert keep(db, early, replace(FULL, title="New"), late) == Stored(changed=1)
    assert all_of(db)["full"].title == "New"
    assert len(all_of(db)) == 3


def test_meeting_missing_from_its_calendar_is_cancelled_until_it_is_back(db: MemoryDb) -> None:
    other = meeting("other", utc(2024, 5, 21))
    keep(db, FULL, other)
    assert keep(db, other) == Stored(gone=1)
    assert keep(db, other) == Stored()
    assert all_of(db)["full"] == replace(FULL, cancelled=True)
    assert keep(db, FULL, other) == Stored(changed=1)
    assert all_of(db)["full"] == FULL


def test_nothing_vanishes_from_a_listing_that_is_not_complete(db: MemoryDb) -> None:
    keep(db, FULL)
    assert keep(db, complete=False) == Stored()
    assert not all_of(db)["full"].cancelled


def test_meetings_outside_the_window_are_not_cancelled(db: MemoryDb) -> None:
    into = meeting("into", utc(2024, 4, 30, 23), minutes=120)
    before, after = meeting("before", utc(2024, 4, 1)), meeting("after", utc(2024, 6, 1))
    keep(db, before, into, after, meeting("long ago", utc(2024, 5, 1)))
    keep(db, meeting("long ago", utc(2024, 5, 1)))
    assert [name for name, each in all_of(db).items() if each.cancelled] == []


def test_a_calendar_that_drops_what_is_over_cancels_nothing_that_has_taken_place(db: MemoryDb) -> None:
    over, coming, later = (
        meeting(name, utc(2024, 5, day)) for name, day in (("over", 14), ("coming", 20), ("later", 25))
    )
    keep(db, over, coming, later)
    assert keep(db, later) == Stored(gone=1)
    assert {name for name, each in all_of(db).items() if each.cancelled} == {"coming"}


def test_a_past_entry_deleted_in_its_calendar_is_cancelled(db: MemoryDb) -> None:
    first, second = meeting("first", utc(2024, 5, 10)), meeting("second", utc(2024, 5, 14))
    keep(db, first, second)
    assert keep(db, first) == Stored(gone=1)
    assert all_of(db)["second"].cancelled


def test_events_of_different_calendars_are_stored_separately(db: MemoryDb) -> None:
    keep(db, FULL)
    keep(db, replace(FULL, calendar="Home", title="At home"), calendar="Home", at=NOW + 1)
    assert keep(db, calendar="Home", at=NOW + 2) == Stored(gone=1)
    assert meeting_of(db.database, "full") == FULL


def test_an_entry_in_two_calendars_is_shown_once_as_it_was_fetched_last(db: MemoryDb) -> None:
    keep(db, FULL)
    keep(db, replace(FULL, calendar="Home"), calendar="Home", at=NOW + 1)
    assert [each.calendar for each in all_of(db).values()] == ["Home"]
    assert meeting_of(db.database, "full") == replace(FULL, calendar="Home")
    keep(db, replace(FULL, calendar="Home", cancelled=True), calendar="Home", at=NOW + 2)
    assert [each.calendar for each in all_of(db).values()] == ["Work"]


def test_a_period_includes_what_overlaps_it(db: MemoryDb) -> None:
    names = {"until": (8, 60), "into": (8, 90), "at": (9, 60), "moment": (9, 0), "end": (10, 0), "after": (10, 60)}
    keep(db, *(meeting(name, utc(2024, 5, 20, hour), minutes) for name, (hour, minutes) in names.items()))
    between = (utc(2024, 5, 20, 9).timestamp(), utc(2024, 5, 20, 10).timestamp())
    assert [each.event_id for each in meetings_between(db.database, *between)] == ["into", "moment", "at"]


def test_due_meetings_are_in_order_without_all_day_and_cancelled_ones(db: MemoryDb) -> None:
    keep(
        db,
        meeting("later", utc(2024, 5, 20, 9), 50),
        meeting("sooner", utc(2024, 5, 20, 9), 30),
        meeting("day", utc(2024, 5, 20, 9), 40, all_day=True),
        meeting("off", utc(2024, 5, 20, 9), 40, cancelled=True),
        meeting("at start", utc(2024, 5, 20, 9), 10),
        meeting("at end", utc(2024, 5, 20, 9), 60),
        meeting("goes on", utc(2024, 5, 20, 9), 61),
        meeting("begins", utc(2024, 5, 20, 10), 61),
        meeting("after", utc(2024, 5, 20, 10, 1), 61),
    )
    keep(db, meeting("elsewhere", utc(2024, 5, 20, 9), 30, calendar="Home"), calendar="Home")
    after, until = utc(2024, 5, 20, 9, 10).timestamp(), utc(2024, 5, 20, 10).timestamp()
    found = due_meetings(db.database, "Work", after, until)
    assert [each.event_id for each in found] == ["sooner", "later", "at end", "goes on", "begins"]


def test_the_watermark_is_kept_for_each_calendar(db: MemoryDb) -> None:
    keep(db, FULL)
    keep(db, calendar="Home")
    assert watermark(db.database, "Work") is None
    set_watermark(db, "Work", 5.5)
    assert (watermark(db.database, "Work"), watermark(db.database, "Home")) == (5.5, None)
    keep(db, FULL)
    assert watermark(db.database, "Work") == 5.5


def test_a_problem_is_kept_until_the_calendar_is_read_again(db: MemoryDb) -> None:
    note_problem(db, "Work", "caldav", "the server is away")
    assert calendar_rows(db.database) == [CalendarRow(name="Work", kind="caldav", problem="the server is away")]
    keep(db, FULL, meeting("off", utc(2024, 5, 20), cancelled=True))
    assert calendar_rows(db.database) == [CalendarRow(name="Work", kind="ics", meetings=1, fetched_at=NOW)]
    note_problem(db, "Work", "ics", "the file is gone")
    (row,) = calendar_rows(db.database)
    assert (row.meetings, row.fetched_at, row.problem) == (1, NOW, "the file is gone")


def test_what_is_followed_no_longer_leaves_its_past_and_what_was_imported(db: MemoryDb) -> None:
    keep(db, meeting("over", utc(2024, 5, 14)), FULL)
    store(db, "file.ics", IMPORTED, MAY, Fetched((replace(FULL, event_id="imported", calendar="file.ics"),)), NOW)
    delete_unfollowed(db, ["Work"], NOW)
    assert set(all_of(db)) == {"over", "full", "imported"}
    delete_unfollowed(db, [], NOW)
    assert set(all_of(db)) == {"over", "imported"}
    assert [row.name for row in calendar_rows(db.database)] == ["file.ics"]


def test_failed_fetch_is_rolled_back(db: MemoryDb) -> None:
    keep(db, FULL)
    broken = replace(FULL, event_id="broken", title=b"\xff")  # type: ignore[arg-type]
    unfit = replace(FULL, event_id="unfit", title=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        store(db, "Work", "ics", MAY, Fetched((broken, unfit), (EntryProblem("x"),)), NOW)
    assert all_of(db) == {"full": FULL}
    assert FULL.start.tzinfo is datetime.UTC


def test_the_id_of_a_series_means_its_latest_occurrence(db: MemoryDb) -> None:
    week = datetime.timedelta(days=7)
    occurrences = [
        replace(FULL, event_id=f"weekly/{number}", series_id="weekly", start=utc(2024, 5, 1) + number * week,
                end=utc(2024, 5, 1) + number * week + datetime.timedelta(hours=1))
        for number in range(4)
    ]  # fmt: skip
    keep(db, *occurrences[:2], replace(occurrences[2], cancelled=True), occurrences[3])
    latest = meeting_of(db.database, "weekly", utc(2024, 5, 20).timestamp())
    assert latest is not None
    assert latest.event_id == "weekly/1"
    first = meeting_of(db.database, "weekly", utc(2024, 4, 1).timestamp())
    assert first is not None
    assert first.event_id == "weekly/0"
    assert meeting_of(db.database, "weekly") is None
