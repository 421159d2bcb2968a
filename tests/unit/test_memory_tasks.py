"""Check boxes as tasks: read as Obsidian Tasks writes them, updated as their notes change, written and ticked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.memory.checkboxes import Task, checked, parse_task, task_line, tasks_in, with_task
from donna_tui.memory.listing import list_memories
from donna_tui.memory.tasks import line_now, list_tasks, named_task
from donna_tui.search.hybrid import Settings, search
from donna_tui.search.legs import ask
from donna_tui.search.passages import task_text
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import MemoryFilter
from donna_tui.types.memory_events import MemoryIngestFailed
from donna_tui.types.search import MemorySource, SearchRequest
from tests.unit.index_parts import embed_all
from tests.unit.memory_parts import Sandbox, sandboxes


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    yield from sandboxes(tmp_path)


def test_parse_task_reads_every_obsidian_tasks_field() -> None:
    line = "Pay rent #home 🔺 🔁 every month ➕ 2026-01-01 🛫 2026-01-02 ⏳ 2026-01-03 📅 2026-01-04 🆔 rent1 ⛔ a1,b2 ^blk"
    task = parse_task(" ", line)
    assert task == Task(
        title="Pay rent #home", status="todo", line=1, end_line=1, tags=("home",), due="2026-01-04",
        scheduled="2026-01-03", start="2026-01-02", created="2026-01-01", priority="highest",
        recurrence="every month", id="rent1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mark", "status"),
    [(" ", "todo"), ("x", "done"), ("X", "done"), ("-", "cancelled"), ("/", "in_progress"), (">", "todo")],
)
def test_checkbox_mark_determines_the_task_status(mark: str, status: str) -> None:
    assert parse_task(mark, "Do it").status == status


def test_dataview_fields_are_read_too() -> None:
    task = parse_task(
        "x", "Call Bo [due:: 2026-02-01] (priority:: high) [repeat:: every week] [completion:: 2026-02-02]"
    )
    assert (task.title, task.due, task.priority, task.recurrence, task.done) == (
        "Call Bo", "2026-02-01", "high", "every week", "2026-02-02",
    )  # fmt: skip


@pytest.mark.parametrize(
    "date", ["@{2026-02-01}", "@{2026-02-01} @@{10:00}", "@[[2026-02-01]]", "📅 2026-02-01 @{2026-02-03}"]
)
def test_the_date_of_a_kanban_card_is_its_deadline(date: str) -> None:
    task = parse_task(" ", f"Call Bo {date} #phone")
    assert (task.title, task.due) == ("Call Bo #phone", "2026-02-01")


@pytest.mark.parametrize(
    ("mark", "line", "status", "title"),
    [
        (" ", "~~Order the marquee~~ 📅 2026-02-01", "cancelled", "Order the marquee"),
        ("/", "~~Order the~~ ~~marquee~~ #party ^id", "cancelled", "Order the marquee #party"),
        (" ", "~~Order the marquee #party~~", "cancelled", "Order the marquee #party"),
        (" ", "**~~Order the marquee~~** #party", "cancelled", "**Order the marquee** #party"),
        ("x", "~~Order the marquee~~", "done", "Order the marquee"),
        (" ", "~~Order the marquee~~ Done by Bo", "todo", "~~Order the marquee~~ Done by Bo"),
        (" ", "Order ~~blue~~ red napkins", "todo", "Order ~~blue~~ red napkins"),
        (" ", "~~~~", "todo", "~~~~"),
    ],
)
def test_a_task_that_is_struck_through_is_cancelled(mark: str, line: str, status: str, title: str) -> None:
    task = parse_task(mark, line)
    assert (task.status, task.title, task.tags) == (status, title, ("party",) if "#party" in title else ())


def test_tasks_with_equal_words_are_told_apart_by_their_days() -> None:
    text = "- [ ] Pay rent 📅 2026-12-01\n- [ ] Pay rent 📅 2027-01-01\n- [ ] Pay rent 📅 2027-01-01\n- [ ] Shop\n"
    keys = [task.key for task in tasks_in(text)]
    assert keys == ["pay rent 2026-12-01", "pay rent 2027-01-01", "pay rent 2027-01-01#2", "shop"]
    assert not {keys[0]} & {task.key for task in tasks_in(text.partition("\n")[2])}


@pytest.mark.parametrize("text", ["# T\n```\n- open\n", "%%\nopen\n", "<!-- open"])
def test_no_task_is_added_where_it_would_be_none(text: str) -> None:
    with pytest.raises(DonnaError, match="code block or a comment") as refused:
        with_task(text, "- [ ] Shop")
    assert refused.value.reason is Reason.CONFLICT


def test_a_day_that_does_not_exist_is_not_a_date() -> None:
    assert parse_task(" ", "Party 📅 2026-02-30").due == ""


NOTE = """---
type: x
tasks: "- [ ] no"
---
# Plan
- [ ] First
  with a second line
  - a detail
  - [x] Nested ✅ 2026-01-01
- [ ] Twin
- [ ] Twin
1. [/] Numbered

Text that belongs to none.

```
- [ ] in code
```
%% - [ ] in a comment %%
> - [ ] Quoted
- [] no box
- [x]no box either

Costs %% are
- [ ] in a comment that begins in a line
%%
"""


def test_the_tasks_of_a_note() -> None:
    found = [(task.title, task.status, task.line, task.notes, task.key) for task in tasks_in(NOTE)]
    assert found == [
        ("First", "todo", 6, "with a second line\na detail", "first"),
        ("Nested", "done", 9, "", "nested"),
        ("Twin", "todo", 10, "", "twin"),
        ("Twin", "todo", 11, "", "twin#2"),
        ("Numbered", "in_progress", 12, "", "numbered"),
        ("Quoted", "todo", 20, "", "quoted"),
    ]


SUB_TASKS = """
1. [ ] Report
   - [ ] Send it
   - aside
     - [ ] Print it
2. [ ] Trip

   Before winter:
\t- [x] Book it
\t\t- [ ] Pay for it
\t- [ ] Pack
- Shopping
  - [ ] Milk
- [ ] Party
> - [ ] Quoted
>   - [ ] Invite them

Below.
  - [ ] Alone
"""


def test_a_sub_task_has_the_title_of_the_task_around_it() -> None:
    assert [(task.parent, task.title) for task in tasks_in(SUB_TASKS)] == [
        ("", "Report"),
        ("Report", "Send it"),
        ("Report", "Print it"),
        ("", "Trip"),
        ("Trip", "Book it"),
        ("Book it", "Pay for it"),
        ("Trip", "Pack"),
        ("", "Milk"),
        ("", "Party"),
        ("", "Quoted"),
        ("Quoted", "Invite them"),
        ("", "Alone"),
    ]


def text_of(task: Task) -> str:
    return task_text(task.title, task.status, "home", task.due, task.notes)


def test_priority_and_scheduled_days_are_not_hashed() -> None:
    plain, other = parse_task(" ", "Pay 📅 2026-01-04"), parse_task(" ", "Pay ⏫ ⏳ 2026-01-02 📅 2026-01-04")
    assert text_of(plain) == text_of(other) == "Pay\nstatus: todo\ndomain: home\ndeadline: 2026-01-04"
    assert text_of(plain) != text_of(parse_task(" ", "Pay 📅 2026-01-05"))
    assert text_of(plain) != text_of(parse_task("x", "Pay 📅 2026-01-04"))


# Following notes


def follow(sandbox: Sandbox, path: str, text: str) -> None:
    sandbox.note(path, text)
    sandbox.follower.tasks.stored(sandbox.client.read(path))


def test_tasks_follow_their_note(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [ ] One\n- [ ] Two\n")
    one, two = sandbox.ids("task")
    follow(sandbox, "a.md", "Text\n\n- [x] Two\n")
    assert sandbox.ids("task") == [two] or sandbox.ids("task") == [one]
    (row,) = list_tasks(sandbox.store.database)
    assert (row.title, row.status, row.line, row.note) == ("Two", "done", 3, "a.md")
    sandbox.follower.tasks.removed("a.md")
    assert sandbox.ids("task") == []


def test_check_boxes_of_templates_are_no_tasks(sandbox: Sandbox) -> None:
    for path in ("_templates/Daily.md", "Work/99 Templates/Daily.md", "Meeting template.md"):
        follow(sandbox, path, "- [ ] Plan the day\n")
    assert sandbox.ids("task") == []
    for path in ("Contemplates/2026-03-12 template.md", "Website templates/Todo.md", "Email-Vorlagen/Aufgaben.md"):
        follow(sandbox, path, "- [ ] Plan the day\n")
    assert len(sandbox.ids("task")) == 3


def test_a_move_within_the_note_changes_the_lines_and_embeds_nothing(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [ ] One\n")
    embed_all(sandbox.store)
    follow(sandbox, "a.md", "\n\n- [ ] One ⏫\n")
    assert sandbox.store.pending(10) == []
    assert sandbox.store.database.rows("SELECT start_line FROM memory_chunks") == [(3,)]
    assert list_tasks(sandbox.store.database)[0].priority == "high"


def test_marking_a_task_done_always_reembeds_it(sandbox: Sandbox) -> None:
    for status, embedded in ((" ", 1), ("x", 1), (" ", 0), ("x", 1), ("/", 1), ("-", 1)):
        follow(sandbox, "a.md", f"- [{status}] One\n")
        assert embed_all(sandbox.store) == embedded, status


def test_removing_a_note_keeps_tasks_of_a_note_with_a_similar_path(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [ ] One\n")
    follow(sandbox, "a.md.md", "- [ ] One\n")
    sandbox.follower.tasks.removed("a.md")
    assert [each.partition("#")[0] for each in sandbox.ids("task")] == ["a.md.md"]


def test_a_task_is_listed_among_the_memories_with_its_deadline(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [ ] One 📅 2026-01-04\n- [ ] Two\n")
    tasks = list_memories(sandbox.store.database, MemoryFilter(sources=(MemorySource.TASK,)), 9, 0)
    assert {each.content.partition("\n")[0]: each.due for each in tasks} == {"One": "2026-01-04", "Two": ""}


def test_open_tasks_are_listed_first_by_deadline_then_by_urgency(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [x] Done 📅 2025-01-01\n- [ ] Some day\n- [ ] Urgent ⏫\n- [ ] Late 📅 2026-02-02\n")
    follow(sandbox, "b.md", "- [ ] Overdue 📅 2026-01-04\n")
    wanted = MemoryFilter(sources=(MemorySource.TASK,), by_deadline=True)
    listed = [each.content.partition("\n")[0] for each in list_memories(sandbox.store.database, wanted, 9, 0)]
    assert listed == ["Overdue", "Late", "Urgent", "Some day", "Done"]
    assert [task.title for task in list_tasks(sandbox.store.database)] == listed


def test_the_excerpt_of_a_task_is_its_check_box(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [x] Pay 📅 2026-01-04\n  by transfer\n- [ ] Ask\n  status: open\n")
    question = ask(SearchRequest(text="in:task", mode="keyword"))
    hits = search(sandbox.store.database, sandbox.store.vectors, question, Settings(0.25, 9)).hits
    assert {hit.snippet.text for hit in hits} == {"☑ Pay 📅 2026-01-04 by transfer", "☐ Ask status: open"}


def test_tasks_of_a_private_note_are_private(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "---\ndonna: local-only\n---\n- [ ] One\n")
    assert list_tasks(sandbox.store.database)[0].sensitive


def test_a_failure_of_a_task_is_reported_and_does_not_spread(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> list[Task]:
        raise RuntimeError("a fault")

    monkeypatch.setattr("donna_tui.memory.tasks.tasks_in", broken)
    follow(sandbox, "a.md", "- [ ] One\n")
    (event,) = [each for each in sandbox.events if isinstance(each, MemoryIngestFailed)]
    assert (event.name, event.source_type, event.reason, event.item) == (
        "memory_ingest_failed", "task", "RuntimeError", "a.md",
    )  # fmt: skip


def test_a_backfill_reads_every_note_and_forgets_those_that_are_gone(sandbox: Sandbox) -> None:
    sandbox.note("a.md", "- [ ] One\n")
    sandbox.note("b.md", "- [ ] Two\n")
    assert list(sandbox.follower.tasks.backfill(sandbox.client))[-1] == 2
    assert len(sandbox.ids("task")) == 2
    (sandbox.vault / "b.md").unlink()
    assert list(sandbox.follower.tasks.backfill(sandbox.client))[-1] == 1
    assert len(sandbox.ids("task")) == 1


# Writing


def test_task_line_formats_a_task() -> None:
    assert task_line("Pay\nrent", due="2026-01-04", priority="high", created="2026-01-01") == (
        "- [ ] Pay rent ⏫ ➕ 2026-01-01 📅 2026-01-04"
    )
    assert with_task("a", "- [ ] b") == "a\n- [ ] b\n"
    assert with_task("a\r\n", "- [ ] b") == "a\r\n- [ ] b\r\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- [ ] One", "- [x] One ✅ 2026-01-04"),
        ("  * [/] One  ", "  * [x] One ✅ 2026-01-04"),
        ("> 1. [ ] One ^id", "> 1. [x] One ✅ 2026-01-04 ^id"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_checking_a_box_changes_its_line_and_nothing_else(line: str, expected: str, newline: str) -> None:
    text = newline.join(("# Top", line, "- [ ] Other", ""))
    assert checked(text, 2, "2026-01-04") == newline.join(("# Top", expected, "- [ ] Other", ""))


@pytest.mark.parametrize("line", ["- [x] One", "- One", "text", ""])
def test_only_an_open_box_is_checked(line: str) -> None:
    assert checked(f"{line}\n", 1, "2026-01-04") is None
    assert checked(f"{line}\n", 9, "2026-01-04") is None


def test_a_task_is_named_by_its_id_or_the_beginning_of_it(sandbox: Sandbox) -> None:
    follow(sandbox, "a.md", "- [ ] One\n- [ ] Two 📅 2026-01-01\n")
    rows = list_tasks(sandbox.store.database)
    assert [row.title for row in rows] == ["Two", "One"]
    assert named_task(rows, rows[0].short_id[:6]) == rows[0]
    assert named_task(rows, rows[1].id) == rows[1]
    follow(sandbox, "b.md", "- [x] One\n- [ ] Two\n")
    every = list_tasks(sandbox.store.database)
    assert named_task(every, rows[1].short_id) == rows[1]
    with pytest.raises(Exception, match="several tasks begin with this"):
        named_task(every, rows[0].short_id)
    assert line_now("\n\n- [ ] Two\n", rows[0]) == 3
    with pytest.raises(Exception, match="there is no task"):
        named_task(rows, "zzz")
    with pytest.raises(Exception, match="no longer contains"):
        line_now("- [ ] Three\n", rows[0])
