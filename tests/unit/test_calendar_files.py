"""Calendar files from elsewhere: a made-up one with odd entries, a real one with meetings, and folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from donna_tui.calendar.parser import named
from donna_tui.calendar.sources import IcsFiles
from donna_tui.calendar.values import Window
from donna_tui.config.calendars import CalendarConfig
from donna_tui.types.drafts import Attendee, Meeting
from donna_tui.types.errors import CalendarError
from tests.hostile import make_hostile_vault
from tests.unit.calendar_parts import BERLIN, MAY_6, YEAR, calendar, event, ids, messages_of, utc

MEETINGS = Path(__file__).parents[3] / "shared" / "eval" / "meetings" / "meetings.ics"


def source(path: Path) -> IcsFiles:
    return IcsFiles(CalendarConfig(name="Work", kind="ics", path=path), BERLIN)


@pytest.mark.slow
async def test_of_a_hostile_calendar_all_that_a_sane_reader_finds_is_found(tmp_path: Path) -> None:
    _, manifest = make_hostile_vault(tmp_path)
    ics = source(tmp_path / "calendar.ics")
    found: dict[str, Meeting] = {}
    for window in (Window(utc(1600, 1, 1), utc(1602, 1, 1)), YEAR, Window(utc(9999, 1, 1), utc(9999, 12, 31, 23))):
        found |= {meeting.event_id: meeting for meeting in (await ics.fetch(window)).meetings}
    uids = {event_id.partition("/")[0] for event_id in found}
    expected = {entry["uid"] for entry in manifest["calendar"] if entry["expect"] == "event"}
    assert expected - uids == {"future"}  # it begins after the end of the window
    assert not uids & {entry["uid"] for entry in manifest["calendar"] if entry["expect"] == "skip"}
    assert (found["folded"].title, found["escaped"].title) == ("Café réunion", "a, b; c\\ d\ne")
    assert found["dup"].title == "New name"
    assert found["cancelled"].cancelled
    assert found["nocn"].attendees == (Attendee("o", "o@example.invalid"), Attendee("X"))
    assert found["weekly/20240520T090000Z"].start == utc(2024, 5, 21, 9)
    assert "weekly/20240513T090000Z" not in found
    assert len([name for name in found if name.startswith("weekly/")]) == 34


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Weber, Anna", "Anna Weber"),
        ("van der Berg, Jan Willem (Sales)", "Jan Willem van der Berg (Sales)"),
        ("Holm, Dr. Ida", "Dr. Ida Holm"),
        ("Anna Weber, PhD", "Anna Weber, PhD"),
        ("Acme, Inc.", "Acme, Inc."),
        ("Munich, Room 3", "Munich, Room 3"),
        ("Groß, Ulrike | SWT", "Ulrike Groß"),
        ("Ana, Bo, Cy", "Ana, Bo, Cy"),
    ],
)
def test_a_surname_before_the_first_name_is_put_after_it(given: str, name: str) -> None:
    assert named(given, "someone@example.invalid").name == name


@pytest.mark.parametrize(
    ("title", "is_cancelled"),
    [
        ("Canceled: Budget", True),
        ("Abgesagt: Budget", True),
        ("Cancelled orders: review", False),
        ("Abgesagte Termine", False),
    ],
)
async def test_outlook_marks_a_cancelled_event_in_its_title(tmp_path: Path, title: str, is_cancelled: bool) -> None:
    times = "DTSTART:20240513T090000Z\r\nDTEND:20240513T100000Z\r\nSTATUS:CONFIRMED"
    event = f"BEGIN:VEVENT\r\nUID:x\r\n{times}\r\nSUMMARY:{title}\r\nEND:VEVENT"
    (tmp_path / "calendar.ics").write_text(f"BEGIN:VCALENDAR\r\n{event}\r\nEND:VCALENDAR\r\n")
    (meeting,) = (await source(tmp_path / "calendar.ics").fetch(YEAR)).meetings
    assert (meeting.title, meeting.cancelled) == (title, is_cancelled)


async def test_the_oddities_of_a_hostile_calendar_are_reported_by_entry(tmp_path: Path) -> None:
    make_hostile_vault(tmp_path)
    fetched = await source(tmp_path / "calendar.ics").fetch(YEAR)
    assert [(each.number, each.uid) for each in fetched.problems] == [
        (7, "badtz"), (11, "backwards"), (12, "nostart"), (13, "baddate"), (17, "secondly"), (32, "many"), (35, ""),
    ]  # fmt: skip
    assert not fetched.complete


async def test_a_calendar_of_real_meetings_is_read_whole() -> None:
    if not MEETINGS.is_file():
        pytest.skip(f"the calendar of real meetings is not at {MEETINGS}")
    fetched = await source(MEETINGS).fetch(Window(utc(2010, 1, 1), utc(2027, 1, 1)))
    assert (len(fetched.meetings), fetched.problems, fetched.complete) == (207, (), True)
    assert sum(bool(meeting.attendees) for meeting in fetched.meetings) == 144
    first = min(fetched.meetings, key=lambda meeting: (meeting.title != "Node TSC meeting", meeting.start))
    assert all(person.name and person.email.endswith("@example.invalid") for person in first.attendees)


async def test_a_folder_is_one_calendar(tmp_path: Path) -> None:
    (tmp_path / "a.ics").write_bytes(calendar(event(*MAY_6, uid="a")))
    (tmp_path / "b.ICS").write_bytes(calendar(event(*MAY_6, uid="b"))[:-3])
    (tmp_path / "c.ics").write_bytes(calendar(event(*MAY_6, uid="cut"))[:60])
    (tmp_path / "d.ics").write_bytes(calendar(event(*MAY_6, uid="d")))
    (tmp_path / ".hidden.ics").write_bytes(calendar(event(*MAY_6, uid="hidden")))
    (tmp_path / "notes.txt").write_bytes(calendar(event(*MAY_6, uid="notes")))
    fetched = await source(tmp_path).fetch(YEAR)
    assert ids(fetched.meetings) == ["a", "b", "d"]
    assert not fetched.complete
    assert messages_of(fetched) == ["the calendar ends or starts again in the middle of it"]


async def test_of_a_folder_a_file_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "a.ics").symlink_to("deleted")
    (tmp_path / "b.ics").write_bytes(calendar(event(*MAY_6, uid="b")))
    (tmp_path / "c.ics").write_bytes(b"x" * 5_000_001)
    fetched = await source(tmp_path).fetch(YEAR)
    problems = ["file 1 of 3 cannot be read; it is left out", "file 3 of 3 is too large; it is left out"]
    assert (ids(fetched.meetings), messages_of(fetched), fetched.complete) == (["b"], problems, False)


async def test_an_empty_folder_is_an_empty_calendar(tmp_path: Path) -> None:
    fetched = await source(tmp_path).fetch(YEAR)
    assert (fetched.meetings, fetched.complete) == ((), True)


async def test_pipe_or_device_as_calendar_is_refused_without_blocking(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ics")
    with pytest.raises(CalendarError, match="is not a file"):
        await source(tmp_path / "pipe.ics").fetch(YEAR)
    with pytest.raises(CalendarError, match="cannot be read"):
        await source(tmp_path / "missing.ics").fetch(YEAR)
    assert (await source(Path("/dev/zero")).version()) is not None
    with pytest.raises(CalendarError, match="is not a file"):
        await source(Path("/dev/zero")).fetch(YEAR)


async def test_the_version_changes_with_the_files(tmp_path: Path) -> None:
    ics = source(tmp_path)
    versions = [await ics.version()]
    for change in (
        lambda: (tmp_path / "a.ics").write_bytes(b"1"),
        lambda: (tmp_path / "a.ics").write_bytes(b"12"),
        lambda: os.utime(tmp_path / "a.ics", ns=(5, 5)),
        lambda: (tmp_path / "b.ics").write_bytes(b"1"),
        lambda: (tmp_path / "a.ics").unlink(),
    ):
        change()
        versions.append(await ics.version())
    assert len(set(versions)) == len(versions)
    assert await ics.version() == versions[-1]
