"""The embedding model of an engine: loaded in the background, given to the keeper and to searches that can use it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from donna_tui.embedding.service import EmbeddingService
from donna_tui.errors import DonnaError, Reason, SpaceError
from donna_tui.events import EngineEvent, IndexSwapped, ModelPhase, ModelStateChanged
from donna_tui.ingest.keeper import Keeper
from donna_tui.modelloader import ModelLoader
from donna_tui.search.desk import OTHER_MODEL, SearchDesk
from donna_tui.supervisor import set_within

RETRY_SECONDS = 30.0
"""How long until a server that was away is asked again."""

MODEL_FIRST_SECONDS = 0.6
"""Other work waits so long for a model that loads as usual, not for one that is prepared or whose server is away."""

NO_MODEL = "by words only: there is no model for search by meaning"


class ModelAtWork:
    """`known` is set once the model is there, or it is clear that none is at present. `by_meaning` says that questions
    are to come for which it is wanted; without them it is loaded only where something waits to be brought in.
    """

    def __init__(
        self,
        loader: ModelLoader,
        desk: Callable[[], SearchDesk],
        keeper: Callable[[], Keeper | None],
        *,
        stays: bool,
        by_meaning: bool = True,
    ) -> None:
        self._loader, self._desk, self._keeper, self._stays = loader, desk, keeper, stays
        self._service: EmbeddingService | None = None
        self.known, self._wanted = asyncio.Event(), asyncio.Event()
        if by_meaning:
            self._wanted.set()

    async def load(self) -> None:
        """Load the model; where its server is away, a program that stays tries again until it is there.

        There a question that came before the engine is answered first.
        """
        await self._wanted.wait()
        if self._stays:
            await self._desk().first_answer()
        while not await self._loaded():
            await asyncio.sleep(RETRY_SECONDS)

    async def install(self) -> None:
        """Download the model, prepare it and load it. Raises ModelError if it cannot be had."""
        await self._loader.install()
        await self._loaded()

    async def _loaded(self) -> bool:
        """Try once. Whether that is all that can be done."""
        self._service = await self._loader.load()
        if self._service is None:
            self._desk().use(None, *_excuse(self._loader.failure))
        if keeper := self._keeper():
            await keeper.use_model(self._service)
        self.follow()
        self.known.set()
        if self._service:
            model = self._service.provider.version_tag
            self._loader.hub.post(ModelStateChanged(phase=ModelPhase.READY, model=model))
        return self._service is not None or not (self._stays and self._loader.passing)

    async def at_best(self) -> None:
        """Wait until what was asked first is answered, and by meaning if the model comes soon."""
        with contextlib.suppress(SpaceError):  # nothing is indexed, so nothing is asked
            await self._desk().first_answer()
            if await set_within(self.known, MODEL_FIRST_SECONDS):
                await self._desk().first_answer()

    async def give(self, keeper: Keeper) -> None:
        """This keeper has only now begun."""
        if self.known.is_set():
            await keeper.use_model(self._service)

    def heard(self, event: EngineEvent) -> None:
        """Another index may be in use from now on."""
        if isinstance(event, IndexSwapped):
            self.follow()

    def follow(self) -> None:
        """Search by meaning where the vectors of the index are those of the loaded model."""
        if self._service is None:
            return
        keeper = self._keeper()
        if keeper is None or keeper.indexes.speaks_model:
            self._desk().use(self._service)
        else:
            self._desk().use(None, OTHER_MODEL)

    async def to_come(self, failure: Callable[[], DonnaError | None]) -> None:
        """Wait until it is known, where it is wanted. Raises what keeps it from coming."""
        if not self._wanted.is_set():
            if await self._is_spare():
                return
            self._wanted.set()
        while not self.known.is_set():
            if error := failure():
                raise error
            await set_within(self.known, 0.1)

    async def _is_spare(self) -> bool:
        """Whether the model is at hand, and every passage has its vector by it, or another process sees to that."""
        model, keeper = await self._loader.unloaded(), self._keeper()
        if model is None or (keeper and not await keeper.indexes.is_complete(model.version)):
            return False
        self._loader.hub.post(ModelStateChanged(phase=ModelPhase.READY, model=model.version_tag))
        return True

    async def prepared(self, failure: Callable[[], DonnaError | None]) -> None:
        """Wait while the model is prepared for this machine: who gives up would begin again at each start."""
        self._wanted.set()
        while not self.known.is_set() and self._loader.phase in (None, ModelPhase.PREPARING) and not failure():
            await set_within(self.known, 0.05)

    def cancel(self) -> None:
        """Nobody wants the model any more."""
        self._loader.cancel()

    async def close(self) -> None:
        """Release the model."""
        if self._service:
            await self._service.close()


def _excuse(failure: DonnaError | None) -> tuple[str, str]:
    """Why search is by words, and its code."""
    if failure is None or failure.reason is Reason.MODEL_MISSING:
        return NO_MODEL, Reason.MODEL_MISSING
    return f"by words only: {failure.message}", failure.reason
