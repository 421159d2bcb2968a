"""The keyword leg: FTS5 with BM25 over title, heading path and text."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from string import ascii_lowercase

import apsw

from donna_tui.index.candidate_pruning import Level, choose_level, whole
from donna_tui.index.database import Database, RunParallel
from donna_tui.index.documents import last_chunk
from donna_tui.index.filters import (
    ALL_CHUNKS,
    FTS_TABLE,
    PUBLIC_FTS_TABLE,
    Scope,
    ScoredChunk,
    all_in_scope,
    conditions,
    document_conditions,
    first_in_scope,
    fts_table_of,
    quoted,
)
from donna_tui.index.sampling import Range, halves, span
from donna_tui.index.scope import ScopeMembership, estimate_scope, is_one_note
from donna_tui.text.words import is_one_character, last_part, spelling_pattern

CANDIDATES_PER_RESULT = 2
"""Candidates ranked per chunk wanted in a scope of all passages; proportionally more in a smaller scope."""

NARROW, SHORT = 0.3, 30_000
"""Largest share of the documents, and most passages, for which a scope is listed and only its members are ranked.

Listing takes the same time for rare and common words, half a millisecond for 1,000 passages; testing the best matches
takes longer the smaller the share and the commoner the words. At 100,000 passages the two break even at a share of 0.4.
"""

ALSO_IN_NOTE = 0.5
"""Exponent of a term's rarity within the note that multiplies its BM25 score, in a search of one note.

Measured on questions of six sets asked within their note; docs/retrieval.md has the figures.
"""

WEIGHTS = "3.0, 2.0, 1.0, 1.0"
"""BM25 weights of the title with properties, the heading path, the text, and the segments of unspaced scripts."""

ALL_KEYS: Range = (0, 2**63 - 1)
"""The smallest and the largest key that a chunk can have."""

TIGHT = 0.5
"""Largest share of all keys for which the ranges of a scope are searched instead of the whole index."""


def search_words(
    database: Database, terms: Sequence[str], scope: Scope, limit: int, run_parallel: RunParallel | None = None
) -> list[ScoredChunk]:
    """Return the best chunks inside a scope for any of some terms, which are FTS5 expressions, best first.

    A scope that is not narrow is applied only to the best matches, because ranking all of it would take longer.
    """
    if not terms or limit < 1:
        return []
    if is_one_note(database, scope.filters):
        return _best_in_note(database, terms, scope, limit)
    estimate = estimate_scope(database, scope, run_parallel)
    if estimate.share <= NARROW and estimate.share * last_chunk(database) <= SHORT:
        return rank_scope(database, terms, scope, limit, estimate.members)
    ranges, share = whole(database), estimate.share
    if estimate.members is not None and span(estimate.members.ranges) <= TIGHT * span(ranges):
        ranges, share = estimate.members.ranges, estimate.members.density
    candidates = math.ceil(CANDIDATES_PER_RESULT * limit / share)
    table = fts_table_of(scope.filters)
    level = choose_level(database, terms, candidates, ranges, table)
    best = _best_at_level(database, level, candidates, ranges, run_parallel, table) if level.within else []
    if len(best) < candidates:
        best = rank_all(database, terms, candidates, table, ranges)
    known = {match.id: match for match in best}
    if estimate.members is None:
        first = first_in_scope(database, scope, list(known), limit, share)
    else:
        first = estimate.members.first(list(known), limit)
    if len(first) == limit or len(best) < candidates:
        return [known[key] for key in first]
    return rank_scope(database, terms, scope, limit, estimate.members)


def _best_at_level(
    database: Database, level: Level, limit: int, ranges: Sequence[Range], run_parallel: RunParallel | None, table: str
) -> list[ScoredChunk]:
    """Return the best matches at a level, ranking the newer half of the chunks in parallel if possible."""

    def best_in(connection: Database, part: Sequence[Range]) -> list[ScoredChunk]:
        listed = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608
        return [
            match
            for keys in part
            for match in _rank_inside(connection, level.ranked_by, listed, [level.within, *keys], limit, table, keys)
        ]

    if run_parallel is None:
        return _first(best_in(database, ranges), limit)
    older, newer = halves(ranges)
    parallel = run_parallel(lambda connection: best_in(connection, newer))
    return _first([*best_in(database, older), *parallel()], limit)


def _first(matches: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
    return sorted(matches, key=lambda match: (-match.score, match.id))[:limit]


def rank_all(
    database: Database, terms: Sequence[str], limit: int, table: str, ranges: Sequence[Range] = (ALL_KEYS,)
) -> list[ScoredChunk]:
    """Rank all matches, whatever the cost: the reference for measuring levels."""
    any_term = " OR ".join(terms)
    found = [match for keys in ranges for match in _rank_inside(database, any_term, "", [], limit, table, keys)]
    return _first(found, limit)


def rank_scope(
    database: Database, terms: Sequence[str], scope: Scope, limit: int, members: ScopeMembership | None = None
) -> list[ScoredChunk]:
    """Rank all matches in a scope, listing its passages unless they are known."""
    any_term, table = " OR ".join(terms), fts_table_of(scope.filters)
    if members is not None:
        return _rank_inside(database, any_term, _GIVEN, [members.listed], limit, table)
    where, parameters = conditions(scope)
    listed = f"SELECT c.id FROM {ALL_CHUNKS} WHERE {where}"  # noqa: S608
    return _rank_inside(database, any_term, listed, parameters, limit, table)


_GIVEN = "SELECT value FROM json_each(?)"


def _best_in_note(database: Database, terms: Sequence[str], scope: Scope, limit: int) -> list[ScoredChunk]:
    """Rank by how rare the terms are within the note too, because frequent terms do not distinguish its passages."""
    inside, table = all_in_scope(database, scope), fts_table_of(scope.filters)
    scores: defaultdict[int, float] = defaultdict(float)
    for term in terms:
        found = _rank_inside(database, term, _GIVEN, [json.dumps(inside)], len(inside), table)
        # the inverse document frequency in the form that is never negative (Lucene's BM25)
        weight = math.log(1.0 + (len(inside) - len(found) + 0.5) / (len(found) + 0.5)) ** ALSO_IN_NOTE
        for match in found:
            scores[match.id] += weight * match.score
    best = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
    return [ScoredChunk(*row) for row in best[:limit]]


def _rank_inside(
    database: Database,
    expression: str,
    inside: str,
    parameters: Sequence[object],
    limit: int,
    table: str,
    keys: Range = ALL_KEYS,
) -> list[ScoredChunk]:
    """Rank only the chunks that a subquery lists, within a range of keys; all of them without a subquery."""
    listed = f" AND +rowid IN ({inside})" if inside else ""  # the plus prevents a lookup per row
    rows = database.rows(
        f"SELECT rowid, -bm25({table}, {WEIGHTS}) AS score FROM {table} WHERE {table} MATCH ?"  # noqa: S608
        f" AND rowid BETWEEN ? AND ?{listed} ORDER BY score DESC, rowid LIMIT ?",
        [expression, *keys, *parameters, limit],
    )
    return [ScoredChunk(*row) for row in rows]


def newest(database: Database, scope: Scope, limit: int) -> list[ScoredChunk]:
    """Return the first passages of the latest notes in a scope; an excluded word excludes the whole note.

    None matches better than another: their scores differ just enough to keep the order.
    """
    where, parameters = document_conditions(scope.filters)
    if scope.without:
        table = fts_table_of(scope.filters)
        holding = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608
        where += f" AND d.id NOT IN (SELECT p.document_id FROM memory_places p WHERE p.id IN ({holding}))"  # noqa: S608
        parameters = [*parameters, scope.forbidden]
    rows = database.rows(
        f"SELECT c.id FROM {ALL_CHUNKS} WHERE c.chunk_index = 0 AND {where}"  # noqa: S608
        " ORDER BY d.dated_at DESC, c.id LIMIT ?",
        [*parameters, limit],
    )
    return [ScoredChunk(each, 1.0 - place / 1_000_000) for place, (each,) in enumerate(rows)]


SHORTEST_STEM, LONGEST_STEM = 3, 40

MAX_COMPLETIONS = 8
"""Completions of a prefix that are searched, those in most passages. FTS5 supports prefix queries, but merges
the postings for each expression and each stretch of the index: 50 ms for “con” among 70,000 passages, where this takes
15.
"""

TOKENIZER_OPTIONS = ["unicode61", "remove_diacritics", "2"]
"""The options of the tokenizer "porter" of both keyword indexes."""

VOCABULARY = {FTS_TABLE: "memory_words", PUBLIC_FTS_TABLE: "memory_public_words"}
"""The vocabulary of each keyword index, with the number of passages that contain each word."""


def holds_word(database: Database, word: str, table: str) -> bool:
    """Return whether any passage of a keyword index contains a word, in any of its forms."""
    exists = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {table} MATCH ?)"  # noqa: S608
    return bool(database.value(exists, (quoted(word),)))


def unknown_words(database: Database, text: str, table: str) -> set[str]:
    """Return the words of a text, without punctuation, that no passage of a keyword index contains in any form."""
    unknown = (
        "SELECT value FROM json_each(?) WHERE NOT EXISTS"  # noqa: S608
        f" (SELECT 1 FROM {table} WHERE {table} MATCH '\"' || value || '\"')"
    )
    return set(database.column(unknown, (json.dumps(text.split()),)))


def one_edit_away(database: Database, word: str, table: str) -> str:
    """Return a word that a passage contains and that differs from a word in lower case by one typing error: two letters
    swapped, one missing, one too many, or another one, in this order. Empty if there is none.

    All words at a Damerau–Levenshtein distance of 1 are candidates (Norvig, “How to Write a Spelling Corrector”).
    """
    cuts = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]  # the first letter is rarely wrong
    swapped = [f"{left}{right[1]}{right[0]}{right[2:]}" for left, right in cuts if len(right) > 1]
    added = [f"{left}{letter}{right}" for left, right in cuts for letter in ascii_lowercase]
    removed = [f"{left}{right[1:]}" for left, right in cuts if right]
    replaced = [f"{left}{letter}{right[1:]}" for left, right in cuts if right for letter in ascii_lowercase]
    edits = dict.fromkeys((*swapped, *added, *removed, *replaced))
    # All stems with the first letter are read at once: a lookup of each edit takes four times as long.
    stems = f"SELECT term FROM {VOCABULARY[table]} WHERE term >= ? AND term < ?"  # noqa: S608
    known = {*database.column(stems, (word[0], f"{word[0]}\U0010ffff"))}
    tokenize = database.connection.fts5_tokenizer("porter", TOKENIZER_OPTIONS)

    def is_known(edit: str) -> bool:
        plain = {"include_offsets": False, "include_colocated": False}
        return known.issuperset(tokenize(edit.encode(), apsw.FTS5_TOKENIZE_QUERY, None, **plain))

    # a passage with “unit” has a form of “unie”
    return next((edit for edit in edits if is_known(edit) and holds_whole_word(database, edit, table)), "")


_GERMAN_ENDINGS = ("(?:e[mnrs]?|ern|in(?:nen)?|n|s)?", "(?:e?n|e?s?t|e|ten?|ung(?:en)?)?")
"""The endings of nouns and adjectives, and of verbs with their nouns: a word has one or the other."""
_IN_COMPOUNDS = "(?:e?n|e)?"
"""The endings of a word that are not in its compounds, as that of “Miete” is not in “Mietvertrag”."""
_PARTICIPLE = re.compile(r"ge(\w{4,}(?:t|en))")
SHORTEST_GERMAN_STEM, LONGEST_ENDING, SHORTEST_PART = 4, 5, 3
"""Letters of the stem of a German word, of its ending, and of the second part of a compound."""
MAX_FORMS = 8

COUNTED, GERMAN_SHARE = 1_000, 0.1
"""Maximum number of passages that are counted, and the least number of those with “und” for each one with “the”."""


def holds_german(database: Database, table: str) -> bool:
    """Return whether more than a few passages of a keyword index are German."""
    having = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT {COUNTED})"  # noqa: S608
    german, english = (int(database.value(having, (word,)) or 0) for word in ("und", "the"))
    return german > GERMAN_SHARE * english


def german_forms(database: Database, word: str, table: str) -> list[str]:
    """Return the words of a keyword index that are a word without accents with another German ending: “mahnung” for
    “mahnungen”.

    A word that no passage contains may also be a participle, such as “gemahnt”, or else the first part of compounds.
    """
    if not SHORTEST_GERMAN_STEM <= len(word) <= LONGEST_STEM:
        return []
    tokenize = database.connection.fts5_tokenizer("porter", TOKENIZER_OPTIONS)
    own = tokenize(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
    begun = f"SELECT term FROM {VOCABULARY[table]} WHERE term >= ? AND term < ? ORDER BY doc DESC"  # noqa: S608

    def begun_by(base: str, endings: Sequence[str], after: str = "") -> list[str]:
        stems = [_stems(base, ending) for ending in endings]
        shortest = min((each[0] for each in stems), key=len)
        patterns = (f"(?:{'|'.join(each)}){after or ending}" for each, ending in zip(stems, endings, strict=True))
        pattern = re.compile("|".join(patterns))
        found = database.column(begun, (shortest, f"{shortest}\U0010ffff"))
        return [term for term in found if term not in own and pattern.fullmatch(term)]

    forms = begun_by(word, _GERMAN_ENDINGS)
    if not forms and len(word) > SHORTEST_GERMAN_STEM and not holds_word(database, word, table):
        participle = _PARTICIPLE.fullmatch(word)
        forms = begun_by(participle[1], _GERMAN_ENDINGS[1:]) if participle else []
        forms = forms or begun_by(word, (_IN_COMPOUNDS,), rf"\w{{{SHORTEST_PART},}}")
    return forms[:MAX_FORMS]


def _stems(word: str, ending: str) -> list[str]:
    """Return what may be the stem of a word with an ending, such as none."""
    lengths = range(max(SHORTEST_GERMAN_STEM, len(word) - LONGEST_ENDING), len(word) + 1)
    return [word[:length] for length in lengths if re.fullmatch(ending, word[length:])]


MAX_READ = 50
"""Maximum number of passages that are read for the spelling of a word."""
MAX_BEGUN = 1_000
"""Maximum number of passages that are read for a word that begins like a prefix; FTS5 finds many others as well."""


def holds_spelling(database: Database, word: str, table: str) -> bool:
    """Return whether one of the first passages that contain a word spells it like this (`spelling_pattern`); the
    keyword index has neither accents nor the separators of numbers.
    """
    return _first_with(database, quoted(word), f"matches(?, {_TEXT})", spelling_pattern(word), table) is not None


def holds_whole_word(database: Database, word: str, table: str) -> bool:
    """Return whether one of the first passages that contain a form of a word contains the word itself, with or without
    its accents.
    """
    holds = "holds_phrases(?, d.search_title, c.heading_path, c.content)"
    return _first_with(database, quoted(word), holds, json.dumps([word]), table) is not None


_TEXT = "d.search_title || ' ' || c.heading_path || ' ' || c.content"


def _first_with(
    database: Database, expression: str, condition: str, value: str, table: str, most: int = MAX_READ
) -> str | None:
    """Return all text of the first passage that meets a condition with a value, among the first `most` that an FTS5
    expression matches; None if none does.
    """
    found = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {most}"  # noqa: S608
    text: str | None = database.value(
        f"SELECT {_TEXT} FROM ({found}) AS found CROSS JOIN memory_chunks c ON c.id = found.rowid"  # noqa: S608
        f" JOIN memory_documents d ON d.id = c.document_id WHERE {condition} LIMIT 1",
        (expression, value),
    )
    return text


def prefix_query(database: Database, word: str, table: str) -> str:
    """Build an FTS5 expression for the prefix of a word: the words of the index that complete it, after its parts that
    are complete, as in “load_spik”.
    """
    prefix = last_part(word)
    before, prefix = word.removesuffix(prefix), prefix.casefold()
    if is_one_character(word):
        return f"{quoted(word)}*"
    if len(prefix) < SHORTEST_STEM:
        return f"{quoted(word)}*" if prefix and re.search(r"\w", before) else quoted(word)
    terms = database.column(
        f"SELECT term FROM {VOCABULARY[table]} WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?",  # noqa: S608
        (prefix, f"{prefix}\U0010ffff", MAX_COMPLETIONS),
    )
    # FTS5 would stem a stem again, such as “decis” to “deci”
    completed = [f"{quoted(before + term)}*" if term.endswith("s") else quoted(before + term) for term in terms]
    if not completed and (whole := _word_begun(database, prefix, table)):
        return quoted(before + whole)
    return f"({' OR '.join(completed)})" if completed else f"{quoted(before + prefix)}*"


def _word_begun(database: Database, prefix: str, table: str) -> str:
    """Return a word of some text that a prefix longer than its stem begins: “decisions”, of which “decis” is the stem,
    for “decisi”, but not “unit” for “universi”. Empty if there is none.
    """
    known = database.column(
        f"SELECT term FROM json_each(?) AS stem CROSS JOIN {VOCABULARY[table]} ON term = stem.value",  # noqa: S608
        (json.dumps([prefix[:length] for length in range(SHORTEST_STEM, min(len(prefix), LONGEST_STEM))]),),
    )
    if not known:
        return ""
    pattern = rf"(?i:(?<![^\W_]){re.escape(prefix)})[^\W_]*"
    stems = f"{quoted(max(known, key=len))}*"
    text = _first_with(database, stems, f"matches(?, {_TEXT})", pattern, table, MAX_BEGUN)
    found = re.search(pattern, text or "")
    return found[0] if found else ""
