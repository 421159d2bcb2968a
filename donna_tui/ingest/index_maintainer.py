"""Keep the indexes of a vault consistent while the engine runs: watch, compare, retry, and wait for a missing root."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from donna_tui.embedding.service import EmbeddingService
from donna_tui.index.invocations import record
from donna_tui.index.readers import Readers
from donna_tui.ingest.indexes import Indexes
from donna_tui.ingest.pipeline import IngestContext
from donna_tui.ingest.progress import retry_due
from donna_tui.ingest.queue import Job
from donna_tui.ingest.sync_policy import policy_of
from donna_tui.ingest.watcher import Watcher
from donna_tui.platform.supervisor import Supervisor, set_within
from donna_tui.search.service import SearchService
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.types.events import EngineEvent, EngineStateChanged, ProblemCleared, ProblemRaised
from donna_tui.vault.open import included
from donna_tui.vault.paths import VaultRoot

START = "start"
ROUTINE = "periodically"
ROUND_SECONDS = 5.0
ROOT_POLL_SECONDS = 2.0

WATCH_SECONDS = 5.0
"""Maximum number of seconds that the first comparison waits for the watch to begin."""


class IndexMaintainer:
    """The writing side of an engine, in the one process that holds the space's IndexLease."""

    def __init__(self, context: IngestContext, searcher: SearchService) -> None:
        self.indexes = Indexes(context)
        root, config = context.space.root, context.config
        self._root = VaultRoot(root)
        self._hub, self._searcher = context.hub, searcher
        self._policy = policy_of(config)
        self._watcher = Watcher(
            root, self._hub, self.indexes.follow, include=included(config), quiet_ms=self._policy.quiet_ms
        )
        self._tasks = Supervisor(self._hub)
        self._damage = asyncio.Event()
        self._root_lost = asyncio.Event()
        self._model_known = asyncio.Event()
        self._unsubscribe = self._hub.subscribe(self._listen)
        self._loop = asyncio.get_running_loop()

    async def open(self, readers: Readers | None = None) -> None:
        """Open the index, and keep using the readers of its file. Raises DatabaseError; the maintainer cannot be used
        afterwards.
        """
        try:
            await self.indexes.open(readers)
        except BaseException:
            self._unsubscribe()
            await self.indexes.close()
            raise
        self._tasks.start("replacing a damaged index", self._replace_damaged)

    async def follow(self) -> None:
        """Start following the vault. The watch begins before the first comparison, so that no change is missed."""
        if self._policy.watch:
            self._tasks.start("watching the vault", self._watcher.run)
        else:
            self._watcher.begun.set()
        self._tasks.start("rescanning the vault", self._compare_forever)
        self._tasks.start("checking periodically", self._check_periodically)
        self._tasks.start("building the new index", self._swap_when_built)

    async def compare(self, *, full: bool) -> None:
        """Compare once and start the resulting work. Raises VaultReadError if the root is missing."""
        await self.indexes.reconcile("on request", accept=full, reread=full)

    async def finish(self, *, full: bool) -> None:
        """Wait for the work of `compare`, once the model is known. Raises DonnaError if some of it cannot be done."""
        building = self.indexes.building
        if building and not building.last_reconcile:  # the model needs a new index, which `compare` did not know
            await building.reconcile("on request", accept=full, reread=full)
        await self.indexes.wait_until_idle()
        await self.indexes.finish_building()
        if full:
            await self.indexes.tidy()

    @property
    def is_caught_up(self) -> bool:
        """Return whether the notes that the first comparison found can be found by their words."""
        return self.indexes.active.is_read

    async def caught_up(self) -> None:
        while not self.is_caught_up:
            await asyncio.sleep(0.1)

    async def use_model(self, service: EmbeddingService | None) -> None:
        """Set the model, or None if there is none. It may be set later, if its server was unavailable."""
        late = service is not None and self._model_known.is_set()
        if service:
            await self.indexes.embed_with(service)
        self._model_known.set()
        if late and self.indexes.building:
            self._tasks.start("building the new index", self._swap_when_built)

    async def close(self) -> None:
        """Stop following the vault and close the index; unfinished work is found again at the next start."""
        self._unsubscribe()
        await self._tasks.stop()
        await self._log_invocations()
        await self.indexes.close()

    async def retry(self, path: str) -> None:
        """Retry what failed: one note, or all failed notes and a comparison of the whole vault."""
        for pipeline in self.indexes.pipelines:
            await pipeline.write(pipeline.store.retry_failed)
            paths = [path] if path else await pipeline.write(partial(retry_due, pipeline.store.database, None))
            pipeline.queue.put(Job(failed, "retry", time.time()) for failed in paths)
            if pipeline.embeddings:
                pipeline.embeddings.wake(now=True)
            if not path:
                pipeline.rescan([""])

    def accept_missing(self) -> None:
        for pipeline in self.indexes.pipelines:
            pipeline.deletions.accept()

    async def _compare_forever(self) -> None:
        why = START if self._policy.on_start else ""
        await set_within(self._watcher.begun, WATCH_SECONDS)
        while True:
            try:
                if why:
                    await self.indexes.reconcile(why)
            except VaultReadError as error:
                await self._wait_for_root(error)
                why = "the vault is available again"
                continue
            if why == ROUTINE:
                await self.indexes.tidy()
            why = ROUTINE
            await set_within(self._root_lost, self._policy.interval_seconds)
            self._root_lost.clear()

    async def _wait_for_root(self, error: VaultReadError) -> None:
        """Wait until the root is back. Nothing is deleted meanwhile, and the index stays searchable."""
        self._hub.report(error)
        self._hub.post(EngineStateChanged(state="paused", detail=error.message))
        while not self._root.can_be_opened():
            await asyncio.sleep(ROOT_POLL_SECONDS)
        self._hub.post(ProblemCleared(reason=error.reason))
        self._hub.post(EngineStateChanged(state="running"))

    async def _check_periodically(self) -> None:
        while True:
            await asyncio.sleep(ROUND_SECONDS)
            await self._log_invocations()
            pipeline = self.indexes.active
            due = await pipeline.write(partial(retry_due, pipeline.store.database, time.time()))
            pipeline.queue.put(Job(path, "retry") for path in due)
            if not self._root.can_be_opened():
                self._root_lost.set()

    async def _log_invocations(self) -> None:
        rows = self._searcher.take_invocations()
        if rows:
            pipeline = self.indexes.active
            await pipeline.write(lambda: record(pipeline.store.database, rows))

    async def _swap_when_built(self) -> None:
        await self._model_known.wait()
        if self.indexes.building:
            self.indexes.building.rescan([""])  # the model may be set only after the first comparison
        while self.indexes.building and not self.indexes.building.last_reconcile:
            await asyncio.sleep(0.1)
        await self.indexes.finish_building()

    def _listen(self, event: EngineEvent) -> None:
        if isinstance(event, ProblemRaised) and event.reason is Reason.DATABASE_CORRUPT and not event.path:
            self._loop.call_soon_threadsafe(self._damage.set)

    async def _replace_damaged(self) -> None:
        while True:
            await self._damage.wait()
            await self.indexes.replace_if_damaged()
            self._damage.clear()
