"""A memory without a database, for tests of the Memory screen."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace

from donna_tui.memory.recall import assemble
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import (
    Correction,
    MemoryChunk,
    MemoryFilter,
    MemoryType,
    Omitted,
    OmittedReason,
    RecallResult,
    SessionChange,
    Suggestion,
)
from donna_tui.types.search import ME, MemorySource

Enter = Callable[..., Awaitable[None]]


class FakeMemory:
    """Implements `MemoryService`. Memories are listed as they are, the latest first.

    A recall returns every memory that shares a word with the question; a memory costs a token for each word.
    """

    def __init__(self, enter: Enter, memories: list[MemoryChunk]) -> None:
        self._enter = enter
        self.everything = memories
        self.forgotten: list[MemoryChunk] = []
        self.corrections: list[Correction] = []
        self.token_budget = 2_000
        self.note = ""
        self.offered: list[Suggestion] = []
        self.replaced: dict[str, tuple[str, ...]] = {}
        self.held: list[str] = []
        self.redone: dict[str, str] = {}

    async def memories(
        self, wanted: MemoryFilter | None = None, *, limit: int = 200, skip: int = 0
    ) -> tuple[MemoryChunk, ...]:
        await self._enter("memories", wanted, limit, skip)
        return tuple(self._wanted(wanted)[skip : skip + limit])

    async def count(self, wanted: MemoryFilter | None = None) -> int:
        await self._enter("count", wanted)
        return len(self._wanted(wanted))

    async def memory(self, identity: str) -> MemoryChunk | None:
        await self._enter("memory", identity, key=identity)
        return next((each for each in self.everything if each.id == identity), None)

    async def remember(self, text: str) -> tuple[MemoryChunk, ...]:
        await self._enter("remember", text, key=text)
        made = replace(self.everything[-1], id="memory:made", source=MemorySource.MEMORY, content=text, at=time.time())
        self.everything.append(made)
        return (made,)

    async def would_replace(self, text: str) -> list[tuple[SimpleNamespace, str]]:
        await self._enter("would_replace", text, key=text)
        return [(SimpleNamespace(content=held), text) for held in self.held]

    async def text_to_correct(self, identity: str, shown: str) -> str:
        return next((each.corrected for each in self.corrections if f"correction:{each.id}" == identity), shown)

    async def correct(
        self, identity: str, corrected: str, *, query: str = "", field_name: str = "content", original: str = ""
    ) -> Correction:
        await self._enter("correct", identity, corrected, query, original, key=identity)
        correction = Correction(
            id=str(len(self.corrections)),
            field=field_name,
            original=original,
            corrected=corrected,
            input=query or identity,
            task_type="memory_search",
            created_at=0.0,
        )
        self.corrections.append(correction)
        return correction

    async def forget(self, identity: str, *, for_good: bool = False) -> bool:
        await self._enter("forget", identity, for_good, key=identity)
        gone = [each for each in self.everything if each.id == identity]
        self.everything = [each for each in self.everything if each.id != identity]
        self.forgotten += [] if for_good else gone
        return bool(gone)

    async def restore(self, identity: str) -> bool:
        await self._enter("restore", identity, key=identity)
        back = [each for each in self.forgotten if each.id == identity]
        if not back:
            raise DonnaError(Reason.MISSING, f"there is no memory {identity}")
        self.everything += back
        return True

    async def undo_session(self, session: str) -> SessionChange:
        await self._enter("undo_session", session, key=session)
        return SessionChange(forgotten=1)

    async def redo_session(self, session: str, operations: Sequence[str] = ()) -> SessionChange:
        await self._enter("redo_session", session, key=session)
        self.redone = dict.fromkeys(operations, session)
        return SessionChange(restored=1)

    async def undo_redone(self, operations: Sequence[str]) -> bool:
        sessions = {self.redone.pop(each) for each in operations if each in self.redone}
        for session in sessions:
            await self.undo_session(session)
        return bool(sessions)

    async def pin(self, identity: str, *, pinned: bool = True) -> bool:
        await self._enter("pin", identity, pinned, key=identity)
        self.everything = [replace(each, pinned=pinned) if each.id == identity else each for each in self.everything]
        return True

    async def suggestions(self, *, limit: int = 50) -> tuple[Suggestion, ...]:
        return tuple(self.offered[:limit])

    async def replaced_by(self, suggestion: Suggestion) -> tuple[str, ...]:
        await self._enter("replaced_by", suggestion.id, key=suggestion.id)
        return self.replaced.get(suggestion.id, ())

    async def answer_suggestion(self, identity: str, *, accepted: bool) -> Suggestion:
        await self._enter("answer_suggestion", identity, accepted, key=identity)
        found = next(each for each in self.offered if each.id == identity)
        self.offered.remove(found)
        return found

    async def recall(
        self,
        query: str,
        user_id: str = ME,
        top_k: int | None = None,
        token_budget: int | None = None,
        memory_types: tuple[MemoryType, ...] | None = None,
        *,
        include_compressed: bool = False,
        remote: bool = False,
    ) -> RecallResult:
        await self._enter("recall", query, token_budget, remote, key=query)
        budget = self.token_budget if token_budget is None else token_budget
        memories, cut, used = [], [], 0
        for place, memory in enumerate(self._matches(query, remote=remote)):
            tokens = 9 + len(memory.content.split())
            scored = replace(memory, score=round(0.9 / (1 + place / 4), 2), tokens=tokens)
            why = self._omitted_reason(scored, used + tokens > budget)
            if why is None:
                memories.append(scored)
                used += tokens
            else:
                cut.append(Omitted(scored, why))
        return RecallResult(
            memories=tuple(memories),
            total_tokens=used,
            budget_used=used / budget,
            token_budget=budget,
            cut=tuple(cut),
            counter="cl100k_base",
            note=self.note,
            query=query,
        )

    def prompt(self, result: RecallResult) -> str:
        return assemble(result.memories)

    def _wanted(self, wanted: MemoryFilter | None) -> list[MemoryChunk]:
        asked = wanted or MemoryFilter()
        found = [
            each
            for each in self.everything
            if each.source in asked.sources
            and (not asked.types or each.memory_type in asked.types)
            and asked.text.lower() in each.content.lower()
            and (asked.after is None or each.at >= asked.after)
        ]
        return sorted(found, key=lambda each: -each.at)

    def _matches(self, query: str, *, remote: bool) -> list[MemoryChunk]:
        words = set(query.lower().split())
        return [
            each
            for each in self.everything
            if not (remote and each.sensitive)
            and (each.memory_type is MemoryType.PROCEDURAL or words & set(each.content.lower().split()))
        ]

    @staticmethod
    def _omitted_reason(memory: MemoryChunk, is_too_long: bool) -> OmittedReason | None:
        if memory.compressed:
            return OmittedReason.COMPRESSED
        return OmittedReason.BUDGET if is_too_long else None
