"""`donna index`: bring the index up to date and wait until it is."""

from __future__ import annotations

import time
from typing import Any

from donna_tui.cli.output import ExitCode, emit, say
from donna_tui.cli.progress import shown_progress
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.errors import Reason
from donna_tui.events import ModelPhase
from donna_tui.status import Status


def run_index(space: str | None, *, full: bool, as_json: bool) -> None:
    """Print what was done; exit with 4 if the index is complete only in part."""
    session = open_session(space)
    started = time.perf_counter()
    status, read_only = run(_index(session, full=full))
    seconds = time.perf_counter() - started
    emit(_fields(status, seconds), as_json=as_json, human=lambda: _lines(status, seconds))
    if read_only:
        say(f"donna: {status.state_detail}")
    for problem in status.problems:
        if not problem.path:
            say(f"donna: {problem.message}", *([f"       {problem.hint}"] if problem.hint else []))
    if status.model_phase is not ModelPhase.READY or any(
        p.reason is Reason.MASS_DISAPPEARANCE for p in status.problems
    ):
        raise SystemExit(ExitCode.DEGRADED)


async def _index(session: Session, *, full: bool) -> tuple[Status, bool]:
    async with engine_for(session, "donna index", by_meaning=False) as engine:
        with shown_progress(engine):
            await engine.sync(full=full)
        return engine.status(), engine.read_only


def _fields(status: Status, seconds: float) -> dict[str, Any]:
    coverage = status.coverage
    return {
        "notes": coverage.notes,
        "indexed": coverage.text,
        "chunks": coverage.chunks,
        "chunks_embedded": coverage.chunks_embedded,
        "embedded": status.embedded_this_run,
        "reused": status.reused_this_run,
        "skipped": coverage.skipped,
        "failed": coverage.failed,
        "problems": [
            {"path": p.path, "reason": p.reason, "message": p.message, "hint": p.hint} for p in status.problems
        ],
        "seconds": round(seconds, 2),
    }


def _lines(status: Status, seconds: float) -> list[str]:
    coverage, skipped = status.coverage, sum(status.coverage.skipped.values())
    lines = [
        f"{coverage.text} of {coverage.notes} notes, {coverage.chunks} passages,"
        f" {coverage.chunks_embedded} searchable by meaning",
        f"{status.embedded_this_run} embedded now, in {seconds:.1f} s",
    ]
    return [*lines, f"{skipped} files skipped: donna status says why"] if skipped else lines
