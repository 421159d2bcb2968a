"""Implement `donna conflicts`: list and resolve the conflict copies of sync programs."""

from __future__ import annotations

from donna_tui.cli.consent import agreed_to
from donna_tui.cli.output import ExitCode, emit, print_message
from donna_tui.cli.write import carry_out, open_writer_of
from donna_tui.vault.conflicts import Keep


def run_list(space: str | None, *, as_json: bool) -> None:
    """Print the conflict copies; exit with 1 if there are none."""
    copies = open_writer_of(space).resolver.copies()
    rows = [{"id": copy, "path": copy, "note": note} for copy, note in copies]
    emit({"conflicts": rows}, as_json=as_json, human=lambda: [f"{copy}  of  {note}" for copy, note in copies])
    if not rows:
        print_message("no conflict copies")
        raise SystemExit(ExitCode.NOTHING_FOUND)


def run_resolve(path: str, keep: Keep, space: str | None, *, agreed: bool, as_json: bool) -> None:
    """Resolve a conflict. Raises DonnaError without consent."""
    writer = open_writer_of(space)
    plan = writer.resolver.plan(writer.resolver.conflict(path), keep)
    if not agreed_to(plan, agreed=agreed, as_json=as_json):
        print_message("Nothing was changed.")
        return
    carry_out(writer, lambda: plan, agreed=agreed, as_json=as_json)
