"""The keyword leg: FTS5 with BM25 over title, heading path and text."""

from __future__ import annotations

import json
from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.index.filters import ALL_CHUNKS, Scope, conditions, in_scope, is_broad

LOOK_AT_FIRST = 2

WEIGHTS = "3.0, 2.0, 1.0, 1.0"
"""Of the title with aliases and tags, the heading path, the text, and the segments of unspaced scripts."""


@dataclass(frozen=True, slots=True)
class KeywordMatch:
    """A chunk's integer key and its BM25 score, larger is better (FTS5's own is negative)."""

    id: int
    score: float


def search_words(database: Database, expression: str, scope: Scope, limit: int) -> list[KeywordMatch]:
    """The best chunks for an FTS5 expression inside a scope, best first.

    A broad scope is asked only of the best of all: listing it would take longer than ranking all that match.
    """
    if not expression or limit < 1:
        return []
    if scope.required or not is_broad(database, scope):
        return _best_in(database, expression, scope, limit)
    best = _best(database, expression, LOOK_AT_FIRST * limit)
    inside = set(in_scope(database, scope, [match.id for match in best]))
    found = [match for match in best if match.id in inside][:limit]
    if len(found) == limit or len(best) < LOOK_AT_FIRST * limit:
        return found
    return _best_in(database, expression, scope, limit)


def _best(database: Database, expression: str, limit: int) -> list[KeywordMatch]:
    rows = database.rows(
        f"SELECT rowid, -rank FROM memory_fts WHERE memory_fts MATCH ? AND rank MATCH 'bm25({WEIGHTS})'"  # noqa: S608
        " ORDER BY rank, rowid LIMIT ?",
        (expression, limit),
    )
    return [KeywordMatch(*row) for row in rows]


def _best_in(database: Database, expression: str, scope: Scope, limit: int) -> list[KeywordMatch]:
    """Lists the scope and ranks only what is in it. The plus keeps SQLite from asking for one chunk at a time."""
    where, parameters = conditions(scope)
    rows = database.rows(
        f"SELECT rowid, -bm25(memory_fts, {WEIGHTS}) AS score FROM memory_fts WHERE memory_fts MATCH ?"  # noqa: S608
        f" AND +rowid IN (SELECT c.id FROM {ALL_CHUNKS} WHERE {where}) ORDER BY score DESC, rowid LIMIT ?",
        [expression, *parameters, limit],
    )
    return [KeywordMatch(*row) for row in rows]


def newest(database: Database, scope: Scope, limit: int) -> list[KeywordMatch]:
    """The beginnings of the notes in a scope, those changed last first; for filters without any word."""
    where, parameters = conditions(scope)
    rows = database.rows(
        f"SELECT c.id FROM {ALL_CHUNKS} WHERE c.chunk_index = 0 AND {where}"  # noqa: S608
        " ORDER BY d.modified_at DESC, c.id LIMIT ?",
        [*parameters, limit],
    )
    return [KeywordMatch(each, 1.0 / rank) for rank, (each,) in enumerate(rows, 1)]


SHORTEST_STEM, LONGEST_STEM = 3, 40


def begun_stem(database: Database, word: str) -> str:
    """What stands in the index for a word of which only the beginning is typed, if no indexed word begins so.

    The index holds stems: “decisi” is no beginning of “decis”, the stem of “decisions”. Then the longest stem that the
    beginning itself begins with is meant; empty if there is none.
    """
    begun = word.casefold()
    if database.value("SELECT 1 FROM memory_words WHERE term >= ? AND term < ? LIMIT 1", (begun, f"{begun}\U0010ffff")):
        return ""
    known = database.rows(
        "SELECT term FROM json_each(?) AS stem CROSS JOIN memory_words ON term = stem.value",
        (json.dumps([begun[:length] for length in range(SHORTEST_STEM, min(len(begun), LONGEST_STEM))]),),
    )
    return max((term for (term,) in known), key=len, default="")


def quoted(text: str) -> str:
    """A literal FTS5 string: no operator of the query language survives in it."""
    cleaned = text.replace("\x00", " ").replace('"', '""')
    return f'"{cleaned}"'
