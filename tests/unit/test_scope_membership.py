"""The cache of the passages in a scope, and its lifetime."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from donna_tui.index import scope as scope_module
from donna_tui.index.database import MAX_CACHED, Database, RevisionCache
from donna_tui.index.filters import Scope, all_in_scope
from donna_tui.index.scope import ScopeEstimate, ScopeMembership, estimate_scope, known_members
from donna_tui.index.store import MemoryStore
from donna_tui.types.search import Filters
from tests.unit.index_parts import note, open_store

FOLDER = Scope(Filters(path_prefix="Projects"))

T = TypeVar("T")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    store = open_store(tmp_path / "i.db")
    for number in range(20):
        store.upsert(note(f"{'Projects' if 5 <= number < 11 else 'Garden'}/{number}.md", f"number {number}"))
    yield store
    store.database.close()


@pytest.fixture
def database(store: MemoryStore) -> Database:
    return replace(store.database, cache=RevisionCache())


class CountingRunner:
    """Other connections, which run their work at once or later."""

    def __init__(self, database: Database) -> None:
        self.database, self.runs = database, 0

    def __call__(self, work: Callable[[Database], T]) -> Callable[[], T]:
        self.runs += 1
        done = work(self.database)
        return lambda: done


def keys(database: Database, scope: Scope = FOLDER) -> list[int] | None:
    known = known_members(database, scope)
    return None if known is None else list(known.keys)


def test_a_short_scope_is_listed_when_it_is_asked_for(database: Database) -> None:
    assert keys(database) is None
    estimate = estimate_scope(database, FOLDER)
    assert estimate.members is not None
    assert estimate.share == pytest.approx(0.3)
    assert keys(database) == sorted(all_in_scope(database, FOLDER)) == list(range(6, 12))
    assert (estimate.members.ranges, estimate.members.density) == ([(6, 11)], 1.0)
    assert estimate_scope(database, FOLDER) is estimate


def test_long_scope_is_listed_in_parallel_with_the_second_search(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope_module, "LISTED_AT_ONCE", 2)
    runner = CountingRunner(database)
    assert estimate_scope(database, FOLDER, runner).members is None
    assert (runner.runs, keys(database)) == (0, None)
    assert estimate_scope(database, FOLDER).members is None
    assert keys(database) is None
    assert estimate_scope(database, FOLDER, runner).members is None
    assert (runner.runs, keys(database)) == (1, list(range(6, 12)))
    assert estimate_scope(database, FOLDER, runner).members is not None
    assert runner.runs == 1


def test_a_scope_is_listed_once_at_a_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_module, "LISTED_AT_ONCE", 2)
    waiting: list[Callable[[Database], object]] = []

    def later(work: Callable[[Database], T]) -> Callable[[], T]:
        waiting.append(work)
        return lambda: work(database)

    assert [estimate_scope(database, FOLDER, later).members for _ in range(4)] == [None] * 4
    assert len(waiting) == 1
    waiting[0](database)
    assert keys(database) == list(range(6, 12))


def test_wide_scope_is_not_cached(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_module, "LISTED_AT_ONCE", 2)
    runner = CountingRunner(database)
    wide = Scope(Filters(path_prefix="Garden"))
    assert [estimate_scope(database, wide, runner).share for _ in range(3)] == pytest.approx([0.7] * 3)
    assert (runner.runs, keys(database, wide)) == (0, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.upsert(note("Projects/new.md", "one more")),
        lambda store: store.upsert(note("Projects/7.md", "another text\n\n# Two\n\nsections")),
        lambda store: store.delete("vault", "Projects/7.md"),
        lambda store: store.rename("Projects/7.md", note("Garden/70.md", "number 7")),
        lambda store: store.rename("Garden/1.md", note("Projects/1.md", "number 1")),
    ],
    ids=["came", "changed", "went", "moved out", "moved in"],
)
def test_scope_is_listed_again_after_a_document_changes(
    store: MemoryStore, database: Database, change: Callable[[MemoryStore], object]
) -> None:
    estimate_scope(database, FOLDER)
    before = keys(database)
    change(store)
    assert keys(database) is None
    estimate_scope(database, FOLDER)
    after = keys(database)
    assert after == sorted(all_in_scope(database, FOLDER))
    assert after != before


def test_new_vectors_do_not_invalidate_cached_scopes(store: MemoryStore, database: Database) -> None:
    estimate_scope(database, FOLDER)
    store.mark_failed([chunk.id for chunk in store.pending(5)])
    assert keys(database) == list(range(6, 12))


@pytest.mark.parametrize("scope", [Scope(Filters(), phrases=("number",)), Scope(Filters(), without=("number",))])
def test_scopes_with_phrases_or_excluded_words_are_not_cached(database: Database, scope: Scope) -> None:
    assert estimate_scope(database, scope).members is None
    assert keys(database, scope) is None


def test_a_program_that_does_not_stay_remembers_nothing(store: MemoryStore) -> None:
    assert estimate_scope(store.database, FOLDER) == ScopeEstimate(pytest.approx(0.3))
    assert known_members(store.database, FOLDER) is None


def test_a_missing_folder_has_no_members(database: Database) -> None:
    estimate = estimate_scope(database, Scope(Filters(path_prefix="Nowhere")))
    assert estimate.members is not None
    assert (list(estimate.members.keys), estimate.members.ranges, estimate.members.listed) == ([], [], "[]")


def test_the_first_of_some_chunks_that_are_members() -> None:
    some = ScopeMembership([30, 10, 20])
    assert some.first([5, 20, 25, 30, 10, 40], 2) == [20, 30]
    assert some.first([5, 40], 2) == []


def test_revision_cache_evicts_the_least_recently_used_value() -> None:
    remembered = RevisionCache()
    for number in range(MAX_CACHED):
        remembered.put(number, 1, f"value {number}")
    assert remembered.get(0, 1) == "value 0"
    remembered.put("one more", 1, "value")
    assert remembered.get(1, 1) is None
    assert remembered.get(0, 1) == "value 0"


def test_values_of_another_revision_are_not_returned() -> None:
    remembered = RevisionCache()
    remembered.put("key", 1, "value")
    assert remembered.get("key", 2) is None
    assert remembered.get("key", 1) == "value"
