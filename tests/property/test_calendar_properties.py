"""In any zone and year, a meeting is where the clocks of its zone put it, and a series is its occurrences."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from donna_tui.calendar.parser import Reader
from donna_tui.calendar.values import Window
from tests.unit.calendar_parts import event, messages_of, read

ZONES = (
    "Europe/Berlin Europe/London America/New_York America/Sao_Paulo America/St_Johns Asia/Kolkata Asia/Kathmandu"
    " Asia/Tehran Australia/Lord_Howe Pacific/Apia Pacific/Chatham Africa/Cairo Africa/Casablanca Asia/Beirut UTC"
).split()
WIDE = Window(datetime.datetime(2022, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))

zones = st.sampled_from(ZONES)
moments = st.datetimes(datetime.datetime(2022, 6, 1), datetime.datetime(2025, 6, 1)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


def stamp(moment: datetime.datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%S}"


@pytest.mark.slow
@given(zones, zones, moments, st.integers(0, 600))
def test_meeting_start_is_converted_from_its_time_zone(
    zone: str, here: str, start: datetime.datetime, minutes: int
) -> None:
    entry = event(f"DTSTART;TZID={zone}:{stamp(start)}", f"DURATION:PT{minutes}M")
    (meeting,) = read(entry, window=WIDE, zone=ZoneInfo(here)).meetings
    aware = start.replace(tzinfo=ZoneInfo(zone))
    assert meeting.start == aware.astimezone(datetime.UTC)
    assert meeting.end - meeting.start == datetime.timedelta(minutes=minutes)
    assert meeting.day == aware.astimezone(ZoneInfo(here)).date()


@pytest.mark.slow
@given(zones, moments)
def test_a_time_without_a_zone_is_that_of_the_local_clock(here: str, start: datetime.datetime) -> None:
    floating = read(event(f"DTSTART:{stamp(start)}"), window=WIDE, zone=ZoneInfo(here))
    named = read(event(f"DTSTART;TZID={here}:{stamp(start)}"), window=WIDE, zone=ZoneInfo("UTC"))
    assert [each.start for each in floating.meetings] == [each.start for each in named.meetings]
    (meeting,) = floating.meetings
    local = meeting.start.astimezone(ZoneInfo(here))
    exists = local.replace(tzinfo=None) == start
    assert exists or local.replace(tzinfo=None) - start <= datetime.timedelta(days=1)  # a gap shifts it forward


@given(zones, st.dates(datetime.date(2022, 6, 1), datetime.date(2025, 6, 1)), st.integers(1, 9))
def test_all_day_event_covers_exactly_its_days(here: str, day: datetime.date, days: int) -> None:
    after = day + datetime.timedelta(days=days)
    entry = event(f"DTSTART;VALUE=DATE:{day:%Y%m%d}", f"DTEND;VALUE=DATE:{after:%Y%m%d}")
    (meeting,) = read(entry, window=WIDE, zone=ZoneInfo(here)).meetings
    zone = ZoneInfo(here)
    assert (meeting.day, meeting.all_day) == (day, True)
    assert meeting.start.astimezone(zone).date() == day or here in ("Pacific/Apia",)
    assert (meeting.end - datetime.timedelta(seconds=1)).astimezone(zone).date() == after - datetime.timedelta(days=1)


@settings(max_examples=50)
@given(zones, moments, st.integers(1, 20), st.sampled_from(["DAILY", "WEEKLY"]), st.data())
def test_a_series_is_its_occurrences_whatever_is_moved_or_left_out(
    zone: str, start: datetime.datetime, count: int, frequency: str, data: st.DataObject
) -> None:
    step = datetime.timedelta(days={"DAILY": 1, "WEEKLY": 7}[frequency])
    starts = [start + step * number for number in range(count)]
    out = data.draw(st.sets(st.sampled_from(starts), max_size=3))
    moved = data.draw(st.sets(st.sampled_from(starts), max_size=3)) - out
    series = event(
        f"DTSTART;TZID={zone}:{stamp(start)}", "DURATION:PT30M", f"RRULE:FREQ={frequency};COUNT={count}",
        *(f"EXDATE;TZID={zone}:{stamp(each)}" for each in sorted(out)),
    )  # fmt: skip
    changes = [
        event(f"RECURRENCE-ID;TZID={zone}:{stamp(each)}", f"DTSTART;TZID={zone}:{stamp(each)}", "DURATION:PT45M")
        for each in sorted(moved)
    ]
    fetched = read(series, *changes, window=WIDE)
    expected = {each.replace(tzinfo=ZoneInfo(zone)).astimezone(datetime.UTC) for each in starts if each not in out}
    names = {f"one/{stamp(each)}Z" for each in expected}
    assert ({each.event_id for each in fetched.meetings}, messages_of(fetched)) == (names, [])
    changed = {each.replace(tzinfo=ZoneInfo(zone)).astimezone(datetime.UTC) for each in moved}
    lasting = {each.start for each in fetched.meetings if each.end - each.start == datetime.timedelta(minutes=45)}
    assert lasting == changed


@given(st.binary(max_size=300) | st.text("BEGINDVT:;=\r\n AZ0123456789-", max_size=300).map(str.encode))
def test_any_bytes_are_taken_apart_without_an_error(data: bytes) -> None:
    found = Reader().read(b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + data + b"\r\nEND:VCALENDAR")
    assert len(found.entries) <= data.count(b"END") + 1


@pytest.mark.slow
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_in_an_event_leaves_the_next_one_alone(name: str, value: str) -> None:
    odd = event(f"{name}:{value}", f"DTSTART{name}:{value}", "DTSTART:20240506T090000Z", uid="odd")
    fetched = read(odd, event("DTSTART:20240506T090000Z", uid="fine"), window=WIDE)
    assert "fine" in {meeting.event_id for meeting in fetched.meetings}
