"""Which notes match the filters of a search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from donna_tui.index.filters import Scope, all_in_scope
from donna_tui.index.store import MemoryStore
from donna_tui.types.search import Filters
from tests.unit.index_parts import note, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    store = open_store(tmp_path / "index.db")
    yield store
    store.database.close()


def paths(store: MemoryStore, **filters: Any) -> set[str]:
    """Return the notes with a passage that matches some filters."""
    keys = all_in_scope(store.database, Scope(Filters(**filters)))
    rows = store.database.rows(
        "SELECT c.id, d.source_id FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
    )
    return {path for each, path in rows if each in keys}


def test_a_folder_is_not_one_whose_name_begins_with_its_name(store: MemoryStore) -> None:
    for path in ("Work/a.md", "Work/deep/b.md", "Work-old/c.md", "Work.md", "Work0/d.md", "Workshop/e.md", "work/f.md"):
        store.upsert(note(path, "A line.\n"))
    assert paths(store, path_prefix="Work") == {"Work/a.md", "Work/deep/b.md"}


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (("project",), {"whole.md", "below.md", "deep.md"}),
        (("Project/Donna",), {"below.md", "deep.md"}),
        (("project", "urgent"), {"below.md"}),
        (("proj",), set()),
    ],
)
def test_a_tag_finds_notes_with_a_tag_below_it(store: MemoryStore, tags: tuple[str, ...], found: set[str]) -> None:
    for path, held in {
        "whole.md": ["Project"], "below.md": ["project/donna", "urgent"], "deep.md": ["project/donna/search"],
        "other.md": ["projects", "project-x"], "none.md": [],
    }.items():  # fmt: skip
        store.upsert(note(path, "A line.\n", metadata={"tags": held}))
    assert paths(store, tags=tags) == found
