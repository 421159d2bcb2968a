"""`donna search`: one question, or a file of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from donna_tui.cli.output import ExitCode, emit, emit_lines, json_text, say
from donna_tui.cli.progress import shown_progress
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.errors import DatabaseError, DonnaError, Reason, VaultReadError
from donna_tui.records import dataclass
from donna_tui.results import MODES, Filters, Hit, SearchOutcome, SearchRequest
from donna_tui.search.query import readable
from donna_tui.tools.hits import hit_fields, hit_lines

if TYPE_CHECKING:
    from donna_tui.engine import Engine


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command line; `k` 0 means the configured number."""

    k: int
    mode: str
    sources: tuple[str, ...]
    path: str
    near: bool
    everywhere: bool = False

    def request(self, session: Session) -> SearchRequest:
        """The request for an empty question. Raises DonnaError for an unknown mode."""
        mode = next((each for each in MODES if each == self.mode), None)
        if mode is None:
            raise DonnaError(Reason.USAGE, f"there is no mode {self.mode}", hint=f"the modes are {', '.join(MODES)}")
        filters = Filters(sources=tuple(map(readable, self.sources)), path_prefix=readable(self.path))
        k = self.k or session.config.retrieval.default_k
        return SearchRequest(
            text="", k=k, mode=mode, filters=filters, near_misses=self.near, everywhere=self.everywhere
        )


class BatchQuery(BaseModel):
    """One line of a batch: `id` and `query`, notes to leave out, and the one note to stay in."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str | int
    query: str
    exclude: tuple[str, ...] = ()
    within: str | None = None


def run_search(query: str, asked: Asked, space: str | None, *, as_json: bool) -> None:
    """Print the hits; exit with 1 if nothing relevant was found."""
    session = open_session(space)
    request = question_of(query, asked, session)
    outcome = run(_answer(session, request))
    _print(outcome, as_json=as_json)
    if not outcome.indexed:
        raise SystemExit(ExitCode.DEGRADED)
    if not outcome.hits:
        raise SystemExit(ExitCode.NOTHING_FOUND)


def question_of(query: str, asked: Asked, session: Session) -> SearchRequest:
    """The request for a question. Raises DonnaError if there is none."""
    if not query.strip():
        raise DonnaError(Reason.USAGE, "there is no question", hint='donna search "why did we move"')
    return replace(asked.request(session), text=query)


async def _answer(session: Session, request: SearchRequest) -> SearchOutcome:
    async with engine_for(session, "donna search", by_meaning=request.mode != "keyword") as engine:
        if session.space.agent:  # whoever asks is a program with little time
            with shown_progress(engine):
                return await engine.search_fresh(request)
        fresh = await bring_up_to_date(engine)
        return replace(await engine.search(request), stale=not fresh)


async def bring_up_to_date(engine: Engine) -> bool:
    """Whether that was possible. A missing vault, a full disk or a locked index does not keep from searching what is
    known.
    """
    try:
        with shown_progress(engine):
            await engine.sync(counted=False)
    except (VaultReadError, DatabaseError) as error:
        say(f"donna: {error.message}; searching what is known")
        return False
    return True


def _print(outcome: SearchOutcome, *, as_json: bool) -> None:
    if outcome.note:
        say(f"donna: {outcome.note}")
    fields = {
        "query": outcome.request.text,
        "mode": outcome.mode,
        "count": len(outcome.hits),
        "results": [hit_fields(hit) for hit in outcome.hits],
        "near_misses": [hit_fields(hit) for hit in outcome.near_misses],
        "note": outcome.note,
        "reason": outcome.reason,
        "indexed": outcome.indexed,
        "stale": outcome.stale,
        "searched_notes": outcome.searched_notes,
        "latency_ms": round(outcome.latency_ms, 1),
    }
    emit(fields, as_json=as_json, human=lambda: _lines(outcome))


def _lines(outcome: SearchOutcome) -> Iterator[str]:
    for hit in outcome.hits:
        yield from hit_lines(hit)
    if not outcome.hits and outcome.indexed:
        near = f"; {len(outcome.near_misses)} near misses with --near" if outcome.near_misses else ""
        yield f"Nothing relevant in {outcome.searched_notes} notes{near}."
    if outcome.near_misses and outcome.request.near_misses:
        yield "Near misses:"
        for hit in outcome.near_misses:
            yield from hit_lines(hit)


def run_batch(source: str, asked: Asked, space: str | None) -> None:
    """Answer each line of a file of questions with one line, in the same order."""
    session = open_session(space)
    queries = list(read_batch(source))
    run(_answer_all(session, queries, asked.request(session)))


async def _answer_all(session: Session, queries: list[BatchQuery], request: SearchRequest) -> None:
    async with engine_for(session, "donna search", by_meaning=request.mode != "keyword") as engine:
        await bring_up_to_date(engine)
        for query in queries:
            filters = replace(request.filters, exclude=query.exclude, within=(query.within,) if query.within else ())
            outcome = await engine.search(replace(request, text=query.query, filters=filters))
            emit_lines([json_text({"id": query.id, "results": _rows(outcome.hits)})])


def _rows(hits: tuple[Hit, ...]) -> list[dict[str, Any]]:
    return [hit_fields(hit) for hit in hits]


def read_batch(source: str) -> Iterator[BatchQuery]:
    """The questions of a file, or of stdin for `-`. Raises DonnaError with the number of a line that is none."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DonnaError(Reason.USAGE, f"the questions cannot be read ({type(error).__name__})") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield BatchQuery.model_validate_json(line)
            except ValueError as error:
                message = f"line {number} of the questions is not an object with id and query"
                raise DonnaError(Reason.USAGE, message) from error
