"""Implement `donna remember`, `memories`, `forget` and `recall`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, emit_lines, print_message, require_found
from donna_tui.cli.search import run_with_index
from donna_tui.cli.session import open_session, run_with_engine
from donna_tui.cli.write import given_text
from donna_tui.engine.engine import Engine
from donna_tui.engine.memory_service import session_of
from donna_tui.memory.recall import assemble
from donna_tui.search.passages import as_check_box
from donna_tui.text.encodable import encodable
from donna_tui.text.plural import first_of, plural
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import MemoryChunk, MemoryFilter, MemoryType, RecallResult
from donna_tui.types.search import ME, MemorySource
from donna_tui.vault.note.read import iso_date

app = new_app()

INDEX_WAIT_SECONDS = 10.0
FOLLOWS = "the running Donna process adds it to the index"


@app.command("remember")
def remember(
    text: Annotated[list[str], typer.Argument(help="What to remember; - reads it from stdin.")],
    kind: Annotated[
        str, typer.Option("--type", help="working, episodic, semantic or procedural; by default Donna decides.")
    ] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Pin the memory, so that it has the highest importance.")] = False,
    sensitive: Annotated[
        bool, typer.Option("--sensitive", help="Mark the memory as private: keep it on this machine.")
    ] = False,
    agreed: Annotated[bool, typer.Option("--yes", "-y", help="Replace a preference on the same subject.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Remember something that is not in a note."""
    hint = type_named(kind) if kind else None
    session = open_session(space)
    to_remember = given_text() if text == ["-"] else " ".join(text)

    async def work(engine: Engine) -> tuple[MemoryChunk, ...]:
        service = engine.memory
        if not agreed:
            for held, fresh in await service.would_replace(to_remember, memory_type_hint=hint, sensitive=sensitive):
                _agree(held.content, fresh, interactive=not as_json)
        memories = await service.remember(to_remember, memory_type_hint=hint, sensitive=sensitive, pinned=pin)
        if engine.read_only:
            print_message(f"donna: {FOLLOWS}")
        return memories

    saved = run_with_engine(session, "donna remember", work)
    emit_memories(saved, "Saved.", as_json=as_json)


@app.command("memories")
def memories(
    text: Annotated[list[str] | None, typer.Argument(help="Only memories that contain this text, in any case.")] = None,
    kinds: Annotated[list[str] | None, typer.Option("--type", help="Only memories of this type.")] = None,
    user: Annotated[str, typer.Option("--user", help="Memories of this user; your own by default.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="The number of memories per page.", min=1, max=1_000)] = 50,
    offset: Annotated[int, typer.Option("--offset", help="The number of memories to skip.", min=0, max=10**9)] = 0,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List memories other than notes, latest first, in pages."""
    wanted = MemoryFilter(types=tuple(map(type_named, kinds or ())), text=" ".join(text or ()), user_id=user or ME)

    async def work(engine: Engine) -> tuple[tuple[MemoryChunk, ...], int]:
        await engine.memory.wait_until_indexed(INDEX_WAIT_SECONDS)
        return await engine.memory.memories(wanted, limit=limit, skip=offset), await engine.memory.count(wanted)

    page, total = run_with_engine(open_session(space), "donna memories", work, semantic=False)
    emit_memories(page, as_json=as_json, total=total, offset=offset)
    last = offset + len(page)
    if last < total:
        print_message(f"donna: {offset + 1} to {last} of {total:,}; --offset {last} shows more")
    none = "no memories match" if text or kinds or user else "no memories yet"
    require_found(page, f"no more than {plural(total, 'memory', 'memories')}" if total else none)


def _agree(held: str, fresh: str, *, interactive: bool) -> None:
    """Ask whether a preference may be replaced. Raises DonnaError (`conflict`) without consent."""
    if interactive and sys.stdin.isatty():
        print_message(f"donna: this replaces “{' '.join(held.split())}”")
        if typer.confirm("Replace it?", err=True):
            return
        raise DonnaError(Reason.CONFLICT, "nothing was saved")
    message = f"“{' '.join(fresh.split())}” would replace “{' '.join(held.split())}”"
    raise DonnaError(Reason.CONFLICT, message, hint="--yes replaces it")


@app.command("forget")
def forget(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory, a chat or a correction.")],
    for_good: Annotated[
        bool,
        typer.Option("--for-good", help="Erase the text of the memory, from the backups too. This cannot be undone."),
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Restore what was forgotten.")] = False,
    user: Annotated[str, typer.Option("--user", help="A memory of this user; your own by default.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Forget a memory, so that it is neither found nor recalled. To forget a note, delete it."""
    if for_good and undo:
        raise DonnaError(Reason.USAGE, "--for-good and --undo cannot be used together")
    session = open_session(space)

    async def work(engine: Engine) -> bool:
        service = engine.memory
        owner = user or ME
        if undo:
            changed = await service.restore(identity, user_id=owner)
        else:
            changed = await service.forget(identity, user_id=owner, for_good=for_good)
        if not await service.wait_until_indexed() and engine.read_only:
            print_message(f"donna: {FOLLOWS}")
        return changed

    changed = run_with_engine(session, "donna forget", work)
    if for_good and any(session.space.state.glob("*-erasing")):
        print_message(
            "donna: another program is reading the index: the text may remain in its log for a while; see donna doctor"
        )
    done = "restored" if undo else "erased" if for_good else "forgotten"
    unchanged = "it is not forgotten" if undo else f"already {done}"
    message = f"{identity}: {done if changed else unchanged}"
    emit({"id": identity, "changed": changed, "for_good": for_good}, [message], as_json=as_json)
    if changed and not (undo or for_good):
        print_message("donna: donna forget --undo restores it")
    require_found(changed)


def type_named(kind: str) -> MemoryType:
    """Return the memory type with this name. Raises DonnaError if there is none."""
    try:
        return MemoryType(kind.lower())
    except ValueError:
        hint = f"the types are {', '.join(MemoryType)}"
        raise DonnaError(Reason.USAGE, f"there is no type {kind}", hint=hint) from None


def emit_memories(memories: Sequence[MemoryChunk], *before: str, as_json: bool, **numbers: int) -> None:
    """Print memories: as JSON with their count and other `numbers`, or below the lines `before`."""
    fields = {"count": len(memories), **numbers, "memories": [memory_fields(memory) for memory in memories]}
    emit(fields, (*before, *chain.from_iterable(map(memory_lines, memories))), as_json=as_json)


def memory_fields(memory: MemoryChunk) -> dict[str, Any]:
    importance = memory.importance

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 4)

    return {
        "id": memory.id,
        "source_type": memory.source.value,
        "source_id": memory.source_id,
        "memory_type": memory.memory_type.value,
        "content": memory.content,
        "title": memory.title,
        "heading_path": list(memory.heading_path),
        "start_line": memory.start_line,
        "end_line": memory.end_line,
        "session_id": memory.session_id,
        "at": memory.at,
        "score": round(memory.score, 4),
        "tokens": memory.tokens,
        "importance": rounded(importance.value) if importance else None,
        "novelty": rounded(importance.novelty) if importance else None,
        "salience": rounded(importance.salience) if importance else None,
        "signals": [signal.value for signal in importance.signals] if importance else [],
        "pinned": memory.pinned,
        "compressed": memory.compressed,
        "sensitive": memory.sensitive,
    }


def memory_lines(memory: MemoryChunk) -> Iterator[str]:
    """Format a memory for reading: content, id, day, importance, marks and the session of an agent."""
    text = as_check_box(memory.content) if memory.source is MemorySource.TASK else memory.content
    known = memory.importance.value if memory.importance else None
    importance = "" if known is None else f"  importance {known:.2f}"
    is_agents = memory.source is MemorySource.MEMORY and not memory.is_summary
    session = session_of(memory.session_id) if is_agents else ""
    is_preference = memory.memory_type is MemoryType.PROCEDURAL
    found = (
        ("preference", is_preference), ("pinned", memory.pinned), ("private", memory.sensitive),
        (f"session {session}", session),
    )  # fmt: skip
    marks = "".join(f"  ({word})" for word, holds in found if holds)
    yield " ".join(text.split())
    yield f"      {memory.id}  {iso_date(memory.at)}{importance}{marks}".rstrip()


MAX_OMITTED = 10
SHOWN_USERS = 5


@app.command("recall")
def recall(
    query: Annotated[list[str], typer.Argument(help="The subject or question to find memories for.")],
    budget: Annotated[
        int, typer.Option("--budget", help="The maximum number of tokens; -1 for the configured default.", min=-1)
    ] = -1,
    k: Annotated[
        int, typer.Option("-k", help="The maximum number of memories; 0 for the configured default.", min=0)
    ] = 0,
    kinds: Annotated[list[str] | None, typer.Option("--type", help="Only memories of this type.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include turns of summarised conversations.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print only the block for a prompt.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Include private memories in --prompt and --json.")] = False,
    user: Annotated[str, typer.Option("--user", help="Memories of this user; your own by default.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Select the memories for a prompt within a token budget. What was left out is printed with the reason."""
    question = " ".join(query)
    if not question.strip():
        raise DonnaError(Reason.USAGE, "no question given", hint='donna recall "how do we deploy"')
    session = open_session(space)
    types = tuple(map(type_named, kinds or ()))

    others: list[str] = []

    async def work(engine: Engine) -> RecallResult:
        result = await engine.memory.recall(
            encodable(question),
            top_k=k or None,
            token_budget=None if budget < 0 else budget,
            memory_types=types or None,
            include_compressed=everything,
            user_id=user or ME,
            remote=(prompt or as_json) and not local,
        )
        if not result.memories and not result.cut:
            others.extend(known for known in await engine.memory.users() if known not in (user, ME))
        return result

    result = run_with_index(session, "donna recall", work)
    if result.note:
        print_message(f"donna: {result.note}")
    if others:
        listed = first_of(others, SHOWN_USERS)
        print_message(f"donna: there are conversations of {listed}; --user searches those of one user")
    block = assemble(result.memories) if prompt else ""
    if prompt and not as_json:
        emit_lines(block.split("\n") if block else ())
    else:
        fields = {
            "query": result.query,
            "count": len(result.memories),
            "memories": [memory_fields(memory) for memory in result.memories],
            "total_tokens": result.total_tokens,
            "token_budget": result.token_budget,
            "budget_used": round(result.budget_used, 4),
            "counter": result.counter,
            "cut": [{**memory_fields(cut.memory), "why": cut.why.value} for cut in result.cut],
            "note": result.note,
        }
        emit({**fields, "prompt": block} if prompt else fields, _recall_lines(result), as_json=as_json)
    require_found(result.memories)


def _recall_lines(result: RecallResult) -> Iterator[str]:
    yield from chain.from_iterable(map(memory_lines, result.memories))
    yield f"{result.total_tokens} of {result.token_budget} tokens ({result.counter})"
    for cut in result.cut[:MAX_OMITTED]:
        yield f"left out ({cut.why}): {cut.memory.id}"
    if len(result.cut) > MAX_OMITTED:
        yield f"… and {len(result.cut) - MAX_OMITTED} more: --json lists them"
