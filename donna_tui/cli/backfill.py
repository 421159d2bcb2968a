"""Implement `donna backfill`: index documents again, source by source."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit
from donna_tui.cli.progress import shown_progress
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import BackfillRow
from donna_tui.types.search import MemorySource

app = new_app()


@app.command("backfill")
def backfill(
    source: Annotated[str, typer.Option("--source", help="vault, chat, task, correction, memory or all.")] = "all",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Index documents again from their sources. Repeating it changes nothing."""
    from donna_tui.memory.indexer import SOURCES

    names = [each.value for each in SOURCES]
    wanted = [each for each in SOURCES if source in ("all", each)]
    if not wanted:
        raise DonnaError(Reason.USAGE, f"there is no source {source}", hint=f"the sources are {', '.join(names)}, all")
    rows = run(_backfill(open_session(space), wanted))
    emit(
        {"count": len(rows), "sources": [{"id": row.source, **asdict(row)} for row in rows]},
        as_json=as_json,
        human=lambda: map(_line, rows),
    )
    if any(row.state == "failed" for row in rows):
        raise SystemExit(ExitCode.FAILED)


async def _backfill(session: Session, wanted: list[MemorySource]) -> list[BackfillRow]:
    async with engine_for(session, "donna backfill") as engine:
        with shown_progress(engine):
            return [await engine.memory.backfill(source) for source in wanted]


def _line(row: BackfillRow) -> str:
    return f"{row.source}: {f'failed: {row.message}' if row.state == 'failed' else f'{row.documents} documents'}"
