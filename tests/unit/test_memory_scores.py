"""Novelty against the centroid: computed examples, exact after deletions, and independent of the order of memories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import packed, unpacked
from donna_tui.memory.changes import ChangeFollower
from donna_tui.memory.indexer import lacks_scores
from donna_tui.memory.scores import (
    Centroid,
    finish_deletions,
    importance_of,
    in_steps,
    read_centroid,
    score_waiting,
    store_scores,
)
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.events import EventHub
from tests.unit.index_parts import DIM, note, open_store, unit
from tests.unit.memory_parts import ingest_context

COUNTER = EstimatedTokens()
EAST, NORTH = unit([1.0] + [0.0] * (DIM - 1)), unit([0.0, 1.0] + [0.0] * (DIM - 2))
BETWEEN = unit([1.0, 1.0] + [0.0] * (DIM - 2))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    opened = open_store(tmp_path / "index.db")
    yield opened
    opened.database.close()


def put(
    store: MemoryStore, name: str, vector: np.ndarray, at: float, user: str = "me", *, sensitive: bool = False
) -> str:
    """Store a memory of one passage with this vector."""
    document = note(name, f"text {name}", source_type="memory", modified_at=at, user_id=user, sensitive=sensitive)
    stored = store.upsert(document)
    store_scores(store.database, stored.id, document, COUNTER)
    for each in store.pending(10):
        store.store_vectors([(each.id, each.embed_hash, vector)])
    return stored.id


def score(store: MemoryStore) -> int:
    return sum(score_waiting(store.database))


def novelties(store: MemoryStore) -> dict[str, float]:
    rows = store.database.rows(
        "SELECT d.source_id, s.novelty FROM memory_scores s JOIN memory_chunks c ON c.id = s.chunk"
        " JOIN memory_documents d ON d.id = c.document_id"
    )
    return dict(rows)


def test_novelty_decreases_with_similarity_to_earlier_memories(store: MemoryStore) -> None:
    for name, vector, at in (("a", EAST, 1.0), ("b", EAST, 2.0), ("c", NORTH, 3.0), ("d", BETWEEN, 4.0)):
        put(store, name, vector, at)
    assert lacks_scores(store.database)
    assert score(store) == 4
    assert not lacks_scores(store.database)
    # The centroid is east; then two easts and a north, whose cosine with the direction between them is 3/√10.
    expected = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0 - 3.0 / np.sqrt(10.0)}
    assert novelties(store) == pytest.approx(expected, abs=1e-3)


def test_the_turns_of_a_session_are_as_new_as_the_session(store: MemoryStore) -> None:
    for source_id, vector, at in (("s1:1-1", EAST, 1.0), ("s1:2-2", EAST, 2.0), ("s2:1-1", EAST, 1.5)):
        document = note(source_id, f"text {source_id}", source_type="chat", modified_at=at)
        store_scores(store.database, store.upsert(document).id, document, COUNTER)
        for each in store.pending(10):
            store.store_vectors([(each.id, each.embed_hash, vector)])
    score(store)
    assert novelties(store) == pytest.approx({"s1:1-1": 1.0, "s1:2-2": 1.0, "s2:1-1": 0.0}, abs=1e-3)


def test_novelty_never_exceeds_one(store: MemoryStore) -> None:
    put(store, "a", EAST, 1.0)
    put(store, "b", -EAST, 2.0)
    score(store)
    assert novelties(store)["b"] == 1.0


def test_memories_are_as_recent_as_their_messages(store: MemoryStore) -> None:
    put(store, "later", EAST, 2.0)
    put(store, "earlier", EAST, 1.0)
    score(store)
    assert novelties(store) == pytest.approx({"earlier": 1.0, "later": 0.0}, abs=1e-3)


def test_users_have_centroids_of_their_own(store: MemoryStore) -> None:
    put(store, "a", EAST, 1.0)
    put(store, "b", EAST, 2.0, user="other")
    score(store)
    assert novelties(store) == {"a": 1.0, "b": 1.0}


def test_how_new_a_memory_is_does_not_depend_on_private_ones(store: MemoryStore) -> None:
    put(store, "private", EAST, 1.0, sensitive=True)
    put(store, "a", EAST, 2.0)
    put(store, "also private", EAST, 3.0, sensitive=True)
    score(store)
    assert novelties(store) == pytest.approx({"private": 1.0, "a": 1.0, "also private": 0.0}, abs=1e-3)
    assert read_centroid(store.database, "me", DIM).count == 1
    for name in ("private", "also private"):
        store.delete("memory", name)
    finish_deletions(store.database)
    assert read_centroid(store.database, "me", DIM).count == 1


def test_a_deleted_memory_leaves_no_trace_in_the_centroid(store: MemoryStore) -> None:
    put(store, "a", EAST, 1.0)
    score(store)
    before = read_centroid(store.database, "me", DIM)
    put(store, "b", BETWEEN, 2.0)
    score(store)
    assert read_centroid(store.database, "me", DIM).count == 2
    store.delete("memory", "b")
    finish_deletions(store.database)
    after = read_centroid(store.database, "me", DIM)
    assert (after.count, after.total.tolist()) == (before.count, before.total.tolist())
    put(store, "c", BETWEEN, 3.0)
    score(store)
    assert novelties(store)["c"] == pytest.approx(1.0 - 1.0 / np.sqrt(2.0), abs=1e-3)


def test_a_deleted_task_leaves_no_trace_where_nothing_else_is_remembered(store: MemoryStore, tmp_path: Path) -> None:
    put(store, "a", EAST, 1.0)
    score(store)
    store.delete("memory", "a")
    vault = tmp_path / "vault"
    vault.mkdir()
    follower = ChangeFollower(ingest_context(vault, tmp_path, EventHub()), store)
    assert sum(follower.follow()) == 0  # memory.db is missing
    assert store.database.rows("SELECT * FROM memory_departed") == []
    assert read_centroid(store.database, "me", DIM).count == 0


def test_a_changed_memory_is_scored_again(store: MemoryStore) -> None:
    put(store, "a", EAST, 1.0)
    score(store)
    changed = note("a", "quite another text", source_type="memory", modified_at=1.0)
    stored = store.upsert(changed)
    store_scores(store.database, stored.id, changed, COUNTER)
    for each in store.pending(10):
        store.store_vectors([(each.id, each.embed_hash, NORTH)])
    score(store)
    centroid = read_centroid(store.database, "me", DIM)
    assert centroid.count == 1
    assert centroid.total.tolist() == in_steps(unpacked(packed(NORTH))).tolist()


def test_a_vector_deleted_before_its_memory_is_harmless(store: MemoryStore) -> None:
    put(store, "a", EAST, 1.0)
    put(store, "b", NORTH, 2.0)
    score(store)
    store.database.run("DELETE FROM embeddings WHERE embed_hash = (SELECT embed_hash FROM memory_scores LIMIT 1)")
    store.delete("memory", "a")
    finish_deletions(store.database)
    assert read_centroid(store.database, "me", DIM).total.tolist() == in_steps(unpacked(packed(NORTH))).tolist()


def test_without_vectors_only_the_salience_is_known(store: MemoryStore) -> None:
    document = note("a", "I prefer Boston", source_type="memory")
    stored = store.upsert(document)
    store_scores(store.database, stored.id, document, COUNTER)
    (chunk_id,) = (each for (each,) in store.database.rows("SELECT chunk_id FROM memory_chunks"))
    found = importance_of(store.database, [chunk_id, "unknown"])[chunk_id]
    assert (found.salience, found.novelty, found.value) == (pytest.approx(0.7), None, None)
    assert not lacks_scores(store.database)


vectors = st.lists(st.integers(0, 10_000).map(lambda seed: np.random.default_rng(seed).normal(size=DIM)), max_size=12)


@given(vectors, st.randoms(use_true_random=False))
def test_centroid_returns_to_zero_after_removals_in_any_order(raw: list[np.ndarray], chance: object) -> None:
    stored = [unpacked(packed(unit(each))) for each in raw]
    centroid = Centroid(np.zeros(DIM, dtype=np.int64), 0)
    for each in stored:
        centroid.add(each)
    chance.shuffle(stored)  # type: ignore[attr-defined]
    for each in stored:
        assert (in_steps(each) / 2**24 == each).all()
        centroid.subtract(each)
    assert centroid.count == 0
    assert not centroid.total.any()
