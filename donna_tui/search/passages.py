"""Load the passages that a search ranks, checks and shows, and format those of tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from donna_tui.index.database import Database
from donna_tui.search.snippets import parsed
from donna_tui.types.search import TASK_MARKS, MemorySource
from donna_tui.vault.note.read import is_by_donna


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


class PassageRow(NamedTuple):
    """A passage with the columns of its document, by its integer key. The heading path and the metadata are JSON."""

    id: int
    chunk_id: str
    document_id: str
    source_type: str
    path: str
    title: str
    heading_path: str
    start_line: int
    end_line: int
    content: str
    uri: str
    sensitive: int
    metadata: str
    dated_at: float
    is_draft: int
    names: str

    @property
    def about(self) -> str:
        """Return the text that all passages of a note share: its names, its own date and its path."""
        return f"{self.names} {self.path}"

    @property
    def whole(self) -> str:
        """Return all text of a passage in which the words of a question can be found."""
        return f"{self.about} {self.heading_path} {self.content}"

    @property
    def shown(self) -> str:
        """Return the text for an excerpt: that of a task as its check box."""
        return as_check_box(self.content) if self.source_type == MemorySource.TASK else self.content

    @property
    def is_by_donna(self) -> bool:
        """Return whether Donna wrote the note."""
        return is_by_donna(parsed(self.metadata or "{}").get("frontmatter") or {})


class PassageCache:
    """The passages of an index that one search needs, each loaded once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._loaded: dict[int, PassageRow] = {}

    def rows(self, ids: Sequence[int]) -> dict[int, PassageRow]:
        """Return passages by integer key, without those that were deleted meanwhile."""
        if missing := [key for key in ids if key not in self._loaded]:
            self._loaded |= self.database.cached_by_id("passages", missing, _load)
        return {key: self._loaded[key] for key in ids if key in self._loaded}


def _load(database: Database, ids: Sequence[int]) -> dict[int, PassageRow]:
    marks = ", ".join("?" * len(ids))
    rows = database.rows(
        "SELECT c.id, c.chunk_id, d.id, d.source_type, d.source_id, d.title, c.heading_path, c.start_line, c.end_line,"  # noqa: S608
        " c.content, d.uri, d.sensitive, d.metadata_json, d.dated_at, d.is_draft, d.search_title FROM memory_chunks c"
        f" JOIN memory_documents d ON d.id = c.document_id WHERE c.id IN ({marks})",
        ids,
    )
    return {row[0]: PassageRow(*row) for row in rows}
