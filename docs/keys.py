"""Render the reference of the keys."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from donna_tui.tui.lib.keymap import KeyRow, keys_table


def keys_markdown() -> str:
    """Render a section for each context, with the keys of the footer before the others."""
    sections = []
    for where, group in groupby(keys_table(), key=lambda row: row.where):
        tables = [_table(part) for _, part in groupby(group, key=lambda row: row.common)]
        sections.append(f"## {where[0].upper()}{where[1:]}\n\n" + "\nLess often:\n\n".join(tables))
    return "\n".join(sections)


def _table(rows: Iterable[KeyRow]) -> str:
    lines = ["| Keys | Does | Action |", "|---|---|---|"]
    for row in rows:
        names = " ".join(f"`{name}`" for name in row.keys.split(" "))
        lines.append(f"| {names} | **{row.title}**: {row.help} | `{row.id}` |")
    return "\n".join(lines) + "\n"
