"""The keyword leg: FTS5 with BM25 over title, heading path and text."""

from __future__ import annotations

from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.index.filters import Scope, conditions

TITLE_WEIGHT, HEADING_WEIGHT, CONTENT_WEIGHT = 3.0, 2.0, 1.0


@dataclass(frozen=True, slots=True)
class KeywordMatch:
    """A chunk's integer key and its BM25 score, larger is better (FTS5's own is negative)."""

    id: int
    score: float


def search_words(database: Database, expression: str, scope: Scope, limit: int) -> list[KeywordMatch]:
    """The best chunks for an FTS5 expression inside a scope, best first."""
    if not expression or limit < 1:
        return []
    where, parameters = conditions(scope)
    rows = database.rows(
        f"SELECT c.id, -bm25(memory_fts, {TITLE_WEIGHT}, {HEADING_WEIGHT}, {CONTENT_WEIGHT}) AS score"  # noqa: S608
        " FROM memory_fts JOIN memory_chunks c ON c.id = memory_fts.rowid"
        " JOIN memory_documents d ON d.id = c.document_id"
        f" WHERE memory_fts MATCH ? AND {where} ORDER BY score DESC, c.id LIMIT ?",
        [expression, *parameters, limit],
    )
    return [KeywordMatch(*row) for row in rows]


def quoted(text: str) -> str:
    """A literal FTS5 string: no operator of the query language survives in it."""
    cleaned = text.replace("\x00", " ").replace('"', '""')
    return f'"{cleaned}"'
