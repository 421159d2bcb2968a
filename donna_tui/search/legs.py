"""The two legs of a search, keyword and semantic: the input and the results of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from donna_tui.index.database import Database, RunParallel
from donna_tui.index.documents import ChunkPosition, places_of
from donna_tui.index.filters import ScoredChunk, fts_table_of, quoted
from donna_tui.index.keyword import (
    german_forms,
    holds_german,
    holds_spelling,
    holds_whole_word,
    holds_word,
    newest,
    prefix_query,
    search_words,
)
from donna_tui.index.names import newest_named
from donna_tui.index.scope import is_one_note
from donna_tui.index.vectors import Vector, VectorIndex, stored_vectors
from donna_tui.search.names import Named, has_unknown_word, named_by
from donna_tui.search.passages import PassageCache
from donna_tui.search.query import Query, is_kind_of_note, latest_of, parse_query, without_joined
from donna_tui.search.ranking import TOP_CANDIDATES, QueryContent, asking_words, query_content
from donna_tui.text.words import (
    PUNCTUATION,
    STOP_WORDS,
    irregular_forms,
    is_formatted_number,
    is_one_character,
    last_part,
    other_article,
    other_spellings,
    plain,
    stem,
)
from donna_tui.types.search import Mode, SearchRequest

CANDIDATES = 100
"""Minimum number of chunks requested from each leg; a request for more hits requests four times as many as it needs."""


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed request, with the vector of its text and the share of the text that the model can read. `is_known` is
    whether the model knows most of its words.
    """

    request: SearchRequest
    query: Query
    vector: Vector | None = None
    readable_share: float = 1.0
    mode: Mode = "hybrid"
    note: str = ""
    reason: str = ""
    is_known: bool = True


def ask(request: SearchRequest) -> Question:
    """Parse a request."""
    return Question(request, parse_query(request.text, request.filters), mode=request.mode)


@dataclass(frozen=True, slots=True)
class KeywordLeg:
    """The results of the keyword leg, best first: BM25 scores by the chunks' integer keys.

    This leg finishes first, and meanwhile looks up the positions of its passages and the notes that the question names.
    For a hybrid search it also reads the stored vectors of its passages, and determines the largest share of the
    question's words that one of the best of them contains. `in_note` is set if the scope is a single note, `misspelt`
    if a word occurs in no text. `query` is that of the question, in the spelling of the index.
    """

    query: Query
    scores: Mapping[int, float]
    places: Mapping[int, ChunkPosition]
    vectors: Mapping[int, bytes]
    named: tuple[Named, ...] = ()
    in_note: bool = False
    coverage: float = 1.0
    misspelt: bool = False


@dataclass(frozen=True, slots=True)
class Legs:
    """The results of both legs, best first; the semantic leg's are cosines by the chunks' integer keys."""

    keyword: KeywordLeg
    semantic: Mapping[int, float]


def candidates_for(k: int) -> int:
    """Return the number of chunks to request from each leg for k hits."""
    return max(CANDIDATES, 4 * k) if k else 0


def both_legs(database: Database, vectors: VectorIndex, question: Question, limit: int) -> Legs:
    """Run both legs, one after the other."""
    keyword = keyword_leg(database, question, limit)
    return Legs(keyword, semantic_leg(database, vectors, replace(question, query=keyword.query), limit))


def keyword_leg(
    database: Database, question: Question, limit: int, run_parallel: RunParallel | None = None
) -> KeywordLeg:
    """Run the keyword leg; `run_parallel` starts part of it on another connection."""
    request = question.request
    query = _respelt(database, _latest_dated(database, question.query))
    if _last_word_is_begun(database, query, typing=request.typing):
        query = replace(query, prefix=query.last_word)
    question, in_note = replace(question, query=query), is_one_note(database, query.filters)
    if question.mode == "semantic":
        return KeywordLeg(query, {}, {}, {}, in_note=in_note)
    found = matches(database, question, limit, run_parallel)
    named = named_by(database, query, request.filters, request.text) if limit else ()
    ids = [*(match.id for match in found), *(note.id for note in named)]
    vectors = stored_vectors(database, ids) if question.mode == "hybrid" else {}
    scores = {match.id: match.score for match in found}
    coverage, held = 1.0, set[str]()
    if question.mode == "hybrid" and query.terms and not in_note:
        coverage, held = _best_coverage(database, query_content(query), list(scores)[:TOP_CANDIDATES])
    misspelt = not query.prefix and not named and has_unknown_word(database, query, held)
    return KeywordLeg(query, scores, places_of(database, ids), vectors, named, in_note, coverage, misspelt)


MAX_SERIES_WORDS = 5
"""Maximum number of words after “latest” that are looked up as the name of a series."""


def _latest_dated(database: Database, query: Query) -> Query:
    """Resolve “the latest” in a query to the newest note of the series that the next words name, and to its day. The
    names of the note must have these words, up to the first that is more than a kind of note such as “retro”.
    """
    expression, words = latest_of(query)
    words = words[:MAX_SERIES_WORDS]
    least = next((number for number, word in enumerate(words, 1) if not is_kind_of_note(word)), 1)
    newest = newest_named(database, words, query.filters, least) if words else None
    if newest is None:
        return query
    document, at = newest
    day = datetime.fromtimestamp(at).date().isoformat()
    return replace(query, relative=(expression,), days=day, newest=document)


def _respelt(database: Database, query: Query) -> Query:
    """Add to each word another spelling of its umlauts that occurs, “Müller” to “Mueller”; replace a word that occurs
    nowhere, also an excluded one, by it, or by the same Arabic noun with or without its article, and a URL or path that
    occurs nowhere by its end.

    A spelling with the same stem is found anyway, such as “issü” for “issue”. The words of relative dates are kept,
    since they name days.
    """
    table, kept = fts_table_of(query.filters), " ".join(query.relative).split()
    added: list[tuple[str, str]] = []

    def spelling(word: str, *, is_excluded: bool) -> str:
        bare = without_joined(word.strip(f"{PUNCTUATION}€$£"))
        is_word = bare not in kept and bare.lower() not in STOP_WORDS
        others = [other for other in other_spellings(bare) if _stem(other) != _stem(bare)] if is_word else []
        candidates = (*others, *other_article(bare))
        is_known = bool(candidates) and holds_word(database, bare, table)
        if is_known and (is_excluded or not others):
            return word
        found = next((other for other in candidates if holds_spelling(database, other, table)), "")
        is_added = found != "" and not is_excluded and (is_known or is_formatted_number(found))
        if is_added:
            added.append((bare, found))
        return word if is_known or is_added else found or word

    words = tuple(spelling(_known_end(database, word, table), is_excluded=False) for word in query.words)
    without = tuple(spelling(word, is_excluded=True) for word in query.without)
    query = replace(query, words=words, without=without, spellings=tuple(added))
    is_german = holds_german(database, table)

    def forms_of(word: str) -> list[str]:
        irregular = [form for form in irregular_forms(word) if holds_word(database, form, table)]
        return irregular + (german_forms(database, plain(word), table) if is_german and word.isalpha() else [])

    terms = (term.strip(PUNCTUATION) for term in query.terms if term not in kept)
    return replace(query, spellings=(*query.spellings, *((word, form) for word in terms for form in forms_of(word))))


MAX_PARTS = 20
"""Maximum number of parts of a path of which the ends are looked up."""


def _known_end(database: Database, word: str, table: str) -> str:
    """Return the longest end of a URL or path that some passage contains, such as a DOI or the name of a file; the word
    itself if that is known, or no end is. An end of a single word may be anything, and so may one part of a URL.
    """
    parts, is_url = word.split("/"), "://" in word
    if not 2 < len(parts) <= MAX_PARTS or holds_word(database, word, table):
        return word
    ends = ("/".join(parts[at:]) for at in range(1, len(parts) - is_url))
    named = (end for end in ends if re.search(r"[^\W\d_]", end) and re.search(r"[^\W_][\W_]+[^\W_]", end))
    return next((end for end in named if holds_word(database, end, table)), word)


def _stem(word: str) -> str:
    """Return the stem of a word in which ß is not ss, as in the index."""
    return stem(word.replace("ß", "?"))


def _best_coverage(database: Database, content: QueryContent, best: Sequence[int]) -> tuple[float, set[str]]:
    """Return the largest share of the question's words that one of the best passages by words contains, and the stems
    that they contain together.
    """
    most, held = 0.0, set[str]()
    texts = [row.whole for row in PassageCache(database).rows(best).values()]
    for text in texts:
        most = max(most, content.coverage(text))
        held |= content.held_by(text)
        if most == 1.0:
            break
    return (most if texts else 1.0), held


def semantic_leg(database: Database, vectors: VectorIndex, question: Question, limit: int) -> dict[int, float]:
    """Run the semantic leg; excluded words are in the spelling of the index."""
    if question.vector is None or question.mode == "keyword":
        return {}
    return {match.id: match.score for match in vectors.search(database, question.vector, question.query.scope, limit)}


def matches(
    database: Database, question: Question, limit: int, run_parallel: RunParallel | None = None
) -> list[ScoredChunk]:
    """Return the keyword matches; without any word to search for, the newest notes that match the filters."""
    if question.query.terms:
        terms = _terms(database, question)
        return search_words(database, terms, question.query.scope, limit, run_parallel)
    is_listed = question.query.filters.any_set or question.query.without
    return newest(database, question.query.scope, limit) if is_listed else []


def _terms(database: Database, question: Question) -> list[str]:
    """Return the FTS5 expressions to search for, with the completions of the prefix and of single characters of scripts
    without spaces. The words by which a hybrid search asks for a section of minutes, or for the last one of a series,
    are left out, unless there are no others, since they are in few of the passages that answer.
    """
    query = question.query
    prefixes = {quoted(word): word for word in query.terms if is_one_character(word)}
    if query.prefix:
        prefixes[quoted(query.prefix)] = query.prefix
    is_hybrid = question.mode == "hybrid"
    asking = {quoted(word) for word in (*asking_words(query), *latest_of(query)[0].split()) if is_hybrid}
    wanted = [literal for literal in query.literals if literal not in asking] or query.literals
    table = fts_table_of(query.filters)
    return [prefix_query(database, prefixes[literal], table) if literal in prefixes else literal for literal in wanted]


def _last_word_is_begun(database: Database, query: Query, *, typing: bool) -> bool:
    """Return whether the last word is a prefix: the user is still typing, and no passage contains it as it is. A single
    character of a script without spaces always is, because such scripts are indexed by pairs of characters.
    """
    word = query.last_word
    if is_one_character(word):
        return True
    return typing and last_part(word) != "" and not holds_whole_word(database, word, fts_table_of(query.filters))
