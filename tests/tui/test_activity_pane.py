"""The keys of the Activity screen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from textual.events import MouseScrollUp, Paste
from textual.widgets import Input

from donna_tui.tui.activity.figures import SparklineRow
from donna_tui.tui.activity.log import KEPT_ROWS
from donna_tui.tui.activity.pane import ActivityPane
from donna_tui.tui.bridge import KEPT_EVENTS
from donna_tui.tui.lib.dialogs import DetailScreen
from donna_tui.types.errors import DonnaError, Reason, SpaceError
from donna_tui.types.events import EngineEvent, NoteDeleted, NoteIndexed, ProblemCleared, StageTimes
from donna_tui.types.status import Problem
from tests.tui import hostile, scenarios
from tests.tui.driving import Driver, driving, notices
from tests.tui.fake_backend import FakeBackend
from tests.tui.sample_vault import NOW

SMALL = (80, 24)
MORNING = 13
"""The events of `scenarios.morning` that the log shows by default."""


def edited(number: int) -> NoteIndexed:
    return NoteIndexed(
        at=NOW + number, path=f"Notes/{number}.md", why="changed", chunks=1, embedded=0, stages=StageTimes(read=1.0)
    )


@asynccontextmanager
async def activity(backend: FakeBackend, *, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Driver]:
    """Run the app with the Activity screen in front and the backend's script shown."""
    expected = bool(backend.script)
    async with driving(backend, size=size) as donna:
        donna.main.show_pane("activity")
        await donna.until(lambda: not expected or pane(donna).event_log.ring.shown, "the events are in the log")
        await donna.pilot.pause()
        yield donna


def pane(donna: Driver) -> ActivityPane:
    return donna.main.query_one(ActivityPane)


async def happen(donna: Driver, backend: FakeBackend, *events: EngineEvent) -> None:
    """Post events and wait until the last one has arrived."""
    before = pane(donna).event_log.ring._next
    backend.post(*events)
    await donna.until(lambda: pane(donna).event_log.ring._next > before, "the events arrive")
    await donna.pilot.pause()


def follows(donna: Driver) -> bool:
    return pane(donna).event_log.following


def log_rows(donna: Driver) -> list[str]:
    return [row.sentence.path for row in pane(donna).event_log.ring.shown]


async def test_a_status_that_arrived_on_another_screen_is_drawn_when_this_one_is_shown_again() -> None:
    backend = scenarios.normal()
    async with activity(backend) as donna:
        assert not pane(donna).has_class("-calm")
        donna.main.show_pane("vault")
        await donna.until(lambda: not pane(donna).is_on_screen, "another screen is shown")
        await donna.rest()
        backend.current = replace(backend.current, problems=())
        pane(donna)._set_status(backend.current)
        donna.main.show_pane("activity")
        await donna.until(lambda: pane(donna).has_class("-calm"), "no problem is listed")


async def test_everything_is_visible_if_there_is_room() -> None:
    async with activity(scenarios.normal(), size=(160, 48)) as donna:
        text = donna.screen_text()
        for piece in (
            "499 of 501 notes can be found, 2 could not",
            "37 passages embedded since the",
            "sync conflict copy",
            "Search answered",
            "minilm-l6-v2:int8:384",
            "sqlite-vec 0.1.9",
            "notes-3f9c2a71be/index.db",
            "donna.log",
            "read 1 · chunk 2 · store 3 · embed 41 ms",
            "was Inbox/Untitled 3.md",
            "Properties cannot be read",
            "close the quotation mark",
        ):
            assert piece in text, piece


@pytest.mark.slow
async def test_zoom_maximises_the_list_with_the_focus_below_the_header() -> None:
    async with activity(scenarios.normal()) as donna:
        pane(donna).problems.focus()
        await donna.press("plus")
        await donna.rest()
        assert pane(donna).problems.region == pane(donna).region
        assert donna.main.header.region, "the other screens can still be clicked"
        await donna.press("f")
        await donna.rest()
        assert pane(donna).query_one("#log-part").region == pane(donna).region
        await donna.press("escape", "escape")
        await donna.rest()
        assert pane(donna).overview.region


async def test_progress_shows_a_graph_only_while_there_is_work() -> None:
    backend = scenarios.indexing()
    async with activity(backend) as donna:
        assert "78 waiting · 170 passages a second" in donna.screen_text()
        assert pane(donna).query_one(SparklineRow).display
        backend.current = scenarios.normal().current
        await happen(donna, backend, edited(1))
        assert not pane(donna).query_one(SparklineRow).display
        assert "a second" not in donna.screen_text()


async def test_activity_of_an_empty_vault_shows_placeholders() -> None:
    async with activity(scenarios.empty()) as donna:
        text = donna.screen_text()
        assert "No events yet" in text
        assert "No notes yet" in text
        assert "Needs attention" not in text


async def test_before_the_vault_is_open() -> None:
    async with driving(scenarios.loading(), connected=False) as donna:
        donna.main.show_pane("activity")
        await donna.pilot.pause()
        assert "Opening the vault" in donna.screen_text()


async def test_a_vault_that_cannot_be_opened_says_why() -> None:
    backend = scenarios.empty()
    backend.fail("start", SpaceError(Reason.BUSY, "Another Donna is making the index.", hint="Try again in a moment."))
    async with driving(backend, connected=False) as donna:
        donna.main.show_pane("activity")
        await donna.until(lambda: "Another Donna is making" in donna.screen_text(), "the reason is shown")
        assert "Try again in a moment." in donna.screen_text()


@pytest.mark.slow
async def test_small_screens_show_one_part_at_a_time_by_key_and_click() -> None:
    async with activity(scenarios.normal(), size=SMALL) as donna:
        assert "Moved" in donna.screen_text()
        assert "Search answered" not in donna.screen_text()
        await donna.press("shift+tab", "right")
        assert "Give yourself read permission" in donna.screen_text()
        assert "Moved" not in donna.screen_text()
        await donna.press("right")
        assert "Search answered" in donna.screen_text()
        await donna.press("right")
        assert "Moved" in donna.screen_text()
        await donna.press("left")
        assert "Search answered" in donna.screen_text()
        await donna.press("right")
        assert "Search answered" not in donna.screen_text()
        at = donna.screen_text().splitlines()[1].index("Figures")
        await donna.pilot.click("#sections", offset=(at, 0))
        assert "Search answered" in donna.screen_text()


@pytest.mark.slow
async def test_log_follows_new_events_unless_scrolled_back() -> None:
    backend = scenarios.normal()
    async with activity(backend) as donna:
        log = pane(donna).event_log
        await happen(donna, backend, *(edited(number) for number in range(60)))
        assert follows(donna)
        assert "Notes/59.md" in donna.screen_text()
        await donna.press("k", "k")
        assert log.selected is not None
        assert log.selected.sentence.path == "Notes/58.md"
        await happen(donna, backend, *(edited(number) for number in range(60, 90)))
        assert not follows(donna)
        assert "Notes/58.md" in donna.screen_text()
        assert "Notes/89.md" not in donna.screen_text()
        assert "scrolled back" in donna.screen_text()
        await donna.press("G")
        assert follows(donna)
        assert "Notes/89.md" in donna.screen_text()
        assert "scrolled back" not in donna.screen_text()


async def test_scrolling_back_stops_following_and_scrolling_to_the_end_starts_it_again() -> None:
    backend = scenarios.empty()
    async with activity(backend) as donna:
        log = pane(donna).event_log
        await happen(donna, backend, *(edited(number) for number in range(60)))
        log.scroll_relative(y=-5, animate=False)
        await happen(donna, backend, edited(60))
        assert not follows(donna)
        assert "Notes/60.md" not in donna.screen_text()
        log.scroll_end(animate=False)
        await happen(donna, backend, edited(61))
        assert follows(donna)
        assert "Notes/61.md" in donna.screen_text()


@pytest.mark.slow
async def test_the_scroll_bar_shows_the_position_of_the_log() -> None:
    backend = scenarios.empty()
    async with activity(backend) as donna:
        log = pane(donna).event_log
        for first in range(0, 90, 30):
            await happen(donna, backend, *(edited(number) for number in range(first, first + 30)))
            assert log.vertical_scrollbar.position == log.scroll_y == log.max_scroll_y
        await donna.pilot._post_mouse_events([MouseScrollUp], "#log", offset=(5, 3))
        await donna.pilot.pause()
        assert 0 < log.scroll_y < log.max_scroll_y
        assert log.vertical_scrollbar.position == log.scroll_y


@pytest.mark.slow
async def test_the_place_stays_while_old_rows_are_dropped() -> None:
    backend = scenarios.empty()
    async with activity(backend) as donna:
        log = pane(donna).event_log
        await happen(donna, backend, *(edited(number) for number in range(KEPT_ROWS)))
        await donna.press("k", *["pageup"] * 3)
        top = log.ring.shown[log.scroll_offset.y].sentence.path
        await happen(donna, backend, *(edited(number) for number in range(KEPT_ROWS, KEPT_ROWS + 50)))
        assert len(log.ring.shown) == KEPT_ROWS
        assert log.ring.shown[log.scroll_offset.y].sentence.path == top


async def test_thousands_of_events_are_drawn_at_once_and_the_log_stays_bounded() -> None:
    backend = scenarios.empty()
    async with activity(backend) as donna:
        log = pane(donna).event_log
        with patch.object(log, "_rows_changed", wraps=log._rows_changed) as drawn:
            await happen(donna, backend, *(edited(number) for number in range(KEPT_EVENTS + 500)))
        assert len(log.ring) == KEPT_ROWS
        assert log_rows(donna)[-1] == f"Notes/{KEPT_EVENTS + 499}.md"
        assert drawn.call_count <= 2


@pytest.mark.slow
async def test_events_that_came_too_fast_are_counted() -> None:
    backend = scenarios.empty()
    async with activity(backend) as donna:
        pane(donna).event_log.add((edited(1),), missed=1234)
        await donna.pilot.pause()
        assert "1,234 events before this one" in donna.screen_text()


@pytest.mark.slow
async def test_the_log_is_filtered_by_words_and_by_kind() -> None:
    async with activity(scenarios.normal()) as donna:
        for key in ("slash", "f"):
            await donna.press(key)
            await donna.type("gateway edited")
            await donna.pilot.pause()
            assert log_rows(donna) == ["Projects/gateway/decisions.md"]
            assert f"1 of {MORNING}" in donna.screen_text()
            await donna.press("enter", "escape")
            assert len(log_rows(donna)) == MORNING
            assert not pane(donna).has_class("-filtering")
        await donna.press("slash", "down", "down")
        assert [row.sentence.what for row in pane(donna).event_log.ring.shown] == ["Left out", "Failed"]
        await donna.press("up", "up", "up")
        assert {row.sentence.kind for row in pane(donna).event_log.ring.shown} == {"Donna"}
        await donna.press("down")
        assert len(log_rows(donna)) == MORNING
        await donna.type("zzz")
        await donna.pilot.pause()
        assert "No event matches the filter." in donna.screen_text()


async def test_keys_typed_after_enter_go_to_the_log() -> None:
    async with activity(scenarios.normal()) as donna:
        await donna.press("slash")
        donna.queue(*"gateway", "enter", "k")
        await donna.until(lambda: donna.app.focused is pane(donna).event_log, "the log has the focus")
        await donna.pilot.pause()
        assert pane(donna).log_filter.field.value == "gateway"


async def test_what_is_pasted_into_the_filter_is_one_safe_line() -> None:
    async with activity(scenarios.normal()) as donna:
        await donna.press("slash")
        donna.app.post_message(Paste("\x1b]52;c;x\x07one\ntwo"))
        await donna.until(lambda: pane(donna).query_one(Input).value, "the text is indexed")
        assert pane(donna).query_one(Input).value == "␛]52;c;x␇one two"


@pytest.mark.slow
async def test_space_pauses_and_resumes_the_log() -> None:
    backend = scenarios.normal()
    async with activity(backend) as donna:
        await donna.press("space")
        await happen(donna, backend, edited(1), edited(2))
        assert "paused · 2 waiting" in donna.screen_text()
        assert "Notes/1.md" not in donna.screen_text()
        await donna.press("space")
        assert "Notes/2.md" in donna.screen_text()
        assert "held" not in donna.screen_text()


@pytest.mark.slow
async def test_enter_and_a_second_click_show_an_event_in_full() -> None:
    async with activity(scenarios.normal()) as donna:
        await donna.press("g", "j", "j", "j", "j", "enter")
        await donna.until(lambda: isinstance(donna.app.screen, DetailScreen), "the dialog opens")
        assert "read 1 · chunk 2 · store 3 · embed 41 ms" in donna.screen_text()
        await donna.press("escape")
        assert donna.app.screen is donna.main
        await donna.pilot.click("#log", offset=(20, 0), times=2)
        await donna.until(lambda: isinstance(donna.app.screen, DetailScreen), "the dialog opens")


@pytest.mark.slow
async def test_enter_shows_a_problem_in_full() -> None:
    async with activity(scenarios.normal()) as donna:
        await donna.press("tab", "j", "enter")
        await donna.until(lambda: isinstance(donna.app.screen, DetailScreen), "the dialog opens")
        for piece in ("Cannot be read", "People/Tomas Lindqvist.md", "Give yourself read permission", "Next try"):
            assert piece in donna.screen_text()


@pytest.mark.slow
async def test_keys_retry_one_problem_retry_all_and_resume() -> None:
    backend = scenarios.error()
    async with activity(backend) as donna:
        await donna.press("tab", "j", "j", "j", "r")
        await donna.until(lambda: backend.called("retry"), "it is retried")
        assert backend.called("retry") == [("Meetings/2025-11-04-review.md",)]
        await donna.press("R")
        await donna.until(lambda: len(backend.called("retry")) == 2, "all are tried again")
        assert backend.called("retry")[1] == ("",)
        assert "Rescanning the vault and retrying failed notes." in notices(donna.app)
        await donna.press("c", "escape")
        await donna.press("c")
        await donna.until(lambda: "412 of 501 notes" in donna.screen_text(), "a question says what is removed")
        assert not backend.called("resume")
        await donna.press("enter")
        await donna.until(lambda: backend.called("resume"), "it goes on")


@pytest.mark.slow
async def test_a_problem_that_a_retry_does_not_solve_is_not_retried() -> None:
    backend = scenarios.error()
    async with activity(backend) as donna:
        await donna.press("tab", "r")
        assert not backend.called("retry")
        assert "Retrying cannot fix this problem" in notices(donna.app)


@pytest.mark.slow
async def test_resume_is_offered_only_where_notes_are_gone() -> None:
    backend = scenarios.normal()
    backend.change(state="paused", state_detail="The vault's folder is missing.")
    async with activity(backend) as donna:
        await donna.press("c")
        assert not backend.called("resume")
        assert "No deletion is waiting for confirmation." in notices(donna.app)


async def test_a_retry_that_fails_is_reported_in_safe_words() -> None:
    backend = scenarios.normal()
    backend.fail("retry", DonnaError(Reason.INTERNAL, f"no {hostile.ESCAPES['clipboard']}", hint="[/]"))
    async with activity(backend) as donna:
        await donna.press("R")
        await donna.until(lambda: notices(donna.app), "the notice is shown")
        assert "␛]52" in notices(donna.app)
        assert "\x1b" not in notices(donna.app)


@pytest.mark.slow
async def test_the_selected_problem_stays_selected_while_others_come_and_go() -> None:
    backend = scenarios.error()
    async with activity(backend) as donna:
        await donna.press("tab", "j", "j", "j")
        selected = pane(donna).problems.selected
        assert selected is not None
        backend.change(problems=backend.current.problems[2:])
        await happen(donna, backend, ProblemCleared(reason=Reason.DATABASE_LOCKED))
        assert pane(donna).problems.selected == selected
        assert "Needs attention 3" in donna.screen_text()


async def test_another_problem_of_the_same_kind_is_not_selected_instead() -> None:
    backend = scenarios.normal()
    unreadable = [
        Problem(id=path, reason=Reason.UNREADABLE, message="Permission denied", path=path, retryable=True)
        for path in ("a.md", "b.md", "c.md")
    ]
    backend.change(problems=tuple(unreadable))
    async with activity(backend) as donna:
        await donna.press("tab", "j")
        assert pane(donna).problems.selected == unreadable[1]
        backend.change(problems=(unreadable[2], unreadable[1]))
        await happen(donna, backend, ProblemCleared(reason=Reason.UNREADABLE, path="a.md"))
        assert pane(donna).problems.selected == unreadable[1]


async def test_problems_disappear_when_they_are_solved() -> None:
    backend = scenarios.normal()
    async with activity(backend) as donna:
        assert "Needs attention 2" in donna.screen_text()
        backend.change(problems=())
        await happen(donna, backend, ProblemCleared(reason=Reason.UNREADABLE, path="People/Tomas Lindqvist.md"))
        assert "Needs attention" not in donna.screen_text()
        assert "Resolved" in donna.screen_text()


@pytest.mark.slow
async def test_very_many_problems_are_counted_and_all_listed() -> None:
    backend = scenarios.normal()
    many = tuple(replace(scenarios.BROKEN_NOTE, id=str(number), path=f"{number}.md") for number in range(500))
    backend.change(problems=many)
    async with activity(backend, size=SMALL) as donna:
        await donna.press("shift+tab", "right", "tab", "G")
        assert "Needs attention 500" in donna.screen_text()
        assert "499.md" in donna.screen_text()


@pytest.mark.slow
async def test_escape_closes_one_state_at_a_time_but_not_the_app() -> None:
    async with activity(scenarios.normal()) as donna:
        await donna.press("k", "slash")
        await donna.press("escape")
        assert not pane(donna).has_class("-filtering")
        await donna.press("k", "escape")
        assert follows(donna)
        await donna.press("escape", "escape")
        assert donna.app.is_running


@pytest.mark.slow
async def test_the_log_goes_on_while_another_screen_is_in_front() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.until(lambda: len(log_rows(donna)) == MORNING, "the events arrive")
        await happen(donna, backend, NoteDeleted(path="gone.md"))
        donna.main.show_pane("activity")
        await donna.pilot.pause()
        assert "gone.md" in donna.screen_text()


async def test_no_timer_runs_when_nothing_happens() -> None:
    async with activity(scenarios.normal()) as donna:
        await donna.press("slash")
        widgets = pane(donna).walk_children(with_self=True)
        running = [timer for widget in widgets for timer in widget._timers if timer._active.is_set()]
        assert running == []


SOME_SIZES = ((60, 15), (160, 48))
ALL_SIZES = ((60, 15), SMALL, (100, 29), (160, 48), (1, 1), (120, 36))
STATES = ("empty", "indexing", "normal", "error")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        *((name, SOME_SIZES) for name in ("hostile", *STATES)),
        *(pytest.param(name, ALL_SIZES, marks=pytest.mark.stress) for name in ("hostile", *STATES)),
    ],
)
async def test_every_state_can_be_drawn_at_every_size(name: str, sizes: tuple[tuple[int, int], ...]) -> None:
    async with activity(getattr(scenarios, name)()) as donna:
        for size in sizes:
            await donna.pilot.resize_terminal(*size)
            for keys in (("k", "tab", "j"), ("shift+tab", "shift+tab", "right")):
                await donna.press(*keys)
                text = donna.screen_text()
                assert not any((ord(char) < 0x20 and char != "\n") or 0x7F <= ord(char) <= 0x9F for char in text)
        assert "Failed" in text or name == "empty"


@pytest.mark.slow
async def test_a_hostile_problem_and_event_open_in_full() -> None:
    async with activity(scenarios.hostile()) as donna:
        await donna.press("k", "enter")
        await donna.until(lambda: isinstance(donna.app.screen, DetailScreen), "the event opens")
        assert "[@click=app.quit]DONNA-CLICK[/]" in donna.screen_text()
        await donna.press("escape", "tab", "enter")
        await donna.until(lambda: isinstance(donna.app.screen, DetailScreen), "the problem opens")
        assert "␛]52;c;" in donna.screen_text()
