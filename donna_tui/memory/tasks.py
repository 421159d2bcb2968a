"""List the tasks of an index, and find the one with an id."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from donna_tui.config.models import TaskSourceConfig
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.store import MemoryStore
from donna_tui.memory.checkboxes import Task, line_of_task, task_key_hash, tasks_in
from donna_tui.memory.scores import store_scores
from donna_tui.memory.splitter import TextSplitter
from donna_tui.safety.classify import Sensitivity
from donna_tui.search.passages import task_text
from donna_tui.text.chunker import Chunk
from donna_tui.types.errors import DatabaseError, DonnaError, Reason, VaultReadError
from donna_tui.types.events import EventHub
from donna_tui.types.memory import MemoryType, TaskRow
from donna_tui.types.memory_events import MemoryIngestFailed, TasksIngested
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import VaultClient, VaultNote
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.obsidian import is_template

KIND = MemorySource.TASK.value


def task_document(task: Task, note: VaultNote, splitter: TextSplitter) -> tuple[Document, list[Chunk]]:
    domain = task.tags[0] if task.tags else note.title
    kind = MemoryType.WORKING if task.is_open else MemoryType.EPISODIC
    source_id = f"{note.path}#{task_key_hash(task)}"
    document = Document(
        source_type=KIND,
        source_id=source_id,
        title=note.title,
        text=task_text(task.title, task.status, domain, task.due, task.notes),
        uri=f"task:{source_id}",
        tags=task.tags,
        note_type=kind.value,
        modified_at=note.mtime,
        dated_at=note.dated_at,
        sensitive=note.sensitivity is not Sensitivity.PUBLIC,
        metadata={
            "type": kind.value,
            "note": note.path,
            "lines": [task.line, task.end_line],
            "at": note.dated_at,
            "tags": list(task.tags),
            **{name: value for name in _SHOWN if (value := getattr(task, name))},
        },
    )
    chunks = splitter.chunks(document, (), lambda _: task.line)
    return document, [replace(chunk, end_line=task.end_line) for chunk in chunks]


_SHOWN = (
    "title", "parent", "status", "due", "scheduled", "start", "created", "done", "cancelled", "priority", "recurrence",
    "id",
)  # fmt: skip


class TaskSource:
    """Keep the tasks of an index consistent with its notes.

    `stored` and `removed` run on the writer's thread, after the note is stored, and never raise: an error in a task is
    reported and affects only that note's tasks.
    """

    def __init__(
        self,
        config: TaskSourceConfig,
        store: MemoryStore,
        splitter: TextSplitter,
        hub: EventHub,
        templates: tuple[str, ...] = (),
    ) -> None:
        self._config, self._store, self._splitter, self._hub = config, store, splitter, hub
        self._templates = templates

    def stored(self, note: VaultNote) -> None:
        if self._config.enabled:
            self._observe(lambda: self.follow(note), note.path)

    def removed(self, path: str) -> None:
        self._observe(lambda: self._delete_others(path, set()), path)

    def follow(self, note: VaultNote) -> int:
        """Store the tasks of a note, delete those it no longer has, and return how many it has. Raises DatabaseError.

        A draft has no tasks until it is approved, so that generated check boxes are not taken for the user's tasks.
        Nor has a template: its check boxes are for the notes made from it.
        """
        started = time.perf_counter()
        has_none = note.frontmatter.data.get(DRAFT_KEY) or is_template(note.path, self._templates)
        found = () if has_none else tasks_in(note.text)
        documents = [task_document(task, note, self._splitter) for task in found]
        self._delete_others(note.path, {document.source_id for document, _ in documents})
        changed = sum(self._store_one(document, chunks) for document, chunks in documents)
        if changed:
            latency = (time.perf_counter() - started) * 1000
            self._hub.post(TasksIngested(documents=changed, latency_ms=latency))
        return len(documents)

    def _store_one(self, document: Document, chunks: list[Chunk]) -> bool:
        """Store a task, and embed it again if it moved into a status of `reindex_on_status`. Return whether it changed
        in more than its lines.
        """
        before = self._store.database.value(
            "SELECT json_extract(metadata_json, '$.status') FROM memory_documents"
            " WHERE user_id = ? AND source_type = ? AND source_id = ?",
            (document.user_id, KIND, document.source_id),
        )
        status = document.metadata["status"]
        stored = self._store.upsert(document, chunks)
        if stored.unchanged:
            self._store.database.run(
                "UPDATE memory_chunks SET start_line = ?1, end_line = ?2 WHERE document_id = ?3"
                " AND (start_line, end_line) <> (?1, ?2)",
                (chunks[0].start_line, chunks[0].end_line, stored.id),
            )
        elif before not in (None, status) and status in self._config.reindex_on_status:
            self._store.embed_again(stored.id)
        store_scores(self._store.database, stored.id, document, self._splitter.counter)
        return not stored.unchanged

    def backfill(self, client: VaultClient) -> Iterator[int]:
        """Read every note again, one per step, and drop tasks of removed notes; yield the count so far."""
        paths = set(client.list()) if self._config.enabled else set()
        count = 0
        known = self._store.database.column("SELECT source_id FROM memory_documents WHERE source_type = ?", (KIND,))
        for path in {each.rpartition("#")[0] for each in known} - paths:
            self._delete_others(path, set())
        for path in sorted(paths):
            try:
                count += self.follow(client.read(path))
            except VaultReadError:
                self._delete_others(path, set())
            yield count

    def _delete_others(self, path: str, wanted: set[str]) -> None:
        known = self._store.database.column(
            "SELECT source_id FROM memory_documents WHERE user_id = 'me' AND source_type = ?"
            " AND source_id >= ? AND source_id < ?",
            (KIND, f"{path}#", f"{path}$"),  # '$' is the character after '#'
        )
        for source_id in set(known) - wanted:
            self._store.delete(KIND, source_id)

    def _observe(self, work: Callable[[], Any], path: str) -> None:
        try:
            work()
        except DatabaseError as error:
            self._hub.post(MemoryIngestFailed(source_type=KIND, reason=error.reason, item=path))
        except Exception as error:
            # Whatever one note does to the code that reads its tasks, the note itself is stored.
            self._hub.post(MemoryIngestFailed(source_type=KIND, reason=type(error).__name__, item=path))


TASK_ORDER = (
    f"d.note_type <> '{MemoryType.WORKING}', coalesce(d.metadata_json ->> '$.due', '9999-12-31'),"
    " CASE d.metadata_json ->> '$.priority'"
    " WHEN 'highest' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 4 WHEN 'lowest' THEN 5 ELSE 3 END,"
    " d.metadata_json ->> '$.note', d.metadata_json ->> '$.lines[0]'"
)
"""The order of tasks in SQL, for a document `d`: open ones first, then the earliest deadline, then the most urgent."""


def list_tasks(database: Database) -> list[TaskRow]:
    """List all tasks, open ones first."""
    rows = database.rows(
        "SELECT d.source_id, d.metadata_json, d.sensitive FROM memory_documents d"  # noqa: S608
        f" WHERE d.source_type = 'task' AND d.user_id = 'me' ORDER BY {TASK_ORDER}"
    )
    return [_row(*row) for row in rows]


def _row(source_id: str, metadata: str, sensitive: int) -> TaskRow:
    known: dict[str, Any] = json.loads(metadata)
    names = ("parent", "due", "scheduled", "start", "created", "done", "priority", "recurrence")
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


def named_task(tasks: Sequence[TaskRow], named: str) -> TaskRow:
    """Find a task by its id or a prefix of its hash. Raises DonnaError if none or several match.

    Copies of a task in several notes have one hash: then the one that is open is meant.
    """
    found = [task for task in tasks if named in (task.id, task.id.removeprefix("task:"))]
    found = found or [task for task in tasks if named and task.short_id.startswith(named)]
    found = [task for task in found if task.is_open] or found
    if not found:
        raise DonnaError(Reason.MISSING, f"there is no task {named}", hint="donna task list shows the ids")
    if len(found) > 1:
        listed = ", ".join(task.id for task in found[:4])
        raise DonnaError(Reason.USAGE, f"several tasks begin with this: {listed}", hint="name one of them in full")
    return found[0]


def line_now(text: str, row: TaskRow) -> int:
    """Return the current line of a task in its note. Raises DonnaError if the note no longer contains it."""
    line = line_of_task(text, row.short_id)
    if line is None:
        raise DonnaError(Reason.MISSING, f"{row.note} no longer contains this task", hint="run donna task list")
    return line
