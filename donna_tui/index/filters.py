"""Compile `Filters` into SQL conditions for the keyword search and the nearest-neighbour search."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from donna_tui.index.database import Database
from donna_tui.index.sampling import spread
from donna_tui.text.words import segments, spaced
from donna_tui.types.search import DRAFTS, Filters, MemorySource

_HAS_ALL_TAGS = """NOT EXISTS (
    SELECT 1 FROM json_each(?) wanted WHERE NOT EXISTS (
        SELECT 1 FROM json_each(d.metadata_json, '$.tags') tag
        WHERE lower(tag.value) = lower(wanted.value)
           OR (lower(tag.value) >= lower(wanted.value) || '/' AND lower(tag.value) < lower(wanted.value) || '0')))"""
"""One condition for any number of tags, because SQLite limits the depth of expressions. A tag matches its subtags."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Filters plus the conditions of the query itself: the phrases that it requires, and what it excludes."""

    filters: Filters
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def forbidden(self) -> str:
        """Return an FTS5 expression that no passage matches; empty if nothing is excluded."""
        return " OR ".join(map(fts_expression, self.without))

    @property
    def simple(self) -> bool:
        """Return whether the columns of the vector table alone can express this scope."""
        plain = Filters(user_id=self.filters.user_id, sources=self.filters.sources, sensitive=self.filters.sensitive)
        return self.filters == plain and not self.phrases and not self.without


def quoted(text: str) -> str:
    """Quote a literal FTS5 string, so that no operator of the query language is interpreted."""
    cleaned = text.replace("\x00", " ").replace('"', '""')
    return f'"{cleaned}"'


def fts_expression(text: str) -> str:
    """Build an FTS5 expression for the indexed form of a text: its words, and the segments of unspaced scripts."""
    pairs = segments(text)
    if not pairs:
        return quoted(text)
    rest = spaced(text)
    parts = [*map(quoted, pairs), *([quoted(rest)] if re.search(r"\w", rest) else [])]
    return f"({' AND '.join(parts)})"


class ScoredChunk(NamedTuple):
    """A chunk's integer key and its score in one leg, of which larger is better: BM25 or cosine similarity."""

    id: int
    score: float


EXPECTED = 1.1
"""Chunks that are tested for membership in a scope, per chunk expected to be needed."""

FTS_TABLE, PUBLIC_FTS_TABLE = "memory_fts", "memory_public_fts"
"""The tables of the keyword indexes: of all passages, and of those of documents that are not private.

Document frequencies (BM25) and the vocabulary must not depend on documents that a client may not see.
"""

ALL_CHUNKS = "memory_documents d CROSS JOIN memory_chunks c ON c.document_id = d.id"
"""Join chunks by way of their documents: conditions are evaluated once per document before any chunk is read."""


def fts_table_of(filters: Filters) -> str:
    """Return the table of the keyword index whose statistics a search with these filters may use."""
    return PUBLIC_FTS_TABLE if filters.sensitive is False else FTS_TABLE


def in_scope(database: Database, scope: Scope, ids: Sequence[int]) -> list[int]:
    """Return those of some chunks, by integer key, that are in a scope, in no order."""
    where, parameters = conditions(scope)
    return database.column(  # the cross join prevents a scan of all chunks
        "SELECT c.id FROM json_each(?) asked CROSS JOIN memory_places c ON c.id = asked.value"  # noqa: S608
        f" JOIN memory_documents d ON d.id = c.document_id WHERE {where}",
        [json.dumps(sorted(ids)), *parameters],  # chunks of the same time are on the same pages
    )


def first_in_scope(database: Database, scope: Scope, ids: Sequence[int], wanted: int, share: float = 1.0) -> list[int]:
    """Return the first `wanted` of some ranked chunks in a scope, testing as many as the share in scope suggests."""
    found: list[int] = []
    asked = 0
    while len(found) < wanted and asked < len(ids):
        more = ids[asked : asked + math.ceil(EXPECTED * (wanted - len(found)) / share)]
        inside = set(in_scope(database, scope, more))
        found += [chunk for chunk in more if chunk in inside]
        asked += len(more)
        share = max(1, len(found)) / asked
    return found[:wanted]


def all_in_scope(database: Database, scope: Scope) -> list[int]:
    """Return all chunks of a scope, in no order, as one value: fetching rows would block all other threads."""
    where, parameters = conditions(scope)
    keys: list[int] = json.loads(
        database.value(f"SELECT json_group_array(c.id) FROM {ALL_CHUNKS} WHERE {where}", parameters)  # noqa: S608
    )
    return keys


def share_in_scope(database: Database, scope: Scope) -> float:
    """Estimate the share of the documents that are in a scope, ignoring phrases and excluded words."""
    if scope.filters in (
        Filters(user_id=scope.filters.user_id),
        Filters(user_id=scope.filters.user_id, sensitive=False),
    ):
        return 1.0  # the search uses a keyword index of just these passages
    where, parameters = document_conditions(scope.filters)
    asked = spread(database.value("SELECT max(rowid) FROM memory_documents") or 0)
    inside, number = database.rows(
        f"SELECT total({where}), count(*) FROM json_each(?) asked"  # noqa: S608
        " CROSS JOIN memory_documents d ON d.rowid = asked.value",
        [*parameters, json.dumps(asked)],
    )[0]
    return float(inside / max(1, number))


def document_conditions(filters: Filters) -> tuple[str, list[object]]:
    """Build an SQL condition over documents `d`, with its parameters."""
    prefix = filters.path_prefix.strip("/")
    # '0' is the character after '/': the range is everything below the folder, and no sibling with the same prefix.
    below = "d.source_id >= ? AND d.source_id < ? AND (d.source_id = ? OR d.source_id >= ?)"
    lower = "lower" if "".join(filters.path_parts).isascii() else "lower_case"
    lacks = f"NOT instr('/' || {lower}(d.source_id), part.value)"
    # The plus makes SQLite look paths up in the index that has them, after the user and each source type.
    plus = "+" if filters.path_prefix or filters.within else ""
    clauses: list[tuple[object, str, list[object]]] = [
        (True, "d.user_id = ?", [filters.user_id]),
        (True, f"{plus}d.deleted_at IS NULL", []),
        *((True, sql, values) for sql, values in _source_conditions(filters.sources)),
        (filters.sensitive is not None, "d.sensitive = ?", [int(bool(filters.sensitive))]),
        (prefix, below, [prefix, f"{prefix}0", prefix, f"{prefix}/"]),
        (
            filters.path_parts,
            f"NOT EXISTS (SELECT 1 FROM json_each(?) part WHERE {lacks})",  # noqa: S608
            [json.dumps([part.lower() for part in filters.path_parts])],
        ),
        (filters.within, f"d.source_id IN ({_marks(filters.within)})", [*filters.within]),
        (filters.exclude, f"d.source_id NOT IN ({_marks(filters.exclude)})", [*filters.exclude]),
        (filters.note_type, "d.note_type = ? COLLATE NOCASE", [filters.note_type]),
        (filters.after is not None, "d.dated_at >= ?", [filters.after]),
        (filters.before is not None, "d.dated_at < ?", [filters.before]),
        (filters.tags, _HAS_ALL_TAGS, [json.dumps([tag.lstrip("#") for tag in filters.tags])]),
    ]
    parts = [(sql, values) for applies, sql, values in clauses if applies]
    return " AND ".join(sql for sql, _ in parts), [value for _, values in parts for value in values]


def conditions(scope: Scope) -> tuple[str, list[object]]:
    """Build an SQL condition over chunks `c` and their documents `d`, with its parameters."""
    where, parameters = document_conditions(scope.filters)
    fts_table = fts_table_of(scope.filters)
    listed = f"SELECT rowid FROM {fts_table} WHERE {fts_table} MATCH ?"  # noqa: S608
    if scope.phrases:  # verified in the text, because the keyword index has stems, and no words of unspaced scripts
        where += (
            f" AND c.id IN (SELECT m.id FROM ({listed}) AS held CROSS JOIN memory_chunks m ON m.id = held.rowid"  # noqa: S608
            " JOIN memory_documents n ON n.id = m.document_id"
            " WHERE holds_phrases(?, n.search_title, m.heading_path, m.content))"
        )
        parameters += [" AND ".join(map(fts_expression, scope.phrases)), json.dumps(scope.phrases)]
    if scope.without:
        where += f" AND c.id NOT IN ({listed})"
        parameters += [scope.forbidden]
    return where, parameters


def _source_conditions(sources: tuple[str, ...]) -> list[tuple[str, list[object]]]:
    """Build the conditions for sources. Drafts are notes of the vault; they are excluded unless they are requested, and
    so are tasks, which repeat text of notes.
    """
    if not sources:
        every = "d.source_type IN (SELECT source_type FROM memory_counts WHERE source_type <> ?)"
        return [(every, [MemorySource.TASK]), ("d.is_draft = 0", [])]
    others = tuple(source for source in sources if source != DRAFTS)
    if DRAFTS not in sources:
        return [(f"d.source_type IN ({_marks(others)})", [*others]), ("d.is_draft = 0", [])]
    if not others:
        return [("d.source_type = ?", [MemorySource.VAULT]), ("d.is_draft = 1", [])]
    listed = (*others, MemorySource.VAULT)
    return [
        (f"d.source_type IN ({_marks(listed)})", [*listed]),
        (f"(d.is_draft = 1 OR d.source_type IN ({_marks(others)}))", [*others]),
    ]


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))
