"""If very many passages match, only those that can be among the best are ranked, and the list is the same."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import combinations, pairwise
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.index import candidate_pruning
from donna_tui.index.candidate_pruning import Level, choose_level, whole
from donna_tui.index.database import Database
from donna_tui.index.filters import FTS_TABLE, Scope, quoted
from donna_tui.index.keyword import rank_all, search_words
from donna_tui.index.sampling import SAMPLED_FROM, STRETCH, STRETCHES, span, stretches
from donna_tui.index.store import MemoryStore
from donna_tui.types.search import Filters
from tests.unit.index_parts import note, open_store

EVERYTHING = Scope(Filters())

T = TypeVar("T")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    store = open_store(tmp_path / "i.db")
    yield store
    store.database.close()


@pytest.fixture
def pruning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the limits so that a few passages are pruned like a million."""
    monkeypatch.setattr(candidate_pruning, "ALL_RANKED", 10)
    monkeypatch.setattr(candidate_pruning, "SPARE", 2)
    monkeypatch.setattr(candidate_pruning, "MANY", 45)


def fill(store: MemoryStore, words: dict[str, int], notes: int = 120) -> None:
    """Write notes in which each word occurs in so many of the first ones."""
    for number in range(notes):
        held = " ".join(word for word, count in words.items() if number < count)
        store.upsert(note(f"{number}.md", f"number{number} {held}"))


def level_for(store: MemoryStore, *terms: str, wanted: int = 5) -> Level:
    return choose_level(store.database, terms, wanted, whole(store.database), FTS_TABLE)


def best(store: MemoryStore, *terms: str, limit: int = 5) -> list[tuple[int, float]]:
    found = search_words(store.database, [quoted(term) for term in terms], EVERYTHING, limit)
    return [(match.id, round(match.score, 4)) for match in found]


def test_a_small_index_is_ranked_whole(store: MemoryStore) -> None:
    fill(store, {"heron": 100})
    assert level_for(store, '"heron"', '"stork"') == Level('"heron" OR "stork"')


@pytest.mark.usefixtures("pruning")
def test_few_matches_are_ranked_whole(store: MemoryStore) -> None:
    fill(store, {"heron": 10})
    assert level_for(store, '"heron"') == Level('"heron"')


@pytest.mark.usefixtures("pruning")
def test_a_passage_with_only_the_common_word_is_not_ranked(store: MemoryStore) -> None:
    fill(store, {"heron": 9, "water": 50})
    level = level_for(store, '"heron"', '"water"')
    assert level == Level('"heron" OR "water"', '"heron"')


@pytest.mark.usefixtures("pruning")
def test_equally_common_words_are_both_required(store: MemoryStore) -> None:
    fill(store, {"heron": 40, "water": 40})
    level = level_for(store, '"heron"', '"water"')
    assert level.within == '("heron" AND "water")'


@pytest.mark.usefixtures("pruning")
def test_a_level_with_too_few_passages_is_widened(store: MemoryStore) -> None:
    fill(store, {"water": 50, "marsh": 40, "heron": 2})
    level = level_for(store, '"heron"', '"water"', '"marsh"')
    assert level.within == '("heron" OR ("marsh" AND "water"))'


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.sampled_from(candidate_pruning.LEVELS))
def test_a_level_admits_passages_with_enough_weight_of_terms(weights: list[int], share: float) -> None:
    words = {f"w{number}": weight for number, weight in enumerate(weights)}
    sets = [held for size in range(len(words) + 1) for held in combinations(words, size)]
    level = candidate_pruning._at_least({quoted(word): weight for word, weight in words.items()}, share)
    with closing(sqlite3.connect(":memory:")) as table:
        table.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
        table.executemany("INSERT INTO t VALUES (?)", [(" ".join(held),) for held in sets])
        admitted = {text for (text,) in table.execute("SELECT text FROM t WHERE t MATCH ?", (level,))}
    enough = [held for held in sets if sum(words[word] for word in held) >= share * sum(weights)]
    assert admitted == {" ".join(held) for held in enough}


@pytest.mark.usefixtures("pruning")
def test_very_common_word_is_used_for_ranking_only_if_alone(store: MemoryStore) -> None:
    fill(store, {"heron": 20, "water": 110})
    assert level_for(store, '"heron"', '"water"').ranked_by == '"heron"'
    assert level_for(store, '"water"').ranked_by == '"water"'
    assert len(best(store, "water")) == 5


@pytest.mark.usefixtures("pruning")
def test_query_of_one_common_word_ranks_only_title_matches(store: MemoryStore) -> None:
    fill(store, {"water": 60})
    for number in range(12):
        store.upsert(note(f"t{number}.md", "other text", title=f"water {number}"))
    level = level_for(store, '"water"')
    assert level.within.startswith("{title heading} :")
    everything = store.database.rows(
        "SELECT rowid FROM memory_fts WHERE memory_fts MATCH '\"water\"'"
        " ORDER BY bm25(memory_fts, 3.0, 2.0, 1.0, 1.0), rowid LIMIT 5"
    )
    assert [each for each, _ in best(store, "water")] == [each for (each,) in everything]


@pytest.mark.usefixtures("pruning")
def test_the_few_that_hold_all_words_are_ranked_beside_the_notes_that_are_named_after_one(store: MemoryStore) -> None:
    for number in range(110):
        held = " ".join(word for word, here in (("heron", number < 45), ("marsh", 42 <= number < 87)) if here)
        store.upsert(note(f"{number}.md", f"number{number} {held}"))
    for number in range(9):
        store.upsert(note(f"t{number}.md", "other text", title=f"{('heron', 'marsh')[number % 2]} {number}"))
    terms = ['"heron"', '"marsh"']
    level = level_for(store, *terms)
    assert level.within == '("marsh" AND "heron") OR {title heading} : (("marsh" OR "heron"))'
    ranked = rank_all(store.database, terms, 12, FTS_TABLE)
    assert search_words(store.database, terms, EVERYTHING, 5) == ranked[:5]
    assert {43, 44, 45} <= {match.id for match in ranked}


@pytest.mark.usefixtures("pruning")
def test_parallel_ranking_returns_the_same_matches(store: MemoryStore) -> None:
    for number in range(120):
        held = (("heron", number % 2), ("water", number % 3), ("marsh", number % 5))
        store.upsert(note(f"{number}.md", " ".join(f"{word} " * count for word, count in held) + f" {number}"))
    halves: list[int] = []

    def run_parallel(work: Callable[[Database], T]) -> Callable[[], T]:
        found = work(store.database)
        assert isinstance(found, list)
        halves.append(len(found))
        return lambda: found

    terms = ['"heron"', '"water"', '"marsh"']
    alone = search_words(store.database, terms, EVERYTHING, 40)
    assert search_words(store.database, terms, EVERYTHING, 40, run_parallel) == alone
    assert len(alone) == 40
    assert {match.id > 60 for match in alone} == {True, False}
    assert len(halves) == 1
    assert 0 < halves[0] < 80


@pytest.mark.usefixtures("pruning")
def test_wrong_pruning_level_loses_no_matches(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, {"heron": 3, "water": 50})
    wrong = Level('"heron" OR "water"', '"heron"')
    monkeypatch.setattr("donna_tui.index.keyword.choose_level", lambda *_: wrong)
    assert len(best(store, "heron", "water", limit=40)) == 40


@pytest.mark.cases(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_best_are_the_same_with_levels_and_without(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Words are as frequent as in language: the n-th is in one of n notes."""
    chance = random.Random(seed)
    vocabulary = [f"word{rank}" for rank in range(1, 60)]
    for number in range(150):
        held = [word for rank, word in enumerate(vocabulary, 2) if chance.random() < 1 / rank]
        store.upsert(note(f"{number}.md", " ".join(chance.choices(held or ["none"], k=chance.randrange(5, 40)))))
    questions = [chance.sample(vocabulary, chance.randrange(1, 8)) for _ in range(30)]
    exact = [best(store, *question) for question in questions]
    monkeypatch.setattr(candidate_pruning, "ALL_RANKED", 15)
    monkeypatch.setattr(candidate_pruning, "SPARE", 15)
    chosen = [level_for(store, *map(quoted, question), wanted=10) for question in questions]
    assert sum(bool(level.within) for level in chosen) >= 10
    same = sum(best(store, *question) == expected for question, expected in zip(questions, exact, strict=True))
    assert same >= 28


@pytest.mark.parametrize("last", [0, 1, SAMPLED_FROM - 1, SAMPLED_FROM, 1_000_000])
def test_stretches_stay_in_bounds_and_do_not_overlap(last: int) -> None:
    parts = stretches([(1, last)])
    assert parts[-1][1] == last
    assert all(before[1] < after[0] for before, after in pairwise(parts))
    assert last == 0 or parts[0][0] == 1


def test_stretches_stay_inside_the_given_ranges() -> None:
    ranges = [(1_000, 1_999), (50_000, 69_999), (200_000, 220_000)]
    parts = stretches(ranges)
    assert span(parts) == STRETCHES * STRETCH
    assert all(any(first <= part[0] and part[1] <= last for first, last in ranges) for part in parts)
    assert (parts[0][0], parts[-1][1]) == (1_000, 220_000)


@pytest.mark.usefixtures("pruning")
def test_choose_level_counts_only_the_given_range(store: MemoryStore) -> None:
    for number in range(120):
        heron, marsh = number % 16 == 0 or number > 90, number % 2 == 1 and number < 90
        store.upsert(note(f"{number}.md", f"number{number} {'heron' * heron} {'marsh' * marsh}"))
    terms = ['"heron"', '"marsh"']
    assert choose_level(store.database, terms, 5, [(1, 80)], FTS_TABLE).within == '("heron" OR "marsh")'
    assert choose_level(store.database, terms, 5, [(91, 120)], FTS_TABLE).within == '"heron"'
    assert choose_level(store.database, terms, 5, [(1, 9)], FTS_TABLE) == Level('"heron" OR "marsh"')
