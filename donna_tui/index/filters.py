"""Turns `Filters` into SQL conditions that act inside the keyword search and inside the nearest-neighbour search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.results import Filters

_HAS_ALL_TAGS = """NOT EXISTS (
    SELECT 1 FROM json_each(?) wanted WHERE NOT EXISTS (
        SELECT 1 FROM json_each(d.metadata_json, '$.tags') tag
        WHERE lower(tag.value) = lower(wanted.value)
           OR (lower(tag.value) >= lower(wanted.value) || '/' AND lower(tag.value) < lower(wanted.value) || '0')))"""
"""One condition for any number of tags, since SQLite limits how deep a condition may be. A tag holds those below it."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Filters plus what the query itself demands, as FTS5 expressions: phrases that must occur, words that must not."""

    filters: Filters
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    @property
    def simple(self) -> bool:
        """Whether the columns of the vector table alone can express this scope."""
        plain = Filters(user_id=self.filters.user_id, sources=self.filters.sources, sensitive=self.filters.sensitive)
        return self.filters == plain and not self.required and not self.forbidden


def in_scope(database: Database, scope: Scope, ids: Sequence[int] | None = None) -> list[int]:
    """The chunks of a scope, by integer key: those among `ids`, in their order, or all."""
    where, parameters = conditions(scope)
    if ids is None:
        source, given = "memory_chunks c", []
    else:  # a cross join keeps SQLite from walking through all chunks instead
        source, given = "json_each(?) asked CROSS JOIN memory_chunks c ON c.id = asked.value", [json.dumps(ids)]
    rows = database.rows(
        f"SELECT c.id FROM {source} JOIN memory_documents d ON d.id = c.document_id WHERE {where}",  # noqa: S608
        [*given, *parameters],
    )
    return [each for (each,) in rows]


def conditions(scope: Scope) -> tuple[str, list[object]]:
    """SQL over `memory_chunks c JOIN memory_documents d`, with its parameters."""
    filters = scope.filters
    parts: list[tuple[str, list[object]]] = [
        ("c.user_id = ?", [filters.user_id]),
        ("d.deleted_at IS NULL", []),
    ]
    if filters.sources:
        parts.append((f"d.source_type IN ({_marks(filters.sources)})", [*filters.sources]))
    if filters.sensitive is not None:
        parts.append(("d.sensitive = ?", [int(filters.sensitive)]))
    parts += _path_conditions(filters) + _content_conditions(filters)
    match = "c.id {} (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?)"
    if scope.required:
        parts.append((match.format("IN"), [" AND ".join(scope.required)]))
    if scope.forbidden:
        parts.append((match.format("NOT IN"), [" OR ".join(scope.forbidden)]))
    return " AND ".join(sql for sql, _ in parts), [value for _, values in parts for value in values]


def _path_conditions(filters: Filters) -> list[tuple[str, list[object]]]:
    parts: list[tuple[str, list[object]]] = []
    prefix = filters.path_prefix.strip("/")
    if prefix:
        # '0' is the character after '/': the range holds what lies below the folder, and nothing of its namesakes.
        below = "(d.source_id = ? OR (d.source_id >= ? AND d.source_id < ?))"
        parts.append((below, [prefix, f"{prefix}/", f"{prefix}0"]))
    if filters.within:
        parts.append((f"d.source_id IN ({_marks(filters.within)})", [*filters.within]))
    if filters.exclude:
        parts.append((f"d.source_id NOT IN ({_marks(filters.exclude)})", [*filters.exclude]))
    return parts


def _content_conditions(filters: Filters) -> list[tuple[str, list[object]]]:
    parts: list[tuple[str, list[object]]] = []
    if filters.note_type:
        parts.append(("d.note_type = ? COLLATE NOCASE", [filters.note_type]))
    if filters.after is not None:
        parts.append(("d.modified_at >= ?", [filters.after]))
    if filters.before is not None:
        parts.append(("d.modified_at < ?", [filters.before]))
    if filters.tags:
        parts.append((_HAS_ALL_TAGS, [json.dumps([tag.lstrip("#") for tag in filters.tags])]))
    return parts


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))
