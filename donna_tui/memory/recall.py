"""Recall memories for a prompt: search, re-rank, and pack them into a token budget."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memory.facts import Fact
from donna_tui.memory.listing import memory_of_fact, memory_of_hit, prompt_prefix
from donna_tui.memory.scores import importance_of
from donna_tui.memory.tokens import PromptTokens
from donna_tui.safety.terminal import clean
from donna_tui.search.reranking import Scorer
from donna_tui.text.plural import plural
from donna_tui.text.sentences import sentences_by_line
from donna_tui.types.errors import ModelError
from donna_tui.types.memory import Importance, MemoryChunk, MemoryType, Omitted, OmittedReason, RecallResult
from donna_tui.types.search import ME, Filters, MemorySource, SearchOutcome, SearchRequest
from donna_tui.vault.note.read import iso_date

SPEAKER_WEIGHT = 0.15
"""Bonus for a turn whose speaker the question names: facts about a person are mostly stated by that person."""

IMPORTANCE_WEIGHT, RECENCY_WEIGHT = 0.1, 0.02
"""Bonuses for full importance and for an age of zero, added to a relevance of at most 1. They never exclude."""

REPLY_WEIGHT = 0.05
"""Share of the relevance of a turn that ends with a question, added to the next turn, which mostly answers it."""

QUESTION_WEIGHT = 0.06
"""Deduction for a turn that only asks: it has the words of the question, and no answer."""

# Measured with `python -m bench.recall` on the development questions; docs/memory.md has the figures.

HALF_LIFE_SECONDS = 30 * 86_400.0
"""Seconds after which the recency of a memory halves."""

UNKNOWN_IMPORTANCE = 0.5

_WORD = re.compile(r"[^\W_]+")


def rerank(
    query: str, memories: Sequence[MemoryChunk], scorer: Scorer | None, now: float
) -> tuple[list[MemoryChunk], str]:
    """Sort memories by a cross-encoder's scores if it works, else by `blend`.

    Return them best first with their new scores, and a note if the cross-encoder failed.
    """
    note = ""
    scores: Sequence[float] = ()
    if scorer and memories:
        try:
            scores = scorer(query, [memory.content for memory in memories])
        except ModelError as error:
            note = f"ranked by relevance, importance and age: {error.message}"
    if not scores:
        named = _words_of(query)
        asked = {
            (each.session_id, each.end_line + 1): each.score
            for each in memories
            if each.source is MemorySource.CHAT and _is_question((_sentences(each.content) or [""])[-1])
        }
        scores = [blend(each, named, now, asked.get((each.session_id, each.start_line), 0.0)) for each in memories]
    rescored = [replace(memory, score=float(score)) for memory, score in zip(memories, scores, strict=True)]
    return sorted(rescored, key=lambda memory: -memory.score), note


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


_ASKS = re.compile(r"[?？؟]\W*$")
_ASKS_NOTHING = re.compile(
    r"://\S*$|,\s*(?:right|ok|okay)\W*$|\b(?:can|could|will|would) you (?:please )?(?:remember|note|save) that\b",
    re.IGNORECASE,
)
"""A sentence that states something although it ends with a question mark, or with an address that does."""


def question_share(text: str) -> float:
    sentences = _sentences(text)
    asking = sum(len(sentence) for sentence in sentences if _is_question(sentence))
    return asking / max(1, sum(map(len, sentences)))


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences_by_line(text)]


def _is_question(sentence: str) -> bool:
    return _ASKS.search(sentence[-20:]) is not None and not _ASKS_NOTHING.search(sentence)


def blend(memory: MemoryChunk, named: frozenset[str], now: float, asked: float = 0.0) -> float:
    """Return relevance plus weighted speaker, reply, importance and recency, less for questions, from 0 to 1.

    `named` are the words of the query, `asked` is the relevance of the question that the turn before asks.
    """
    is_turn = memory.source is MemorySource.CHAT
    speaker = memory.heading_path[0] if is_turn and memory.heading_path else ""
    known = memory.importance.value if memory.importance else None
    importance = 1.0 if memory.pinned or memory.is_summary else UNKNOWN_IMPORTANCE if known is None else known
    extra = (
        SPEAKER_WEIGHT * (not named.isdisjoint(_words_of(speaker)))
        + IMPORTANCE_WEIGHT * importance
        + RECENCY_WEIGHT * recency(memory.at, now)
        + is_turn * (REPLY_WEIGHT * asked - QUESTION_WEIGHT * question_share(memory.content))
    )
    highest = 1.0 + SPEAKER_WEIGHT + IMPORTANCE_WEIGHT + RECENCY_WEIGHT + REPLY_WEIGHT
    return max(0.0, memory.score + extra) / highest


def recency(at: float, now: float) -> float:
    """Return 1 for now, halving every thirty days."""
    return math.exp2(-max(0.0, now - at) / HALF_LIFE_SECONDS) if at else 0.0


OPENING, CLOSING = "<memory>", "</memory>"
FOLLOWING, CONTINUED = "  ", "    "
"""Indentation of a memory below another of the same note or conversation, and of the further lines of a memory."""

_ANGLES = str.maketrans({"<": "&lt;", ">": "&gt;", "＜": "&lt;", "＞": "&gt;", "﹤": "&lt;", "﹥": "&gt;"})
_LABEL = re.compile(rf"^(\s*)[\[［](?=\s*(?:{'|'.join(MemoryType)})\s*[\]］])", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")


def assemble(memories: Sequence[MemoryChunk]) -> str:
    return "\n".join((OPENING, *_lines(memories), CLOSING)) if memories else ""


def _lines(memories: Sequence[MemoryChunk]) -> Iterator[str]:
    """Render each memory. One of the same note or conversation as that above has no label, path and day."""
    above = None
    for memory in memories:
        shared = _shared(memory)
        yield _line(memory, follows=shared is not None and shared == above)
        above = shared


def _line(memory: MemoryChunk, *, follows: bool) -> str:
    if follows:
        return FOLLOWING + harmless(memory.content.removeprefix(_prefix(memory)))
    return f"[{memory.memory_type.upper()}] {harmless(memory.content)}"


def _prefix(memory: MemoryChunk) -> str:
    """Return the beginning that passages of a note and turns of the same day share: its path, or their day."""
    if memory.source is MemorySource.VAULT:
        return prompt_prefix(memory)
    return f"{iso_date(memory.at)} " if memory.source is MemorySource.CHAT else ""


def _shared(memory: MemoryChunk) -> tuple[str, str] | None:
    """Return the note, or the conversation and its day, to which a memory belongs; None for others."""
    return (memory.session_id, prefix) if (prefix := _prefix(memory)) else None


def _grouped(memories: Iterable[MemoryChunk]) -> list[MemoryChunk]:
    """Move the passages of a note or of a conversation together, in their order, to the place of the first."""
    groups: dict[object, list[MemoryChunk]] = {}
    for place, memory in enumerate(memories):
        groups.setdefault(_shared(memory) or place, []).append(memory)
    return [memory for group in groups.values() for memory in sorted(group, key=lambda each: each.start_line)]


def harmless(text: str) -> str:
    """Escape everything that the reader of a prompt could take for a tag or a label of the block.

    Angle brackets become entities, a label at the start of a line loses its bracket, and characters that hide or
    reorder text are shown, as on a terminal.
    """
    shown = clean(_LINE_BREAKS.sub("\n", text)).translate(_ANGLES)
    lines = [_LABEL.sub(r"\1(", line) for line in shown.strip().split("\n")]
    return f"\n{CONTINUED}".join(lines)


@dataclass(frozen=True, slots=True)
class Packed:
    """The memories that fit, in the order of the prompt, the tokens of the whole block, and the memories left out."""

    memories: tuple[MemoryChunk, ...]
    tokens: int
    cut: tuple[Omitted, ...]


def pack(
    procedural: Iterable[MemoryChunk],
    others: Sequence[MemoryChunk],
    *,
    top_k: int | None,
    budget: int,
    counter: PromptTokens,
) -> Packed:
    """Pack greedily: every procedural memory that fits, then the others, best first, up to `top_k` or until the budget
    is full if that is None. Then put those of one note or conversation together.

    The budget covers the block as it is pasted, including labels and the two lines around the memories.
    """
    room = budget - counter.count(f"{OPENING}\n{CLOSING}")
    packed: list[MemoryChunk] = []
    cut: list[Omitted] = []
    shared: set[tuple[str, str]] = set()
    taken = 0
    for memory, is_preference in (*((each, True) for each in procedural), *((each, False) for each in others)):
        if not is_preference and top_k is not None and taken >= top_k:
            cut.append(Omitted(memory, OmittedReason.COUNT))
            continue
        key = _shared(memory)
        counted = replace(memory, tokens=counter.count(f"\n{_line(memory, follows=key in shared)}"))
        if counted.tokens > room:
            cut.append(Omitted(counted, OmittedReason.BUDGET))
            continue
        room -= counted.tokens
        packed.append(counted)
        if key:
            shared.add(key)
        taken += not is_preference
    # The joined text can have other tokens than its lines.
    while (total := counter.count(assemble(ordered := _grouped(packed)))) > budget and packed:
        cut.append(Omitted(packed.pop(), OmittedReason.BUDGET))
    tokens = [counter.count(f"\n{line}") for line in _lines(ordered)]
    memories = (replace(memory, tokens=each) for memory, each in zip(ordered, tokens, strict=True))
    return Packed(tuple(memories), total, tuple(cut))


TOKEN_BUDGET = 2_000
CANDIDATES_EACH = 4
"""Candidates per memory wanted, and the growth factor if too few are left."""

MIN_CANDIDATES, MAX_CANDIDATES = 40, 1_024
TOKENS_EACH = 20
"""Tokens of the budget per candidate: few memories are shorter in a prompt."""

SOURCES_OF = {
    MemoryType.WORKING: (MemorySource.TASK, MemorySource.MEMORY),
    MemoryType.EPISODIC: (MemorySource.CHAT, MemorySource.TASK, MemorySource.MEMORY),
    MemoryType.SEMANTIC: (MemorySource.VAULT, MemorySource.CORRECTION, MemorySource.MEMORY),
    MemoryType.PROCEDURAL: (MemorySource.MEMORY,),
}
"""The sources that have memories of each type."""

Search = Callable[[SearchRequest, int], Awaitable[SearchOutcome]]
"""A search for up to that many hits. Raises DatabaseError."""

Read = Callable[[Callable[[Database], Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A recall request. A `top_k` of None means as many as fit into the budget.

    With `remote`, the prompt is for a model on another machine, and sensitive memories are not searched.
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
        """Return the sources of memories of these types; empty means all that are searched by default."""
        if self.memory_types is None:
            return ()
        return tuple({source: None for kind in self.memory_types for source in SOURCES_OF[kind]})

    @property
    def candidates(self) -> int:
        if self.top_k == 0 or self.token_budget <= 0 or not self.query.strip():
            return 0
        each = self.token_budget // TOKENS_EACH if self.top_k is None else self.top_k * CANDIDATES_EACH
        return min(MAX_CANDIDATES, max(MIN_CANDIDATES, each))

    def wants(self, kind: MemoryType) -> bool:
        return self.memory_types is None or kind in self.memory_types


@dataclass(slots=True)
class _Candidates:
    """The result of a search: memories to pack, those left out, and the number of matches.

    `near` is set if the search found only near misses.
    """

    kept: list[MemoryChunk] = field(default_factory=list)
    cut: list[Omitted] = field(default_factory=list)
    note: str = ""
    searched: int = 0
    near: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller:
    """Recall memories for a prompt. `preferences` returns a user's procedural memories in order of priority."""

    search: Search
    read: Read
    preferences: Callable[[str], Awaitable[list[Fact]]]
    counter: PromptTokens
    min_score: float = 0.0
    scorer: Scorer | None = None

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Pack the preferences and the best matches, in the order of the prompt. Raises DatabaseError.

        The search is widened while everything found fits and there may be more matches.
        """
        procedural = await self._procedural(request)
        wanted = request.candidates
        while True:
            found = await self._found(request, wanted) if wanted else _Candidates()
            ranked, note = rerank(request.query, found.kept, self.scorer, time.time())
            packed = pack(procedural, ranked, top_k=request.top_k, budget=request.token_budget, counter=self.counter)
            full = any(cut.why in (OmittedReason.BUDGET, OmittedReason.COUNT) for cut in packed.cut)
            if full or not 0 < wanted == found.searched < MAX_CANDIDATES:
                break
            wanted = min(MAX_CANDIDATES, wanted * CANDIDATES_EACH)
        cut = (*packed.cut, *found.cut)
        omission = omission_note(request, packed, cut, found) if wanted else ""
        return RecallResult(
            memories=packed.memories,
            total_tokens=packed.tokens,
            budget_used=packed.tokens / request.token_budget if request.token_budget > 0 else 0.0,
            token_budget=request.token_budget,
            cut=cut,
            counter=self.counter.name,
            note="; ".join(filter(None, (found.note, note, omission))),
            query=request.query,
        )

    async def _procedural(self, request: RecallRequest) -> list[MemoryChunk]:
        """Return the preferences: pinned ones first, then the latest or, if not all fit, the most relevant."""
        if not request.wants(MemoryType.PROCEDURAL):
            return []
        facts = [fact for fact in await self.preferences(request.user_id) if not (request.remote and fact.sensitive)]
        memories = [memory_of_fact(fact) for fact in facts]
        if pack(memories, (), top_k=0, budget=request.token_budget, counter=self.counter).cut == ():
            return memories
        filters = self._filters(request, sources=(MemorySource.MEMORY,), kind=MemoryType.PROCEDURAL)
        search_request = SearchRequest(text=request.query, k=len(facts), filters=filters)
        outcome = await self.search(search_request, len(facts))
        near = {hit.path: hit for hit in (*outcome.hits, *outcome.near_misses)}
        order = {path: place for place, path in enumerate(near)}
        ranked = sorted(facts, key=lambda fact: (not fact.pinned, order.get(fact.id, len(order))))
        known = await self._importance([hit.chunk_id for hit in near.values()])
        return [
            replace(memory_of_fact(fact, known.get(hit.chunk_id)), score=hit.rank_score)
            if (hit := near.get(fact.id))
            else memory_of_fact(fact)
            for fact in ranked
        ]

    async def _found(self, request: RecallRequest, wanted: int) -> _Candidates:
        """Search for candidates. Without hits, use the near misses above `min_score`: the reader of the prompt decides
        how certain an answer must be.
        """
        search_request = SearchRequest(text=request.query, k=wanted, filters=self._filters(request, request.sources))
        outcome = await self.search(search_request, wanted)
        matches = outcome.hits or tuple(
            hit
            for hit in outcome.near_misses
            if hit.keyword_rank is not None or (hit.score is not None and hit.score >= self.min_score)
        )
        hits = tuple(hit for hit in matches if hit.content.strip())  # a hit by name may have no text
        known = await self._importance([hit.chunk_id for hit in hits])
        found = _Candidates(note=outcome.note, searched=len(matches), near=not outcome.hits)
        texts: set[str] = set()
        for hit in hits:
            memory = memory_of_hit(hit, known.get(hit.chunk_id))
            if memory.memory_type is MemoryType.PROCEDURAL:
                continue
            why = None
            if not request.wants(memory.memory_type):
                why = OmittedReason.TYPE
            elif memory.compressed and not request.include_compressed:
                why = OmittedReason.COMPRESSED
            elif memory.source is MemorySource.VAULT:
                text = " ".join(hit.content.split())
                why = OmittedReason.DUPLICATE if text in texts else None
                texts.add(text)
            if why is None:
                found.kept.append(memory)
            else:
                found.cut.append(Omitted(memory, why))
        return found

    @staticmethod
    def _filters(request: RecallRequest, sources: Sequence[MemorySource], kind: MemoryType | None = None) -> Filters:
        return Filters(
            user_id=request.user_id,
            sources=tuple(source.value for source in sources),
            note_type=kind.value if kind else "",
            sensitive=False if request.remote else None,
        )

    async def _importance(self, chunk_ids: Sequence[str]) -> dict[str, Importance]:
        known: dict[str, Importance] = await self.read(lambda database: importance_of(database, chunk_ids))
        return known


def omission_note(request: RecallRequest, packed: Packed, cut: Sequence[Omitted], found: _Candidates) -> str:
    if not packed.memories and not cut:
        return "no memory matches well enough (retrieval.min_score)"
    parts = ["no memory clearly answers this; the nearest are listed"] if found.near and found.kept else []
    count = Counter(each.why for each in cut)
    words = {
        OmittedReason.BUDGET: f"that did not fit into {plural(request.token_budget, 'token')}",
        OmittedReason.COUNT: f"beyond the limit of {request.top_k}",
        OmittedReason.COMPRESSED: "covered by a summary",
        OmittedReason.DUPLICATE: "with the same text as another",
        OmittedReason.TYPE: "of other types",
    }
    left = [f"{count[why]} {text}" for why, text in words.items() if count[why]]
    if left:
        parts.append(f"left out: {', '.join(left)}")
    return "; ".join(parts)
