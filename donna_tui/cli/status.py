"""Implement `donna status`, `spaces` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, print_message, require_found
from donna_tui.cli.session import Session, find_session, open_session
from donna_tui.config.agent_settings import AgentEmbedding, AgentSettings
from donna_tui.config.load import load_trusted
from donna_tui.ops.status import SpaceReport, SpaceRow, list_spaces, read_report
from donna_tui.platform.paths import app_paths
from donna_tui.text.plural import plural

if TYPE_CHECKING:
    from donna_tui.ops.doctor import Finding

app = new_app()

SHOWN = 20


@app.command("status")
def status(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Show the progress of the index, and its problems."""
    session = open_session(space)
    report = read_report(session.space, session.paths, count_missing=True)
    config = session.config
    if isinstance(config.embedding, AgentEmbedding) and config.embedding.first != "local":
        report = replace(report, model="on a server")
    why = config.not_indexed if isinstance(config, AgentSettings) else ""
    emit({**report.fields(), "indexed": not why}, _status_lines(report), as_json=as_json)
    if why:
        print_message(f"donna: the memory of {session.space.agent} is not indexed: {why}")
        raise SystemExit(ExitCode.DEGRADED)
    if report.model in ("missing", "damaged") or not session.space.root.is_dir():
        raise SystemExit(ExitCode.DEGRADED)


def _status_lines(report: SpaceReport) -> Iterator[str]:
    coverage = report.coverage
    there = "" if report.space.root.is_dir() else "  (missing)"
    yield f"{report.space.name}: {report.space.root}{there}"
    by_keyword = f"{coverage.text:,} of {plural(coverage.notes, 'note')} in keyword search"
    yield f"{by_keyword}, {coverage.vectors:,} in semantic search"
    yield f"{coverage.chunks_embedded:,} of {plural(coverage.chunks, 'passage')} embedded"
    yield f"{plural(coverage.sensitive, 'note is', 'notes are')} private"
    if coverage.drafts:
        yield f"{plural(coverage.drafts, 'note is a draft', 'notes are drafts')}, which only in:draft finds"
    engine = report.vector_engine or "not created yet"
    yield f"index: {report.database} ({report.database_bytes / 1e6:.1f} MB, {engine})"
    yield f"model: {report.model}{f', {report.embedding}' if report.embedding else ''}"
    yield f"index maintained by: {report.watcher or 'Donna is not running; each search updates the index first'}"
    if report.missing:
        gone = plural(report.missing, "indexed note is", "indexed notes are")
        yield f"! {gone} missing from the vault: run donna index; if many are missing, it says how to confirm that"
    for reason, number in sorted(coverage.skipped.items()):
        yield f"left out: {number} ({reason})"
    for problem in report.problems[:SHOWN]:
        yield f"! {problem.path}: {problem.message}"
    if len(report.problems) > SHOWN:
        yield f"… and {len(report.problems) - SHOWN} more: donna status --json"


@app.command("spaces")
def spaces(as_json: AsJson = False) -> None:
    """List vaults and memories of agents, each with its state."""
    rows = list_spaces(load_trusted().config, app_paths())
    emit({"spaces": [asdict(row) for row in rows]}, _space_lines(rows), as_json=as_json)
    require_found(rows, "no spaces yet: open a vault with donna ~/notes, or name agents in your settings")


def _space_lines(rows: list[SpaceRow]) -> Iterator[str]:
    width = max((len(row.id) for row in rows), default=0)
    for row in rows:
        yield f"{row.id:<{width}}  {row.kind:<5}  {_state(row)}  {row.root}"


def _state(row: SpaceRow) -> str:
    if row.state == "indexed":
        return plural(row.notes, "note") + (f", maintained by {row.maintainer}" if row.maintainer else "")
    return f"not indexed ({row.message})" if row.message else "not indexed yet"


_SIGNS = {"ok": "✓", "warn": "!", "fail": "✗"}


@app.command("doctor")
def doctor(
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Restore text from interrupted writes, and set a damaged index aside; the next start rebuilds it.",
        ),
    ] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Check the installation, the model, the vault and the index."""
    from donna_tui.ops.doctor import examine

    session = find_session(space)
    findings = examine(session.space if session else None, session.config if session else None, app_paths())
    repairs = list(_repair(session, findings)) if repair and session else []
    findings += repairs

    def lines() -> Iterator[str]:
        for finding in findings:
            yield f"{_SIGNS[finding.state]} {finding.id}: {finding.message}"
            if finding.hint:
                yield f"    {finding.hint}"

    problems = [asdict(each) for each in findings if each.state != "ok"]
    emit({"findings": [asdict(each) for each in findings], "problems": problems}, lines(), as_json=as_json)
    if repairs:
        raise SystemExit(ExitCode.FINE if all(each.state == "ok" for each in repairs) else ExitCode.FAILED)
    if any(each.state == "fail" for each in findings):
        raise SystemExit(ExitCode.FAILED)
    if any(each.state == "warn" for each in findings):
        raise SystemExit(ExitCode.DEGRADED)


def _repair(session: Session, findings: list[Finding]) -> Iterator[Finding]:
    """Restore text from files of unfinished writes, and move a damaged index aside."""
    from donna_tui.ops.doctor import repair, restore_orphans

    if any(finding.id == "leftovers" for finding in findings):
        yield from restore_orphans(session.space, session.config)
    if any(finding.state == "fail" and finding.id != "vault" for finding in findings):
        yield repair(session.space)
