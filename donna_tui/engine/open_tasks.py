"""Leave out the open tasks that another note has as done, moved or copied, as the drafts of reviews do."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Collection, Sequence

from donna_tui.index.database import Database
from donna_tui.types.memory import TaskRow
from donna_tui.types.search import ME

_WORD = re.compile(r"\w+")

OVERDUE_DAYS = 90
"""Days for which an open task of a note without a date may have been done in another one."""


def still_open(
    database: Database, tasks: Sequence[TaskRow], today: datetime.date, me: Collection[str] = ()
) -> list[TaskRow]:
    """Return the open ones of some tasks without those that another one of them has as done, and one with a deadline
    that was copied from one dated note to another only once. `me` are the user's names, which are ignored in the words
    of a task.
    """
    wanted = [task for task in tasks if task.is_open]
    words = {task.id: words_of(task, me) for task in tasks}
    closed = {words[task.id] for task in tasks if not task.is_open or task.due}
    shared = {words[task.id] for task in wanted} & closed
    alike = [task for task in tasks if words[task.id] in shared]
    if len(alike) == len(shared):
        return wanted
    from donna_tui.drafts.skills.cadence import Span, done_in_another_note  # imports the drafts, seldom needed

    days = dict.fromkeys((task.note for task in alike), "")
    dated = database.rows(
        "SELECT source_id, dated_at FROM memory_documents WHERE source_type = 'vault' AND user_id = ?"
        " AND dated_at <> modified_at AND source_id IN (SELECT value FROM json_each(?))",
        (ME, json.dumps(list(days))),
    )
    days |= {path: datetime.date.fromtimestamp(at).isoformat() for path, at in dated}
    span = Span(today - datetime.timedelta(days=OVERDUE_DAYS), today)
    done = done_in_another_note(alike, days, span, me)
    found: dict[object, TaskRow] = {}
    for task in wanted:
        is_copied = task.due and days.get(task.note)
        if task.id not in done:
            found.setdefault((task.title.casefold(), task.parent, task.due) if is_copied else task.id, task)
    return list(found.values())


def words_of(task: TaskRow, me: Collection[str]) -> frozenset[str]:
    """Return the words of a task without the user's names: equal for tasks that may be the same."""
    return frozenset(_WORD.findall(task.title.casefold())).difference(_WORD.findall(" ".join(me).casefold()))
