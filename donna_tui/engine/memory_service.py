"""Remember, list, forget, recall, import and compress, for screens, commands and agents."""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from donna_tui.embedding.reranker import configured_reranker
from donna_tui.engine.space_context import SpaceContext
from donna_tui.index.migrations import get_meta
from donna_tui.memory import facts, forgetting, listing
from donna_tui.memory.chat import TurnRules
from donna_tui.memory.compression import compress, due, expand, material, summary_of
from donna_tui.memory.conversations import NewTurn, Recorder, expire_conversations, list_conversations, users_of
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.db_thread import DbThread
from donna_tui.memory.importers import Import, LogFolder, Progress
from donna_tui.memory.recall import Recaller, RecallRequest, assemble
from donna_tui.memory.splitter import TextSplitter
from donna_tui.memory.suggestions import ACCEPTED, DISMISSED, answer_suggestion, list_suggestions
from donna_tui.memory.tasks import list_tasks
from donna_tui.memory.tokens import prompt_tokens
from donna_tui.types.errors import DonnaError, Reason, SpaceError
from donna_tui.types.memory import (
    BackfillRow,
    ConversationRow,
    Correction,
    ImportReport,
    MemoryChunk,
    MemoryFilter,
    MemoryType,
    RecallResult,
    SessionChange,
    Suggestion,
    TaskRow,
)
from donna_tui.types.search import ME, MemorySource

T = TypeVar("T")

FOREVER_SECONDS = 1e8
PATIENCE_SECONDS = 30.0

OTHER_SECONDS, CHECK_SECONDS = 3.0, 0.1
"""Time limit for another process to index a change, which it looks for every second, and the time between checks."""


_OF_AGENT = "mcp:"


def session_name(session: str) -> str:
    """Return the name of a client session of an agent in memories."""
    return f"{_OF_AGENT}{session}"


def session_of(name: str) -> str:
    """Return the id of a client session from its name in memories, or from the id itself."""
    return name.removeprefix(_OF_AGENT)


def _without_prefix(shown: str, memory: MemoryChunk) -> str:
    """Remove what precedes a memory in a prompt from its text, or a part of it, as it is shown."""
    if shown in memory.content:
        return shown
    return memory.content if memory.content in shown else shown.removeprefix(listing.prompt_prefix(memory))


class MemoryService:
    """The API of the Memory screen and of the commands. Every method raises only DonnaError."""

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self.db = DbThread(context.space.state, context.hub, self._request_check)
        self._recaller: Recaller | None = None

    # Conversations

    async def conversations(self, user_id: str | None = ME) -> tuple[ConversationRow, ...]:
        """List the conversations of a user, or of all users with None, oldest first."""
        return await self.db.run(lambda db: tuple(list_conversations(db.database, user_id)))

    async def add_turns(
        self, turns: list[NewTurn], *, sensitive: bool = False, closed: bool = False, by: str = ""
    ) -> tuple[int, int]:
        """Store turns of an open conversation; return the number of new turns and of turns that were stored before.

        They become memories when their buffer is flushed, the last ones once the conversation is `closed`. `by` is the
        session of the agent that stores them.
        """
        self._require_chats()

        def add(db: MemoryDb) -> tuple[int, int]:
            recorder = Recorder(db, ME, sensitive, one_user=True, added_by=by, me=self._context.config.me)
            recorder.add(turns)
            if closed:
                recorder.close_conversations()
            return recorder.added, recorder.known

        return await self.db.change(add)

    async def follow(self, logs: LogFolder, *, sensitive: bool = False) -> ImportReport:
        """Import the new lines of a folder of logs; their conversations stay open. Cancelling loses no turn."""
        self._require_chats()
        importing = await self.db.run(lambda db: Import(Recorder(db, sensitive=sensitive, me=self._context.config.me)))
        steps = logs.read_new(importing)
        while await self.db.run(lambda _: next(steps, None)) is not None:
            pass
        if importing.report.turns:
            self._request_check()
        return importing.report

    async def close_quiet_conversations(self, before: float) -> int:
        """Close the conversations without a turn since `before` (Unix time); return their number."""
        return await self.db.change(lambda db: expire_conversations(db, before))

    async def suggestions(self, *, limit: int = 50) -> tuple[Suggestion, ...]:
        """List unanswered suggestions, which are preferences stated in chats, latest first."""
        return await self.db.run(lambda db: tuple(list_suggestions(db.database, limit)))

    async def import_chat(
        self,
        path: Path,
        *,
        user: str = "",
        sensitive: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> ImportReport:
        """Import a file of chats. Cancelling or killing it between batches loses no turn that was reported.

        `user` imports only the turns of that person, as the owner's, from a file with several people; otherwise each
        turn is stored for the user that it names.
        """
        self._require_chats()
        me = (*self._context.config.me, *filter(None, [user]))
        importing = await self.db.run(
            lambda db: Import(Recorder(db, sensitive=sensitive, one_user=bool(user), me=me), user)
        )
        steps = importing.run(path)
        while (progress := await self.db.run(lambda _: next(steps, None))) is not None:
            on_progress(progress)
        self._request_check()
        await self.db.back_up()
        return importing.report

    def _require_chats(self) -> None:
        """Raise DonnaError (`ignored`) if no chats are indexed, as in the memory of an agent."""
        if not self._context.config.sources.chat.enabled:
            message = "conversations are not stored in this space"
            raise DonnaError(Reason.IGNORED, message, hint="remember what matters in a sentence instead")

    async def users(self) -> list[str]:
        return await self.db.run(lambda db: users_of(db.database))

    async def compress_due(self) -> tuple[MemoryChunk, ...]:
        """Compress the oldest conversations of every user above the threshold; return the summaries."""
        return tuple([summary for user in await self.users() for summary in await self.compress(user)])

    async def compress(self, user_id: str = ME) -> tuple[MemoryChunk, ...]:
        """Compress the oldest conversations if too many have no summary; return the summaries."""
        threshold = self._context.config.recall.compression_threshold
        found = await self.db.run(lambda db: due(db.database, threshold, user_id))
        summaries = [await self._compressed(each, user_id) for each in found]
        return tuple(listing.memory_of_fact(summary) for summary in summaries if summary)

    async def _compressed(self, conversation: ConversationRow, user_id: str) -> facts.Fact | None:
        """Summarise a conversation, with a language model if one is configured and answers.

        Return None if a turn was forgotten meanwhile: the conversation is then due again.
        """
        rules, splitter = TurnRules(self._context.config.sources.chat), await self._splitter()
        found = await self.db.run(lambda db: material(db, conversation, rules, user_id))
        summary = ""
        if router := self._context.router:
            from donna_tui.llm.summaries import summarize

            summary = await summarize(router, found)
        summary = summary or summary_of(found.title, found.turns, splitter.counter)
        return await self.db.change(lambda db: compress(db, found, summary, user_id))

    async def expand(self, conversation: str, user_id: str = ME) -> bool:
        """Undo the compression of a conversation. Return False if it has no summary.

        Raises DonnaError (`missing`) if there is no such conversation.
        """
        return await self.db.change(lambda db: expand(db, conversation, time.time(), user_id))

    # Reading

    async def memories(
        self, wanted: MemoryFilter | None = None, *, limit: int = 200, skip: int = 0
    ) -> tuple[MemoryChunk, ...]:
        """List memories, latest first, with importance and its components."""
        filters = wanted or MemoryFilter()
        return await self._context.read(lambda index: listing.list_memories(index, filters, limit, skip))

    async def count(self, wanted: MemoryFilter | None = None) -> int:
        filters = wanted or MemoryFilter()
        return await self._context.read(lambda index: listing.count_memories(index, filters))

    async def memory(self, identity: str) -> MemoryChunk | None:
        """Return a memory from the index or, while that lacks it, from where it is stored; None if there is none."""
        source, _, source_id = identity.partition(":")
        found: MemoryChunk | None = await self._context.read(lambda index: listing.one_memory(index, source, source_id))
        if found is None and source == MemorySource.MEMORY:
            fact = await self.db.run(lambda db: facts.read_fact(db.database, source_id))
            return listing.memory_of_fact(fact) if fact else None
        return found

    @property
    def has_tasks(self) -> bool:
        """Return whether tasks are indexed, which those in the memory of an agent are not."""
        return self._context.config.sources.tasks.enabled

    async def tasks(self, *, everything: bool = False) -> list[TaskRow]:
        """Return the open tasks without those that another note has as done, or all check boxes.

        Raises DonnaError (`ignored`) if no tasks are indexed.
        """
        if not self.has_tasks:
            message = "tasks are not listed in this space"
            raise DonnaError(Reason.IGNORED, message, hint="search its notes for them")
        found: list[TaskRow] = await self._context.read(list_tasks)
        return found if everything else await self.still_open(found)

    async def still_open(self, tasks: Sequence[TaskRow]) -> list[TaskRow]:
        """Return the open ones of some tasks, without those that another one of them, in another note, has as done."""
        from donna_tui.engine.open_tasks import still_open

        today, me = datetime.date.fromtimestamp(self._context.clock()), self._context.config.me
        return await self._context.read(lambda index: still_open(index, tasks, today, me))

    # Remembering

    async def remember(
        self,
        text: str,
        *,
        session_id: str = "",
        memory_type_hint: MemoryType | None = None,
        sensitive: bool = False,
        pinned: bool = False,
        patience: float = PATIENCE_SECONDS,
    ) -> tuple[MemoryChunk, ...]:
        """Remember a text; return its memories, with importance if they are indexed within `patience` seconds."""
        request = facts.RememberRequest(text, ME, session_id, memory_type_hint, sensitive=sensitive, pinned=pinned)
        splitter = await self._splitter()
        stored = await self.db.change(lambda db: facts.remember(db, request, splitter, time.time()))
        await self.wait_until_indexed(patience)
        return tuple([await self.memory(f"memory:{fact.id}") or listing.memory_of_fact(fact) for fact in stored])

    async def would_replace(
        self, text: str, *, memory_type_hint: MemoryType | None = None, sensitive: bool = False
    ) -> list[tuple[facts.Fact, str]]:
        """Return the memories that remembering this text would replace, each with its replacement."""
        request = facts.RememberRequest(text, ME, "", memory_type_hint, sensitive=sensitive)
        splitter = await self._splitter()
        return await self.db.run(lambda db: facts.would_replace(db, request, splitter))

    async def replaced_by(self, suggestion: Suggestion) -> tuple[str, ...]:
        """Return the preferences that remembering a suggestion would replace."""
        replaced = await self.would_replace(
            suggestion.text, memory_type_hint=MemoryType.PROCEDURAL, sensitive=suggestion.sensitive
        )
        return tuple(fact.content for fact, _ in replaced)

    async def answer_suggestion(self, identity: str, *, accepted: bool) -> Suggestion:
        """Remember a preference that was offered, or never offer it again. Raises DonnaError (`missing`)."""
        state = ACCEPTED if accepted else DISMISSED
        found = await self._in_transaction(lambda db: answer_suggestion(db, identity, state))
        if found is None:
            message = f"there is no suggestion {identity}"
            raise DonnaError(Reason.MISSING, message, hint="donna chat suggestions lists them")
        if accepted:
            await self.remember(found.text, memory_type_hint=MemoryType.PROCEDURAL, sensitive=found.sensitive)
        return found

    async def set_corrections(self, draft: str, corrections: Sequence[Correction]) -> None:
        """Replace the corrections of an approved draft; there are none once its approval is undone."""

        def put(db: MemoryDb) -> None:
            facts.erase_corrections(db, draft)
            for correction in corrections:
                facts.add_correction(db, correction)

        await self._in_transaction(put)

    async def correction(self, identity: str) -> Correction | None:
        """Return the correction with this id; None if it is the id of something else."""
        source, _, item = identity.partition(":")
        is_one = source == MemorySource.CORRECTION
        return await self.db.run(lambda db: facts.read_correction(db.database, item)) if is_one else None

    async def text_to_correct(self, identity: str, shown: str) -> str:
        """Return the text of a memory to edit in a correction, from the text that is shown.

        This removes the path, or the day and speaker, that precede the memory in a prompt. For a correction, it is the
        corrected text.
        """
        if held := await self.correction(identity):
            return held.corrected
        memory = await self.memory(identity)
        return _without_prefix(shown, memory) if memory else shown

    async def correct(self, identity: str, corrected: str, *, query: str = "", original: str = "") -> Correction:
        """Correct a memory, or a passage of it, `original`. A fact or correction is replaced; no note is written.

        `original` may begin with what precedes the memory in a prompt.
        """
        memory = await self.memory(identity)
        if memory is None:
            raise DonnaError(Reason.MISSING, f"there is no memory {identity}")
        held = await self.correction(identity)
        original = _without_prefix(original, memory)
        correction = (
            replace(held, id=facts.new_id(), corrected=corrected, created_at=time.time())
            if held
            else Correction(
                id=facts.new_id(),
                field=facts.WHOLE_MEMORY,
                original=original or memory.content,
                corrected=corrected,
                input=query,
                task_type=facts.MEMORY_SEARCH,
                created_at=time.time(),
                sensitive=memory.sensitive,
                item=memory.id,
            )
        )
        splitter = await self._splitter()

        def replace_both(db: MemoryDb) -> None:
            facts.replace_correction(db, correction, held.id if held else "")
            if identity.startswith("memory:"):
                facts.replace_fact(db, memory.source_id, original, corrected, splitter, time.time())

        await self._in_transaction(replace_both)
        return correction

    # Forgetting

    async def forget(self, identity: str, *, user_id: str = ME, for_good: bool = False, by: str = "") -> bool:
        """Forget a memory, so that it is neither found nor recalled. `for_good` erases its text, from the backups too.

        Return whether anything changed; `by` is the session of the agent that forgets it. Raises DonnaError for an
        unknown id, or for the content of a note.
        """
        target = await self._target(identity, user_id)
        now = time.time()
        if not for_good:
            return await self.db.change(lambda db: forgetting.forget(db, target, now, by))
        erased = await self.db.change(lambda db: forgetting.forget_for_good(db, target, now))
        await self.db.renew_backups()
        return erased

    async def has_session(self, session: str) -> bool:
        """Check whether a session of an agent remembered, forgot or stored anything."""
        return await self.db.run(lambda db: forgetting.has_session(db.database, session_name(session)))

    async def undo_session(self, session: str) -> SessionChange:
        """Undo what a session of an agent remembered, forgot and stored. What it had replaced is valid again."""
        return await self.db.change(lambda db: forgetting.undo_session(db, session_name(session), time.time()))

    async def redo_session(self, session: str, operations: Sequence[str] = ()) -> SessionChange:
        """Redo what `undo_session` undid, unless a person changed it since.

        `operations` are the ids of those on notes that were redone with it, for `undo_redone`.
        """
        name = session_name(session)
        return await self.db.change(lambda db: forgetting.redo_session(db, name, time.time(), operations))

    async def undo_redone(self, operations: Sequence[str]) -> bool:
        """Undo what was redone with any of these operations on notes. Return whether there was anything."""
        return await self.db.change(lambda db: forgetting.undo_redone(db, operations, time.time()))

    async def restore(self, identity: str, *, user_id: str = ME) -> bool:
        target = await self._target(identity, user_id)
        return await self.db.change(lambda db: forgetting.forget(db, target, None))

    async def pin(self, identity: str, *, pinned: bool = True) -> bool:
        """Pin a memory, or unpin it. A pinned memory has full importance and ranks first among preferences."""
        target = await self._target(identity)
        return await self.db.change(lambda db: forgetting.pin(db, target, pinned=pinned))

    async def _target(self, identity: str, user_id: str = ME) -> forgetting.Target:
        found = await self._context.read(lambda index: listing.memory_of_passage(index, identity))
        item, owner = found or (identity, user_id)
        return await self.db.run(lambda db: forgetting.find_target(db.database, item, owner))

    # Recalling

    @property
    def token_budget(self) -> int:
        return self._context.config.recall.token_budget

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

        Returns as many as fit into the budget, unless `top_k` or the setting `recall.memories` gives a number. `remote`
        is for a model that is not on this machine.
        """
        settings = self._context.config.recall
        request = RecallRequest(
            query=query,
            user_id=user_id,
            top_k=(settings.memories or None) if top_k is None else top_k,
            token_budget=settings.token_budget if token_budget is None else token_budget,
            memory_types=memory_types,
            include_compressed=include_compressed,
            remote=remote,
        )
        if self._recaller is None:
            self._recaller = Recaller(
                search=self._context.searcher.search,
                read=self._context.read,
                preferences=lambda user: self.db.run(lambda db: facts.procedural(db.database, user)),
                counter=await asyncio.to_thread(prompt_tokens),
                min_score=self._context.config.retrieval.min_score,
                scorer=configured_reranker(settings),
            )
        return await self._recaller.recall(request)

    @staticmethod
    def prompt(result: RecallResult) -> str:
        return assemble(result.memories)

    # The index

    async def wait_until_indexed(self, patience: float = FOREVER_SECONDS) -> bool:
        """Wait at most `patience` seconds until the index has all stored memories.

        Return False if an error or the time limit prevents it, which is short if another process maintains the index.
        """
        maintainer = await self._context.lease.opened()
        if maintainer is None:
            return await self._wait_for_other(min(patience, OTHER_SECONDS))
        await self._context.model.wait_until_known()
        self._request_check()
        try:
            async with asyncio.timeout(patience):
                await maintainer.indexes.wait_until_idle()
        except (TimeoutError, DonnaError):
            return False
        return True

    async def _wait_for_other(self, patience: float) -> bool:
        """Wait until the process that maintains the index has followed all changes of the memory."""
        last = await self.db.run(lambda db: int(db.database.value("SELECT max(seq) FROM changes") or 0))
        deadline = time.monotonic() + patience
        try:
            while int(await self._context.read(lambda index: get_meta(index, "memory_seq")) or 0) < last:
                if time.monotonic() > deadline:
                    return False
                await asyncio.sleep(CHECK_SECONDS)
        except DonnaError:
            return False
        return True

    async def backfill(self, source: MemorySource) -> BackfillRow:
        """Index one source again from scratch. A failure is reported in the row, so that other sources can follow.

        Raises SpaceError if another process maintains the index.
        """
        maintainer = await self._context.lease.opened()
        if maintainer is None:
            raise SpaceError(Reason.BUSY, "another Donna process maintains this index", hint="close it, and try again")
        await self._context.model.wait_until_known()
        try:
            if source is MemorySource.VAULT:
                await maintainer.compare(full=False)
            else:
                for pipeline in maintainer.indexes.pipelines:
                    await pipeline.memory.backfill(source.value)
            await maintainer.indexes.wait_until_idle()
            pipeline = maintainer.indexes.active
            sql = "SELECT count(*) FROM memory_documents WHERE source_type = ?"
            count: int = await pipeline.write(lambda: pipeline.store.database.value(sql, (source.value,)))
            return BackfillRow(source=source.value, state="ok", documents=count)
        except DonnaError as error:
            message = error.message
        except Exception as error:
            message = f"it failed ({type(error).__name__})"
        return BackfillRow(source=source.value, state="failed", message=message)

    def _request_check(self) -> None:
        """Request that all indexes check the memory for changes soon."""
        for pipeline in self._context.maintainer.indexes.pipelines if self._context.maintainer else ():
            pipeline.memory.request_check()

    async def close(self) -> None:
        await self.db.close()

    async def _in_transaction(self, work: Callable[[MemoryDb], T]) -> T:
        def change(db: MemoryDb) -> T:
            with db.change():
                return work(db)

        return await self.db.change(change)

    async def _splitter(self) -> TextSplitter:
        return await self.db.run(lambda _: self._context.splitter)
