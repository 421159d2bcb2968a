"""`donna status`: how far the index is, and what needs attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from donna_tui.cli.output import ExitCode, emit, say
from donna_tui.cli.session import open_session
from donna_tui.config.agentsettings import AgentEmbedding, AgentSettings
from donna_tui.tools.status import SpaceReport, read_report

SHOWN = 20


def run_status(space: str | None, *, as_json: bool) -> None:
    """Print the report; exit with 4 where there is no model, the vault is missing or the memory of an agent is not
    indexed. Raises DatabaseError.
    """
    session = open_session(space)
    report = read_report(session.space, session.paths)
    config = session.config
    if isinstance(config.embedding, AgentEmbedding) and config.embedding.first != "local":
        report = replace(report, model="on a server")
    why = config.not_indexed if isinstance(config, AgentSettings) else ""
    emit({**report.fields(), "indexed": not why}, as_json=as_json, human=lambda: _lines(report))
    if why:
        say(f"donna: the memory of {session.space.agent} is not indexed: {why}")
        raise SystemExit(ExitCode.DEGRADED)
    if report.model in ("missing", "damaged") or not session.space.root.is_dir():
        raise SystemExit(ExitCode.DEGRADED)


def _lines(report: SpaceReport) -> Iterator[str]:
    coverage = report.coverage
    there = "" if report.space.root.is_dir() else "  (not there now)"
    yield f"{report.space.name}: {report.space.root}{there}"
    yield f"{coverage.text} of {coverage.notes} notes searchable by keyword, {coverage.vectors} by meaning"
    yield f"{coverage.chunks_embedded} of {coverage.chunks} passages embedded"
    yield f"{coverage.sensitive} notes are local only"
    yield f"index: {report.database} ({report.database_bytes / 1e6:.1f} MB, {report.vector_engine or 'not made yet'})"
    yield f"model: {report.model}{f', {report.embedding}' if report.embedding else ''}"
    yield f"kept up to date by: {report.watcher or 'nobody now; every search looks first'}"
    for reason, number in sorted(coverage.skipped.items()):
        yield f"skipped: {number} ({reason})"
    for problem in report.problems[:SHOWN]:
        yield f"! {problem.path}: {problem.message}"
    if len(report.problems) > SHOWN:
        yield f"… and {len(report.problems) - SHOWN} more: donna status --json"
