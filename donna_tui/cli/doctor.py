"""`donna doctor`: examine everything, and repair the index if asked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict

from donna_tui.cli.output import ExitCode, emit
from donna_tui.cli.session import find_session
from donna_tui.paths import app_paths
from donna_tui.tools.doctor import examine
from donna_tui.tools.doctor import repair as set_index_aside
from donna_tui.tools.finding import Finding

_SIGNS = {"ok": "✓", "warn": "!", "fail": "✗"}


def run_doctor(space: str | None, *, repair: bool, as_json: bool) -> None:
    """Print the findings; exit with 4 for warnings and 5 for failures. Raises SpaceError and ConfigError."""
    session = find_session(space)
    known = session.space if session else None
    findings = examine(known, session.config if session else None, app_paths(os.environ))
    if repair and known and any(each.state == "fail" and each.id != "vault" for each in findings):
        findings.append(set_index_aside(known))
    emit(
        {"findings": [asdict(each) for each in findings], "problems": [asdict(f) for f in findings if f.state != "ok"]},
        as_json=as_json,
        human=lambda: _lines(findings),
    )
    if findings[-1].id == "repair":
        raise SystemExit(ExitCode.FINE if findings[-1].state == "ok" else ExitCode.FAILED)
    if any(each.state == "fail" for each in findings):
        raise SystemExit(ExitCode.FAILED)
    if any(each.state == "warn" for each in findings):
        raise SystemExit(ExitCode.DEGRADED)


def _lines(findings: list[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{_SIGNS[each.state]} {each.id}: {each.message}"
        if each.hint:
            yield f"    {each.hint}"
