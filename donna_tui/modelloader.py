"""Loads the embedding model for an engine, on a thread, and tells how far it is and why there is none."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path

from donna_tui.config.models import EmbeddingConfig
from donna_tui.embedding.build import UnloadedModel, build_embedding_service, unloaded_model
from donna_tui.embedding.prepare import install_model
from donna_tui.embedding.service import EmbeddingService
from donna_tui.errors import DonnaError, ModelAwayError, ModelError, Reason
from donna_tui.events import EventHub, ModelPhase, ModelStateChanged, ProblemCleared, ProblemRaised


class ModelLoader:
    """One for an engine. `cache` is the folder of prepared models."""

    def __init__(self, config: EmbeddingConfig, cache: Path, hub: EventHub) -> None:
        self._config, self._cache, self.hub = config, cache, hub
        self._cancelled = threading.Event()
        self.failure: DonnaError | None = None
        self.phase: ModelPhase | None = None

    @property
    def passing(self) -> bool:
        """Whether the last failure may pass by itself: a server was away."""
        return isinstance(self.failure, ModelAwayError) and self.failure.passing

    async def unloaded(self) -> UnloadedModel | None:
        """What can be told of the model without loading it; None if nothing can."""
        return await asyncio.to_thread(unloaded_model, self._config, self._cache)

    def cancel(self) -> None:
        """Nobody wants the model any more."""
        self._cancelled.set()

    async def install(self) -> None:
        """Download the model's weights and prepare it. Raises ModelError, and reports why there is none as before."""
        from donna_tui.embedding.download import configured_sources

        try:
            sources = configured_sources()
            await asyncio.to_thread(install_model, self._cache, sources, self._on_phase, self._cancelled)
        except ModelError as error:
            self._tell(error)
            raise

    async def load(self) -> EmbeddingService | None:
        """The model; None if there is none, or it cannot be used, which is told."""
        before, self.failure = self.failure, None
        try:
            service = await self._build()
            if before:
                self.hub.post(ProblemCleared(reason=before.reason))
            return service
        except DonnaError as error:
            self._tell(error)
        except OSError as error:
            message = f"the model cannot be prepared in {self._cache} ({error.strerror})"
            self._tell(DonnaError(Reason.IO_ERROR, message, hint="is there space, and may Donna write there?"))
        return None

    async def _build(self) -> EmbeddingService:
        """Build on a thread, which cannot be cancelled: a model that comes when nobody wants it any more is closed."""
        work = asyncio.to_thread(build_embedding_service, self._config, self._cache, self._on_phase, self._cancelled)
        building = asyncio.create_task(work)
        try:
            return await asyncio.shield(building)
        except asyncio.CancelledError:
            with contextlib.suppress(DonnaError, OSError):
                await (await building).close()
            raise

    def _on_phase(self, phase: ModelPhase, detail: str) -> None:
        self.phase = phase
        if phase is not ModelPhase.READY:  # which is told once searches use it
            self.hub.post(ModelStateChanged(phase=phase, detail=detail))

    def _tell(self, error: DonnaError) -> None:
        self.failure = error
        phase = ModelPhase.MISSING if error.reason is Reason.MODEL_MISSING else ModelPhase.FAILED
        self.hub.post(ModelStateChanged(phase=phase, detail=error.message))
        self.hub.post(ProblemRaised(reason=error.reason, message=error.message, hint=error.hint or ""))
