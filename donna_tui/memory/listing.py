"""Convert the rows of an index, and the hits of a search, to memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memory.facts import Fact
from donna_tui.memory.tasks import TASK_ORDER
from donna_tui.search.snippets import properties_in
from donna_tui.types.memory import (
    NOVELTY_SHARE,
    SALIENCE_SHARE,
    Importance,
    MemoryChunk,
    MemoryFilter,
    MemoryType,
    Signal,
)
from donna_tui.types.search import ME, Hit, MemorySource
from donna_tui.vault.note.read import iso_date

_COLUMNS = (
    "d.source_type, d.source_id, d.title, d.dated_at, d.sensitive, d.metadata_json, c.content, c.heading_path,"
    " c.start_line, c.end_line, s.salience, s.signals, s.novelty"
)
_FROM = "memory_documents d JOIN memory_chunks c ON c.document_id = d.id LEFT JOIN memory_scores s ON s.chunk = c.id"
_IMPORTANCE = f"({NOVELTY_SHARE} * s.novelty + {SALIENCE_SHARE} * s.salience)"


def list_memories(database: Database, wanted: MemoryFilter, limit: int, skip: int) -> tuple[MemoryChunk, ...]:
    """List the memories of an index, the latest first, or in the order of tasks; a longer one passage by passage."""
    where, parameters = _conditions(wanted)
    order = TASK_ORDER if wanted.by_deadline else "d.dated_at DESC, d.source_type, d.source_id"
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE {where} ORDER BY {order}, c.chunk_index LIMIT ? OFFSET ?",  # noqa: S608
        [*parameters, limit, skip],
    )
    return tuple(_memory(row) for row in rows)


def count_memories(database: Database, wanted: MemoryFilter) -> int:
    where, parameters = _conditions(wanted)
    return int(database.value(f"SELECT count(*) FROM {_FROM} WHERE {where}", parameters))  # noqa: S608


def one_memory(database: Database, source: str, source_id: str) -> MemoryChunk | None:
    """Return the first passage of a memory, or None; the owner's if several users have that id."""
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE d.source_type = ? AND d.source_id = ?"  # noqa: S608
        " ORDER BY d.user_id = ? DESC, c.chunk_index LIMIT 1",
        (source, source_id, ME),
    )
    return _memory(rows[0]) if rows else None


def memory_of_passage(database: Database, identity: str) -> tuple[str, str] | None:
    """Return the id and the user of the memory to which a passage or document id belongs, or None."""
    rows = database.rows(
        "SELECT source_type, source_id, user_id FROM memory_documents WHERE id = ?1"
        " UNION SELECT d.source_type, d.source_id, d.user_id"
        " FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id WHERE c.chunk_id = ?1",
        (identity,),
    )
    return (f"{rows[0][0]}:{rows[0][1]}", rows[0][2]) if rows else None


def _conditions(wanted: MemoryFilter) -> tuple[str, list[object]]:
    parts: list[tuple[str, list[object]]] = [
        ("d.user_id = ?", [wanted.user_id]),
        ("d.is_draft = 0", []),
        ("d.source_type IN (SELECT value FROM json_each(?))", [json.dumps(wanted.sources)]),
    ]
    if wanted.types:
        parts.append(("d.note_type IN (SELECT value FROM json_each(?))", [json.dumps(wanted.types)]))
    for sql, value in (
        ("instr(lower(c.content), lower(?))", wanted.text or None),
        ("d.dated_at >= ?", wanted.after),
        ("d.dated_at < ?", wanted.before),
        (f"{_IMPORTANCE} < ?", wanted.most_importance),
        ("d.sensitive = ?", wanted.sensitive),
    ):
        if value is not None:
            parts.append((sql, [value]))
    return " AND ".join(sql for sql, _ in parts), [value for _, values in parts for value in values]


def _memory(row: Sequence[Any]) -> MemoryChunk:
    source, source_id, title, at, sensitive, metadata, content, heading, start, end, salience, signals, novelty = row
    importance = None if salience is None else Importance(salience, tuple(map(Signal, json.loads(signals))), novelty)
    return _built(
        MemorySource(source), source_id, json.loads(metadata or "{}"), importance, content=content, title=title,
        at=at, heading_path=tuple(json.loads(heading)), start_line=start, end_line=end, sensitive=bool(sensitive),
    )  # fmt: skip


def memory_of_hit(hit: Hit, importance: Importance | None) -> MemoryChunk:
    """Convert a hit to a memory for a prompt: with its day and speaker, or with the path and the day of its note, and
    the properties by which it was found.
    """
    source = MemorySource(hit.source_type)
    at = hit.dated_at or hit.metadata.get("at") or 0.0
    day = iso_date(at) if source is MemorySource.VAULT and at != hit.metadata.get("mtime", at) else ""
    memory = _built(
        source, hit.path, hit.metadata, importance, content=hit.content, title=hit.title, at=at,
        day="" if day in hit.path else day, heading_path=hit.heading_path, start_line=hit.start_line,
        end_line=hit.end_line, sensitive=hit.sensitive, score=hit.rank_score,
    )  # fmt: skip
    properties = properties_in(hit.snippet)
    lead = f"{prompt_prefix(memory)}{properties}\n" if properties else prompt_prefix(memory)
    return replace(memory, content=lead + memory.content, lead=lead if source is MemorySource.VAULT else "")


def memory_of_fact(fact: Fact, importance: Importance | None = None) -> MemoryChunk:
    return MemoryChunk(
        id=f"memory:{fact.id}", source=MemorySource.MEMORY, source_id=fact.id, memory_type=fact.type,
        content=fact.content, at=fact.created_at, session_id=fact.session_id, pinned=fact.pinned,
        sensitive=fact.sensitive, importance=importance, is_summary=fact.compression_source,
    )  # fmt: skip


def _built(
    source: MemorySource, source_id: str, metadata: Mapping[str, Any], importance: Importance | None, **values: Any
) -> MemoryChunk:
    kind = MemoryType.SEMANTIC if source is MemorySource.VAULT else MemoryType(metadata["type"])
    return MemoryChunk(
        id=f"{source}:{source_id}",
        source=source,
        source_id=source_id,
        memory_type=kind,
        importance=None if source is MemorySource.VAULT else importance,
        session_id=str(metadata.get("session_id", "")),
        due=metadata.get("due", "") if source is MemorySource.TASK else "",
        parent=metadata.get("parent", "") if source is MemorySource.TASK else "",
        pinned=bool(metadata.get("pinned")),
        compressed=bool(metadata.get("compressed")),
        is_summary=bool(metadata.get("compression_source")),
        **values,
    )


def prompt_prefix(memory: MemoryChunk) -> str:
    """Return what precedes a memory in a prompt: the path and day of its note, or its day and speaker; may be empty."""
    if memory.source is MemorySource.VAULT:
        return f"{memory.source_id} ({memory.day}): " if memory.day else f"{memory.source_id}: "
    if memory.source not in (MemorySource.CHAT, MemorySource.MEMORY) or memory.is_summary:
        return ""
    speaker = memory.heading_path[0] if memory.heading_path else ""
    before = " ".join(filter(None, (iso_date(memory.at), speaker)))
    return f"{before}: " if before else ""
