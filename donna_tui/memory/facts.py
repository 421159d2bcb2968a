"""Remember facts, preferences and corrections: classify a text, store it, and build its documents for the index."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from donna_tui.index.database import Database, columns_of
from donna_tui.index.documents import Document
from donna_tui.memory.chat import day_of
from donna_tui.memory.database import MemoryDb, undone
from donna_tui.memory.preferences import is_preference, kind_preferred, preference_key
from donna_tui.memory.splitter import TextSplitter
from donna_tui.text.chunker import Chunk
from donna_tui.text.encodable import encodable
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import plain_text, shorten
from donna_tui.text.sentences import sentences_by_line
from donna_tui.text.tokens import TokenCounter
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import Correction, MemoryType
from donna_tui.types.search import ME, MemorySource

_LINE_END = re.compile(r"\r\n?")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def clean_text(text: str) -> str:
    """Normalise a text to NFC, strip it, and reduce runs of blank lines to one.

    Formatting and code blocks are kept. Lone surrogates and NUL, which cannot be stored, become `�`.
    """
    storable = encodable(text).replace("\0", "�")
    lines = _LINE_END.sub("\n", unicodedata.normalize("NFC", storable))
    return _BLANK_LINES.sub("\n\n", lines).strip()


_NOW = re.compile(
    r"\b(?:right now|at the moment|currently|for now|just now|this (?:session|conversation|chat)|(?:i am|i['’]m) now)"
    r"\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|evening)|last (?:night|week|month|year|\w+day)|ago)\b"
    r"|^(?:(?:I|we|he|she|they) )?(?:just )?(?:had|went|met|saw|got|did|came|spoke|began)\b"
    r"|^(?:I|we|he|she|they) (?:just )?(?!need\b)\w+ed\b"
    r"|^\w+ed (?:the|an?|my|our|his|her|their|it|with|from|for)\b",
    re.IGNORECASE,
)
"""Match what says when something happened, or begins with a verb in the past."""
_CEASED = re.compile(
    r"\b(?:no longer|any ?more|nicht mehr|kein\w*\b.*\bmehr|ya no|ne\b.*\bplus)\b|\bn['’].*\bplus\b", re.IGNORECASE
)
_CEASED_WORDS = frozenset("no longer any more anymore not do don t nicht mehr kein keine keinen ya ne n plus".split())
_WORD = re.compile(r"\w+")
_CHANGED = re.compile(r"\b(?:now|nowadays|these days|instead|no longer|any ?more)\b", re.IGNORECASE)


def route(text: str, hint: MemoryType | None = None) -> MemoryType:
    """Classify a text: as the hint if there is one; else procedural for a preference or a request, working for what is
    current, semantic for one sentence that reports no event, and episodic for everything else.
    """
    if hint is not None:
        return hint
    statement = text.strip()
    if is_preference(statement):
        return MemoryType.PROCEDURAL
    if _NOW.search(text):
        return MemoryType.WORKING
    is_sentence = len(list(sentences_by_line(statement))) == 1 and not statement.endswith("?")
    is_fact = is_sentence and not _EVENT.search(statement)
    return MemoryType.SEMANTIC if is_fact else MemoryType.EPISODIC


ID_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A remembered text. `created_at` is Unix time; `source_session_id` is the conversation that a summary replaces."""

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


_FACT_COLUMNS = columns_of(Fact)
_CORRECTION = columns_of(Correction)
_TABLES = {"memory": "memories", "correction": "corrections"}
_LIVE = "forgotten_at IS NULL AND superseded_by = ''"


def new_id() -> str:
    return secrets.token_hex(ID_BYTES)


def add_facts(db: MemoryDb, facts: Sequence[Fact]) -> None:
    """Store memories. Call within a transaction. A procedural memory supersedes the one with the same key."""
    for fact in facts:
        db.database.insert("memories", fact)
        if fact.type is MemoryType.PROCEDURAL:
            _set_procedural(db, fact)
        else:
            _end(db, fact)
        db.changed("memory", fact.id)


def _end(db: MemoryDb, fact: Fact) -> None:
    """Supersede the fact that another one says is no longer true."""
    if ended := _ended(db.database, fact.user_id, fact.content, sensitive=fact.sensitive):
        db.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (fact.id, ended))
        db.changed("memory", ended)


def _ended(database: Database, user_id: str, content: str, *, sensitive: bool) -> str | None:
    """Return the id of the fact that a text says is no longer true, or None.

    “I'm no longer vegetarian” ends “I am vegetarian”: the same words without the negation.
    """
    if not _CEASED.search(content):
        return None
    rows = database.rows(
        f"SELECT id, content FROM memories WHERE user_id = ? AND type <> ? AND sensitive = ? AND {_LIVE}",  # noqa: S608
        (user_id, MemoryType.PROCEDURAL.value, int(sensitive)),
    )
    words = _affirmed(content)
    return next((identity for identity, said in rows if said != content and _affirmed(said) == words), None)


def _affirmed(content: str) -> list[str]:
    full = content.casefold().replace("’", "'").replace("i'm", "i am")
    return [word for word in _WORD.findall(full) if word not in _CEASED_WORDS]


def _set_procedural(db: MemoryDb, fact: Fact) -> None:
    key, stored = _stored_preference(db.database, fact.user_id, fact.content, sensitive=fact.sensitive)
    if stored:
        db.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (fact.id, stored))
        db.changed("memory", stored)
    db.database.run(
        "INSERT INTO procedural VALUES (?, ?, ?) ON CONFLICT (user_id, key) DO UPDATE SET memory = excluded.memory",
        (fact.user_id, key, fact.id),
    )


def read_fact(database: Database, identity: str) -> Fact | None:
    """Return a memory that is neither forgotten nor superseded, or None."""
    rows = database.rows(f"SELECT {_FACT_COLUMNS} FROM memories WHERE id = ? AND {_LIVE}", (identity,))  # noqa: S608
    return _fact_of_row(rows[0]) if rows else None


def same_fact(database: Database, user_id: str, content: str, kind: MemoryType, *, sensitive: bool) -> str | None:
    """Return the id of an active memory with exactly this content, but for apostrophes and a final full stop, or None.

    Private ones count only if `sensitive`: no agent finds out whether a text is remembered privately.
    """
    found: str | None = database.value(
        "SELECT id FROM memories WHERE user_id = ? AND rtrim(replace(content, '’', ''''), ' .') = ?"  # noqa: S608
        f" AND type = ? AND sensitive <= ? AND {_LIVE}",
        (user_id, _plain(content), kind.value, int(sensitive)),
    )
    return found


def procedural(database: Database, user_id: str = ME) -> list[Fact]:
    """Return the procedural memories of a user, pinned ones first, then the latest."""
    rows = database.rows(
        f"SELECT {_FACT_COLUMNS} FROM memories WHERE id IN (SELECT memory FROM procedural WHERE user_id = ?)"  # noqa: S608
        " AND forgotten_at IS NULL ORDER BY pinned DESC, created_at DESC, id",
        (user_id,),
    )
    return [_fact_of_row(row) for row in rows]


def _stored_preference(database: Database, user_id: str, content: str, *, sensitive: bool) -> tuple[str, str | None]:
    """Return the key of a preference, and the id of the memory that is stored under it, if any.

    “I prefer light roast now” has the key of “I prefer dark roast”, which it changes.
    """
    key = _key(content, sensitive=sensitive)
    kind = kind_preferred(content) if _CHANGED.search(content) else ""
    known = procedural(database, user_id)
    changed = (old.id for old in known if kind and old.sensitive == sensitive and kind_preferred(old.content) == kind)
    stored = database.value("SELECT memory FROM procedural WHERE user_id = ? AND key = ?", (user_id, key))
    stored_before = (old.id for old in known if _key(old.content, sensitive=old.sensitive) == key)  # built otherwise
    held = next(changed, None) or stored or next(stored_before, None)
    return (database.value("SELECT key FROM procedural WHERE memory = ?", (held,)) if held else key), held


def _key(content: str, *, sensitive: bool) -> str:
    """Return the key of a preference. Private ones have separate keys, so that a public one from a client that cannot
    see them replaces none.
    """
    return f"private: {preference_key(content)}" if sensitive else preference_key(content)


def latest_corrections(database: Database, task_type: str, most: int) -> list[Correction]:
    rows = database.rows(
        f"SELECT {_CORRECTION} FROM corrections WHERE user_id = ? AND task_type = ? AND forgotten_at IS NULL"  # noqa: S608
        " ORDER BY created_at DESC, id LIMIT ?",
        (ME, task_type, most),
    )
    return [_correction(row) for row in rows]


def add_correction(db: MemoryDb, correction: Correction) -> bool:
    """Store a correction. Call within a transaction. Return False if it is already stored."""
    if db.database.value("SELECT 1 FROM corrections WHERE id = ?", (correction.id,)):
        return False
    db.database.insert("corrections", correction)
    db.changed("correction", correction.id)
    return True


def replace_correction(db: MemoryDb, correction: Correction, replaced: str = "") -> None:
    """Store a correction of a memory. Call within a transaction.

    The correction with the id `replaced`, earlier ones of the same words in this memory, and those of a version before
    it whose result is corrected again are forgotten.
    """
    earlier = (
        "SELECT id FROM corrections WHERE forgotten_at IS NULL"
        " AND (id = ? OR user_id = ? AND item <> '' AND item = ? AND original = ?)"
    )
    outdated = db.database.column(earlier, (replaced, correction.user_id, correction.item, correction.original))
    source, _, identity = correction.item.partition(":")
    for held in corrections_of_fact(db.database, identity) if source == MemorySource.MEMORY else ():
        before = read_correction(db.database, held)
        result = before.corrected if before else ""
        if result and (result in correction.original or correction.original in result):
            outdated.append(held)
    for held in outdated:
        mark_forgotten(db, "correction", held, correction.created_at)
    add_correction(db, correction)


def corrections_of_fact(database: Database, identity: str) -> list[str]:
    """Return the ids of all corrections of a memory and of the versions that it superseded, forgotten ones included."""
    return database.column(
        "WITH RECURSIVE versions(id) AS"
        " (SELECT ? UNION SELECT m.id FROM memories m JOIN versions v ON m.superseded_by = v.id)"
        " SELECT id FROM corrections WHERE item IN (SELECT 'memory:' || id FROM versions)",
        (identity,),
    )


def erase_corrections(db: MemoryDb, draft: str) -> None:
    """Erase the corrections of an approved draft. Call within a transaction."""
    for identity in db.database.column("SELECT id FROM corrections WHERE id LIKE ? || '-%'", (draft,)):
        erase(db, "correction", identity)


def read_correction(database: Database, identity: str) -> Correction | None:
    rows = database.rows(
        f"SELECT {_CORRECTION} FROM corrections WHERE id = ? AND forgotten_at IS NULL",  # noqa: S608
        (identity,),
    )
    return _correction(rows[0]) if rows else None


def _correction(row: Sequence[object]) -> Correction:
    values: dict[str, Any] = dict(zip(_CORRECTION.split(", "), row, strict=True))
    flags = {name: bool(values[name]) for name in ("sensitive", "pinned")}
    return Correction(**{**values, **flags})


def set_column(db: MemoryDb, source: str, identity: str, column: str, value: object) -> bool:
    """Set a column of a memory or correction. Call within a transaction. Return False if there is none."""
    db.database.run(f"UPDATE {_TABLES[source]} SET {column} = ? WHERE id = ?", (value, identity))  # noqa: S608
    return bool(db.changed_rows(source, identity))


def mark_forgotten(db: MemoryDb, source: str, identity: str, at: float | None, by: str = "") -> bool:
    """Forget an item at a Unix time, or restore it with None. Call within a transaction. Return whether it changed.

    `by` is the session of an agent, which changes nothing that is forgotten already.
    """
    db.database.run(
        f"UPDATE {_TABLES[source]} SET forgotten_at = ?1, forgotten_by = ?2"  # noqa: S608
        " WHERE id = ?3 AND (?2 = '' OR forgotten_at IS NULL)"
        " AND ((forgotten_at IS NULL) <> (?1 IS NULL) OR forgotten_by <> ?2)",
        (at, by, identity),
    )
    return bool(db.changed_rows(source, identity))


def may_return(database: Database, identity: str) -> bool:
    """Return whether a forgotten memory may be restored.

    A summary may not if its conversation has another one, or if a turn is forgotten that it may quote.
    """
    return not database.value(
        "SELECT 1 FROM memories m JOIN sessions s ON s.user_id = m.user_id AND s.name = m.source_session_id"  # noqa: S608
        " WHERE m.id = ? AND m.compression_source AND (EXISTS (SELECT 1 FROM memories WHERE id = s.summary"
        f" AND id <> m.id AND {_LIVE}) OR EXISTS (SELECT 1 FROM turns WHERE session = s.id AND text <> ''"
        " AND forgotten_at >= m.forgotten_at))",
        (identity,),
    )


def forgotten_by(database: Database, source: str, session: str, *, restored: bool = False) -> list[str]:
    """Return the ids of what a session of an agent forgot, or, with `restored`, of what undoing that has restored.

    What the session itself had remembered is left out.
    """
    state = f"forgotten_at IS {'NULL' if restored else 'NOT NULL'}"
    others = " AND session_id <> ?1" if source == "memory" else ""
    return database.column(f"SELECT id FROM {_TABLES[source]} WHERE forgotten_by = ?1 AND {state}{others}", (session,))  # noqa: S608


def forget_session(db: MemoryDb, session: str, now: float) -> int:
    """Forget all memories of a session and reinstate those they superseded. Call within a transaction.

    Return how many memories were forgotten.
    """
    rows = db.database.rows(
        "SELECT id, forgotten_at FROM memories WHERE session_id = ?1 AND (forgotten_at IS NULL OR forgotten_by = ?1)"
        " ORDER BY created_at DESC, rowid DESC",
        (session,),
    )
    for identity, forgotten_at in rows:
        if forgotten_at is None:
            mark_forgotten(db, "memory", identity, now, undone(session))
        _reinstate(db, identity)
    return sum(forgotten_at is None for _, forgotten_at in rows)


def remember_session(db: MemoryDb, session: str) -> list[str]:
    """Undo `forget_session`, but leave preferences replaced that were stored since. Call within a transaction.

    Return the ids of what was restored.
    """
    rows = db.database.rows(
        f"SELECT {_FACT_COLUMNS} FROM memories WHERE session_id = ?1 AND forgotten_by IN (?1, ?2)"  # noqa: S608
        " ORDER BY created_at, rowid",
        (session, undone(session)),
    )
    for fact in map(_fact_of_row, rows):
        if fact.type is not MemoryType.PROCEDURAL:
            _end(db, fact)
            continue
        _, stored = _stored_preference(db.database, fact.user_id, fact.content, sensitive=fact.sensitive)
        later = "SELECT 1 FROM memories WHERE id = ? AND created_at > ?"
        if stored and db.database.value(later, (stored, fact.created_at)):
            db.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (stored, fact.id))
        elif stored != fact.id:
            _set_procedural(db, fact)
    items = [item for item in forgotten_by(db.database, "memory", undone(session)) if may_return(db.database, item)]
    for identity in items:
        mark_forgotten(db, "memory", identity, None)
    return items


def _reinstate(db: MemoryDb, newer: str) -> None:
    """Relink what a memory superseded to its own successor, or reinstate it if there is none."""
    older = db.database.column("SELECT id FROM memories WHERE superseded_by = ? AND forgotten_at IS NULL", (newer,))
    after = db.database.value("SELECT superseded_by FROM memories WHERE id = ?", (newer,))
    for identity in older:
        db.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (after, identity))
        db.database.run("UPDATE procedural SET memory = ? WHERE memory = ?", (identity, newer))
        db.changed("memory", identity)


def erase(db: MemoryDb, source: str, identity: str) -> bool:
    """Delete a row permanently, with what it superseded. Call within a transaction. Return False if there is none."""
    if source == "memory":
        for older in db.database.column("SELECT id FROM memories WHERE superseded_by = ?", (identity,)):
            erase(db, source, older)
        db.database.run("UPDATE sessions SET summary = '' WHERE summary = ?", (identity,))
    db.database.run(f"DELETE FROM {_TABLES[source]} WHERE id = ?", (identity,))  # noqa: S608
    return bool(db.changed_rows(source, identity))


def _fact_of_row(row: tuple[object, ...]) -> Fact:
    values = dict(zip(_FACT_COLUMNS.split(", "), row, strict=True))
    flags = {name: bool(values[name]) for name in ("sensitive", "pinned", "compression_source")}
    return Fact(**{**values, **flags, "type": MemoryType(str(values["type"]))})  # type: ignore[arg-type]  # as selected


MIN_VALUE_CHARS = 40

MEMORY_SEARCH = "memory_search"
"""The task type of corrections of memories and of search results. Their input is the question, if there was one."""

WHOLE_NOTE, WHOLE_MEMORY = "note", "content"
"""The fields of corrections of a note above its first heading, and of a memory or a result."""

_WHOLE = (WHOLE_NOTE, WHOLE_MEMORY)


def fact_document(fact: Fact, splitter: TextSplitter) -> tuple[Document, list[Chunk]]:
    """Build the document of a fact. It was split to fit when it was stored, and is split again for a smaller window."""
    document = Document(
        source_type=MemorySource.MEMORY.value,
        source_id=fact.id,
        title=f"{'Summary' if fact.compression_source else 'Remembered'}, {day_of(fact.created_at)}",
        text=fact.content,
        user_id=fact.user_id,
        uri=f"memory:{fact.id}",
        note_type=fact.type.value,
        modified_at=fact.created_at,
        sensitive=fact.sensitive,
        metadata={
            "type": fact.type.value,
            "session_id": fact.session_id,
            "at": fact.created_at,
            "pinned": fact.pinned,
            "compressed": False,
            "compression_source": fact.compression_source,
            "source_session_id": fact.source_session_id,
        },
    )
    starts = line_starts(document.text)
    return document, splitter.chunks(document, (), lambda offset: line_of(starts, offset))


def correction_document(correction: Correction, splitter: TextSplitter) -> tuple[Document, list[Chunk]]:
    """Build the document of a correction: one passage. Long values are shortened in it; `memory.db` has them whole."""
    document = Document(
        source_type=MemorySource.CORRECTION.value,
        source_id=correction.id,
        title=f"Correction of {correction.field}" if correction.field not in _WHOLE else "Correction",
        text=correction_text(correction, splitter.counter, splitter.room()),
        user_id=correction.user_id,
        uri=f"correction:{correction.id}",
        note_type=MemoryType.SEMANTIC.value,
        modified_at=correction.created_at,
        sensitive=correction.sensitive,
        metadata={
            "type": MemoryType.SEMANTIC.value,
            "at": correction.created_at,
            "pinned": correction.pinned,
            "compressed": False,
            "field": correction.field,
            "task_type": correction.task_type,
        },
    )
    tokens = len(splitter.counter.spans(document.text))
    return document, [Chunk(0, (), document.text, 0, len(document.text), start_line=1, end_line=1, token_count=tokens)]


def correction_text(correction: Correction, counter: TokenCounter, most_tokens: int) -> str:
    """Format a correction as a sentence of at most `most_tokens`, unless the values reach their least length first."""
    values = [
        plain_text(value).removeprefix("• ") for value in (correction.original, correction.corrected, correction.input)
    ]
    longest = max(MIN_VALUE_CHARS, *map(len, values))
    while True:
        original, corrected, given = (shorten(value, longest) for value in values)
        about = f"the answer to “{given}”" if correction.task_type == MEMORY_SEARCH else f"“{given}”"
        field = "" if correction.field in _WHOLE else f"“{correction.field}”"
        place = " of ".join(filter(None, (field, about if given else "")))
        change = f"was changed to “{corrected}”" if corrected else "was removed"
        text = f"{f'In {place}, ' if place else ''}“{original}” {change}."
        if len(counter.spans(text)) <= most_tokens or longest <= MIN_VALUE_CHARS:
            return text
        longest = max(MIN_VALUE_CHARS, longest * 3 // 4)


LONGEST_TEXT = 2_000_000


@dataclass(frozen=True, slots=True)
class RememberRequest:
    text: str
    user_id: str = ME
    session_id: str = ""
    hint: MemoryType | None = None
    sensitive: bool = False
    pinned: bool = False


def remember(db: MemoryDb, request: RememberRequest, splitter: TextSplitter, now: float) -> list[Fact]:
    """Clean a text, split it semantically, classify each piece, store them, and return the memories.

    What is already remembered is not stored twice, but becomes private or pinned if that is requested. Embedding and
    scoring follow in the index. Raises DonnaError for an empty text, or one that is too long.
    """
    pieces = pieces_of(request.text, splitter)
    is_owner = not request.session_id
    known: list[Fact] = []
    fresh: list[Fact] = []
    for piece in pieces:
        kind = route(piece, request.hint)
        held = same_fact(db.database, request.user_id, piece, kind, sensitive=request.sensitive or is_owner)
        fact = read_fact(db.database, held) if held else None
        if fact:
            known.append(fact)
        elif piece not in {each.content for each in fresh}:
            fresh.append(
                Fact(
                    id=new_id(), type=kind, content=piece, created_at=now, user_id=request.user_id,
                    session_id=request.session_id, sensitive=request.sensitive, pinned=request.pinned,
                )
            )  # fmt: skip
    with db.change():
        known = [_tightened(db, fact, request) for fact in known]
        add_facts(db, fresh)
    return [*known, *fresh]


def _tightened(db: MemoryDb, fact: Fact, request: RememberRequest) -> Fact:
    """Make a memory private or pinned if a request says so. Call within a transaction."""
    if request.pinned and not fact.pinned:
        set_column(db, "memory", fact.id, "pinned", 1)
    if request.sensitive and not fact.sensitive:
        set_column(db, "memory", fact.id, "sensitive", 1)
        db.database.run(
            "UPDATE OR REPLACE procedural SET key = ? WHERE memory = ?", (_key(fact.content, sensitive=True), fact.id)
        )
    return replace(fact, pinned=fact.pinned or request.pinned, sensitive=fact.sensitive or request.sensitive)


def would_replace(db: MemoryDb, request: RememberRequest, splitter: TextSplitter) -> list[tuple[Fact, str]]:
    """Return the memories that `remember` would replace, each with its replacement."""
    found = []
    for piece in pieces_of(request.text, splitter):
        if route(piece, request.hint) is MemoryType.PROCEDURAL:
            _, identity = _stored_preference(db.database, request.user_id, piece, sensitive=request.sensitive)
        else:
            identity = _ended(db.database, request.user_id, piece, sensitive=request.sensitive)
        held = read_fact(db.database, identity) if identity else None
        if held and _plain(held.content) != _plain(piece):
            found.append((held, piece))
    return found


def _plain(text: str) -> str:
    return text.replace("’", "'").rstrip(" .")


def pieces_of(text: str, splitter: TextSplitter) -> list[str]:
    """Split a text into the pieces to remember. Raises DonnaError for an empty text, or one that is too long."""
    if len(text) > LONGEST_TEXT:
        raise DonnaError(Reason.TOO_LARGE, f"the text has more than {LONGEST_TEXT:,} characters", hint="write a note")
    cleaned = clean_text(text)
    if not cleaned:
        raise DonnaError(Reason.USAGE, "there is nothing to remember")
    return [cleaned[low:high] for low, high in splitter.spans(cleaned)]


def replace_fact(db: MemoryDb, identity: str, wrong: str, right: str, splitter: TextSplitter, now: float) -> list[Fact]:
    """Replace the content of a fact; the old version is kept as superseded.

    The new fact belongs to no session, so that undoing a session does not remove a person's correction. Only `wrong` is
    replaced, or all of the fact if that is empty; nothing changes if `wrong` is not in it. Call within a transaction.
    Raises DonnaError (`missing`, `usage`).
    """
    old = read_fact(db.database, identity)
    if old is None:
        raise DonnaError(Reason.MISSING, f"there is no memory {identity}")
    content = old.content.replace(wrong, right, 1) if wrong else right
    if content == old.content:
        return [old]
    pieces = pieces_of(content, splitter)
    fresh = [replace(old, id=new_id(), content=piece, created_at=now, session_id="") for piece in pieces]
    db.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (fresh[0].id, old.id))
    db.database.run("DELETE FROM procedural WHERE memory = ?", (old.id,))
    db.changed("memory", old.id)
    add_facts(db, fresh)
    return fresh
