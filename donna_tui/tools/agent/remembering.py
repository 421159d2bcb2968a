"""`recall` and `remember`: what goes into a prompt, and what an agent wants to be told again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from donna_tui.errors import DonnaError, Reason
from donna_tui.memories import MemoryChunk, MemorySource, RecallResult
from donna_tui.memory.facts import Fact
from donna_tui.memory.prompt import assemble
from donna_tui.memorydesk import MemoryDesk
from donna_tui.safety.terminal import clean_line
from donna_tui.search.query import readable
from donna_tui.tools.agent.livememory import SETTLING_SECONDS, memory_row
from donna_tui.tools.agent.shapes import RecallAsked, RecallGiven, RememberAsked, RememberGiven
from donna_tui.tools.agent.workspace import Workspace


async def recall(space: Workspace, asked: RecallAsked) -> RecallGiven:
    """The memories for a prompt, within a budget of tokens."""
    result = await space.host.memory.recall(
        readable(asked.query),
        top_k=asked.top_k,
        token_budget=asked.token_budget,
        memory_types=asked.types or None,
        remote=not space.access.sensitive,
    )
    memories = await _seen(space, result)
    dropped = sum(each.tokens for each in result.memories) - sum(each.tokens for each in memories)
    return RecallGiven(
        memories=() if asked.as_block else tuple(map(memory_row, memories)),
        count=len(memories),
        total_tokens=max(0, result.total_tokens - dropped),
        token_budget=result.token_budget,
        note=result.note,
        prompt=assemble(memories) if asked.as_block else "",
    )


async def remember(space: Workspace, asked: RememberAsked) -> RememberGiven:
    """Remember a text. What a client says that may read private notes is private itself.

    Raises DonnaError (`conflict`) where it would replace a preference and the request does not say so.
    """
    session, private = space.session, space.access.sensitive
    async with session.turn:
        if not asked.replace:
            held = await space.host.memory.would_replace(asked.text, memory_type_hint=asked.type, sensitive=private)
            _refuse_to_replace(held)
        session.quota.take()
        try:
            told = await space.host.memory.remember(
                asked.text,
                session_id=name_of(session.id),
                memory_type_hint=asked.type,
                sensitive=private,
                patience=SETTLING_SECONDS,
            )
        except DonnaError:
            session.quota.give_back()
            raise
    return RememberGiven(remembered=len(told), session=session.id, writes_left=session.quota.left)


def _refuse_to_replace(held: Sequence[tuple[Fact, str]]) -> None:
    for old, fresh in held:
        message = f"“{clean_line(fresh)}” would replace the preference “{clean_line(old.content)}”"
        raise DonnaError(Reason.CONFLICT, message, hint="ask the owner, then send replace: true")


async def forget_session(desk: MemoryDesk, session: str) -> int:
    """Forget what was remembered in a session; how many memories that were. They can be brought back."""
    forgotten = await desk.take_back_session(name_of(session))
    await desk.settle(SETTLING_SECONDS)
    return forgotten


def name_of(session: str) -> str:
    """The name under which memories know a session."""
    return f"mcp:{session}"


async def _seen(space: Workspace, result: RecallResult) -> list[MemoryChunk]:
    """Those whose notes are not private by now."""
    if space.access.sensitive:
        return list(result.memories)
    notes = {note for each in result.memories if (note := _note_of(each))}
    seen = await asyncio.to_thread(lambda: {note for note in notes if space.access.sees(note)})
    return [each for each in result.memories if not each.sensitive and (not (note := _note_of(each)) or note in seen)]


def _note_of(memory: MemoryChunk) -> str:
    """The note that holds a memory, empty if none does."""
    if memory.source is MemorySource.TASK:
        return memory.source_id.rpartition("#")[0]
    return memory.source_id if memory.source is MemorySource.VAULT else ""
