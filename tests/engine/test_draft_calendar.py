"""Drafts follow their meetings when these are moved, renamed or cancelled, and preserve what the user typed."""

from __future__ import annotations

import base64
import datetime
import json
import stat
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from donna_tui.calendar.adding import add_calendar
from donna_tui.calendar.following import window_around
from donna_tui.calendar.sources import sources_for
from donna_tui.config.load import load_trusted, user_file
from donna_tui.drafts.approval import start_in
from donna_tui.tui.meetings.list import state_word
from donna_tui.types.drafts import DraftState, Meeting, MeetingState
from donna_tui.types.errors import DonnaError, Reason
from tests.engine.draft_engines import LAST_TIME, NOTE, DraftEngine, draft_engine, meeting
from tests.unit.calendar_parts import calendar, event
from tests.unit.calendar_server import ReceivedRequest, Reply, serving

pytestmark = pytest.mark.usefixtures("alone")

LATER = datetime.timedelta(days=1, hours=2)
TYPED = "- typed by hand"


def moved(by: datetime.timedelta, found: Meeting, **details: object) -> Meeting:
    start = found.start + by
    return replace(found, start=start, end=found.end + by, day=start.date(), **details)  # type: ignore[arg-type]


def type_into(here: DraftEngine, path: str = NOTE) -> None:
    here.sandbox.write(path, here.text(path).replace("## Notes\n", f"## Notes\n\n{TYPED}\n", 1))


async def follow(here: DraftEngine, *meetings: Meeting) -> None:
    await here.hold(*meetings)
    await here.engine.drafts.follow_calendar()


@pytest.mark.slow
async def test_moving_a_meeting_moves_its_draft(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        type_into(here)
        await follow(here, moved(LATER, meeting()))
        path = "Meetings/2024-01-18-gateway-team.md"
        assert NOTE not in here.notes()
        assert TYPED in here.text(path)
        assert "Thursday, 18 January 2024" in here.text(path)
        assert "Wednesday, 17 January 2024" not in here.text(path)
        assert here.front(path)["date"] == "2024-01-18"
        assert here.front(path)["event_start"].startswith("2024-01-18T12:00")
        again = await here.row(row.id)
        assert (again.state, again.path, again.target) == (DraftState.WAITING, path, path)
        head = here.head()
        await here.engine.drafts.follow_calendar()
        assert here.head() == head
        await here.approve(again)
        assert "donna_draft" not in here.front(path)
        await here.undo()
        await here.undo()
        assert TYPED in here.text(NOTE)


@pytest.mark.parametrize("again", ["write_now", "regenerate"])
async def test_writing_the_draft_again_follows_its_meeting_first(tmp_path: Path, again: str) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        await here.hold(moved(LATER, meeting()))
        drafts = here.engine.drafts
        now = await (drafts.write_now("gateway-2") if again == "write_now" else drafts.regenerate(row.id))
        assert (now.id, now.path) == (row.id, "Meetings/2024-01-18-gateway-team.md")
        assert "Thursday, 18 January 2024" in here.text(now.path)
        assert NOTE not in here.notes()


async def test_another_time_zone_of_the_machine_moves_no_meeting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = iter(map(ZoneInfo, ("Asia/Tokyo", "America/New_York")))
    monkeypatch.setattr("donna_tui.engine.calendar_service.local_zone", lambda: next(zones))
    held = moved(datetime.timedelta(hours=12, seconds=30), meeting(series_id="weekly"))
    async with draft_engine(tmp_path) as here:
        row = await here.write(held)
        before = here.text(row.path)
    async with draft_engine(tmp_path, repository=False) as here:
        head = here.head()
        await follow(here, held)
        assert (here.head(), here.text(row.path)) == (head, before)
        await here.indexed()
        assert await here.engine.drafts.has_note(replace(held, event_id="new-uid"))


@pytest.mark.slow
async def test_a_meeting_that_is_renamed_renames_its_draft(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting())
        await follow(here, meeting("Gateway planning"))
        (path,) = (name for name in here.notes() if name.startswith("Meetings/2024-01-17"))
        assert path == "Meetings/2024-01-17-gateway-planning.md"
        assert "\n# Gateway planning\n" in here.text(path)
        assert (await here.engine.drafts.drafts())[0].title == "Gateway planning"


@pytest.mark.slow
async def test_a_cancelled_meeting_withdraws_its_draft_and_brings_it_back_when_it_takes_place(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, clock=lambda: meeting().start.timestamp() - 600) as here:
        await here.write(meeting())
        await follow(here, meeting(cancelled=True))
        assert NOTE not in here.notes()
        assert await here.engine.drafts.drafts() == ()
        await here.hold(meeting())
        assert (await here.engine.drafts.write_now("gateway-2")).state is DraftState.WAITING
        assert NOTE in here.notes()


async def test_what_was_typed_into_the_draft_of_a_cancelled_meeting_stays(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, clock=lambda: meeting().start.timestamp() - 600) as here:
        row = await here.write(meeting())
        type_into(here)
        await follow(here, meeting(cancelled=True))
        assert TYPED in here.text(NOTE)
        kept = await here.row(row.id)
        assert (kept.state, kept.detail) == (DraftState.WAITING, "The meeting was cancelled; your edits are kept.")
        assert kept.meeting_cancelled
        (shown,) = await here.engine.calendar.meetings(meeting().start.timestamp(), meeting().end.timestamp())
        assert (shown.state, state_word(shown)) == (MeetingState.DRAFTED, "cancelled")
        await follow(here, meeting())
        assert (await here.row(row.id)).detail == ""


async def test_a_draft_that_failed_is_dropped_when_its_meeting_is_cancelled(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, repository=False, clock=lambda: meeting().start.timestamp() - 600) as here:
        await here.hold(meeting())
        assert (await here.engine.drafts.write_now("gateway-2")).state is DraftState.FAILED
        await follow(here, meeting(cancelled=True))
        assert await here.engine.drafts.drafts() == ()


async def test_draft_start_time_follows_a_moved_meeting(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        assert (await here.row(row.id)).meeting_at == meeting().start.timestamp()
        await here.hold(moved(LATER, meeting()))
        assert (await here.row(row.id)).meeting_at == moved(LATER, meeting()).start.timestamp()
        draft = await here.engine.drafts.draft(row.id)
        assert start_in(draft.text) == meeting().start.timestamp()


async def test_numbered_draft_keeps_its_path_when_the_meeting_moves(tmp_path: Path) -> None:
    other = "Inbox/2024-01-17-gateway-team.md"
    async with draft_engine(tmp_path, notes={other: "# Mine\n"}, meeting_note={"autonomy_level": "low"}) as here:
        row = await here.write(meeting())
        assert row.path == "Inbox/2024-01-17-gateway-team-2.md"
        await follow(here, moved(datetime.timedelta(hours=2), meeting()))
        assert here.front(row.path)["event_start"].startswith("2024-01-17T12:00")
        assert (await here.row(row.id)).path == row.path
        assert here.text(other) == "# Mine\n"


async def test_a_meeting_that_is_over_keeps_its_draft(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting())
        await follow(here, meeting(cancelled=True))
        assert NOTE in here.notes()


async def test_a_meeting_that_has_a_note_gets_no_second_one(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        own = LAST_TIME.replace("type: meeting", "type: meeting\ncalendar_event_id: gateway-2")
        here.sandbox.write("Notes of mine.md", own)
        await here.indexed()
        assert await here.engine.drafts.has_note(meeting())
        assert not await here.engine.drafts.has_note(meeting(event="gateway-3"))


async def test_a_note_that_the_user_wrote_of_a_meeting_is_its_note(tmp_path: Path) -> None:
    own, numbered = NOTE, "Meetings/2024-01-17-gateway-team-2.md"
    notes = {own: "# Gateway team\n\nMine.\n", "Notes/Gateway team 2024-01-10.md": "# Gateway team\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        start = meeting().start.timestamp()
        await here.hold(meeting())
        assert await here.engine.drafts.has_note(meeting())
        assert not await here.engine.drafts.has_note(meeting("Budget", event="budget"))
        (row,) = await here.engine.calendar.meetings(start - 1, start + 1)
        assert (row.state, row.path) == (MeetingState.WRITTEN, own)
        drafted = await here.write(meeting())
        (listed,) = await here.engine.drafts.drafts()
        assert (drafted.path, listed.target) == (numbered, numbered)
        await here.approve(listed)
        await here.indexed()
        await here.engine.drafts.write_new("weekly_review", meeting().day)
        (review,) = await here.engine.drafts.drafts()
        met = here.text(review.path).partition("## Met")[2].partition("##")[0].split("\n- ")[1:]
        assert [line.partition("|")[0] for line in met] == [f"2024-01-17: [[{numbered.removesuffix('.md')}"]


async def test_recreated_series_gets_no_second_draft_for_the_same_time(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting(series_id="weekly"))
        await here.indexed()
        assert await here.engine.drafts.has_note(meeting(event="new-uid", series_id="weekly"))
        assert not await here.engine.drafts.has_note(moved(LATER, meeting(event="new-uid", series_id="weekly")))
        (row,) = await here.engine.calendar.meetings(meeting().start.timestamp() - 1, meeting().end.timestamp())
        assert row.state is MeetingState.DRAFTED


@pytest.mark.slow
async def test_a_calendar_that_is_added_is_followed_at_once_and_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "home"))
    start = meeting().start
    file = tmp_path / "team.ics"
    file.write_bytes(calendar(event(f"DTSTART:{start:%Y%m%dT%H%M%SZ}", "DURATION:PT1H", "SUMMARY:Plan", uid="plan")))
    (tmp_path / "page.ics").write_text("<html>")
    async with draft_engine(tmp_path, clock=start.timestamp) as here:
        calendars = here.engine.calendar
        missing = f"{tmp_path / 'nowhere.ics'} cannot be read (No such file or directory)"
        unusable = f"{tmp_path / 'page.ics'}: "
        for place, reason, why in (("nowhere.ics", "usage", missing), ("page.ics", "calendar_failed", unusable)):
            with pytest.raises(DonnaError) as refused:
                await calendars.add_calendar(str(tmp_path / place))
            assert refused.value.reason == reason
            assert refused.value.message.startswith(why)
        with pytest.raises(DonnaError, match="https") as refused:
            await calendars.add_calendar("http://example.org/team.ics")
        assert not user_file().exists()
        row = await calendars.add_calendar(str(file), "Team")
        assert (row.name, row.meetings, row.problem) == ("Team", 1, "")
        (found,) = await calendars.meetings(start.timestamp(), start.timestamp() + 60)
        assert (found.meeting.title, found.unwanted) == ("Plan", "No one else is invited.")
        with pytest.raises(DonnaError, match="named Team already") as refused:
            await calendars.add_calendar(str(file), "Team")
        assert refused.value.reason is Reason.CONFLICT
        other = tmp_path / "home.ics"
        other.write_bytes(file.read_bytes().replace(b"plan", b"film").replace(b"Plan", b"Film"))
        state, now = here.engine.space.state, start.timestamp()
        await add_calendar(str(other), calendars.zone, state, now, file=user_file(), names=["Team"], name="Home")
        user_file().with_suffix(".kept").write_bytes(user_file().read_bytes())
        user_file().write_text("calendars: [")  # it is being edited
        await calendars.refresh()
        assert len(await calendars.meetings(now, now + 60)) == 1
        user_file().with_suffix(".kept").replace(user_file())
        await calendars.refresh()
        assert sorted(row.meeting.title for row in await calendars.meetings(now, now + 60)) == ["Film", "Plan"]
    assert [each.name for each in load_trusted().config.calendars] == ["Team", "Home"]


async def test_a_calendar_that_the_settings_no_longer_have_or_have_changed_is_followed_as_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "home"))
    start = meeting().start
    now = start.timestamp() - 60
    for name in ("one", "two", "new"):
        entry = event(f"DTSTART:{start:%Y%m%dT%H%M%SZ}", "DURATION:PT1H", f"SUMMARY:{name}", uid=name)
        (tmp_path / f"{name}.ics").write_bytes(calendar(entry))

    def settings(**files: str) -> None:
        followed = [{"name": name, "kind": "ics", "path": str(tmp_path / file)} for name, file in files.items()]
        user_file().write_text(json.dumps({"calendars": followed}))

    async with draft_engine(tmp_path, clock=lambda: now) as here:
        calendars = here.engine.calendar

        async def listed() -> list[str]:
            """Check the calendars as the poller does, and return the meetings that take place."""
            await calendars.follow_settings()
            found = [row.meeting for row in await calendars.meetings(now, now + 120)]
            return sorted(each.title for each in found if not each.cancelled)

        user_file().parent.mkdir(parents=True, exist_ok=True)
        settings(One="one.ics", Two="two.ics")
        assert await listed() == ["one", "two"]
        settings(One="one.ics", Two="new.ics")
        assert await listed() == ["new", "one"]
        settings(Two="new.ics")
        assert await listed() == ["new"]
        assert [row.name for row in await calendars.calendars()] == ["Two"]


@pytest.mark.slow
async def test_the_password_of_a_calendar_is_kept_in_a_private_file_and_not_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "home"))
    start = meeting().start
    entry = event(f"DTSTART:{start:%Y%m%dT%H%M%SZ}", "DURATION:PT1H", "SUMMARY:Plan", uid="plan")
    proof = f"Basic {base64.b64encode(b'ann:hunter2 #x').decode()}"

    def answers(asked: ReceivedRequest) -> Reply:
        return Reply(body=calendar(entry)) if asked.headers.get("Authorization") == proof else Reply(401)

    with serving(answers) as site:
        async with draft_engine(tmp_path, clock=start.timestamp) as here:
            calendars = here.engine.calendar
            with pytest.raises(DonnaError) as refused:
                await calendars.add_calendar(f"{site.url}/team.ics", "The Team", username="ann", password="wrong")
            assert refused.value.reason is Reason.LOGIN_REFUSED
            settings = user_file().parent
            assert [file.name for file in settings.iterdir()] == [] if settings.exists() else True
            row = await calendars.add_calendar(
                f"{site.url}/team.ics", "The Team", username="ann", password="hunter2 #x"
            )
            assert (row.name, row.meetings, row.problem) == ("The Team", 1, "")
        (config,) = load_trusted().config.calendars
        assert (config.username, config.password_file) == ("ann", user_file().parent / "the-team-password")
        assert "hunter2" not in user_file().read_text()
        assert config.password_file
        assert stat.S_IMODE(config.password_file.stat().st_mode) == 0o600
        (source,) = sources_for((config,), ZoneInfo("UTC"), tmp_path)
        assert len((await source.fetch(window_around(start.timestamp()))).meetings) == 1
