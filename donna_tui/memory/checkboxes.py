"""Parse check boxes in notes as tasks: status, dates, priority and recurrence in the syntax of Obsidian Tasks.

Sources: the user guide of Obsidian Tasks, “Tasks Emoji Format” and “Dataview Format”; the dates of Obsidian Kanban.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace

from donna_tui.text.dates import WEEKDAYS
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.prose import prose
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import TASK_MARKS
from donna_tui.vault.note.read import parse_frontmatter

NOTES_CHARS = 2_000
"""Maximum number of characters kept of the lines below a task that belong to it."""

NOWHERE = 1 << 30
"""A column deeper than any indentation."""

STATUS = {"X": "done", **{mark: status for status, mark in TASK_MARKS.items()}}
"""Status by mark. Other marks are custom and count as todo."""

DATES = {"📅": "due", "⏳": "scheduled", "🛫": "start", "➕": "created", "✅": "done", "❌": "cancelled"}
PRIORITIES = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}

_BOX = re.compile(r"\[(.)\][ \t]+(\S[^\r\n]*)")
_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+\Z")
_DAY = r"(\d{4}-\d{2}-\d{2})"
_DATE = re.compile(rf"([{''.join(DATES)}])\ufe0f?[ \t]*{_DAY}")
_PRIORITY = re.compile(rf"([{''.join(PRIORITIES)}])\ufe0f?")
_FIELD_MARKS = "".join((*DATES, *PRIORITIES, "🔁🆔⛔🏁"))
_RECURRENCE = re.compile(rf"🔁\ufe0f?[ \t]*([^{_FIELD_MARKS}\[(#]*)")
_ID = re.compile(r"🆔\ufe0f?[ \t]*([\w-]+)")
_OTHER = re.compile(r"(?:⛔\ufe0f?[ \t]*[\w,\- ]*|🏁\ufe0f?[ \t]*\w*)")
_INLINE = re.compile(
    rf"[\[(](?:(due|scheduled|start|created|completion|cancelled)::[ \t]*{_DAY}"
    r"|(priority|repeat|id|dependsOn|onCompletion)::[ \t]*([^\])]*))[\])]"
)
_KANBAN = re.compile(rf"(?<!\S)@(?:\{{{_DAY}\}}|\[\[{_DAY}\]\])(?:[ \t]*@@\{{[\d: apm]{{4,8}}\}})?", re.IGNORECASE)
_TAG = re.compile(r"(?<!\S)#([^\s#.,;:!?()\[\]'\"~]*[^\W\d][^\s#.,;:!?()\[\]'\"~]*)")
_BLOCK = re.compile(r"[ \t]\^([\w-]+)[ \t]*$")
_STRUCK = re.compile(r"\s*(?:~~(?=[^\s~])[^~]*~~\s*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A check box of a note. Lines are 1-based, dates are ISO days, and `key` is unique among the note's tasks.

    `parent` is the title of the task in whose list item a sub-task is.
    """

    title: str
    status: str
    line: int
    end_line: int
    key: str = ""
    parent: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    due: str = ""
    scheduled: str = ""
    start: str = ""
    created: str = ""
    done: str = ""
    cancelled: str = ""
    priority: str = ""
    recurrence: str = ""
    id: str = ""

    @property
    def is_open(self) -> bool:
        return self.status not in ("done", "cancelled")


def tasks_in(text: str) -> list[Task]:
    """Return the tasks of a note, in order. Check boxes in code, comments and frontmatter are not tasks."""
    lines = line_starts(text)
    found: list[Task] = []
    # The depth of quotation, the column of the content, and the title of each task whose list item is open.
    enclosing: list[tuple[int, int, str]] = []
    column = NOWHERE
    for low, high in prose(text, parse_frontmatter(text).body_start):
        first, last = line_of(lines, low), line_of(lines, high - 1)
        before = text[lines[first - 1] : low]
        indent = len(before.expandtabs(4))
        box, marker = _BOX.match(text, low, high), _MARKER.search(before)
        quoted, begin = before.count(">"), len(before[: marker.start()].expandtabs(4)) if marker else indent
        while enclosing and (enclosing[-1][0] != quoted or begin < enclosing[-1][1]):
            enclosing.pop()
        if box and marker:
            column = indent
            rest = " ".join(text[box.end() : high].split())
            parent = enclosing[-1][2] if enclosing else ""
            task = replace(parse_task(box[1], box[2]), line=first, end_line=last, notes=rest, parent=parent)
            found.append(task)
            enclosing.append((quoted, indent, task.title))
        elif indent > column:
            more = " ".join(text[low:high].split())
            notes = "\n".join(filter(None, (found[-1].notes, more)))[:NOTES_CHARS]
            found[-1] = replace(found[-1], notes=notes, end_line=last)
        else:
            column = NOWHERE
    # A key depends only on the words or the id of its task. Days distinguish tasks with equal words, since another
    # program may remove one of them.
    names = [task.id or " ".join(task.title.casefold().split()) for task in found]
    often, seen = Counter(names), Counter[str]()
    for place, (name, task) in enumerate(zip(names, found, strict=True)):
        day = task.due or task.scheduled or task.start
        key = f"{name} {day}" if day and often[name] > 1 else name
        seen[key] += 1
        found[place] = replace(task, key=key if seen[key] == 1 else f"{key}#{seen[key]}")
    return found


def task_key_hash(task: Task) -> str:
    return hashlib.sha256(task.key.encode("utf-8", "replace")).hexdigest()[:12]


def line_of_task(text: str, key_hash: str) -> int | None:
    """Return the line (1-based) of a task in the current version of its note; None if it is no longer there."""
    return next((task.line for task in tasks_in(text) if task_key_hash(task) == key_hash), None)


def parse_task(mark: str, line: str) -> Task:
    """Parse a check box with this mark and text; the task's lines are not set.

    A task whose words are all struck through is cancelled.
    """
    fields = {DATES[mark]: day for mark, day in _DATE.findall(line) if _is_day(day)}
    priority = _PRIORITY.search(line)
    recurrence = _RECURRENCE.search(line)
    identity = _ID.search(line)
    card = _KANBAN.search(line)
    day = (card[1] or card[2]) if card else ""
    if _is_day(day):
        fields.setdefault("due", day)
    values = {
        "priority": PRIORITIES[priority[1]] if priority else "",
        "recurrence": recurrence[1].strip() if recurrence else "",
        "id": identity[1] if identity else "",
        **fields,
    }
    names = {"completion": "done", "repeat": "recurrence"}
    for kind, day, other, value in _INLINE.findall(line):
        if kind and _is_day(day):
            values[names.get(kind, kind)] = day
        elif other in ("priority", "repeat", "id"):
            values[names.get(other, other)] = value.strip()
    title = line
    for pattern in (_INLINE, _DATE, _KANBAN, _RECURRENCE, _ID, _OTHER, _PRIORITY, _BLOCK):
        title = pattern.sub(" ", title)
    status = STATUS.get(mark, "todo")
    if _STRUCK.fullmatch(_TAG.sub("", title).strip(" *_")):
        title = title.replace("~~", "")
        status = status if status == "done" else "cancelled"
    return Task(
        title=" ".join(title.split()), status=status, line=1, end_line=1, tags=tuple(_TAG.findall(title)), **values
    )


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def task_line(title: str, *, due: str = "", priority: str = "", created: str = "") -> str:
    marks = {name: mark for mark, name in PRIORITIES.items()}
    parts = ["- [ ]", " ".join(title.split())]
    parts += [marks[priority]] if priority else []
    parts += [f"➕ {created}"] if created else []
    parts += [f"📅 {due}"] if due else []
    return " ".join(parts)


def checked(text: str, line: int, today: str) -> str | None:
    """Return the note with the check box on a line (1-based) marked done today; None if there is no open one."""
    starts = [*line_starts(text), len(text)]
    if not 1 <= line < len(starts):
        return None
    box = text[starts[line - 1] : starts[line]]
    match = re.match(r"((?:[ \t>]*(?:[-*+]|\d{1,9}[.)]))+[ \t]+)\[([^xX-])\]([ \t]+\S[^\r\n]*)", box)
    if match is None:
        return None
    block = _BLOCK.search(match[3])
    words = match[3][: block.start()] if block else match[3]
    done = f"{match[1]}[x]{words.rstrip()} ✅ {today}{block[0].rstrip() if block else ''}{box[match.end() :]}"
    return text[: starts[line - 1]] + done + text[starts[line] :]


def with_task(text: str, line: str) -> str:
    """Add the line of a task to a note. Raises DonnaError (`conflict`) if it would be in an open code block there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    body = text if not text or text.endswith(("\n", "\r")) else text + newline
    added = f"{body}{line}{newline}"
    if len(tasks_in(added)) == len(tasks_in(text)):
        message = "the note ends in a code block or a comment, where a check box is not a task"
        raise DonnaError(Reason.CONFLICT, message, hint="close it, or choose another note")
    return added


def task_typed(text: str, today: datetime.date) -> tuple[str, str]:
    """Parse a typed task: its words, and the ISO day after a last “due”, if any."""
    match = _DUE.fullmatch(text.strip())
    day = day_typed(match[2], today) if match else None
    return (match[1], day.isoformat()) if match and day is not None else (text.strip(), "")


_DUE = re.compile(r"(.*\S)\s+due:?\s+(\S+)", re.IGNORECASE | re.DOTALL)


def day_typed(word: str, today: datetime.date) -> datetime.date | None:
    """Parse a day: ISO 8601, today, tomorrow, or the beginning of a weekday's name, such as fri, for the next one."""
    word = word.lower()
    if word in ("today", "tomorrow"):
        return today + datetime.timedelta(days=word == "tomorrow")
    weekday = next((n for n, name in enumerate(WEEKDAYS) if len(word) >= 3 and name.lower().startswith(word)), None)
    if weekday is not None:
        return today + datetime.timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    try:
        return datetime.date.fromisoformat(word)
    except ValueError:
        return None
