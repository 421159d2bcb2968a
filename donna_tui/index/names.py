"""The names of notes: file name, path, title, aliases and tags, and the headings for the switcher.

Names are compared by keys without case, accents and punctuation. Exact and prefix lookups use B-trees, misspellings
trigrams, and the switcher a scan of a covering index. Exact lookups also ignore spaces, so that `On-call` and `oncall`
are the same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from donna_tui.index.database import Database
from donna_tui.index.filters import document_conditions
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import headings
from donna_tui.text.words import MEETING, MEETING_WORDS, ONE_ON_ONE, PARTS, plain
from donna_tui.types.search import Filters, MemorySource

if TYPE_CHECKING:
    from donna_tui.index.documents import Document

LONGEST_NAME = 200
"""Characters of a name that are compared."""

MAX_HEADINGS = 1_000
"""Maximum number of headings of a note that the switcher knows."""

MAX_NAMESAKES = 100
"""Maximum number of notes with the same name or tag that are compared: those stored last."""


class NameKind(IntEnum):
    """The kinds of names of a note, the best first. All below HEADING name the note itself."""

    FILE = 0
    TITLE = 1
    ALIAS = 2
    PATH = 3
    TAG = 4
    HEADING = 9


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a note as it is written, and the line that it refers to."""

    document: str
    kind: NameKind
    text: str
    key: str
    line: int = 1


@lru_cache(maxsize=4_096)
def name_key(text: str) -> str:
    """Return the key by which a name is compared: its words, joined by spaces."""
    return " ".join(PARTS.findall(plain(text[:LONGEST_NAME])))


def store_names(database: Database, document_id: str, document: Document) -> None:
    database.run("DELETE FROM note_names WHERE document_id = ?", (document_id,))
    if document.source_type == MemorySource.VAULT:  # titles of memories are generated
        rows = [(document_id, *name) for name in dict.fromkeys(_names_of(document)) if name[2]]
        database.run_many("INSERT INTO note_names (document_id, kind, name, key, line) VALUES (?, ?, ?, ?, ?)", rows)


_AFTER_ID = re.compile(r"\d{12}(?:\d\d)?[ _-]+(.+)")
"""A file name with the time of its creation as its id, as in a Zettelkasten."""


def _names_of(document: Document) -> Iterator[tuple[int, str, str, int]]:
    path = document.source_id.removesuffix(".md")
    parts = PurePosixPath(path).parts
    yield _row(NameKind.FILE, parts[-1] if parts else path)
    yield _row(NameKind.TITLE, document.title)
    if after_id := _AFTER_ID.fullmatch(parts[-1] if parts else path):
        yield _row(NameKind.ALIAS, after_id[1])
    for alias in document.aliases:
        yield _row(NameKind.ALIAS, alias)
    for depth in range(2, len(parts) + 1):
        yield _row(NameKind.PATH, "/".join(parts[-depth:]))
    for tag in document.tags:
        yield _row(NameKind.TAG, tag)
    starts = line_starts(document.text)
    for heading in headings(document.text, document.body_start)[:MAX_HEADINGS]:
        yield _row(NameKind.HEADING, heading.text, line_of(starts, heading.start))


def _row(kind: NameKind, text: str, line: int = 1) -> tuple[int, str, str, int]:
    name = " ".join(text.split())
    return int(kind), name[:LONGEST_NAME], name_key(name), line


_COLUMNS = "n.document_id, n.kind, n.name, n.key, n.line"
_NAMED = "note_names n CROSS JOIN memory_documents d ON d.id = n.document_id"
_SQUASHED = "replace(key, ' ', '')"


def exact_names(database: Database, key: str, filters: Filters, limit: int) -> list[Name]:
    """Find names with this key, ignoring spaces: names of notes first, then tags; the newest notes first."""
    squashed = key.replace(" ", "")
    if not database.value(f"SELECT 1 FROM note_names WHERE {_SQUASHED} = ? AND kind < 9 LIMIT 1", [squashed]):  # noqa: S608
        return []  # most questions are not names
    inside, inside_parameters = document_conditions(filters)
    same = (
        f"SELECT n.id FROM {_NAMED} WHERE {_SQUASHED} = ? AND n.kind < 9 AND {inside}"  # noqa: S608
        " ORDER BY n.kind, n.id DESC LIMIT ?"
    )
    parameters = [squashed, *inside_parameters, MAX_NAMESAKES]
    order = f"n.kind = {int(NameKind.TAG)}, n.key <> ?, d.modified_at DESC, d.source_id"
    return _lookup(database, filters, limit, f"n.id IN ({same})", parameters, order, [key])


MAX_OF_SERIES = 200
"""Newest notes with the first word of the name of a series that are compared with its other words."""


def newest_named(database: Database, words: Sequence[str], filters: Filters, least: int) -> tuple[str, float] | None:
    """Return the newest note of the series that some words name, with its date; None if no note has `least` of them.

    The notes with the most words are the series. Words are counted from the left, up to the first that is neither in
    the path nor in the title or the properties, in the singular or the plural. “Meeting”, “Treffen” and the like count
    as the same word, unless one of these notes has the exact word. Only notes with a date of their own until now are
    considered.
    """
    inside, inside_parameters = document_conditions(filters)
    folded = [word.lower() for word in words]
    # SQLite changes the case of ASCII letters only
    parts = [
        MEETING_WORDS
        if re.fullmatch(MEETING, word)
        else (max(re.findall("[a-z0-9]+", word.removesuffix("s")), key=len, default=""),)
        for word in folded[:least]
    ]
    text = "d.source_id || ' ' || d.search_title || ' ' || d.note_type"
    rows = database.rows(
        f"SELECT d.id, d.dated_at, {text} FROM memory_documents d"  # noqa: S608
        " WHERE d.dated_at <> d.modified_at AND d.dated_at <= unixepoch()"
        " AND NOT EXISTS (SELECT 1 FROM json_each(?) word WHERE NOT EXISTS"
        f" (SELECT 1 FROM json_each(word.value) part WHERE instr(lower({text}), part.value)))"
        f" AND {inside} ORDER BY d.dated_at DESC LIMIT {MAX_OF_SERIES}",
        [json.dumps(parts), *inside_parameters],
    )
    forms = (MEETING if re.fullmatch(MEETING, word) else f"{re.escape(word.removesuffix('s'))}s?" for word in folded)
    patterns = [re.compile(rf"(?<![^\W_])(?:{form})(?![^\W_])") for form in forms]
    texts = [ONE_ON_ONE.sub("1-1", text.lower()) for _, _, text in rows]
    held = [_first_held(patterns, text) for text in texts]
    most = max(held, default=0)
    if most < least:
        return None
    series = [number for number, count in enumerate(held) if count == most]
    exact = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, folded[:most]))})(?![^\W_])")
    return rows[max(series, key=lambda number: len({*exact.findall(texts[number])}))][:2]


def _first_held(patterns: Sequence[re.Pattern[str]], text: str) -> int:
    """Return how many patterns a text contains before the first one that it lacks."""
    return next((number for number, pattern in enumerate(patterns) if not pattern.search(text)), len(patterns))


_SHORTEST_FIRST = "length(n.key), d.modified_at DESC, d.source_id"
_OF_NOTES = (NameKind.FILE, NameKind.TITLE, NameKind.ALIAS)


def _are(*kinds: NameKind) -> str:
    """Build an SQL condition on the kind of a name."""
    return f"n.kind IN ({', '.join(str(int(kind)) for kind in kinds)})"


def prefix_names(database: Database, key: str, filters: Filters, limit: int) -> list[Name]:
    """Find names of notes that begin with the words of a key, the shortest first."""
    where = f"{_are(*_OF_NOTES, NameKind.PATH)} AND n.key >= ? AND n.key < ?"
    return _lookup(database, filters, limit, where, [f"{key} ", f"{key}!"], _SHORTEST_FIRST)


def few_prefix_names(
    database: Database, key: str, filters: Filters, most: int, limit: int, *, is_whole: bool
) -> list[Name]:
    """Find names of notes that begin with the words of a key, without their folders, the shortest first; none if more
    than `most` notes have such a name. The last word may be incomplete unless it `is_whole`.
    """
    where = f"{_are(*_OF_NOTES)} AND n.key >= ? AND n.key < ?"
    first, end = (f"{key} ", f"{key}!") if is_whole else (key, f"{key}\U0010ffff")
    inside, parameters = document_conditions(filters)
    distinct = f"SELECT DISTINCT n.document_id FROM {_NAMED} WHERE {where} AND {inside} LIMIT ?"  # noqa: S608
    notes = database.column(distinct, [first, end, *parameters, most + 1])
    if not 0 < len(notes) <= most:
        return []
    return _lookup(database, filters, limit, where, [first, end], _SHORTEST_FIRST)


def person_names(database: Database, word: str, filters: Filters, limit: int, *, is_whole: bool) -> list[Name]:
    """Find the names of people's pages, those in `People`, with a word such as a first name or a surname. The word may
    be incomplete unless it `is_whole`.
    """
    pages = (
        "SELECT id FROM memory_documents WHERE user_id = ? AND source_type = 'vault'"
        " AND source_id >= 'People/' AND source_id < 'People0'"  # '0' is the character after '/'
    )
    where = f"{_are(*_OF_NOTES)} AND n.document_id IN ({pages}) AND instr(' ' || n.key || ' ', ?)"
    parameters = [filters.user_id, f" {word} " if is_whole else f" {word}"]
    return _lookup(database, filters, limit, where, parameters, "n.kind, d.modified_at DESC, d.source_id")


def heading_names(database: Database, key: str, filters: Filters, limit: int) -> list[Name]:
    parameters = [int(NameKind.HEADING), key]
    return _lookup(database, filters, limit, "n.kind = ? AND n.key = ?", parameters, "d.modified_at DESC")


def similar_names(database: Database, key: str, filters: Filters, limit: int) -> list[Name]:
    """Find the names of notes that share most trigrams with a key, as candidates for a misspelling.

    FTS5 ranks nothing without positions (`detail = none`): the shared trigrams are counted here.
    """
    squashed = key.replace(" ", "")
    grams = dict.fromkeys(squashed[start : start + 3] for start in range(len(squashed) - 2))
    if not grams:
        return []
    inside, inside_parameters = document_conditions(filters)
    found = (
        "SELECT n.id FROM (SELECT f.rowid AS id, count(*) AS shared FROM json_each(?) gram"  # noqa: S608
        " CROSS JOIN note_name_grams f ON f.note_name_grams MATCH gram.value GROUP BY f.rowid) AS each"
        " CROSS JOIN note_names n ON n.id = each.id CROSS JOIN memory_documents d ON d.id = n.document_id"
        f" WHERE {inside} ORDER BY each.shared DESC, length(n.key), n.id LIMIT ?"
    )
    parameters = [json.dumps([f'"{gram}"' for gram in grams]), *inside_parameters, limit]
    return _lookup(database, filters, limit, f"n.id IN ({found})", parameters, "n.kind, n.id")


def _lookup(
    database: Database,
    filters: Filters,
    limit: int,
    where: str,
    parameters: Sequence[object],
    order: str,
    ordered_by: Sequence[object] = (),
) -> list[Name]:
    inside, inside_parameters = document_conditions(filters)
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM {_NAMED} WHERE {where} AND {inside} ORDER BY {order} LIMIT ?",  # noqa: S608
        [*parameters, *inside_parameters, *ordered_by, limit],
    )
    return [Name(document, NameKind(kind), *rest) for document, kind, *rest in rows]


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name that contains the letters of a pattern in order, with its note."""

    name: Name
    path: str
    title: str
    modified_at: float
    sensitive: bool


_NOTE = "d.source_id, d.title, d.modified_at, d.sensitive"


def names_holding(database: Database, letters: str, user_id: str, limit: int, *, of_headings: bool) -> list[FoundName]:
    """Find names, or headings, that contain some letters in this order, ranked by exact match, prefix, substring and
    subsequence, then by length.

    `letters` is a key without spaces. The ranking uses only the covering index, before any note is read.
    """
    kinds = f"= {int(NameKind.HEADING)}" if of_headings else f"< {int(NameKind.TAG)}"
    pattern = "*".join(["", *letters, ""])
    rows = database.rows(
        f"SELECT {_COLUMNS}, {_NOTE} FROM ("  # noqa: S608
        f"SELECT id FROM note_names INDEXED BY ix_note_names_key WHERE kind {kinds} AND key GLOB ?1"
        f" ORDER BY {_SQUASHED} <> ?2, key NOT GLOB ?3, instr({_SQUASHED}, ?2) = 0, length(key) LIMIT ?5"
        ") AS best CROSS JOIN note_names n ON n.id = best.id JOIN memory_documents d ON d.id = n.document_id"
        " WHERE d.user_id = ?4 AND d.deleted_at IS NULL",
        (pattern, letters, f"{letters}*", user_id, limit),
    )
    return [_found(row) for row in rows]


def recent_notes(database: Database, user_id: str, limit: int) -> list[FoundName]:
    rows = database.rows(
        f"SELECT {_COLUMNS}, {_NOTE} FROM (SELECT id, source_id, title, modified_at, sensitive FROM memory_documents"  # noqa: S608
        " WHERE user_id = ? AND source_type = 'vault' AND deleted_at IS NULL ORDER BY modified_at DESC LIMIT ?) AS d"
        " JOIN note_names n ON n.document_id = d.id WHERE n.kind = 0 ORDER BY d.modified_at DESC, d.source_id",
        (user_id, limit),
    )
    return [_found(row) for row in rows]


def _found(row: tuple[Any, ...]) -> FoundName:
    document, kind, text, key, line, path, title, modified_at, sensitive = row
    return FoundName(Name(document, NameKind(kind), text, key, line), path, title, modified_at, bool(sensitive))
