"""The two legs of a search, by words and by meaning: what a question asks of each, and what each finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from donna_tui.index.database import Beside, Database
from donna_tui.index.documents import Place, places_of
from donna_tui.index.filters import Scope, words_of
from donna_tui.index.keyword import KeywordMatch, begun_word, holds_word, newest, quoted, search_words
from donna_tui.index.vectors import Vector, VectorIndex, stored_vectors
from donna_tui.search.names import Named, named_by
from donna_tui.search.query import Query, parse_query
from donna_tui.types.search import Filters, Mode, SearchRequest

CANDIDATES = 100
"""Chunks asked of each leg at the least; a request for more hits asks for four times as many as it wants."""


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed request, with the vector of its text where there is a model, and how far that model reads the text."""

    request: SearchRequest
    query: Query
    vector: Vector | None = None
    trust: float = 1.0
    mode: Mode = "hybrid"
    note: str = ""
    reason: str = ""

    @property
    def narrows(self) -> bool:
        """Whether any filter is set, so that the scope alone is worth listing."""
        return self.query.filters != Filters(user_id=self.query.filters.user_id)

    @property
    def scope(self) -> Scope:
        """Filters, demanded phrases and forbidden words: what acts inside both legs."""
        return Scope(self.query.filters, self.query.required, self.query.forbidden, self.query.demanded)


def ask(request: SearchRequest) -> Question:
    """Parse a request."""
    return Question(request, parse_query(request.text, request.filters), mode=request.mode)


@dataclass(frozen=True, slots=True)
class Words:
    """What the keyword leg found, best first: BM25 by the chunks' integer keys.

    It is done before the other one: meanwhile it looks up where its passages stand and, for a hybrid search, their
    vectors as they are stored, and the notes that the question names.
    """

    scores: Mapping[int, float]
    places: Mapping[int, Place]
    vectors: Mapping[int, bytes]
    half_typed: bool = False
    named: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found, best first; of the vectors the cosines by the chunks' integer keys."""

    words: Words
    meaning: Mapping[int, float]


def candidates_for(k: int) -> int:
    """How many chunks each leg is asked of, for k hits."""
    return max(CANDIDATES, 4 * k) if k else 0


def both_legs(database: Database, vectors: VectorIndex, question: Question, limit: int) -> Legs:
    """One after the other."""
    return Legs(by_words(database, question, limit), by_meaning(database, vectors, question, limit))


def by_words(database: Database, question: Question, limit: int, beside: Beside | None = None) -> Words:
    """The keyword leg; `beside` starts a part of it on another connection."""
    half_typed = is_half_typed(database, question)
    if question.mode == "semantic":
        return Words({}, {}, {}, half_typed)
    found = matches(database, question, limit, beside, half_typed=half_typed)
    named = named_by(database, question.query, question.request.filters, question.request.text) if limit else ()
    ids = [*(match.id for match in found), *(each.id for each in named)]
    vectors = stored_vectors(database, ids) if question.mode == "hybrid" else {}
    return Words({match.id: match.score for match in found}, places_of(database, ids), vectors, half_typed, named)


def by_meaning(database: Database, vectors: VectorIndex, question: Question, limit: int) -> dict[int, float]:
    """The vector leg."""
    if question.vector is None or question.mode == "keyword":
        return {}
    return {match.id: match.score for match in vectors.search(database, question.vector, question.scope, limit)}


def matches(
    database: Database, question: Question, limit: int, beside: Beside | None = None, *, half_typed: bool
) -> list[KeywordMatch]:
    """The keyword leg; without any word to look for, the newest notes that the filters let through."""
    if question.query.terms:
        terms = _terms(database, question.query, half_typed=half_typed)
        return search_words(database, terms, question.scope, limit, beside)
    return newest(database, question.scope, limit) if question.narrows or question.query.without else []


def _terms(database: Database, query: Query, *, half_typed: bool) -> list[str]:
    """What the keyword leg looks for; while the user types, also the words that the last one may become."""
    if not half_typed:
        return list(query.literals)
    word, begun = quoted(query.begun), begun_word(database, query.begun, words_of(query.filters))
    return [begun if literal == word else literal for literal in query.literals]


def is_half_typed(database: Database, question: Question) -> bool:
    """Whether the last word is only the beginning of one: no passage holds it as it stands, and somebody types."""
    begun = question.query.begun if question.request.partial else ""
    return bool(begun) and not holds_word(database, begun, words_of(question.query.filters))
