"""The index in use and, after the chunker or the model has changed, the next one that is being built."""

from __future__ import annotations

import asyncio
from functools import partial

from donna_tui.embedding.service import EmbeddingService
from donna_tui.index import generations
from donna_tui.index.database import check_integrity
from donna_tui.index.readers import Readers
from donna_tui.ingest.pipeline import IngestContext, Pipeline
from donna_tui.ingest.watcher import ChangedPaths
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.events import IndexSwapped, ProblemRaised


class Indexes:
    """One or two pipelines over the same vault. Searches use `active`; both follow changes."""

    def __init__(self, context: IngestContext) -> None:
        self._context, self._hub = context, context.hub
        self._service: EmbeddingService | None = None
        self._wanted = context.chunker.recipe
        self.building: Pipeline | None = None
        self._why = ""
        self._active: Pipeline | None = None

    @property
    def active(self) -> Pipeline:
        if self._active is None:
            raise RuntimeError("the index is not open")
        return self._active

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        return tuple(pipeline for pipeline in (self._active, self.building) if pipeline)

    @property
    def newest(self) -> Pipeline:
        """Return the pipeline whose progress is reported."""
        return self.building or self.active

    @property
    def matches_model(self) -> bool:
        """Return whether the vectors of the active index can be compared with those of the loaded model."""
        return bool(self._wanted.embedding) and self._wanted.embedding == self.active.built.embedding

    async def open(self, readers: Readers | None = None) -> None:
        """Open the current index, or create the first. A damaged one is renamed and rebuilt from the vault.

        `readers` are used instead of new ones if they read the opened file: they may have its vectors in memory.
        Raises DatabaseError if it cannot be opened or created for another reason.
        """
        generation = generations.current_generation(self._context.space.state) or 1
        try:
            self._active = await self._open(generation)
        except DatabaseError as error:
            if error.reason is not Reason.DATABASE_CORRUPT:
                raise
            self._report_damage(generation)
            self._active = await self._open(generation)
            readers = None
        generations.delete_older(self._context.space.state, generation)  # left by an interrupted swap
        await self._build_if_needed("the chunking of notes has changed")
        if readers and readers.path == self._active.path:
            self._active.readers.close()
            self._active.readers = readers

    async def _open(self, generation: int) -> Pipeline:
        pipeline = Pipeline(self._context, generation)
        try:
            await pipeline.open()
        except BaseException:
            await pipeline.close()
            raise
        return pipeline

    def _report_damage(self, generation: int) -> None:
        aside = generations.set_aside(generations.index_path(self._context.space.state, generation))
        message = f"the index was damaged; it was set aside as {aside.name} and is rebuilt from your notes"
        hint = "no note was changed; delete the damaged file when you no longer want it"
        self._hub.post(ProblemRaised(reason=Reason.DATABASE_CORRUPT, message=message, hint=hint))

    async def replace_if_damaged(self) -> None:
        """Rename and rebuild the index in use if SQLite's quick check finds it damaged."""
        store = self.active.store
        try:
            await self.active.write(lambda: check_integrity(store.database))
            return
        except DatabaseError as error:
            if error.reason is not Reason.DATABASE_CORRUPT:
                return
        generation = self.active.generation  # the index may have been replaced during the check
        await self.active.close()
        self._report_damage(generation)
        self._active = await self._open(generation)
        if self._service:
            await self.active.embed_with(self._service)
        await self.active.reconcile("the index is rebuilt")

    async def embed_with(self, service: EmbeddingService) -> None:
        """Set the model. If the active index has vectors of another one, start building a new index."""
        self._service = service
        self._wanted = generations.Recipe(self._wanted.chunking, service.version_tag)
        if self.building is None:
            await self._build_if_needed("the model has changed")
        if self.active.built.embedding in ("", service.version_tag):
            await self.active.embed_with(service)
        if self.building:
            if self.active.built.embedding == service.version_tag:
                await self.building.write(partial(self.building.store.copy_vectors, self.active.path))
            await self.building.embed_with(service)

    async def _build_if_needed(self, why: str) -> None:
        if not self._wanted.fits(self.active.built):
            self.building = await self._open(self.active.generation + 1)
            self._why = why

    async def finish_building(self) -> None:
        """Replace the old index by the new one once that is complete. Call it after the first comparison."""
        building = self.building
        if building is None:
            return
        await building.wait_until_idle()
        old, self._active, self.building = self.active, building, None
        await old.close()
        generations.make_current(self._context.space.state, building.generation)
        generations.delete_older(self._context.space.state, building.generation)
        self._hub.post(IndexSwapped(generation=building.generation, why=self._why))

    def follow(self, changed: ChangedPaths) -> None:
        for pipeline in self.pipelines:
            pipeline.follow(changed)

    async def reconcile(self, why: str, *, accept: bool = False, reread: bool = False) -> None:
        """Compare the vault with every index. Raises VaultReadError if the root is missing."""
        for pipeline in self.pipelines:
            await pipeline.reconcile(why, accept=accept, reread=reread)

    async def wait_until_idle(self) -> None:
        """Wait until all indexes are up to date. Raises DonnaError if they cannot be for now."""
        await asyncio.gather(*(pipeline.wait_until_idle() for pipeline in self.pipelines))

    async def is_complete(self, version: str) -> bool:
        """Return whether all is embedded and scored with this version; wait until that is known."""
        if self.building or self.active.built.embedding != version:
            return False
        return await self.active.is_complete()

    async def tidy(self) -> None:
        """Release free pages, and cached vectors without a passage, kept for text that was moved."""
        for pipeline in self.pipelines:
            await pipeline.write(pipeline.store.tidy)

    async def close(self) -> None:
        for pipeline in self.pipelines:
            await pipeline.close()
