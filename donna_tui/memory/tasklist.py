"""The tasks that an index knows, for listing, and the one that an id names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from donna_tui.errors import DonnaError, Reason
from donna_tui.index.database import Database
from donna_tui.memories import TaskRow
from donna_tui.memory.checkboxes import line_of_task

LATEST = "9999-12-31"
_URGENCY = ("highest", "high", "medium", "", "low", "lowest")


def list_tasks(database: Database, *, everything: bool = False) -> list[TaskRow]:
    """Open tasks, or all: the earliest deadline first, then the most urgent."""
    rows = database.rows(
        "SELECT source_id, metadata_json, sensitive FROM memory_documents"
        " WHERE source_type = 'task' AND user_id = 'me' ORDER BY source_id"
    )
    tasks = [_row(*row) for row in rows]
    shown = [task for task in tasks if everything or task.status not in ("done", "cancelled")]
    return sorted(shown, key=lambda task: (task.due or LATEST, _urgency(task), task.note, task.line))


def _row(source_id: str, metadata: str, sensitive: int) -> TaskRow:
    known: dict[str, Any] = json.loads(metadata)
    names = ("due", "scheduled", "start", "done", "priority", "recurrence")
    return TaskRow(
        id=f"task:{source_id}",
        title=known.get("title", ""),
        status=known["status"],
        note=known["note"],
        line=known["lines"][0],
        tags=tuple(known["tags"]),
        sensitive=bool(sensitive),
        **{name: known.get(name, "") for name in names},
    )


def _urgency(task: TaskRow) -> int:
    return _URGENCY.index(task.priority) if task.priority in _URGENCY else _URGENCY.index("")


def named_task(tasks: Sequence[TaskRow], named: str) -> TaskRow:
    """The task with this id, or whose hash begins so. Raises DonnaError for none or several."""
    found = [task for task in tasks if named in (task.id, task.id.removeprefix("task:"))]
    found = found or [task for task in tasks if named and task.short_id.startswith(named)]
    if not found:
        raise DonnaError(Reason.MISSING, f"there is no task {named}", hint="donna task list tells the ids")
    if len(found) > 1:
        listed = ", ".join(task.id for task in found[:4])
        raise DonnaError(Reason.USAGE, f"several tasks begin so: {listed}", hint="name one of them in full")
    return found[0]


def line_now(text: str, row: TaskRow) -> int:
    """The line of a task in its note as it is now. Raises DonnaError if it is not there any more."""
    line = line_of_task(text, row.short_id)
    if line is None:
        raise DonnaError(Reason.MISSING, f"{row.note} does not hold this task any more", hint="donna task list")
    return line
