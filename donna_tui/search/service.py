"""Answer searches: embed the question and run both legs."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from donna_tui.index.database import Database
from donna_tui.index.generations import recipe_of
from donna_tui.index.invocations import InputHash, Invocation
from donna_tui.index.readers import Readers
from donna_tui.index.vectors import Vector, VectorIndex
from donna_tui.search.hybrid import Settings, max_hits, more_like, search
from donna_tui.search.legs import Legs, Question, ask, candidates_for, keyword_leg, semantic_leg
from donna_tui.search.reranking import RERANKED, Scorer, reranked
from donna_tui.types.errors import DatabaseError, ModelError
from donna_tui.types.events import EventHub, SearchDone
from donna_tui.types.search import Hit, SearchOutcome, SearchRequest

if TYPE_CHECKING:
    from donna_tui.embedding.service import EmbeddingService
    from donna_tui.search.why_not import WhyNot

REMEMBERED_QUERIES = 64

HEAD_START_SECONDS = 0.02
"""Seconds in which a question that was typed while the engine was starting can begin its search."""

DRAWING_SECONDS, POLL_SECONDS, LONGEST_SECONDS = 0.04, 0.005, 1.0
"""Seconds in which an answer is drawn; between checks for searches in progress; of waiting for them at most."""

LOADING = "keyword only until the model is ready"
LATE = "keyword only: the model did not embed the question in time"
OTHER_MODEL = "keyword only until the new index is complete"


class SearchService:
    """The search service of an engine. `readers` returns the reading threads of the index in use."""

    def __init__(
        self,
        readers: Callable[[], Readers],
        settings: Settings,
        hub: EventHub,
        input_hash: InputHash,
        scorer: Scorer | None = None,
    ) -> None:
        self._readers, self._settings, self._hub, self._input_hash = readers, settings, hub, input_hash
        self._scorer, self._latest = scorer, 0
        self._service: EmbeddingService | None = None
        self._why_not, self._reason = LOADING, ""
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._invocations: list[Invocation] = []
        self._under_way = 0

    async def wait_for_searches(self) -> None:
        """Wait until the searches in progress are answered and drawn, before work that competes for the interpreter.

        The wait is limited, in case there is always a search in progress.
        """
        await asyncio.sleep(HEAD_START_SECONDS)
        until = time.monotonic() + LONGEST_SECONDS
        while self._under_way and time.monotonic() < until:
            await asyncio.sleep(POLL_SECONDS)
        await asyncio.sleep(DRAWING_SECONDS)

    def use(self, service: EmbeddingService | None, why_not: str = "", reason: str = "") -> None:
        """Set the model of the semantic leg; without one, `why_not` and its reason code are added to each answer."""
        self._service, self._why_not, self._reason = service, why_not, reason
        self._vectors.clear()

    def take_invocations(self) -> list[Invocation]:
        """Return and clear the collected rows for the invocation log."""
        taken, self._invocations = self._invocations, []
        return taken

    async def search(self, request: SearchRequest, max_k: int | None = None) -> SearchOutcome:
        """Answer a request, with at most `max_k` hits instead of the configured number, and then not ranked again.

        Raises DatabaseError; without a model the answer is by words, and says so.
        """
        self._under_way += 1
        try:
            if max_k is None and self._scorer is not None and request.mode != "keyword":
                return await self._reranked(request, self._scorer)
            settings = self._settings if max_k is None else replace(self._settings, max_k=max_k)
            return await self._found(request, settings, time.perf_counter())
        finally:
            self._under_way -= 1

    async def _reranked(self, request: SearchRequest, scorer: Scorer) -> SearchOutcome:
        """Rank the best hits again, unless another question was typed meanwhile: it takes a while."""
        self._latest += 1
        number, k = self._latest, max_hits(request, self._settings)
        wide = replace(request, k=max(k, RERANKED), uncapped=True) if k else request
        found = await self._found(wide, self._settings, time.perf_counter())

        def rank() -> list[Hit]:
            is_old = request.typing and number != self._latest
            return list(found.hits) if is_old else reranked(ask(request).query.text, found.hits, scorer)

        try:
            hits, note = await asyncio.to_thread(rank), found.note
        except ModelError as error:
            hits, note = list(found.hits), "; ".join(filter(None, (found.note, f"not ranked again: {error.message}")))
        return replace(found, request=request, hits=tuple(hits[:k]), near_misses=found.near_misses[:k], note=note)

    async def _found(self, request: SearchRequest, settings: Settings, started: float) -> SearchOutcome:
        """Answer a request, searching by words while the model embeds the question."""
        asked, limit = ask(request), candidates_for(max_hits(request, settings))
        readers = self._readers()
        keyword = readers.run_parallel(lambda database: keyword_leg(database, asked, limit, readers.run_parallel))

        def work(database: Database, vectors: VectorIndex) -> SearchOutcome:
            compared = comparable(database, question, version)
            if asked.mode == "semantic" and compared.mode == "keyword":  # the keyword leg was not run
                return search(database, vectors, compared, settings)
            found = keyword() if compared.query.without else None  # it finds the spelling of excluded words
            respelt = replace(compared, query=found.query) if found else compared
            semantic = semantic_leg(database, vectors, respelt, limit)
            return search(database, vectors, compared, settings, Legs(found or keyword(), semantic))

        try:
            question, version = await self._with_vector(asked), self._version
            outcome = await readers.run(work)
        except DatabaseError:
            if readers is self._readers():
                raise
            return await self._found(request, settings, started)  # the index was replaced, as after a change of model
        finally:
            keyword.drop()
        return self._reported(outcome, started)

    async def search_in(self, readers: Readers, request: SearchRequest) -> SearchOutcome:
        """Answer a request from another index: by meaning if its vectors are of this model. Raises DatabaseError."""
        question, version = await self._with_vector(ask(request)), self._version
        by_words = replace(question, vector=None, mode="keyword")

        def work(database: Database, vectors: VectorIndex) -> SearchOutcome:
            is_same = recipe_of(database).embedding == version
            return search(database, vectors, question if is_same else by_words, self._settings)

        return await readers.run(work)

    async def more_like(self, hit: Hit, request: SearchRequest, readers: Readers | None = None) -> SearchOutcome:
        """Find passages of other notes similar to a hit, in its index. Raises DatabaseError."""
        started = time.perf_counter()
        reading = readers or self._readers()
        outcome = await reading.run(lambda database, vectors: more_like(database, vectors, hit, request))
        return self._reported(outcome, started)

    async def why_not(self, path: str, request: SearchRequest) -> WhyNot:
        """Explain why a note is not among the hits of a request. Raises DatabaseError."""
        from donna_tui.search.why_not import why_not

        question, version = await self._with_vector(ask(request)), self._version
        return await self._readers().run(
            lambda database, vectors: why_not(
                database, vectors, comparable(database, question, version), self._settings, path
            )
        )

    @property
    def _version(self) -> str:
        return self._service.version_tag if self._service else ""

    def _reported(self, outcome: SearchOutcome, started: float) -> SearchOutcome:
        """Post the event of an outcome, and add the milliseconds that it took."""
        latency = (time.perf_counter() - started) * 1000
        sources = ",".join(outcome.request.filters.sources)
        self._hub.post(
            SearchDone(
                mode=outcome.mode,
                k=outcome.request.k,
                hits=len(outcome.hits),
                latency_ms=latency,
                sources=sources,
                question=outcome.request.text,
            )
        )
        return replace(outcome, latency_ms=latency)

    async def _with_vector(self, question: Question) -> Question:
        text = question.query.text
        if question.request.mode == "keyword" or not text:
            return question
        if (service := self._service) is None:
            return replace(question, mode="keyword", note=self._why_not, reason=self._reason)
        try:
            async with asyncio.timeout(self._settings.patience):
                vector = await self._embed(service, text)
            is_known = service.provider.knows(" ".join(question.query.terms))
            share = service.provider.readable_share(text)
            return replace(question, vector=vector, readable_share=share, is_known=is_known)
        except TimeoutError:
            return replace(question, mode="keyword", note=LATE)
        except ModelError as error:
            return replace(question, mode="keyword", note=f"keyword only: {error.message}", reason=error.reason)

    async def _embed(self, service: EmbeddingService, text: str) -> Vector:
        known = self._vectors.get(text)
        if known is not None:
            self._vectors.move_to_end(text)
            return known
        started = time.perf_counter()
        vector = await service.embed_query(text)
        latency = (time.perf_counter() - started) * 1000
        hashed = self._input_hash(text, sensitive=True)
        self._invocations.append(Invocation("embed_memory_query", service.version_tag, latency, hashed))
        self._vectors[text] = vector
        if len(self._vectors) > REMEMBERED_QUERIES:
            self._vectors.popitem(last=False)
        return vector


def comparable(database: Database, question: Question, version: str) -> Question:
    """Remove the vector of a question if the index has vectors of another model, because the two cannot be compared."""
    if question.vector is None or recipe_of(database).embedding in ("", version):
        return question
    return replace(question, vector=None, mode="keyword", note=OTHER_MODEL)
