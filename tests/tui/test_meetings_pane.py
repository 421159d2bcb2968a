"""The Meetings screen: the agenda with the state of each note, the preview of the draft, and what the keys open."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.meetings.add_calendar import AddCalendar
from donna_tui.tui.meetings.wording import Agenda, calendars_line, day_title
from donna_tui.tui.shell.bars import counted
from donna_tui.types.drafts import CalendarRow, DraftRow, DraftState, MeetingState
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory_events import VaultWritten
from tests.tui import draft_scenarios, scenarios
from tests.tui.draft_scenarios import FAILED, SYNC, backend_in, meeting
from tests.tui.driving import Driver, assert_clean, driving, notices, row_with

SMALL, LARGE = (80, 24), (160, 48)
TODAY = datetime.date(2026, 11, 20)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, utc: None) -> None:
    draft_scenarios.stop_the_clock(monkeypatch)


async def on(donna: Driver, event_id: str) -> None:
    """Put the cursor on a meeting, and wait until its note is requested."""
    rows = donna.meetings.rows
    places = (
        n for n, row in enumerate(rows.items) if getattr(row, "meeting", None) and row.meeting.event_id == event_id
    )
    rows.select(next(places))
    await donna.rest()


async def test_a_preview_that_arrives_late_is_not_shown_for_another_week() -> None:
    backend = backend_in("normal")
    backend.gates.hold("preview", "rv-1")
    async with driving(backend, size=LARGE, at="meetings") as donna:
        await donna.until(lambda: backend.called("preview") == [("rv-1",)], "the preview is being read")
        for _ in range(10):
            await donna.press("]")
        await donna.until(lambda: not chosen(donna), "the week is empty")
        backend.gates.release("preview", "rv-1")
        await donna.rest()
        assert "The hot set stays in the process." not in donna.screen_text()


def chosen(donna: Driver) -> str:
    row = donna.meetings.selected
    return row.meeting.event_id if row is not None else ""


# The agenda


@pytest.mark.slow
async def test_each_meeting_says_when_what_and_how_far_its_note_is() -> None:
    async with driving(backend_in("normal"), size=LARGE, at="meetings") as donna:
        for title, says in (
            ("09:00–09:30  Planning", "✗ rejected"),
            ("09:30–10:00  Gateway sync  ", "written"),
            ("all day      Team day", "· ended"),
            ("12:00–12:30  Roadmap with Noor", "! failed"),
            ("13:30–14:00  Failover drill", "… due"),
            ("14:15–15:00  Design review", "▸ now"),
            ("18:00–18:30  Choir", "○ coming"),
            ("12:00–12:30  Lunch with Tomas", "– cancelled"),
        ):
            assert says in row_with(donna, title), title


async def test_a_week_begins_on_monday_names_its_days_and_says_why_a_note_failed() -> None:
    async with driving(backend_in("normal"), size=LARGE, at="meetings") as donna:
        text = donna.screen_text()
        assert "Week 47, this week · 16 Nov – 22 Nov 2026" in text
        for day in (
            "Mon 16 Nov 2026",
            "Thu 19 Nov 2026, yesterday",
            "Fri 20 Nov 2026, today",
            "Sat 21 Nov 2026, tomorrow",
        ):
            assert day in text
        assert "the model did not answer within 60 s; next try 14:40" in text
        assert "9 people" in row_with(donna, "Team day")
        assert "1 person" in row_with(donna, "Roadmap with Noor")
        assert chosen(donna) == "rv-1"


@pytest.mark.slow
async def test_agenda_cursor_skips_heading_rows() -> None:
    async with driving(backend_in("normal"), at="meetings") as donna:
        await donna.press("home")
        seen = [chosen(donna)]
        for _ in range(12):
            await donna.press("j")
            seen.append(chosen(donna))
        assert list(dict.fromkeys(seen)) == ["w-1", "w-2", "w-3", "gw-1", "rm-1", "dr-1", "rv-1", "ch-1", "x-1"]
        await donna.press("g")
        assert chosen(donna) == "w-1"


@pytest.mark.slow
async def test_weeks_and_days_are_walked_through() -> None:
    backend = backend_in("normal")
    async with driving(backend, size=LARGE, at="meetings") as donna:
        await donna.press("]")
        await donna.until(lambda: "Week 48 · 23 Nov" in donna.screen_text(), "the next week")
        assert chosen(donna) == "n-1"
        await donna.press("right")
        await donna.until(lambda: "No meetings in this week." in donna.screen_text(), "an empty one")
        await donna.press("t")
        await donna.until(lambda: "this week" in donna.screen_text(), "this one")
        await on(donna, "w-2")
        await donna.press("w")
        await donna.until(
            lambda: "Wed 18 Nov 2026" in donna.screen_text() and "Week" not in donna.screen_text(), "a day"
        )
        assert backend.called("meetings")[-1] == (1_794_960_000.0, 1_795_046_400.0)
        await donna.press("left")
        await donna.until(lambda: "No meetings on this day. w shows the week." in donna.screen_text(), "an empty day")
        await donna.press("[", "w")
        await donna.until(lambda: "Week 47" in donna.screen_text(), "its week")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia"])
def test_a_day_is_from_midnight_to_midnight_in_the_local_zone(zone: str, set_zone: Callable[[str], None]) -> None:
    set_zone(zone)
    day = Agenda(datetime.date(2026, 10, 25), is_week=False)
    first, last = (datetime.datetime.fromtimestamp(each).astimezone() for each in day.bounds)
    assert (first.date(), first.hour, last.date(), last.hour) == (day.day, 0, datetime.date(2026, 10, 26), 0)
    hours = (day.bounds[1] - day.bounds[0]) / 3600
    assert hours == (25 if zone == "Europe/Berlin" else 24)


def test_agenda_does_not_step_beyond_the_supported_dates() -> None:
    first, last = Agenda(datetime.date.min, is_week=False), Agenda(datetime.date.max, is_week=False)
    assert first.step(-1) == first
    assert last.step(1) == last


def test_day_title_marks_today() -> None:
    assert day_title(TODAY, TODAY) == "Fri 20 Nov 2026, today"
    assert day_title(datetime.date(2026, 12, 1), TODAY) == "Tue 1 Dec 2026"


# The note


@pytest.mark.slow
async def test_card_previews_the_note_of_the_selected_meeting() -> None:
    backend = backend_in("normal")
    async with driving(backend, size=LARGE, at="meetings") as donna:
        text = donna.screen_text()
        assert "Fri 20 Nov 2026, today, 14:15–15:00 · work" in text
        assert "Priya Raman, Tomas Lindqvist" in text
        assert "▸ now · This is what its brief" in text
        assert "The hot set stays in the process." in text
        assert "would be saved to Meetings/2026-11-20-design-review.md · 1 source" in text
        assert "No note of the last meeting" in text
        assert backend.called("preview") == [("rv-1",)]


@pytest.mark.slow
async def test_a_drafted_or_written_meeting_shows_what_is_there() -> None:
    backend = backend_in("normal")
    backend.vault.files["Meetings/2026-11-18-gateway-sync.md"] = b"# What was said\n"
    async with driving(backend, size=LARGE, at="meetings") as donna:
        await on(donna, "gw-1")
        text = donna.screen_text()
        assert "Its draft is waiting in Review. ↵ opens it." in text
        assert "Room 4" in text
        assert "The drill is repeated by Priya" in text
        assert "draft in Inbox/2026-11-20-gateway-sync.md" in text
        await on(donna, "w-2")
        assert "What was said" in donna.screen_text()
        await on(donna, "x-1")
        assert "It was cancelled: no note is written." in donna.screen_text()
        assert "What was said" not in donna.screen_text()
        assert [args[0] for args in backend.called("preview")] == ["rv-1"]


@pytest.mark.slow
async def test_a_note_that_cannot_be_read_says_why() -> None:
    backend = backend_in("normal")
    backend.fail("preview", DonnaError(Reason.INTERNAL, "the template has a fault in line 3"))
    async with driving(backend, at="meetings") as donna:
        assert "The template has a fault in line 3." in donna.screen_text()


# Actions


@pytest.mark.slow
async def test_enter_goes_to_the_draft_in_review() -> None:
    async with driving(backend_in("normal"), at="meetings") as donna:
        await on(donna, "rm-1")
        await donna.press("enter")
        await donna.until(lambda: donna.review.selected and donna.review.selected.id == FAILED, "it is selected")
        assert donna.main.header.active == "review"
        await donna.press("4")
        await on(donna, "gw-1")
        await donna.press("enter")
        await donna.until(lambda: donna.review.selected and donna.review.selected.id == SYNC, "this one too")


@pytest.mark.slow
async def test_enter_goes_to_the_written_note_in_the_vault() -> None:
    async with driving(backend_in("normal"), at="meetings") as donna:
        await on(donna, "w-2")
        await donna.press("enter")
        note = "Meetings/2026-11-18-gateway-sync.md"
        await donna.until(lambda: donna.vault.detail.note and donna.vault.detail.note.path == note, "it is shown")
        assert donna.main.header.active == "vault"


@pytest.mark.slow
async def test_without_a_note_enter_says_what_to_do() -> None:
    async with driving(backend_in("normal"), at="meetings") as donna:
        await donna.press("enter")
        assert "It has no draft or note yet. n writes the draft now." in notices(donna.app)
        await on(donna, "x-1")
        await donna.press("enter")
        assert "It was cancelled: it has no note." in notices(donna.app)
        await donna.press("n")
        assert "It was cancelled." in notices(donna.app)


@pytest.mark.slow
async def test_the_draft_of_a_meeting_can_be_written_now() -> None:
    backend = backend_in("normal")
    backend.gates.hold("write_now")
    async with driving(backend, at="meetings") as donna:
        await donna.press("n")
        await donna.until(lambda: "Its draft is being written" in donna.screen_text(), "the notice is shown")
        await donna.press("n")
        assert "Its draft is being written." in notices(donna.app)
        backend.gates.release("write_now")
        await donna.until(lambda: "The draft is waiting. ↵ opens it." in notices(donna.app), "it is written")
        assert backend.called("write_now") == [("rv-1",)]
        await donna.until(lambda: "● drafted" in row_with(donna, "14:15–15:00  Design"), "the list shows it")
        await donna.press("enter")
        await donna.until(lambda: donna.review.selected and donna.review.selected.id == "draft-rv-1", "it is there")


@pytest.mark.slow
async def test_failed_draft_of_a_meeting_is_reported_with_its_reason() -> None:
    backend = backend_in("normal")
    backend.fail("write_now", DonnaError(Reason.BUSY, "another Donna is writing", hint="use that one"))
    async with driving(backend, at="meetings") as donna:
        await donna.press("n")
        await donna.until(
            lambda: "Another Donna is writing. Use that one." in notices(donna.app), "the notice is shown"
        )
        assert "being written" not in donna.screen_text()


# Calendars


@pytest.mark.slow
async def test_without_a_calendar_it_says_what_to_do() -> None:
    async with driving(scenarios.empty()) as donna:
        await donna.press("escape", "4")
        await donna.until(lambda: "Donna follows no calendar yet." in donna.screen_text(), "the notice is shown")
        assert "donna meetings import FILE" in donna.screen_text()
        assert re.search(r"\bc +add a calendar", donna.screen_text())
        assert "read calendars" not in donna.screen_text()
        await donna.press("t")
        assert "No calendar is followed yet." in notices(donna.app)


@pytest.mark.slow
async def test_meetings_loading_error_is_shown_and_can_be_retried() -> None:
    backend = backend_in("error")
    async with driving(backend) as donna:
        await donna.press("escape", "4")
        await donna.until(lambda: "The index is in use" in donna.screen_text(), "the reason is shown")
        backend.failures.clear()
        draft_scenarios.break_it(backend.drafts)
        await donna.press("u")
        await donna.until(lambda: "work: The server refused the password." in donna.screen_text(), "it is read")
        assert backend.called("refresh") == [()]
        assert "private, read 20 Nov 14:17" in donna.screen_text()


@pytest.mark.cases(1)
@pytest.mark.parametrize("key", ["u", "f5"])
async def test_calendars_are_read_on_a_key(key: str) -> None:
    backend = backend_in("normal")
    backend.gates.hold("refresh")
    async with driving(backend, at="meetings") as donna:
        assert "work · private, read 20 Nov 14:27" in donna.screen_text()
        await donna.press(key)
        await donna.until(lambda: "Reading the calendars" in donna.screen_text(), "the notice is shown")
        backend.drafts.agenda.append(replace(backend.drafts.agenda[-1], meeting=meeting("new", "Brand new", 20, 16)))
        backend.gates.release("refresh")
        await donna.until(lambda: "Brand new" in donna.screen_text(), "what is new is listed")
        assert "Reading the calendars" not in donna.screen_text()


@pytest.mark.slow
async def test_a_note_that_is_written_meanwhile_is_seen() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="meetings") as donna:
        done = replace(backend.drafts.agenda[6], state=MeetingState.WRITTEN, path="Meetings/x.md")
        backend.drafts.agenda[6] = done
        backend.post(VaultWritten(kind="write", operation="1", commit="2", paths=("Meetings/x.md",), actor="donna"))
        await donna.until(lambda: "written" in row_with(donna, "14:15–15:00  Design"), "the list shows it")
        assert chosen(donna) == "rv-1"


def test_the_calendars_are_named_with_what_is_wrong_with_them() -> None:
    rows = [CalendarRow(name=f"c{n}", kind="ics", fetched_at=None) for n in range(6)]
    assert calendars_line(rows) == ("c0 · c1 · c2 · c3 and 2 more, not read yet", "")
    assert calendars_line([CalendarRow(name="a", kind="ics", problem="no\x1bway")]) == ("", "a: No␛way.")


# Sizes and tabs


@pytest.mark.slow
async def test_a_narrow_screen_shows_one_part_at_a_time() -> None:
    async with driving(backend_in("normal"), size=SMALL, at="meetings") as donna:
        assert not donna.meetings.card.region
        await donna.press("tab")
        await donna.rest()
        assert donna.meetings.card.view.has_focus
        assert "The hot set stays in the process." in donna.screen_text()
        assert not donna.meetings.rows.region
        await donna.press("escape")
        await donna.rest()
        assert donna.meetings.rows.region


@pytest.mark.slow
async def test_tab_names_are_shortened_on_a_narrow_terminal() -> None:
    async with driving(backend_in("normal"), size=(60, 20)) as donna:
        await donna.until(lambda: "3 ②" in donna.screen_text(), "the count is there")
        head = donna.screen_text().splitlines()[0]
        assert "1 Search" in head
        assert "6" in head
        assert "Activity" not in head
        await donna.press("escape", "6")
        await donna.rest()
        assert "6 Activity" in donna.screen_text().splitlines()[0]
    async with driving(backend_in("normal"), size=SMALL) as donna:
        await donna.until(lambda: "3 Review ②" in donna.screen_text(), "all are named")
        assert "6 Activity" in donna.screen_text().splitlines()[0]


def test_counted_formats_counts_as_circled_numbers() -> None:
    assert [counted(number) for number in (0, 1, 20, 21)] == ["", " ①", " ⑳", " (21)"]


# Hostile text


@pytest.mark.slow
@pytest.mark.parametrize(
    "size", [SMALL, *(pytest.param(size, marks=pytest.mark.stress) for size in ((120, 36), LARGE))]
)
async def test_hostile_meetings_are_text_everywhere(size: tuple[int, int]) -> None:
    async with driving(backend_in("hostile"), size=size, at="meetings") as donna:
        await donna.press("home")
        for _ in range(donna.meetings.rows.line_count):
            await donna.press("j")
            assert_clean(donna)
        await donna.press("tab", "G", "g")
        await donna.rest()
        assert_clean(donna)
        assert "DONNA-" in donna.screen_text()


@pytest.mark.slow
async def test_a_series_is_left_without_drafts_by_one_key_and_gets_them_again_by_the_same() -> None:
    backend = backend_in("normal")
    async with driving(backend, size=LARGE, at="meetings") as donna:
        await on(donna, "gw-1")
        await donna.press("N")
        await donna.until(lambda: "No more drafts of" in notices(donna.app), "the notice is shown")
        assert backend.called("want_notes") == [("gw-1", False)]
        await donna.rest()
        await donna.press("N")
        await donna.until(lambda: "are on again." in notices(donna.app), "the notice is shown")
        assert backend.called("want_notes")[-1] == ("gw-1", True)


@pytest.mark.slow
async def test_it_says_why_a_meeting_gets_no_draft() -> None:
    backend = backend_in("normal")
    agenda = backend.drafts.agenda
    agenda[:] = [
        replace(row, unwanted="You declined it.") if row.state is MeetingState.COMING else row for row in agenda
    ]
    coming = next(row.meeting.event_id for row in agenda if row.state is MeetingState.COMING)
    async with driving(backend, size=LARGE, at="meetings") as donna:
        await on(donna, coming)
        await donna.until(
            lambda: "No draft is written automatically: you declined it." in donna.screen_text().replace("\n", " "),
            "the reason is shown",
        )


@pytest.mark.slow
async def test_writing_a_draft_in_a_vault_without_a_repository_asks_whether_to_create_one() -> None:
    backend = backend_in("normal")
    lacking = draft_scenarios.row("d-x", "Choir", state=DraftState.FAILED, path="", reason="no_repository")
    backend.drafts.add(replace(draft_scenarios.sync(), row=lacking))

    async def refused(event_id: str) -> DraftRow:
        return lacking

    backend.drafts.write_now = refused  # type: ignore[method-assign]
    async with driving(backend, at="meetings") as donna:
        await on(donna, "ch-1")
        await donna.window(RefusalScreen, "n")
        assert f"Create a repository in {backend.status().root}?" in donna.screen_text()
        await donna.press("escape")
        await donna.rest()
        assert backend.called("create_repository") == []
        await donna.window(RefusalScreen, "n")
        await donna.press("enter")
        await donna.until(lambda: backend.called("regenerate") == [("d-x",)], "it is written")
        await donna.until(lambda: "The draft is waiting." in notices(donna.app), "the notice is shown")
        assert backend.called("create_repository") == [()]


@pytest.mark.slow
async def test_a_calendar_is_added_and_errors_are_shown_below_the_field() -> None:
    backend = backend_in("empty")
    backend.fail(
        "add_calendar", DonnaError(Reason.CALENDAR_FAILED, "nowhere cannot be read: no such file"), key="x.ics"
    )
    backend.fail("add_calendar", DonnaError(Reason.CONFLICT, "a calendar is called b already"), key="b.ics")
    async with driving(backend, size=SMALL) as donna:
        await donna.press("escape", "4")
        await donna.until(lambda: "add a calendar" in donna.screen_text(), "the hint is shown")
        window = await donna.window(AddCalendar, "c")
        await donna.press("enter")
        assert "Type the path of an .ics file" in donna.screen_text()
        await donna.type("x.ics")
        await donna.press("enter")
        await donna.until(lambda: "Nowhere cannot be read: no such file." in donna.screen_text(), "the reason is shown")
        lines = donna.screen_text().splitlines()
        said = next(n for n, line in enumerate(lines) if "Nowhere" in line)
        assert next(n for n, line in enumerate(lines) if "x.ics" in line) < said
        assert next(n for n, line in enumerate(lines) if "Name (optional)" in line) > said
        await donna.press("ctrl+u")
        await donna.type("b.ics")
        await donna.press("enter")
        await donna.until(lambda: "is called b already" in donna.screen_text(), "the name is taken")
        assert window.field("name").has_focus
        await donna.press("tab", "ctrl+u")
        await donna.type("work.ics")
        await donna.press("tab")
        await donna.type("Work")
        await donna.press("enter")
        await donna.until(lambda: donna.app.screen is donna.main, "it is added")
        await donna.until(lambda: "Following Work: 3 meetings" in notices(donna.app), "the notice is shown")
        assert backend.called("add_calendar")[-1] == ("work.ics", "Work", "", "")


@pytest.mark.slow
async def test_a_calendar_on_a_server_is_asked_for_with_a_user_name_and_a_hidden_password() -> None:
    backend = backend_in("empty")
    backend.fail(
        "add_calendar", DonnaError(Reason.LOGIN_REFUSED, "dav.example refuses it"), key="https://dav.example/me"
    )
    async with driving(backend, size=SMALL) as donna:
        await donna.press("escape", "4")
        await donna.until(lambda: "add a calendar" in donna.screen_text(), "the hint is shown")
        await donna.window(AddCalendar, "c")
        await donna.type("work.ics")
        await donna.rest()
        assert "Password" not in donna.screen_text()
        await donna.press("ctrl+u")
        await donna.type("https://dav.example/me")
        await donna.press("enter")
        await donna.until(lambda: "refuses it" in donna.screen_text(), "it says why, where the name is")
        await donna.type("ann")
        await donna.press("tab")
        await donna.type("hunter2")
        await donna.rest()
        assert "ann" in donna.screen_text()
        assert "hunter2" not in donna.screen_text()
        assert "esc cancel" in donna.screen_text()
        backend.failures.clear()
        await donna.press("enter")
        await donna.until(lambda: donna.app.screen is donna.main, "it is added")
        assert backend.called("add_calendar")[-1] == ("https://dav.example/me", "", "ann", "hunter2")
