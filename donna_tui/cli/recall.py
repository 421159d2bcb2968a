"""Implement `donna recall`: print the memories for a prompt within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, emit_lines, print_message, require_found
from donna_tui.cli.remember import memory_fields, memory_lines, type_named
from donna_tui.cli.search import run_with_index
from donna_tui.cli.session import open_session
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import RecallResult
from donna_tui.types.search import ME

if TYPE_CHECKING:
    from donna_tui.engine.engine import Engine

app = new_app()

SHOWN_CUTS = 10
SHOWN_USERS = 5


@app.command("recall")
def recall(
    query: Annotated[list[str], typer.Argument(help="The subject or question to find memories for.")],
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
    from donna_tui.search.query import readable

    question = " ".join(query)
    if not question.strip():
        raise DonnaError(Reason.USAGE, "no question given", hint='donna recall "how do we deploy"')
    session = open_session(space)
    types = tuple(map(type_named, kinds or ()))

    others: list[str] = []

    async def work(engine: Engine) -> RecallResult:
        result = await engine.memory.recall(
            readable(question),
            top_k=k or None,
            token_budget=None if budget < 0 else budget,
            memory_types=types or None,
            include_compressed=everything,
            user_id=user or ME,
            remote=(prompt or as_json) and not local,
        )
        if not result.memories and not result.cut:
            others.extend(each for each in await engine.memory.users() if each not in (user, ME))
        return result

    result = run_with_index(session, "donna recall", work)
    if result.note:
        print_message(f"donna: {result.note}")
    if others:
        print_message(f"donna: there are conversations of {_listed(others)}; --user searches those of one user")
    if prompt and not as_json:
        emit_lines(_prompt(result))
    else:
        emit(_fields(result, prompt=prompt), as_json=as_json, human=lambda: _lines(result))
    require_found(result.memories)


def _listed(users: Sequence[str]) -> str:
    more = f" and {len(users) - SHOWN_USERS} more" if len(users) > SHOWN_USERS else ""
    return ", ".join(users[:SHOWN_USERS]) + more


def _prompt(result: RecallResult) -> Iterator[str]:
    from donna_tui.memory.recall import assemble

    block = assemble(result.memories)
    return iter(block.split("\n") if block else [])


def _fields(result: RecallResult, *, prompt: bool) -> dict[str, Any]:
    block = {"prompt": "\n".join(_prompt(result))} if prompt else {}
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
