"""Fix what a drawing must not depend on: the clock, the time zone, the terminal, the user's settings."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.tui.conftest import quick as quick


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch, utc: None) -> None:
    """Use UTC, colours whatever the environment says, and cursors that do not blink."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Input, "_restart_blink", lambda self: None)
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
