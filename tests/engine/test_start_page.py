"""The engine's data for the start page: recent notes, due tasks, and a question that the vault answers."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import pytest

from tests.engine.helpers import Sandbox, new_sandbox, open_engine

pytestmark = pytest.mark.usefixtures("alone")

TODAY = datetime.date(2026, 3, 12)


def clock() -> float:
    return datetime.datetime.combine(TODAY, datetime.time(9)).timestamp()


def due(days: int) -> str:
    return (TODAY + datetime.timedelta(days=days)).isoformat()


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = new_sandbox(tmp_path)
    boxes = [f"- [ ] in {days} days 📅 {due(days)}\n" for days in (30, 2, -3, -1, 0)]
    made.write("tasks.md", "# Tasks\n\n" + "".join(boxes) + f"- [x] done 📅 {due(0)}\n- [ ] whenever\n")
    made.write("jams.md", "# Paper jams\n\n## Clearing one by hand\nOpen the lid, pull the paper out downwards.\n")
    made.write("a.md", "# A\n\n## Decisions\nNone.\n\n## 2026 W10\nNothing.\n")
    made.write("b.md", "# B\n\n## Decisions\nNone.\n")
    made.write("secret.md", "---\ndonna_sensitive: true\n---\n## Where the spare key is\nUnder the pot.\n")
    for age, name in enumerate(("jams.md", "tasks.md", "secret.md", "a.md", "b.md")):
        os.utime(made.root / name, (1e9 - age, 1e9 - age))
    return made


async def test_the_start_page_of_an_indexed_vault(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False, semantic=False, clock=clock) as running:
        await running.engine.sync()
        recent = await running.engine.recent_notes(3)
        assert [each.path for each in recent] == ["jams.md", "tasks.md", "secret.md"]
        tasks = await running.engine.tasks_due(10)
        assert [each.title for each in tasks] == ["in 0 days", "in 2 days", "in -1 days", "in -3 days"]
        assert await running.engine.example_question() == "what about clearing one by hand in jams"


async def test_no_list_of_open_tasks_has_one_that_another_note_has_as_done(sandbox: Sandbox) -> None:
    boxes = "".join(f"- [ ] {words} 📅 {due(1)}\n" for words in ("Call Bo", "Pay the rent", "Write to Ana"))
    sandbox.write(f"Daily/{due(-2)}.md", boxes)
    sandbox.write(f"Daily/{due(-1)}.md", "- [x] call **Bo**.\n")
    sandbox.write(f"Daily/{due(-3)}.md", "- [x] Pay the rent\n")
    sandbox.write("Letters.md", f"- [x] Write to Ana 📅 {due(2)} ✅ {due(-1)}\n")
    async with open_engine(sandbox, watch=False, semantic=False, clock=clock) as running:
        await running.engine.sync()
        tasks = await running.engine.tasks_due(10)
        assert [each.title for each in tasks if each.due == due(1)] == ["Pay the rent", "Write to Ana"]
        tasks = await running.engine.memory.tasks()
        assert [each.title for each in tasks if each.due == due(1)] == ["Pay the rent", "Write to Ana"]
        assert "Call Bo" in [each.title for each in await running.engine.memory.tasks(everything=True)]


async def test_a_task_that_was_copied_between_dated_notes_is_listed_once(sandbox: Sandbox) -> None:
    for path in (f"Daily/{due(-2)}.md", f"Daily/{due(-1)}.md", "House.md", "Shed.md"):
        sandbox.write(path, f"- [ ] Change the filter 📅 {due(5)}\n- [ ] Sweep\n    - [ ] Pay 📅 {due(6)}\n")
    sandbox.write("Beds/2026-01-02.md", "- [ ] Sweep\n")
    async with open_engine(sandbox, watch=False, semantic=False, clock=clock) as running:
        await running.engine.sync()
        listed = [(each.title, each.note) for each in await running.engine.memory.tasks() if each.due == due(5)]
        notes = [f"Daily/{due(-2)}.md", "House.md", "Shed.md"]
        assert sorted(listed) == [("Change the filter", note) for note in notes]
        undated = [each.note for each in await running.engine.memory.tasks() if each.title == "Sweep"]
        assert sorted(undated) == ["Beds/2026-01-02.md", *notes], "a note of another series may mean another task"


async def test_recent_notes_are_listed_before_they_are_indexed(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False, semantic=False, clock=clock) as running:
        recent = await running.engine.recent_notes(3)
        assert [each.name for each in recent] == ["jams", "tasks", "secret"]


async def test_questions_are_kept_over_restarts_with_the_state_of_the_space(sandbox: Sandbox) -> None:
    for text in ("first", "second"):
        async with open_engine(sandbox, watch=False, semantic=False) as running:
            await running.engine.save_question(text)
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        assert await running.engine.questions() == ("second", "first")
    assert not [file for file in sandbox.root.rglob("*") if "question" in file.name]
