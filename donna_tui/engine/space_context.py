"""Hold what the services of a space share: its settings, its events, the index in use, the model and the memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from donna_tui.config.agent_settings import AgentEmbedding, AgentSettings, not_indexed
from donna_tui.config.models import MemoryConfig
from donna_tui.config.routes import load_routes
from donna_tui.index.database import Database
from donna_tui.index.invocations import InputHash, load_key
from donna_tui.index.readers import Readers
from donna_tui.ingest.sync_policy import SyncPolicy, policy_of
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space
from donna_tui.platform.supervisor import Supervisor
from donna_tui.search.service import SearchService
from donna_tui.types.errors import Reason, SpaceError
from donna_tui.types.events import EventHub

if TYPE_CHECKING:
    from donna_tui.engine.index_lease import IndexLease
    from donna_tui.engine.memory_service import MemoryService
    from donna_tui.engine.model_manager import ModelManager
    from donna_tui.ingest.index_maintainer import IndexMaintainer
    from donna_tui.ingest.pipeline import IngestContext
    from donna_tui.llm.router import ModelRouter
    from donna_tui.memory.splitter import TextSplitter
    from donna_tui.vault.client import VaultClient

T = TypeVar("T")


class SpaceContext:
    """The context of one engine's services; `clock` returns Unix time.

    The engine sets `lease` and `model` while it is built, and `search_service` when it starts.
    """

    lease: IndexLease
    model: ModelManager

    def __init__(
        self, space: Space, config: MemoryConfig, paths: AppPaths, clock: Callable[[], float], *, long_running: bool
    ) -> None:
        self.space, self.config, self.paths, self.clock, self.long_running = space, config, paths, clock, long_running
        self.hub = EventHub()
        self.tasks = Supervisor(self.hub)
        self.search_service: SearchService | None = None

    @property
    def policy(self) -> SyncPolicy:
        return policy_of(self.config)

    @cached_property
    def input_hash(self) -> InputHash:
        return InputHash(load_key(self.space.state))

    @cached_property
    def client(self) -> VaultClient:
        """Return the reader of the notes that the settings admit to the index."""
        from donna_tui.vault.open import indexed_client

        return indexed_client(self.config, self.space.root)

    # The index

    @property
    def not_indexed(self) -> SpaceError | None:
        """Return the reason why the memory of an agent is not indexed, or None if it is."""
        config = self.config
        return not_indexed(config) if isinstance(config, AgentSettings) and config.not_indexed else None

    def require_indexed(self) -> None:
        if why := self.not_indexed:
            raise why

    @property
    def maintainer(self) -> IndexMaintainer | None:
        """Return the maintainer of the index, or None until this process has opened it."""
        return self.lease.maintainer

    @property
    def readers(self) -> Readers:
        """Return the reader threads of the index in use. Raises SpaceError unless the engine is running."""
        return self.lease.readers

    async def read(self, work: Callable[[Database], T]) -> T:
        """Run `work` with the index on a reader thread. Raises DatabaseError."""
        return await self.readers.run(lambda database, _: work(database))

    @property
    def searcher(self) -> SearchService:
        """Return the search of the index. Raises SpaceError unless the engine is running."""
        self.require_indexed()
        if self.search_service is None:
            raise SpaceError(Reason.BUSY, "the engine is not running")
        return self.search_service

    @cached_property
    def splitter(self) -> TextSplitter:
        """Return the model's token counter and its window. Raises ModelError without a readable tokenizer."""
        from donna_tui.embedding.build import build_token_counter
        from donna_tui.embedding.files import MAX_TOKENS, MODEL_NAME
        from donna_tui.memory.splitter import TextSplitter
        from donna_tui.text.tokens import EstimatedTokens

        embedding = self.config.embedding
        served = isinstance(embedding, AgentEmbedding) and embedding.first != "local"
        own = embedding.provider == MODEL_NAME and not served
        window = min(embedding.max_tokens, MAX_TOKENS) if own else embedding.max_tokens
        counter = EstimatedTokens() if served else build_token_counter(embedding.provider, self.paths.cache)
        return TextSplitter(counter, window)

    def ingest_context(self) -> IngestContext:
        """Return the context of the pipelines. Raises ModelError if the model's tokenizer cannot be read."""
        from donna_tui.ingest.pipeline import IngestContext
        from donna_tui.ingest.source import NoteChunker
        from donna_tui.memory.indexer import MemoryIndexer

        return IngestContext(
            space=self.space,
            config=self.config,
            client=self.client,
            chunker=NoteChunker(self.splitter.counter, self.splitter.window, self.config.embedding.chunk_overlap),
            hub=self.hub,
            input_hash=self.input_hash,
            long_running=self.long_running,
            memory_indexer=MemoryIndexer,
        )

    # The memory and the language models

    async def close_memory(self) -> None:
        """Close the memory if it was opened."""
        if "memory" in self.__dict__:
            await self.memory.close()

    @cached_property
    def memory(self) -> MemoryService:
        """Return the service of the memory. It is imported on first use, since that takes longer than a search."""
        from donna_tui.engine.memory_service import MemoryService

        return MemoryService(self)

    @cached_property
    def router(self) -> ModelRouter | None:
        """Return the router of the language models, if any is configured. All callers share its daily limit."""
        routes = load_routes()
        if not (routes.reasoner or routes.summarizer):
            return None
        from donna_tui.llm.router import ModelRouter

        return ModelRouter(routes, self.memory.db, self.hub)
