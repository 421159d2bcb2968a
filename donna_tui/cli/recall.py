"""Implement `donna recall`: print the memories for a prompt within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from donna_tui.cli.output import ExitCode, emit, emit_lines, print_message
from donna_tui.cli.remember import memory_fields, memory_lines, type_named
from donna_tui.cli.search import update_index
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.memory.recall import assemble
from donna_tui.search.query import readable
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import ME, RecallResult

SHOWN_CUTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The command line options; `budget` -1 and `k` 0 mean the configured numbers."""

    query: str
    budget: int
    k: int
    kinds: tuple[str, ...]
    everything: bool
    prompt: bool
    local: bool
    user: str = ""


def run_recall(options: Recalled, space: str | None, *, as_json: bool) -> None:
    """Print the memories, or the block for a prompt; exit with 1 if there are none."""
    if not options.query.strip():
        raise DonnaError(Reason.USAGE, "no question given", hint='donna recall "how do we deploy"')
    result = run(_recall(open_session(space), options, as_json=as_json))
    if result.note:
        print_message(f"donna: {result.note}")
    if options.prompt and not as_json:
        emit_lines(_prompt(result))
    else:
        emit(_fields(result, options), as_json=as_json, human=lambda: _lines(result))
    if not result.memories:
        raise SystemExit(ExitCode.NOTHING_FOUND)


async def _recall(session: Session, options: Recalled, *, as_json: bool) -> RecallResult:
    kinds = tuple(type_named(kind) for kind in options.kinds)
    async with engine_for(session, "donna recall") as engine:
        await update_index(engine)
        return await engine.memory.recall(
            readable(options.query),
            top_k=options.k or None,
            token_budget=None if options.budget < 0 else options.budget,
            memory_types=kinds or None,
            include_compressed=options.everything,
            user_id=options.user or ME,
            remote=(options.prompt or as_json) and not options.local,
        )


def _prompt(result: RecallResult) -> Iterator[str]:
    block = assemble(result.memories)
    return iter(block.split("\n") if block else [])


def _fields(result: RecallResult, options: Recalled) -> dict[str, Any]:
    block = {"prompt": assemble(result.memories)} if options.prompt else {}
    return {
        "query": result.query,
        "count": len(result.memories),
        "memories": [memory_fields(memory) for memory in result.memories],
        "total_tokens": result.total_tokens,
        "token_budget": result.token_budget,
        "budget_used": round(result.budget_used, 4),
        "counter": result.counter,
        "cut": [{**memory_fields(cut.memory), "why": cut.why.value} for cut in result.cut],
        "note": result.note,
        **block,
    }


def _lines(result: RecallResult) -> Iterator[str]:
    for memory in result.memories:
        yield from memory_lines(memory)
    yield f"{result.total_tokens} of {result.token_budget} tokens ({result.counter})"
    for cut in result.cut[:SHOWN_CUTS]:
        yield f"left out ({cut.why}): {cut.memory.id}"
    if len(result.cut) > SHOWN_CUTS:
        yield f"… and {len(result.cut) - SHOWN_CUTS} more: --json lists them"
