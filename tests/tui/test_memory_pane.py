"""The Memory screen: its list, recall within a budget, and the reasons for both; pinning, correcting, forgetting."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from donna_tui.memory.checkboxes import task_key_hash, task_typed, tasks_in
from donna_tui.tui.lib.dialogs import LinePrompt, RefusalScreen
from donna_tui.tui.lib.edit_dialog import CorrectScreen
from donna_tui.tui.memory.dialogs import ForgetScreen, SuggestionScreen
from donna_tui.tui.memory.list import PAGE, memory_line, omitted_line, packed_line
from donna_tui.tui.vault.plan_dialog import PlanScreen
from donna_tui.types.errors import DatabaseError, DonnaError, Reason
from donna_tui.types.memory import MemoryChunk, MemoryType, Omitted, OmittedReason, RecallResult, Suggestion
from donna_tui.types.memory_events import MemoryRemembered
from donna_tui.types.search import MemorySource
from tests.tui import hostile, scenarios
from tests.tui.driving import Driver, driving, hit, marked_rows, notices, outcome, row_with
from tests.tui.fake_backend import FakeBackend, new_passage
from tests.tui.memory_scenarios import LIKED, REDIS, RUNBOOK, many, memory

SMALL, LARGE = (80, 24), (160, 48)


async def recalled(donna: Driver, question: str) -> RecallResult:
    """Ask, and wait for the answer."""
    await donna.press("slash")
    await donna.type(question)

    def answer() -> RecallResult | None:
        result = donna.memory.recall.result
        return result if result is not None and result.query == question else None

    await donna.until(answer, f"{question!r} is recalled")
    await donna.rest()
    found = answer()
    assert found is not None
    return found


async def on(donna: Driver, identity: str) -> None:
    """Put the cursor on a memory of the list."""
    rows = donna.memory.rows
    rows.select(next(index for index in range(rows.line_count) if listed(donna, index) == identity))
    await donna.rest()


def listed(donna: Driver, index: int) -> str:
    found = donna.memory.rows.memory_at(index)
    return found.id if found is not None else ""


def ids(donna: Driver) -> list[str]:
    return [listed(donna, index) for index in range(donna.memory.rows.line_count)]


def copied(donna: Driver) -> str:
    return donna.app._clipboard


# The list


@pytest.mark.slow
async def test_the_latest_is_first_and_each_row_has_its_text_time_source_and_marks() -> None:
    async with driving(scenarios.normal(), size=LARGE, at="memory") as donna:
        assert "29 memories, newest first" in donna.screen_text()
        assert ids(donna)[0] == LIKED
        row = row_with(donna, "Noor: ok, thanks")
        assert "chat" in row
        assert "18 Nov" in row
        assert "pinned" in row_with(donna, "Priya is on leave")
        assert "private" in row_with(donna, "Blood test")
        assert "summary" in row_with(donna, "We talked about the flaky")
        assert "summarised" in row_with(donna, "Tomas: The end-to-end")
        assert "━━━─" in row_with(donna, "I prefer short answers with the number first.")


@pytest.mark.slow
async def test_the_card_says_why_in_words_and_figures() -> None:
    async with driving(scenarios.normal(), size=LARGE, at="memory") as donna:
        text = donna.screen_text()
        assert "importance 0.65" in text
        assert "new · says what you prefer" in text
        assert "novelty" not in text
        assert "A preference is first in every recall." in text
        await on(donna, REDIS)
        text = donna.screen_text()
        assert "Gateway, 18 Nov 2026 · gateway-2026-11 · turns 7–8" in text
        assert "names a person or thing · has a number or a date" in text
        await on(donna, "chat:gateway-2026-11:5-5")
        assert "Recalled where it fits the question; the more important it is, the earlier." in donna.screen_text()
        await donna.press("T")
        await donna.rest()
        await on(donna, f"task:{RUNBOOK}#9b1d44c0")
        assert f"{RUNBOOK} · line 14" in donna.screen_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "source", "words"),
    [
        (("s",), MemorySource.CHAT, "chats"),
        (("s", "s"), MemorySource.MEMORY, "facts and preferences"),
        (("s", "s", "s", "s"), MemorySource.TASK, "tasks"),
    ],
)
async def test_key_filters_memories_by_source(keys: tuple[str, ...], source: MemorySource, words: str) -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        await donna.press(*keys)
        await donna.rest()
        expected = [
            each.id for each in sorted(backend.memory.everything, key=lambda each: -each.at) if each.source is source
        ]
        assert ids(donna) == expected
        assert words in donna.screen_text()
        await donna.press("x")
        await donna.rest()
        assert len(ids(donna)) == 29


@pytest.mark.slow
async def test_key_filters_memories_by_age() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await donna.press("d", "d")
        await donna.rest()
        wanted = donna.memory._backend.called("count")[-1][0]  # type: ignore[union-attr]
        assert wanted.after is not None
        assert "the last week" in donna.screen_text()


@pytest.mark.slow
async def test_words_narrow_while_typing_and_an_empty_list_says_how_to_get_back() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await donna.press("f")
        await donna.type("priya")
        await donna.rest()
        assert len(ids(donna)) == 1
        await donna.type(" zebra")
        await donna.rest()
        assert ids(donna) == []
        assert donna.memory.rows.empty_text == "No memories match: with “priya zebra”. x lists everything."
        await donna.press("enter", "x")
        await donna.rest()
        assert len(ids(donna)) == 29


async def test_a_click_in_a_scrolled_list_selects_the_row_under_the_mouse() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await donna.press("end")
        rows = donna.memory.rows
        top = rows.scroll_offset.y // rows.row_height
        assert top > 0
        x, y = rows.content_region.offset
        await donna.pilot.click(offset=(x + 4, y + rows.row_height - rows.scroll_offset.y % rows.row_height))
        await donna.pilot.pause()
        assert rows.selected_index == top + 1


@pytest.mark.parametrize("key", ["f", "slash"])
async def test_keys_typed_after_enter_go_to_the_list(key: str) -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        in_list = donna.memory.words, donna.memory.rows
        field, rows = in_list if key == "f" else (donna.memory.recall.input, donna.memory.recall.list)
        await donna.press(key)
        donna.queue(*"redis", "enter", "j")
        await donna.until(lambda: donna.app.focused is rows, "the list has the focus")
        await donna.rest()
        assert field.value == "redis"


@pytest.mark.slow
async def test_a_hundred_thousand_memories_are_read_a_page_at_a_time() -> None:
    backend = scenarios.normal()
    backend.memory.everything = list(many(100_000))
    async with driving(backend, at="memory") as donna:
        assert len(backend.called("memories")) <= 2
        await donna.press("G")
        await donna.until(lambda: donna.memory.rows.selected is not None, "the last one is read")
        assert donna.memory.rows.selected.id == "chat:long:99999-99999"  # type: ignore[union-attr]
        assert len(backend.called("memories")) <= 5
        assert all(limit == PAGE for _, limit, _ in backend.called("memories"))


async def test_the_cursor_stays_on_its_memory_when_something_new_is_remembered() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        await on(donna, REDIS)
        new = memory(MemorySource.MEMORY, "new", "Something new.", -1.0)
        backend.memory.everything.append(new)
        backend.post(MemoryRemembered(documents=1, latency_ms=1.0))
        await donna.until(lambda: len(ids(donna)) == 30, "the new one is listed")
        assert ids(donna)[0] == new.id
        assert donna.memory.selected.id == REDIS


@pytest.mark.slow
async def test_nothing_is_read_before_the_screen_is_shown() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.rest()
        assert backend.called("count") == []
        await donna.show("memory")
        assert backend.called("count")


# Remembering, and tasks


@pytest.mark.slow
async def test_a_sentence_is_remembered_with_a_key() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        await donna.press("G")
        await donna.window(LinePrompt, "n")
        await donna.press("enter")
        assert "Type something first." in donna.screen_text()
        await donna.type("The gateway is called cassius")
        await donna.press("enter")
        await donna.until(lambda: backend.called("remember"), "it is remembered")
        assert backend.called("remember") == [("The gateway is called cassius",)]
        await donna.until(lambda: "Remembered." in notices(donna.app), "it says so")
        made = "memory:made"
        await donna.until(lambda: donna.memory.selected and donna.memory.selected.id == made, "the cursor is at it")
        await donna.press("z")
        await donna.until(lambda: "select what you stored and forget it" in notices(donna.app), "it says how")
        assert backend.called("plan_undo") == []


@pytest.mark.slow
async def test_a_preference_is_replaced_only_after_a_question() -> None:
    backend = scenarios.normal()
    backend.memory.held = ["I prefer long answers."]
    async with driving(backend, size=LARGE, at="memory") as donna:
        await donna.window(LinePrompt, "n")
        await donna.type("I prefer short answers.")
        await donna.window(RefusalScreen, "enter")
        assert "I prefer long answers." in donna.screen_text()
        await donna.press("escape")
        await donna.rest()
        assert not backend.called("remember")


@pytest.mark.slow
async def test_tasks_are_listed_when_asked_for_and_ticked_with_a_key() -> None:
    backend = scenarios.normal()
    title = "Call [[Priya Raman|Priya]]"
    text = backend.vault.files[RUNBOOK].decode() + f"\n- [ ] {title}\n"
    backend.vault.files[RUNBOOK] = backend.vault.recorded[RUNBOOK] = text.encode()
    key = task_key_hash(next(task for task in tasks_in(text) if task.title == title))
    call = memory(MemorySource.TASK, f"{RUNBOOK}#{key}", f"{title}\nstatus: todo", 0.0, memory_type=MemoryType.WORKING)
    backend.memory.everything.append(call)
    async with driving(backend, size=LARGE, at="memory") as donna:
        assert not any(each.startswith("task:") for each in ids(donna))
        await donna.press("space")
        assert "No task is selected." in notices(donna.app)
        await donna.press("T")
        await donna.rest()
        assert all(each.startswith("task:") for each in ids(donna))
        assert "☐ Call Priya" in donna.screen_text()
        await on(donna, call.id)
        await donna.press("space")
        await donna.until(lambda: f"- [x] {title}".encode() in backend.vault.files[RUNBOOK], "the box is checked")
        await donna.until(lambda: "z undo" in notices(donna.app), "it says how to undo that")
        await donna.window(PlanScreen, "z")
        await donna.press("enter")
        await donna.until(lambda: f"- [ ] {title}".encode() in backend.vault.files[RUNBOOK], "it is open again")


async def test_the_cursor_follows_a_task_whose_note_was_changed() -> None:
    backend = scenarios.normal()
    tasks = [
        memory(MemorySource.TASK, f"{RUNBOOK}#{number}", f"Call {number}\nstatus: todo", float(number))
        for number in range(3)
    ]
    backend.memory.everything += tasks
    async with driving(backend, size=LARGE, at="memory") as donna:
        await donna.press("T")
        await donna.rest()
        await on(donna, tasks[1].id)
        ticked = replace(tasks[1], content="Call 1\nstatus: done", at=time.time())
        backend.memory.everything = [ticked if each is tasks[1] else each for each in backend.memory.everything]
        before = donna.memory.rows.selected_index
        await donna.press("f5")
        await donna.until(lambda: donna.memory.rows.selected_index != before, "the list is sorted again")
        assert donna.memory.selected.id == ticked.id


def test_a_task_has_its_deadline_in_every_width() -> None:
    today = date.today()
    yesterday = today - timedelta(1)
    for width in (40, 76, 120):
        for day, kind, style in (
            (yesterday, MemoryType.WORKING, "warning"),
            (yesterday, MemoryType.EPISODIC, "quiet"),
            (today, MemoryType.WORKING, "quiet"),
        ):
            task = memory(MemorySource.TASK, "a.md#1", "Call\nstatus: todo", 0.0, memory_type=kind, due=day.isoformat())
            line = memory_line(task, width, task.at)
            assert "Call" in line.plain
            start = line.plain.index(f"due {day}")
            assert [each.style for each in line.spans if each.start == start] == [style]


def test_a_sub_task_is_listed_after_the_beginning_of_its_parent() -> None:
    kind, parent = MemoryType.WORKING, "Prepare the **report** for the members of the board"
    task = memory(MemorySource.TASK, "a.md#1", "send it\nstatus: todo", 0.0, memory_type=kind, parent=parent)
    assert "☐ Prepare the report for the me… › send it" in memory_line(task, 76, task.at).plain


def test_a_cancelled_task_is_not_listed_as_done() -> None:
    for status, box in (("done", "☑"), ("cancelled", "☒")):
        kind = MemoryType.EPISODIC
        task = memory(MemorySource.TASK, "a.md#1", f"Call\nstatus: {status}\ndomain: a", 0.0, memory_type=kind)
        assert f"{box} Call" in memory_line(task, 120, task.at).plain


@pytest.mark.slow
async def test_a_task_is_added_with_its_deadline() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        await donna.window(LinePrompt, "a")
        await donna.type("call the bank due 2026-12-24")
        assert "Inbox/Tasks.md, due 2026-12-24." in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: "Inbox/Tasks.md" in backend.vault.files, "it is written")
        line = backend.vault.files["Inbox/Tasks.md"].decode()
        assert line.startswith("- [ ] call the bank ➕")
        assert line.endswith("📅 2026-12-24\n")


@pytest.mark.parametrize(
    ("typed", "title", "due"),
    [
        ("call the bank due tomorrow", "call the bank", "2026-03-13"),
        ("call due: fri", "call", "2026-03-13"),
        ("call due thursday", "call", "2026-03-19"),
        ("what is due", "what is due", ""),
        ("pay what is due soon", "pay what is due soon", ""),
    ],
)
def test_typed_task_is_split_into_title_and_due_date(typed: str, title: str, due: str) -> None:
    assert task_typed(typed, date(2026, 3, 12)) == (title, due)


# Explaining


@pytest.mark.slow
async def test_an_empty_memory_says_how_to_fill_it() -> None:
    async with driving(scenarios.empty()) as donna:
        await donna.press("escape", "5")
        await donna.until(lambda: "donna chat import FILE" in donna.screen_text(), "the way in is shown")
        assert "remember a fact" in donna.screen_text()
        await donna.press("p")
        assert "No memory is selected." in notices(donna.app)


@pytest.mark.slow
async def test_a_failure_is_a_sentence_with_a_next_step() -> None:
    backend = scenarios.normal()
    backend.fail("count", DatabaseError(Reason.DATABASE_LOCKED, "the index is in use", hint="close the other one"))
    async with driving(backend) as donna:
        await donna.press("escape", "5")
        await donna.until(lambda: "The index is in use." in donna.screen_text(), "the notice is shown")
        assert "Close the other one." in donna.screen_text()
        backend.failures.clear()
        await donna.press("r")
        await donna.until(lambda: donna.memory.rows.line_count, "it is retried")


@pytest.mark.slow
async def test_while_another_process_keeps_the_index_it_says_so() -> None:
    backend = scenarios.normal()
    backend.change(state="read_only", owner="donna on desk")
    async with driving(backend, at="memory") as donna:
        words = " ".join(donna.screen_text().split())
        assert "Another Donna process (donna on desk) maintains the" in words


@pytest.mark.slow
async def test_what_is_in_a_note_is_neither_pinned_nor_forgotten_here() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        await donna.press("T")
        await donna.rest()
        await on(donna, f"task:{RUNBOOK}#9b1d44c0")
        await donna.press("D")
        await donna.press("p")
        assert "Edit the note to change it." in notices(donna.app)
        assert backend.called("forget") == backend.called("pin") == []


# Recall


@pytest.mark.slow
async def test_recall_shows_what_is_packed_in_order_and_what_is_cut_and_why() -> None:
    async with driving(scenarios.normal(), size=LARGE, at="memory") as donna:
        result = await recalled(donna, "redis drill")
        text = donna.screen_text()
        assert f"In the prompt: {len(result.memories)} memories" in text
        assert f"{result.total_tokens} of 2,000 tokens" in text
        assert "part of a summary" in text
        assert " 1  I prefer short answers" in text
        assert donna.memory.recall.bar.used == result.total_tokens


@pytest.mark.slow
async def test_the_reasons_for_what_is_left_out_are_not_cut() -> None:
    backend = scenarios.normal()
    backend.memory.note = "left out: 19 that did not fit into 2,000 tokens, 8 with the text of another"
    async with driving(backend, at="memory") as donna:
        await recalled(donna, "redis drill")
        assert "text of another" in donna.screen_text()


def test_a_row_of_the_prompt_is_plain_text_after_the_name_of_its_note() -> None:
    path = "Meetings/2026-02-17-incident-review.md"
    content = f"{path}: ## Why\n\n**Two** causes, see [[runbook|the runbook]]."
    memory = MemoryChunk(
        id=f"vault:{path}", source=MemorySource.VAULT, source_id=path, memory_type=MemoryType.SEMANTIC, content=content,
        lead=f"{path}: ",
    )  # fmt: skip
    words = "2026-02-17-incident-review: Why Two causes, see the runbook."
    assert words in packed_line(1, memory, None, 100).plain
    assert words in omitted_line(Omitted(memory, OmittedReason.BUDGET), None, 120).plain
    assert packed_line(2, memory, memory, 100).plain.startswith(" 2    Why Two causes")  # the note is named above


@pytest.mark.slow
async def test_a_smaller_budget_cuts_more_and_a_larger_one_less() -> None:
    async with driving(scenarios.normal(), size=LARGE, at="memory") as donna:
        whole = await recalled(donna, "redis drill")
        await donna.press("enter")
        bar = donna.memory.recall.bar
        while bar.budget > 100:
            await donna.press("[")
        await donna.until(lambda: donna.memory.recall.result.token_budget == 100, "it is recalled")  # type: ignore[union-attr]
        await donna.rest()
        small = donna.memory.recall.result
        assert small is not None
        assert len(small.memories) < len(whole.memories)
        assert "too long for what is left" in donna.screen_text()
        assert small.total_tokens <= 100
        await donna.press("]")
        assert bar.budget == 200


@pytest.mark.slow
async def test_the_budget_is_changed_only_where_it_is_visible() -> None:
    async with driving(scenarios.normal(), size=(80, 24), at="memory") as donna:
        before = donna.memory.recall.bar.budget
        assert "larger budget" not in donna.screen_text()
        await donna.press("]")
        assert donna.memory.recall.bar.budget == before
        assert "The recall is not visible; / shows it." in notices(donna.app)
        await donna.press("/", "escape")
        await donna.until(lambda: "larger budget" in donna.screen_text(), "the footer offers it")
        await donna.press("]")
        assert donna.memory.recall.bar.budget > before


@pytest.mark.slow
async def test_the_slider_takes_clicks_and_the_wheel() -> None:
    async with driving(scenarios.normal(), size=LARGE, at="memory") as donna:
        bar = donna.memory.recall.bar
        before = bar.budget
        await donna.pilot.click(bar, offset=(bar.size.width - 7, 0))
        assert bar.budget == 32_000 > before
        await donna.pilot.click(bar, offset=(10, 0))
        assert bar.budget == 100


@pytest.mark.slow
async def test_the_budget_moves_while_typing_too() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await donna.press("slash", "alt+left")
        assert donna.memory.recall.bar.budget == 1_500


@pytest.mark.slow
async def test_an_older_answer_never_comes_over_a_newer_one() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        backend.gates.hold("recall", "redis")
        await donna.press("slash")
        await donna.type("redis")
        await donna.until(lambda: any(call[0] == "redis" for call in backend.called("recall")), "it is requested")
        await donna.type(" drill")
        await donna.until(lambda: donna.memory.recall.result, "the newer question is answered")
        backend.gates.release("recall", "redis")
        await donna.rest()
        result = donna.memory.recall.result
        assert result.query == "redis drill"


@pytest.mark.slow
async def test_typing_goes_on_while_a_recall_hangs() -> None:
    backend = scenarios.normal()
    backend.gates.hold("recall")
    async with driving(backend, at="memory") as donna:
        await donna.press("slash")
        await donna.type("redis drill")
        assert donna.memory.recall.input.value == "redis drill"
        backend.gates.release("recall")


async def test_the_prompt_is_copied_without_what_must_stay_here() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        result = await recalled(donna, "redis")
        assert not any(each.sensitive for each in (*result.memories, *(cut.memory for cut in result.cut)))
        await donna.press("alt+c")
        assert copied(donna).startswith("<memory>\n[PROCEDURAL] I prefer short answers")
        assert copied(donna).endswith("</memory>")
        assert "Blood test" not in copied(donna)
        assert all(remote for _, _, remote in backend.called("recall"))


@pytest.mark.slow
async def test_without_a_recall_there_is_no_prompt_to_copy() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await donna.press("c")
        assert "Nothing has been recalled yet." in notices(donna.app)


@pytest.mark.slow
async def test_a_recall_that_finds_nothing_or_fails_is_reported() -> None:
    backend = scenarios.normal()
    backend.memory.everything = backend.memory.everything[1:]
    async with driving(backend, at="memory") as donna:
        await recalled(donna, "zebra")
        assert "Nothing is remembered about “zebra”." in donna.screen_text()
        backend.fail("recall", DonnaError(Reason.MODEL_MISSING, "there is no model", hint="install it"))
        await donna.type("s")
        await donna.until(lambda: "There is no model." in donna.screen_text(), "the notice is shown")
        assert "Install it." in donna.screen_text()


# Actions


@pytest.mark.slow
async def test_pinning_shows_at_once_and_again_unpins() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        await on(donna, REDIS)
        await donna.press("p")
        await donna.rest()
        assert backend.called("pin") == [(REDIS, True)]
        assert "pinned" in row_with(donna, "assistant: The failover")
        await donna.press("p")
        await donna.rest()
        assert backend.called("pin")[-1] == (REDIS, False)
        assert "pinned" not in row_with(donna, "assistant: The failover")


@pytest.mark.slow
async def test_forgetting_shows_exactly_what_and_asks_first() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        await on(donna, REDIS)
        await donna.window(ForgetScreen, "D")
        assert "The failover of redis took 4.2 s" in donna.screen_text()
        assert "turns 7–8" in donna.screen_text()
        await donna.press("escape")
        await donna.rest()
        assert backend.called("forget") == []
        await donna.window(ForgetScreen, "D")
        await donna.press("enter")
        await donna.until(lambda: backend.called("forget"), "it is forgotten")
        assert backend.called("forget") == [(REDIS, False)]


@pytest.mark.slow
async def test_what_was_forgotten_stays_visible_and_can_be_restored() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        await on(donna, REDIS)
        before = ids(donna)
        await donna.window(ForgetScreen, "D")
        await donna.press("enter")
        await donna.until(lambda: len(backend.called("count")) > 1, "the list is reloaded")
        await donna.rest()
        assert ids(donna) == before
        assert "forgotten" in row_with(donna, "assistant: The failover")
        await donna.press("z")
        await donna.until(lambda: backend.called("restore"), "it is brought back")
        await donna.rest()
        assert ids(donna) == before
        await donna.until(lambda: len(backend.called("count")) > 2, "the list is reloaded")
        await donna.rest()
        assert ids(donna) == before
        assert "forgotten" not in row_with(donna, "assistant: The failover")
        await donna.press("z")
        await donna.until(lambda: backend.called("plan_undo"), "the last change to a note is shown")


@pytest.mark.slow
async def test_permanent_forgetting_needs_a_second_key_press() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        await on(donna, REDIS)
        await donna.window(ForgetScreen, "D")
        await donna.press("X")
        assert "This cannot be undone." in " ".join(donna.screen_text().split())
        assert backend.called("forget") == []
        await donna.press("X")
        await donna.until(lambda: backend.called("forget"), "it is forgotten")
        assert backend.called("forget") == [(REDIS, True)]
        await donna.until(lambda: REDIS not in ids(donna), "it is gone")


@pytest.mark.slow
async def test_a_forgotten_memory_leaves_the_prompt_at_once() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=LARGE, at="memory") as donna:
        result = await recalled(donna, "redis drill")
        await donna.press("enter", "j")
        assert donna.memory.selected == result.memories[1]
        await donna.window(ForgetScreen, "D")
        await donna.press("enter")
        await donna.until(lambda: backend.called("forget"), "it is forgotten")
        await donna.rest()
        assert donna.memory.selected.id == result.memories[2].id
        await donna.press("c")
        assert "failover of redis took" not in copied(donna)


@pytest.mark.slow
async def test_correcting_begins_with_the_present_words_and_stores_what_is_right() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        window = await donna.window(CorrectScreen, "w")
        assert window.field.text == "I prefer short answers with the number first."
        await donna.press("f2")
        assert "Nothing was changed." in donna.screen_text()
        window.field.text = "I prefer long answers."
        await donna.press("f2")
        await donna.until(lambda: backend.called("correct"), "it is stored")
        identity, right, query, original = backend.called("correct")[0]
        assert (identity, right, query) == (LIKED, "I prefer long answers.", "")
        assert original == "I prefer short answers with the number first."


@pytest.mark.slow
async def test_escape_pressed_twice_discards_a_correction() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        window = await donna.window(CorrectScreen, "w")
        window.field.text = "Something else."
        await donna.press("escape")
        assert "Press esc again to discard your correction, f2 to save it." in donna.screen_text()
        assert donna.app.screen is window
        await donna.press("x")
        assert "Press esc again" not in donna.screen_text()
        await donna.press("escape")
        assert donna.app.screen is window
        await donna.press("escape")
        await donna.rest()
        assert donna.app.screen is donna.main
        assert backend.called("correct") == []


@pytest.mark.slow
async def test_a_correction_that_fails_is_reported_and_can_be_saved_again() -> None:
    backend = scenarios.normal()
    backend.fail("correct", DonnaError(Reason.DISK_FULL, "the disk is full", hint="make room"))
    async with driving(backend, at="memory") as donna:
        window = await donna.window(CorrectScreen, "w")
        window.field.text = "Something else."
        await donna.press("f2")
        await donna.until(
            lambda: "Not saved: The disk is full. Make room." in notices(donna.app), "the notice is shown"
        )
        backend.failures.clear()
        assert (await donna.window(CorrectScreen)).field.text == "Something else."
        await donna.press("f2")
        await donna.until(lambda: donna.app.screen is donna.main, "it is stored")
        assert [each.corrected for each in backend.memory.corrections] == ["Something else."]


@pytest.mark.slow
async def test_enter_reads_a_chat_around_its_turns_and_escape_goes_back() -> None:
    backend = scenarios.normal()
    around = new_passage(
        path="gateway-2026-11:7-8", title="", heading_path=(), text="Noor: before\n\nassistant: The failover",
        start_line=1, end_line=3, mark_start=3, mark_end=3,
    )  # fmt: skip
    backend.passages = (replace(around, start_line=7, end_line=9, mark_start=9, mark_end=9),)
    async with driving(backend, size=SMALL, at="memory") as donna:
        await on(donna, REDIS)
        await donna.press("enter")
        await donna.until(lambda: "Noor: before" in donna.screen_text(), "the turns around are shown")
        assert marked_rows(donna.memory.card.view) == ["assistant: The failover"]
        await donna.press("escape")
        await donna.rest()
        assert donna.memory.rows.has_focus
        assert "Noor: before" not in donna.screen_text()


@pytest.mark.slow
async def test_enter_opens_a_task_in_the_editor_at_its_line(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    async with driving(backend, at="memory") as donna:
        await donna.press("T")
        await donna.rest()
        await on(donna, f"task:{RUNBOOK}#9b1d44c0")
        await donna.press("enter")
        await donna.rest()
        assert edited == [(Path(backend.current.root, RUNBOOK), 14)]


@pytest.mark.slow
async def test_citation_and_text_are_copied() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await on(donna, REDIS)
        await donna.press("y")
        assert copied(donna) == f"Gateway, 18 Nov 2026 · gateway-2026-11 · turns 7–8 ({REDIS})"
        await donna.press("Y")
        assert copied(donna).startswith("The failover of redis took 4.2 s")


@pytest.mark.slow
async def test_actions_apply_to_the_focused_part() -> None:
    async with driving(scenarios.normal(), size=LARGE, at="memory") as donna:
        result = await recalled(donna, "redis drill")
        await donna.press("enter", "j", "j")
        assert donna.memory.selected == result.memories[2]
        assert LIKED not in donna.screen_text()
        await donna.press("escape")
        assert donna.memory.selected.id == LIKED
        assert LIKED in donna.screen_text()  # the card shows what the actions apply to


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, (120, 36), LARGE])
async def test_tab_walks_through_every_part_at_every_size(size: tuple[int, int]) -> None:
    async with driving(scenarios.normal(), size=size, at="memory") as donna:
        pane = donna.memory
        walk = []
        for _ in range(4):
            walk.append(donna.app.focused)
            await donna.press("tab")
            await donna.rest()
        assert walk == [pane.rows, pane.card.view, pane.recall.input, pane.recall.notice]
        assert donna.app.focused is pane.rows


# "This is wrong" in Search


@pytest.mark.slow
async def test_a_wrong_passage_of_a_note_becomes_a_correction_and_no_note_is_written() -> None:
    backend: FakeBackend = scenarios.normal()
    backend.answers = lambda request: replace(
        outcome(request), hits=(hit("one", content="The drill is twice a year."),)
    )
    async with driving(backend) as donna:
        await donna.search_for("drill")
        window = await donna.window(CorrectScreen, "escape", "W")
        assert "It is stored as a correction beside the note." in donna.screen_text()
        window.field.text = "The drill is every quarter."
        await donna.press("f2")
        await donna.until(lambda: backend.called("correct"), "it is stored")
        assert backend.called("correct") == [
            ("vault:Notes/one.md", "The drill is every quarter.", "drill", "The drill is twice a year.")
        ]
        assert backend.called("plan_write") == backend.called("apply_plan") == []


@pytest.mark.slow
async def test_enter_in_search_reads_a_chat_here_and_opens_the_note_of_a_task(edited: list[tuple[Path, int]]) -> None:
    backend: FakeBackend = scenarios.normal()
    found = (
        hit("one", source_type="chat", path="gateway:1-2"),
        hit("two", source_type="task", path=f"{RUNBOOK}#9b1d44c0"),
    )
    backend.answers = lambda request: replace(outcome(request), hits=found)
    async with driving(backend) as donna:
        await donna.search_for("drill")
        await donna.press("escape", "enter")
        assert donna.search.has_class("-zoomed")
        assert edited == []
        await donna.press("escape", "j", "enter")
        await donna.rest()
        assert [path.name for path, _ in edited] == ["runbook.md"]


@pytest.mark.slow
async def test_in_search_a_chat_is_cited_by_its_turns_and_a_task_by_its_note() -> None:
    backend: FakeBackend = scenarios.normal()
    found = (
        hit("one", source_type="chat", path="gateway", heading_path=(), start_line=1, end_line=2),
        hit("two", source_type="task", path=f"{RUNBOOK}#9b1d44c0", heading_path=()),
    )
    backend.answers = lambda request: replace(outcome(request), hits=found)
    async with driving(backend) as donna:
        await donna.search_for("drill")
        await donna.press("escape", "y")
        assert donna.app.clipboard == "gateway : 1–2"
        await donna.press("o")
        assert "No note contains this passage." in notices(donna.app)
        await donna.press("j", "y")
        assert donna.app.clipboard == f"[[{RUNBOOK.removesuffix('.md')}]]"


# Hostile text


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, pytest.param(LARGE, marks=pytest.mark.stress)])
async def test_hostile_memories_are_text_everywhere(size: tuple[int, int]) -> None:
    async with driving(scenarios.hostile(), size=size, at="memory") as donna:
        for _ in range(donna.memory.rows.line_count):
            await donna.press("j")
        await recalled(donna, "redis")
        await donna.window(CorrectScreen, "enter", "G", "w")
        await donna.press("escape", "escape", "D")
        text = donna.screen_text()
        assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e", "\u200b"}
        assert hostile.MARKUP["style"] in text or "[bold" in text or "redis" in text


# Suggestions


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_preferences_that_were_stated_in_chats_are_offered_one_after_the_other(size: tuple[int, int]) -> None:
    backend = scenarios.normal()
    texts = ("I prefer dark roast.", "Always use metric units.", "I like \x1b[31mred")
    backend.memory.offered = [
        Suggestion(id=str(number), text=text, session="coffee", turn=number, at=1.7e9)
        for number, text in enumerate(texts)
    ]
    backend.memory.replaced = {"0": ("I prefer light roast.",)}
    async with driving(backend, size=size, at="memory") as donna:
        assert "Remember “I prefer dark roast.” and 2 more?" in donna.screen_text()
        await donna.window(SuggestionScreen, "o")
        await donna.until(lambda: "It replaces “I prefer light roast.”." in donna.screen_text(), "the notice is shown")
        assert "Remember this preference? (1 of 3)" in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: "Always use metric units." in donna.screen_text(), "the next one is offered")
        assert "It replaces" not in donna.screen_text()
        await donna.press("n")
        await donna.until(lambda: "(3 of 3)" in donna.screen_text(), "the last one is offered")
        assert "\x1b" not in donna.screen_text()
        await donna.press("x")
        await donna.until(lambda: donna.app.screen is donna.main, "that was all")
        assert backend.called("answer_suggestion") == [("0", True), ("2", False)]
        assert "1 preference remembered." in notices(donna.app)
        await donna.until(lambda: "Remember “Always use metric units.”?" in donna.screen_text(), "one is left")


@pytest.mark.slow
async def test_where_no_preference_is_suggested_the_key_says_so() -> None:
    async with driving(scenarios.normal(), at="memory") as donna:
        await donna.press("o")
        await donna.rest()
        assert donna.app.screen is donna.main
        assert "No preference from a chat is waiting to be confirmed." in notices(donna.app)
