"""Turns Donna's own errors into a message and an exit code, at one place for all verbs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from donna_tui.cli.output import fail
from donna_tui.errors import DonnaError


@contextlib.contextmanager
def guarded(as_json: bool) -> Iterator[None]:
    """Report a DonnaError raised inside and leave with its exit code."""
    try:
        yield
    except DonnaError as error:
        fail(error, as_json)
