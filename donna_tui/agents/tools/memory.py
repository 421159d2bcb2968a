"""The tools for agents that search and recall the memory, change it, and list memories, tasks and meetings."""

from __future__ import annotations

import datetime
import time

from donna_tui.agents.tools import schemas
from donna_tui.agents.tools.context import ToolContext
from donna_tui.calendar.values import beginning, days_later, local, local_zone
from donna_tui.engine.memory_service import session_name
from donna_tui.memory.conversations import NewTurn
from donna_tui.memory.importers import SkippedValue, made_turn, moment_of, name_of
from donna_tui.memory.recall import assemble
from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import citation
from donna_tui.search.snippets import longer_text
from donna_tui.text.encodable import encodable
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import BadLine, MemoryFilter, TaskRow
from donna_tui.types.search import Filters, Hit, MemorySource, SearchRequest
from donna_tui.vault.note.read import iso_date

INDEX_WAIT_SECONDS = 2.0
"""Maximum seconds that a call waits for the index to include its change; indexing continues regardless."""

SNIPPET_CHARS = 400
"""Maximum characters of a snippet. The sentence that answers is whole in one of eight for 70 % of the questions of the
set `spans`, instead of 30 % with the 180 characters of a list; with 600 it is for 78 %.
"""

LISTED = (MemorySource.CHAT, MemorySource.MEMORY, MemorySource.CORRECTION)
"""The sources listed by `memory_list`; notes and tasks have separate tools."""


async def chat_add(context: ToolContext, args: schemas.ChatAddArgs) -> schemas.ChatAddOutput:
    """Store messages of a conversation, as private ones if the client may read private notes. Raises DonnaError."""
    session, service = context.session, context.engine.memory
    named = name_of(f"{'private' if context.access.sensitive else 'agent'}/{args.session_id}")
    turns = [_turn(each, named, name_of(args.title), number) for number, each in enumerate(args.turns, 1)]
    async with session.turn:
        with session.quota.taken():
            added, known = await service.add_turns(
                turns, sensitive=context.access.sensitive, closed=args.closed, by=session_name(session.id)
            )
        if not added:
            session.quota.give_back()
    summaries = await service.compress_due() if added else ()
    suggestions = await service.suggestions() if added else ()
    return schemas.ChatAddOutput(
        added=added,
        known=known,
        summarized=len(summaries),
        suggestions=tuple(
            suggestion.text
            for suggestion in suggestions
            if any(suggestion.text in turn.text for turn in args.turns[-added:])  # not again those of earlier calls
            and (context.access.sensitive or not suggestion.sensitive)
        ),
        session=session.id,
        writes_left=session.quota.left,
    )


def _turn(args: schemas.ChatTurn, conversation: str, title: str, number: int) -> NewTurn:
    """Convert a message to a turn. Raises DonnaError (`usage`) if it is empty, or its time is invalid.

    Equal messages without a time are counted, since saying “yes” twice is two turns.
    """
    at = moment_of(args.timestamp) if args.timestamp else datetime.datetime.now(datetime.UTC).timestamp()
    if at is None:
        message = f"the timestamp of message {number} is not ISO 8601"
        raise DonnaError(Reason.USAGE, message, hint="2026-03-12T09:30:00Z")
    made = made_turn(
        number,
        conversation=conversation,
        role=args.role,
        speaker=name_of(args.speaker) or args.role,
        text=args.text,
        at=at,
        mark="" if args.timestamp else f"{args.role}\0{args.text}",
        counted=not args.timestamp,
        title=title,
    )
    if isinstance(made, (BadLine, SkippedValue)):
        raise DonnaError(Reason.USAGE, f"there is no text in message {number}")
    return made


async def memory_list(context: ToolContext, args: schemas.MemoryListArgs) -> schemas.MemoryListOutput:
    sources = tuple(map(MemorySource, args.sources)) or LISTED
    sensitive = None if context.access.sensitive else False
    wanted = MemoryFilter(types=args.types, sources=sources, text=encodable(args.text), sensitive=sensitive)
    service = context.engine.memory
    memories = await service.memories(wanted, limit=args.limit, skip=args.offset)
    return schemas.MemoryListOutput(memories=memories, count=len(memories), total=await service.count(wanted))


async def memory_forget(context: ToolContext, args: schemas.MemoryForgetArgs) -> schemas.MemoryForgetOutput:
    """Forget a memory; a private one gets the same answer as a missing one. Raises DonnaError."""
    session, service = context.session, context.engine.memory
    identity = encodable(args.id)
    async with session.turn:
        known = await service.memory(identity)
        if known is None or (known.sensitive and not context.access.sensitive):
            raise DonnaError(Reason.MISSING, "there is no such memory", hint="memory_list returns the ids")
        with session.quota.taken():
            changed = await service.forget(identity, by=session_name(session.id))
        if not changed:
            session.quota.give_back()
        await service.wait_until_indexed(INDEX_WAIT_SECONDS)
    return schemas.MemoryForgetOutput(id=identity, changed=changed, session=session.id, writes_left=session.quota.left)


async def task_list(context: ToolContext, args: schemas.TaskListArgs) -> schemas.TaskListOutput:
    """Return a page of the check boxes of notes that this client may see. Raises DonnaError."""
    before = _day(args.due_before).isoformat() if args.due_before else ""
    found = [task for task in await _tasks(context, done=args.done) if not before or (task.due and task.due < before)]
    page = found[args.offset : args.offset + args.limit]
    return schemas.TaskListOutput(tasks=page, count=len(page), total=len(found))


async def _tasks(context: ToolContext, *, done: bool = False) -> list[TaskRow]:
    await context.engine.freshen()
    rows = await context.engine.memory.tasks(everything=True)
    seen = await context.visible({row.note for row in rows})
    found = [row for row in rows if row.note in seen and (context.access.sensitive or not row.sensitive)]
    return found if done else await context.engine.memory.still_open(found)  # which a private note must not close


async def agenda(context: ToolContext, args: schemas.AgendaArgs) -> schemas.AgendaOutput:
    zone = local_zone()
    first = _day(args.day) if args.day else datetime.datetime.now(zone).date()
    end = days_later(first, args.days)
    span = [beginning(each, zone).timestamp() for each in (first, end)]
    rows = await context.engine.calendar.meetings(*span)
    seen = await context.visible({row.path for row in rows if row.path})
    open_tasks = await _tasks(context) if context.engine.memory.has_tasks else ()
    tasks = [task for task in open_tasks if task.due and task.due < end.isoformat()]
    return schemas.AgendaOutput(
        day=first.isoformat(),
        meetings=tuple(
            schemas.Meeting(
                title=row.meeting.title,
                start=local(row.meeting.start, zone).isoformat(),
                end=local(row.meeting.end, zone).isoformat(),
                all_day=row.meeting.all_day,
                location=row.meeting.location,
                attendees=tuple(person.name or person.email for person in row.meeting.attendees),
                cancelled=row.meeting.cancelled,
                path=row.path if row.path in seen else "",
            )
            for row in rows
        ),
        tasks=tasks,
    )


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise DonnaError(Reason.USAGE, "this is not a date", hint="write it as 2026-03-12") from None


async def recall(context: ToolContext, args: schemas.RecallArgs) -> schemas.RecallOutput:
    stale = await context.engine.freshen()
    result = await context.engine.memory.recall(
        encodable(args.query),
        top_k=args.top_k,
        token_budget=args.token_budget,
        memory_types=args.types or None,
        remote=not context.access.sensitive,
    )
    memories = await context.public(result.memories)
    dropped = sum(memory.tokens for memory in result.memories) - sum(memory.tokens for memory in memories)
    return schemas.RecallOutput(
        memories=() if args.as_block else memories,
        count=len(memories),
        total_tokens=max(0, result.total_tokens - dropped),
        token_budget=result.token_budget,
        note="; ".join(filter(None, (stale, result.note))),
        prompt=assemble(memories) if args.as_block else "",
    )


async def remember(context: ToolContext, args: schemas.RememberArgs) -> schemas.RememberOutput:
    """Remember a text. Raises DonnaError (`conflict`) if it would replace a memory without permission."""
    session, private = context.session, context.access.sensitive
    async with session.turn:
        if not args.replace:
            held = await context.engine.memory.would_replace(args.text, memory_type_hint=args.type, sensitive=private)
            for old, fresh in held:
                message = f"“{clean_line(fresh)}” would replace “{clean_line(old.content)}”"
                raise DonnaError(Reason.CONFLICT, message, hint="ask the owner, then send replace: true")
        began = time.time()
        with session.quota.taken():
            remembered = await context.engine.memory.remember(
                args.text,
                session_id=session_name(session.id),
                memory_type_hint=args.type,
                sensitive=private,
                patience=INDEX_WAIT_SECONDS,
            )
        if all(memory.at < began for memory in remembered):
            session.quota.give_back()
    ids = tuple(memory.id for memory in remembered)
    return schemas.RememberOutput(remembered=len(ids), ids=ids, session=session.id, writes_left=session.quota.left)


async def memory_search(context: ToolContext, args: schemas.SearchArgs) -> schemas.SearchOutput:
    sensitive = None if context.access.sensitive else False
    filters = Filters(sources=args.sources, path_prefix=encodable(args.folder), sensitive=sensitive)
    request = SearchRequest(
        text=encodable(args.query),
        k=args.max_results or context.results,
        mode=args.mode,
        filters=filters,
        near_misses=args.near_misses,
    )
    outcome = await context.engine.search_fresh(request)
    hits = [hit for hit in await context.public(outcome.hits) if _is_near_enough(hit, args.min_score)]
    near = await context.public(outcome.near_misses) if args.near_misses else []
    return schemas.SearchOutput(
        results=tuple(map(_hit_row, hits)),
        count=len(hits),
        near_misses=tuple(map(_hit_row, near)),
        mode=outcome.mode,
        note=outcome.note,
        filter_problems=tuple(problem.sentence for problem in outcome.filter_problems),
        stale=outcome.stale,
        indexed=outcome.indexed,
    )


def _is_near_enough(hit: Hit, least: float | None) -> bool:
    by_word = bool(hit.named) or hit.keyword_rank is not None
    return least is None or by_word or (hit.score is not None and hit.score >= least)


def _hit_row(hit: Hit) -> schemas.Hit:
    return schemas.Hit(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        snippet=longer_text(hit.snippet, SNIPPET_CHARS),
        score=None if hit.score is None else round(hit.score, 4),
        title=hit.title,
        date=iso_date(hit.dated_at),
        type=str(hit.metadata.get("type") or ""),
        tags=tuple(map(str, hit.metadata.get("tags") or ())),
        draft=hit.draft,
        sensitive=hit.sensitive,
        heading_path=hit.heading_path,
        source=hit.source_type,
        citation=citation(hit),
    )
