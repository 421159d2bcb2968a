"""Format the text of an indexed task, and convert it to the check box that is shown."""

from __future__ import annotations

import re

from donna_tui.types.search import TASK_MARKS


def task_text(title: str, status: str, domain: str, due: str, notes: str) -> str:
    """Return the text of a task that is hashed and embedded: title, status, domain, deadline and notes."""
    optional = (domain and f"domain: {domain}", due and f"deadline: {due}", notes)
    return "\n".join((title, f"status: {status}", *filter(None, optional)))


_TASK = re.compile(r"(?P<title>.*)\nstatus: (?P<status>\w+)(?:\ndomain: .*)?(?:\ndeadline: (?P<due>\S+))?")


def as_check_box(text: str) -> str:
    """Return the text of a task as a check box with its day, as in its note; other text as it is."""
    task = _TASK.match(text)
    if task is None:
        return text
    due = f" 📅 {task['due']}" if task["due"] else ""
    return f"- [{TASK_MARKS.get(task['status'], ' ')}] {task['title']}{due}{text[task.end() :]}"
