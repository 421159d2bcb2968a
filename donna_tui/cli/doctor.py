"""Implement `donna doctor`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit
from donna_tui.cli.session import Session, find_session
from donna_tui.ops.finding import Finding
from donna_tui.platform.paths import app_paths

app = new_app()

_SIGNS = {"ok": "✓", "warn": "!", "fail": "✗"}


@app.command("doctor")
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Set a damaged index aside and build a new one.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Examine the installation, the model, the vault and the index."""
    from donna_tui.ops.doctor import examine

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
    from donna_tui.ops.doctor import repair
    from donna_tui.ops.promises import restore_orphans

    if any(each.id == "leftovers" for each in findings):
        yield from restore_orphans(session.space, session.config)
    if any(each.state == "fail" and each.id != "vault" for each in findings):
        yield repair(session.space)


def _finding_lines(findings: list[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{_SIGNS[each.state]} {each.id}: {each.message}"
        if each.hint:
            yield f"    {each.hint}"
