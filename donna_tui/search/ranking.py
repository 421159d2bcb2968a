"""Fuses the two legs into one order: a convex sum of normalised scores, lifted by neighbours, varied by note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from donna_tui.numeric import np
from donna_tui.records import dataclass

MEANING_WEIGHT = 0.5
"""Share of the cosine divided by the largest; the rest is BM25 divided by the largest, times the coverage."""

NEIGHBOUR_SHARE = 0.08
"""What a passage gets of the better one of those before and after it in its note: answers often span both."""

TURN_SHARE = 0.3
"""The same for a turn of a conversation, which is often an answer and says nothing without what it answers."""

SAME_NOTE_DECAY = 0.97
"""Each further passage of a note counts that much less, so that one note does not fill the list. Turns of a
conversation are memories of their own, and stay as they are."""

SAME_PLACE_LOSS = 0.2
"""In the order of a single note, what a passage loses directly beside a better one, and half, a third … of it farther
away: what is said of a subject stands together, and five passages of one place leave the others out."""

LEAD_WEIGHT = 0.3
"""What a passage of a conversation gets for telling what is asked of the person whom the question names."""

# All six were measured on the development questions; docs/retrieval.md has the table.


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a leg found: its chunk key, its note, its place in the note, and what each leg says of it.

    `bm25` and `cosine` are None where the leg did not find it, or the passage has no vector. Turns of a conversation
    may take several places, up to `last`.
    """

    id: int
    document: str
    index: int
    bm25: float | None
    cosine: float | None
    last: int | None = None
    is_turn: bool = False

    @property
    def end(self) -> int:
        """The last of its places."""
        return self.index if self.last is None else self.last


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its rank in each leg (1-based; None where it was not found) and its fused score (0 to 1)."""

    id: int
    document: str
    cosine: float | None
    vector_rank: int | None
    keyword_rank: int | None
    rank_score: float

    def scored(self, rank_score: float) -> Ranked:
        """The same with another score; `dataclasses.replace` takes four times as long, for each of 200 candidates."""
        return Ranked(self.id, self.document, self.cosine, self.vector_rank, self.keyword_rank, rank_score)


def fuse(
    candidates: Collection[Candidate],
    words: Sequence[int],
    meaning: Sequence[int],
    *,
    trust: float = 1.0,
    coverage: float = 1.0,
) -> list[Ranked]:
    """Rank the candidates, best first.

    `words` and `meaning` are the chunk keys that each leg found, in its order; `trust` from 0 to 1 is how much of the
    question the model reads. At half of it and less the cosines are worth nothing: what it reads in a question in
    another script are names. `coverage` from 0 to 1 is the largest share of the question's words that one passage
    holds. BM25 is weighed by it: where the best match is one chance word of four, the words say little.
    """
    word_rank = {each: rank for rank, each in enumerate(words, 1)}
    vector_rank = {each: rank for rank, each in enumerate(meaning, 1)}
    scores = _with_neighbours(
        candidates, _convex_sum(candidates, MEANING_WEIGHT * max(0.0, 2.0 * trust - 1.0), coverage)
    )
    ranked = [
        Ranked(one.id, one.document, one.cosine, vector_rank.get(one.id), word_rank.get(one.id), scores[one.id])
        for one in candidates
    ]
    ranked.sort(key=_best_first)
    if words and meaning and _is_one_note(candidates):
        return _spread(ranked, {one.id: one.index for one in candidates})
    return _varied(ranked, {one.document for one in candidates if one.is_turn})


def lifted(ranked: Sequence[Ranked], leads: Mapping[int, float]) -> list[Ranked]:
    """The same, reordered by what some of the passages have in lead over others, from 0 to 1."""
    if not any(leads.values()):
        return list(ranked)
    scores = {one.id: (one.rank_score + LEAD_WEIGHT * leads.get(one.id, 0.0)) / (1.0 + LEAD_WEIGHT) for one in ranked}
    return sorted((one.scored(scores[one.id]) for one in ranked), key=_best_first)


def _convex_sum(candidates: Collection[Candidate], share: float, coverage: float) -> dict[int, float]:
    most = max((one.bm25 or 0.0 for one in candidates), default=0.0)
    nearest = max((one.cosine or 0.0 for one in candidates), default=0.0)
    weight = float(nearest > 0)
    if most and nearest > 0:
        weight = share and share / (share + (1.0 - share) * coverage)

    def score(one: Candidate) -> float:
        by_words = (one.bm25 or 0.0) / most if most else 0.0
        by_meaning = max(one.cosine or 0.0, 0.0) / nearest if nearest > 0 else 0.0
        return weight * by_meaning + (1.0 - weight) * by_words

    return {one.id: score(one) for one in candidates}


def _with_neighbours(candidates: Collection[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    before = {(one.document, one.end + 1): scores[one.id] for one in candidates}
    after = {(one.document, one.index - 1): scores[one.id] for one in candidates}

    def lifted(one: Candidate) -> float:
        share = TURN_SHARE if one.is_turn else NEIGHBOUR_SHARE
        beside = max(before.get((one.document, one.index), 0.0), after.get((one.document, one.end), 0.0))
        return (scores[one.id] + share * beside) / (1.0 + share)

    return {one.id: lifted(one) for one in candidates}


def _varied(ranked: Sequence[Ranked], conversations: Collection[str]) -> list[Ranked]:
    seen: Counter[str] = Counter()
    varied = []
    for one in ranked:
        before = seen[one.document]
        decays = before and one.document not in conversations
        varied.append(one.scored(one.rank_score * SAME_NOTE_DECAY**before) if decays else one)
        seen[one.document] = before + 1
    return sorted(varied, key=_best_first)


def _is_one_note(candidates: Collection[Candidate]) -> bool:
    return len({one.document for one in candidates}) == 1 and not any(one.is_turn for one in candidates)


def _spread(ranked: Sequence[Ranked], index: Mapping[int, int]) -> list[Ranked]:
    """Take the best, let what stands near it lose, and so on."""
    left = np.array([one.rank_score for one in ranked])
    places = np.array([index[one.id] for one in ranked])
    spread = []
    for _ in ranked:
        best = int(np.argmax(left))
        spread.append(ranked[best].scored(float(left[best])))
        left *= 1.0 - SAME_PLACE_LOSS / np.maximum(1, np.abs(places - places[best]))
        left[best] = -np.inf
    return spread


def _best_first(one: Ranked) -> tuple[float, float, int]:
    return (-one.rank_score, -(one.cosine or 0.0), one.id)
