"""Implement `donna status`, `spaces`, `doctor`, `why-not`, `get` and `index`."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from donna_tui.cli.output import ExitCode, emit, print_message, shown_progress
from donna_tui.cli.search import SearchOptions, question_of, update_index
from donna_tui.cli.session import Session, engine_for, find_session, open_session, run
from donna_tui.config.agent_settings import AgentEmbedding, AgentSettings
from donna_tui.config.load import load_trusted
from donna_tui.ops.doctor import examine
from donna_tui.ops.doctor import repair as set_index_aside
from donna_tui.ops.finding import Finding
from donna_tui.ops.hits import why_not_fields, why_not_lines
from donna_tui.ops.promises import restore_orphans
from donna_tui.ops.status import SpaceReport, SpaceRow, list_spaces, read_report
from donna_tui.platform.paths import app_paths
from donna_tui.safety.classify import Sensitivity
from donna_tui.search.why_not import WhyNot
from donna_tui.text.lines import each_line
from donna_tui.text.markdown import split_sections
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.events import ModelPhase
from donna_tui.types.search import SearchRequest
from donna_tui.types.status import Status
from donna_tui.vault.client import VaultClient, VaultNote
from donna_tui.vault.open import indexed_client, open_writer

SHOWN = 20


def run_status(space: str | None, *, as_json: bool) -> None:
    """Print the status report.

    Exits with 4 if there is no model, the vault is missing or the memory of an agent is not indexed. Raises
    DatabaseError.
    """
    session = open_session(space)
    report = read_report(session.space, session.paths)
    config = session.config
    if isinstance(config.embedding, AgentEmbedding) and config.embedding.first != "local":
        report = replace(report, model="on a server")
    why = config.not_indexed if isinstance(config, AgentSettings) else ""
    emit({**report.fields(), "indexed": not why}, as_json=as_json, human=lambda: _status_lines(report))
    if why:
        print_message(f"donna: the memory of {session.space.agent} is not indexed: {why}")
        raise SystemExit(ExitCode.DEGRADED)
    if report.model in ("missing", "damaged") or not session.space.root.is_dir():
        raise SystemExit(ExitCode.DEGRADED)


def _status_lines(report: SpaceReport) -> Iterator[str]:
    coverage = report.coverage
    there = "" if report.space.root.is_dir() else "  (missing)"
    yield f"{report.space.name}: {report.space.root}{there}"
    yield f"{coverage.text} of {coverage.notes} notes searchable by keyword, {coverage.vectors} by meaning"
    yield f"{coverage.chunks_embedded} of {coverage.chunks} passages embedded"
    yield f"{coverage.sensitive} notes are local only"
    engine = report.vector_engine or "not created yet"
    yield f"index: {report.database} ({report.database_bytes / 1e6:.1f} MB, {engine})"
    yield f"model: {report.model}{f', {report.embedding}' if report.embedding else ''}"
    yield f"index maintained by: {report.watcher or 'no running Donna; each search updates the index first'}"
    for reason, number in sorted(coverage.skipped.items()):
        yield f"skipped: {number} ({reason})"
    for problem in report.problems[:SHOWN]:
        yield f"! {problem.path}: {problem.message}"
    if len(report.problems) > SHOWN:
        yield f"… and {len(report.problems) - SHOWN} more: donna status --json"


def run_spaces(*, as_json: bool) -> None:
    """Print the list of spaces. Raises ConfigError."""
    rows = list_spaces(load_trusted().config, app_paths(os.environ))
    emit({"spaces": [row.fields() for row in rows]}, as_json=as_json, human=lambda: _space_lines(rows))


def _space_lines(rows: list[SpaceRow]) -> Iterator[str]:
    width = max((len(row.id) for row in rows), default=0)
    for row in rows:
        yield f"{row.id:<{width}}  {row.kind:<5}  {_state(row)}  {row.root}"
    if not rows:
        yield "No space yet: open a vault with donna ~/notes, or name agents in your settings."


def _state(row: SpaceRow) -> str:
    if row.state == "indexed":
        return f"{row.notes} notes" + (f", maintained by {row.maintainer}" if row.maintainer else "")
    return f"not indexed ({row.message})" if row.message else "not indexed yet"


_SIGNS = {"ok": "✓", "warn": "!", "fail": "✗"}


def run_doctor(space: str | None, *, repair: bool, as_json: bool) -> None:
    """Print the findings; exit with 4 for warnings and 5 for failures. Raises SpaceError and ConfigError."""
    session = find_session(space)
    known = session.space if session else None
    findings = examine(known, session.config if session else None, app_paths(os.environ))
    repairs = list(_repair(session, findings)) if repair and session else []
    findings += repairs
    emit(
        {"findings": [asdict(each) for each in findings], "problems": [asdict(f) for f in findings if f.state != "ok"]},
        as_json=as_json,
        human=lambda: _finding_lines(findings),
    )
    if repairs:
        raise SystemExit(ExitCode.FINE if all(each.state == "ok" for each in repairs) else ExitCode.FAILED)
    if any(each.state == "fail" for each in findings):
        raise SystemExit(ExitCode.FAILED)
    if any(each.state == "warn" for each in findings):
        raise SystemExit(ExitCode.DEGRADED)


def _repair(session: Session, findings: list[Finding]) -> Iterator[Finding]:
    """Restore text from files of unfinished writes, and move a damaged index aside."""
    if any(each.id == "leftovers" for each in findings):
        yield from restore_orphans(session.space, session.config)
    if any(each.state == "fail" and each.id != "vault" for each in findings):
        yield set_index_aside(session.space)


def _finding_lines(findings: list[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{_SIGNS[each.state]} {each.id}: {each.message}"
        if each.hint:
            yield f"    {each.hint}"


def run_why_not(path: str, query: str, asked: SearchOptions, space: str | None, *, as_json: bool) -> None:
    """Print the explanation. Raises DonnaError without a question."""
    session = open_session(space)
    request = question_of(query, asked, session)
    found = run(_explain(session, path, request))
    emit(why_not_fields(found, query), as_json=as_json, human=lambda: why_not_lines(found))


async def _explain(session: Session, path: str, request: SearchRequest) -> WhyNot:
    async with engine_for(session, "donna why-not") as engine:
        await update_index(engine)
        return await engine.why_not(path, request)


def run_get(path: str, start: int, count: int | None, space: str | None, *, as_json: bool) -> None:
    """Print lines of a note. Raises VaultReadError if it cannot or must not be read."""
    note = _read(open_session(space), path.removeprefix("vault:"))
    lines = [note.text[low:high] for low, high, _ in each_line(note.text)]
    shown = lines[start - 1 : None if count is None else start - 1 + count]
    emit(_note_fields(note, start, shown, len(lines)), as_json=as_json, human=lambda: shown)


def _read(session: Session, path: str) -> VaultNote:
    try:
        return _client(session).read(path)
    except VaultReadError as error:
        if error.reason is not Reason.MISSING:
            raise
        became = ""
        with contextlib.suppress(DonnaError):
            became = open_writer(session.config, session.space).history.whereabouts(path)
        message = f"this note no longer exists: {path}" if became else error.message
        raise VaultReadError(error.reason, message, hint=became or error.hint) from error


def _client(session: Session) -> VaultClient:
    return indexed_client(session.config, session.space.root)


def _note_fields(note: VaultNote, start: int, shown: list[str], total: int) -> dict[str, Any]:
    sections = split_sections(note.text, note.body_start)
    return {
        "path": note.path,
        "title": note.title,
        "text": "\n".join(shown),
        "start_line": start,
        "end_line": start + len(shown) - 1,
        "total_lines": total,
        "etag": note.etag,
        "mtime_ns": str(note.mtime_ns),
        "size": note.size,
        "sensitive": note.sensitivity is not Sensitivity.PUBLIC,
        "frontmatter": note.frontmatter.data,
        "problem": note.frontmatter.problem,
        "sections": [
            {"heading_path": list(each.heading_path), "start_line": each.start_line, "end_line": each.end_line}
            for each in sections
        ],
    }


def run_index(space: str | None, *, full: bool, as_json: bool) -> None:
    """Update the index and print the result; exit with 4 if it is incomplete."""
    session = open_session(space)
    started = time.perf_counter()
    status, read_only = run(_index(session, full=full))
    seconds = time.perf_counter() - started
    emit(_index_fields(status, seconds), as_json=as_json, human=lambda: _index_lines(status, seconds))
    if read_only:
        print_message(f"donna: {status.state_detail}")
    for problem in status.problems:
        if not problem.path:
            print_message(f"donna: {problem.message}", *([f"       {problem.hint}"] if problem.hint else []))
    if status.model_phase is not ModelPhase.READY or any(
        p.reason is Reason.MASS_DISAPPEARANCE for p in status.problems
    ):
        raise SystemExit(ExitCode.DEGRADED)


async def _index(session: Session, *, full: bool) -> tuple[Status, bool]:
    async with engine_for(session, "donna index", by_meaning=False) as engine:
        with shown_progress(engine):
            await engine.sync(full=full)
        return engine.status(), engine.read_only


def _index_fields(status: Status, seconds: float) -> dict[str, Any]:
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


def _index_lines(status: Status, seconds: float) -> list[str]:
    coverage, skipped = status.coverage, sum(status.coverage.skipped.values())
    lines = [
        f"{coverage.text} of {coverage.notes} notes, {coverage.chunks} passages,"
        f" {coverage.chunks_embedded} searchable by meaning",
        f"{status.embedded_this_run} embedded now, in {seconds:.1f} s",
    ]
    return [*lines, f"{skipped} files skipped: donna status shows why"] if skipped else lines
