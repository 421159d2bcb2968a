"""Implement `donna search` (one question, or a file of them) and `donna why-not`."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ConfigDict, field_validator

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, emit_lines, json_text, print_message, require_found
from donna_tui.cli.progress import shown_progress
from donna_tui.cli.session import Session, engine_for, open_session, run, run_with_engine
from donna_tui.ops.hits import grouped_lines, hit_fields, why_not_fields, why_not_lines
from donna_tui.search.citations import cited_lines
from donna_tui.text.encodable import encodable
from donna_tui.text.plural import plural
from donna_tui.types.errors import DatabaseError, DonnaError, Reason, VaultReadError
from donna_tui.types.search import DRAFTS, MODES, Filters, MemorySource, SearchOutcome, SearchRequest

if TYPE_CHECKING:
    from donna_tui.engine.engine import Engine

app = new_app()

Number = Annotated[int, typer.Option("-k", help="The number of hits; 0 for the configured default.", min=0)]
ModeOption = Annotated[str, typer.Option("--mode", help="hybrid, semantic or keyword.")]

SOURCES = (*(source.value for source in MemorySource), DRAFTS)

NEAR_MATCHES = 3
"""Number of near misses that are shown by default if there is no hit."""

T = TypeVar("T")


def _request(
    session: Session,
    query: Sequence[str],
    k: int,
    mode: str,
    sources: Sequence[str] = (),
    path: str = "",
    *,
    near_misses: bool = False,
    everywhere: bool = False,
) -> SearchRequest:
    """Return the request for a question. Raises DonnaError for an unknown mode or source."""
    if unknown := next((source for source in sources if source not in SOURCES), ""):
        raise DonnaError(Reason.USAGE, f"there is no source {unknown}", hint=f"the sources are {', '.join(SOURCES)}")
    known_mode = next((known for known in MODES if known == mode), None)
    if known_mode is None:
        raise DonnaError(Reason.USAGE, f"there is no mode {mode}", hint=f"the modes are {', '.join(MODES)}")
    return SearchRequest(
        text=" ".join(query),
        k=k or session.config.retrieval.default_k,
        mode=known_mode,
        filters=Filters(sources=tuple(sources), path_prefix=encodable(path)),
        near_misses=near_misses,
        everywhere=everywhere,
        uncapped=bool(k),
    )


class BatchQuery(BaseModel):
    """One line of a batch: `id` and `query`, notes to exclude, and notes to restrict the search to."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    id: str | int
    query: str
    exclude: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    @field_validator("within", mode="before")
    @classmethod
    def _as_list(cls, given: Any) -> Any:
        """Accept one note, several, or `null` for none."""
        return () if given is None else (given,) if isinstance(given, str) else given


@app.command("search")
def search(
    query: Annotated[
        list[str] | None, typer.Argument(help='Words, "phrases", -words (after --) and filters such as path: or tag:.')
    ] = None,
    k: Number = 0,
    mode: ModeOption = "hybrid",
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", help=f"Only this kind: {', '.join(SOURCES[:-1])} or {SOURCES[-1]}; repeatable."),
    ] = None,
    path: Annotated[str, typer.Option("--path", help="Only in this folder.")] = "",
    near: Annotated[bool, typer.Option("--near", help="Also show near misses.")] = False,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="Search all spaces.")] = False,
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of questions, one JSON object with id and query per line; - for stdin."),
    ] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Search, and print passages with their citations."""
    if batch and query:
        raise DonnaError(Reason.USAGE, "--batch and a question cannot be used together")
    session = open_session(space, everywhere=everywhere)
    words = query or ()
    request = _request(session, words, k, mode, sources or (), path, near_misses=near, everywhere=everywhere)
    if batch:
        queries = list(read_batch(batch))
        run(_answer_all(session, queries, request))
        if any(isinstance(query, dict) for query in queries):
            raise SystemExit(ExitCode.USAGE)
        return
    _require_question(request)
    outcome = run(_answer(session, request))
    _print(outcome, as_json=as_json)
    if not outcome.indexed:
        raise SystemExit(ExitCode.DEGRADED)
    require_found(outcome.hits)


def _require_question(request: SearchRequest) -> None:
    if not request.text.strip():
        raise DonnaError(Reason.USAGE, "no question given", hint='donna search "why did we move"')


async def _answer(session: Session, request: SearchRequest) -> SearchOutcome:
    async with engine_for(session, "donna search", semantic=request.mode != "keyword") as engine:
        if session.space.agent:  # the caller is a program with little time
            with shown_progress(engine):
                return await engine.search_fresh(request)
        fresh = await update_index(engine)
        return replace(await engine.search(request), stale=not fresh)


def run_with_index(session: Session, what: str, work: Callable[[Engine], Awaitable[T]]) -> T:
    """Run the work of a command with an engine that has updated the index."""

    async def updated(engine: Engine) -> T:
        await update_index(engine)
        return await work(engine)

    return run_with_engine(session, what, updated)


async def update_index(engine: Engine) -> bool:
    """Update the index; return whether that was possible. The existing index is searchable in any case."""
    try:
        with shown_progress(engine):
            await engine.sync(counted=False)
            problem = (await engine.behind()).removeprefix("stale: ")
    except (VaultReadError, DatabaseError) as error:
        problem = error.message
    if problem:
        print_message(f"donna: {problem}; searching the index as it is")
    return not problem


def _print(outcome: SearchOutcome, *, as_json: bool) -> None:
    for limit in (outcome.note, *(problem.sentence for problem in outcome.filter_problems)):
        if limit:
            print_message(f"donna: {limit}")
    fields = {
        "query": outcome.request.text,
        "mode": outcome.mode,
        "count": len(outcome.hits),
        "total": outcome.total,
        "notes": outcome.total_notes,
        "at_least": outcome.at_least,
        "results": [hit_fields(hit) for hit in outcome.hits],
        "near_misses": [hit_fields(hit) for hit in outcome.near_misses],
        "note": outcome.note,
        "reason": outcome.reason,
        "indexed": outcome.indexed,
        "stale": outcome.stale,
        "searched_notes": outcome.searched_notes,
        "filter_problems": [asdict(problem) for problem in outcome.filter_problems],
        "latency_ms": round(outcome.latency_ms, 1),
    }
    emit(fields, _lines(outcome), as_json=as_json)


def _lines(outcome: SearchOutcome) -> Iterator[str]:
    yield from grouped_lines(outcome.hits)
    if len(outcome.hits) < outcome.total:
        more = "+" if outcome.at_least else ""
        notes = "note" if outcome.total_notes == 1 and not more else "notes"
        found = f"{outcome.total}{more} passages in {outcome.total_notes}{more} {notes}"
        yield f"{len(outcome.hits)} of {found}; more with -k"
    near = outcome.near_misses if outcome.request.near_misses else outcome.near_misses[:NEAR_MATCHES]
    if not outcome.hits and outcome.indexed and not outcome.searched_notes:
        yield "There are no notes to search here, or the filters exclude all of them."
    elif not outcome.hits and outcome.indexed:
        yield f"Nothing relevant in {plural(outcome.searched_notes, 'note')}{'; the nearest matches:' if near else '.'}"
    elif near:
        yield "Near misses:"
    yield from grouped_lines(near, near=True)


async def _answer_all(session: Session, queries: list[BatchQuery | dict[str, Any]], request: SearchRequest) -> None:
    """Answer each query of a batch with one line, in the same order; an invalid one with its error."""
    async with engine_for(session, "donna search", semantic=request.mode != "keyword") as engine:
        await update_index(engine)
        for query in queries:
            if isinstance(query, dict):
                emit_lines([json_text(query)])
                continue
            filters = replace(request.filters, exclude=query.exclude, within=query.within)
            outcome = await engine.search(replace(request, text=query.query, filters=filters))
            row: dict[str, Any] = {"id": query.id, "results": [hit_fields(hit) for hit in outcome.hits]}
            if outcome.filter_problems:
                row["filter_problems"] = [asdict(problem) for problem in outcome.filter_problems]
            emit_lines([json_text(row)])


def read_batch(source: str) -> Iterator[BatchQuery | dict[str, Any]]:
    """Read the questions of a file, or of stdin for `-`; an invalid line is returned as the row that reports it.

    Raises DonnaError if the file cannot be read.
    """
    try:
        text = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise DonnaError(Reason.USAGE, f"the questions cannot be read: {source}: {why}") from error
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            try:
                yield BatchQuery.model_validate_json(line)
            except ValueError:
                message = f"line {number} of the questions is not an object with id and query"
                yield {"id": _id_of(line), "line": number, "error": {"reason": Reason.USAGE, "message": message}}


def _id_of(line: bytes) -> str | int | None:
    """Return the id of an invalid line, if it has one."""
    try:
        found = json.loads(line)["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if isinstance(found, str | int) else None


@app.command("why-not")
def why_not(
    note: Annotated[str, typer.Argument(help="The path of a note within the vault.")],
    query: Annotated[list[str], typer.Argument(help="The question that did not find it.")],
    k: Number = 0,
    mode: ModeOption = "hybrid",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a note is not among the hits of a search."""
    cited_space, path, *_ = cited_lines(note)
    session = open_session(cited_space or space)
    request = _request(session, query, k, mode)
    _require_question(request)
    found = run_with_index(session, "donna why-not", lambda engine: engine.why_not(path, request))
    emit(why_not_fields(found, request.text), why_not_lines(found), as_json=as_json)
