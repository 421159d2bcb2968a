"""`donna chat`: conversations from files."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from donna_tui.cli.output import ExitCode, emit, say
from donna_tui.cli.progress import WIDTH, shown_progress
from donna_tui.cli.remember import FOLLOWS, memory_fields, memory_lines
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.memories import ImportReport, MemoryChunk, SessionRow
from donna_tui.memory.archives import size_of
from donna_tui.memory.listing import iso_day
from donna_tui.text.numbers import plural

SHOWN_LINES = 20


def run_import(file: str, user: str, space: str | None, *, sensitive: bool, as_json: bool) -> None:
    """Print what came in; exit with 4 if lines were malformed, with 5 if nothing could be used."""
    report, indexed = run(_import(open_session(space), Path(file).expanduser(), user, sensitive=sensitive))
    emit(_fields(file, report, indexed=indexed), as_json=as_json, human=lambda: _told(report))
    for bad in report.bad[:SHOWN_LINES]:
        say(f"donna: line {bad.number}: {bad.why}")
    if report.malformed > SHOWN_LINES:
        say(f"donna: {report.malformed - SHOWN_LINES} more lines could not be used")
    if not indexed:
        say(f"donna: the chats are stored; {FOLLOWS}")
    if report.malformed:
        raise SystemExit(ExitCode.DEGRADED if report.sessions else ExitCode.FAILED)


async def _import(session: Session, file: Path, user: str, *, sensitive: bool) -> tuple[ImportReport, bool]:
    async with engine_for(session, "donna chat import") as engine:
        with _progress(file) as on_progress:
            report = await engine.memory.import_chat(file, user=user, sensitive=sensitive, on_progress=on_progress)
        with shown_progress(engine):
            return report, await engine.memory.settle()


@contextlib.contextmanager
def _progress(file: Path) -> Iterator[Callable[[tuple[int, int]], None]]:
    """One line on a terminal that is redrawn: how much of the file is stored."""
    size = size_of(file)
    if not (sys.stderr.isatty() and size):
        yield lambda _: None
        return

    def show(progress: tuple[int, int]) -> None:
        read, turns = progress
        bar = "█" * int(min(1.0, read / size) * WIDTH)
        sys.stderr.write(f"\r\x1b[2K{turns:,} turns ▕{bar:<{WIDTH}}▏ {min(1.0, read / size):.0%}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


def _fields(file: str, report: ImportReport, *, indexed: bool) -> dict[str, Any]:
    problems = [{"id": f"line {bad.number}", "line": bad.number, "message": bad.why} for bad in report.bad]
    counts = {name: value for name, value in asdict(report).items() if name != "bad"}
    return {"file": file, **counts, "indexed": indexed, "problems": problems}


def _told(report: ImportReport) -> Iterator[str]:
    yield f"{plural(report.turns, 'turn')} of {plural(report.sessions, 'conversation')} ({report.format})"
    if report.known:
        yield f"{report.known:,} were there before"
    if report.left_out:
        yield f"{report.left_out:,} left out: output of tools, other branches, messages without text"


def run_list(space: str | None, *, as_json: bool) -> None:
    """Print the conversations; exit with 1 if there are none."""
    sessions = run(_sessions(open_session(space)))
    rows = [{"id": f"chat:{session.name}", **asdict(session)} for session in sessions]
    emit({"count": len(rows), "sessions": rows}, as_json=as_json, human=lambda: map(_session_line, sessions))
    if not sessions:
        raise SystemExit(ExitCode.NOTHING_FOUND)


async def _sessions(session: Session) -> tuple[SessionRow, ...]:
    async with engine_for(session, "donna chat list") as engine:
        return await engine.memory.sessions()


def _session_line(session: SessionRow) -> str:
    summed = "  (summed up)" if session.summary else ""
    day = iso_day(session.started_at or 0.0)
    return f"{day:10}  {session.turns:>5}  {session.name}  {session.title}{summed}"


def run_compress(space: str | None, *, as_json: bool) -> None:
    """Print the summaries; exit with 1 if no conversation was to be summed up."""
    summaries = run(_compress(open_session(space)))
    emit(
        {"count": len(summaries), "memories": [memory_fields(memory) for memory in summaries]},
        as_json=as_json,
        human=lambda: (line for memory in summaries for line in memory_lines(memory)),
    )
    if not summaries:
        say("donna: there are not more conversations than recall.compression_threshold that are not summed up")
        raise SystemExit(ExitCode.NOTHING_FOUND)


async def _compress(session: Session) -> tuple[MemoryChunk, ...]:
    async with engine_for(session, "donna chat compress") as engine:
        summaries = await engine.memory.compress()
        with shown_progress(engine):
            await engine.memory.settle()
        return summaries


def run_expand(name: str, space: str | None, *, as_json: bool) -> None:
    """Take a summary back; exit with 1 if there is none."""
    changed = run(_expand(open_session(space), name.removeprefix("chat:")))
    told = f"{name}: {'its turns are recalled again' if changed else 'it is not summed up'}"
    emit({"id": name, "changed": changed}, as_json=as_json, human=lambda: [told])
    if not changed:
        raise SystemExit(ExitCode.NOTHING_FOUND)


async def _expand(session: Session, name: str) -> bool:
    async with engine_for(session, "donna chat expand") as engine:
        changed = await engine.memory.expand(name)
        await engine.memory.settle()
        return changed
