"""The tools `recall`, `remember`, `chat_add`, `memory_list`, `memory_forget`, `task_list` and `agenda`."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from donna_tui.agents.tools.context import ToolContext
from donna_tui.agents.tools.schemas import (
    LONGEST_PATH,
    LONGEST_QUESTION,
    MOST_RESULTS,
    Count,
    Memory,
    Offset,
    RecallArgs,
    RecallOutput,
    RememberArgs,
    RememberOutput,
    Row,
    ToolArgs,
    ToolOutput,
    iso_time,
)
from donna_tui.calendar.values import local, local_zone, midnight
from donna_tui.engine.memory_service import MemoryService
from donna_tui.memory.conversations import NewTurn
from donna_tui.memory.facts import Fact
from donna_tui.memory.importers import LONGEST_NAME, SkippedValue, made_turn, moment_of, name_of
from donna_tui.memory.recall import assemble
from donna_tui.safety.terminal import clean, clean_line
from donna_tui.search.query import readable
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import BadLine, MemoryChunk, MemoryFilter, MemoryType, RecallResult
from donna_tui.types.search import MemorySource

INDEX_WAIT_SECONDS = 2.0
"""Maximum seconds that a call waits for the index to include its change; indexing continues regardless."""

MOST_TURNS = 200
LONGEST_TEXT = 200_000
MOST_DAYS = 31

LISTED = (MemorySource.CHAT, MemorySource.MEMORY, MemorySource.CORRECTION)
"""The sources listed by `memory_list`; notes and tasks have separate tools."""


class ChatTurn(Row):
    """One message of a conversation."""

    role: Literal["user", "assistant", "system"] = Field(description="The role of the speaker.")
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="The message, word for word.")]
    speaker: str = Field(default="", max_length=LONGEST_NAME, description="The name of a person; the role if omitted.")
    timestamp: str = Field(default="", max_length=64, description="When, in ISO 8601; now if omitted.")


class ChatAddArgs(ToolArgs):
    """Messages of the current conversation, in order. Messages added before are not stored twice."""

    turns: Annotated[
        tuple[ChatTurn, ...], Field(min_length=1, max_length=MOST_TURNS, description="The messages, oldest first.")
    ]
    session_id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_NAME,
            description="A name for this conversation that you choose once and use for each of its messages.",
        ),
    ]
    title: str = Field(
        default="", max_length=LONGEST_NAME, description="What the conversation is about, in a few words."
    )
    closed: bool = Field(
        default=False, description="Whether the conversation is over: its last message becomes a memory."
    )


class ChatAddOutput(ToolOutput):
    """The number of new messages and of known ones. `summarized` counts the old conversations that were summarised."""

    added: Count
    known: Count
    summarized: Count
    suggestions: tuple[str, ...]
    writes_left: Count


class MemoryListArgs(ToolArgs):
    """Filters and page of a list of memories, the latest first."""

    text: str = Field(
        default="", max_length=LONGEST_QUESTION, description="Only memories that contain this text, in any case."
    )
    types: tuple[MemoryType, ...] = Field(
        default=(), description="Only these types: procedural are preferences, semantic are facts. All if empty."
    )
    sources: tuple[Literal["chat", "memory", "correction"], ...] = Field(
        default=(), description="Only from chats, facts or corrections."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=MOST_RESULTS, description="The maximum number of rows.")] = 20


class MemoryListOutput(ToolOutput):
    """One page of memories, and the total number."""

    memories: tuple[Memory, ...]
    count: Count
    total: Count


class MemoryForgetArgs(ToolArgs):
    """The memory to forget."""

    id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_PATH,
            description="Exactly as in `id` of a result of recall or memory_list, such as memory:4f1c0a.",
        ),
    ]


class MemoryForgetOutput(ToolOutput):
    """The result of a forget: `changed` is false if it was forgotten already. Undo it with `donna forget ID --undo`."""

    id: str
    changed: bool
    writes_left: Count


class TaskListArgs(ToolArgs):
    """Filters and page of a list of tasks."""

    done: bool = Field(default=False, description="Also tasks that are done or cancelled.")
    due_before: str = Field(
        default="", max_length=10, description="Only tasks due before this day, such as 2026-03-12."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=200, description="The maximum number of rows.")] = 50


class Task(Row):
    """A check box of a note. Days are ISO 8601, empty if none is given."""

    id: str
    title: str
    status: str
    path: str
    line: int
    due: str
    scheduled: str
    priority: str
    tags: tuple[str, ...]
    sensitive: bool


class TaskListOutput(ToolOutput):
    """One page of tasks, the earliest deadline first, and the total number."""

    tasks: tuple[Task, ...]
    count: Count
    total: Count


class AgendaArgs(ToolArgs):
    """The days of an agenda."""

    day: str = Field(default="", max_length=10, description="The first day, such as 2026-03-12; today if omitted.")
    days: Annotated[int, Field(ge=1, le=MOST_DAYS, description="The number of days.")] = 1


class Meeting(Row):
    """A meeting. Times are ISO 8601 with the local offset; `path` is its note, empty if there is none."""

    title: str
    start: str
    end: str
    all_day: bool
    location: str
    cancelled: bool
    path: str


class AgendaOutput(ToolOutput):
    """The meetings of the requested days, in order, and the open tasks due by then."""

    day: str
    meetings: tuple[Meeting, ...]
    tasks: tuple[Task, ...]


async def chat_add(space: ToolContext, args: ChatAddArgs) -> ChatAddOutput:
    """Store messages of a conversation, as private ones if the client may read private notes. Raises DonnaError."""
    session, service = space.session, space.host.memory
    turns = [_turn(each, args, number) for number, each in enumerate(args.turns, 1)]
    async with session.turn:
        with session.quota.taken():
            added, known = await service.add_turns(turns, sensitive=space.access.sensitive, closed=args.closed)
        if not added:
            session.quota.give_back()
    summaries = await service.compress_due() if added else ()
    suggestions = await service.suggestions(limit=5) if added else ()
    return ChatAddOutput(
        added=added,
        known=known,
        summarized=len(summaries),
        suggestions=tuple(
            clean_line(each.text) for each in suggestions if space.access.sensitive or not each.sensitive
        ),
        writes_left=session.quota.left,
    )


def _turn(args: ChatTurn, chat: ChatAddArgs, number: int) -> NewTurn:
    """Convert a message to a turn. Raises DonnaError (`usage`) if it is empty, or its time is invalid."""
    at = moment_of(args.timestamp) if args.timestamp else datetime.datetime.now(datetime.UTC).timestamp()
    if at is None:
        raise DonnaError(
            Reason.USAGE, f"the timestamp of message {number} is not ISO 8601", hint="2026-03-12T09:30:00Z"
        )
    made = made_turn(
        number,
        session=name_of(f"agent/{chat.session_id}"),
        role=args.role,
        speaker=name_of(args.speaker) or args.role,
        text=args.text,
        at=at,
        mark="" if args.timestamp else f"{args.role}\0{args.text}",
        title=name_of(chat.title),
    )
    if isinstance(made, (BadLine, SkippedValue)):
        raise DonnaError(Reason.USAGE, f"there is no text in message {number}")
    return made


async def memory_list(space: ToolContext, args: MemoryListArgs) -> MemoryListOutput:
    """Return a page of the memories, without notes."""
    wanted = MemoryFilter(
        types=args.types,
        sources=tuple(map(MemorySource, args.sources)) or LISTED,
        text=readable(args.text),
        sensitive=None if space.access.sensitive else False,
    )
    service = space.host.memory
    memories = await service.memories(wanted, limit=args.limit, skip=args.offset)
    return MemoryListOutput(
        memories=tuple(map(memory_row, memories)), count=len(memories), total=await service.count(wanted)
    )


def memory_row(memory: MemoryChunk) -> Memory:
    """Convert a memory to a result row."""
    return Memory(
        id=memory.id,
        type=memory.memory_type,
        source=memory.source.value,
        path=memory.source_id,
        start_line=memory.start_line,
        end_line=memory.end_line,
        content=clean(memory.content),
        at=iso_time(memory.at),
        pinned=memory.pinned,
        sensitive=memory.sensitive,
        tokens=memory.tokens,
    )


async def memory_forget(space: ToolContext, args: MemoryForgetArgs) -> MemoryForgetOutput:
    """Forget a memory; the owner can restore it. Raises DonnaError.

    A private memory gets the same answer as a missing one.
    """
    session, service = space.session, space.host.memory
    identity = readable(args.id)
    async with session.turn:
        known = await service.memory(identity)
        if known is None or (known.sensitive and not space.access.sensitive):
            raise DonnaError(Reason.MISSING, "there is no such memory", hint="memory_list returns the ids")
        with session.quota.taken():
            changed = await service.forget(identity)
        await service.wait_until_indexed(INDEX_WAIT_SECONDS)
    return MemoryForgetOutput(id=identity, changed=changed, writes_left=session.quota.left)


async def task_list(space: ToolContext, args: TaskListArgs) -> TaskListOutput:
    """Return a page of the check boxes of notes that this client may see."""
    before = _day(args.due_before).isoformat() if args.due_before else ""
    found = [each for each in await _tasks(space, done=args.done) if not before or (each.due and each.due < before)]
    page = found[args.offset : args.offset + args.limit]
    return TaskListOutput(tasks=tuple(page), count=len(page), total=len(found))


async def _tasks(space: ToolContext, *, done: bool = False) -> list[Task]:
    rows = await space.host.memory.tasks(everything=done)
    seen = await space.visible({row.note for row in rows})
    return [
        Task(
            id=row.id,
            title=clean_line(row.title),
            status=row.status,
            path=row.note,
            line=row.line,
            due=row.due,
            scheduled=row.scheduled,
            priority=row.priority,
            tags=tuple(map(clean_line, row.tags)),
            sensitive=row.sensitive,
        )
        for row in rows
        if row.note in seen and (space.access.sensitive or not row.sensitive)
    ]


async def agenda(space: ToolContext, args: AgendaArgs) -> AgendaOutput:
    """Return the meetings of some days and the tasks due by then. Raises DonnaError (`usage`) for an invalid day."""
    zone = local_zone()
    first = _day(args.day) if args.day else datetime.datetime.now(zone).date()
    end = first + datetime.timedelta(days=args.days)
    span = [midnight(each, zone).timestamp() for each in (first, end)]
    rows = await space.host.calendar.meetings(*span)
    seen = await space.visible({row.path for row in rows if row.path})
    tasks = [task for task in await _tasks(space) if task.due and task.due < end.isoformat()]
    return AgendaOutput(
        day=first.isoformat(),
        meetings=tuple(
            Meeting(
                title=clean_line(row.meeting.title),
                start=local(row.meeting.start, zone).isoformat(),
                end=local(row.meeting.end, zone).isoformat(),
                all_day=row.meeting.all_day,
                location=clean_line(row.meeting.location),
                cancelled=row.meeting.cancelled,
                path=row.path if row.path in seen else "",
            )
            for row in rows
        ),
        tasks=tuple(tasks),
    )


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise DonnaError(Reason.USAGE, "this is not a date", hint="write it as 2026-03-12") from None


async def recall(space: ToolContext, args: RecallArgs) -> RecallOutput:
    """Return the memories for a prompt, within a budget of tokens."""
    result = await space.host.memory.recall(
        readable(args.query),
        top_k=args.top_k,
        token_budget=args.token_budget,
        memory_types=args.types or None,
        remote=not space.access.sensitive,
    )
    memories = await _visible_memories(space, result)
    dropped = sum(each.tokens for each in result.memories) - sum(each.tokens for each in memories)
    return RecallOutput(
        memories=() if args.as_block else tuple(map(memory_row, memories)),
        count=len(memories),
        total_tokens=max(0, result.total_tokens - dropped),
        token_budget=result.token_budget,
        note=result.note,
        prompt=assemble(memories) if args.as_block else "",
    )


async def remember(space: ToolContext, args: RememberArgs) -> RememberOutput:
    """Remember a text, as a private one if the client may read private notes.

    Raises DonnaError (`conflict`) if it would replace a preference and the request does not allow that.
    """
    session, private = space.session, space.access.sensitive
    async with session.turn:
        if not args.replace:
            held = await space.host.memory.would_replace(args.text, memory_type_hint=args.type, sensitive=private)
            _refuse_to_replace(held)
        with session.quota.taken():
            remembered = await space.host.memory.remember(
                args.text,
                session_id=session_name(session.id),
                memory_type_hint=args.type,
                sensitive=private,
                patience=INDEX_WAIT_SECONDS,
            )
    return RememberOutput(remembered=len(remembered), session=session.id, writes_left=session.quota.left)


def _refuse_to_replace(held: Sequence[tuple[Fact, str]]) -> None:
    for old, fresh in held:
        message = f"“{clean_line(fresh)}” would replace the preference “{clean_line(old.content)}”"
        raise DonnaError(Reason.CONFLICT, message, hint="ask the owner, then send replace: true")


async def forget_session(service: MemoryService, session: str) -> int:
    """Forget the memories of a session and return their number. They can be restored."""
    forgotten = await service.undo_session(session_name(session))
    await service.wait_until_indexed(INDEX_WAIT_SECONDS)
    return forgotten


def session_name(session: str) -> str:
    """Return the name of a session in memories."""
    return f"mcp:{session}"


async def _visible_memories(space: ToolContext, result: RecallResult) -> list[MemoryChunk]:
    """Return the memories whose notes are not private by now."""
    if space.access.sensitive:
        return list(result.memories)
    seen = await space.visible({note for each in result.memories if (note := _note_of(each))})
    return [each for each in result.memories if not each.sensitive and (not (note := _note_of(each)) or note in seen)]


def _note_of(memory: MemoryChunk) -> str:
    """Return the note that contains a memory, or an empty string."""
    if memory.source is MemorySource.TASK:
        return memory.source_id.rpartition("#")[0]
    return memory.source_id if memory.source is MemorySource.VAULT else ""
