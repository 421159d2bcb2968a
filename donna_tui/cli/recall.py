"""Implement `donna recall`: print the memories for a prompt within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, emit_lines, print_message
from donna_tui.cli.remember import memory_fields, memory_lines, type_named
from donna_tui.cli.search import update_index
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import RecallResult
from donna_tui.types.search import ME

app = new_app()

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


@app.command("recall")
def recall(
    query: Annotated[str, typer.Argument(help="The subject or question to find memories for.")],
    budget: Annotated[
        int, typer.Option("--budget", help="The limit of tokens; -1 for the configured default.", min=-1)
    ] = -1,
    k: Annotated[int, typer.Option("-k", help="The limit of memories; 0 for the configured default.", min=0)] = 0,
    kinds: Annotated[list[str] | None, typer.Option("--type", help="Only memories of this type.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include turns of summarised conversations.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print only the block for a prompt.")] = False,
    local: Annotated[
        bool,
        typer.Option("--local", help="Include local-only memories in --prompt and --json."),
    ] = False,
    user: Annotated[str, typer.Option("--user", help="Memories of this user; your own by default.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Select the memories for a prompt within a token budget, and print what was left out and why."""
    options = Recalled(
        query=query,
        budget=budget,
        k=k,
        kinds=tuple(kinds or ()),
        everything=everything,
        prompt=prompt,
        local=local,
        user=user,
    )
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
    from donna_tui.search.query import readable

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
    from donna_tui.memory.recall import assemble

    block = assemble(result.memories)
    return iter(block.split("\n") if block else [])


def _fields(result: RecallResult, options: Recalled) -> dict[str, Any]:
    block = {"prompt": "\n".join(_prompt(result))} if options.prompt else {}
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
