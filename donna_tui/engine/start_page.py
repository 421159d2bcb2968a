"""Collect the content of the start page: recent notes, tasks that are due, and a question to try."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterator

from donna_tui.engine.open_tasks import OVERDUE_DAYS, still_open, words_of
from donna_tui.index.database import Database
from donna_tui.index.names import NameKind
from donna_tui.memory.tasks import list_tasks
from donna_tui.types.memory import TaskRow
from donna_tui.types.search import ME, NameMatch, SearchOutcome, SearchRequest
from donna_tui.vault.client import VaultClient

SOON_DAYS = 7
"""Days before its due date in which a task is shown; after it, `OVERDUE_DAYS`."""

RECENT_NOTES = 200
"""Maximum number of recently changed notes whose headings may become a question."""

TRIED = 6
"""Maximum number of candidates that are searched for until one is answered by its own note."""

LONGEST_QUESTION = 50
"""Maximum number of characters of a question, which is shown in half of the screen."""

_QUESTION = re.compile(r"(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")

ExampleQuestion = tuple[str, str]
"""A question made from a heading, and the path of the note that should answer it."""


def latest_on_disk(client: VaultClient, limit: int) -> tuple[NameMatch, ...]:
    """Return the most recently changed notes by a walk over the folder. Raises VaultReadError if it is missing."""
    notes = [entry.stat for entry in client.scan() if entry.reason is None and entry.stat is not None]
    newest = sorted(notes, key=lambda stat: stat.mtime_ns, reverse=True)[:limit]
    return tuple(NameMatch.of_file(stat.path, stat.mtime_ns / 1e9) for stat in newest)


def tasks_due(database: Database, today: datetime.date, limit: int, me: Collection[str] = ()) -> tuple[TaskRow, ...]:
    """Return open tasks that are due soon, earliest first, then overdue ones, latest first; copies of one once.

    Those that another note has as done are left out, as in the drafts of reviews; `me` are the user's names.
    """
    now, last = today.isoformat(), (today + datetime.timedelta(days=SOON_DAYS)).isoformat()
    first = (today - datetime.timedelta(days=OVERDUE_DAYS)).isoformat()
    tasks = list_tasks(database)
    words = {words_of(task, me) for task in tasks if task.is_open and first <= task.due <= last}
    alike = [task for task in tasks if words_of(task, me) in words]  # the few that can close one of these
    distinct: dict[tuple[str, str, str], TaskRow] = {}
    for task in still_open(database, alike, today, me):
        if first <= task.due <= last:
            distinct.setdefault((task.parent.casefold(), task.title.casefold(), task.due), task)
    due = distinct.values()
    soon = [task for task in due if task.due >= now]
    return (*soon, *sorted((task for task in due if task.due < now), key=lambda task: task.due, reverse=True))[:limit]


async def answered_question(
    candidates: tuple[ExampleQuestion, ...], search: Callable[[SearchRequest], Awaitable[SearchOutcome]]
) -> str:
    """Return the first candidate whose best hit is in its own note; empty if there is none. Raises DatabaseError."""
    for question, path in candidates:
        outcome = await search(SearchRequest(text=question, k=1, mode="keyword"))
        if outcome.hits and outcome.hits[0].path == path:
            return question
    return ""


def question_candidates(database: Database, day: datetime.date) -> tuple[ExampleQuestion, ...]:
    """Return questions from headings that only one note has, most specific first, in a different order each day."""
    found = [(name, *_candidate(name, title, path)) for name, title, path in _own_headings(database)]
    salt = day.isoformat()
    ranked = sorted(found, key=lambda each: (-each[1], hashlib.sha256(f"{salt}{each[0]}".encode()).digest()))
    return tuple(candidate for _, score, candidate in ranked if score > 0)[:TRIED]


_ALL_KINDS = ", ".join(str(int(kind)) for kind in NameKind)
"""All kinds of names, listed so that the index over kind and key is used; else each heading reads the whole table."""


def _own_headings(database: Database) -> Iterator[tuple[str, str, str]]:
    """Yield headings of the latest public notes that are not a name of another note, with their title and path."""
    yield from database.rows(
        "SELECT n.name, d.title, d.source_id FROM (SELECT id, title, source_id FROM memory_documents"  # noqa: S608
        " WHERE user_id = ? AND source_type = 'vault' AND deleted_at IS NULL AND NOT sensitive"
        " AND NOT is_draft ORDER BY modified_at DESC LIMIT ?) AS d JOIN note_names n ON n.document_id = d.id"
        f" WHERE n.kind = {int(NameKind.HEADING)} AND NOT EXISTS (SELECT 1 FROM note_names o"
        f" WHERE o.kind IN ({_ALL_KINDS}) AND o.key = n.key"
        f" AND (o.document_id <> n.document_id OR o.kind < {int(NameKind.TAG)}))",
        (ME, RECENT_NOTES),
    )


def _candidate(heading: str, title: str, path: str) -> tuple[int, ExampleQuestion]:
    """Make a question from a heading, with its score; 0 for one that is too short or long, or looks like data."""
    words = len(heading.split())
    if _QUESTION.match(heading) and words >= 4:
        score, question = 3, _lower_first(heading.rstrip(" ?"))
    elif not heading.isascii():
        score, question = 1, heading
    else:
        score, question = (2 if words >= 3 else 1), f"what about {_lower_first(heading)} in {title}"
    is_data = _DIGIT.search(heading) or any(mark in question for mark in "{}|:\"'`[]*<>")
    fits = 2 <= words <= 8 and len(question) <= LONGEST_QUESTION
    return (score if fits and not is_data else 0), (question, path)


def _lower_first(text: str) -> str:
    """Lower the first letter for the middle of a sentence, unless the first word is an acronym."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
