"""Fusion: a score from 0 to 1 that never falls when a leg likes a passage better."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.search.ranking import MEANING_WEIGHT, Ranked, fuse

cosines = st.floats(-1.0, 1.0, allow_nan=False)
bm25 = st.floats(0.001, 60.0)
chunks = st.integers(1, 30)


def in_order(scores: dict[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def ranked_by(words: dict[int, float], meaning: dict[int, float]) -> dict[int, Ranked]:
    return {one.id: one for one in fuse(in_order(words), in_order(meaning), meaning)}


@given(st.dictionaries(chunks, bm25), st.dictionaries(chunks, cosines))
def test_every_candidate_appears_once_with_a_score_from_0_to_1(
    words: dict[int, float], meaning: dict[int, float]
) -> None:
    ranked = fuse(in_order(words), in_order(meaning), meaning)
    assert sorted(one.id for one in ranked) == sorted({*words, *meaning})
    assert all(0.0 <= one.rank_score <= 1.0 + 1e-9 for one in ranked)
    assert [one.rank_score for one in ranked] == sorted((one.rank_score for one in ranked), reverse=True)


@given(st.dictionaries(chunks, bm25, min_size=2), st.dictionaries(chunks, cosines, min_size=2))
def test_who_is_better_in_both_legs_is_never_behind(words: dict[int, float], meaning: dict[int, float]) -> None:
    ranked = ranked_by(words, meaning)
    both = sorted(words.keys() & meaning.keys())
    for one in both:
        for other in both:
            if words[one] >= words[other] and meaning[one] >= meaning[other]:
                assert ranked[one].rank_score >= ranked[other].rank_score - 1e-9


@given(st.dictionaries(chunks, bm25, min_size=1))
def test_by_words_alone_the_order_is_that_of_bm25(words: dict[int, float]) -> None:
    ranked = fuse(in_order(words), [], {})
    assert [one.keyword_rank for one in ranked] == list(range(1, len(words) + 1))
    assert ranked[0].rank_score == 1.0
    assert all(one.cosine is None and one.vector_rank is None for one in ranked)


@given(st.dictionaries(chunks, cosines, min_size=1))
def test_by_meaning_alone_the_order_is_that_of_the_cosines(meaning: dict[int, float]) -> None:
    ranked = fuse([], in_order(meaning), meaning)
    shown = [one.cosine for one in ranked]
    assert shown == pytest.approx(sorted(meaning.values(), reverse=True), abs=1e-12)
    assert ranked[0].rank_score == pytest.approx(MEANING_WEIGHT)
    assert all(one.keyword_rank is None for one in ranked)


def test_both_legs_together() -> None:
    ranked = fuse([(1, 8.0), (2, 4.0)], [(3, 0.9), (1, 0.5)], {1: 0.5, 2: 0.1, 3: 0.9})
    by_id = {one.id: one for one in ranked}
    assert [one.id for one in ranked] == [1, 3, 2]
    assert by_id[1].rank_score == pytest.approx(MEANING_WEIGHT * 0.5 + (1 - MEANING_WEIGHT))
    assert by_id[2].rank_score == pytest.approx((1 - MEANING_WEIGHT) * 0.5)
    assert (by_id[2].cosine, by_id[2].vector_rank, by_id[2].keyword_rank) == (0.1, None, 2)
    assert (by_id[3].cosine, by_id[3].vector_rank, by_id[3].keyword_rank) == (0.9, 1, None)


def test_a_passage_without_a_vector_yet_keeps_its_place_among_words() -> None:
    ranked = fuse([(1, 8.0), (2, 7.0)], [], {2: 0.4})
    assert {one.id: one.cosine for one in ranked} == {1: None, 2: 0.4}


def test_nothing_is_ranked_where_nothing_was_found() -> None:
    assert fuse([], [], {}) == []
