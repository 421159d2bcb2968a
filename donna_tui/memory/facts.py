"""What was told to be remembered, and where Donna was wrong: rows of `memory.db`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memories import ME, Correction, MemoryType
from donna_tui.memory.book import Book
from donna_tui.memory.routing import preference_key
from donna_tui.records import dataclass

ID_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A memory that was told. `created_at` is Unix time; `source_session_id` is what a summary stands for."""

    id: str
    type: MemoryType
    content: str
    created_at: float
    user_id: str = ME
    session_id: str = ""
    sensitive: bool = False
    pinned: bool = False
    source_session_id: str = ""
    compression_source: bool = False


_FACT = "id, type, content, created_at, user_id, session_id, sensitive, pinned, source_session_id, compression_source"
_CORRECTION = "id, field, original, corrected, input, task_type, created_at, user_id, sensitive, pinned"
_LIVE = "forgotten_at IS NULL AND superseded_by = ''"


def new_id() -> str:
    """A fresh id of a memory or correction."""
    return secrets.token_hex(ID_BYTES)


def add_facts(book: Book, facts: Sequence[Fact]) -> None:
    """Within a transaction: store memories. A procedural one takes the place of the one with the same key."""
    for fact in facts:
        book.database.run(
            f"INSERT INTO memories ({_FACT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (
                fact.id, fact.type.value, fact.content, fact.created_at, fact.user_id, fact.session_id,
                int(fact.sensitive), int(fact.pinned), fact.source_session_id, int(fact.compression_source),
            ),
        )  # fmt: skip
        if fact.type is MemoryType.PROCEDURAL:
            _set_procedural(book, fact)
        book.changed("memory", fact.id)


def _set_procedural(book: Book, fact: Fact) -> None:
    key = _slot(fact.content, sensitive=fact.sensitive)
    held = book.database.value("SELECT memory FROM procedural WHERE user_id = ? AND key = ?", (fact.user_id, key))
    if held:
        book.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (fact.id, held))
        book.changed("memory", held)
    book.database.run(
        "INSERT INTO procedural VALUES (?, ?, ?) ON CONFLICT (user_id, key) DO UPDATE SET memory = excluded.memory",
        (fact.user_id, key, fact.id),
    )


def read_fact(database: Database, identity: str) -> Fact | None:
    """A memory that counts now: neither forgotten nor superseded."""
    rows = database.rows(f"SELECT {_FACT} FROM memories WHERE id = ? AND {_LIVE}", (identity,))  # noqa: S608
    return _fact(rows[0]) if rows else None


def same_fact(database: Database, user_id: str, content: str, kind: MemoryType) -> str | None:
    """The id of a memory that says exactly this already."""
    found: str | None = database.value(
        f"SELECT id FROM memories WHERE user_id = ? AND content = ? AND type = ? AND {_LIVE}",  # noqa: S608
        (user_id, content, kind.value),
    )
    return found


def procedural(database: Database, user_id: str = ME) -> list[Fact]:
    """The procedural memories of a user, pinned ones first, then the latest."""
    columns = ", ".join(f"m.{column}" for column in _FACT.split(", "))
    rows = database.rows(
        f"SELECT {columns} FROM procedural p JOIN memories m ON m.id = p.memory"  # noqa: S608
        " WHERE p.user_id = ? AND m.forgotten_at IS NULL ORDER BY m.pinned DESC, m.created_at DESC, m.id",
        (user_id,),
    )
    return [_fact(row) for row in rows]


def held_preference(database: Database, user_id: str, content: str, *, sensitive: bool = False) -> Fact | None:
    """The preference that one with this content would replace."""
    key = _slot(content, sensitive=sensitive)
    identity = database.value("SELECT memory FROM procedural WHERE user_id = ? AND key = ?", (user_id, key))
    return read_fact(database, identity) if identity else None


def _slot(content: str, *, sensitive: bool) -> str:
    """The key under which a preference is kept. Private ones have keys of their own, so that no public one, of a client
    that may not even know of them, replaces them."""
    return f"private: {preference_key(content)}" if sensitive else preference_key(content)


def latest_corrections(database: Database, task_type: str, most: int, user_id: str = ME) -> list[Correction]:
    """What was corrected last in a kind of task."""
    rows = database.rows(
        f"SELECT {_CORRECTION} FROM corrections WHERE user_id = ? AND task_type = ? AND forgotten_at IS NULL"  # noqa: S608
        " ORDER BY created_at DESC, id LIMIT ?",
        (user_id, task_type, most),
    )
    return [_correction(row) for row in rows]


def add_correction(book: Book, correction: Correction) -> bool:
    """Within a transaction: store a correction; False if it is there already, for logging it twice is one."""
    if book.database.value("SELECT 1 FROM corrections WHERE id = ?", (correction.id,)):
        return False
    book.database.run(
        f"INSERT INTO corrections ({_CORRECTION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (
            correction.id, correction.field, correction.original, correction.corrected, correction.input,
            correction.task_type, correction.created_at, correction.user_id, int(correction.sensitive),
            int(correction.pinned),
        ),
    )  # fmt: skip
    book.changed("correction", correction.id)
    return True


def read_correction(database: Database, identity: str) -> Correction | None:
    """A correction that is not forgotten."""
    rows = database.rows(
        f"SELECT {_CORRECTION} FROM corrections WHERE id = ? AND forgotten_at IS NULL",  # noqa: S608
        (identity,),
    )
    return _correction(rows[0]) if rows else None


def _correction(row: Sequence[object]) -> Correction:
    values: dict[str, Any] = dict(zip(_CORRECTION.split(", "), row, strict=True))
    flags = {name: bool(values[name]) for name in ("sensitive", "pinned")}
    return Correction(**{**values, **flags})


def mark(book: Book, source: str, identity: str, column: str, value: object) -> bool:
    """Within a transaction: set `forgotten_at` or `pinned` of a memory or correction. False if there is none."""
    table = {"memory": "memories", "correction": "corrections"}[source]
    book.database.run(f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, identity))  # noqa: S608
    found = bool(book.database.connection.changes())
    if found:
        book.changed(source, identity)
    return found


def take_back_session(book: Book, session_id: str, now: float) -> int:
    """Within a transaction: forget all that was told in a session, and let count again what that took the place of.

    Returns how many memories were forgotten.
    """
    told = book.database.rows(
        "SELECT id FROM memories WHERE session_id = ? AND forgotten_at IS NULL ORDER BY created_at DESC, rowid DESC",
        (session_id,),
    )
    for (identity,) in told:
        mark(book, "memory", identity, "forgotten_at", now)
        _reinstate(book, identity)
    return len(told)


def _reinstate(book: Book, newer: str) -> None:
    """What a memory superseded is superseded by what came after it; by nothing if it was the last."""
    older = book.database.rows("SELECT id FROM memories WHERE superseded_by = ? AND forgotten_at IS NULL", (newer,))
    after = book.database.value("SELECT superseded_by FROM memories WHERE id = ?", (newer,))
    for (identity,) in older:
        book.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (after, identity))
        book.database.run("UPDATE procedural SET memory = ? WHERE memory = ?", (identity, newer))
        book.changed("memory", identity)


def erase(book: Book, source: str, identity: str) -> bool:
    """Within a transaction: take the row away for good, with what it superseded. False if there is none."""
    table = {"memory": "memories", "correction": "corrections"}[source]
    if source == "memory":
        for (older,) in book.database.rows("SELECT id FROM memories WHERE superseded_by = ?", (identity,)):
            erase(book, source, older)
        book.database.run("UPDATE sessions SET summary = '' WHERE summary = ?", (identity,))
    book.database.run(f"DELETE FROM {table} WHERE id = ?", (identity,))  # noqa: S608
    found = bool(book.database.connection.changes())
    if found:
        book.changed(source, identity)
    return found


def _fact(row: tuple[object, ...]) -> Fact:
    values = dict(zip(_FACT.split(", "), row, strict=True))
    flags = {name: bool(values[name]) for name in ("sensitive", "pinned", "compression_source")}
    return Fact(**{**values, **flags, "type": MemoryType(str(values["type"]))})  # type: ignore[arg-type]  # as selected
