"""One search: parse, ask both legs inside the scope, fuse, and load the passages with their citations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from donna_tui.index.database import Database
from donna_tui.index.documents import number_of_notes, places_of
from donna_tui.index.filters import Scope
from donna_tui.index.keyword import Beside, KeywordMatch, begun_word, holds_word, newest, quoted, search_words
from donna_tui.index.packing import Vector
from donna_tui.index.vectors import VectorIndex, cosines_of, vectors_of
from donna_tui.records import dataclass
from donna_tui.results import Filters, Hit, Mode, SearchOutcome, SearchRequest
from donna_tui.search.query import Query, parse_query
from donna_tui.search.ranking import Candidate, Ranked, fuse, lifted
from donna_tui.search.relevance import LOOKED_AT, answers, wanted
from donna_tui.search.snippets import LateSnippet
from donna_tui.search.told_of import compare

CANDIDATES = 100
"""Chunks asked of each leg at the least; a request for more hits asks for four times as many as it wants."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Of the configuration's `retrieval` block: the cosine under which a passage that shares no word is not a hit.

    `patience` is how long a search waits for the vector of its question, in seconds: then it is by words.
    """

    min_score: float
    max_k: int
    patience: float = 5.0


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
        return Scope(self.query.filters, self.query.required, self.query.forbidden)


def ask(request: SearchRequest) -> Question:
    """Parse a request."""
    return Question(request, parse_query(request.text, request.filters), mode=request.mode)


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found, best first: the scores (BM25 and cosine) by the chunks' integer keys."""

    words: Mapping[int, float]
    meaning: Mapping[int, float]


def by_words(database: Database, question: Question, limit: int, beside: Beside | None = None) -> dict[int, float]:
    """The keyword leg; `beside` starts a part of it on another connection."""
    if question.mode == "semantic":
        return {}
    return {match.id: match.score for match in matches(database, question, limit, beside)}


def by_meaning(database: Database, vectors: VectorIndex, question: Question, limit: int) -> dict[int, float]:
    """The vector leg."""
    if question.vector is None or question.mode == "keyword":
        return {}
    return {match.id: match.score for match in vectors.search(database, question.vector, question.scope, limit)}


def wanted_hits(request: SearchRequest, settings: Settings) -> int:
    """How many hits a request gets at most."""
    return max(0, min(request.k, settings.max_k))


def candidates_for(k: int) -> int:
    """How many chunks each leg is asked of, for k hits."""
    return max(CANDIDATES, 4 * k) if k else 0


def search(
    database: Database, vectors: VectorIndex, question: Question, settings: Settings, legs: Legs | None = None
) -> SearchOutcome:
    """Answer a question; `legs` are what was found for it already, by two readers at a time. Raises DatabaseError only.

    What was deleted since is left out.
    """
    request = question.request
    k = wanted_hits(request, settings)
    half_typed = is_half_typed(database, question)
    judged = judge(database, vectors, question, settings, k, legs, half_typed=half_typed)
    near = judged.others[:k] if request.near_misses or not judged.hits else []
    rows = _load(database, [*judged.hits[:k], *near])
    terms = question.query.terms

    def hit(one: Ranked) -> Hit:
        return _hit(one, rows[one.id], terms, half_typed=half_typed)

    return SearchOutcome(
        request=request,
        mode=question.mode,
        hits=tuple(hit(one) for one in judged.hits[:k] if one.id in rows),
        near_misses=tuple(hit(one) for one in near if one.id in rows),
        searched_notes=number_of_notes(database, question.query.filters.user_id),
        note=question.note,
        reason=question.reason,
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of a question, best first. Where none of them answers it, none is a hit."""

    hits: list[Ranked]
    others: list[Ranked]
    answered: bool


def judge(
    database: Database,
    vectors: VectorIndex,
    question: Question,
    settings: Settings,
    k: int,
    legs: Legs | None = None,
    *,
    half_typed: bool,
) -> Judged:
    """Rank the candidates for k hits, and tell hits from the others; `half_typed` is what `is_half_typed` says."""
    limit = candidates_for(k)
    if legs is None:
        legs = Legs(by_words(database, question, limit), by_meaning(database, vectors, question, limit))
    ranked = _rank(database, question, legs)
    best = [one for one in ranked if is_relevant(one, settings.min_score)][:LOOKED_AT]
    leads = _leads(question, best, _load(database, best), half_typed=half_typed)
    if leads is None:
        return Judged([], ranked, answered=False)
    ranked = lifted(ranked, leads)
    hits = [one for one in ranked if is_relevant(one, settings.min_score)]
    return Judged(hits, [one for one in ranked if not is_relevant(one, settings.min_score)], answered=True)


def is_relevant(one: Ranked, min_score: float) -> bool:
    """A shared word is never cut by the threshold of the vectors."""
    return one.keyword_rank is not None or (one.cosine is not None and one.cosine >= min_score)


def _leads(
    question: Question, best: Sequence[Ranked], rows: Mapping[int, _Row], *, half_typed: bool
) -> dict[int, float] | None:
    """By how much the best passages of conversations tell what is asked more of whom the question names than of others.

    None where no passage answers the question, or they tell it of the other person. Only a search by words and meaning
    can say so.
    """
    if question.mode != "hybrid" or question.vector is None or not question.query.terms:
        return {}
    asked_for = wanted(question.query, partial=half_typed)
    found = [one for one in best if one.id in rows]
    if best and not any(answers(asked_for, one.cosine, rows[one.id].whole) for one in found):
        return None
    told = compare(question.query.text, asked_for.stems, [rows[one.id].content for one in found])
    return None if told.is_of_another else dict(zip((one.id for one in found), told.leads, strict=False))


def _rank(database: Database, question: Question, legs: Legs) -> list[Ranked]:
    words, meaning = legs.words, legs.meaning
    cosines = dict(meaning)
    if question.vector is not None and question.mode == "hybrid":
        cosines |= cosines_of(database, sorted(words.keys() - meaning.keys()), question.vector)
    places = places_of(database, [*words, *(each for each in meaning if each not in words)])
    candidates = [
        Candidate(each, at.document, at.first, words.get(each), cosines.get(each), at.last, at.is_turn)
        for each, at in places.items()
    ]
    return fuse(candidates, list(words), list(meaning), trust=question.trust)


def matches(database: Database, question: Question, limit: int, beside: Beside | None = None) -> list[KeywordMatch]:
    """The keyword leg; without any word to look for, the newest notes that the filters let through."""
    if question.query.terms:
        return search_words(database, _terms(database, question), question.scope, limit, beside)
    return newest(database, question.scope, limit) if question.narrows else []


def _terms(database: Database, question: Question) -> list[str]:
    """What the keyword leg looks for; while the user types, also the words that the last one may become."""
    query = question.query
    if not is_half_typed(database, question):
        return list(query.literals)
    word, begun = quoted(query.begun), begun_word(database, query.begun)
    return [begun if literal == word else literal for literal in query.literals]


def is_half_typed(database: Database, question: Question) -> bool:
    """Whether the last word is only the beginning of one: no passage holds it as it stands, and somebody types."""
    begun = question.query.begun if question.request.partial else ""
    return bool(begun) and not holds_word(database, begun)


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    chunk_id: str
    document_id: str
    source_type: str
    path: str
    title: str
    heading_path: str
    start_line: int
    end_line: int
    content: str
    uri: str
    sensitive: int
    metadata: str

    @property
    def whole(self) -> str:
        """Everything that the words of a question may be found in."""
        return f"{self.title} {self.path} {self.heading_path} {self.content}"


def _load(database: Database, ranked: Sequence[Ranked]) -> dict[int, _Row]:
    marks = ", ".join("?" * len(ranked))
    rows = database.rows(
        "SELECT c.id, c.chunk_id, d.id, d.source_type, d.source_id, d.title, c.heading_path, c.start_line, c.end_line,"  # noqa: S608
        " c.content, d.uri, d.sensitive, d.metadata_json FROM memory_chunks c"
        f" JOIN memory_documents d ON d.id = c.document_id WHERE c.id IN ({marks})",
        [one.id for one in ranked],
    )
    return {row[0]: _Row(*row) for row in rows}


def _hit(one: Ranked, row: _Row, terms: tuple[str, ...], *, half_typed: bool) -> Hit:
    sensitive = bool(row.sensitive)
    return Hit(
        chunk_id=row.chunk_id,
        document_id=row.document_id,
        source_type=row.source_type,
        path=row.path,
        title=row.title,
        heading_path=tuple(json.loads(row.heading_path)),
        start_line=row.start_line,
        end_line=row.end_line,
        content=row.content,
        snippet=LateSnippet(row.content, terms, partial=half_typed),
        score=None if one.cosine is None else max(0.0, min(1.0, one.cosine)),
        rank_score=one.rank_score,
        vector_rank=one.vector_rank,
        keyword_rank=one.keyword_rank,
        uri=row.uri,
        sensitive=sensitive,
        metadata={**json.loads(row.metadata or "{}"), "sensitive": sensitive},
    )


def more_like(database: Database, vectors: VectorIndex, hit: Hit, request: SearchRequest) -> SearchOutcome:
    """Passages of other notes that mean the same as a hit; without its vector, those that share its words."""
    known = database.rows("SELECT id FROM memory_chunks WHERE chunk_id = ?", (hit.chunk_id,))
    vector = next(iter(vectors_of(database, [known[0][0]]).values()), None) if known else None
    filters = replace(request.filters, exclude=(*request.filters.exclude, hit.path))
    text = " ".join(hit.content.split()[:40]).replace('"', " ")
    query = Query(words=tuple(text.split()), filters=filters)
    mode: Mode = "keyword" if vector is None else "semantic"
    note = "by shared words: this passage has no vector yet" if vector is None else ""
    asked = replace(request, text=f"like {hit.title}", filters=filters, mode=mode)
    return search(database, vectors, Question(asked, query, vector, mode=mode, note=note), Settings(0.0, request.k))
