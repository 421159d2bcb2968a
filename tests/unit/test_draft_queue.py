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
