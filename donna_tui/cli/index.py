"""Implement `donna index` and `donna backfill`."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, print_problem
from donna_tui.cli.progress import shown_progress
from donna_tui.cli.session import open_session, run_with_engine
from donna_tui.engine.engine import Engine
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import BackfillRow
from donna_tui.types.search import MemorySource
from donna_tui.types.status import ModelPhase, Status

app = new_app()


@app.command("index")
def index(
    full: Annotated[
        bool, typer.Option("--full", help="Read every note again; missing notes count as deleted.")
    ] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Update the index, and return when it is complete."""
    session = open_session(space)

    async def work(engine: Engine) -> tuple[Status, bool]:
        with shown_progress(engine):
            await engine.sync(full=full)
        return engine.status(), engine.read_only

    started = time.perf_counter()
    status, read_only = run_with_engine(session, "donna index", work, semantic=False)
    seconds = time.perf_counter() - started
    if read_only:
        hint = "it keeps the index up to date; donna status shows the progress"
        raise DonnaError(Reason.BUSY, status.state_detail, hint=hint)
    coverage, problems = status.coverage, status.problems
    fields = {
        "notes": coverage.notes,
        "indexed": coverage.text,
        "chunks": coverage.chunks,
        "chunks_embedded": coverage.chunks_embedded,
        "embedded": status.embedded_this_run,
        "reused": status.reused_this_run,
        "skipped": coverage.skipped,
        "failed": coverage.failed,
        "problems": [{"path": p.path, "reason": p.reason, "message": p.message, "hint": p.hint} for p in problems],
        "seconds": round(seconds, 2),
    }
    emit(fields, _index_lines(status, seconds), as_json=as_json)
    for problem in problems:
        if not problem.path:
            print_problem(problem.message, problem.hint)
    if status.model_phase is not ModelPhase.READY or any(p.reason is Reason.MASS_DISAPPEARANCE for p in problems):
        raise SystemExit(ExitCode.DEGRADED)


def _index_lines(status: Status, seconds: float) -> list[str]:
    coverage, skipped = status.coverage, sum(status.coverage.skipped.values())
    lines = [
        f"{coverage.text:,} of {plural(coverage.notes, 'note')}, {plural(coverage.chunks, 'passage')},"
        f" {coverage.chunks_embedded:,} embedded",
        f"{status.embedded_this_run:,} embedded now, in {seconds:.1f} s",
    ]
    return [*lines, f"{plural(skipped, 'file')} left out: donna status shows why"] if skipped else lines


@app.command("backfill")
def backfill(
    source: Annotated[str, typer.Option("--source", help="vault, chat, task, correction, memory or all.")] = "all",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Index documents again from their sources. Repeating it changes nothing."""
    names = [source_type.value for source_type in MemorySource]
    wanted = [source_type for source_type in MemorySource if source in ("all", source_type)]
    if not wanted:
        raise DonnaError(Reason.USAGE, f"there is no source {source}", hint=f"the sources are {', '.join(names)}, all")

    async def work(engine: Engine) -> list[BackfillRow]:
        with shown_progress(engine):
            return [await engine.memory.backfill(source_type) for source_type in wanted]

    rows = run_with_engine(open_session(space), "donna backfill", work)
    sources = [{"id": row.source, **asdict(row)} for row in rows]
    emit({"count": len(rows), "sources": sources}, map(_backfill_line, rows), as_json=as_json)
    if any(row.state == "failed" for row in rows):
        raise SystemExit(ExitCode.FAILED)


def _backfill_line(row: BackfillRow) -> str:
    return f"{row.source}: {f'failed: {row.message}' if row.state == 'failed' else plural(row.documents, 'document')}"
