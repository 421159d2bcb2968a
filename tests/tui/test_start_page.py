"""The start page, and recent questions."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest
from textual.geometry import Offset

from donna_tui.search.history import MAX_QUESTIONS, QuestionHistory
from donna_tui.tui.lib.messages import StatusChanged
from donna_tui.tui.search.start_page import StartPage
from donna_tui.types.drafts import Meeting, MeetingRow, MeetingState
from donna_tui.types.errors import VaultWriteError
from donna_tui.types.memory import TaskRow
from donna_tui.types.status import Coverage
from tests.tui import hostile, scenarios
from tests.tui.driving import Driver, driving
from tests.tui.fake_backend import FakeBackend

NOTE = "Projects/gateway/decisions.md"


def task(title: str, *, days: int, note: str = NOTE) -> TaskRow:
    due = (datetime.datetime.now().astimezone().date() + datetime.timedelta(days=days)).isoformat()
    return TaskRow(id=f"task:{note}#{title}", title=title, status="todo", note=note, line=7, due=due)


def meeting(title: str) -> MeetingRow:
    """Return a meeting of today that begins soon, or a meeting in progress in the last half hour of the day."""
    now = datetime.datetime.now().astimezone()
    soon = now + datetime.timedelta(minutes=30)
    start = soon if soon.date() == now.date() else now - datetime.timedelta(minutes=30)
    times = {"start": start, "end": start + datetime.timedelta(hours=1), "day": start.astimezone().date()}
    return MeetingRow(meeting=Meeting(event_id="m1", calendar="work", title=title, **times), state=MeetingState.COMING)


def furnished() -> FakeBackend:
    backend = scenarios.normal()
    backend.asked = ("redis failover", "printer")
    backend.example = "what about time-outs in Gateway"
    backend.tasks = (replace(task("Call [[Priya]] back", days=0), parent="[[Attic]]"), task("Old thing", days=-3))
    backend.drafts.agenda = [meeting("Platform weekly")]
    return backend


def start_of(donna: Driver) -> StartPage:
    return donna.search.start


async def to_line(donna: Driver, text: str) -> None:
    """Press ↓ in the search box until the cursor is on a line."""
    for _ in range(60):
        await donna.pilot.press("down")
        line = start_of(donna).selected
        if line is not None and text in line.text.plain:
            return
    raise AssertionError(f"no line says {text!r}")


async def furnished_page(donna: Driver) -> None:
    await donna.until(lambda: start_of(donna).facts.meetings, "everything is shown")
    await donna.pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (60, 15)])
async def test_empty_search_box_shows_the_start_page(size: tuple[int, int]) -> None:
    async with driving(furnished(), size=size) as donna:
        await furnished_page(donna)
        for text in ("Garden", "redis failover", "Platform weekly", "Attic › Call Priya", "time-outs"):
            await donna.until(lambda text=text: text in donna.screen_text(), f"{text} is shown")  # type: ignore[misc]
        assert donna.search.bar.input.has_focus


@pytest.mark.slow
async def test_each_line_is_opened_by_keys() -> None:
    async with driving(furnished()) as donna:
        await furnished_page(donna)
        await to_line(donna, "decisions")
        await donna.press("enter")
        await donna.until(lambda: donna.vault.detail.note is not None, "the note is read")
        assert donna.vault.detail.note is not None
        assert donna.vault.detail.note.path == NOTE
        await donna.press("1")
        await to_line(donna, "Platform weekly")
        await donna.press("enter")
        await donna.until(lambda: donna.meetings.selected is not None, "the meeting is selected")
        assert donna.main.header.active == "meetings"
        await donna.press("1")
        await to_line(donna, "Call Priya back")
        await donna.press("enter")
        await donna.until(lambda: donna.main.header.active == "vault", "the task's note is shown")
        await donna.press("1")
        await to_line(donna, "printer")
        await donna.press("enter")
        await donna.until(lambda: donna.search.question.text == "printer", "it is asked again")
        assert not start_of(donna).display


@pytest.mark.slow
async def test_a_line_is_opened_by_a_click() -> None:
    async with driving(furnished()) as donna:
        await furnished_page(donna)
        panel = start_of(donna).searches
        await donna.pilot.click(panel, offset=Offset(4, 1))
        await donna.until(lambda: donna.search.question.text == "redis failover", "it is requested")


@pytest.mark.slow
async def test_escape_goes_from_the_box_to_the_lines_and_letters_move_there() -> None:
    async with driving(furnished()) as donna:
        await furnished_page(donna)
        await donna.press("escape", "j", "k")
        assert start_of(donna).has_focus
        assert start_of(donna).selected is not None
        await donna.press("enter")
        await donna.until(lambda: donna.main.header.active == "vault", "the first note is opened")


@pytest.mark.slow
async def test_the_first_answer_takes_the_place_of_the_page_and_an_empty_box_brings_it_back() -> None:
    async with driving(furnished()) as donna:
        await furnished_page(donna)
        await donna.search_for("redis failover")
        assert not start_of(donna).display
        await donna.press("ctrl+u")
        await donna.until(lambda: start_of(donna).display, "the page is shown again")
        assert not donna.search.results.rows


@pytest.mark.slow
async def test_typing_does_not_reload_the_start_page() -> None:
    backend = furnished()
    async with driving(backend) as donna:
        await furnished_page(donna)
        before = [call.name for call in backend.calls]
        await donna.type("redis fail")
        await donna.rest()
        after = [call.name for call in backend.calls][len(before) :]
        assert not {"recent_notes", "tasks_due", "example_question", "questions", "meetings"} & set(after)


@pytest.mark.slow
async def test_up_in_the_empty_box_brings_back_earlier_questions() -> None:
    async with driving(furnished()) as donna:
        await furnished_page(donna)
        await donna.press("up")
        assert donna.search.bar.input.value == "redis failover"
        await donna.until(lambda: donna.search.results.rows, "it is answered")
        await donna.press("up")
        assert donna.search.bar.input.value == "printer"
        await donna.press("up")
        assert donna.search.bar.input.value == "printer"


@pytest.mark.slow
async def test_a_question_with_a_word_is_kept_once_its_results_are_used() -> None:
    backend = furnished()
    async with driving(backend) as donna:
        await furnished_page(donna)
        await donna.type("?")
        await donna.press("escape", "slash", "ctrl+u")
        await donna.search_for("redis")
        assert not backend.called("save_question")
        await donna.press("escape")
        await donna.until(lambda: backend.asked[0] == "redis", "it is kept")
        await donna.press("slash", "ctrl+u")
        await donna.until(lambda: start_of(donna).display, "the page is shown again")
        assert start_of(donna).searches.lines[0].text.plain == "redis"


async def test_notes_are_listed_in_the_first_frame_before_there_is_an_engine() -> None:
    backend = scenarios.normal()
    backend.gates.hold("start")
    async with driving(backend, connected=False, first_notes=await backend.recent_notes(9)) as donna:
        await donna.until(lambda: "decisions" in donna.screen_text(), "they are listed")
        shown = donna.screen_text()
        assert "indexing 9 notes" in shown
        assert "no notes" not in shown
        backend.gates.release("start")
        await donna.complete()
        assert "decisions" in donna.screen_text()


async def test_nothing_is_called_due_before_the_tasks_are_read() -> None:
    backend = scenarios.normal()
    backend.change(queued=30)
    async with driving(backend) as donna:
        page = start_of(donna)
        facts = replace(page.facts, drafts=0, meetings=(), tasks=())
        page.show(facts, backend.current, 0.0)
        assert [line.text.plain for line in page.upcoming.lines] == [""]
        page.show(facts, replace(backend.current, queued=0), 0.0)
        assert [line.text.plain for line in page.upcoming.lines] == ["Nothing is due."]


@pytest.mark.slow
async def test_a_vault_that_is_being_read_is_never_called_empty() -> None:
    backend = scenarios.normal()
    counted = backend.current.coverage
    backend.change(coverage=Coverage(), last_reconcile=None)
    async with driving(backend) as donna:
        await donna.until(lambda: start_of(donna).recent.lines, "notes are listed")
        await donna.until(lambda: "decisions" in donna.screen_text(), "they are from the folder")
        assert "no notes" not in donna.screen_text()
        assert "reading the folder" in donna.screen_text()
        backend.change(coverage=replace(counted, text=160, vectors=0))
        donna.main.post_message(StatusChanged(backend.current))
        await donna.until(lambda: "indexing 160 of 501 notes" in donna.screen_text(), "it says how far it is")
        assert "32 %" in donna.screen_text()
        donna.main.show_pane("activity")
        await donna.rest()
        assert "No notes yet" not in donna.screen_text()


@pytest.mark.slow
async def test_hostile_text_is_harmless_on_the_page() -> None:
    backend = scenarios.hostile()
    backend.asked = tuple(hostile.ALL.values())
    backend.example = hostile.EVERYTHING
    backend.tasks = tuple(task(each, days=0) for each in hostile.ALL.values())
    backend.drafts.agenda = [meeting(hostile.EVERYTHING)]
    async with driving(backend) as donna:
        await donna.until(lambda: start_of(donna).facts.meetings, "everything is shown")
        await donna.rest()
        shown = donna.screen_text()
        assert not [char for char in shown if char != "\n" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]


def test_the_history_outlives_a_restart_in_a_private_file(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    for text in ("first", "second", "  first ", "third\x1b[31m\nline"):
        QuestionHistory(folder).add(text)
    kept = QuestionHistory(folder).questions()
    assert kept[1:] == ("first", "second")
    assert "\x1b" not in kept[0]
    assert "\n" not in kept[0]
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_a_long_or_damaged_history_does_no_harm(tmp_path: Path) -> None:
    history = QuestionHistory(tmp_path)
    for number in range(MAX_QUESTIONS + 5):
        history.add(f"question {number}")
    assert len(history.questions()) == MAX_QUESTIONS
    for damage in (b"\xff\xfe", b"{", b'{"a": 1}', b"[1, null]", b"[" * 50_000):
        (tmp_path / "questions.json").write_bytes(damage)
        assert history.questions() == ()
    assert history.add("again") == ("again",)


def test_a_history_that_cannot_be_written_is_an_error_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    with pytest.raises(VaultWriteError):
        QuestionHistory(tmp_path / "state").add("question")
