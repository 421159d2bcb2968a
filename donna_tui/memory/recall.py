"""`recall`: from a question to the memories that go into a prompt (seed 002 §2)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memories import (
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
from donna_tui.memory.packing import Packed, pack
from donna_tui.memory.scores import importance_of
from donna_tui.memory.tokens import PromptTokens
from donna_tui.records import dataclass
from donna_tui.results import Filters, Hit, SearchOutcome, SearchRequest

TOKEN_BUDGET = 2_000
CANDIDATES_EACH = 4
"""Candidates for each memory that is wanted, and how much the number grows where too few are left (seed 002 §2.3)."""

FEWEST_CANDIDATES, MOST_CANDIDATES = 40, 1_024
TOKENS_EACH = 20
"""One candidate for so many tokens of the budget: few memories are shorter in a prompt."""

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
    """What to recall. `top_k` None means as many as fit into the budget.

    `remote` says that the prompt is for a model elsewhere: nothing sensitive is even looked at.
    """

    query: str
    user_id: str = ME
    top_k: int | None = None
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

    @property
    def candidates(self) -> int:
        """How many matches to ask for at first."""
        if self.top_k == 0 or self.token_budget <= 0 or not self.query.strip():
            return 0
        each = self.token_budget // TOKENS_EACH if self.top_k is None else self.top_k * CANDIDATES_EACH
        return min(MOST_CANDIDATES, max(FEWEST_CANDIDATES, each))

    def wants(self, kind: MemoryType) -> bool:
        """Whether memories of a type are asked for."""
        return self.memory_types is None or kind in self.memory_types


@dataclass(slots=True)
class _Candidates:
    """What a search found: memories to pack, those that are left out, and how many there were.

    `near` says that the search itself would call none of them an answer.
    """

    kept: list[MemoryChunk] = field(default_factory=list)
    cut: list[Cut] = field(default_factory=list)
    note: str = ""
    searched: int = 0
    near: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller:
    """The parts of a recall. `preferences` gives a user's procedural memories, the first ones first."""

    search: Search
    read: Read
    preferences: Callable[[str], Awaitable[list[Fact]]]
    counter: PromptTokens
    min_score: float = 0.0
    scorer: Scorer | None = None
    reranks: bool = False

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Pack the preferences and the best matches, in the order of the prompt. Raises DatabaseError.

        More matches are searched for while all that were found fit and there may be others.
        """
        procedural = await self._procedural(request)
        wanted = request.candidates
        found = await self._found(request, wanted) if wanted else _Candidates()
        packed, note = self._packed(request, procedural, found)
        while found.searched == wanted < MOST_CANDIDATES and _has_room(packed) and wanted:
            wanted = min(MOST_CANDIDATES, wanted * CANDIDATES_EACH)
            found = await self._found(request, wanted)
            packed, note = self._packed(request, procedural, found)
        cut = (*packed.cut, *found.cut)
        told = told_of(request, packed, cut, found) if wanted else ""
        return RecallResult(
            memories=packed.memories,
            total_tokens=packed.tokens,
            budget_used=packed.tokens / request.token_budget if request.token_budget > 0 else 0.0,
            token_budget=request.token_budget,
            cut=cut,
            counter=self.counter.name,
            note="; ".join(filter(None, (found.note, note, told))),
            query=request.query,
        )

    def _packed(
        self, request: RecallRequest, procedural: Sequence[MemoryChunk], found: _Candidates
    ) -> tuple[Packed, str]:
        ranked, note = rerank(request.query, found.kept, self.scorer if self.reranks else None, time.time())
        packed = pack(procedural, ranked, top_k=request.top_k, budget=request.token_budget, counter=self.counter)
        return packed, note

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
        asked = SearchRequest(text=request.query, k=len(facts), filters=filters)
        outcome = await self.search(asked, len(facts))
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

    async def _found(self, request: RecallRequest, wanted: int) -> _Candidates:
        """Search for candidates. Where a search would refuse to answer, its near misses above `min_score` are taken:
        how sure one has to be is for the reader of the prompt to say.
        """
        asked = SearchRequest(text=request.query, k=wanted, filters=self._filters(request, request.sources))
        outcome = await self.search(asked, wanted)
        matches = outcome.hits or tuple(hit for hit in outcome.near_misses if self._is_match(hit))
        hits = tuple(hit for hit in matches if hit.content.strip())  # a note without text is found by its name
        found = self._sifted(request, hits, await self._importance([hit.chunk_id for hit in hits]))
        found.note, found.searched, found.near = outcome.note, len(matches), not outcome.hits
        return found

    def _is_match(self, hit: Hit) -> bool:
        return hit.keyword_rank is not None or (hit.score is not None and hit.score >= self.min_score)

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
    """Why a memory is not a candidate; None if it is one. Importance changes the order, it excludes nothing."""
    if not request.wants(memory.memory_type):
        return CutReason.TYPE
    if memory.compressed and not request.include_compressed:
        return CutReason.COMPRESSED
    return None


def _has_room(packed: Packed) -> bool:
    """Whether everything fitted, so that more could."""
    return not any(cut.why in (CutReason.BUDGET, CutReason.COUNT) for cut in packed.cut)


def told_of(request: RecallRequest, packed: Packed, cut: Sequence[Cut], found: _Candidates) -> str:
    """Say in one line what was left out and why."""
    if not packed.memories and not cut:
        return "no memory matches well enough (retrieval.min_score)"
    parts = ["no memory clearly answers this: the nearest are given"] if found.near and found.kept else []
    count = Counter(each.why for each in cut)
    left = [
        text
        for why, text in (
            (CutReason.BUDGET, f"{count[CutReason.BUDGET]} that did not fit into {request.token_budget:,} tokens"),
            (CutReason.COUNT, f"{count[CutReason.COUNT]} beyond the {request.top_k} asked for"),
            (CutReason.COMPRESSED, f"{count[CutReason.COMPRESSED]} that a summary stands for"),
            (CutReason.TYPE, f"{count[CutReason.TYPE]} of other types"),
        )
        if count[why]
    ]
    if left:
        parts.append(f"left out: {', '.join(left)}")
    return "; ".join(parts)
