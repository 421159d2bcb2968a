"""Implement `donna task`: list the check boxes of notes, add one, and check one."""

from __future__ import annotations

import datetime
from dataclasses import asdict
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, MayInitialise, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message, require_found
from donna_tui.cli.search import run_with_index
from donna_tui.cli.session import Session, open_session
from donna_tui.cli.write import carry_out
from donna_tui.memory.checkboxes import PRIORITIES, checked, day_typed, task_line, with_task
from donna_tui.memory.tasks import line_now, named_task
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.types.memory import TaskRow
from donna_tui.types.search import TASK_MARKS
from donna_tui.vault.client import VaultNote
from donna_tui.vault.open import indexed_client
from donna_tui.vault.write.changes import has_etag

app = new_app("Tasks: the check boxes of your notes.")


@app.command("add")
def task_add(
    text: Annotated[list[str], typer.Argument(help="The text of the task.")],
    note: Annotated[str, typer.Option("--note", help="The note to add the check box to.")] = "Inbox/Tasks.md",
    due: Annotated[str, typer.Option("--due", help="The deadline, such as 2026-03-12, tomorrow or friday.")] = "",
    priority: Annotated[str, typer.Option("--priority", help="highest, high, medium, low or lowest.")] = "",
    agreed: MayInitialise = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Add a task to a note: one operation, which `donna undo` reverts."""
    task = " ".join(text)
    if not task.strip():
        raise DonnaError(Reason.USAGE, "no task given", hint='donna task add "call the bank" --due 2026-03-12')
    if priority and priority not in PRIORITIES.values():
        raise DonnaError(Reason.USAGE, f"there is no priority {priority}", hint=", ".join(PRIORITIES.values()))
    day = day_typed(due, datetime.date.today()) if due else None
    if due and day is None:
        raise DonnaError(Reason.USAGE, f"{due} is not a date", hint="write it as 2026-03-12, tomorrow or friday")
    line = task_line(task, due=day.isoformat() if day else "", priority=priority, created=today())
    session = open_session(space)
    known = _read(session, note)
    content, seen = with_task(known.text if known else "", line), has_etag(known.etag if known else None)
    carry_out(
        session,
        lambda writer: writer.planner.write(note, content, expected=seen, replace=True),
        agreed=agreed,
        as_json=as_json,
    )


@app.command("done")
def task_done(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The id of a task, or the beginning of it.")],
    agreed: MayInitialise = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Mark a task as done: one operation, which `donna undo` reverts."""
    if not identity:
        raise DonnaError(Reason.USAGE, "no task given", hint="donna task list shows the ids")
    session = open_session(space)
    row = named_task(_tasks(session, everything=True), identity)
    known = _read(session, row.note)
    text = checked(known.text, line_now(known.text, row), today()) if known and row.is_open else None
    if known is None or text is None:
        raise DonnaError(Reason.CONFLICT, f"“{row.title}” is not open", hint="donna task list --all")
    seen = has_etag(known.etag)
    carry_out(
        session,
        lambda writer: writer.planner.write(row.note, text, expected=seen, replace=True),
        agreed=agreed,
        as_json=as_json,
    )
    if row.recurrence:
        print_message(f"donna: it repeats {row.recurrence}; the next one is not added automatically")


@app.command("list")
def task_list(
    everything: Annotated[bool, typer.Option("--all", help="Include tasks that are done or cancelled.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List tasks, earliest deadline first."""
    tasks = _tasks(open_session(space), everything=everything)
    emit({"count": len(tasks), "tasks": [asdict(task) for task in tasks]}, map(_line, tasks), as_json=as_json)
    require_found(tasks, "no tasks")


def _tasks(session: Session, *, everything: bool) -> list[TaskRow]:
    return run_with_index(session, "donna task", lambda engine: engine.memory.tasks(everything=everything))


def _read(session: Session, path: str) -> VaultNote | None:
    try:
        note = indexed_client(session.config, session.space.root).read(path)
    except VaultReadError as error:
        if error.reason is Reason.MISSING:
            return None
        raise
    if note.lossy:
        raise VaultWriteError(Reason.ENCODING, f"{path} is not valid UTF-8", hint="change it yourself", path=path)
    return note


def today() -> str:
    return datetime.date.today().isoformat()


def _line(task: TaskRow) -> str:
    mark = TASK_MARKS.get(task.status, " ")
    due = f"  due {task.due}" if task.due else ""
    priority = f"  {task.priority}" if task.priority else ""
    title = " › ".join(filter(None, (task.parent, task.title)))
    return f"[{mark}] {task.short_id}  {title}{due}{priority}  ({task.note}:{task.line})"
