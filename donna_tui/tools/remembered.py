"""What stands around a hit that is no note, for reading: the turns before and after, or the memory itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from donna_tui.index.database import Database
from donna_tui.records import dataclass
from donna_tui.tools.passage import Passage

TURNS_AROUND = 6
"""Turns before and after that are shown."""


@dataclass(frozen=True, slots=True)
class Found:
    """A document that is no note. `note` is the path of the note that holds it, with its lines, if one does."""

    passage: Passage
    note: str = ""
    lines: tuple[int, int] = (1, 1)


def read_remembered(database: Database, source_id: str) -> Found | None:
    """What an index has of a chat, a task, a correction or a memory by its source's id; None if it has nothing."""
    rows = database.rows(
        "SELECT source_type, user_id, title, sensitive, metadata_json FROM memory_documents"
        " WHERE user_id = 'me' AND source_type IN ('chat', 'task', 'correction', 'memory') AND source_id = ?",
        (source_id,),
    )
    if not rows:
        return None
    source, user, title, sensitive, metadata = rows[0]
    known = json.loads(metadata or "{}")
    wanted = known["turns"] if source == "chat" else None
    texts = _texts(database, source, user, source_id, known) if wanted else _own(database, source, user, source_id)
    passage = _passage(source_id, title, texts, wanted, sensitive=bool(sensitive))
    return Found(passage, known.get("note", ""), tuple(known.get("lines", (1, 1))))


def _own(database: Database, source: str, user: str, source_id: str) -> list[tuple[int, str]]:
    rows = database.rows(
        "SELECT c.start_line, c.content FROM memory_documents d JOIN memory_chunks c ON c.document_id = d.id"
        " WHERE d.user_id = ? AND d.source_type = ? AND d.source_id = ? ORDER BY c.chunk_index",
        (user, source, source_id),
    )
    return [(line, content) for line, content in rows]


def _texts(database: Database, source: str, user: str, source_id: str, known: dict[str, Any]) -> list[tuple[int, str]]:
    """The turns around, each with its speaker. `;` is the character after `:`."""
    session, (first, last) = source_id.rpartition(":")[0], known["turns"]
    rows = database.rows(
        "SELECT c.start_line, c.heading_path, c.content FROM memory_documents d"
        " JOIN memory_chunks c ON c.document_id = d.id WHERE d.user_id = ? AND d.source_type = ?"
        " AND d.source_id >= ? AND d.source_id < ? AND json_extract(d.metadata_json, '$.session_id') = ?"
        " AND c.start_line BETWEEN ? AND ? ORDER BY c.start_line, c.chunk_index",
        (user, source, f"{session}:", f"{session};", session, first - TURNS_AROUND, last + TURNS_AROUND),
    )
    return [(line, f"{' '.join(json.loads(heading))}: {content}") for line, heading, content in rows]


def _passage(
    source_id: str, title: str, texts: Sequence[tuple[int, str]], wanted: list[int] | None, *, sensitive: bool
) -> Passage:
    lines: list[str] = []
    marked: list[int] = []
    for number, text in texts:
        part = text.split("\n")
        if wanted is None or wanted[0] <= number <= wanted[1]:
            marked += range(len(lines) + 1, len(lines) + len(part) + 1)
        lines += [*part, *([""] if wanted else [])]
    return Passage(
        path=source_id,
        title=title,
        heading_path=(),
        text="\n".join(lines).rstrip("\n"),
        start_line=1,
        end_line=max(1, len(lines)),
        mark_start=min(marked, default=1),
        mark_end=max(marked, default=1),
        truncated=False,
        linked_from=(),
        sensitive=sensitive,
    )
