"""`donna undo` and `donna redo`: what exactly would change, a question, and one step."""

from __future__ import annotations

from donna_tui.cli.consent import agreed_to
from donna_tui.cli.output import say
from donna_tui.cli.write import carry_out, open_writer_of
from donna_tui.vault.changes import OperationKind


def run_undo(kind: OperationKind, n: int, space: str | None, *, agreed: bool, as_json: bool) -> None:
    """Undo or redo `n` operations as one. Raises DonnaError if nobody agreed."""
    writer = open_writer_of(space)
    plan = writer.restorer.undo(n) if kind is OperationKind.UNDO else writer.restorer.redo(n)
    if not agreed_to(plan, agreed=agreed, as_json=as_json):
        say("Nothing was changed.")
        return
    carry_out(writer, lambda: plan, agreed=False, as_json=as_json)
