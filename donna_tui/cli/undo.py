"""`donna undo` and `donna redo`: what exactly would change, a question, and one step."""

from __future__ import annotations

import sys

from donna_tui.cli.history import diff_lines
from donna_tui.cli.output import emit_lines, say
from donna_tui.cli.write import carry_out, confirmed, open_writer_of
from donna_tui.errors import DonnaError, Reason
from donna_tui.safety.terminal import clean_line
from donna_tui.vault.changes import OperationKind


def run_undo(kind: OperationKind, n: int, space: str | None, *, agreed: bool, as_json: bool) -> None:
    """Undo or redo `n` operations as one. Raises DonnaError if nobody agreed."""
    writer = open_writer_of(space)
    plan = writer.restorer.undo(n) if kind is OperationKind.UNDO else writer.restorer.redo(n)
    if not agreed:
        if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise DonnaError(
                Reason.USAGE,
                f"{plan.subject}: not done, since nobody can be asked",
                hint="--yes does it without asking",
            )
        emit_lines(clean_line(line) for change in plan.changes for line in diff_lines(change))
        if not confirmed(f"{clean_line(plan.subject)}? [y/N] "):
            say("Nothing was changed.")
            return
    carry_out(writer, lambda: plan, agreed=False, as_json=as_json)
