"""Leave out the open tasks that another note has as done, moved or copied, as the drafts of reviews do."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
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
    """Return the open ones of some tasks without those that another one of them has as done, and one that was copied
    from one dated note to another with its deadline, or to one of the same series, only once. `me` are the user's
    names, which are ignored in the words of a task.
    """
    wanted = [task for task in tasks if task.is_open]
    words = {task.id: words_of(task, me) for task in tasks}
    count, unfinished = Counter(words.values()), {words[task.id] for task in wanted}
    alike = [task for task in tasks if count[words[task.id]] > 1 and words[task.id] in unfinished]
    if not alike:
        return wanted
    from donna_tui.drafts.skills.cadence import Span, done_in_another_note, series_of  # imports the drafts

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
        if task.id not in done:
            place = (task.due or series_of(task.note)) if days.get(task.note) else task.id
            found.setdefault((task.title.casefold(), task.parent, place), task)
    return list(found.values())


def words_of(task: TaskRow, me: Collection[str]) -> frozenset[str]:
    """Return the words of a task without the user's names: equal for tasks that may be the same."""
    return frozenset(_WORD.findall(task.title.casefold())).difference(_WORD.findall(" ".join(me).casefold()))
