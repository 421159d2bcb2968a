"""When drafts are retried, which days they cover, and what a model elsewhere may get."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from donna_tui.drafts import queue
from donna_tui.drafts.queue import BACK_OFF, Entry
from donna_tui.drafts.series import allowed
from donna_tui.drafts.skills.reviews import week_of
from donna_tui.memory.database import MemoryDb, open_db
from donna_tui.types.drafts import DraftState


@pytest.fixture
def db(tmp_path: Path) -> Iterator[MemoryDb]:
    db = open_db(tmp_path)
    yield db
    db.close()


def test_a_failed_draft_is_retried_less_and_less_often_and_in_the_end_not_at_all(db: MemoryDb) -> None:
    entry = queue.save(
        db,
        Entry(
            id="1",
            skill="meeting_note",
            key="k",
            title="t",
            state=queue.COMPOSING,
            target="a.md",
            user_id="me",
            created_at=0.0,
        ),
    )
    pauses = []
    for _ in range(len(BACK_OFF) + 1):
        entry = queue.fail(db, entry, "io_error", "the disk is full", 1_000.0)
        pauses.append(None if entry.next_try is None else entry.next_try - 1_000.0)
        due = [each.id for each in queue.due_again(db.database, (entry.next_try or 1e12) - 1, 0.0)]
        assert due == []
    assert pauses == [*BACK_OFF, None]
    assert queue.of_id(db.database, "1") == replace(entry, state=DraftState.FAILED.value)


def test_decided_drafts_hide_neither_an_older_one_that_waits_nor_the_last_decision(db: MemoryDb) -> None:
    def put(number: int, state: DraftState, decided_at: float | None = None) -> None:
        of_a_skill = {"skill": "meeting_note", "title": "t", "target": "a.md", "decided_at": decided_at}
        queue.save(db, Entry(id=f"{number}", key=f"{number}", state=state, created_at=float(number), **of_a_skill))

    put(1, DraftState.WAITING)
    put(2, DraftState.APPROVED, decided_at=1e6)
    for number in range(3, 303):
        put(number, DraftState.REJECTED, decided_at=float(number))
    listed = [entry.id for entry in queue.entries(db.database)]
    assert (listed[0], listed[-2:], len(listed)) == ("302", ["2", "1"], 201)


@pytest.mark.parametrize("day", ["2026-11-23", "2026-11-26", "2026-11-29"])
def test_a_week_is_from_monday_to_sunday(day: str) -> None:
    week = week_of(datetime.date.fromisoformat(day))
    assert (week.first, week.last) == (datetime.date(2026, 11, 23), datetime.date(2026, 11, 29))


def test_a_model_elsewhere_gets_no_tasks_of_private_notes() -> None:
    tasks: list[Any] = [
        SimpleNamespace(text="public", sensitive=False),
        SimpleNamespace(text="private", sensitive=True),
    ]
    for remote, expected in ((True, ["public"]), (False, ["public", "private"])):
        assert [task.text for task in allowed(tasks, remote=remote)] == expected
