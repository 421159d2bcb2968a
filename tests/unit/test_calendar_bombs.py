"""Calendar files made to hang, to exhaust memory or to hide something are refused with a message, without further harm."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from donna_tui.calendar import ics, parser
from donna_tui.calendar.ics import read_ics
from donna_tui.calendar.values import MAX_ATTENDEES, MAX_OCCURRENCES, MAX_PROBLEMS, Fetched
from tests.unit.calendar_parts import BERLIN, MAY_6, YEAR, calendar, event, ids, messages_of

FINE = event(*MAY_6, "SUMMARY:Fine", uid="fine")


async def read_bytes(data: bytes) -> Fetched:
    return await read_ics(data, "Work", YEAR, BERLIN)


SERIES_THAT_ARE_REFUSED = {
    "RRULE:FREQ=SECONDLY": "it repeats every minute or second, or in an unknown way",
    "RRULE:FREQ=MINUTELY;COUNT=3": "it repeats every minute or second, or in an unknown way",
    "RRULE:INTERVAL=2": "it repeats every minute or second, or in an unknown way",
    "RRULE:FREQ=OFTEN": "its rule cannot be read",
    "RRULE:FREQ=DAILY;INTERVAL=0": "the INTERVAL of its rule is not a positive number",
    "RRULE:FREQ=DAILY;INTERVAL=-1": "the INTERVAL of its rule is not a positive number",
    "RRULE:FREQ=DAILY;COUNT=0": "the COUNT of its rule is not a positive number",
    f"RRULE:FREQ=YEARLY;BYYEARDAY={','.join(['1'] * 500)}": "its rule is too long",
    "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30": "its occurrences take too long to compute",
    f"RDATE:{','.join(['20240506T090000Z'] * 100_000)}": "it has too many dates",
    f"EXDATE:{','.join(['20240506T090000Z'] * 100_000)}": "it has too many exceptions",
    "\r\n".join(["RRULE:FREQ=DAILY"] * 100): "it has too many rules",
    "RDATE:never": "its RDATE cannot be read",
    "RECURRENCE-ID:never": "it does not say which occurrence it replaces",
}


@pytest.mark.cases(4)
@pytest.mark.parametrize(("line", "expected"), SERIES_THAT_ARE_REFUSED.items(), ids=range(len(SERIES_THAT_ARE_REFUSED)))
async def test_a_series_without_bounds_is_refused_and_the_rest_is_read(line: str, expected: str) -> None:
    fetched = await read_bytes(calendar(event(*MAY_6, line, uid="bomb"), FINE))
    assert ids(fetched.meetings) == ["fine"]
    assert [(problem.number, problem.uid, problem.message) for problem in fetched.problems] == [(1, "bomb", expected)]
    assert fetched.complete


@pytest.mark.slow
async def test_series_recurring_every_second_is_truncated() -> None:
    minutes = ",".join(str(minute) for minute in range(60))
    fetched = await read_bytes(
        calendar(event(*MAY_6, f"RRULE:FREQ=HOURLY;BYMINUTE={minutes};BYSECOND={minutes}"), FINE)
    )
    assert "fine" in ids(fetched.meetings)
    assert len(fetched.meetings) <= MAX_OCCURRENCES + 1
    assert len(fetched.problems) == 1


@pytest.mark.slow
async def test_series_that_takes_too_long_to_expand_is_skipped() -> None:
    old = event("DTSTART:16010101T000000Z", "RRULE:FREQ=HOURLY", uid="old")
    fetched = await read_bytes(calendar(old, FINE))
    assert ids(fetched.meetings) == ["fine"]
    assert messages_of(fetched) == ["its occurrences take too long to compute"]


async def test_a_million_repetitions_cost_only_those_in_the_window() -> None:
    fetched = await read_bytes(calendar(event(*MAY_6, "RRULE:FREQ=DAILY;COUNT=1000000000"), FINE))
    assert len(fetched.meetings) == 240 + 1  # 6 May to 31 December, and the other one


async def test_of_a_series_that_is_too_long_the_beginning_is_taken() -> None:
    hourly = event("DTSTART:20240101T000000Z", "DURATION:PT5M", "RRULE:FREQ=HOURLY", uid="hourly")
    fetched = await read_bytes(calendar(hourly, FINE))
    assert len(fetched.meetings) == MAX_OCCURRENCES + 1
    assert "hourly/20240101T000000Z" in ids(fetched.meetings)
    assert messages_of(fetched) == ["only the first 5,000 of its occurrences are used"]


async def test_many_long_series_are_truncated_with_a_report() -> None:
    text = "y" * 8_000
    many = [event(*MAY_6, f"DESCRIPTION:{text}", "RRULE:FREQ=HOURLY", uid=f"s{each}") for each in range(10)]
    fetched = await read_bytes(calendar(*many))
    assert 3_000 < len(fetched.meetings) < 5_000
    assert not fetched.complete
    assert any(message.startswith("it is too large") for message in messages_of(fetched))


async def test_a_file_that_is_too_large_is_not_looked_at() -> None:
    fetched = await read_bytes(b"BEGIN:VCALENDAR\r\n" + b"X" * 6_000_000)
    assert (fetched.meetings, messages_of(fetched), fetched.complete) == ((), ["it is larger than 5 MB"], False)


def test_entries_beyond_the_limit_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_ENTRIES", 2)
    contents = parser.Reader().read(calendar(*[event(*MAY_6, uid=str(each)) for each in range(3)]))
    assert ([entry.uid for entry in contents.entries], contents.complete) == (["0", "1"], False)
    assert [problem.message for problem in contents.problems] == ["it has more than 2 entries; the others are ignored"]


@pytest.mark.stress
async def test_of_more_entries_than_the_limit_some_are_read_and_the_rest_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("donna_tui.calendar.ics.PROCESSOR_SECONDS", 60.0)  # a slow machine would time out
    entries = "".join(f"BEGIN:VEVENT\nUID:{each}\nDTSTART:20240506\nEND:VEVENT\n" for each in range(51_000))
    fetched = await read_bytes(b"BEGIN:VCALENDAR\n" + entries.encode())
    assert 0 < len(fetched.meetings) < 51_000
    assert not fetched.complete
    assert "it has more than 50,000 entries; the others are ignored" in messages_of(fetched)


async def test_entries_far_from_the_window_cost_next_to_nothing() -> None:
    old = "".join(f"BEGIN:VEVENT\nUID:{each}\nDTSTART:20110506T090000Z\nEND:VEVENT\n" for each in range(49_000))
    fetched = await read_bytes(b"BEGIN:VCALENDAR\n" + old.encode() + FINE.encode() + b"END:VCALENDAR\n")
    assert (ids(fetched.meetings), messages_of(fetched), fetched.complete) == (["fine"], [], True)


NESTED = {
    "alarms in an event": event(*MAY_6, *["BEGIN:VALARM"] * 50_000, uid="nest"),
    "events in an event": "BEGIN:VEVENT\r\n" * 1_000,
    "an endless line": event(*MAY_6, f"SUMMARY:{'x' * 3_000_000}", uid="nest"),
    "a line of folds": event(*MAY_6, "SUMMARY:" + "x\r\n " * 500_000, uid="nest"),
    "a thousand parameters": event(*MAY_6, "ATTENDEE;" + ";".join(f"A{n}=b" for n in range(9_000)) + ":mailto:x", uid="nest"),
    "a zone that never ends": "BEGIN:VTIMEZONE\r\nTZID:Bomb\r\n" + "X:y\r\n" * 100_000 + "END:VTIMEZONE\r\n",
    "a zone by the second": "BEGIN:VTIMEZONE\r\nTZID:Bomb2\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nRRULE:FREQ=SECONDLY"
    "\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    + event("DTSTART;TZID=Bomb2:20240506T090000", uid="nest"),
    "an end of time": event("DTSTART:20240506T090000Z", "DURATION:P999999999D", "RRULE:FREQ=DAILY", uid="nest"),
}  # fmt: skip


@pytest.mark.cases(3)
@pytest.mark.parametrize("bomb", NESTED.values(), ids=NESTED)
async def test_entry_after_a_hostile_one_is_read(bomb: str) -> None:
    assert "fine" in ids((await read_bytes(calendar(bomb, FINE))).meetings)


async def test_a_truncated_file_is_read_as_far_as_it_goes_and_is_not_complete() -> None:
    whole = calendar(FINE, event(*MAY_6, uid="cut"))
    fetched = await read_bytes(whole[: whole.index(b"UID:cut") + 20])
    assert ids(fetched.meetings) == ["fine"]
    assert messages_of(fetched) == ["the calendar ends or starts again in the middle of it"]
    assert not fetched.complete


@pytest.mark.parametrize(
    "data", [b"", b"   \r\n", b"<html>Sign in</html>", bytes(range(256)) * 100, b"\xff\xfeB\x00E\x00"]
)
async def test_a_file_that_is_not_a_calendar_is_reported(data: bytes) -> None:
    fetched = await read_bytes(data)
    assert (fetched.meetings, fetched.complete, len(fetched.problems)) == ((), False, 1)


async def test_an_empty_calendar_is_complete() -> None:
    assert await read_bytes(calendar()) == Fetched(())


async def test_problems_are_counted_and_not_all_listed() -> None:
    fetched = await read_bytes(calendar(*(event("SUMMARY:no start", uid=str(each)) for each in range(500))))
    assert len(fetched.problems) == MAX_PROBLEMS + 1
    assert messages_of(fetched)[-1] == "and 400 more problems"
    assert not any("no start" in message for message in messages_of(fetched))


async def test_texts_are_cut_and_hold_nothing_that_cannot_be_kept() -> None:
    people = [f"ATTENDEE;CN=P{each}:mailto:p{each}@example.invalid" for each in range(600)]
    odd = event(*MAY_6, "SUMMARY:a\0b" + "x" * 5_000, "DESCRIPTION:" + "y" * 50_000, *people, uid="odd")
    (meeting,) = (await read_bytes(calendar(odd))).meetings
    assert (len(meeting.title), len(meeting.description), len(meeting.attendees)) == (1_999, 8_000, MAX_ATTENDEES)
    assert "\0" not in meeting.title


async def test_broken_utf8_is_replaced() -> None:
    data = calendar(FINE).replace(b"Fine", b"F\xff\xedne")
    assert [meeting.title for meeting in (await read_bytes(data)).meetings] == ["F��ne"]


@pytest.mark.slow
async def test_a_child_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A child process that does not answer is killed at its deadline, and leaves nothing running."""
    monkeypatch.setattr(ics, "CHILD_MODULE", "tests.unit.calendar_sleeper")
    monkeypatch.setattr(ics, "PATIENCE", 0.4)
    pid_file = tmp_path / "pid"
    monkeypatch.setenv("LANG", str(pid_file))
    fetched = await read_bytes(calendar(FINE))
    assert messages_of(fetched) == ["it takes too long to read"]
    if pid_file.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid_file.read_text()), 0)


async def test_cancelling_ends_the_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ics, "CHILD_MODULE", "tests.unit.calendar_sleeper")
    pid_file = tmp_path / "pid"
    monkeypatch.setenv("LANG", str(pid_file))
    reading = asyncio.create_task(read_bytes(calendar(FINE)))
    while not (pid_file.exists() and pid_file.read_text()):
        await asyncio.sleep(0.02)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


async def test_crashed_ics_reader_process_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ics, "CHILD_MODULE", "tests.unit.no_such_module")
    assert messages_of(await read_bytes(calendar(FINE))) == ["reading it exceeded the time or memory limit"]


def test_calendar_reader_process_cannot_write_files(tmp_path: Path) -> None:
    """Its rights are limited before it reads a byte: opening a file for writing fails."""
    code = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from donna_tui.calendar.child import confine; confine(1.0)\n"
        f"open({str(tmp_path / 'x')!r}, 'wb', 0).write(b'y')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert ran.returncode not in (0, -signal.SIGKILL)
    assert (tmp_path / "x").read_bytes() == b""
