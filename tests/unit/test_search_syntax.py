"""The text must contain what the query syntax requires, and a filter that matches nothing is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.index.database import Database, RevisionCache
from donna_tui.index.keyword import one_edit_away
from donna_tui.index.store import MemoryStore
from donna_tui.search.filters_check import misspelt_words
from donna_tui.search.hybrid import Settings, search
from donna_tui.search.legs import ask
from donna_tui.search.query import parse_query
from donna_tui.text.words import holds_phrase
from donna_tui.types.search import Mode, SearchOutcome, SearchRequest
from tests.unit.index_parts import note, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    made = open_store(tmp_path / "index.db", version="")
    yield made
    made.database.close()


def asked(store: MemoryStore, text: str, mode: Mode = "keyword") -> SearchOutcome:
    return search(store.database, store.vectors, ask(SearchRequest(text=text, mode=mode)), Settings(0.25, 20))


def paths(outcome: SearchOutcome) -> list[str]:
    return sorted(hit.path for hit in outcome.hits)


@pytest.mark.parametrize(
    "text",
    [
        "setting up",
        "Setting  UP!",
        "**setting** _up_",
        "setting\nup",
        "> setting\n> up",
        "a, setting-up.",
        "sétting up",
    ],
)
def test_holds_phrase_matches_adjacent_words(text: str) -> None:
    assert holds_phrase("setting up", text)


@pytest.mark.parametrize(
    "text", ["settings up", "set up", "up setting", "setting it up", "resetting up", "setting upon"]
)
def test_holds_phrase_rejects_other_words(text: str) -> None:
    assert not holds_phrase("setting up", text)


def test_only_passages_with_the_very_phrase_are_hits(store: MemoryStore) -> None:
    store.upsert(note("a.md", "How to **set up** the vault, and settings upwards.\n"))
    store.upsert(note("b.md", "On *setting*\nup the vault.\n"))
    store.upsert(note("c.md", "\u65e5\u672c\u8a9e\u306e\u30ac\u30a4\u30c9\n"))
    assert paths(asked(store, '"setting up"')) == ["b.md"]
    assert paths(asked(store, '"\u672c\u8a9e"')) == ["c.md"]
    assert paths(asked(store, '"\u672c\u65e5"')) == []


def test_any_number_of_phrases_and_paths_may_be_required(store: MemoryStore) -> None:
    store.upsert(note("Plugins/a.md", "a b\n"))
    assert paths(asked(store, '"a b" ' * 1_200)) == ["Plugins/a.md"]
    assert paths(asked(store, "path:plug " * 1_200 + "a")) == ["Plugins/a.md"]


def test_a_path_filter_is_any_part_of_the_path_in_any_case(store: MemoryStore) -> None:
    store.upsert(note("Help/Plugins/Backup core.md", "words\n"))
    store.upsert(note("\u00dcbung/x.md", "words\n"))
    assert paths(asked(store, "path:plugins words")) == ["Help/Plugins/Backup core.md"]
    assert paths(asked(store, "path:PLUGINS/back words")) == ["Help/Plugins/Backup core.md"]
    assert paths(asked(store, "path:\u00fcbung words")) == ["\u00dcbung/x.md"]
    assert paths(asked(store, "path:/help words")) == ["Help/Plugins/Backup core.md"]


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("path:plugns words", "path:Plugins"), ("tag:wrok words", "tag:work"), ("type:meting words", "type:meeting"),
        ("in:valt words", "in:vault"), ("path:zzzzzz words", ""), ("in:draft words", ""),
        ("in:plugins words", "path:Plugins"), ("in:plugin words", "path:Plugins"),
    ],
)  # fmt: skip
def test_a_filter_that_nothing_matches_is_named_with_the_nearest(store: MemoryStore, text: str, nearest: str) -> None:
    store.upsert(note("Plugins/a.md", "words\n", note_type="meeting", tags=("work",), metadata={"tags": ["work"]}))
    outcome = asked(store, text)
    (problem,) = outcome.filter_problems
    assert (problem.text, problem.nearest) == (text.split()[0], nearest)
    assert (outcome.hits, outcome.searched_notes) == ((), 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("in:notes words", "in:notes: there is nothing of this kind (known: vault, draft)"),
        ("type:meeting words", "type:meeting: no note has this type (known: Person, book)"),
        ("type:boko words", "type:boko: no note has this type; did you mean type:book?"),
    ],
)
def test_the_values_of_a_filter_are_listed_if_none_is_near(store: MemoryStore, text: str, message: str) -> None:
    for number, kind in enumerate(("book", "Person", "")):
        store.upsert(note(f"{number}.md", "words\n", note_type=kind))
    (problem,) = asked(store, text).filter_problems
    assert problem.sentence == message


def test_a_phrase_that_occurs_nowhere_is_reported(store: MemoryStore) -> None:
    store.upsert(note("a.md", "red bikes\n\nbicycles that are red\n"))
    outcome = asked(store, '"red bikes" "red bicycles"')
    assert [problem.sentence for problem in outcome.filter_problems] == [
        '"red bicycles": no passage has these words side by side'
    ]
    assert outcome.searched_notes == 1


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("landlrod", "landlord"), ("Landlor", "landlord"), ("landloord's", "landlord"), ("karpike", "karpicke"),
        ("lnadlord -rent", "landlord"), ("landlords", None), ("qandlord", None), ("rint", None), ("langlard", None), ("talkin", None),
        ("open tasks of the landlrod", "landlord"), ('"landlrod"', None), ("\u7b14\u8bb0\u7b14\u8bb0\u7b14", None),
    ],
)  # fmt: skip
def test_a_misspelt_word_is_named_with_the_word_that_was_meant(
    store: MemoryStore, text: str, nearest: str | None
) -> None:
    store.upsert(note("House/contract.md", "The landlord talks of more rent. Karpicke does not.\n"))
    problems = [problem for problem in asked(store, text).filter_problems if problem.nearest]
    assert [problem.nearest for problem in problems] == ([nearest] if nearest else [])


def test_a_misspelt_word_is_looked_up_once_while_the_next_ones_are_typed(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []

    def near(database: Database, word: str, table: str) -> str:
        looked_up.append(word)
        return one_edit_away(database, word, table)

    monkeypatch.setattr("donna_tui.search.filters_check.one_edit_away", near)
    database = replace(store.database, cache=RevisionCache())
    store.upsert(note("a.md", "The landlord"))
    for text in ("landlrod", "landlrod tenatn", "landlrod tenatn hosue"):
        assert [each.nearest for each in misspelt_words(database, parse_query(text))] == ["landlord"]
    assert looked_up == ["landlrod", "tenatn", "hosue"]
    store.upsert(note("b.md", "The tenant"))
    assert [each.nearest for each in misspelt_words(database, parse_query("tenatn"))] == ["tenant"]


def test_a_phrase_of_a_draft_is_not_reported_where_drafts_are_searched(store: MemoryStore) -> None:
    store.upsert(note("a.md", "red bikes\n", draft=True))
    (problem,) = asked(store, 'in:draft path:Nope "red bikes"').filter_problems
    assert problem.text == "path:Nope"


def test_a_period_that_ends_before_it_begins_is_reported(store: MemoryStore) -> None:
    store.upsert(note("a.md", "words\n"))
    (problem,) = asked(store, "words after:2025 before:2023").filter_problems
    assert problem.sentence == "before:2023-01-01: this is not later than after:2025-01-01"


def test_the_notes_that_are_counted_are_those_that_filters_let_through(store: MemoryStore) -> None:
    for path in ("Plugins/a.md", "Plugins/b.md", "c.md"):
        store.upsert(note(path, "words\n"))
    assert asked(store, "path:plugins nothing").searched_notes == 2
    assert asked(store, "path:plugins nothing").filter_problems == ()


def test_a_forbidden_word_alone_lists_the_notes_without_it(store: MemoryStore) -> None:
    store.upsert(note("a.md", "red bikes\n"))
    store.upsert(note("b.md", "# One\n\nblue bikes\n\n# Two\n\nred cars\n"))
    store.upsert(note("c.md", "blue cars\n"))
    assert paths(asked(store, "-red")) == ["c.md"]


def test_emoji_are_found(store: MemoryStore) -> None:
    store.upsert(note("a.md", "We ship it \U0001f680 today\n"))
    store.upsert(note("b.md", "We wait \u23f3 today\n"))
    assert paths(asked(store, "\U0001f680")) == ["a.md"]
    assert paths(asked(store, "today -\U0001f680")) == ["b.md"]
