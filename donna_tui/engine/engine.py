"""Build, start, supervise and stop every part of Donna: the composition root for app, command line and servers."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.config.models import MemoryConfig
from donna_tui.embedding.reranker import configured_reranker
from donna_tui.engine.freshness import Freshness
from donna_tui.engine.index_lease import IndexLease
from donna_tui.engine.model_manager import ModelManager
from donna_tui.engine.space_context import SpaceContext
from donna_tui.engine.status_reporter import StatusReporter, measure, worth_reporting
from donna_tui.index.documents import folders_of, sources_of
from donna_tui.platform.lazy import Lazy
from donna_tui.platform.log import LOG_NAME, LogFile
from donna_tui.platform.paths import AppPaths, private_folder
from donna_tui.platform.spaces import Space, remember
from donna_tui.platform.supervisor import after
from donna_tui.search.history import QuestionHistory
from donna_tui.search.hybrid import Settings
from donna_tui.search.names import switch
from donna_tui.search.service import SearchService
from donna_tui.types.errors import DatabaseError, DonnaError, Reason, SpaceError
from donna_tui.types.events import EngineStateChanged, Listener, ProblemRaised
from donna_tui.types.search import Filters, Hit, NameMatch, SearchOutcome, SearchRequest
from donna_tui.types.status import Status
from donna_tui.vault.paths import check_relative

if TYPE_CHECKING:
    from donna_tui.engine.calendar_service import CalendarService
    from donna_tui.engine.draft_service import DraftScheduler, DraftService
    from donna_tui.engine.memory_service import MemoryService
    from donna_tui.engine.neighbours import Neighbours
    from donna_tui.engine.passages import Passage
    from donna_tui.engine.vault_service import VaultService
    from donna_tui.ingest.index_maintainer import IndexMaintainer
    from donna_tui.llm.router import ModelRouter
    from donna_tui.search.why_not import WhyNot
    from donna_tui.types.memory import TaskRow


class Engine:
    """The engine of one space. Use it on one event loop, between `start` and `stop`.

    `watch` follows the vault until `stop`; without it, `sync` updates the index once. `what` names this program to
    other processes that find the space in use, and `clock` (Unix time) decides which meetings have ended. If another
    process maintains the index, this one only reads it, and takes over once the other has ended. Without `semantic`,
    the model is loaded only if passages have to be embedded.
    """

    def __init__(
        self,
        space: Space,
        config: MemoryConfig,
        paths: AppPaths,
        *,
        watch: bool = True,
        what: str = "donna",
        clock: Callable[[], float] = time.time,
        semantic: bool = True,
    ) -> None:
        self.space, self._config, self._watch = space, config, watch
        self.context = context = SpaceContext(space, config, paths, clock, long_running=watch)
        self.hub, self._tasks = context.hub, context.tasks
        context.lease = self._lease = IndexLease(context, what, self._build_maintainer, self._begin_maintaining)
        context.model = self._model = ModelManager(context, semantic=semantic)
        self.model_known, self.wait_for_first_search = self._model.known, self._model.wait_for_first_search
        self._vault = Lazy(self._open_vault)
        self._drafting = Lazy(self._build_drafting)
        self._neighbours = Lazy(self._build_neighbours)
        self._freshness = Freshness(context, self.sync)
        self._questions = QuestionHistory(space.state)
        self._status_reporter = StatusReporter(self.hub, lambda: measure(self.context.maintainer, self._lease.readers))
        self._log_file = paths.log / LOG_NAME
        self._started = self._asleep = False
        self._waking = asyncio.Lock()

    # Life cycle

    async def start(self) -> None:
        """Open the index and start the background work. Searches are possible at once; the model is loaded in the
        background.

        If the memory of an agent is not indexed, nothing is opened or written, and every search reports it. Raises
        SpaceError or DatabaseError if there is no usable index, DonnaError if Donna's own folders cannot be created.
        """
        self._asleep = self.context.not_indexed is not None
        if why := self.context.not_indexed:
            self.hub.post(EngineStateChanged(state="paused", detail=why.message))
            return
        private_folder(self.space.state)
        self.context.paths.make()
        self._log = LogFile(self._log_file)
        self._end_log = self.hub.subscribe(self._log)
        self._started = True
        retrieval, policy = self._config.retrieval, self.context.policy
        settings = Settings(retrieval.min_score, retrieval.max_k, policy.deadline_seconds)
        self.context.search_service = SearchService(
            lambda: self._lease.readers, settings, self.hub, self.context.input_hash, configured_reranker(retrieval)
        )
        self.hub.post(EngineStateChanged(state="starting"))
        if not self._log.opened:
            self.hub.post(ProblemRaised(reason=Reason.IO_ERROR, message=f"the log cannot be written: {self._log_file}"))
        await self._lease.begin()
        self._tasks.start("loading the model", self._model.load)
        ready = self.context.searcher.wait_for_searches if self._watch else worth_reporting
        counting = after(ready, self._status_reporter.run)
        self._tasks.start("counting", counting)
        if self._watch:
            self._tasks.start("taking over the index", lambda: self._lease.take_over(self.wait_for_first_search))
            self._tasks.start("finishing an unfinished write", after(self.wait_for_first_search, self._recover))
            if port := self._config.metrics.port:
                from donna_tui.engine.metrics import serve_metrics

                self._tasks.start("serving metrics", lambda: serve_metrics(self.hub, port))

    def _open_vault(self) -> VaultService:
        """Import and open the vault service, which takes longer than a search and is needed only with `watch`."""
        from donna_tui.engine.vault_service import VaultService

        return VaultService(self.context)

    async def _recover(self) -> None:
        await (await asyncio.to_thread(self._vault)).recover()

    @property
    def notes(self) -> VaultService:
        """Return the service that reads, changes and undoes notes. Raises SpaceError without `watch`."""
        self.context.require_indexed()
        if not (self._started and self._watch):
            raise SpaceError(Reason.BUSY, "the vault is not open for changes")
        return self._vault()

    @property
    def memory(self) -> MemoryService:
        """Return the service that lists, forgets and recalls memories. Raises SpaceError if nothing is indexed."""
        self.context.require_indexed()
        return self.context.memory

    @property
    def drafts(self) -> DraftService:
        """Return the service that previews and decides drafts. Raises SpaceError if nothing is indexed."""
        self.context.require_indexed()
        return self._drafting().drafts

    @property
    def calendar(self) -> CalendarService:
        """Return the service that lists meetings and reads calendars. Raises SpaceError if nothing is indexed."""
        self.context.require_indexed()
        return self._drafting().calendar

    @property
    def router(self) -> ModelRouter | None:
        """Return the router of the language models, if any is configured. Raises SpaceError if nothing is indexed."""
        self.context.require_indexed()
        return self.context.router

    def warm_up(self) -> None:
        """Import and open in advance what `notes` and `drafts` need: it takes longer than a key press may."""
        import donna_tui.engine.draft_service  # noqa: F401

        if self._started and self._watch:
            self._vault()

    def _build_drafting(self) -> DraftScheduler:
        from donna_tui.engine.draft_service import DraftScheduler

        return DraftScheduler(self.context)

    def _build_maintainer(self) -> IndexMaintainer:
        from donna_tui.ingest.index_maintainer import IndexMaintainer

        return IndexMaintainer(self.context.ingest_context(), self.context.searcher)

    async def _begin_maintaining(self, maintainer: IndexMaintainer) -> None:
        """Start the work of the process that maintains the index."""
        with contextlib.suppress(OSError):  # on a full disk the space is not remembered
            remember(self.space)
        self.hub.subscribe(self._model.follow_swap)
        if self._watch:
            self._tasks.start("following the vault", after(self.wait_for_first_search, maintainer.follow))
        try:
            await self._model.pass_to(maintainer)
        except DatabaseError:  # the task retries, and clears the problem that it reports
            self._tasks.start("passing the model", lambda: self._model.pass_to(maintainer))
        if self._watch and not self.space.agent:
            self._tasks.start("drafting", self._draft)

    async def _draft(self) -> None:
        """Draft in the background, once the model is loaded or known to be absent and the index has caught up."""
        await self.model_known.wait()
        if maintainer := await self._lease.opened():
            await maintainer.caught_up()
        await self._drafting().follow()

    async def stop(self) -> None:
        """Stop all work and close everything. Unfinished work is found again at the next start."""
        if not self._started:
            return
        self._started = False
        self.hub.post(EngineStateChanged(state="stopping"))
        self._model.cancel()
        await self._freshness.close()
        await self._tasks.stop()
        for service in (self._drafting, self._vault, self._neighbours):
            if service.made:
                await service.made.close()
        await self.context.close_memory()
        await self._lease.end()  # before the model, so that nothing fails because it is closed
        await self._model.close()
        self.hub.post(EngineStateChanged(state="stopped"))
        self._status_reporter.close()
        self._end_log()
        self._log.close()

    async def sync(self, *, full: bool = False, counted: bool = True) -> None:
        """Update the index and return when it is complete; do nothing if another process maintains it.

        `counted` refreshes the status, which takes a moment in a large index. Raises DonnaError if the index cannot be
        updated: VaultReadError if the vault is missing, DatabaseError if the index cannot be written, SpaceError if the
        space is not to be indexed.
        """
        self.context.require_indexed()
        try:
            if maintainer := await self._lease.opened():
                await maintainer.compare(full=full)
        except DonnaError:  # the existing index remains searchable
            await self._model.wait_until_known()
            raise
        await self._model.wait_until_known()
        if self._lease.trouble:
            raise self._lease.trouble
        if self.context.maintainer:
            await self.context.maintainer.finish(full=full)
            if counted:
                await self._status_reporter.refresh()
            self._model.follow()

    async def behind(self) -> str:
        """Wait for another process that maintains the index, within the deadline; return why the index is stale."""
        return "" if self._lease.is_held else await self._freshness.stale(None)

    # Queries

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Subscribe to every event; the listener runs on the thread that posts it. Return how to unsubscribe."""
        return self.hub.subscribe(listener)

    async def freshen(self, deadline_seconds: float | None = None) -> str:
        """Update the index within the deadline; return why it is stale, or nothing. Raises DatabaseError."""
        async with self._waking:
            if self._asleep and not self.context.not_indexed:
                await self.start()
        if self.context.not_indexed:
            return ""
        if not self._watch:
            await self._model.prepared()
        return await self._freshness.stale(deadline_seconds)

    async def search_fresh(self, request: SearchRequest, deadline_seconds: float | None = None) -> SearchOutcome:
        """Update the index within the deadline, then search; the outcome may be stale. Raises DatabaseError."""
        stale = await self.freshen(deadline_seconds)
        outcome = await self.search(request)
        note = "; ".join(remark for remark in (stale, outcome.note) if remark)
        return replace(outcome, stale=bool(stale), note=note)

    async def search(self, request: SearchRequest) -> SearchOutcome:
        """Search the current index, or report that nothing is indexed. Raises DatabaseError."""
        if why := self.context.not_indexed:
            return SearchOutcome(
                request=request, mode=request.mode, hits=(), note=why.message, reason=why.reason, indexed=False
            )
        try:
            own = await self.context.searcher.search(request)
            return await self._neighbours().search(self.context.searcher, request, own) if request.everywhere else own
        except DatabaseError as error:
            self.hub.report(error)
            raise

    async def more_like(self, hit: Hit, request: SearchRequest) -> SearchOutcome:
        """Find passages of other notes that are similar to this one. Raises DatabaseError."""
        if self._is_here(hit.space):
            return await self.context.searcher.more_like(hit, request)
        return await self._neighbours().more_like(self.context.searcher, hit, request)

    async def why_not(self, path: str, request: SearchRequest) -> WhyNot:
        """Explain why a note is not among the hits of a question. Raises DonnaError (`missing`) for an unknown note."""
        return await self.context.searcher.why_not(path, request)

    async def names(self, query: str, limit: int = 50) -> tuple[NameMatch, ...]:
        """Match a query against names of notes and headings, best first; without one return the newest notes."""
        return await self.context.read(lambda database: switch(database, query, limit, Filters().user_id))

    async def recent_notes(self, limit: int) -> tuple[NameMatch, ...]:
        """Return the newest notes, from the folder while the index has fewer. Raises DatabaseError, VaultReadError."""
        found = await self.names("", limit)
        maintainer = self.context.maintainer
        if len(found) >= limit or self.read_only or (maintainer and maintainer.is_caught_up):
            return found
        from donna_tui.engine.start_page import latest_on_disk

        return await asyncio.to_thread(latest_on_disk, self.context.client, limit)

    async def tasks_due(self, limit: int) -> tuple[TaskRow, ...]:
        """Return open tasks that are due within a week, earliest first, then overdue ones. Raises DatabaseError."""
        from donna_tui.engine.start_page import tasks_due

        today = datetime.date.fromtimestamp(self.context.clock())
        return await self.context.read(lambda database: tasks_due(database, today, limit, self.context.config.me))

    async def example_question(self) -> str:
        """Return a question made from a heading that a note answers; empty without one. Raises DatabaseError."""
        from donna_tui.engine.start_page import answered_question, question_candidates

        day = datetime.date.fromtimestamp(self.context.clock())
        candidates = await self.context.read(lambda database: question_candidates(database, day))
        return await answered_question(candidates, partial(self.context.searcher.search_in, self._lease.readers))

    async def questions(self) -> tuple[str, ...]:
        """Return the previous questions, newest first."""
        return await asyncio.to_thread(self._questions.questions)

    async def save_question(self, text: str) -> tuple[str, ...]:
        """Store a question for later starts, and return all of them. Raises VaultWriteError."""
        return await asyncio.to_thread(self._questions.add, text)

    async def passage(self, path: str, start_line: int, end_line: int, space: str = "") -> Passage:
        """Read the section around some lines from disk, or the context of another hit. Raises VaultReadError."""
        if self._is_here(space):
            from donna_tui.engine.passages import passage_in

            return await passage_in(self._lease.readers, self.context.client, path, (start_line, end_line))
        return await self._neighbours().passage(space, path, (start_line, end_line))

    async def folders(self) -> tuple[str, ...]:
        return await self.context.read(folders_of)

    async def sources(self) -> tuple[str, ...]:
        return await self.context.read(sources_of)

    def absolute_path(self, path: str, space: str = "") -> Path:
        """Return the absolute path of a note. Raises VaultReadError for a path outside the vault."""
        check_relative(path)
        return self.root_of(space) / path

    def root_of(self, space: str) -> Path:
        """Return the folder of a space that was searched. Raises VaultReadError."""
        return self.space.root if self._is_here(space) else self._neighbours().root_of(space)

    def _is_here(self, space: str) -> bool:
        return space in ("", self.space.name)

    def _build_neighbours(self) -> Neighbours:
        from donna_tui.engine.neighbours import Neighbours

        return Neighbours(self.space, self.context.paths)

    async def retry(self, path: str = "") -> None:
        if maintainer := await self._lease.opened():
            await maintainer.retry(path)

    async def install_model(self) -> None:
        """Download and prepare the default embedding model, and use it for searches from then on. Raises DonnaError."""
        await self._model.install()

    async def resume(self) -> None:
        """Accept missing notes as deleted, and remove them from the index."""
        if maintainer := await self._lease.opened():
            maintainer.accept_missing()

    def status(self) -> Status:
        return self._status_reporter.status(
            space=self.space.name,
            root=self.space.root,
            database=self.database,
            owner=self._lease.owner,
            log_file=self._log_file,
        )

    @property
    def database(self) -> Path:
        return self._lease.database

    @property
    def read_only(self) -> bool:
        """Return whether this process does not maintain the index."""
        return not self._lease.is_held
