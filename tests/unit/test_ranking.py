"""Fusion: a score from 0 to 1 that never falls if a leg ranks a passage higher."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.search.ranking import (
    BOOST_WEIGHT,
    MEANING_WEIGHT,
    NEIGHBOUR_SHARE,
    Candidate,
    Ranked,
    boosted,
    fuse,
    rearranged,
)

ALONE = 1 / (1 + NEIGHBOUR_SHARE)
"""The best score if no neighbour was found."""

cosines = st.floats(-1.0, 1.0, allow_nan=False)
bm25 = st.floats(0.001, 60.0)
chunks = st.integers(1, 30)


def in_order(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda each: (-scores[each], each))


def fused(words: dict[int, float], meaning: dict[int, float], more: dict[int, float] | None = None) -> list[Ranked]:
    """Fuse passages of separate notes; `more` has cosines of passages that only the keyword leg found."""
    cosines = {**meaning, **(more or {})}
    found = [Candidate(each, f"note {each}", 0, words.get(each), cosines.get(each)) for each in {**words, **meaning}]
    return fuse(found, in_order(words), in_order(meaning))


def ranked_by(words: dict[int, float], meaning: dict[int, float]) -> dict[int, Ranked]:
    return {one.id: one for one in fused(words, meaning)}


@given(st.dictionaries(chunks, bm25), st.dictionaries(chunks, cosines))
def test_every_candidate_appears_once_with_a_score_from_0_to_1(
    words: dict[int, float], meaning: dict[int, float]
) -> None:
    ranked = fused(words, meaning)
    assert sorted(one.id for one in ranked) == sorted({*words, *meaning})
    assert all(0.0 <= one.rank_score <= 1.0 + 1e-9 for one in ranked)
    assert [one.rank_score for one in ranked] == sorted((one.rank_score for one in ranked), reverse=True)


@given(st.dictionaries(chunks, bm25, min_size=2), st.dictionaries(chunks, cosines, min_size=2))
def test_passage_better_in_both_rankings_never_ranks_lower(words: dict[int, float], meaning: dict[int, float]) -> None:
    ranked = ranked_by(words, meaning)
    both = sorted(words.keys() & meaning.keys())
    for one in both:
        for other in both:
            if words[one] >= words[other] and meaning[one] >= meaning[other]:
                assert ranked[one].rank_score >= ranked[other].rank_score - 1e-9


@given(st.dictionaries(chunks, bm25, min_size=1))
def test_by_words_alone_the_order_is_that_of_bm25(words: dict[int, float]) -> None:
    ranked = fused(words, {})
    assert [one.keyword_rank for one in ranked] == list(range(1, len(words) + 1))
    assert ranked[0].rank_score == pytest.approx(ALONE)
    assert all(one.cosine is None and one.vector_rank is None for one in ranked)


@given(st.dictionaries(chunks, cosines, min_size=1))
def test_by_meaning_alone_the_order_is_that_of_the_cosines(meaning: dict[int, float]) -> None:
    ranked = fused({}, meaning)
    shown = [one.cosine for one in ranked]
    assert shown == pytest.approx(sorted(meaning.values(), reverse=True), abs=1e-12)
    assert ranked[0].rank_score == pytest.approx(ALONE if shown[0] > 0 else 0.0)
    assert all(one.keyword_rank is None for one in ranked)


def test_fuse_combines_keyword_and_vector_scores() -> None:
    ranked = fused({1: 8.0, 2: 4.0}, {3: 0.9, 1: 0.45}, {2: 0.09})
    by_id = {one.id: one for one in ranked}
    assert [one.id for one in ranked] == [1, 3, 2]
    assert by_id[1].rank_score == pytest.approx((MEANING_WEIGHT * 0.5 + (1 - MEANING_WEIGHT)) * ALONE)
    assert by_id[2].rank_score == pytest.approx((MEANING_WEIGHT * 0.1 + (1 - MEANING_WEIGHT) * 0.5) * ALONE)
    assert (by_id[2].cosine, by_id[2].vector_rank, by_id[2].keyword_rank) == (0.09, None, 2)
    assert (by_id[3].cosine, by_id[3].vector_rank, by_id[3].keyword_rank) == (0.9, 1, None)


def test_a_passage_without_a_vector_yet_keeps_its_place_among_words() -> None:
    ranked = fused({1: 8.0, 2: 7.0}, {}, {2: 0.4})
    assert {one.id: one.cosine for one in ranked} == {1: None, 2: 0.4}


def test_neighbour_of_a_good_passage_is_ranked_higher() -> None:
    lonely, beside = Candidate(1, "a", 0, 5.0, None), Candidate(2, "b", 3, 5.0, None)
    ranked = fuse([lonely, beside, Candidate(3, "b", 4, 10.0, None)], [3, 1, 2], [])
    assert [one.id for one in ranked] == [3, 2, 1]


def test_one_note_does_not_fill_the_list() -> None:
    note = [Candidate(each, "a", each * 10, 10.0 - each / 100, None) for each in range(1, 5)]
    other = Candidate(9, "b", 0, 9.8, None)
    ranked = fuse([*note, other], [1, 2, 3, 4, 9], [])
    assert [one.id for one in ranked] == [1, 9, 2, 3, 4]


def passages(*, in_one_note: bool, is_turn: bool = False) -> list[Candidate]:
    """Return the best passage, one directly beside it, and a slightly worse one far away."""
    places = [(1, 4, 10.0), (2, 5, 8.0), (3, 20, 7.5)]
    notes = {each: "a" if in_one_note else f"note {each}" for each, _, _ in places}
    return [Candidate(each, notes[each], place, score, score / 20, is_turn=is_turn) for each, place, score in places]


def ids(ranked: list[Ranked]) -> list[int]:
    return [one.id for one in ranked]


def test_in_one_note_a_neighbour_of_a_better_passage_ranks_below_another_place() -> None:
    ranked = fuse(passages(in_one_note=True), [1, 2, 3], [1, 2, 3])
    assert ids(ranked) == [1, 3, 2]
    assert [one.rank_score for one in ranked] == sorted((one.rank_score for one in ranked), reverse=True)


def test_among_several_notes_among_turns_and_by_one_leg_the_better_one_stays_ahead() -> None:
    several, turns = passages(in_one_note=False), passages(in_one_note=True, is_turn=True)
    assert ids(fuse(several, [1, 2, 3], [1, 2, 3])) == [1, 2, 3]
    assert ids(fuse(turns, [1, 2, 3], [1, 2, 3])) == [1, 2, 3]
    assert ids(fuse(passages(in_one_note=True), [1, 2, 3], [])) == [1, 2, 3]


@given(st.dictionaries(chunks, st.tuples(st.integers(0, 90), bm25, cosines), min_size=1))
def test_in_one_note_every_candidate_appears_once_and_the_best_stays_the_first(
    found: dict[int, tuple[int, float, float]],
) -> None:
    candidates = [Candidate(each, "a", *rest) for each, rest in found.items()]
    ranked = fuse(candidates, list(found), list(found))
    best = fuse(candidates, list(found), [])[0]
    assert sorted(ids(ranked)) == sorted(found)
    assert ranked[0].rank_score == best.rank_score
    assert [one.rank_score for one in ranked] == sorted((one.rank_score for one in ranked), reverse=True)


def test_what_the_model_reads_less_than_half_of_is_ranked_by_words() -> None:
    keyword_leg, semantic = Candidate(1, "a", 0, 10.0, 0.1), Candidate(2, "b", 0, 9.0, 0.9)
    assert ids(fuse([keyword_leg, semantic], [1, 2], [2, 1])) == [2, 1]
    assert ids(fuse([keyword_leg, semantic], [1, 2], [2, 1], readable_share=0.8)) == [2, 1]
    assert ids(fuse([keyword_leg, semantic], [1, 2], [2, 1], readable_share=0.4)) == [1, 2]


def test_words_of_which_no_passage_holds_many_count_less() -> None:
    keyword_leg, semantic = Candidate(1, "a", 0, 10.0, 0.1), Candidate(2, "b", 0, 1.0, 0.5)
    assert ids(fuse([keyword_leg, semantic], [1, 2], [2, 1])) == [1, 2]
    assert ids(fuse([keyword_leg, semantic], [1, 2], [2, 1], coverage=0.25)) == [2, 1]
    assert ids(fuse([keyword_leg, semantic], [1, 2], [2, 1], coverage=0.0, readable_share=0.4)) == [1, 2]


def test_nothing_is_ranked_where_nothing_was_found() -> None:
    assert fuse([], [], []) == []


def test_a_boost_raises_a_passage_with_scores_at_most_one() -> None:
    ranked = fused({1: 9.0, 2: 8.0, 3: 7.0}, {})
    reordered = boosted(ranked, {1: 0.0, 3: 1.0})
    assert [one.id for one in reordered] == [3, 1, 2]
    assert reordered[0].rank_score == pytest.approx((ranked[2].rank_score + BOOST_WEIGHT) / (1 + BOOST_WEIGHT))
    assert all(one.rank_score <= 1.0 for one in reordered)


def test_a_boost_above_one_keeps_scores_at_most_one() -> None:
    reordered = boosted(fused({1: 9.0, 2: 8.0, 3: 7.0}, {}), {3: 3.0})
    assert ids(reordered) == [3, 1, 2]
    assert reordered[0].rank_score == 1.0


@given(st.dictionaries(chunks, bm25), st.booleans())
def test_without_a_lead_nothing_changes(words: dict[int, float], looked_at: bool) -> None:
    ranked = fused(words, {})
    assert boosted(ranked, dict.fromkeys(words, 0.0) if looked_at else {}) == ranked


def test_passages_change_places_within_their_note_only() -> None:
    ranked = [Ranked(key, note, None, None, None, 1.0 - key / 10) for key, note in enumerate("abaab", 1)]
    reordered = rearranged(ranked, {1: 0.1, 3: 0.3, 4: 0.2})
    assert [one.id for one in reordered] == [3, 2, 4, 1, 5]
    assert [one.document for one in reordered] == [one.document for one in ranked]
    assert [one.rank_score for one in reordered] == [one.rank_score for one in ranked]
    assert rearranged(ranked, dict.fromkeys((1, 3, 4), 0.2)) == ranked
