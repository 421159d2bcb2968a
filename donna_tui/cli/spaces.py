"""`donna spaces`: every vault and every agent's memory that Donna knows, and how each is."""

from __future__ import annotations

import os
from collections.abc import Iterator

from donna_tui.cli.output import emit
from donna_tui.config.load import load_trusted
from donna_tui.paths import app_paths
from donna_tui.tools.spaces import SpaceRow, list_spaces


def run_spaces(*, as_json: bool) -> None:
    """Print the list. Raises ConfigError."""
    rows = list_spaces(load_trusted().config, app_paths(os.environ))
    emit({"spaces": [row.fields() for row in rows]}, as_json=as_json, human=lambda: _lines(rows))


def _lines(rows: list[SpaceRow]) -> Iterator[str]:
    width = max((len(row.id) for row in rows), default=0)
    for row in rows:
        yield f"{row.id:<{width}}  {row.kind:<5}  {_state(row)}  {row.root}"
    if not rows:
        yield "No space yet: open a vault with donna ~/notes, or name agents in your settings."


def _state(row: SpaceRow) -> str:
    if row.state == "indexed":
        return f"{row.notes} notes" + (f", kept by {row.keeper}" if row.keeper else "")
    return f"not indexed ({row.message})" if row.message else "not indexed yet"
