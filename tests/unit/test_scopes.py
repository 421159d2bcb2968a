"""Which part of an index is in a scope, and which SQL index finds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from donna_tui.index.database import Database
from donna_tui.index.filters import ALL_CHUNKS, Scope, conditions, share_in_scope
from donna_tui.index.sampling import SPREAD, spread
from donna_tui.types.search import Filters
from tests.unit.index_parts import open_store

NOTES = 20_000
FOLDERS = ("Archive", "Garden", "Meetings", "People", "Projects", "Reading", "Recipes", "Travel", "Work", "Year")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Create notes in ten folders, one folder after the other, as a vault is read; every third has a later date."""
    store = open_store(tmp_path_factory.mktemp("scopes") / "index.db")
    with store.database.transaction():
        store.database.run_many(
            "INSERT INTO memory_documents (id, user_id, source_type, source_id, dated_at, created_at, updated_at,"
            " content_hash) VALUES (?, 'me', 'vault', ?, ?, 0, 0, '')",
            [(f"{each}", f"{FOLDERS[each * 10 // NOTES]}/{each:05}.md", float(each % 3)) for each in range(NOTES)],
        )
    yield store.database
    store.database.close()


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_share_of_a_folder_whose_notes_are_contiguous(database: Database, folder: str) -> None:
    assert share_in_scope(database, Scope(Filters(path_prefix=folder))) == pytest.approx(0.1, abs=0.01)


def test_the_share_of_scattered_notes(database: Database) -> None:
    assert share_in_scope(database, Scope(Filters(after=2.0))) == pytest.approx(1 / 3, abs=0.05)
    assert share_in_scope(database, Scope(Filters())) == 1.0
    assert share_in_scope(database, Scope(Filters(path_prefix="None"))) == 0.0


@pytest.mark.parametrize(
    "filters",
    [
        Filters(path_prefix="Projects"),
        Filters(path_prefix="Projects", sources=("vault", "chat")),
        Filters(within=("Projects/08000.md",)),
        Filters(within=("Projects/08000.md",), after=2.0, sensitive=False),
    ],
)
def test_notes_of_a_path_are_looked_up_by_it(database: Database, filters: Filters) -> None:
    where, parameters = conditions(Scope(filters))
    plan = database.rows(f"EXPLAIN QUERY PLAN SELECT c.id FROM {ALL_CHUNKS} WHERE {where}", parameters)
    assert "ux_memory_doc_user_source (user_id=? AND source_type=? AND source_id" in plan[0][3]


@pytest.mark.parametrize("last", [0, 1, 2 * SPREAD, 2 * SPREAD + 1, 18_000, 1_000_000])
def test_spread_returns_sorted_rows_in_range(last: int) -> None:
    rows = list(spread(last))
    assert rows == sorted(set(rows))
    assert not rows or (rows[0] >= 1 and rows[-1] <= last)
    assert len(rows) >= min(last, SPREAD * 0.9)


@pytest.mark.parametrize("step", range(2, 32))
def test_spread_is_not_periodic(step: int) -> None:
    rows = spread(140_000)
    assert sum(row % step == 0 for row in rows) / len(rows) == pytest.approx(1 / step, abs=0.05)
