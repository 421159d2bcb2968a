"""Days on the command line."""

from __future__ import annotations

import datetime

from donna_tui.errors import DonnaError, Reason


def named_day(text: str) -> datetime.date:
    """A day as it is typed, in ISO 8601. Raises DonnaError."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise DonnaError(Reason.USAGE, f"{text} is not a day", hint="write it as 2026-03-12") from None
