"""Brings `memory.db` into one index, on the index's writer thread, a document at a step.

The index remembers how far it has read the list of changes. A new index begins at its start, so it is complete before
it takes the place of the old one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from donna_tui.config.models import SourcesConfig
from donna_tui.errors import DonnaError
from donna_tui.events import (
    BackfillDone,
    ChatIngested,
    CorrectionIngested,
    EventHub,
    MemoryIngestFailed,
    MemoryRemembered,
)
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.index.store import MemoryStore
from donna_tui.memories import MemorySource
from donna_tui.memory.book import Book, erasure_mark, finish_erasures, read_book
from donna_tui.memory.derive import Deriver
from donna_tui.memory.passages import Cut
from donna_tui.memory.scores import keep_scores, settle_departed
from donna_tui.memory.tasks import VERSION, TaskSource
from donna_tui.records import dataclass
from donna_tui.text.chunker import Chunk
from donna_tui.vault.client import VaultClient

PAGE = 200
"""Changes that are read at once."""

_TOLD: dict[str, type[ChatIngested] | type[CorrectionIngested] | type[MemoryRemembered]] = {
    "chat": ChatIngested,
    "correction": CorrectionIngested,
    "memory": MemoryRemembered,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedParts:
    """What a feed is made of. `folder` is the space's state folder."""

    folder: Path
    sources: SourcesConfig
    client: VaultClient
    cut: Cut
    hub: EventHub


class Follower:
    """Its generators yield 1 for each document that changed and 0 for the others."""

    def __init__(self, parts: FeedParts, store: MemoryStore) -> None:
        self._parts, self._store, self._hub = parts, store, parts.hub
        self.tasks = TaskSource(parts.sources.tasks, store, parts.cut, parts.hub)
        self._deriver = Deriver(parts.sources, parts.cut)
        self._book: Book | None = None

    def follow(self) -> Iterator[int]:
        """All that has changed since the index last looked."""
        database = self._store.database
        if get_meta(database, "tasks") != self._tasks_version():
            _forget_hashes(database, MemorySource.TASK)
            yield from self.tasks.backfill(self._parts.client)
            set_meta(database, "tasks", self._tasks_version())
        book = self._open_book()
        if book is None:
            return
        if get_meta(database, "memory_book") != book.id:
            yield from self._begin_anew(book)
        yield from self._follow_changes(book)
        settle_departed(database)
        finish_erasures(database)

    def _tasks_version(self) -> str:
        return f"{VERSION}:{self._parts.sources.tasks.enabled}:{self._deriver.version}"

    def _begin_anew(self, book: Book) -> Iterator[int]:
        """Another memory than the index knows, such as a backup: what it does not hold is dropped."""
        for source in _TOLD:
            for source_id, user in _documents(self._store, source):
                if not self._deriver.holds(book.database, source, source_id, user):
                    self._erase(source, source_id, user)
                    yield 1
        set_meta(self._store.database, "memory_seq", "0")
        set_meta(self._store.database, "memory_book", book.id)

    def _follow_changes(self, book: Book) -> Iterator[int]:
        database = self._store.database
        if get_meta(database, "memory_sources") != self._deriver.version:
            _forget_hashes(database, *_TOLD)
            set_meta(database, "memory_seq", "0")
            set_meta(database, "memory_sources", self._deriver.version)
        while True:
            since = int(get_meta(database, "memory_seq") or 0)
            rows = book.database.rows(
                "SELECT seq, source, item FROM changes WHERE seq > ? ORDER BY seq LIMIT ?", (since, PAGE)
            )
            if not rows:
                return
            told: Counter[str] = Counter()
            started = time.perf_counter()
            for seq, source, item in rows:
                for count in self._bring_in(book, source, item):
                    told[source] += count
                    yield count
                set_meta(database, "memory_seq", str(seq))
            self._tell(told, (time.perf_counter() - started) * 1000)

    def _bring_in(self, book: Book, source: str, item: str) -> Iterator[int]:
        """Make the documents of one item agree with it; 1 for each that changed, 0 for the others.

        Whatever one item does to the code that reads it, the others are brought in.
        """
        try:
            yield from self._replace(book, source, item)
        except DonnaError:
            raise
        except Exception as error:
            self._hub.post(MemoryIngestFailed(source_type=source, reason=type(error).__name__, item=item))

    def _replace(self, book: Book, source: str, item: str) -> Iterator[int]:
        user, prefix, made = self._deriver.documents(book.database, self._store.database, source, item)
        left = self._deriver.existing(self._store.database, source, prefix, user)
        for document, chunks in made:
            was_there = document.source_id in left
            left.discard(document.source_id)
            changed = self._keep(document, chunks)
            if changed and was_there:
                erasure_mark(self._store.database.path).touch(mode=0o600)
            yield int(changed)
        for source_id in left:
            self._erase(source, source_id, user)
            yield 0

    def _erase(self, source: str, source_id: str, user: str) -> None:
        """Delete a document, and have its words removed from the log as well at the end of the round."""
        erasure_mark(self._store.database.path).touch(mode=0o600)
        self._store.delete(source, source_id, user)

    def _keep(self, document: Document, chunks: list[Chunk]) -> bool:
        stored = self._store.upsert(document, chunks)
        keep_scores(self._store.database, stored.id, document, self._parts.cut.counter)
        return not stored.unchanged

    def _tell(self, told: Counter[str], latency: float) -> None:
        for source, count in told.items():
            if count and source in _TOLD:
                self._hub.post(_TOLD[source](documents=count, latency_ms=latency))

    def backfill(self, source: str) -> Iterator[int]:
        """Bring in a source anew; the number of its documents that were looked at, so far. Raises DonnaError."""
        started = time.perf_counter()
        count = 0
        for count in self._backfill(source):
            yield count
        latency = (time.perf_counter() - started) * 1000
        self._hub.post(BackfillDone(source_type=source, documents=count, latency_ms=latency))

    def _backfill(self, source: str) -> Iterator[int]:
        if source == MemorySource.TASK:
            yield from self.tasks.backfill(self._parts.client)
            return
        book = self._open_book()
        count = 0
        for item in self._deriver.items(book.database, source) if book else []:
            assert book is not None
            for _ in self._replace(book, source, item):
                count += 1
                yield count

    def _open_book(self) -> Book | None:
        if self._book is None:
            self._book = read_book(self._parts.folder)
        return self._book

    def close(self) -> None:
        """Close the memory; the next look opens it again."""
        if self._book:
            self._book.close()
            self._book = None


def _documents(store: MemoryStore, source: str) -> list[tuple[str, str]]:
    sql = "SELECT source_id, user_id FROM memory_documents WHERE source_type = ?"
    return [(source_id, user) for source_id, user in store.database.rows(sql, (source,))]


def _forget_hashes(database: Database, *sources: str) -> None:
    """Forget what the text of documents was, so that they are stored and embedded again as they are made now."""
    database.run_many(
        "UPDATE memory_documents SET content_hash = '' WHERE source_type = ?", [(each,) for each in sources]
    )
