"""Explain why a note is not among the hits: find the first step of a search that excluded it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from donna_tui.index.database import Database
from donna_tui.index.files import file_state
from donna_tui.index.filters import ALL_CHUNKS, Scope, conditions
from donna_tui.index.vectors import LARGEST_K, VectorIndex, cosines_of
from donna_tui.search.hybrid import Settings, judge, least_cosine, max_hits
from donna_tui.search.legs import Question, both_legs, candidates_for, matches
from donna_tui.search.passages import PassageCache
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import DRAFTS, Filters
from donna_tui.vault.paths import check_relative

FILTER_WORDS = {
    "sources": "the kind of document", "path_prefix": "the folder", "path_parts": "the path",
    "within": "the chosen notes", "exclude": "the notes to leave out", "note_type": "the type", "tags": "the tags",
    "after": "the earliest date", "before": "the latest date", "sensitive": "the sensitivity",
}  # fmt: skip


class Cause(StrEnum):
    """The step of a search that excluded a note."""

    NOTHING = "it_is_a_hit"
    NOT_INDEXED = "not_indexed"
    DRAFT = "draft"
    OUTSIDE_FILTERS = "outside_filters"
    LACKS_WORDS = "lacks_demanded_words"
    TOO_FAR = "not_among_the_candidates"
    BELOW_THRESHOLD = "below_threshold"
    NOTHING_RELEVANT = "nothing_relevant"
    BEHIND_OTHERS = "behind_others"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """The fate of a note in a search, with the reason in plain words.

    `rank` is that of its best passage among all that were judged, `keyword_rank` and `vector_rank` those in each leg;
    None where it has none. `cosine` is that of its passage that is nearest to the question.
    """

    path: str
    cause: Cause
    detail: str
    rank: int | None = None
    keyword_rank: int | None = None
    vector_rank: int | None = None
    cosine: float | None = None


def why_not(database: Database, vectors: VectorIndex, question: Question, settings: Settings, path: str) -> WhyNot:
    """Explain the absence of a note, or say that it is there.

    Raises DonnaError (`missing`) for an unknown note, and VaultReadError (`path_escape`) for a path that no note has.
    """
    user = question.query.filters.user_id
    is_draft = database.value("SELECT is_draft FROM memory_documents WHERE user_id = ? AND source_id = ?", (user, path))
    if is_draft is None:
        return WhyNot(path=path, cause=Cause.NOT_INDEXED, detail=_reason_of_skipping(database, path))
    if is_draft and DRAFTS not in question.query.filters.sources:
        detail = f"it is a draft that is not approved yet; in:{DRAFTS} finds it"
        return WhyNot(path=path, cause=Cause.DRAFT, detail=detail)
    excluded = _excluding_filters(database, question.query.scope, path)
    return excluded or _judged(database, vectors, question, settings, path)


def _reason_of_skipping(database: Database, path: str) -> str:
    state = file_state(database, path)
    if state is None:
        check_relative(path)
        message = f"{path}: there is no such note in the index"
        raise DonnaError(Reason.MISSING, message, hint="give its path within the vault")
    return f"it is not indexed: {state.message or state.reason or state.state}"


def _excluding_filters(database: Database, scope: Scope, path: str) -> WhyNot | None:
    """Return the filters and required phrases that no passage of the note satisfies, alone and then together."""
    filters = [words for words, alone in _each_filter(scope.filters) if not _admits(database, Scope(alone), path)]
    if filters:
        detail = f"it is outside {', '.join(filters)}"
        return WhyNot(path=path, cause=Cause.OUTSIDE_FILTERS, detail=detail)
    plain = _none(scope.filters)
    lacking = [f'"{phrase}"' for phrase in scope.phrases if not _admits(database, Scope(plain, (phrase,)), path)]
    if lacking:
        return WhyNot(path=path, cause=Cause.LACKS_WORDS, detail=f"no passage of it contains {' or '.join(lacking)}")
    if not _admits(database, scope, path):
        detail = "no single passage of it contains all required words and no excluded ones"
        return WhyNot(path=path, cause=Cause.LACKS_WORDS, detail=detail)
    return None


def _each_filter(filters: Filters) -> Iterator[tuple[str, Filters]]:
    none = _none(filters)
    for name, words in FILTER_WORDS.items():
        if getattr(filters, name) != getattr(none, name):
            yield words, replace(none, **{name: getattr(filters, name)})


def _none(filters: Filters) -> Filters:
    """Return the filters without any restriction; drafts stay included if requested."""
    return Filters(user_id=filters.user_id, sources=(DRAFTS,) if DRAFTS in filters.sources else ())


def _admits(database: Database, scope: Scope, path: str) -> bool:
    return bool(_passages(database, scope, path))


def _passages(database: Database, scope: Scope, path: str) -> list[int]:
    where, parameters = conditions(scope)
    inside = f"SELECT c.id FROM {ALL_CHUNKS} WHERE d.source_id = ? AND {where}"  # noqa: S608
    return database.column(inside, [path, *parameters])


def _judged(database: Database, vectors: VectorIndex, question: Question, settings: Settings, path: str) -> WhyNot:
    """Follow the passages of a note through both legs, the fusion, the threshold and the relevance check."""
    ids = set(_passages(database, question.query.scope, path))
    k = max(1, max_hits(question.request, settings))
    legs = both_legs(database, vectors, question, candidates_for(k))
    question = replace(question, query=legs.keyword.query)
    found = _ranked_by_legs(database, vectors, question, ids, path)
    judged = judge(PassageCache(database), question, settings, legs)
    ordered = [*judged.hits, *judged.others]
    best = next((one for one in ordered if one.id in ids), None)
    if best is None:
        if question.mode == "keyword" and found.keyword_rank is None:
            detail = "it shares no word with the question, and semantic search was not used"
            return replace(found, cause=Cause.BELOW_THRESHOLD, detail=detail)
        considered = f"the best {candidates_for(k)} of each are considered"
        detail = f"other passages rank higher, by keyword and semantically; {considered}"
        return replace(found, cause=Cause.TOO_FAR, detail=detail)
    if not judged.answered:
        place = 1 + ordered.index(best)
        detail = f"nothing is close enough to the question, or it is about someone else; it is near miss {place}"
        return replace(found, cause=Cause.NOTHING_RELEVANT, detail=detail, rank=place)
    rank = _place([one.id for one in judged.hits], ids)
    if rank is None:
        least = least_cosine(question, settings)
        why = "the model cannot read the question" if math.isinf(least) else f"its cosine is below {least:g}"
        detail = f"it shares no word with the question, and {why}"
        return replace(found, cause=Cause.BELOW_THRESHOLD, detail=detail)
    if rank > k:
        detail = f"it would be hit {rank}; the search shows {k}"
        return replace(found, cause=Cause.BEHIND_OTHERS, rank=rank, detail=detail)
    return replace(found, rank=rank, detail=f"it is hit {rank}")


def _ranked_by_legs(
    database: Database, vectors: VectorIndex, question: Question, ids: Collection[int], path: str
) -> WhyNot:
    """Return the ranks of the note's best passages in each leg, as far as sqlite-vec can count, and the best cosine."""
    found = WhyNot(path=path, cause=Cause.NOTHING, detail="")
    if question.mode != "semantic":
        words = [match.id for match in matches(database, question, LARGEST_K)]
        found = replace(found, keyword_rank=_place(words, ids))
    if question.vector is None or question.mode == "keyword":
        return found
    nearest = [match.id for match in vectors.search(database, question.vector, question.query.scope, LARGEST_K)]
    cosines = cosines_of(database, sorted(ids), question.vector)
    return replace(found, vector_rank=_place(nearest, ids), cosine=max(cosines.values(), default=None))


def _place(ordered: Sequence[int], ids: Collection[int]) -> int | None:
    return next((number for number, each in enumerate(ordered, 1) if each in ids), None)
