"""Meetings that have ended are reported once each: after sleep, without a network, and despite failures."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from donna_tui.calendar.following import FRESH_SECONDS, Following, window_around
from donna_tui.calendar.mirror import IMPORTED, calendar_rows, meeting_of, store, watermark
from donna_tui.calendar.poller import CATCH_UP_SECONDS, MeetingEndPoller
from donna_tui.calendar.sources import IcsFiles
from donna_tui.calendar.values import EntryProblem, Fetched, Window
from donna_tui.config.calendars import CalendarConfig, CalendarKind
from donna_tui.config.models import MeetingNoteConfig
from donna_tui.memory.db_thread import DbThread
from donna_tui.types.draft_events import (
    CalendarFetched,
    MeetingEndDetected,
    MeetingEndDispatchFailed,
    MeetingEndPollerCancelled,
    MeetingEndPollerCycleFailed,
    MeetingEndPollerStarted,
)
from donna_tui.types.drafts import Attendee, Meeting
from donna_tui.types.errors import CalendarError, DonnaError, Reason
from donna_tui.types.events import EngineEvent, EventHub
from tests.unit.calendar_parts import BERLIN, calendar, event, meeting, utc

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
NINE = utc(2024, 5, 20, 9)


@dataclass(slots=True)
class Calendar:
    """A source whose meetings a test decides; `fails` is raised instead."""

    name: str = "Work"
    kind: CalendarKind = "ics"
    meetings: list[Meeting] = field(default_factory=list)
    fails: Exception | None = None
    state: Hashable | None = None
    fetches: int = 0
    incomplete: bool = False

    async def fetch(self, window: Window) -> Fetched:
        self.fetches += 1
        if self.fails:
            raise self.fails
        if self.incomplete:
            return Fetched((), (EntryProblem("it is empty"),), complete=False)
        inside = [each for each in self.meetings if each.start < window.end and each.end > window.start]
        return Fetched(tuple(inside))

    async def version(self) -> Hashable | None:
        return self.state


class PollerHarness:
    """A poller with a clock that a test moves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NINE.timestamp()
        self.calendar = Calendar()
        self.sources: list[Any] = [self.calendar]
        self.handed: list[str] = []
        self.fails: dict[str, BaseException] = {}
        self.events: list[EngineEvent] = []
        self.hub = EventHub()
        self.hub.subscribe(self.events.append)
        self.thread = DbThread(folder, self.hub, lambda: None)
        self.config = MeetingNoteConfig(brief_minutes=0)
        self.poller = self.new_poller()

    def new_poller(self) -> MeetingEndPoller:
        """Return a poller as after a restart."""
        self.following = Following(self.thread, self.sources, self.hub, lambda: self.now)
        self.poller = MeetingEndPoller(
            self.thread, self.following, self.dispatch, self.hub, self.config, lambda: self.now, self.refreshed
        )
        return self.poller

    async def refreshed(self) -> None:
        """Do nothing after the calendars were read."""

    async def dispatch(self, ended: Meeting) -> None:
        self.handed.append(ended.event_id)
        if ended.event_id in self.fails:
            raise self.fails[ended.event_id]

    def add(self, name: str, ends_after: float, **others: Any) -> None:
        """Add a meeting without a duration, so many seconds after nine."""
        self.add_long(name, ends_after, 0, **others)

    def add_long(self, name: str, begins_after: float, minutes: int, **others: Any) -> None:
        """Add a meeting that begins so many seconds after nine."""
        start = NINE + datetime.timedelta(seconds=begins_after)
        self.calendar.meetings.append(meeting(name, start, minutes, **others))

    async def poll(self, at: float | None = None) -> list[str]:
        """Poll so many seconds after nine, and return what is reported."""
        self.now = self.now if at is None else NINE.timestamp() + at
        before = len(self.handed)
        await self.poller.poll()
        return self.handed[before:]

    async def mark(self) -> float | None:
        """Return the watermark, in seconds after nine."""
        found = await self.thread.run(lambda db: watermark(db.database, "Work"))
        return None if found is None else found - NINE.timestamp()

    def events_of(self, kind: type) -> list[Any]:
        return [each for each in self.events if isinstance(each, kind)]


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[PollerHarness]:
    made = PollerHarness(tmp_path)
    yield made
    await made.thread.close()


async def test_each_meeting_is_dispatched_once_when_it_has_ended(harness: PollerHarness) -> None:
    harness.add("first", 10 * MINUTE)
    harness.add("second", 20 * MINUTE)
    assert await harness.poll(0) == []
    assert await harness.poll(10 * MINUTE - 1) == []
    assert await harness.poll(10 * MINUTE) == ["first"]
    assert await harness.poll(11 * MINUTE) == []
    assert await harness.poll(30 * MINUTE) == ["second"]
    ended = [(each.event_id, each.is_over) for each in harness.events_of(MeetingEndDetected)]
    assert ended == [("first", True), ("second", True)]
    harness.new_poller()
    assert await harness.poll(31 * MINUTE) == []


async def test_a_meeting_is_dispatched_some_minutes_before_it_begins(harness: PollerHarness) -> None:
    harness.config = MeetingNoteConfig(brief_minutes=10)
    harness.new_poller()
    harness.add_long("weekly", HOUR, 30)
    assert await harness.poll(50 * MINUTE - 1) == []
    assert await harness.poll(50 * MINUTE) == ["weekly"]
    assert await harness.poll(95 * MINUTE) == []
    assert [each.is_over for each in harness.events_of(MeetingEndDetected)] == [False]


async def test_a_meeting_that_is_called_at_short_notice_is_dispatched_at_once(harness: PollerHarness) -> None:
    harness.config = MeetingNoteConfig(brief_minutes=10)
    harness.new_poller()
    await harness.poll(0)
    harness.add_long("now", 7 * MINUTE, 30)
    assert await harness.poll(6 * MINUTE) == ["now"]
    harness.add_long("begun", 6 * MINUTE, 30)
    assert await harness.poll(12 * MINUTE) == ["begun"]


async def test_after_a_restart_meetings_that_go_on_are_dispatched_again(harness: PollerHarness) -> None:
    """Their receiver finds the existing draft."""
    harness.add_long("weekly", 0, 60)
    assert await harness.poll(0) == ["weekly"]
    harness.new_poller()
    assert await harness.poll(10 * MINUTE) == ["weekly"]
    assert await harness.mark() == 10 * MINUTE


async def test_first_poll_uses_the_configured_lookback(harness: PollerHarness) -> None:
    harness.add("just over", -4 * MINUTE)
    harness.add("long over", -6 * MINUTE)
    assert await harness.poll(0) == ["just over"]
    assert await harness.mark() == 0


async def test_days_and_cancelled_meetings_are_not_dispatched(harness: PollerHarness) -> None:
    harness.add("day", MINUTE, all_day=True)
    harness.add("off", MINUTE, cancelled=True)
    harness.add("real", MINUTE)
    await harness.poll(0)
    assert await harness.poll(2 * MINUTE) == ["real"]


async def test_a_machine_that_slept_catches_up_but_no_more_than_a_day(harness: PollerHarness) -> None:
    await harness.poll(0)
    for hours in (1, 2, 30):
        harness.add(f"after {hours}", hours * HOUR)
    assert await harness.poll(30.5 * HOUR) == ["after 30"]
    harness.add("during", 40 * HOUR)
    harness.add("later", 50 * HOUR)
    assert await harness.poll(52 * HOUR) == ["during", "later"]
    assert CATCH_UP_SECONDS == DAY


async def test_a_failure_is_reported_and_the_other_meetings_are_dispatched(harness: PollerHarness) -> None:
    for name in ("a", "b", "c"):
        harness.add(name, MINUTE)
    await harness.poll(0)
    harness.fails = {"b": DonnaError(Reason.DISK_FULL, "full")}
    assert await harness.poll(2 * MINUTE) == ["a", "b", "c"]
    (failed,) = harness.events_of(MeetingEndDispatchFailed)
    assert (failed.event_id, failed.reason, failed.calendar) == ("b", "disk_full", "Work")


async def test_a_meeting_that_could_not_be_dispatched_is_retried_after_growing_pauses(harness: PollerHarness) -> None:
    harness.add("a", MINUTE)
    harness.add("b", 2 * MINUTE)
    await harness.poll(0)
    harness.fails = {"a": ValueError("whatever")}
    tries = [minute for minute in range(1, 20) if "a" in await harness.poll(minute * MINUTE)]
    assert tries == [1, 2, 4, 8, 16]
    assert harness.handed.count("b") == 1
    mark = await harness.mark()
    assert mark is not None
    assert mark < MINUTE
    harness.fails = {}
    assert await harness.poll(40 * MINUTE) == ["a"]
    assert await harness.mark() == 40 * MINUTE


async def test_a_failed_meeting_is_tried_again_after_a_restart(harness: PollerHarness) -> None:
    harness.add("a", MINUTE)
    await harness.poll(0)
    harness.fails = {"a": ValueError("whatever")}
    await harness.poll(2 * MINUTE)
    harness.fails = {}
    harness.new_poller()
    assert await harness.poll(2 * MINUTE + 1) == ["a"]


async def test_cancelled_poll_does_not_advance_the_watermark(harness: PollerHarness) -> None:
    harness.add("a", MINUTE)
    await harness.poll(0)
    harness.fails = {"a": asyncio.CancelledError()}
    with pytest.raises(asyncio.CancelledError):
        await harness.poll(2 * MINUTE)
    assert await harness.mark() == 0
    harness.fails = {}
    harness.new_poller()
    assert await harness.poll(3 * MINUTE) == ["a"]


async def test_meeting_that_appears_after_its_end_is_dispatched(harness: PollerHarness) -> None:
    """Without a network a request gets no answer, so the watermark waits for the next one."""
    harness.add("known", 20 * MINUTE)
    await harness.poll(0)
    harness.calendar.fails = CalendarError(Reason.CALENDAR_FAILED, "no network")
    harness.add("ad hoc", 30 * MINUTE)
    assert await harness.poll(40 * MINUTE) == ["known"]
    assert await harness.poll(60 * MINUTE) == []
    assert await harness.mark() == 0
    harness.calendar.fails = None
    assert await harness.poll(70 * MINUTE) == ["ad hoc"]
    assert await harness.mark() == 70 * MINUTE


@pytest.mark.parametrize("ahead", [400 * DAY, 600 * MINUTE])
async def test_a_clock_that_was_wrong_does_not_stop_it(harness: PollerHarness, ahead: float) -> None:
    await harness.poll(ahead)
    harness.add("a", -MINUTE)
    harness.add("b", 100 * MINUTE)
    assert await harness.poll(0) == ["a"]
    assert await harness.poll(100 * MINUTE) == ["b"]


async def test_a_meeting_that_moves_before_it_ends_is_dispatched_at_its_new_end(harness: PollerHarness) -> None:
    harness.add("a", 10 * MINUTE)
    await harness.poll(0)
    harness.calendar.meetings.clear()
    harness.add("a", 30 * MINUTE)
    assert await harness.poll(6 * MINUTE) == []
    assert await harness.poll(12 * MINUTE) == []
    assert await harness.poll(31 * MINUTE) == ["a"]


async def test_a_meeting_that_changes_or_is_in_a_second_calendar_is_dispatched_again(harness: PollerHarness) -> None:
    """Dispatch again what may be drafted only now, such as a meeting that had no guests."""
    harness.add_long("a", 0, 60)
    assert await harness.poll(0) == ["a"]
    assert await harness.poll(MINUTE) == []
    harness.calendar.meetings.clear()
    harness.add_long("a", 0, 60, attendees=(Attendee("Ana", "ana@x.example"),))
    assert await harness.poll(FRESH_SECONDS) == ["a"]
    harness.sources.append(Calendar("Team", meetings=harness.calendar.meetings))
    assert await harness.poll(FRESH_SECONDS + 1) == ["a"]
    assert await harness.poll(FRESH_SECONDS + 2) == []


async def test_a_meeting_that_was_cancelled_for_a_while_is_dispatched_again(harness: PollerHarness) -> None:
    harness.add_long("a", 0, 60)
    assert await harness.poll(0) == ["a"]
    planned = harness.calendar.meetings.pop()
    harness.add_long("a", 0, 60, cancelled=True)
    assert await harness.poll(FRESH_SECONDS) == []
    harness.calendar.meetings[:] = [planned]
    assert await harness.poll(2 * FRESH_SECONDS) == ["a"]
    assert await harness.poll(3 * FRESH_SECONDS) == []


async def test_calendars_are_fetched_now_and_then_or_when_their_files_change_or_when_asked(
    harness: PollerHarness,
) -> None:
    for at, expected in ((0, 1), (60, 1), (FRESH_SECONDS - 1, 1), (FRESH_SECONDS, 2)):
        await harness.poll(at)
        assert harness.calendar.fetches == expected
    harness.calendar.state = "changed"
    await harness.poll()
    await harness.poll()
    assert harness.calendar.fetches == 3
    await harness.following.refresh(everything=True)
    assert harness.calendar.fetches == 4


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (CalendarError(Reason.CALENDAR_FAILED, "dav.example is away", hint="wait"), "dav.example is away; wait"),
        (RuntimeError("secret words"), "reading it failed (RuntimeError)"),
    ],
)
async def test_a_calendar_that_cannot_be_read_hides_no_other(
    harness: PollerHarness, error: Exception, problem: str
) -> None:
    harness.sources.insert(0, Calendar("Broken", fails=error))
    harness.new_poller()
    harness.add("a", MINUTE)
    await harness.poll(0)
    assert await harness.poll(2 * MINUTE) == ["a"]
    rows = await harness.thread.run(lambda db: calendar_rows(db.database))
    assert {row.name: row.problem for row in rows} == {"Broken": problem, "Work": ""}
    reasons = {each.calendar: each.reason for each in harness.events_of(CalendarFetched)}
    assert reasons == {"Broken": "calendar_failed", "Work": ""}


async def test_a_calendar_that_returns_nothing_changes_nothing(harness: PollerHarness) -> None:
    harness.add("a", 30 * MINUTE)
    await harness.poll(0)
    harness.calendar.incomplete = True
    await harness.poll(10 * MINUTE)
    (row,) = await harness.thread.run(lambda db: calendar_rows(db.database))
    assert (row.problem, row.meetings, row.fetched_at) == ("it is empty", 1, NINE.timestamp())
    assert await harness.poll(31 * MINUTE) == ["a"]


async def test_imported_meetings_are_dispatched_too(harness: PollerHarness) -> None:
    coming = meeting("imported", NINE, 10, calendar="file.ics")
    window = window_around(harness.now)
    await harness.thread.run(lambda db: store(db, "file.ics", IMPORTED, window, Fetched((coming,)), harness.now))
    assert await harness.poll(0) == ["imported"]
    assert await harness.poll(11 * MINUTE) == []
    harness.new_poller()
    assert await harness.poll(12 * MINUTE) == []


async def test_when_notes_are_not_wanted_calendars_are_read_and_nothing_is_dispatched(harness: PollerHarness) -> None:
    harness.config = MeetingNoteConfig(enabled=False, brief_minutes=0)
    harness.new_poller()
    harness.add("a", MINUTE)
    await harness.poll(0)
    assert await harness.poll(6 * MINUTE) == []
    assert harness.calendar.fetches == 2
    assert await harness.mark() == 6 * MINUTE
    assert harness.events_of(MeetingEndDetected) == []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_poller_runs_until_cancelled_and_polls_on_request(harness: PollerHarness) -> None:
    harness.add("a", MINUTE)
    harness.add("b", HOUR)
    running = asyncio.create_task(harness.poller.run())
    await until(lambda: harness.calendar.fetches == 1)
    harness.now += 2 * MINUTE
    harness.following.changed.set()
    await until(lambda: harness.handed == ["a"])
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    names = [type(each) for each in harness.events if not isinstance(each, CalendarFetched)]
    assert names == [MeetingEndPollerStarted, MeetingEndDetected, MeetingEndPollerCancelled]


async def test_a_failed_poll_is_reported_and_the_next_one_follows(
    harness: PollerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = harness.thread.run

    async def broken(work: Callable[..., Any]) -> Any:
        raise DonnaError(Reason.DATABASE_LOCKED, "locked")

    monkeypatch.setattr(harness.thread, "run", broken)
    running = asyncio.create_task(harness.poller.run())
    await until(lambda: len(harness.events_of(MeetingEndPollerCycleFailed)) >= 2)
    monkeypatch.setattr(harness.thread, "run", fine)
    harness.add("a", -MINUTE)
    harness.following.changed.set()
    harness.calendar.state = "look again"
    await until(lambda: harness.handed == ["a"])
    running.cancel()
    assert {each.reason for each in harness.events_of(MeetingEndPollerCycleFailed)} == {"database_locked"}


async def test_what_is_followed_no_longer_is_dropped_when_it_starts(harness: PollerHarness) -> None:
    harness.add("a", HOUR)
    harness.calendar.meetings[0] = meeting("a", utc(2024, 5, 20, 10))
    await harness.poll(0)
    harness.sources = []
    running = asyncio.create_task(harness.new_poller().run())
    await until(lambda: bool(harness.events_of(MeetingEndPollerStarted)))
    harness.following.changed.set()
    async with asyncio.timeout(30):
        while await harness.thread.run(lambda db: calendar_rows(db.database)):
            await asyncio.sleep(0.01)
    running.cancel()
    assert await harness.thread.run(lambda db: meeting_of(db.database, "a")) is None


async def test_a_file_that_changes_is_seen_at_the_next_look(harness: PollerHarness, tmp_path: Path) -> None:
    file = tmp_path / "work.ics"
    file.write_bytes(calendar(event("DTSTART:20240520T090500Z", "DTEND:20240520T093000Z", uid="a")))
    harness.sources = [IcsFiles(CalendarConfig(name="Work", kind="ics", path=file), BERLIN)]
    harness.new_poller()
    assert await harness.poll(0) == []
    file.write_bytes(calendar(event("DTSTART:20240520T090100Z", "DTEND:20240520T093000Z", uid="sooner")))
    assert await harness.poll(2 * MINUTE) == ["sooner"]
    assert (await harness.thread.run(lambda db: meeting_of(db.database, "a"))).cancelled  # type: ignore[union-attr]
