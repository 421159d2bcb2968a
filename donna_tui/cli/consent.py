"""Ask for consent before a change, after showing its diff."""

from __future__ import annotations

import sys

from donna_tui.cli.history import diff_lines
from donna_tui.cli.output import emit_lines
from donna_tui.cli.write import confirmed
from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.write.changes import Plan


def agreed_to(plan: Plan, *, agreed: bool, as_json: bool) -> bool:
    """Ask whether to apply a plan. Raises DonnaError if `agreed` is False and there is no terminal to ask on."""
    if agreed:
        return True
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise DonnaError(
            Reason.USAGE,
            f"{plan.subject}: needs confirmation: add --yes",
            hint="--yes does it without asking",
        )
    emit_lines(clean_line(line) for change in plan.changes for line in diff_lines(change))
    return confirmed(f"{clean_line(plan.subject)}? [y/N] ")
