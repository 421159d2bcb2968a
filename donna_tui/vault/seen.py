"""Which version of a note a caller has seen: the check that comes before every change."""

from __future__ import annotations

from collections.abc import Callable

from donna_tui.vault.changes import etag_of

Seen = Callable[[bytes | None], bool]
"""Whether these bytes (None: no note) are what the caller has seen."""


def expecting(etag: str | None) -> Seen:
    """A check against an etag; None means that there must be no such note yet."""
    return lambda found: (None if found is None else etag_of(found)) == etag


def whatever(_: bytes | None) -> bool:
    """The caller does not mind what is there."""
    return True
