"""Provide the memory of a space with the index, the tokenizer and the maintainer on demand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.config.agent_settings import AgentEmbedding
from donna_tui.config.models import MemoryConfig
from donna_tui.embedding.build import build_token_counter
from donna_tui.embedding.files import MAX_TOKENS, MODEL_NAME
from donna_tui.ingest.index_maintainer import IndexMaintainer
from donna_tui.ingest.pipeline import Pipeline
from donna_tui.memory.chat import TextSplitter
from donna_tui.memory.indexer import MemoryIndexer, MemoryIndexerParts, backfill, request_check, wait_until_indexed
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.errors import Reason, SpaceError
from donna_tui.types.events import EventHub
from donna_tui.types.memory import BackfillRow
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import VaultClient

if TYPE_CHECKING:
    from donna_tui.engine.memory_service import MemoryService
    from donna_tui.llm.router import ModelRouter
    from donna_tui.memory.compression import Material
    from donna_tui.memory.recall import Read, Search


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHostParts:
    """`folder` is the space's state folder, `cache` holds the models; `maintainer` is None while another process
    maintains the index; `ready` waits until it is known whether there is a model.
    """

    folder: Path
    cache: Path
    config: MemoryConfig
    hub: EventHub
    read: Read
    search: Search
    maintainer: Callable[[], IndexMaintainer | None]
    ready: Callable[[], Awaitable[None]]


class MemoryHost:
    """The memory of one engine."""

    def __init__(self, parts: MemoryHostParts) -> None:
        self._parts = parts
        self._splitter: TextSplitter | None = None
        self._service: MemoryService | None = None

    @property
    def splitter(self) -> TextSplitter:
        """Return the token counter of the configured model, and its window."""
        if self._splitter is None:
            embedding = self._parts.config.embedding
            served = isinstance(embedding, AgentEmbedding) and embedding.first != "local"
            own = embedding.provider == MODEL_NAME and not served
            window = min(embedding.max_tokens, MAX_TOKENS) if own else embedding.max_tokens
            counter = EstimatedTokens() if served else build_token_counter(embedding.provider, self._parts.cache)
            self._splitter = TextSplitter(counter, window)
        return self._splitter

    def feed(self, client: VaultClient) -> Callable[[Pipeline], MemoryIndexer]:
        """Return the factory of the memory indexer of each index."""
        parts = MemoryIndexerParts(
            folder=self._parts.folder,
            sources=self._parts.config.sources,
            client=client,
            splitter=self.splitter,
            hub=self._parts.hub,
        )
        return lambda pipeline: MemoryIndexer(parts, pipeline)

    @property
    def service(self) -> MemoryService:
        """Return the service of the memory. It is imported on first use, since that takes longer than a search."""
        if self._service is None:
            from donna_tui.engine.memory_service import MemoryService, MemoryServiceParts

            self._service = MemoryService(
                MemoryServiceParts(
                    folder=self._parts.folder,
                    config=self._parts.config,
                    hub=self._parts.hub,
                    splitter=lambda: self.splitter,
                    read=self._parts.read,
                    search=self._parts.search,
                    changed=self._changed,
                    wait_until_indexed=self._wait_until_indexed,
                    summarize=self._summarize,
                )
            )
        return self._service

    @cached_property
    def router(self) -> ModelRouter | None:
        """Return the router of the language models, if any is configured. All callers share its daily limit."""
        from donna_tui.config.routes import load_routes

        routes = load_routes()
        if not (routes.reasoner or routes.summarizer):
            return None
        from donna_tui.llm.ledger import CallLedger
        from donna_tui.llm.router import ModelRouter

        return ModelRouter(routes, CallLedger(self.service.db), self._parts.hub)

    async def _summarize(self, found: Material) -> str:
        if self.router is None:
            return ""
        from donna_tui.llm.summaries import summarize

        return await summarize(self.router, found)

    def _changed(self) -> None:
        maintainer = self._parts.maintainer()
        if maintainer:
            request_check(maintainer)

    async def _wait_until_indexed(self, patience: float) -> bool:
        maintainer = self._parts.maintainer()
        if maintainer is None:
            return False
        await self._parts.ready()
        return await wait_until_indexed(maintainer, patience)

    async def backfill(self, source: MemorySource) -> BackfillRow:
        """Index one source again from scratch. Raises SpaceError if another process maintains the index."""
        maintainer = self._parts.maintainer()
        if maintainer is None:
            raise SpaceError(Reason.BUSY, "another Donna maintains this index", hint="close it, and try again")
        await self._parts.ready()
        return await backfill(maintainer, source)

    async def close(self) -> None:
        """Close the memory if it was opened."""
        if self._service:
            await self._service.close()
