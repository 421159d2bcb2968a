"""Implement `donna keys`: print every action with its configured keys."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, new_app
from donna_tui.cli.output import emit
from donna_tui.config.load import load_config
from donna_tui.tui.lib.keymap import keys_table, load_keymap

app = new_app()


@app.command("keys")
def keys(
    check: Annotated[bool, typer.Option("--check", help="Only check the configured keys.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print every action with its keys."""
    ui = load_config().config.ui
    keymap = load_keymap(ui.keymap, ui.keys)
    rows = keys_table(keymap.keys)
    width = max(len(row.keys) for row in rows)
    lines = [f"{row.where:<10}  {row.keys:<{width}}  {row.title}  ({row.id})" for row in rows]
    if check:
        lines = [f"{len(rows)} actions, no problems", *keymap.warnings]
    emit({"keys": [asdict(row) for row in rows], "warnings": list(keymap.warnings)}, lines, as_json=as_json)
