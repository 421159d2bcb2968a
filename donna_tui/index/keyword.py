"""The keyword leg: FTS5 with BM25 over title, heading path and text."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from donna_tui.index.candidate_pruning import Level, choose_level, whole
from donna_tui.index.database import Beside, Database
from donna_tui.index.documents import last_chunk
from donna_tui.index.filters import (
    ALL_CHUNKS,
    ALL_WORDS,
    PUBLIC_WORDS,
    Scope,
    all_in_scope,
    conditions,
    first_in_scope,
    is_one_note,
    words_of,
)
from donna_tui.index.sampling import Range, halves, span
from donna_tui.index.scope import Members, ScopeEstimate, reach_of

LOOK_AT_FIRST = 2
"""Candidates of all passages for each that is wanted in a scope that holds all; more where it holds fewer."""

NARROW, SHORT = 0.3, 30_000
"""The share of the documents, and the passages, up to which a scope is listed and only what is in it is ranked.

Listing takes as long for a rare word as for a common one, half a millisecond for 1,000 passages; asking the best takes
longer the smaller the share and the commoner the words. At 100,000 passages they meet at a share of 0.4.
"""

ALSO_IN_NOTE = 0.5
"""In a search of one note, the power of a term's rarity in that note by which its BM25 is multiplied.

Measured on questions of six sets asked within their note; docs/retrieval.md has the figures.
"""

WEIGHTS = "3.0, 2.0, 1.0, 1.0"
"""Of the title with aliases and tags, the heading path, the text, and the segments of unspaced scripts."""

ALL_KEYS: Range = (0, 2**63 - 1)
"""The smallest and the largest key that a chunk can have."""

TIGHT = 0.5
"""The share of all keys up to which the ranges of a scope are worth more than the whole index."""


@dataclass(frozen=True, slots=True)
class KeywordMatch:
    """A chunk's integer key and its BM25 score, larger is better (FTS5's own is negative)."""

    id: int
    score: float


def search_words(
    database: Database, terms: Sequence[str], scope: Scope, limit: int, beside: Beside | None = None
) -> list[KeywordMatch]:
    """The best chunks for any of some terms, FTS5 expressions each, inside a scope, best first.

    A scope that is not narrow is asked only of the best where it may be: to rank all of it would take longer.
    """
    if not terms or limit < 1:
        return []
    if is_one_note(database, scope):
        return _best_in_note(database, terms, scope, limit)
    reach = reach_of(database, scope, beside)
    if reach.share <= NARROW and reach.share * last_chunk(database) <= SHORT:
        return rank_scope(database, terms, scope, limit, reach.members)
    ranges, share = _where(database, reach)
    looked_at = math.ceil(LOOK_AT_FIRST * limit / share)
    best = _best(database, terms, looked_at, ranges, beside, words_of(scope.filters))
    known = {match.id: match for match in best}
    if reach.members is None:
        first = first_in_scope(database, scope, list(known), limit, share)
    else:
        first = reach.members.first(list(known), limit)
    if len(first) == limit or len(best) < looked_at:
        return [known[each] for each in first]
    return rank_scope(database, terms, scope, limit, reach.members)


def _where(database: Database, reach: ScopeEstimate) -> tuple[list[Range], float]:
    """The ranges of keys in which a scope is looked for, and about the share that it has of them."""
    everywhere = whole(database)
    if reach.members is not None and span(reach.members.ranges) <= TIGHT * span(everywhere):
        return reach.members.ranges, reach.members.density
    return everywhere, reach.share


def _best(
    database: Database, terms: Sequence[str], limit: int, ranges: Sequence[Range], beside: Beside | None, words: str
) -> list[KeywordMatch]:
    """The best in some ranges; where the level turns out to hold too few, all that match are ranked after all."""
    level = choose_level(database, terms, limit, ranges, words)
    found = _best_at(database, level, limit, ranges, beside, words) if level.within else []
    return found if len(found) == limit else rank_all(database, terms, limit, ranges, words)


def _best_at(
    database: Database, level: Level, limit: int, ranges: Sequence[Range], beside: Beside | None, words: str
) -> list[KeywordMatch]:
    """The best at a level. FTS5 walks and ranks on one thread: the newer half of the chunks can be ranked beside."""

    def among(part: Database, its: Sequence[Range]) -> list[KeywordMatch]:
        listed = f"SELECT rowid FROM {words} WHERE {words} MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608
        return [
            match
            for keys in its
            for match in _rank_inside(part, level.ranked_by, listed, [level.within, *keys], limit, keys, words)
        ]

    if beside is None:
        return _first(among(database, ranges), limit)
    older, newer = halves(ranges)
    other = beside(lambda other: among(other, newer))
    return _first([*among(database, older), *other()], limit)


def _first(matches: Sequence[KeywordMatch], limit: int) -> list[KeywordMatch]:
    return sorted(matches, key=lambda match: (-match.score, match.id))[:limit]


def rank_all(
    database: Database,
    terms: Sequence[str],
    limit: int,
    ranges: Sequence[Range] = (ALL_KEYS,),
    words: str = ALL_WORDS,
) -> list[KeywordMatch]:
    """The best of all chunks that match, whatever that costs: what a level is measured by."""
    any_term = " OR ".join(terms)
    found = [match for keys in ranges for match in _rank_inside(database, any_term, "", [], limit, keys, words)]
    return _first(found, limit)


def rank_scope(
    database: Database, terms: Sequence[str], scope: Scope, limit: int, members: Members | None = None
) -> list[KeywordMatch]:
    """The best of a scope: it is listed, unless its passages are known, and all in it that match are ranked."""
    any_term, words = " OR ".join(terms), words_of(scope.filters)
    if members is not None:
        return _rank_inside(database, any_term, _GIVEN, [members.listed], limit, words=words)
    where, parameters = conditions(scope)
    listed = f"SELECT c.id FROM {ALL_CHUNKS} WHERE {where}"  # noqa: S608
    return _rank_inside(database, any_term, listed, parameters, limit, words=words)


_GIVEN = "SELECT value FROM json_each(?)"


def _best_in_note(database: Database, terms: Sequence[str], scope: Scope, limit: int) -> list[KeywordMatch]:
    """Ranks by how rare the terms are in the note too: what all of it is about tells none of its passages apart."""
    inside, words = all_in_scope(database, scope), words_of(scope.filters)
    scores: defaultdict[int, float] = defaultdict(float)
    for term in terms:
        found = _rank_inside(database, term, _GIVEN, [json.dumps(inside)], len(inside), words=words)
        weight = _rarity(len(found), len(inside)) ** ALSO_IN_NOTE
        for match in found:
            scores[match.id] += weight * match.score
    best = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
    return [KeywordMatch(*each) for each in best[:limit]]


def _rarity(held: int, whole: int) -> float:
    """Inverse document frequency, in the form that is never below zero (Lucene's BM25)."""
    return math.log(1.0 + (whole - held + 0.5) / (held + 0.5))


def _rank_inside(
    database: Database,
    expression: str,
    inside: str,
    parameters: Sequence[object],
    limit: int,
    keys: Range = ALL_KEYS,
    words: str = ALL_WORDS,
) -> list[KeywordMatch]:
    """Ranks only the chunks that a query lists, of some keys; all of them without one."""
    listed = f" AND +rowid IN ({inside})" if inside else ""  # the plus keeps SQLite from asking for one at a time
    rows = database.rows(
        f"SELECT rowid, -bm25({words}, {WEIGHTS}) AS score FROM {words} WHERE {words} MATCH ?"  # noqa: S608
        f" AND rowid BETWEEN ? AND ?{listed} ORDER BY score DESC, rowid LIMIT ?",
        [expression, *keys, *parameters, limit],
    )
    return [KeywordMatch(*row) for row in rows]


def newest(database: Database, scope: Scope, limit: int) -> list[KeywordMatch]:
    """The beginnings of the notes in a scope, those of the latest date first; for filters without any word.

    A note is left out by a forbidden word in any of its passages.
    """
    where, parameters = conditions(Scope(scope.filters))
    if scope.forbidden:
        words = words_of(scope.filters)
        holding = f"SELECT rowid FROM {words} WHERE {words} MATCH ?"  # noqa: S608
        where += f" AND d.id NOT IN (SELECT p.document_id FROM memory_places p WHERE p.id IN ({holding}))"  # noqa: S608
        parameters = [*parameters, " OR ".join(scope.forbidden)]
    rows = database.rows(
        f"SELECT c.id FROM {ALL_CHUNKS} WHERE c.chunk_index = 0 AND {where}"  # noqa: S608
        " ORDER BY d.dated_at DESC, c.id LIMIT ?",
        [*parameters, limit],
    )
    return [KeywordMatch(each, 1.0 / rank) for rank, (each,) in enumerate(rows, 1)]


SHORTEST_STEM, LONGEST_STEM = 3, 40

MAY_BECOME = 8
"""Words that a half-typed one may become, those in most passages. FTS5 can look for all that begin so, but merges them
anew for each expression and each stretch of the index: 50 ms for “con” among 70,000 passages, where this takes 15.
"""


VOCABULARY = {ALL_WORDS: "memory_words", PUBLIC_WORDS: "memory_public_words"}
"""The words of each keyword index, with the number of passages that hold each."""


def holds_word(database: Database, word: str, words: str = ALL_WORDS) -> bool:
    """Whether any passage of a keyword index holds a word, in any of its forms."""
    exists = f"SELECT EXISTS (SELECT 1 FROM {words} WHERE {words} MATCH ?)"  # noqa: S608
    return bool(database.value(exists, (quoted(word),)))


def begun_word(database: Database, word: str, words: str = ALL_WORDS) -> str:
    """Build an FTS5 expression for a word that is only begun: the words of the index that it may become."""
    begun = word.casefold()
    if len(begun) < SHORTEST_STEM:
        return quoted(word)
    rows = database.rows(
        f"SELECT term FROM {VOCABULARY[words]} WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?",  # noqa: S608
        (begun, f"{begun}\U0010ffff", MAY_BECOME),
    )
    become = [_indexed(term) for (term,) in rows] or [f"{quoted(_stem_of(database, begun, words) or word)}*"]
    return f"({' OR '.join(become)})"


def _indexed(term: str) -> str:
    """An FTS5 expression for a stem of the index: FTS5 would take another s away, as from “decis”."""
    return f"{quoted(term)}*" if term.endswith("s") else quoted(term)


def _stem_of(database: Database, begun: str, words: str) -> str:
    """The longest stem that a word begins with: “decisi” is no beginning of “decis”, the stem of “decisions”."""
    known = database.rows(
        f"SELECT term FROM json_each(?) AS stem CROSS JOIN {VOCABULARY[words]} ON term = stem.value",  # noqa: S608
        (json.dumps([begun[:length] for length in range(SHORTEST_STEM, min(len(begun), LONGEST_STEM))]),),
    )
    return max((term for (term,) in known), key=len, default="")


def quoted(text: str) -> str:
    """A literal FTS5 string: no operator of the query language survives in it."""
    cleaned = text.replace("\x00", " ").replace('"', '""')
    return f'"{cleaned}"'
