"""Find notes by their names: the name leg of a search, and the switcher's fuzzy match over names and headings."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from donna_tui.index.database import Database
from donna_tui.index.filters import Scope, fts_table_of, in_scope
from donna_tui.index.keyword import unknown_words
from donna_tui.index.names import (
    FoundName,
    Name,
    NameKind,
    exact_names,
    few_prefix_names,
    heading_names,
    name_key,
    names_holding,
    person_names,
    prefix_names,
    recent_notes,
    similar_names,
)
from donna_tui.search.query import Query, latest_of
from donna_tui.search.sections import section_of
from donna_tui.text.fuzzy import allowed_edits, edit_distance, fuzzy_match
from donna_tui.text.words import STOP_WORDS, stem
from donna_tui.types.search import Filters, NameMatch

MAX_NAMED = 3
"""Maximum number of notes with the same name at the top of a result list; the other legs order any further ones."""

MAX_NAMES = 4 * MAX_NAMED
"""Names that are looked up: the file name, title, alias and tag of a note may be the same."""

SHORTEST_BEGINNING = 3
"""Minimum number of characters of a question that may be the prefix of a name."""

MAX_PASSAGES = 200
"""Maximum number of passages of a note that are searched for a heading with the name."""

_SIGNS = re.compile(r"(?<=\w)[+#]+(?!\w)")
"""The signs after a word that distinguish names with the same key: C, C++ and C#."""


@dataclass(frozen=True, slots=True)
class Named:
    """A note that a question names, and the integer key of the passage that represents it."""

    id: int
    document: str
    name: Name


def named_by(database: Database, query: Query, filters: Filters, text: str) -> tuple[Named, ...]:
    """Find the notes whose name is the whole question `text`, or all of `query` without its filters; the best first.
    If there are none, find the pages of the few people whose first name or surname it is, else the few notes with a
    name that begins with it.

    `filters` are those of the request, without those in the text, because a name may look like a filter.
    """
    respelt = replace(query, words=tuple(dict(query.spellings).get(word, word) for word in query.words))
    lookups = [] if query.without else [(name_key(text), Scope(filters))]
    lookups += [(_key_of(each), query.scope) for each in (query, respelt)]
    for key, scope in dict.fromkeys(lookups):
        found = exact_names(database, key, scope.filters, MAX_NAMES) if key else []
        found = [name for name in found if _SIGNS.findall(name.text) == _SIGNS.findall(query.text)]
        if named := _passages(database, found, key, scope):
            return named
    key, is_whole = _key_of(query), not query.prefix
    if len(key) < SHORTEST_BEGINNING or key in STOP_WORDS:
        return ()
    people = person_names(database, key, query.filters, MAX_NAMES, is_whole=is_whole) if " " not in key else []
    if 0 < len({name.document for name in people}) <= MAX_NAMED:
        return _passages(database, people, key, query.scope)
    if query.relative or latest_of(query)[0] or section_of(query.text)[0]:
        return ()  # “today” is not about “Today I learned”
    found = few_prefix_names(database, key, query.filters, MAX_NAMED, MAX_NAMES, is_whole=is_whole)
    return _passages(database, found, key, query.scope)


def named_by_prefix(database: Database, query: Query) -> tuple[Named, ...]:
    """Find the notes with a name that begins with the words of a question, or with a heading of exactly these words."""
    key, filters = _key_of(query), query.filters
    if len(key) < SHORTEST_BEGINNING:
        return ()
    found = prefix_names(database, key, filters, MAX_NAMES) or heading_names(database, key, filters, MAX_NAMES)
    return _passages(database, found, key, query.scope)


def _key_of(query: Query) -> str:
    """Return the words of a question as the key of a name; empty if it has a phrase."""
    return "" if query.phrases else name_key(query.text)


def _passages(database: Database, names: Sequence[Name], key: str, scope: Scope) -> tuple[Named, ...]:
    """Select a passage for each of the first few notes."""
    first: dict[str, Name] = {}
    for name in names:
        first.setdefault(name.document, name)
    found = ((_passage(database, name, key, scope), name) for name in first.values())
    named = (Named(passage, name.document, name) for passage, name in found if passage is not None)
    return tuple(islice(named, MAX_NAMED))


def _passage(database: Database, name: Name, key: str, scope: Scope) -> int | None:
    """Return the passage under a heading of this name, else the first one; None if the scope excludes them all."""
    rows = database.rows(
        "SELECT id, heading_path FROM memory_chunks WHERE document_id = ? ORDER BY chunk_index LIMIT ?",
        (name.document, MAX_PASSAGES),
    )
    inside = set(in_scope(database, scope, [each for each, _ in rows])) if scope.without else None
    allowed = [(each, path) for each, path in rows if inside is None or each in inside]
    under = (each for each, path in allowed if (above := json.loads(path)) and name_key(above[-1]) == key)
    return next(under, allowed[0][0] if allowed else None)


SIMILAR = 30
"""Names that share most trigrams with a question, for which the edit distance is computed."""


def has_unknown_word(database: Database, query: Query, held: Collection[str]) -> bool:
    """Return whether a question has a word that occurs in no text, other than a stop word. `held` are stems that do."""
    words = (word for word in _key_of(query).split() if word not in STOP_WORDS and stem(word) not in held)
    asked = " ".join(words)
    return bool(asked) and bool(unknown_words(database, asked, fts_table_of(query.filters)))


def misspelt_by(database: Database, query: Query) -> tuple[Named, ...]:
    """Find the notes that a question names except for a few typing errors, those with the fewest first.

    A word that occurs in some text is not taken for an error.
    """
    key = _key_of(query)
    most = allowed_edits(key)
    found = similar_names(database, key, query.filters, SIMILAR) if most else []
    edits = {name: _fewest_edits(key, name, most) for name in found}
    near = [name for name in found if edits[name] < most + 1]
    known = {*key.split()} - unknown_words(database, key, fts_table_of(query.filters)) if near else set()
    close = sorted(
        (name for name in near if known.issubset(name.key.split())), key=lambda name: (edits[name], name.kind)
    )
    return _passages(database, close, key, query.scope)


LONG_WORD = 10
"""Letters from which a word may be the misspelt form of a word of a name: shorter words are often near another one."""


def _fewest_edits(key: str, name: Name, most: int) -> float:
    """Return the edit distance of a key from a name; 1.5 for a long word one edit from a word of it, as a surname."""
    whole = edit_distance(key, name.key, most)
    if len(key) < LONG_WORD or not key.isalpha() or name.kind > NameKind.ALIAS:
        return whole
    near = any(word[0] == key[0] and edit_distance(key, word, 1) == 1 for word in name.key.split())
    return min(whole, 1.5) if near else whole


CONSIDERED = 200
"""Maximum number of names, and most headings, that the index returns for the switcher to rank."""

KIND_WORDS = {
    NameKind.FILE: "file", NameKind.TITLE: "title", NameKind.ALIAS: "alias", NameKind.PATH: "path",
    NameKind.HEADING: "heading",
}  # fmt: skip

HEADING_LOSS = 4.0
"""The score that a heading loses against a name with an equal match."""


def switch(database: Database, query: str, limit: int, user_id: str) -> tuple[NameMatch, ...]:
    """Find names and headings that contain the letters of a query in order, the best first, each note's name once.

    Return the notes changed last if the query is empty.
    """
    letters = name_key(query).replace(" ", "")
    if not letters:
        return tuple(_match(found, (), 0.0) for found in recent_notes(database, user_id, limit))
    found = [
        *names_holding(database, letters, user_id, CONSIDERED, of_headings=False),
        *names_holding(database, letters, user_id, CONSIDERED, of_headings=True),
    ]
    matches = [match for name in found if (match := _scored(query, letters, name)) is not None]
    matches.sort(key=lambda match: (-match.score, -match.modified_at, match.path, match.line))
    best: dict[tuple[str, int], NameMatch] = {}
    for match in matches:
        best.setdefault((match.path, match.line if match.kind == KIND_WORDS[NameKind.HEADING] else 0), match)
    return tuple(best.values())[:limit]


def _scored(query: str, letters: str, found: FoundName) -> NameMatch | None:
    """Score a name; without highlights if the letters do not occur as written, as with separate accent characters."""
    match = fuzzy_match(query, found.name.text) or fuzzy_match(letters, found.name.text)
    if match is None:
        return _match(found, (), 0.0)
    whole = 2.0 * len(letters) if found.name.key.replace(" ", "") == letters else 0.0
    return _match(found, match.places, match.score + whole - HEADING_LOSS * (found.name.kind is NameKind.HEADING))


def _match(found: FoundName, places: tuple[int, ...], score: float) -> NameMatch:
    return NameMatch(
        path=found.path,
        title=found.title,
        name=found.name.text,
        kind=KIND_WORDS[found.name.kind],
        line=found.name.line,
        places=places,
        score=score,
        modified_at=found.modified_at,
        sensitive=found.sensitive,
    )
