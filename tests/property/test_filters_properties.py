"""Filters apply inside the search: both vector engines and the keyword leg return what an exhaustive search returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from donna_tui.index import exact_scan as scan
from donna_tui.index import keyword
from donna_tui.index.database import Database, RevisionCache
from donna_tui.index.documents import Document
from donna_tui.index.exact_scan import ExactScan, _nearest_inside
from donna_tui.index.filters import Scope, ScoredChunk, first_in_scope, quoted
from donna_tui.index.keyword import search_words
from donna_tui.index.scope import estimate_scope
from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import VecTable, Vector, VectorIndex, packed, unpacked
from donna_tui.text.chunker import Chunk
from donna_tui.types.search import Filters
from tests.examples import examples
from tests.unit.index_parts import DIM, cut, open_store, unit

FOLDERS = ("", "Projects", "Projects/gateway", "Projects-old", "Projects0", "projects", "Meetings")
TAGS = ("work", "work/urgent", "work-old", "home", "Work", "Über/Maß")
TYPES = ("", "meeting", "Meeting", "person")
WORDS = ("cache", "queue", "outage", "rollback")
USERS = ("me", "other")
SOURCES = ("vault", "chat", "task")
DAYS = tuple(float(day * 86_400) for day in range(5))


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored chunk with everything that a filter can test."""

    id: int
    document: Document
    words: frozenset[str]
    vector: Vector


@dataclass(frozen=True, slots=True)
class FilterStore:
    """A store of a few hundred passages, some of them deleted again."""

    store: MemoryStore
    passages: tuple[Passage, ...]


def make_documents(rng: np.random.Generator) -> Iterator[Document]:
    for number in range(160):
        folder = str(rng.choice(FOLDERS))
        words = sorted(rng.choice(WORDS, size=2, replace=False))
        tags = sorted(set(rng.choice(TAGS, size=int(rng.integers(0, 3)))))
        yield Document(
            source_type=str(rng.choice(SOURCES, p=(0.8, 0.1, 0.1))),
            source_id=f"{folder}/n{number}.md".lstrip("/"),
            user_id=str(rng.choice(USERS, p=(0.9, 0.1))),
            title=f"n{number}",
            text=f"# One\n{' '.join(words)} {number}\n\n# Two\n{words[0]} again {number}\n",
            tags=tuple(tags),
            note_type=str(rng.choice(TYPES)),
            modified_at=float(rng.choice(DAYS)),
            sensitive=bool(rng.random() < 0.2),
            metadata={"tags": tags},
        )


def make_library(folder: Path) -> FilterStore:
    rng = np.random.default_rng(7)
    cuts: dict[str, list[Chunk]] = {}
    store = open_store(folder / "index.db", lambda document: cuts.setdefault(document.source_id, cut(document)))
    documents = list(make_documents(rng))
    vectors: dict[int, Vector] = {}
    for document in documents:
        store.upsert(document)
        sql = "SELECT id, embed_hash FROM memory_chunks WHERE embedding_version = ''"
        rows = [(each, hashed, unit(rng.normal(size=DIM))) for each, hashed in store.database.rows(sql)]
        store.store_vectors(rows)
        vectors |= {each: unpacked(packed(vector)) for each, _, vector in rows}
    for document in documents[::5]:
        store.delete(document.source_type, document.source_id, document.user_id)
    alive = {each.source_id: each for number, each in enumerate(documents) if number % 5}
    sql = "SELECT c.id, d.source_id, c.content FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
    passages = tuple(
        Passage(each, alive[path], frozenset(content.lower().split()), vectors[each])
        for each, path, content in store.database.rows(sql)
    )
    return FilterStore(store, passages)


@pytest.fixture(scope="module")
def filter_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilterStore]:
    made = make_library(tmp_path_factory.mktemp("library"))
    yield made
    made.store.database.close()


PATHS = [f"{folder}/n{number}.md".lstrip("/") for folder in FOLDERS for number in range(0, 160, 3)]
PREFIXES = (*FOLDERS, "Projects/", "Projects/gateway/", "Project", "Nowhere", *PATHS[:3])

filters = st.builds(
    Filters,
    user_id=st.sampled_from((*USERS[:1] * 5, *USERS, "nobody")),
    sources=st.lists(st.sampled_from((*SOURCES, "mail")), max_size=2).map(tuple),
    path_prefix=st.sampled_from(("",) * 8 + PREFIXES),
    within=st.one_of(st.just(()), st.lists(st.sampled_from(PATHS), max_size=40).map(tuple)),
    exclude=st.one_of(st.just(()), st.lists(st.sampled_from(PATHS), max_size=40).map(tuple)),
    note_type=st.sampled_from(("", "", "", *TYPES, "MEETING", "none")),
    tags=st.one_of(st.just(()), st.lists(st.sampled_from((*TAGS, "#work", "wor", "Über")), max_size=2).map(tuple)),
    after=st.sampled_from((None, None, *DAYS)),
    before=st.sampled_from((None, None, *DAYS)),
    sensitive=st.sampled_from((None, None, True, False)),
)
words = st.one_of(st.just(()), st.lists(st.sampled_from((*WORDS, "again", "never")), max_size=1).map(tuple))
scopes = st.tuples(filters, words, words)
SAME = 1e-6
"""Cosines that differ by less are equal: float32 sums depend on the order of the terms in the last digits."""

queries = st.integers(0, 10_000).map(lambda seed: unit(np.random.default_rng(seed).normal(size=DIM)))


def below(path: str, prefix: str) -> bool:
    folder = prefix.strip("/").split("/") if prefix.strip("/") else []
    return path.split("/")[: len(folder)] == folder


def tagged(tags: tuple[str, ...], wanted: str) -> bool:
    parent = wanted.lstrip("#").lower()
    return any(tag.lower() == parent or tag.lower().startswith(f"{parent}/") for tag in tags)


def admits(scope: Filters, document: Document) -> bool:
    return (
        document.user_id == scope.user_id
        and (document.source_type in scope.sources if scope.sources else document.source_type != "task")
        and below(document.source_id, scope.path_prefix)
        and (not scope.within or document.source_id in scope.within)
        and document.source_id not in scope.exclude
        and (not scope.note_type or document.note_type.lower() == scope.note_type.lower())
        and all(tagged(document.tags, tag) for tag in scope.tags)
        and (scope.after is None or document.modified_at >= scope.after)
        and (scope.before is None or document.modified_at < scope.before)
        and scope.sensitive in (None, document.sensitive)
    )


def brute_force(filter_store: FilterStore, scope: tuple[Filters, tuple[str, ...], tuple[str, ...]]) -> list[Passage]:
    wanted, required, forbidden = scope
    return [
        each
        for each in filter_store.passages
        if admits(wanted, each.document) and set(required) <= each.words and not set(forbidden) & each.words
    ]


def as_scope(scope: tuple[Filters, tuple[str, ...], tuple[str, ...]]) -> Scope:
    return Scope(*scope)


def with_members(filter_store: FilterStore, scope: tuple[Filters, tuple[str, ...], tuple[str, ...]]) -> Database:
    """Return a connection that has cached the passages of a scope."""
    database = replace(filter_store.store.database, cache=RevisionCache())
    estimate_scope(database, as_scope(scope))
    return database


def ids(matches: list[ScoredChunk]) -> list[int]:
    return [match.id for match in matches]


many = examples(250, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@many
@given(scope=scopes, query=queries, k=st.integers(1, 60))
def test_both_engines_return_the_nearest_passages_of_the_scope(
    filter_store: FilterStore, scope: tuple[Filters, tuple[str, ...], tuple[str, ...]], query: Vector, k: int
) -> None:
    check_engines(filter_store, scope, query, k)


@pytest.mark.stress
@examples(10_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scope=scopes, query=queries, k=st.integers(1, 60))
def test_both_vector_engines_agree_with_brute_force_for_many_filters(
    filter_store: FilterStore, scope: tuple[Filters, tuple[str, ...], tuple[str, ...]], query: Vector, k: int
) -> None:
    check_engines(filter_store, scope, query, k)


def check_engines(
    filter_store: FilterStore, scope: tuple[Filters, tuple[str, ...], tuple[str, ...]], query: Vector, k: int
) -> None:
    """Check both engines. Passages whose cosines differ by less than float32 resolves may be in either order."""
    cosines = {each.id: float(each.vector @ query) for each in brute_force(filter_store, scope)}
    expected = sorted(cosines.values(), reverse=True)[:k]
    unlisted, listed = filter_store.store.database, with_members(filter_store, scope)
    ways: tuple[tuple[VectorIndex, Database, dict[str, float]], ...] = (
        (VecTable(), unlisted, {"MAX_CANDIDATES": 10_000}),
        (ExactScan(), unlisted, {"MAX_CANDIDATES": 10_000}),
        (ExactScan(), unlisted, {"MAX_CANDIDATES": 20}),
        (ExactScan(), listed, {"GATHERED": 0.0}),
        (ExactScan(), listed, {"GATHERED": 1.0, "PART": 7}),
    )
    for engine, database, constants in ways:
        with mock.patch.multiple(scan, **constants):
            matches = engine.search(database, query, as_scope(scope), k)
        found = ids(matches)
        assert len(set(found)) == len(found)
        assert [cosines[each] for each in found] == pytest.approx(expected, abs=SAME), engine.name
        assert [match.score for match in matches] == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@many
@given(
    scope=scopes,
    order=st.randoms(use_true_random=False),
    wanted=st.integers(1, 60),
    looked_at=st.sampled_from((10, 100, 10_000)),
)
def test_scan_returns_the_nearest_in_scope_for_any_candidate_limit(
    filter_store: FilterStore,
    scope: tuple[Filters, tuple[str, ...], tuple[str, ...]],
    order: Random,
    wanted: int,
    looked_at: int,
) -> None:
    by_product = [each.id for each in filter_store.passages]
    order.shuffle(by_product)
    products = -np.arange(len(by_product), dtype=np.float64)
    inside = {each.id for each in brute_force(filter_store, scope)}
    with mock.patch.object(scan, "MAX_CANDIDATES", looked_at):
        found = _nearest_inside(filter_store.store.database, as_scope(scope), np.array(by_product), products, wanted)
    assert sorted(found) == sorted([each for each in by_product if each in inside][:wanted])


@pytest.mark.slow
@many
@given(scope=scopes, order=st.randoms(use_true_random=False), k=st.integers(0, 300), share=st.floats(0.01, 1.0))
def test_first_in_scope_preserves_the_given_chunk_order(
    filter_store: FilterStore,
    scope: tuple[Filters, tuple[str, ...], tuple[str, ...]],
    order: Random,
    k: int,
    share: float,
) -> None:
    asked = [each.id for each in filter_store.passages]
    order.shuffle(asked)
    inside = {each.id for each in brute_force(filter_store, scope)}
    found = first_in_scope(filter_store.store.database, as_scope(scope), asked, k, share)
    assert found == [each for each in asked if each in inside][:k]


WAYS_TO_FIND_WORDS = (
    (False, 0.0, 30_000, 0.5), (False, 1.1, 30_000, 0.5), (False, 1.1, 10, 0.5),
    (True, 1.1, 30_000, 0.5), (True, 0.0, 30_000, 1.1), (True, 0.0, 30_000, 0.0),
)  # fmt: skip
"""The combinations of caching the passages in scope with the constants that select the search strategy."""


@pytest.mark.slow
@many
@given(scope=scopes, word=st.sampled_from(WORDS), k=st.integers(1, 400))
def test_the_keyword_leg_returns_every_passage_of_the_scope_with_the_word(
    filter_store: FilterStore, scope: tuple[Filters, tuple[str, ...], tuple[str, ...]], word: str, k: int
) -> None:
    expected = {each.id for each in brute_force(filter_store, scope) if word in each.words}
    database = filter_store.store.database
    matches = search_words(database, [quoted(word)], as_scope(scope), k)
    for each, narrow, short, tight in WAYS_TO_FIND_WORDS:
        with mock.patch.multiple(keyword, NARROW=narrow, SHORT=short, TIGHT=tight):
            found = search_words(
                with_members(filter_store, scope) if each else database, [quoted(word)], as_scope(scope), k
            )
        assert found == matches
    assert len(matches) == min(k, len(expected))
    assert {match.id for match in matches} <= expected
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)


def test_filter_fixtures_select_some_but_not_all_passages(filter_store: FilterStore) -> None:
    """Check that filters make a difference in the store, on which the properties above depend."""
    everything = len(filter_store.passages)
    assert everything == 256
    for scope in (
        Filters(path_prefix="Projects"),
        Filters(tags=("work",)),
        Filters(sensitive=True),
        Filters(note_type="meeting"),
        Filters(after=DAYS[2]),
        Filters(sources=("chat",)),
        Filters(user_id="other"),
    ):
        assert 0 < len(brute_force(filter_store, (scope, (), ()))) < everything, scope
