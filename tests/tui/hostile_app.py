"""Run Donna on the hostile scenario in this terminal: `python -m tests.tui.hostile_app [first_run]`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.lib.external import External
from donna_tui.tui.shell.first_run import FirstRun
from donna_tui.types.errors import DonnaError, Reason
from tests.tui import draft_scenarios, hostile
from tests.tui.fake_backend import FakeBackend


def backend() -> FakeBackend:
    """Return the hostile vault, with hostile drafts and meetings; every retry fails with a hostile message."""
    made = draft_scenarios.hostile_backend()
    made.fail("retry", DonnaError(Reason.INTERNAL, hostile.EVERYTHING, hint=hostile.EVERYTHING))
    return made


def offer() -> FirstRun:
    """Return vaults with hostile names and paths."""
    named = (text.replace("\0", "") for text in hostile.ALL.values())
    return FirstRun(tuple(KnownVault(text, Path("/home") / text, text) for text in named))


if __name__ == "__main__":
    first_run = offer() if "first_run" in sys.argv else None
    with pytest.MonkeyPatch.context() as patch:
        draft_scenarios.stop_the_clock(patch)
        DonnaApp(
            lambda choice: backend(), space_name=hostile.EVERYTHING, first_run=first_run, external=External(environ={})
        ).run()
