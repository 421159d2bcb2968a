"""When meetings take place: zones, days, gaps and folds, series and their exceptions."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo

import pytest

from donna_tui.calendar.values import Window
from tests.unit.calendar_parts import BERLIN, MAY_6, YEAR, event, ids, messages_of, read, times, utc

SYDNEY = ZoneInfo("Australia/Sydney")
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("DTSTART:20240506T090000Z", "DTEND:20240506T100000Z"), "0506T0900–1000"),
        (("DTSTART;TZID=America/New_York:20240506T090000", "DURATION:PT1H"), "0506T1300–1400"),
        (("DTSTART;TZID=/example.org/America/New_York:20240506T090000", "DURATION:PT1H"), "0506T1300–1400"),
        (("DTSTART;TZID=Eastern Standard Time:20240506T090000", "DURATION:PT45M"), "0506T1300–1345"),
        (('DTSTART;TZID="W. Europe Standard Time":20240106T090000', "DURATION:PT1H"), "0106T0800–0900"),
        (("DTSTART:20240506T090000", "DTEND:20240506T100000"), "0506T0700–0800"),  # floating: in the local zone
        (("DTSTART:20240106T090000", "DTEND:20240106T100000"), "0106T0800–0900"),
        (("DTSTART:20240506T090000Z",), "0506T0900–0900"),
        (("DTSTART:20240506T090000Z", "DTEND:20240506T090000Z"), "0506T0900–0900"),
        (("DTSTART:20240506T090000Z", "DURATION:P1DT2H"), "0506T0900–0507T1100"),
        (("DTSTART:20240506T090000Z", "DURATION:-PT2H"), "0506T0900–0900"),
        (("DTSTART:20240506T100000Z", "DTEND:20240506T090000Z"), "0506T1000–1000"),
        (("DTSTART:20240506T100000Z", "DTEND:nonsense"), "0506T1000–1000"),
        (("DTSTART:20240506T090000Z", "DTEND;VALUE=DATE:20240507"), "0506T0900–0900"),
        # 02:30 does not exist on this day; with the offset before the gap it is 01:30 in UTC, which is 03:30
        (("DTSTART;TZID=Europe/Berlin:20240331T023000", "DTEND;TZID=Europe/Berlin:20240331T033000"), "0331T0130–0130"),
        (("DTSTART;TZID=Europe/Berlin:20240331T023000", "DTEND;TZID=Europe/Berlin:20240331T031500"), "0331T0130–0130"),
        # 02:30 occurs twice on this day: the first one is meant
        (("DTSTART;TZID=Europe/Berlin:20241027T023000", "DURATION:PT30M"), "1027T0030–0100"),
        (
            ("DTSTART;TZID=Europe/Berlin:20241027T013000", "DTEND;TZID=Europe/Berlin:20241027T033000"),
            "1026T2330–1027T0230",
        ),
    ],
)
def test_a_single_meeting_takes_place_when_its_calendar_says(lines: tuple[str, ...], expected: str) -> None:
    fetched = read(event(*lines))
    assert times(fetched.meetings) == [expected]
    (meeting,) = fetched.meetings
    assert meeting.start.utcoffset() == meeting.end.utcoffset() == datetime.timedelta(0)
    assert (meeting.event_id, meeting.series_id, meeting.calendar, meeting.all_day) == ("one", "", "Work", False)


@pytest.mark.parametrize(
    ("zone", "lines", "expected"),
    [
        (BERLIN, ("DTSTART;VALUE=DATE:20240506", "DTEND;VALUE=DATE:20240507"), "0505T2200–0506T2200"),
        (BERLIN, ("DTSTART;VALUE=DATE:20240506",), "0505T2200–0506T2200"),
        (BERLIN, ("DTSTART:20240506",), "0505T2200–0506T2200"),
        (BERLIN, ("DTSTART;VALUE=DATE:20240506", "DURATION:P3D"), "0505T2200–0508T2200"),
        (SYDNEY, ("DTSTART;VALUE=DATE:20240506", "DTEND;VALUE=DATE:20240508"), "0505T1400–0507T1400"),
        (NEW_YORK, ("DTSTART;VALUE=DATE:20240310",), "0310T0500–0311T0400"),  # a day of 23 hours
    ],
)
def test_an_entry_of_whole_days_lasts_from_midnight_to_midnight(
    zone: ZoneInfo, lines: tuple[str, ...], expected: str
) -> None:
    (meeting,) = read(event(*lines), zone=zone).meetings
    assert times([meeting]) == [expected]
    assert meeting.all_day
    assert meeting.day.strftime("%Y%m%d") == lines[0][-8:]


def test_the_day_is_that_of_the_local_clock() -> None:
    late = event("DTSTART:20240506T233000Z", "DTEND:20240507T000000Z")
    assert [meeting.day for meeting in read(late).meetings] == [datetime.date(2024, 5, 7)]
    assert [meeting.day for meeting in read(late, zone=NEW_YORK).meetings] == [datetime.date(2024, 5, 6)]


def test_an_unknown_zone_is_taken_as_local_and_reported() -> None:
    fetched = read(event("DTSTART;TZID=Nowhere/Known:20240506T090000", "DURATION:PT1H"))
    assert times(fetched.meetings) == ["0506T0700–0800"]
    assert messages_of(fetched) == ["its time zone is unknown; its times are treated as local"]


def test_a_zone_that_the_file_defines_is_used() -> None:
    zone = "\r\n".join(
        ("BEGIN:VTIMEZONE", "TZID:Test Plus Five", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0500",
         "TZOFFSETTO:+0500", "END:STANDARD", "END:VTIMEZONE", "")
    )  # fmt: skip
    fetched = read(zone, event("DTSTART;TZID=Test Plus Five:20240506T090000", "DURATION:PT1H"))
    assert times(fetched.meetings) == ["0506T0400–0500"]
    assert messages_of(fetched) == []


def test_a_weekly_meeting_keeps_its_hour_when_the_clocks_change() -> None:
    weekly = event("DTSTART;TZID=Europe/Berlin:20240318T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
    fetched = read(weekly)
    assert times(fetched.meetings) == ["0318T0800–0900", "0325T0800–0900", "0401T0700–0800"]
    assert ids(fetched.meetings) == ["one/20240318T080000Z", "one/20240325T080000Z", "one/20240401T070000Z"]
    assert {meeting.series_id for meeting in fetched.meetings} == {"one"}


WEEKLY = event(*MAY_6, "RRULE:FREQ=WEEKLY;COUNT=4", "EXDATE:20240513T090000Z", "SUMMARY:Weekly")


def test_an_exception_is_left_out() -> None:
    assert times(read(WEEKLY).meetings) == ["0506T0900–1000", "0520T0900–1000", "0527T0900–1000"]


def test_a_moved_occurrence_keeps_its_name() -> None:
    moved = event(
        "RECURRENCE-ID:20240520T090000Z", "DTSTART:20240521T140000Z", "DTEND:20240521T150000Z", "SUMMARY:Later"
    )
    for order in ((WEEKLY, moved), (moved, WEEKLY)):
        fetched = read(*order)
        assert times(fetched.meetings) == ["0506T0900–1000", "0521T1400–1500", "0527T0900–1000"]
        assert ids(fetched.meetings) == ids(read(WEEKLY).meetings)
        assert {each.event_id: each.title for each in fetched.meetings}["one/20240520T090000Z"] == "Later"


def test_an_occurrence_that_was_moved_into_the_window_is_in_it_and_one_that_was_moved_out_is_not() -> None:
    moved = event("RECURRENCE-ID:20240520T090000Z", "DTSTART:20250120T090000Z", "DTEND:20250120T100000Z")
    assert times(read(WEEKLY, moved).meetings) == ["0506T0900–1000", "0527T0900–1000"]
    january = Window(utc(2025, 1, 1), utc(2025, 2, 1))
    assert ids(read(WEEKLY, moved, window=january).meetings) == ["one/20240520T090000Z"]


def test_this_and_all_that_follow_may_be_moved_and_keep_their_names() -> None:
    moved = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20240520T090000Z", "DTSTART:20240520T110000Z", "DTEND:20240520T113000Z"
    )
    fetched = read(WEEKLY, moved)
    assert times(fetched.meetings) == ["0506T0900–1000", "0520T1100–1130", "0527T1100–1130"]
    assert ids(fetched.meetings) == ids(read(WEEKLY).meetings)


def test_a_cancelled_occurrence_is_cancelled_and_the_others_are_not() -> None:
    gone = event("RECURRENCE-ID:20240520T090000Z", "DTSTART:20240520T090000Z", "DURATION:PT1H", "STATUS:CANCELLED")
    cancelled = {meeting.event_id: meeting.cancelled for meeting in read(WEEKLY, gone).meetings}
    assert [name for name, is_off in cancelled.items() if is_off] == ["one/20240520T090000Z"]
    assert [meeting.cancelled for meeting in read(event(*MAY_6, "STATUS:cancelled")).meetings] == [True]


def test_an_occurrence_without_its_series_has_the_same_name_as_within_it() -> None:
    alone = event("RECURRENCE-ID:20240520T090000Z", "DTSTART:20240521T140000Z", "DTEND:20240521T150000Z")
    (meeting,) = read(alone).meetings
    assert (meeting.event_id, meeting.series_id) == ("one/20240520T090000Z", "one")


def test_the_newest_version_counts_wherever_it_is() -> None:
    old, new = event(*MAY_6, "SEQUENCE:0", "SUMMARY:Old"), event(*MAY_6, "SEQUENCE:1", "SUMMARY:New")
    for order in ((old, new), (new, old)):
        assert [meeting.title for meeting in read(*order).meetings] == ["New"]
    again = event(*MAY_6, "SEQUENCE:1", "SUMMARY:Newer", "DTSTAMP:20240102T000000Z")
    assert [meeting.title for meeting in read(again, new).meetings] == ["Newer"]


@pytest.mark.parametrize("until", ["20240508T090000Z", "20240508T110000", "20240508"])
def test_the_last_day_of_a_series_may_be_written_in_three_ways(until: str) -> None:
    daily = event("DTSTART;TZID=Europe/Berlin:20240506T110000", "DURATION:PT1H", f"RRULE:FREQ=DAILY;UNTIL={until}")
    assert times(read(daily).meetings) == ["0506T0900–1000", "0507T0900–1000", "0508T0900–1000"]


def test_all_day_series_recurs_by_local_days() -> None:
    daily = event("DTSTART;VALUE=DATE:20240330", "RRULE:FREQ=DAILY;UNTIL=20240401T235959Z")
    fetched = read(daily)
    assert ids(fetched.meetings) == ["one/20240330", "one/20240331", "one/20240401"]
    assert times(fetched.meetings) == ["0329T2300–0330T2300", "0330T2300–0331T2200", "0331T2200–0401T2200"]


def test_a_series_without_a_zone_keeps_its_names_in_another_one() -> None:
    daily = event("DTSTART:20240506T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=2")
    at_home, away = read(daily), read(daily, zone=NEW_YORK)
    assert ids(at_home.meetings) == ids(away.meetings) == ["one/20240506T090000", "one/20240507T090000"]
    assert times(at_home.meetings) == ["0506T0700–0800", "0507T0700–0800"]
    assert times(away.meetings) == ["0506T1300–1400", "0507T1300–1400"]


def test_extra_dates_and_periods_belong_to_the_series() -> None:
    extra = event(*MAY_6, "RDATE:20240508T120000Z", "RDATE;VALUE=PERIOD:20240509T120000Z/PT30M")
    assert times(read(extra).meetings) == ["0506T0900–1000", "0508T1200–1300", "0509T1200–1230"]


def test_a_window_includes_what_overlaps_it() -> None:
    window = Window(utc(2024, 5, 6, 9, 30), utc(2024, 5, 6, 12))
    inside = {
        "before": "0800/PT1H30M",
        "into": "0900/PT1H",
        "at end": "1200/PT1H",
        "moment": "0930/PT0S",
        "all": "0000/P1D",
    }
    parts = [
        event(f"DTSTART:20240506T{start}00Z", f"DURATION:{lasts}", uid=name)
        for name, (start, lasts) in {name: value.split("/") for name, value in inside.items()}.items()
    ]
    assert ids(read(*parts, window=window).meetings) == ["all", "into", "moment"]


def test_a_long_entry_that_began_before_the_window_is_in_it() -> None:
    leave = event("DTSTART;VALUE=DATE:20231001", "DTEND;VALUE=DATE:20240301", uid="leave")
    assert ids(read(leave, event(*MAY_6)).meetings) == ["leave", "one"]
    assert YEAR.start > utc(2023, 10, 1)


def test_events_at_the_limits_of_datetime_are_read() -> None:
    ancient = event("DTSTART:16010101T000000Z", "DTEND:16010101T010000Z", uid="past")
    last = event("DTSTART:99991231T230000Z", "DTEND:99991231T235959Z", uid="future")
    for zone in (BERLIN, NEW_YORK):
        first, end = (Window(utc(1600, 1, 1), utc(1602, 1, 1)), Window(utc(9999, 1, 1), utc(9999, 12, 31, 23, 59, 59)))
        assert ids(read(ancient, last, window=first, zone=zone).meetings) == ["past"]
        assert ids(read(ancient, last, window=end, zone=zone).meetings) == ["future"]
