"""`recall`: from a question to the memories that go into a prompt (seed 002 §2)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memories import (
    LEAST_IMPORTANCE,
    ME,
    Cut,
    CutReason,
    Importance,
    MemoryChunk,
    MemorySource,
    MemoryType,
    RecallResult,
)
from donna_tui.memory.blending import Scorer, rerank
from donna_tui.memory.facts import Fact
from donna_tui.memory.listing import memory_of_fact, memory_of_hit
from donna_tui.memory.packing import pack
from donna_tui.memory.scores import importance_of
from donna_tui.memory.tokens import PromptTokens
from donna_tui.records import dataclass
from donna_tui.results import Filters, Hit, SearchOutcome, SearchRequest

TOP_K, TOKEN_BUDGET = 5, 2_000
CANDIDATES_EACH = 4
"""Candidates for each memory that is wanted (seed 002 §2.3)."""

MOST_CANDIDATES = 1_024
"""Where filters leave too few, more are asked for, up to that many."""

HOLD = {
    MemoryType.WORKING: (MemorySource.TASK, MemorySource.MEMORY),
    MemoryType.EPISODIC: (MemorySource.CHAT, MemorySource.TASK, MemorySource.MEMORY),
    MemoryType.SEMANTIC: (MemorySource.VAULT, MemorySource.CORRECTION, MemorySource.MEMORY),
    MemoryType.PROCEDURAL: (MemorySource.MEMORY,),
}
"""The sources that hold memories of each type."""

Search = Callable[[SearchRequest, int], Awaitable[SearchOutcome]]
"""Answers a request with up to that many hits. Raises DatabaseError."""

Read = Callable[[Callable[[Database], Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """What to recall. `remote` says that the prompt is for a model elsewhere: nothing sensitive is even looked at."""

    query: str
    user_id: str = ME
    top_k: int = TOP_K
    token_budget: int = TOKEN_BUDGET
    memory_types: tuple[MemoryType, ...] | None = None
    include_compressed: bool = False
    remote: bool = False

    @property
    def sources(self) -> tuple[MemorySource, ...]:
        """Where memories of these types are found; empty means wherever a search looks."""
        if self.memory_types is None:
            return ()
        return tuple({source: None for kind in self.memory_types for source in HOLD[kind]})

    def wants(self, kind: MemoryType) -> bool:
        """Whether memories of a type are asked for."""
        return self.memory_types is None or kind in self.memory_types


@dataclass(slots=True)
class _Candidates:
    kept: list[MemoryChunk] = field(default_factory=list)
    cut: list[Cut] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller:
    """The parts of a recall. `preferences` gives a user's procedural memories, the first ones first."""

    search: Search
    read: Read
    preferences: Callable[[str], Awaitable[list[Fact]]]
    counter: PromptTokens
    scorer: Scorer | None = None
    reranks: bool = False

    async def recall(self, request: RecallRequest) -> RecallResult:
        """The memories that fit, in the order of the prompt. Raises DatabaseError."""
        procedural = await self._procedural(request)
        found, outcome = await self._found(request)
        memories, note = found.kept, outcome.note if outcome else ""
        if self.reranks:
            memories, told = rerank(request.query, memories, self.scorer, time.time())
            note = "; ".join(filter(None, (note, told)))
        packed = pack(procedural, memories, top_k=request.top_k, budget=request.token_budget, counter=self.counter)
        return RecallResult(
            memories=packed.memories,
            total_tokens=packed.tokens,
            budget_used=packed.tokens / request.token_budget if request.token_budget > 0 else 0.0,
            token_budget=request.token_budget,
            cut=(*packed.cut, *found.cut),
            counter=self.counter.name,
            note=note,
            query=request.query,
        )

    async def _procedural(self, request: RecallRequest) -> list[MemoryChunk]:
        """Preferences: pinned ones and the latest first. Where not all fit, what they have to do with the question
        comes before how late they are.
        """
        if not request.wants(MemoryType.PROCEDURAL):
            return []
        facts = [fact for fact in await self.preferences(request.user_id) if not (request.remote and fact.sensitive)]
        memories = [memory_of_fact(fact) for fact in facts]
        if pack(memories, (), top_k=0, budget=request.token_budget, counter=self.counter).cut == ():
            return memories
        filters = self._filters(request, sources=(MemorySource.MEMORY,), kind=MemoryType.PROCEDURAL)
        outcome = await self.search(SearchRequest(text=request.query, filters=filters), len(facts))
        near = {hit.path: hit for hit in (*outcome.hits, *outcome.near_misses)}
        order = {path: place for place, path in enumerate(near)}
        ranked = sorted(facts, key=lambda fact: (not fact.pinned, order.get(fact.id, len(order))))
        known = await self._importance([hit.chunk_id for hit in near.values()])
        return [
            replace(
                memory_of_fact(fact, known.get(near[fact.id].chunk_id) if fact.id in near else None),
                score=near[fact.id].rank_score if fact.id in near else 0.0,
            )
            for fact in ranked
        ]

    async def _found(self, request: RecallRequest) -> tuple[_Candidates, SearchOutcome | None]:
        """The candidates that pass the filters, best first; more are asked for while too few do."""
        found, outcome = _Candidates(), None
        wanted = min(MOST_CANDIDATES, request.top_k * CANDIDATES_EACH)
        while wanted > 0 and request.query.strip():
            asked = SearchRequest(text=request.query, filters=self._filters(request, request.sources))
            outcome = await self.search(asked, wanted)
            found = self._sifted(request, outcome.hits, await self._importance([hit.chunk_id for hit in outcome.hits]))
            if len(found.kept) >= request.top_k or len(outcome.hits) < wanted or wanted >= MOST_CANDIDATES:
                break
            wanted = min(MOST_CANDIDATES, wanted * CANDIDATES_EACH)
        return found, outcome

    @staticmethod
    def _filters(request: RecallRequest, sources: Sequence[MemorySource], kind: MemoryType | None = None) -> Filters:
        return Filters(
            user_id=request.user_id,
            sources=tuple(each.value for each in sources),
            note_type=kind.value if kind else "",
            sensitive=False if request.remote else None,
        )

    async def _importance(self, chunk_ids: Sequence[str]) -> dict[str, Importance]:
        known: dict[str, Importance] = await self.read(lambda database: importance_of(database, chunk_ids))
        return known

    @staticmethod
    def _sifted(request: RecallRequest, hits: Sequence[Hit], known: dict[str, Importance]) -> _Candidates:
        found = _Candidates()
        for hit in hits:
            memory = memory_of_hit(hit, known.get(hit.chunk_id))
            if memory.memory_type is MemoryType.PROCEDURAL:
                continue
            why = reason_to_cut(memory, request)
            if why is None:
                found.kept.append(memory)
            else:
                found.cut.append(Cut(memory, why))
        return found


def reason_to_cut(memory: MemoryChunk, request: RecallRequest) -> CutReason | None:
    """Why a memory is not a candidate; None if it is one.

    Notes, what was pinned, and what stands for a whole session are always important enough.
    """
    if not request.wants(memory.memory_type):
        return CutReason.TYPE
    if memory.compressed and not request.include_compressed:
        return CutReason.COMPRESSED
    importance = memory.importance.value if memory.importance else None
    exempt = memory.pinned or memory.is_summary
    if importance is not None and importance < LEAST_IMPORTANCE and not exempt:
        return CutReason.IMPORTANCE
    return None
