"""Implement `donna remember`, `memories` and `forget`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message, require_found
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import MemoryChunk, MemoryFilter, MemoryType
from donna_tui.types.search import ME

app = new_app()

INDEX_WAIT_SECONDS = 10.0
FOLLOWS = "the running Donna indexes it"


@app.command("remember")
def remember(
    text: Annotated[list[str], typer.Argument(help="What to remember; - reads it from stdin.")],
    kind: Annotated[
        str, typer.Option("--type", help="working, episodic, semantic or procedural; by default Donna decides.")
    ] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Give it the highest importance.")] = False,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Keep it on this machine.")] = False,
    agreed: Annotated[bool, typer.Option("--yes", "-y", help="Replace a preference on the same subject.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Remember something that is not in a note."""
    hint = type_named(kind) if kind else None
    session = open_session(space)
    to_remember = sys.stdin.read() if text == ["-"] else " ".join(text)
    saved = run(
        _remember(session, to_remember, hint, pin=pin, sensitive=sensitive, agreed=agreed, interactive=not as_json)
    )
    emit(
        {"count": len(saved), "memories": [memory_fields(memory) for memory in saved]},
        as_json=as_json,
        human=lambda: ("Saved.", *(line for memory in saved for line in memory_lines(memory))),
    )


async def _remember(
    session: Session, text: str, hint: MemoryType | None, *, pin: bool, sensitive: bool, agreed: bool, interactive: bool
) -> tuple[MemoryChunk, ...]:
    async with engine_for(session, "donna remember") as engine:
        if not agreed:
            for held, text_of_it in await engine.memory.would_replace(text, memory_type_hint=hint, sensitive=sensitive):
                _agree(held.content, text_of_it, interactive=interactive)
        memories = await engine.memory.remember(text, memory_type_hint=hint, sensitive=sensitive, pinned=pin)
        if engine.read_only:
            print_message(f"donna: {FOLLOWS}")
        return memories


@app.command("memories")
def memories(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="Only memories that contain this text, in any case."),
    ] = None,
    kinds: Annotated[list[str] | None, typer.Option("--type", help="Only memories of this type.")] = None,
    user: Annotated[str, typer.Option("--user", help="Memories of this user; your own by default.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="The number of memories per page.", min=1, max=1_000)] = 50,
    offset: Annotated[int, typer.Option("--offset", help="The number of memories to skip.", min=0)] = 0,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List memories other than notes, latest first, one page at a time."""
    wanted = MemoryFilter(types=tuple(map(type_named, kinds or ())), text=" ".join(text or ()), user_id=user or ME)
    page, total = run(_memories(open_session(space), wanted, limit, offset))
    emit(
        {"count": len(page), "total": total, "offset": offset, "memories": [memory_fields(each) for each in page]},
        as_json=as_json,
        human=lambda: (line for each in page for line in memory_lines(each)),
    )
    if offset + len(page) < total:
        print_message(
            f"donna: {offset + 1} to {offset + len(page)} of {total:,}; --offset {offset + len(page)} shows more"
        )
    none = "no memories match" if text or kinds or user else "no memories yet"
    require_found(page, f"no more than {plural(total, 'memory', 'memories')}" if total else none)


async def _memories(
    session: Session, wanted: MemoryFilter, limit: int, offset: int
) -> tuple[tuple[MemoryChunk, ...], int]:
    async with engine_for(session, "donna memories", semantic=False) as engine:
        await engine.memory.wait_until_indexed(INDEX_WAIT_SECONDS)
        return await engine.memory.memories(wanted, limit=limit, skip=offset), await engine.memory.count(wanted)


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
        bool, typer.Option("--for-good", help="Erase its text, also from the backups. This cannot be undone.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Restore what was forgotten.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Forget a memory, so that it is neither found nor recalled. To forget a note, delete it."""
    if for_good and undo:
        raise DonnaError(Reason.USAGE, "--for-good and --undo exclude each other")
    changed = run(_forget(open_session(space), identity, for_good=for_good, undo=undo))
    done = "restored" if undo else "erased" if for_good else "forgotten"
    message = f"{identity}: {done}" if changed else f"{identity}: nothing to do"
    emit({"id": identity, "changed": changed, "for_good": for_good}, as_json=as_json, human=lambda: [message])
    require_found(changed)


async def _forget(session: Session, identity: str, *, for_good: bool, undo: bool) -> bool:
    async with engine_for(session, "donna forget") as engine:
        service = engine.memory
        changed = await (service.restore(identity) if undo else service.forget(identity, for_good=for_good))
        if not await service.wait_until_indexed() and engine.read_only:
            print_message(f"donna: {FOLLOWS}")
    if for_good and any(session.space.state.glob("*-erasing")):
        print_message(
            "donna: another program is reading the index: the text may remain in its log for a while; see donna doctor"
        )
    return changed


def type_named(kind: str) -> MemoryType:
    """Return the memory type with this name. Raises DonnaError if there is none."""
    try:
        return MemoryType(kind.lower())
    except ValueError:
        names = ", ".join(MemoryType)
        raise DonnaError(Reason.USAGE, f"there is no type {kind}", hint=f"the types are {names}") from None


def memory_fields(memory: MemoryChunk) -> dict[str, Any]:
    """Return a memory as a row of JSON."""
    importance = memory.importance
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
        "importance": _rounded(importance.value) if importance else None,
        "novelty": _rounded(importance.novelty) if importance else None,
        "salience": _rounded(importance.salience) if importance else None,
        "signals": [signal.value for signal in importance.signals] if importance else [],
        "pinned": memory.pinned,
        "compressed": memory.compressed,
        "sensitive": memory.sensitive,
    }


def memory_lines(memory: MemoryChunk) -> Iterator[str]:
    """Format a memory for reading: type, content, id, day and importance."""
    from donna_tui.memory.listing import iso_day

    known = memory.importance.value if memory.importance else None
    importance = "" if known is None else f"  importance {known:.2f}"
    marks = "".join(f"  ({word})" for word, on in (("pinned", memory.pinned), ("local only", memory.sensitive)) if on)
    yield f"[{memory.memory_type.upper()}] {' '.join(memory.content.split())}"
    yield f"      {memory.id}  {iso_day(memory.at)}{importance}{marks}".rstrip()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
