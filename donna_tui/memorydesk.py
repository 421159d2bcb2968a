"""Where screens and verbs remember, list, forget and recall: `memory.db` on one thread of its own, and the index."""

from __future__ import annotations

import asyncio
import time

from donna_tui.embedding.reranker import CrossEncoderReranker
from donna_tui.errors import DonnaError, Reason
from donna_tui.memories import ME, Correction, MemoryChunk, MemoryFilter, MemoryType, RecallResult, Suggestion, TaskRow
from donna_tui.memory.book import Book
from donna_tui.memory.conversationdesk import ConversationDesk, DeskParts
from donna_tui.memory.facts import Fact, add_correction, new_id, procedural, take_back_session
from donna_tui.memory.forgetting import Target, find_target, forget, forget_for_good, pin
from donna_tui.memory.listing import (
    count_memories,
    id_of_passage,
    list_memories,
    memory_of_fact,
    one_memory,
)
from donna_tui.memory.prompt import assemble
from donna_tui.memory.recall import Recaller, RecallRequest
from donna_tui.memory.remembering import Told, remember, replace_fact, would_replace
from donna_tui.memory.suggestions import ACCEPTED, DISMISSED, answer_suggestion
from donna_tui.memory.tasklist import list_tasks
from donna_tui.memory.tokens import prompt_tokens

PATIENCE_SECONDS = 30.0


class MemoryDesk(ConversationDesk):
    """Everything that the Memory screen and the verbs ask. Every method raises only DonnaError."""

    def __init__(self, parts: DeskParts) -> None:
        super().__init__(parts)
        self._recaller: Recaller | None = None

    # Looking

    async def memories(
        self, wanted: MemoryFilter | None = None, *, limit: int = 200, skip: int = 0
    ) -> tuple[MemoryChunk, ...]:
        """What is remembered, the latest first, with importance and its parts."""
        asked = wanted or MemoryFilter()
        found: tuple[MemoryChunk, ...] = await self.parts.read(lambda index: list_memories(index, asked, limit, skip))
        return found

    async def count(self, wanted: MemoryFilter | None = None) -> int:
        """How many memories there are."""
        asked = wanted or MemoryFilter()
        count: int = await self.parts.read(lambda index: count_memories(index, asked))
        return count

    async def memory(self, identity: str) -> MemoryChunk | None:
        """One memory by its id, as the index has it now."""
        source, _, source_id = identity.partition(":")
        found: MemoryChunk | None = await self.parts.read(lambda index: one_memory(index, source, source_id))
        return found

    async def tasks(self, *, everything: bool = False) -> list[TaskRow]:
        """Open tasks, or all of them, the earliest deadline first."""
        found: list[TaskRow] = await self.parts.read(lambda index: list_tasks(index, everything=everything))
        return found

    # Remembering

    async def remember(
        self,
        text: str,
        *,
        user_id: str = ME,
        session_id: str = "",
        memory_type_hint: MemoryType | None = None,
        sensitive: bool = False,
        pinned: bool = False,
        patience: float = PATIENCE_SECONDS,
    ) -> tuple[MemoryChunk, ...]:
        """Remember a text (`ingest` of seed 002); its memories, with their importance if the index has them in time."""
        told = Told(text, user_id, session_id, memory_type_hint, sensitive=sensitive, pinned=pinned)
        cut = await self._cut()
        facts = await self.book.change(lambda book: remember(book, told, cut, time.time()))
        await self.parts.settle(patience)
        return tuple([await self._stored(fact) for fact in facts])

    async def would_replace(
        self, text: str, *, user_id: str = ME, memory_type_hint: MemoryType | None = None, sensitive: bool = False
    ) -> list[tuple[Fact, str]]:
        """The preferences that remembering this text would replace, each with what would take its place."""
        told, cut = Told(text, user_id, "", memory_type_hint, sensitive=sensitive), await self._cut()
        return await self.book.run(lambda book: would_replace(book, told, cut))

    async def replaced_by(self, suggestion: Suggestion) -> tuple[str, ...]:
        """The preferences that remembering a suggestion would replace."""
        replaced = await self.would_replace(
            suggestion.text, memory_type_hint=MemoryType.PROCEDURAL, sensitive=suggestion.sensitive
        )
        return tuple(fact.content for fact, _ in replaced)

    async def answer_suggestion(self, identity: str, *, accepted: bool, user_id: str = ME) -> Suggestion:
        """Remember a preference that was offered, or never offer it again.

        Raises DonnaError (`missing`) if there is no open suggestion of that id.
        """

        def answer(book: Book) -> Suggestion | None:
            with book.change():
                return answer_suggestion(book, identity, ACCEPTED if accepted else DISMISSED, user_id)

        found = await self.book.change(answer)
        if found is None:
            raise DonnaError(
                Reason.MISSING, f"there is no suggestion {identity}", hint="donna chat suggestions lists them"
            )
        if accepted:
            await self.remember(
                found.text, user_id=user_id, memory_type_hint=MemoryType.PROCEDURAL, sensitive=found.sensitive
            )
        return found

    async def replaced_by_text(self, text: str) -> tuple[str, ...]:
        """The preferences that remembering this text would replace."""
        return tuple(held.content for held, _ in await self.would_replace(text))

    async def _stored(self, fact: Fact) -> MemoryChunk:
        return await self.memory(f"memory:{fact.id}") or memory_of_fact(fact)

    async def log_correction(self, correction: Correction) -> bool:
        """Store a correction; False if it was stored before."""
        return await self.book.change(lambda book: _add_correction(book, correction))

    async def correct(
        self, identity: str, corrected: str, *, query: str = "", field_name: str = "content", original: str = ""
    ) -> Correction:
        """Say that a memory or a hit is wrong, and what is right. A remembered fact says it from now on.

        `original` is what was wrong where that is one passage of several, as in a note. No note is written.
        """
        memory = await self.memory(identity)
        if memory is None:
            raise DonnaError(Reason.MISSING, f"there is no memory {identity}")
        correction = Correction(
            id=new_id(),
            field=field_name,
            original=original or memory.content,
            corrected=corrected,
            input=query or identity,
            task_type="memory_search",
            created_at=time.time(),
            sensitive=memory.sensitive,
        )
        await self.log_correction(correction)
        if identity.startswith("memory:"):
            cut = await self._cut()
            await self.book.change(
                lambda book: replace_fact(book, memory.source_id, original, corrected, cut, time.time())
            )
        return correction

    # Forgetting

    async def forget(self, identity: str, *, for_good: bool = False) -> bool:
        """Forget a memory: it is found and recalled no more. `for_good` erases its words, also from the backups.

        Whether anything changed. Raises DonnaError for an id that names nothing, or what a note holds.
        """
        target = await self._target(identity)
        now = time.time()
        if not for_good:
            return await self.book.change(lambda book: forget(book, target, now))
        erased = await self.book.change(lambda book: forget_for_good(book, target, now))
        await self.book.renew_backups()
        return erased

    async def take_back_session(self, session_id: str) -> int:
        """Forget all that was told in a session; how many memories that were. What they replaced counts again."""
        return await self.book.change(lambda book: take_back_session(book, session_id, time.time()))

    async def bring_back(self, identity: str) -> bool:
        """Undo a `forget` that was not for good."""
        target = await self._target(identity)
        return await self.book.change(lambda book: forget(book, target, None))

    async def pin(self, identity: str, *, pinned: bool = True) -> bool:
        """Pin a memory: it counts as fully important, and comes first among preferences. Or unpin it."""
        target = await self._target(identity)
        return await self.book.change(lambda book: pin(book, target, pinned=pinned))

    async def _target(self, identity: str) -> Target:
        named: str | None = await self.parts.read(lambda index: id_of_passage(index, identity))
        return await self.book.run(lambda book: find_target(book.database, named or identity))

    # Recalling

    @property
    def token_budget(self) -> int:
        """The tokens that a recall may take at the most unless it says otherwise."""
        return self.parts.config.recall.token_budget

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
        """Recall the memories for a prompt, with what was left out and why.

        As many as fit into the budget, unless `top_k` or the setting `recall.memories` says how many. `remote` is for a
        model that is not on this machine.
        """
        settings = self.parts.config.recall
        request = RecallRequest(
            query=query,
            user_id=user_id,
            top_k=(settings.memories or None) if top_k is None else top_k,
            token_budget=settings.token_budget if token_budget is None else token_budget,
            memory_types=memory_types,
            include_compressed=include_compressed,
            remote=remote,
        )
        return await (await self._recall_parts()).recall(request)

    @staticmethod
    def prompt(result: RecallResult) -> str:
        """The `<memory>` block of a recall."""
        return assemble(result.memories)

    async def _recall_parts(self) -> Recaller:
        if self._recaller is None:
            settings = self.parts.config.recall
            model = settings.reranker_model if settings.reranker_enabled else None
            self._recaller = Recaller(
                search=self.parts.search,
                read=self.parts.read,
                preferences=self._preferences,
                counter=await asyncio.to_thread(prompt_tokens),
                min_score=self.parts.config.retrieval.min_score,
                scorer=CrossEncoderReranker(model) if model else None,
                reranks=settings.reranker_enabled,
            )
        return self._recaller

    async def _preferences(self, user_id: str) -> list[Fact]:
        return await self.book.run(lambda book: procedural(book.database, user_id))


def _add_correction(book: Book, correction: Correction) -> bool:
    with book.change():
        return add_correction(book, correction)
