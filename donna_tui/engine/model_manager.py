"""Load the embedding model in the background, and reload it when its settings or files change."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from donna_tui.engine.space_context import SpaceContext
from donna_tui.platform.supervisor import set_within
from donna_tui.search.service import OTHER_MODEL
from donna_tui.types.errors import DonnaError, ModelAwayError, Reason, SpaceError
from donna_tui.types.events import EngineEvent, IndexSwapped, ModelStateChanged, ProblemCleared
from donna_tui.types.status import ModelPhase

if TYPE_CHECKING:
    from donna_tui.embedding.build import UnloadedModel
    from donna_tui.embedding.service import EmbeddingService
    from donna_tui.ingest.index_maintainer import IndexMaintainer


RETRY_SECONDS = 30.0
"""Seconds until the next request to an unreachable server."""

MODEL_FIRST_SECONDS = 0.6
"""Seconds that other work waits for a model that loads normally, not while it is prepared or its server is away."""

NO_MODEL = "keyword only: no embedding model is installed"


class ModelManager:
    """The embedding model of one engine.

    `known` is set once the model is loaded or known to be absent. `semantic` announces semantic queries; without them
    the model is loaded only if passages have to be embedded.
    """

    def __init__(self, context: SpaceContext, *, semantic: bool = True) -> None:
        self._context, self._hub, self._cache = context, context.hub, context.paths.cache
        self._service: EmbeddingService | None = None
        self._failure: DonnaError | None = None  # that is reported
        self._phase: ModelPhase | None = None
        self._cancelled = threading.Event()
        """Set to cancel the download and the preparation of the model."""
        self.known, self._wanted = asyncio.Event(), asyncio.Event()
        self._unloaded: asyncio.Task[UnloadedModel | None] | None = None
        if semantic:
            self._wanted.set()

    async def load(self) -> None:
        """Load the model, in a long-running program after the first query, and there retry an unreachable server."""
        if not self._wanted.is_set():
            self._identified()
        await self._wanted.wait()
        if self._context.long_running:
            await self._context.searcher.wait_for_searches()
        while not await self._load_once():
            await asyncio.sleep(RETRY_SECONDS)

    async def install(self) -> None:
        """Download and prepare the default model, and use it. Raises DonnaError, after reporting it."""
        from donna_tui.embedding.download import configured_sources
        from donna_tui.embedding.prepare import install_model

        with self._reporting():
            sources = configured_sources()
            await asyncio.to_thread(install_model, self._cache, sources, self._on_phase, self._cancelled)
        await self._load_once()

    async def _load_once(self) -> bool:
        """Try to load once; return whether no retry is needed."""
        trouble, failure = self._failure, None
        service: EmbeddingService | None = None
        try:
            with self._reporting():
                service = await self._build()
        except DonnaError as error:
            failure = error
        before, self._service = self._service, service
        if service and trouble:
            self._failure = None
            self._hub.post(ProblemCleared(reason=trouble.reason))
        if self._service is None:
            if failure is None or failure.reason is Reason.MODEL_MISSING:
                self._context.searcher.use(None, NO_MODEL, Reason.MODEL_MISSING)
            else:
                self._context.searcher.use(None, f"keyword only: {failure.message}", failure.reason)
        if maintainer := self._context.maintainer:
            await maintainer.use_model(self._service)
        self.follow()
        self.known.set()
        if before:
            await before.close()
        if self._service:
            model = self._service.provider.version_tag
            self._hub.post(ModelStateChanged(phase=ModelPhase.READY, model=model))
        is_passing = isinstance(failure, ModelAwayError) and failure.passing  # such as an unreachable server
        return self._service is not None or not (self._context.long_running and is_passing)

    async def _build(self) -> EmbeddingService:
        """Build on a thread, which cannot be cancelled: a model that is ready after a cancellation is closed."""
        from donna_tui.embedding.build import build_embedding_service

        embedding = self._context.config.embedding
        work = asyncio.to_thread(build_embedding_service, embedding, self._cache, self._on_phase, self._cancelled)
        building = asyncio.create_task(work)
        try:
            return await asyncio.shield(building)
        except asyncio.CancelledError:
            with contextlib.suppress(DonnaError, OSError):
                await (await building).close()
            raise

    def _on_phase(self, phase: ModelPhase, detail: str) -> None:
        self._phase = phase
        if phase is not ModelPhase.READY:  # READY is posted once searches use the model
            self._hub.post(ModelStateChanged(phase=phase, detail=detail))

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report an error of the block, and raise it as a DonnaError."""
        try:
            try:
                yield
            except OSError as error:
                message = f"the model cannot be prepared in {self._cache} ({error.strerror})"
                hint = "check its permissions and the free space"
                raise DonnaError(Reason.IO_ERROR, message, hint=hint) from error
        except DonnaError as error:
            self._failure = error
            phase = ModelPhase.MISSING if error.reason is Reason.MODEL_MISSING else ModelPhase.FAILED
            self._hub.post(ModelStateChanged(phase=phase, detail=error.message))
            self._hub.report(error)
            raise

    async def wait_for_first_search(self) -> None:
        """Wait until the first query is answered, and by meaning if the model is loaded soon."""
        with contextlib.suppress(SpaceError):  # nothing is indexed, so there are no queries
            await self._context.searcher.wait_for_searches()
            if await set_within(self.known, MODEL_FIRST_SECONDS):
                await self._context.searcher.wait_for_searches()

    async def pass_to(self, maintainer: IndexMaintainer) -> None:
        """Pass the model to a maintainer that has just begun, if it is known."""
        if self.known.is_set():
            await maintainer.use_model(self._service)
        self.follow()

    def follow_swap(self, event: EngineEvent) -> None:
        if isinstance(event, IndexSwapped):
            self.follow()

    def follow(self) -> None:
        """Search by meaning if the vectors of the index are those of the loaded model."""
        if self._service is None:
            return
        maintainer = self._context.maintainer
        if maintainer is None or maintainer.indexes.matches_model:
            self._context.searcher.use(self._service)
        else:
            self._context.searcher.use(None, OTHER_MODEL)

    @property
    def is_wanted(self) -> bool:
        """Return whether the model is being loaded, or has been."""
        return self._wanted.is_set()

    async def wait_until_known(self) -> None:
        """Wait until the model is known, if it is needed. Raises the error that prevents it."""
        if not self._wanted.is_set():
            if await self._is_unneeded():
                return
            self._wanted.set()
        while not self.known.is_set():
            if error := self._context.tasks.failure:
                raise error
            await set_within(self.known, 0.1)

    async def _is_unneeded(self) -> bool:
        """Return whether no model is needed: it is there, and no passage that this process indexes lacks a vector."""
        model, maintainer = await self._identified(), self._context.maintainer
        if model is None or (maintainer and not await maintainer.indexes.is_complete(model.version)):
            return False
        self._hub.post(ModelStateChanged(phase=ModelPhase.READY, model=model.version_tag))
        return True

    def _identified(self) -> asyncio.Task[UnloadedModel | None]:
        """Return the identity of the model, which is verified while the index is updated."""
        if self._unloaded is None:
            from donna_tui.embedding.build import unloaded_model

            work = asyncio.to_thread(unloaded_model, self._context.config.embedding, self._cache)
            self._unloaded = asyncio.create_task(work)
        return self._unloaded

    async def prepared(self) -> None:
        """Wait while the model is prepared for this machine; giving up would begin again at each start."""
        self._wanted.set()
        while not (self.known.is_set() or self._context.tasks.failure) and (
            self._phase in (None, ModelPhase.PREPARING)
        ):
            await set_within(self.known, 0.05)

    def cancel(self) -> None:
        self._cancelled.set()

    async def close(self) -> None:
        if self._service:
            await self._service.close()
