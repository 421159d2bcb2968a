"""Keep one index consistent: from file events and comparisons, through the queue, to text, words and vectors."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from donna_tui.config.models import MemoryConfig
from donna_tui.embedding.service import EmbeddingService
from donna_tui.index.files import file_states, reread_if_key_changed
from donna_tui.index.generations import Recipe, index_path, open_generation, recipe_of
from donna_tui.index.invocations import InputHash
from donna_tui.index.readers import Readers
from donna_tui.index.store import MemoryStore
from donna_tui.ingest.embedding_queue import EmbeddingQueue
from donna_tui.ingest.pending_deletions import PendingDeletions
from donna_tui.ingest.queue import Job, MemoryIngestQueue
from donna_tui.ingest.reconcile import UNREADABLE, compare, unexplained
from donna_tui.ingest.source import NoteChunker, Outcome, VaultSource
from donna_tui.ingest.watcher import ChangedPaths, sort_events
from donna_tui.ingest.worker import IngestWorker
from donna_tui.platform.spaces import Space
from donna_tui.platform.supervisor import Supervisor
from donna_tui.types.errors import DatabaseError, Reason, VaultReadError
from donna_tui.types.events import CHANGED, EventHub, NoteIndexed, ReconcileDone
from donna_tui.vault.client import VaultClient

if TYPE_CHECKING:
    from donna_tui.memory.indexer import MemoryIndexer

FOLLOW_UP_SECONDS = 1.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestContext:
    """The context that the pipelines of a space share. `memory_indexer` creates what indexes all but notes."""

    space: Space
    config: MemoryConfig
    client: VaultClient
    chunker: NoteChunker
    hub: EventHub
    input_hash: InputHash
    long_running: bool
    memory_indexer: Callable[[Pipeline], MemoryIndexer]


class Pipeline:
    """The owner of an index file, its writer thread and its tasks. Use it on one event loop.

    `built` is the recipe that the index was built with.
    """

    def __init__(self, context: IngestContext, generation: int) -> None:
        self.context, self._hub, self.generation = context, context.hub, generation
        self.queue = MemoryIngestQueue()
        self.path = index_path(context.space.state, generation)
        self.readers = Readers(self.path, long_running=context.long_running)
        self.embeddings: EmbeddingQueue | None = None
        self.last_reconcile: float | None = None
        self.built = Recipe("")
        self.memory: MemoryIndexer
        self._store: MemoryStore | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="donna-write")
        self._tasks = Supervisor(self._hub)
        self._rescans: set[str] = set()
        self._rescan_requested = asyncio.Event()
        self._comparing = False
        self._comparisons: list[set[str]] = []

    async def open(self) -> None:
        """Open the index file and start the tasks. Raises DatabaseError."""
        context = self.context
        store = self._store = await self.write(self._open_store)
        self.memory = context.memory_indexer(self)
        self._source = VaultSource(context.client, self._store, context.chunker, self.memory)
        self._worker = IngestWorker(self.queue, self._source, self.write, self._hub, self._finish)
        window = context.config.sources.vault.rename_window_seconds if context.long_running else 0.0
        self.deletions = PendingDeletions(self._hub, window, self._remove, self._reading, self._counted)
        self._tasks.start("reading notes", self._worker.run)
        self._tasks.start("removing notes", self.deletions.run)
        self._tasks.start("comparing folders", self._rescan_forever)
        self._tasks.start("following the memory", self.memory.run)
        self.built = await self.write(lambda: recipe_of(store.database))

    def _open_store(self) -> MemoryStore:
        chunker = self.context.chunker
        database = open_generation(self.context.space.state, self.generation, chunker.recipe)
        try:
            reread_if_key_changed(database, self.context.client.sensitive_key)
            return MemoryStore(database, chunker, chunker.window)
        except DatabaseError:
            database.close()
            raise

    async def embed_with(self, service: EmbeddingService) -> None:
        store = self.store
        await self.write(partial(store.use_embeddings, service.version_tag, service.provider.dim))
        self.built = Recipe(self.built.chunking, service.version_tag)
        score = self.memory.request_check  # of the documents of other sources, once embedding is idle
        self.embeddings = EmbeddingQueue(store, self.write, service, self._hub, self.context.input_hash, rested=score)
        self._tasks.start("embedding", self.embeddings.run)

    @property
    def store(self) -> MemoryStore:
        """Return the write side; only for functions run by `write`."""
        if self._store is None:
            raise RuntimeError("the pipeline is not open")
        return self._store

    async def write(self, work: Callable[[], T]) -> T:
        """Run a function on the thread that owns the writable connection."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    async def close(self) -> None:
        """Stop the tasks, let a running transaction end, and close the file."""
        await self._tasks.stop()
        await asyncio.get_running_loop().run_in_executor(None, self._close_files)

    def _close_files(self) -> None:
        self.readers.close()
        if self._store:
            self._writer.submit(self.memory.close).result()
            self._writer.submit(self._store.database.close).result()
        self._writer.shutdown(wait=True)

    async def wait_until_idle(self) -> None:
        """Wait until all known differences are indexed. Raises DonnaError if waiting would not help for now."""
        for pause in _poll_intervals():
            if not self.working:
                return
            if trouble := self._worker.trouble or self._tasks.failure:
                raise trouble
            await asyncio.sleep(pause)

    @property
    def working(self) -> bool:
        """Return whether any known difference is not indexed yet: text, or vectors if there is a model."""
        embedding = self.embeddings is not None and not self.embeddings.idle.is_set()
        return self._reading() or self.deletions.waiting or embedding or self.memory.waiting

    def _reading(self) -> bool:
        return self.queued > 0 or self._rescan_requested.is_set() or self._comparing

    async def is_complete(self) -> bool:
        """Return whether no passage lacks its vector, and no document of another source lacks its score.

        Waits until all known differences are read, unless a passage is pending already, or waiting does not help.
        """
        for pause in _poll_intervals():
            if not self.working:
                break
            trouble = self._worker.trouble or self._tasks.failure
            if trouble is not None or await self.write(self.store.has_pending):
                return False
            await asyncio.sleep(pause)
        if await self.write(self.store.lacks_vectors):
            return False
        return not await self.write(self.memory.lacks_scores)

    @property
    def is_read(self) -> bool:
        """Return whether the notes that the first comparison found can all be found by their words."""
        return self.last_reconcile is not None and not self._reading()

    @property
    def queued(self) -> int:
        return len(self.queue) + len(self._worker.in_hand)

    @property
    def new_notes(self) -> set[str]:
        """Return the paths of notes that are queued or being read, and that the index did not have when noticed."""
        return self.queue.new_notes.union(job.path for job in self._worker.in_hand if job.why == "new")

    @property
    def maybe_moved(self) -> set[str]:
        """Return the paths of notes that are missing, or whose change was noticed and not looked at yet."""
        in_hand = (job.path for job in self._worker.in_hand if job.noticed_at is not None)
        return self.deletions.missing.union(self.queue.noticed, in_hand)

    # Detecting changes

    def follow(self, changed: ChangedPaths) -> None:
        """Look for changes where something may have changed, in a task."""
        if changed.everything:
            self.rescan([""])
        else:
            self._tasks.start("following file events", lambda: self._follow(changed.paths))

    async def _follow(self, paths: Iterable[str]) -> None:
        root, client = self.context.space.root, self.context.client
        found = await asyncio.to_thread(sort_events, client, root, paths)
        database = self.store.database
        below = [path for folder in found.vanished for path in await self.write(partial(file_states, database, folder))]
        now = time.time()
        self.queue.put(Job(path, "changed", now) for path in (*found.notes, *below))
        self.rescan(found.folders)

    def rescan(self, prefixes: Iterable[str]) -> None:
        self._rescans.update(prefixes)
        if self._rescans:
            self._rescan_requested.set()

    async def _rescan_forever(self) -> None:
        """Compare folders until a comparison finds nothing new, because file events in new folders are incomplete."""
        while True:
            await self._rescan_requested.wait()
            self._comparing = True
            self._rescan_requested.clear()
            prefixes, self._rescans = self._rescans, set()
            try:
                for prefix in [""] if "" in prefixes else sorted(prefixes):
                    # The maintainer handles a missing root; until it is back there is nothing to compare.
                    with contextlib.suppress(VaultReadError):
                        if await self.reconcile(CHANGED, prefix):
                            asyncio.get_running_loop().call_later(FOLLOW_UP_SECONDS, self.rescan, [prefix])
            finally:
                self._comparing = False

    async def reconcile(self, why: str, prefix: str = "", *, accept: bool = False, reread: bool = False) -> bool:
        """Compare vault and index below a folder and queue the differences. Return whether a note is new or changed;
        those that could not be read before do not count.

        `accept` deletes missing notes however many they are; `reread` reads every note again. Raises VaultReadError if
        the root is missing.
        """
        started = time.perf_counter()
        client = self.context.client
        read_meanwhile: set[str] = set()
        self._comparisons.append(read_meanwhile)
        try:
            found = await self.readers.run(lambda database, _: compare(client, database, prefix, hash_all=reread))
        finally:
            # by identity: sets of two comparisons at the same time may be equal
            self._comparisons = [comparison for comparison in self._comparisons if comparison is not read_meanwhile]
        for entry in found.skipped:
            self._hub.post(await self.write(partial(self._source.skip, entry)))
        # a note that was read during the comparison is checked again, but is no longer new
        self.queue.put(Job(path, "changed" if path in read_meanwhile else "new") for path in found.new)
        self.queue.put(Job(path, "rebuild" if reread else "changed") for path in found.changed)
        self.deletions.expect(found.missing, accept=accept)
        if not prefix:
            self.memory.request_check()
            self.deletions.complete(found.missing)
            self.last_reconcile = time.time()
        self._hub.post(
            ReconcileDone(
                why=why,
                seen=found.seen,
                new=len(found.new),
                changed=len(found.changed),
                deleted=len(found.missing),
                skipped=len(found.skipped),
                latency_ms=(time.perf_counter() - started) * 1000,
            )
        )
        return bool(found.new) or len(found.changed) > found.retried

    # Processing

    def _finish(self, job: Job, outcome: Outcome) -> None:
        for read_meanwhile in self._comparisons:
            read_meanwhile.add(job.path)
        if outcome == "missing":
            self.deletions.expect([job.path])
        elif outcome != "unchanged":
            if isinstance(outcome, NoteIndexed) and self.embeddings:
                if outcome.found_after_ms is not None:
                    self.embeddings.saved(job.path, outcome.at - outcome.found_after_ms / 1000)
                self.embeddings.wake()
            self._hub.post(outcome)
        if self.queue.drained_after_overflow():
            self.rescan([""])

    async def _remove(self, path: str) -> None:
        """Delete a note whose file is still missing; read it again if it is back, or if the root is missing."""
        if await asyncio.to_thread(self._is_there, path):
            self.queue.put([Job(path, "changed", time.time())])
        elif deleted := await self.write(lambda: self._source.remove(path)):
            self._hub.post(deleted)

    def _is_there(self, path: str) -> bool:
        try:
            self.context.client.stat(path)
        except VaultReadError as error:
            return error.reason is Reason.ROOT_MISSING or error.reason in UNREADABLE
        return True

    async def _counted(self, paths: Collection[str]) -> tuple[set[str], int]:
        database = self.store.database
        return await self.write(lambda: unexplained(self.context.client, database, paths))


def _poll_intervals() -> Iterator[float]:
    """Yield the seconds between two checks for completion; short at first, for a vault with few changes."""
    return itertools.chain((0.001, 0.002, 0.005, 0.01), itertools.repeat(0.02))
