"""Run a search: query both legs inside the scope, fuse the results, and load the passages with their citations."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import unquote

from donna_tui.index.database import Database
from donna_tui.index.documents import ChunkPosition, has_link, link_key, number_of_notes, places_of
from donna_tui.index.vectors import VectorIndex, cosines_to, stored_vectors, unpacked
from donna_tui.search.legs import KeywordLeg, Legs, Question, both_legs, candidates_for
from donna_tui.search.names import Named, misspelt_by, named_by_prefix
from donna_tui.search.passages import PassageCache, PassageRow
from donna_tui.search.query import SENTENCE, Query
from donna_tui.search.ranking import (
    BOOST_WEIGHT,
    MIN_READABLE_SHARE,
    QUOTES_CHECKED,
    SECTION_WEIGHT,
    TOP_CANDIDATES,
    Candidate,
    QueryContent,
    Ranked,
    answers,
    asking_words,
    asks_who,
    boosted,
    clear_cosine,
    fuse,
    moved_up,
    originals_first,
    query_content,
    rearranged,
    score_within,
)
from donna_tui.search.sections import DECISIONS, section_of
from donna_tui.search.snippets import LazySnippet, parsed
from donna_tui.text.words import STOP_WORDS
from donna_tui.types.search import Hit, MemorySource, Mode, SearchOutcome, SearchRequest

HIGHEST_SCORE = 1.0
"""The fused score of a note that the question names."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The `retrieval` settings. `min_score` is the cosine below which a passage without a shared word is not a hit.

    `patience` is how many seconds a search waits for the vector of its question before it falls back to words.
    """

    min_score: float
    max_k: int
    patience: float = 5.0


NEAR_CHECKED = 30
"""Best near misses that are ordered by what they lack to be answers."""

MAX_HITS = 1_024
"""Maximum number of hits of an uncapped request: a quarter of sqlite-vec's limit."""


def max_hits(request: SearchRequest, settings: Settings) -> int:
    """Return the most hits that a request can have."""
    return max(0, min(request.k, MAX_HITS if request.uncapped else settings.max_k))


def search(
    database: Database, vectors: VectorIndex, question: Question, settings: Settings, legs: Legs | None = None
) -> SearchOutcome:
    """Answer a question; `legs` are the results of the legs if they are known already. Raises DatabaseError only.

    Passages deleted meanwhile are left out.
    """
    request = question.request
    k = max_hits(request, settings)
    legs = legs or both_legs(database, vectors, question, candidates_for(k))
    question = replace(question, query=legs.keyword.query)
    passages = PassageCache(database)
    judged = judge(passages, question, settings, legs)
    near = judged.others[:k] if request.near_misses or not judged.hits else []
    rows = passages.rows([one.id for one in (*judged.hits[:k], *near)])
    terms, filters = question.query.marked, question.query.filters
    named = {note.id: note.name.text for note in judged.named}

    in_note = Counter(one.document for one in judged.hits)
    first = {one.document: one.id for one in (*reversed(near), *reversed(judged.hits))}

    def hit(one: Ranked, *, is_hit: bool = True) -> Hit:
        count = in_note[one.document] if is_hit else 1
        row = rows[one.id]
        has_properties = row.source_type == MemorySource.VAULT and first[one.document] == one.id
        metadata = row.metadata if has_properties else ""
        place = f"{row.title} {row.heading_path}"
        snippet = LazySnippet(row.shown, terms, question.query.prefix, metadata, place)
        return _hit(one, row, snippet, named.get(one.id, ""), in_note=count)

    problems = question.query.problems
    searched = number_of_notes(database, filters.user_id, public=filters.sensitive is False)
    if not judged.hits:
        from donna_tui.search.filters_check import filter_problems, misspelt_words, searched_notes

        if filters.any_set or question.query.required_phrases:
            problems = filter_problems(database, question.query, request.filters)
            searched = searched_notes(database, filters)
        problems = (*problems, *misspelt_words(database, question.query))
    return SearchOutcome(
        request=request,
        mode=question.mode,
        hits=tuple(hit(one) for one in judged.hits[:k] if one.id in rows),
        near_misses=tuple(hit(one, is_hit=False) for one in near if one.id in rows),
        searched_notes=searched,
        filter_problems=problems,
        note=question.note,
        reason=question.reason,
        total=len(judged.hits),
        total_notes=len(in_note),
        at_least=_may_be_more(legs, least_cosine(question, settings), candidates_for(k)),
    )


def _may_be_more(legs: Legs, min_score: float, limit: int) -> bool:
    """Return whether a leg may have more hits than were requested."""
    cosines = list(legs.semantic.values())
    return 0 < limit <= len(legs.keyword.scores) or (0 < limit <= len(cosines) and cosines[-1] >= min_score)


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of a question, best first. If none of them answers it, only notes that it names are hits."""

    hits: list[Ranked]
    others: list[Ranked]
    answered: bool
    named: tuple[Named, ...] = ()


def judge(passages: PassageCache, question: Question, settings: Settings, legs: Legs) -> Judged:
    """Rank the candidates of the legs, and separate hits from near misses. Notes that the question names are first."""
    content = query_content(question.query)
    listed = _listing_section(passages, question, [*legs.keyword.scores, *legs.semantic])
    found = legs.keyword.places
    places = {**found, **places_of(passages.database, [key for key in legs.semantic if key not in found])}
    ranked = _rank(passages, question, legs, listed, places)
    min_score = least_cosine(question, settings)
    empty = {each for each, at in places.items() if at.is_empty}
    asked = listed if _asks_only_for_section(question.query) else frozenset[int]()

    def is_relevant(one: Ranked) -> bool:
        """Return whether a passage can be a hit: it shares a word, it has text and its cosine reaches the threshold, or
        it lists the section, such as “Action items”, if the question asks for nothing else, such as “open tasks”.
        """
        is_close = one.cosine is not None and one.cosine >= min_score and one.id not in empty
        return one.keyword_rank is not None or is_close or one.id in asked

    best = list(islice(filter(is_relevant, ranked), TOP_CANDIDATES))
    boosts = _person_boosts(passages, question, ranked, best, in_note=legs.keyword.in_note)
    if boosts is None:
        hits, others = list[Ranked](), _closest_first(passages, content, ranked)
    else:
        ranked = boosted(ranked, boosts)
        hits = _later_decisions_first(passages, question.query, list(filter(is_relevant, ranked)), listed)
        hits = originals_first(passages, _asked_year_first(passages, content.years, hits), content.stems)
        hits = _successors_first(passages, content, hits)
        others = [one for one in ranked if not is_relevant(one)]
    if empty:
        hits = _with_text_first(hits, empty)
        others.sort(key=lambda one: one.id in empty)
    if named := _named_notes(passages.database, question, legs.keyword, hits):
        ids = {note.id for note in named}
        hits = [*_first(ranked, named), *(one for one in hits if one.id not in ids)]
        others = [one for one in others if one.id not in ids]
    return Judged(hits, others, bool(hits) or boosts is not None, named)


def _named_notes(
    database: Database, question: Question, keyword: KeywordLeg, hits: Sequence[Ranked]
) -> tuple[Named, ...]:
    """Return the notes that a question names. A name with typing errors counts only if no text has one of its words, or
    nothing was found, and so does a heading, or the beginning of the names of many notes.
    """
    if keyword.named or question.mode == "semantic":
        return keyword.named
    if not hits:
        return named_by_prefix(database, question.query) or misspelt_by(database, question.query)
    return misspelt_by(database, question.query) if keyword.misspelt else ()


def _with_text_first(hits: Sequence[Ranked], empty: Collection[int]) -> list[Ranked]:
    """Put the `empty` passages, whose notes may have only a name with the words of the question, after all others."""
    others = [one for one in hits if one.id not in empty]
    lowest = others[-1].rank_score if others else HIGHEST_SCORE
    return [*others, *(one.scored(min(one.rank_score, lowest)) for one in hits if one.id in empty)]


def _first(ranked: Sequence[Ranked], named: Sequence[Named]) -> list[Ranked]:
    """Return the passages of the notes that a question names, with the highest possible score."""
    known = {one.id: one for one in ranked}
    return [
        known.get(note.id, Ranked(note.id, note.document, None, None, None, 1.0)).scored(HIGHEST_SCORE)
        for note in named
    ]


def least_cosine(question: Question, settings: Settings) -> float:
    """Return the cosine from which a passage without a shared word is a hit; none is if the model reads too little."""
    is_read = question.readable_share > MIN_READABLE_SHARE or question.mode == "semantic"
    return settings.min_score if is_read else math.inf


def _person_boosts(
    passages: PassageCache, question: Question, ranked: Sequence[Ranked], best: Sequence[Ranked], *, in_note: bool
) -> dict[int, float] | None:
    """Return the boosts of the best passages of conversations, by how much more they say about the person whom the
    question names than about others.

    Return None if no passage answers the question, or the passages say it about the other person. Only a hybrid search
    can decide that. The best passages need not be close in a search of a single note, which is already chosen, nor for
    a question that asks only for a section, such as “open tasks”.
    """
    if question.mode != "hybrid" or question.vector is None or not question.query.terms:
        return {}
    rows = passages.rows([one.id for one in best])
    found = [one for one in best if one.id in rows]
    content = query_content(question.query)
    is_chosen = in_note or _asks_only_for_section(question.query)
    answered = (_answers(content, one, rows[one.id], is_known=question.is_known) for one in found)
    is_close = is_chosen or not best or any(answered)
    if not is_close and not _one_note_holds_all(passages, content, ranked, best):
        return None
    from donna_tui.search.speaker_attribution import compare

    comparison = compare(question.query.text, content.stems, [rows[one.id].content for one in found])
    return None if comparison.is_of_another else dict(zip((one.id for one in found), comparison.margins, strict=False))


def _answers(content: QueryContent, one: Ranked, row: PassageRow, *, is_known: bool) -> bool:
    """Return whether a passage is close enough. The names of the people in a conversation say nothing: all of its turns
    have them.
    """
    if row.source_type == MemorySource.CHAT:
        content = content.without(f"{row.names} {row.heading_path}")
    clear = clear_cosine(row.content, row.source_type, is_known=is_known)
    return answers(content, one.cosine, content.searched(row), clear)


def _closest_first(passages: PassageCache, content: QueryContent, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Order the best near misses by cosine plus coverage, by which `answers` decides; the others stay behind them."""
    rows = passages.rows([one.id for one in ranked[:NEAR_CHECKED]])
    close = {key: content.coverage(content.searched(row)) for key, row in rows.items()}
    return sorted(ranked, key=lambda one: -(one.cosine or 0.0) - close[one.id] if one.id in close else math.inf)


def _one_note_holds_all(
    passages: PassageCache, content: QueryContent, ranked: Sequence[Ranked], best: Sequence[Ranked]
) -> bool:
    """Return whether a note of the best passages contains every word of the question in all its text together."""
    notes = {one.document for one in best}
    rows = passages.rows([one.id for one in ranked if one.document in notes and one.keyword_rank is not None])
    texts: dict[str, list[str]] = defaultdict(list)
    for row in rows.values():
        if row.source_type == MemorySource.VAULT:
            texts[row.document_id].append(row.whole)
    return any(content.coverage(" ".join(text)) == 1.0 for text in texts.values())


def _rank(
    passages: PassageCache,
    question: Question,
    legs: Legs,
    listed: Collection[int],
    places: Mapping[int, ChunkPosition],
) -> list[Ranked]:
    keyword, semantic = legs.keyword, legs.semantic
    cosines = dict(semantic)
    if question.vector is not None:
        stored = {key: vector for key, vector in keyword.vectors.items() if key not in semantic}
        cosines |= cosines_to(question.vector, stored)
    candidates = [
        Candidate(each, at.document, at.first, keyword.scores.get(each), cosines.get(each), at.last, at.is_turn)
        for each, at in places.items()
    ]
    share, coverage = question.readable_share, 1.0 if question.vector is None else keyword.coverage
    ranked = fuse(candidates, list(keyword.scores), list(semantic), readable_share=share, coverage=coverage)
    if question.mode != "hybrid":
        return ranked
    query = question.query
    ranked = _by_date(passages, query, ranked, in_note=keyword.in_note)
    ranked = boosted(ranked, _by_number(passages, query, ranked))
    if _asks_only_for_section(query):
        ranked = boosted(ranked, dict.fromkeys(listed, 1.0), 1.0)  # above all others
    else:
        ranked = boosted(ranked, _by_section(passages, query, ranked, listed), SECTION_WEIGHT)
    return boosted(ranked, _by_user(passages, query, [each for each, at in places.items() if at.is_turn]))


def _by_date(passages: PassageCache, query: Query, ranked: list[Ranked], *, in_note: bool) -> list[Ranked]:
    """Boost the passages of notes that contain a date of the question, or have it as their own. A date that is the
    note's own selects the note; the rest of the question selects the passage in it, unless only one note is searched.
    Only the latest note of a series is boosted, above all others.

    Turns gain nothing, unless the date is relative: they are often about another day than that of their conversation.
    """
    content = query_content(query)
    if content.dates is None or not ranked:
        return ranked
    rows = passages.rows([one.id for one in ranked])
    notes = {each: row for each, row in rows.items() if row.source_type == MemorySource.VAULT}
    dated = rows if content.relative_stems else notes
    if newest := query.newest:
        notes = {each: row for each, row in notes.items() if row.document_id == newest}
        boosts = _above_all(ranked, notes, BOOST_WEIGHT, 1.0)
    else:
        boosts = {each: float(content.holds_date(content.searched(row))) for each, row in dated.items()}
    ranked = boosted(ranked, boosts)
    if in_note:
        return ranked
    people = asks_who(query)
    own = [(one, notes[one.id]) for one in ranked if one.id in notes and content.holds_date(notes[one.id].about)]
    scores = {
        one.id: score_within(content, row.about, row.content, one.cosine or 0.0, people=people) for one, row in own
    }
    return rearranged(ranked, scores)


def _listing_section(passages: PassageCache, question: Question, ids: Sequence[int]) -> frozenset[int]:
    """Return those of some passages that list what the question asks for: decisions or tasks."""
    section, _ = section_of(question.query.text)
    if section is None or question.mode != "hybrid":
        return frozenset()
    rows = passages.rows(list(dict.fromkeys(ids)))
    return frozenset(each for each, row in rows.items() if section.is_in(json.loads(row.heading_path), row.content))


def _asks_only_for_section(query: Query) -> bool:
    asking = asking_words(query)
    return bool(asking) and {term for term in query.terms if term.lower() not in STOP_WORDS} <= set(asking)


def _by_section(
    passages: PassageCache, query: Query, ranked: Sequence[Ranked], listed: Collection[int]
) -> dict[int, float]:
    """Return the boosts of the passages that list what the question asks for. They are in proportion to the passages'
    scores, and to the share of the other words of the question that they contain, relative to the largest, since such a
    list about another subject or person answers nothing. Words that only the properties of the note have, such as the
    attendees, do not count. Lists with open check boxes that name the person in question are above all others.
    """
    section, _ = section_of(query.text)
    best = (ranked[0].rank_score if ranked else 0.0) or 1.0
    content, rows = query_content(query), passages.rows(list(listed))
    held = {each: content.coverage(f"{row.path} {row.heading_path} {row.content}") for each, row in rows.items()}
    most = max(held.values(), default=0.0)
    boosts = {
        one.id: one.rank_score / best * (held.get(one.id, 0.0) / most if most else 1.0)
        for one in ranked
        if one.id in listed
    }
    owned = [
        each for each in boosts if section and each in rows and content.held_by(section.owners_in(rows[each].content))
    ]
    return boosts | _above_all(ranked, owned, SECTION_WEIGHT, 1.1)  # the other boosts are at most 1


def _above_all(ranked: Sequence[Ranked], ids: Collection[int], weight: float, ahead: float) -> dict[int, float]:
    """Return boosts by which the best of some passages exceeds the best score so far, by `ahead` times the weight."""
    if not ids:
        return {}
    behind = ranked[0].rank_score - next(one.rank_score for one in ranked if one.id in ids)
    return dict.fromkeys(ids, ahead + behind / weight)


def _later_decisions_first(
    passages: PassageCache, query: Query, ranked: list[Ranked], listed: Collection[int]
) -> list[Ranked]:
    """Move each list of decisions above an older one that it may revise: it contains as many words of the question, at
    least one, or its path has all of them, and its note links to the older one, or has the same name apart from the
    date. A question about a date is not about what came later.
    """
    content = query_content(query)
    if section_of(query.text)[0] is not DECISIONS or content.dates is not None:
        return ranked
    rows = passages.rows([one.id for one in ranked[:QUOTES_CHECKED] if one.id in listed])
    held = {
        each: 1.0 if content.coverage(row.path) == 1.0 else content.coverage(row.content) for each, row in rows.items()
    }

    def revises(one: Ranked, older: Ranked) -> bool:
        if one.id not in rows or older.id not in rows or held[one.id] < max(held[older.id], 1e-6):
            return False
        new, old = rows[one.id], rows[older.id]
        is_related = _in_one_series(new.path, old.path) or has_link(passages.database, new.document_id, old.path)
        return new.dated_at > old.dated_at and is_related

    return moved_up(ranked, revises)


def _asked_year_first(passages: PassageCache, years: Collection[str], ranked: list[Ranked]) -> list[Ranked]:
    """Move each note with a year of the question in its path above those of the same series without one."""
    rows = passages.rows([one.id for one in ranked[:QUOTES_CHECKED]]) if years else {}
    asked = {each for each, row in rows.items() if any(year in row.path for year in years)}

    def precedes(one: Ranked, other: Ranked) -> bool:
        return one.id in asked and other.id not in asked and _in_one_series(rows[one.id].path, rows[other.id].path)

    return moved_up(ranked, precedes) if asked else ranked


_LINK = re.compile(r"\[(?:\[([^\]|#]{1,200})|[^\]]{0,200}\]\(([^)#]{1,300})\))")
_REPLACED_BY = re.compile(
    r"\b(?:(?:superseded|replaced|obsoleted)[ _-]by|(?:ersetzt|abgelöst) durch|remplacée? par|(?:reempla|susti)\w+ por)"
    r"[\s:*_\"\\]{0,6}\Z",
    re.IGNORECASE,
)
"""The words before a link to the successor of a note, in its text or its properties."""

LONGEST_STATEMENT = 30
"""Characters before a link that are searched for these words."""


def _successors_first(passages: PassageCache, content: QueryContent, ranked: list[Ranked]) -> list[Ranked]:
    """Move each note above one that it replaces according to the latter, as “Status: superseded by [[ADR 11]]” says,
    unless the question has words of the older one's name that the successor lacks, such as “ADR 7”.
    """
    rows = passages.rows([one.id for one in ranked[:QUOTES_CHECKED]])
    notes = {each: row for each, row in rows.items() if row.source_type == MemorySource.VAULT}
    named = {each: keys for each, row in notes.items() if (keys := _successors(f"{row.content}\n{row.metadata}"))}

    def replaces(one: Ranked, older: Ranked) -> bool:
        if one.id not in notes or link_key(notes[one.id].path) not in named.get(older.id, ()):
            return False
        return content.held_by(notes[older.id].about) <= content.held_by(notes[one.id].whole)

    return moved_up(ranked, replaces) if named else ranked


def _successors(text: str) -> set[str]:
    """Return the keys of the notes by which a note was replaced according to its text. Links are found first: to look
    for the words in all text takes ten times as long.
    """
    return {
        link_key(unquote(link[1] or link[2]))
        for link in _LINK.finditer(text)
        if _REPLACED_BY.search(text, max(0, link.start() - LONGEST_STATEMENT), link.start())
    }


_NO_LETTERS = re.compile(r"[\W\d_]+")


def _in_one_series(path: str, other: str) -> bool:
    """Return whether two notes have the same path apart from numbers, such as their dates, and more name than that."""
    has_name = _NO_LETTERS.sub("", PurePosixPath(path).stem) != ""
    return has_name and _NO_LETTERS.sub(" ", path) == _NO_LETTERS.sub(" ", other)


def _by_number(passages: PassageCache, query: Query, ranked: Sequence[Ranked]) -> dict[int, float]:
    """Return the share of the numbers of a short question, such as “§ 536 BGB”, that each passage contains: only they
    distinguish such questions, and the model does not know them.
    """
    numbers = query_content(query).numbers_only
    if not numbers.stems or len(query.terms) >= SENTENCE:
        return {}
    return {each: numbers.coverage(row.whole) for each, row in passages.rows([one.id for one in ranked]).items()}


def _by_user(passages: PassageCache, query: Query, turns: Sequence[int]) -> dict[int, float]:
    """Return 1 for each of some turns that is by the user, if the question is about the user."""
    from donna_tui.search.speaker_attribution import is_about_user

    if not is_about_user(query.text):
        return {}
    return {each: float(row.heading_path == '["user"]') for each, row in passages.rows(turns).items()}


def _hit(one: Ranked, row: PassageRow, snippet: LazySnippet, named: str, *, in_note: int) -> Hit:
    sensitive = bool(row.sensitive)
    return Hit(
        chunk_id=row.chunk_id,
        document_id=row.document_id,
        source_type=row.source_type,
        path=row.path,
        title=row.title,
        heading_path=tuple(parsed(row.heading_path)),
        start_line=row.start_line,
        end_line=row.end_line,
        content=row.content,
        snippet=snippet,
        score=None if one.cosine is None else max(0.0, min(1.0, one.cosine)),
        rank_score=one.rank_score,
        vector_rank=one.vector_rank,
        keyword_rank=one.keyword_rank,
        uri=row.uri,
        sensitive=sensitive,
        metadata={**parsed(row.metadata or "{}"), "sensitive": sensitive},
        dated_at=row.dated_at or None,
        draft=bool(row.is_draft),
        named=named,
        in_note=in_note,
    )


def more_like(database: Database, vectors: VectorIndex, hit: Hit, request: SearchRequest) -> SearchOutcome:
    """Find passages of other notes that are similar to a hit; without a vector, those that share its words."""
    key = database.value("SELECT id FROM memory_chunks WHERE chunk_id = ?", (hit.chunk_id,))
    stored = stored_vectors(database, [key]).get(key)
    vector = None if stored is None else unpacked(stored)
    filters = replace(request.filters, exclude=(*request.filters.exclude, hit.path))
    text = " ".join((hit.content or hit.title).split()[:40]).replace('"', " ")
    query = Query(words=tuple(text.split()), filters=filters)
    mode: Mode = "keyword" if vector is None else "semantic"
    why = "this passage is not embedded yet" if hit.content else "this note has no text"
    note = f"by shared words: {why}" if vector is None else ""
    similar = replace(request, text=f"like {hit.title}", filters=filters, mode=mode)
    return search(database, vectors, Question(similar, query, vector, mode=mode, note=note), Settings(0.0, request.k))
