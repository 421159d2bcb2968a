"""Index `memory.db`: follow its change list and store the documents derived from its rows.

The index stores its position in the change list. A new index begins at the start of the list, so it is complete
before it replaces the old one.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from donna_tui.config.models import SourcesConfig
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.migrations import get_meta, set_meta
from donna_tui.index.store import MemoryStore
from donna_tui.ingest.index_maintainer import IndexMaintainer
from donna_tui.ingest.pipeline import Pipeline
from donna_tui.ingest.worker import FLUSH_SECONDS, PASSING, PAUSE_SECONDS
from donna_tui.memory.chat import ChatSource, TextSplitter, title_of
from donna_tui.memory.conversations import find_session, read_session, read_turns, speakers_of
from donna_tui.memory.database import MemoryDb, erasure_mark, finish_erasures, read_db
from donna_tui.memory.facts import correction_document, fact_document, read_correction, read_fact
from donna_tui.memory.scores import finish_deletions, score_waiting, store_scores, waiting
from donna_tui.memory.tasks import VERSION, TaskSource
from donna_tui.platform.supervisor import set_within
from donna_tui.text.chunker import Chunk
from donna_tui.types.errors import DatabaseError, DonnaError, Reason
from donna_tui.types.events import (
    BackfillDone,
    ChatIngested,
    CorrectionIngested,
    EventHub,
    MemoryIngestFailed,
    MemoryRemembered,
    ProblemCleared,
    ProblemRaised,
)
from donna_tui.types.memory import BackfillRow
from donna_tui.types.search import ME, MemorySource
from donna_tui.vault.client import VaultClient, VaultNote

DERIVER_VERSION = "4"
"""Increment when the derived documents change."""

Made = Iterator[tuple[Document, list[Chunk]]]

_TABLES = {"chat": "sessions", "memory": "memories", "correction": "corrections"}


class Deriver:
    """A stateless builder of documents from rows."""

    def __init__(self, sources: SourcesConfig, splitter: TextSplitter) -> None:
        self._sources, self._splitter = sources, splitter
        self._chat = ChatSource(sources.chat, splitter)

    @property
    def version(self) -> str:
        """Return a fingerprint of the settings that decide how rows become documents."""
        sources, splitter = self._sources, self._splitter
        fingerprint = f"{sources.chat!r}{sources.corrections!r}{splitter.counter.name}{splitter.window}"
        return f"{DERIVER_VERSION}:{hashlib.sha256(fingerprint.encode()).hexdigest()[:16]}"

    def documents(self, db: Database, index: Database, source: str, item: str) -> tuple[str, str, Made]:
        """Return the user of an item, the prefix of its documents' source ids, and its current documents."""
        user = str(
            db.value(f"SELECT user_id FROM {_TABLES[source]} WHERE id = ?", (item,))  # noqa: S608
            or index.value(
                "SELECT user_id FROM memory_documents WHERE source_type = ? AND source_id = ?", (source, item)
            )
            or ME
        )
        if source == "chat":
            name = db.value("SELECT name FROM sessions WHERE id = ?", (item,))
            return user, f"{name}:", self._session(db, int(item), user)
        return user, item, self._derive(db, source, item)

    def _session(self, db: Database, key: int, user: str) -> Made:
        session = read_session(db, key)
        if session and self._sources.chat.enabled:
            title = title_of(session, speakers_of(db, key))
            yield from self._chat.documents(session, title, read_turns(db, key), user)

    def _derive(self, db: Database, source: str, item: str) -> Made:
        if source == "memory" and (fact := read_fact(db, item)):
            yield fact_document(fact, self._splitter)
        if source == "correction" and self._sources.corrections.enabled and (found := read_correction(db, item)):
            yield correction_document(found, self._splitter)

    @staticmethod
    def existing(index: Database, source: str, prefix: str, user: str) -> set[str]:
        """Return the source ids that an index has of an item. `;` is the character after `:`."""
        if source != "chat":
            wanted = "source_id = ?"
            parameters: tuple[str, ...] = (prefix,)
        else:
            wanted, parameters = "source_id >= ? AND source_id < ?", (prefix, f"{prefix[:-1]};")
        rows = index.rows(
            f"SELECT source_id FROM memory_documents WHERE user_id = ? AND source_type = ? AND {wanted}",  # noqa: S608
            (user, source, *parameters),
        )
        return {each for (each,) in rows if source != "chat" or ":" not in each[len(prefix) :]}

    @staticmethod
    def items(db: Database, source: str) -> list[str]:
        """Return all items of a source."""
        return [str(each) for (each,) in db.rows(f"SELECT id FROM {_TABLES[source]} ORDER BY id")]  # noqa: S608

    @staticmethod
    def holds(db: Database, source: str, source_id: str, user: str) -> bool:
        """Return whether the item of a document is in this memory."""
        if source == "chat":
            return find_session(db, source_id.rpartition(":")[0], user) is not None
        return bool(db.value(f"SELECT 1 FROM {_TABLES[source]} WHERE id = ?", (source_id,)))  # noqa: S608


PAGE = 200
"""Changes read per page."""

_EVENTS: dict[str, type[ChatIngested] | type[CorrectionIngested] | type[MemoryRemembered]] = {
    "chat": ChatIngested,
    "correction": CorrectionIngested,
    "memory": MemoryRemembered,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryIndexerParts:
    """The dependencies of a feed. `folder` is the space's state folder."""

    folder: Path
    sources: SourcesConfig
    client: VaultClient
    splitter: TextSplitter
    hub: EventHub


class ChangeFollower:
    """Apply changes to an index. The generators yield 1 for each document that changed and 0 for the others."""

    def __init__(self, parts: MemoryIndexerParts, store: MemoryStore) -> None:
        self._parts, self._store, self._hub = parts, store, parts.hub
        self.tasks = TaskSource(parts.sources.tasks, store, parts.splitter, parts.hub)
        self._deriver = Deriver(parts.sources, parts.splitter)
        self._db: MemoryDb | None = None

    def follow(self) -> Iterator[int]:
        """Apply all changes since the last call."""
        database = self._store.database
        if get_meta(database, "tasks") != self._tasks_version():
            _forget_hashes(database, MemorySource.TASK)
            yield from self.tasks.backfill(self._parts.client)
            set_meta(database, "tasks", self._tasks_version())
        db = self._open_db()
        if db is None:
            return
        if get_meta(database, "memory_book") != db.id:
            yield from self._begin_anew(db)
        yield from self._follow_changes(db)
        finish_deletions(database)
        finish_erasures(database)

    def _tasks_version(self) -> str:
        return f"{VERSION}:{self._parts.sources.tasks.enabled}:{self._deriver.version}"

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
        if get_meta(database, "memory_sources") != self._deriver.version:
            _forget_hashes(database, *_EVENTS)
            set_meta(database, "memory_seq", "0")
            set_meta(database, "memory_sources", self._deriver.version)
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
            self._report(counts, (time.perf_counter() - started) * 1000)

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
        stored = self._store.upsert(document, chunks)
        store_scores(self._store.database, stored.id, document, self._parts.splitter.counter)
        return not stored.unchanged

    def _report(self, counts: Counter[str], latency: float) -> None:
        for source, count in counts.items():
            if count and source in _EVENTS:
                self._hub.post(_EVENTS[source](documents=count, latency_ms=latency))

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
            yield from self.tasks.backfill(self._parts.client)
            return
        db = self._open_db()
        count = 0
        for item in self._deriver.items(db.database, source) if db else []:
            assert db is not None
            for _ in self._replace(db, source, item):
                count += 1
                yield count

    def _open_db(self) -> MemoryDb | None:
        if self._db is None:
            self._db = read_db(self._parts.folder)
        return self._db

    def close(self) -> None:
        """Close the memory; the next use opens it again."""
        if self._db:
            self._db.close()
            self._db = None


def _forget_hashes(database: Database, *sources: str) -> None:
    """Clear the content hashes of documents, so that they are stored and embedded again."""
    database.run_many(
        "UPDATE memory_documents SET content_hash = '' WHERE source_type = ?", [(each,) for each in sources]
    )


POLL_SECONDS = 1.0
"""Seconds between two checks for changes made by another process."""


class MemoryIndexer:
    """The memory indexer of a pipeline. Its generators run on the writer thread, all else on the event loop."""

    def __init__(self, parts: MemoryIndexerParts, pipeline: Pipeline) -> None:
        self._pipeline, self._hub, self._database = pipeline, parts.hub, pipeline.store.database
        self._follower = ChangeFollower(parts, pipeline.store)
        self._check_requested = asyncio.Event()
        self._check_requested.set()
        self._busy = True
        self._unscored = True
        self._trouble: DonnaError | None = None

    def stored(self, note: VaultNote) -> None:
        """Update the tasks of a note that was stored."""
        self._follower.tasks.stored(note)
        self._unscored = True

    def removed(self, path: str) -> None:
        """Delete the tasks of a note that was removed."""
        self._follower.tasks.removed(path)

    @property
    def waiting(self) -> bool:
        """Return whether there is anything to index, or to score if there is a model; False after an error."""
        if self._trouble:
            return False
        return (
            self._busy or self._check_requested.is_set() or (self._unscored and self._pipeline.embeddings is not None)
        )

    def lacks_scores(self) -> bool:
        """Return whether an embedded memory has no score yet."""
        return waiting(self._database)

    def request_check(self) -> None:
        """Request a check for changes soon."""
        self._check_requested.set()

    async def run(self) -> None:
        """Follow the memory until cancelled."""
        while True:
            self._busy = True
            self._check_requested.clear()
            try:
                await self._round()
            except DatabaseError as error:
                await self._wait_out(error)
                continue
            finally:
                self._busy = False
            self._recovered()
            await set_within(self._check_requested, POLL_SECONDS)

    async def _round(self) -> None:
        await self._step_through(self._follower.follow())
        embeddings = self._pipeline.embeddings
        if self._unscored and embeddings and embeddings.idle.is_set():
            self._unscored = False
            await self._score()
            lacking = await self._pipeline.write(self.lacks_scores)
            self._unscored = self._unscored or lacking  # more may have been stored meanwhile

    async def _step_through(self, steps: Iterator[int]) -> None:
        """Run a generator in time-limited flushes, so that edits of notes are stored between them."""
        more = True
        while more:
            more, changed = await self._pipeline.write(partial(_flush, steps))
            self._unscored = self._unscored or changed
            if changed and self._pipeline.embeddings:
                self._pipeline.embeddings.wake()

    async def _score(self) -> None:
        await _run_in_flushes(self._pipeline, score_waiting(self._database))

    async def _wait_out(self, error: DatabaseError) -> None:
        if error.reason not in PASSING and error.reason is not Reason.DATABASE_CORRUPT:
            raise error
        if self._trouble is None or self._trouble.reason is not error.reason:
            self._hub.post(ProblemRaised(reason=error.reason, message=error.message, hint=error.hint or ""))
        self._trouble = error
        await self._pipeline.write(self._follower.close)
        await asyncio.sleep(PAUSE_SECONDS)

    def _recovered(self) -> None:
        if self._trouble:
            self._hub.post(ProblemCleared(reason=self._trouble.reason))
            self._trouble = None

    def backfill(self, source: str) -> Iterator[int]:
        """Reindex a source, yielding the number of documents processed so far. Raises DonnaError."""
        yield from self._follower.backfill(source)
        self._unscored = True

    def close(self) -> None:
        """Close the memory; the next use opens it again."""
        self._follower.close()


async def _run_in_flushes(pipeline: Pipeline, steps: Iterator[int]) -> None:
    while (await pipeline.write(partial(_flush, steps)))[0]:
        continue


def _flush(steps: Iterator[int]) -> tuple[bool, bool]:
    """Process changes for the time of one flush. Return whether there are more, and whether anything changed."""
    deadline = time.monotonic() + FLUSH_SECONDS
    changed = False
    for step in steps:
        changed = changed or step > 0
        if time.monotonic() > deadline:
            return True, changed
    return False, changed


SOURCES = (
    MemorySource.VAULT, MemorySource.CHAT, MemorySource.TASK, MemorySource.CORRECTION, MemorySource.MEMORY,
)  # fmt: skip


def request_check(maintainer: IndexMaintainer) -> None:
    """Request that all indexes check the memory for changes soon."""
    for pipeline in maintainer.indexes.pipelines:
        if pipeline.extra_source:
            pipeline.extra_source.request_check()


async def wait_until_indexed(maintainer: IndexMaintainer, patience: float) -> bool:
    """Wait up to `patience` seconds until the indexes are up to date. Return whether they are."""
    request_check(maintainer)
    try:
        async with asyncio.timeout(patience):
            await maintainer.indexes.wait_until_idle()
    except (TimeoutError, DonnaError):
        return False
    return True


async def backfill(maintainer: IndexMaintainer, source: MemorySource) -> BackfillRow:
    """Reindex one source. A failure is reported in the row, so that the other sources continue."""
    try:
        if source is MemorySource.VAULT:
            await maintainer.compare(full=False)
        else:
            for pipeline in maintainer.indexes.pipelines:
                await _backfill_one(pipeline, source)
        await maintainer.indexes.wait_until_idle()
        return BackfillRow(source=source.value, state="ok", documents=await _count(maintainer, source))
    except DonnaError as error:
        return BackfillRow(source=source.value, state="failed", message=error.message)
    except Exception as error:
        return BackfillRow(source=source.value, state="failed", message=f"it failed ({type(error).__name__})")


async def _backfill_one(pipeline: Pipeline, source: MemorySource) -> None:
    if pipeline.extra_source is None:
        return
    await _run_in_flushes(pipeline, pipeline.extra_source.backfill(source.value))
    if pipeline.embeddings:
        pipeline.embeddings.wake()
    pipeline.extra_source.request_check()


async def _count(maintainer: IndexMaintainer, source: MemorySource) -> int:
    pipeline = maintainer.indexes.active
    sql = "SELECT count(*) FROM memory_documents WHERE source_type = ?"
    count: int = await pipeline.write(lambda: pipeline.store.database.value(sql, (source.value,)))
    return count
