"""Apply the change list of `memory.db` to an index, and store the documents that differ.

The index stores its position in the change list. A new index begins at the start of the list, so it is complete
before it replaces the old one.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.index.store import MemoryStore
from donna_tui.ingest.pipeline import IngestContext
from donna_tui.memory.database import MemoryDb, erasure_mark, finish_erasures, read_db
from donna_tui.memory.splitter import TextSplitter
from donna_tui.text.chunker import Chunk
from donna_tui.types.errors import DonnaError
from donna_tui.types.memory_events import (
    BackfillDone,
    ChatIngested,
    CorrectionIngested,
    MemoryIngestFailed,
    MemoryRemembered,
)
from donna_tui.types.search import MemorySource
from donna_tui.vault.obsidian import template_folders

if TYPE_CHECKING:
    from donna_tui.memory.deriver import Deriver
    from donna_tui.memory.tasks import TaskSource

DERIVER_VERSION = "9"
"""Increment when the derived documents change."""

TASKS_VERSION = "6"
"""Increment when the documents of tasks change."""

PAGE = 200
"""Changes read per page."""

_EVENTS: dict[str, type[ChatIngested] | type[CorrectionIngested] | type[MemoryRemembered]] = {
    "chat": ChatIngested,
    "correction": CorrectionIngested,
    "memory": MemoryRemembered,
}


class ChangeFollower:
    """Apply changes to an index. The generators yield 1 for each document that changed and 0 for the others."""

    def __init__(self, context: IngestContext, store: MemoryStore) -> None:
        self._context, self._store, self._hub = context, store, context.hub
        self._sources = context.config.sources
        self._splitter = TextSplitter(context.chunker.counter, context.chunker.window)
        self._db: MemoryDb | None = None

    @cached_property
    def tasks(self) -> TaskSource:
        from donna_tui.memory.tasks import TaskSource

        return TaskSource(self._sources.tasks, self._store, self._splitter, self._hub, self._templates)

    @cached_property
    def _templates(self) -> tuple[str, ...]:
        """The folders of templates that are set in Obsidian."""
        return template_folders(self._context.space.root)

    @cached_property
    def _deriver(self) -> Deriver:
        from donna_tui.memory.deriver import Deriver

        return Deriver(self._sources, self._splitter)

    @property
    def _version(self) -> str:
        """Return a fingerprint of the settings that decide how rows become documents."""
        sources, splitter = self._sources, self._splitter
        fingerprint = f"{sources.chat!r}{sources.corrections!r}{splitter.counter.name}{splitter.window}"
        return f"{DERIVER_VERSION}:{hashlib.sha256(fingerprint.encode()).hexdigest()[:16]}"

    def follow(self) -> Iterator[int]:
        database = self._store.database
        if get_meta(database, "tasks") != self._tasks_version():
            _forget_hashes(database, MemorySource.TASK)
            yield from self.tasks.backfill(self._context.client)
            set_meta(database, "tasks", self._tasks_version())
        db = self._open_db()
        if db is not None:
            if get_meta(database, "memory_book") != db.id:
                yield from self._begin_anew(db)
            yield from self._follow_changes(db)
        if database.value("SELECT 1 FROM memory_departed LIMIT 1"):
            from donna_tui.memory.scores import finish_deletions

            finish_deletions(database)
        finish_erasures(database)

    def _tasks_version(self) -> str:
        return f"{TASKS_VERSION}:{self._sources.tasks.enabled}:{self._templates}:{self._version}"

    def _begin_anew(self, db: MemoryDb) -> Iterator[int]:
        """Follow a memory other than the indexed one, such as a restored backup: delete what it lacks."""
        for source in _EVENTS:
            stored = "SELECT source_id, user_id FROM memory_documents WHERE source_type = ?"
            for source_id, user in self._store.database.rows(stored, (source,)):
                if not self._deriver.holds(db.database, source, source_id, user):
                    self._erase(source, source_id, user)
                    yield 1
        set_meta(self._store.database, "memory_seq", "0")
        set_meta(self._store.database, "memory_book", db.id)

    def _follow_changes(self, db: MemoryDb) -> Iterator[int]:
        database = self._store.database
        if get_meta(database, "memory_sources") != self._version:
            _forget_hashes(database, *_EVENTS)
            set_meta(database, "memory_seq", "0")
            set_meta(database, "memory_sources", self._version)
        while True:
            since = int(get_meta(database, "memory_seq") or 0)
            rows = db.database.rows(
                "SELECT seq, source, item FROM changes WHERE seq > ? ORDER BY seq LIMIT ?", (since, PAGE)
            )
            if not rows:
                return
            counts: Counter[str] = Counter()
            started = time.perf_counter()
            for seq, source, item in rows:
                for count in self._apply(db, source, item):
                    counts[source] += count
                    yield count
                set_meta(database, "memory_seq", str(seq))
            latency = (time.perf_counter() - started) * 1000
            for source, count in counts.items():
                if source in _EVENTS:  # without a document, some may have been removed
                    self._hub.post(_EVENTS[source](documents=count, latency_ms=latency))

    def _apply(self, db: MemoryDb, source: str, item: str) -> Iterator[int]:
        """Update the documents of one item; yield 1 for each that changed, 0 for the others.

        An unexpected error in one item is reported and does not stop the others.
        """
        try:
            yield from self._replace(db, source, item)
        except DonnaError:
            raise
        except Exception as error:
            self._hub.post(MemoryIngestFailed(source_type=source, reason=type(error).__name__, item=item))

    def _replace(self, db: MemoryDb, source: str, item: str) -> Iterator[int]:
        user, prefix, made = self._deriver.documents(db.database, self._store.database, source, item)
        left = self._deriver.existing(self._store.database, source, prefix, user)
        for document, chunks in made:
            was_there = document.source_id in left
            left.discard(document.source_id)
            changed = self._put(document, chunks)
            if changed and was_there:
                erasure_mark(self._store.database.path).touch(mode=0o600)
            yield int(changed)
        for source_id in left:
            self._erase(source, source_id, user)
            yield 0

    def _erase(self, source: str, source_id: str, user: str) -> None:
        """Delete a document, and schedule the truncation of the log at the end of the round."""
        erasure_mark(self._store.database.path).touch(mode=0o600)
        self._store.delete(source, source_id, user)

    def _put(self, document: Document, chunks: list[Chunk]) -> bool:
        from donna_tui.memory.scores import store_scores

        stored = self._store.upsert(document, chunks)
        store_scores(self._store.database, stored.id, document, self._splitter.counter)
        return not stored.unchanged

    def backfill(self, source: str) -> Iterator[int]:
        """Reindex a source, yielding the number of documents processed so far. Raises DonnaError."""
        started = time.perf_counter()
        count = 0
        for count in self._backfill(source):
            yield count
        latency = (time.perf_counter() - started) * 1000
        self._hub.post(BackfillDone(source_type=source, documents=count, latency_ms=latency))

    def _backfill(self, source: str) -> Iterator[int]:
        if source == MemorySource.TASK:
            yield from self.tasks.backfill(self._context.client)
        elif db := self._open_db():
            items = self._deriver.items(db.database, source)
            done = (each for item in items for each in self._replace(db, source, item))
            yield from (count for count, _ in enumerate(done, 1))

    def _open_db(self) -> MemoryDb | None:
        if self._db is None:
            self._db = read_db(self._context.space.state)
        return self._db

    def close(self) -> None:
        """Close the memory; the next use opens it again."""
        if self._db:
            self._db.close()
            self._db = None


def _forget_hashes(database: Database, *sources: str) -> None:
    """Clear the content hashes of documents, so that they are stored and embedded again."""
    database.run_many(
        "UPDATE memory_documents SET content_hash = '' WHERE source_type = ?", [(source,) for source in sources]
    )
