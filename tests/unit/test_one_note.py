"""In a search of one note, words are also ranked by their rarity in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.index.database import RevisionCache
from donna_tui.index.filters import Scope, quoted
from donna_tui.index.keyword import search_words
from donna_tui.index.scope import is_one_note
from donna_tui.index.store import MemoryStore
from donna_tui.types.search import Filters
from tests.unit.index_parts import note, open_store

MEETING = "Meetings/remote.md"
SPOKEN = "the designer and again the designer", "then we take the shape now", *["the designer nods here"] * 10
"""“Designer” is throughout the meeting and in no other note; “shapes” is in a quarter of all notes."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    store = open_store(tmp_path / "i.db")
    store.upsert(note(MEETING, "\n".join(f"# Part {number}\n{words}" for number, words in enumerate(SPOKEN))))
    for number in range(60):
        store.upsert(note(f"Notes/{number}.md", f"some shape {number}" if number % 4 == 0 else f"nothing {number}"))
    yield store
    store.database.close()


def passages(store: MemoryStore, filters: Filters, *terms: str, without: tuple[str, ...] = ()) -> list[str]:
    """Return the text of each passage below its heading, best first."""
    found = search_words(store.database, [quoted(term) for term in terms], Scope(filters, without=without), 100)
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    text = "SELECT content FROM memory_chunks WHERE id = ?"
    return [store.database.value(text, (match.id,)).rpartition("\n")[2] for match in found]


@pytest.mark.parametrize("filters", [Filters(within=(MEETING,)), Filters(path_prefix=MEETING)])
def test_a_word_throughout_a_note_does_not_distinguish_its_passages(store: MemoryStore, filters: Filters) -> None:
    assert passages(store, filters, "designer", "shape")[0] == SPOKEN[1]


@pytest.mark.parametrize("filters", [Filters(), Filters(within=(MEETING, "Notes/1.md"))])
def test_among_several_notes_only_the_vault_says_which_word_is_rare(store: MemoryStore, filters: Filters) -> None:
    assert passages(store, filters, "designer", "shape")[0] == SPOKEN[0]


def test_every_passage_with_a_word_is_found_even_by_a_word_of_all_passages(store: MemoryStore) -> None:
    assert sorted(passages(store, Filters(within=(MEETING,)), "designer", "shape")) == sorted(SPOKEN)
    assert len(passages(store, Filters(within=(MEETING,)), "part")) == len(SPOKEN)
    assert passages(store, Filters(within=(MEETING,)), "heron") == []


def test_excluded_words_are_left_out_of_the_note(store: MemoryStore) -> None:
    assert passages(store, Filters(within=(MEETING,)), "designer", "shape", without=("designer",)) == [SPOKEN[1]]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), False),
        (Filters(path_prefix="Meetings"), True),
        (Filters(path_prefix="Notes"), False),
        (Filters(within=("Notes/1.md", "Notes/2.md")), False),
        (Filters(within=("Notes/none.md",)), False),
    ],
)
def test_is_one_note_detects_single_note_scopes(store: MemoryStore, filters: Filters, expected: bool) -> None:
    assert is_one_note(store.database, filters) is expected


def test_a_folder_is_one_note_until_another_is_added(store: MemoryStore) -> None:
    cached = replace(store.database, cache=RevisionCache())
    below = Filters(path_prefix="Meetings")
    assert is_one_note(cached, below)
    assert cached.cache
    assert cached.cache.get("is_one_note", cached.revision()) == {below: True}
    store.upsert(note("Meetings/later.md", "another"))
    assert not is_one_note(cached, below)
