"""Notes are found by their names first, whatever their text, and the switcher matches names and headings fuzzily."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from donna_tui.index.database import Database
from donna_tui.index.names import MAX_NAMESAKES, Name, NameKind, exact_names, name_key, prefix_names, similar_names
from donna_tui.index.store import MemoryStore
from donna_tui.search.hybrid import Settings, search
from donna_tui.search.legs import ask
from donna_tui.search.names import misspelt_by, switch
from donna_tui.search.query import parse_query
from donna_tui.text.fuzzy import edit_distance
from donna_tui.types.search import Filters, Hit, Mode, NameMatch, SearchRequest
from tests.unit.index_parts import note, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    made = open_store(tmp_path / "index.db", version="")
    yield made
    made.database.close()


def found(
    store: MemoryStore, text: str, mode: Mode = "keyword", *, typing: bool = False, **filters: object
) -> list[Hit]:
    question = ask(SearchRequest(text=text, mode=mode, filters=Filters(**filters), typing=typing))  # type: ignore[arg-type]
    return list(search(store.database, store.vectors, question, Settings(min_score=0.25, max_k=20)).hits)


def matches(store: MemoryStore, query: str, limit: int = 20) -> list[NameMatch]:
    return list(switch(store.database, query, limit, "me"))


def marked(match: NameMatch) -> str:
    return "".join(match.name[place] for place in match.places)


@pytest.mark.parametrize(
    "asked",
    [
        "v1.9.13", "V1 9 13", "ficus elastica", "Ficus-Elastica", "rubber plant", "2026-03-12-standup",
        "Projects/2026-03-12-standup", "日本語", "cafe creme", "Café crème", "on call", "oncall", "#on-call", "🚀",
        "Links are enough",
    ],
)  # fmt: skip
def test_a_note_comes_first_by_any_of_its_names(store: MemoryStore, asked: str) -> None:
    for path, others in {
        "Releases/v1.9.13.md": {},
        "ficus elastica.md": {"title": "The plant by the window", "aliases": ("Rubber plant",)},
        "Projects/2026-03-12-standup.md": {"title": "Standup"},
        "日本語.md": {},
        "x1.md": {"title": "Café crème"},
        "x2.md": {"tags": ("on-call",)},
        "🚀.md": {},
        "Zettel/202606141130 Links are enough.md": {},
    }.items():
        store.upsert(note(path, "Nothing but plain words.\n", **others))
    expected = {
        "v": "Releases/v1.9.13.md", "f": "ficus elastica.md", "r": "ficus elastica.md", "日": "日本語.md",
        "2": "Projects/2026-03-12-standup.md", "p": "Projects/2026-03-12-standup.md", "c": "x1.md", "o": "x2.md",
        "#": "x2.md", "🚀": "🚀.md", "l": "Zettel/202606141130 Links are enough.md",
    }  # fmt: skip
    for number in range(12):
        store.upsert(
            note(f"other/{number}.md", f"v1 9 ficus elastica 2026 03 12 standup on call cafe creme {number}\n")
        )
    hits = found(store, asked)
    assert hits[0].path == expected[asked[0].lower()]
    assert hits[0].named


def test_signs_after_a_word_distinguish_names(store: MemoryStore) -> None:
    for name in ("C++", "C", "Note"):
        store.upsert(note(f"{name}.md", "Pointers and templates.\n", aliases=("C#",) if name == "Note" else ()))
    for name, path in (("c++", "C++.md"), ("C", "C.md"), ("C#", "Note.md")):
        assert [hit.path for hit in found(store, name) if hit.named] == [path]
    store.upsert(note("C++/Plan.md", "words\n"))
    assert [hit.path for hit in found(store, "Plan path:C++") if hit.named] == ["C++/Plan.md"]


def test_a_misspelt_word_of_a_name_finds_the_note(store: MemoryStore) -> None:
    store.upsert(note("Søren Kierkegaard.md", "A philosopher.\n"))
    store.upsert(note("Kirkegard.md", "A village.\n"))
    assert [hit.path for hit in found(store, "Kierkegard")] == ["Kirkegard.md", "Søren Kierkegaard.md"]


@pytest.mark.parametrize("text", ["lunch", "contract", "risk", "brücken", "2027", "20411", "Gatewey", "conferense"])
def test_a_word_near_one_of_a_name_is_another_word(store: MemoryStore, text: str) -> None:
    for name in ("Launch plan", "Contact list", "Disk cleanup", "Rücken und Knie", "2026 plans", "INC-2041"):
        store.upsert(note(f"{name}.md", "words\n"))
    store.upsert(note("Gateway/Conference/x.md", "words\n"))
    assert found(store, text) == []


def test_the_passage_is_the_one_under_a_heading_of_the_name_else_the_first(store: MemoryStore) -> None:
    store.upsert(note("Tom.md", "# About\n\nA colleague.\n\n# Tom\n\nLikes walks.\n"))
    store.upsert(note("Ann.md", "# About\n\nA colleague.\n\n# More\n\nAnn likes walks.\n"))
    assert found(store, "tom")[0].start_line == 5
    assert found(store, "ann")[0].start_line == 1


def test_a_note_without_text_is_found_by_its_name_and_its_headings_are_no_passage(store: MemoryStore) -> None:
    store.upsert(note("Empty.md", ""))
    store.upsert(note("Daily.md", "# Monday\n\n## Redis\n\n## Plans\n"))
    store.upsert(note("Redis facts.md", "A cache.\n"))
    assert [(hit.path, hit.content) for hit in found(store, "empty")] == [("Empty.md", "")]
    assert [hit.path for hit in found(store, "redis")] == ["Redis facts.md"]
    assert [(hit.path, hit.content) for hit in found(store, "plans")] == [("Daily.md", "")]


def test_a_note_without_text_is_found_by_each_of_its_words_and_by_filters(store: MemoryStore) -> None:
    store.upsert(note("Kestrel contract renewal.md", "# Kestrel contract renewal\n"))
    store.upsert(note("People/Quokka Jones.md", "", properties="company Zanzibar Ltd"))
    for text in ("contract renewal", "renewal"):
        assert [hit.path for hit in found(store, text)] == ["Kestrel contract renewal.md"]
    for text in ("zanzibar", "path:People", "jones"):
        assert [hit.path for hit in found(store, text)] == ["People/Quokka Jones.md"]
    for number in range(12):
        store.upsert(note(f"Ideas/Kestrel contract {number}.md", ""))
    store.upsert(note("Log.md", "The old kestrel contract ends in May.\n"))
    paths = [hit.path for hit in found(store, "kestrel contract")]
    assert paths[0] == "Log.md"
    assert set(paths[1:]) > {"Ideas/Kestrel contract 1.md"}


def test_a_first_name_or_surname_names_the_pages_of_a_few_people(store: MemoryStore) -> None:
    store.upsert(note("People/Xavier Unknown.md", ""))
    store.upsert(note("People/Ben Okafor.md", "# Ben Okafor\n\nLikes tea and long walks by the sea.\n"))
    store.upsert(note("Meetings/Sync.md", "# Sync\n\n## Attendees\n\n- Ben Okafor\n- Xavier\n"))
    assert [found(store, asked)[0].path for asked in ("Okafor", "ben", "Xavier")] == [
        "People/Ben Okafor.md",
        "People/Ben Okafor.md",
        "People/Xavier Unknown.md",
    ]
    assert [found(store, typed, typing=True)[0].path for typed in ("oka", "Okafor")] == ["People/Ben Okafor.md"] * 2
    assert not any(hit.named for hit in [*found(store, "oka"), *found(store, "walk", typing=True)])
    assert [hit.path for hit in found(store, "Xavier path:Meetings")] == ["Meetings/Sync.md"]
    for surname in ("Long", "Moor", "Stone"):
        store.upsert(note(f"People/Ben {surname}.md", ""))
    assert not any(hit.named for hit in found(store, "ben"))


def test_a_name_obeys_filters_and_forbidden_words(store: MemoryStore) -> None:
    store.upsert(note("A/Tom.md", "A colleague.\n", sensitive=True))
    store.upsert(note("B/Tom.md", "A cat with a bell.\n"))
    assert {hit.path for hit in found(store, "Tom")} == {"A/Tom.md", "B/Tom.md"}
    assert [hit.path for hit in found(store, "Tom", path_prefix="A")] == ["A/Tom.md"]
    assert [hit.path for hit in found(store, "Tom path:A")] == ["A/Tom.md"]
    assert [hit.path for hit in found(store, "Tom", sensitive=False)] == ["B/Tom.md"]
    assert [hit.path for hit in found(store, "Tom -bell")] == ["A/Tom.md"]
    assert found(store, "-Tom") == []


@pytest.mark.parametrize(("lookup", "key"), [(exact_names, "harbour"), (similar_names, "harbuor")])
def test_private_notes_with_the_same_name_do_not_hide_a_public_one(
    store: MemoryStore, lookup: Callable[[Database, str, Filters, int], list[Name]], key: str
) -> None:
    for number in range(MAX_NAMESAKES + 1):
        store.upsert(note(f"Private/{number}/Harbour.md", "Private.\n", sensitive=True))
    store.upsert(note("Public/Harbour.md", "The quay.\n"))
    for number in range(MAX_NAMESAKES + 1):
        store.upsert(note(f"Secret/{number}/Harbour.md", "Private.\n", sensitive=True))
    found = lookup(store.database, key, Filters(sensitive=False), 3)
    assert {name.kind for name in found} >= {NameKind.FILE}


def test_a_required_phrase_is_never_satisfied_by_a_name(store: MemoryStore) -> None:
    store.upsert(note("Rubber plant.md", "A ficus.\n", aliases=("elastica",), title="Ficus"))
    assert found(store, '"rubber plant" ficus') == []


def test_the_words_that_a_name_begins_with_find_it_where_nothing_else_is_found(store: MemoryStore) -> None:
    store.upsert(note("2026-03-12-standup.md", "", title="Standup"))
    store.upsert(note("2026-03-13-standup.md", "", title="Standup"))
    assert [hit.path for hit in found(store, "2026-03-12")] == ["2026-03-12-standup.md"]


@pytest.mark.parametrize(
    ("text", "typing", "named"),
    [
        ("chapter 3", False, ["Chapter 3 – Results.md"]), ("chapter", False, []), ("chap", True, []),
        ("vanderm", True, ["@vandermaaten2008.md"]), ("vanderm", False, []), ("work", True, []), ("the", True, []),
    ],
)  # fmt: skip
def test_few_notes_with_a_name_that_begins_with_the_question_are_first(
    store: MemoryStore, text: str, typing: bool, named: list[str]
) -> None:
    for number in (1, 2, 3, 4):
        store.upsert(note(f"Chapter {number} – Results.md", "Volts.\n"))
    for name in ("@vandermaaten2008", "Workshop", "Theories"):
        store.upsert(note(f"{name}.md", "Distances.\n"))
    store.upsert(note("other.md", "Chapter 3 of @vandermaaten2008 was the hardest work.\n"))
    hits = found(store, text, typing=typing)
    assert [hit.path for hit in hits if hit.named] == named
    assert [hit.path for hit in hits[: len(named)]] == named


def test_a_name_that_begins_with_the_question_is_not_first_if_many_do(store: MemoryStore) -> None:
    for number in range(8):
        store.upsert(note(f"Work/{number}.md", "Volts.\n"))
        store.upsert(note(f"Work plan {number} of the year.md", "Volts.\n"))
    store.upsert(note("other.md", "Work work work.\n"))
    assert not any(hit.named for hit in found(store, "work"))


@pytest.mark.parametrize("text", ["today", "latest retro"])
def test_a_name_that_begins_like_a_question_about_time_is_not_first(store: MemoryStore, text: str) -> None:
    store.upsert(note("Today I learned.md", "Volts.\n"))
    store.upsert(note("Latest retro tips.md", "Volts.\n"))
    store.upsert(note("Retro 2026-03-12.md", "Volts today.\n"))
    assert not any(hit.named for hit in found(store, text))


def test_name_matches_ahead_of_other_hits_are_limited(store: MemoryStore) -> None:
    for number in range(9):
        store.upsert(note(f"{number}/README.md", f"words {number}\n", modified_at=float(number)))
    store.upsert(note("About.md", "Readme readme readme readme.\n"))
    hits = found(store, "readme")
    assert [hit.path for hit in hits[:3]] == ["8/README.md", "7/README.md", "6/README.md"]
    assert [bool(hit.named) for hit in hits[:4]] == [True, True, True, False]


def test_names_follow_their_note(store: MemoryStore) -> None:
    store.upsert(note("Old.md", "words\n", aliases=("Nick",)))
    store.rename("Old.md", note("New.md", "words\n", aliases=("Nick",)))
    assert found(store, "old") == []
    assert found(store, "new")[0].path == "New.md"
    store.upsert(note("New.md", "words\n"))
    assert found(store, "nick") == []
    store.delete("vault", "New.md")
    assert store.database.value("SELECT count(*) FROM note_names") == 0
    assert store.database.rows("SELECT rowid FROM note_name_grams('new')") == []


def test_typing_errors_are_bridged_by_the_length_of_the_name(store: MemoryStore) -> None:
    for path in ("ficus elastica.md", "Gateway rollout.md", "Tom.md"):
        store.upsert(note(path, "words\n"))

    def misspelt(text: str) -> list[str]:
        return [named.name.text for named in misspelt_by(store.database, parse_query(text))]

    assert misspelt("ficus elastca") == ["ficus elastica"]
    assert misspelt("gatewya rolout") == ["Gateway rollout"]
    assert misspelt("Tim") == []
    assert misspelt("quite another thing") == []


def test_a_misspelt_name_is_found_among_many_that_share_some_letters(store: MemoryStore) -> None:
    for number in range(80):
        store.upsert(note(f"Propagated matters {number}.md", "words\n"))
    store.upsert(note("Properties.md", "words\n"))
    found = misspelt_by(store.database, parse_query("propertes"))
    assert [named.name.text for named in found] == ["Properties"]


def test_the_name_with_fewer_typing_errors_comes_first_whatever_kind_it_is(store: MemoryStore) -> None:
    store.upsert(note("gateway rollpits.md", "words\n"))
    store.upsert(note("x.md", "words\n", aliases=("gateway rollout",)))
    found = misspelt_by(store.database, parse_query("gateway rollput"))
    assert [named.name.text for named in found] == ["gateway rollout", "gateway rollpits"]


def test_a_misspelt_name_is_first_where_other_words_of_the_question_are_found(store: MemoryStore) -> None:
    store.upsert(note("Gateway rollout.md", "words\n"))
    store.upsert(note("Plan.md", "The rollout of the plan.\n"))
    assert [(hit.path, hit.named) for hit in found(store, "gatewya rollout")] == [
        ("Gateway rollout.md", "Gateway rollout"), ("Plan.md", ""),
    ]  # fmt: skip
    assert [hit.named for hit in found(store, "plan rollout")] == ["", ""]


def test_a_misspelt_name_is_never_found_for_a_word_of_the_vault(store: MemoryStore) -> None:
    store.upsert(note("Gateway.md", "words\n"))
    store.upsert(note("Garden.md", "words\n"))
    store.upsert(note("Trees.md", "Gardens and a gardem of words.\n"))
    store.upsert(note("Manner.md", "words\n"))
    store.upsert(note("Hall.md", "The banner hangs here.\n"))
    assert [hit.path for hit in found(store, "gatewya")] == ["Gateway.md"]
    assert [hit.path for hit in found(store, "gardem")] == ["Trees.md"]
    assert [hit.path for hit in found(store, "banner")] == ["Hall.md"]
    assert found(store, "banner path:Manner") == []


@pytest.mark.parametrize(
    ("left", "right", "edits"), [("", "", 0), ("abc", "abc", 0), ("abcd", "abdc", 1), ("abc", "xyz", 3), ("a", "", 1)]
)
def test_edit_distance_counts_a_swap_as_one_edit(left: str, right: str, edits: int) -> None:
    assert edit_distance(left, right, 5) == edit_distance(right, left, 5) == edits
    assert edit_distance(left, right, 0) == min(edits, 1)


def test_lookups_by_key_are_indexed(store: MemoryStore) -> None:
    store.upsert(note("a b.md", "Nothing but plain words.\n"))
    plans: list[str] = []
    asked: list[tuple[str, object]] = []
    store.database.connection.exec_trace = lambda _, sql, bindings: asked.append((sql, bindings)) or True
    exact_names(store.database, "a b", Filters(), 3)
    prefix_names(store.database, "a b", Filters(), 3)
    store.database.connection.exec_trace = None
    for sql, bindings in asked:
        plans += [row[3] for row in store.database.rows(f"EXPLAIN QUERY PLAN {sql}", bindings)]
    assert any("ix_note_names_squashed" in plan for plan in plans)
    assert any("ix_note_names_key" in plan for plan in plans)
    assert not [plan for plan in plans if plan.startswith("SCAN") and "memory_counts" not in plan]


def test_keys_leave_out_case_accents_and_punctuation_only() -> None:
    assert name_key("  Café-Crème (v1.9) ") == "cafe creme v1 9"
    assert name_key("ガイド_日本語") == "ガイド 日本語"
    assert name_key("🚀 Launch!") == "🚀 launch"
    assert name_key("—") == ""


def test_the_switcher_lists_what_was_changed_last_without_a_query(store: MemoryStore) -> None:
    for number in (2, 3, 1):
        store.upsert(note(f"{number}.md", "words\n", modified_at=float(number), title=f"Note {number}"))
    assert [match.path for match in matches(store, " ", 2)] == ["3.md", "2.md"]


def test_the_switcher_matches_letters_in_order_and_says_which(store: MemoryStore) -> None:
    store.upsert(note("Projects/Gateway rollout.md", "words\n"))
    store.upsert(note("Garden.md", "# Trees\n\n## Rowan tree\n\nwords\n"))
    (match, *_) = matches(store, "gtro")
    assert (match.path, match.kind, marked(match)) == ("Projects/Gateway rollout.md", "file", "Gtro")
    (heading,) = matches(store, "rowan")
    assert (heading.path, heading.kind, heading.line, marked(heading)) == ("Garden.md", "heading", 3, "Rowan")
    assert matches(store, "qqq") == []


def test_the_switcher_prefers_whole_names_then_beginnings_then_names_to_headings(store: MemoryStore) -> None:
    store.upsert(note("Tomatoes.md", "# Tom\n\nwords\n"))
    store.upsert(note("Tom.md", "words\n"))
    store.upsert(note("A custom way.md", "words\n"))
    assert [(match.path, match.kind) for match in matches(store, "tom")] == [
        ("Tom.md", "file"), ("Tomatoes.md", "heading"), ("Tomatoes.md", "file"), ("A custom way.md", "file"),
    ]  # fmt: skip


def test_the_switcher_takes_accents_unspaced_scripts_and_patterns_as_they_are(store: MemoryStore) -> None:
    store.upsert(note("Crème brûlée.md", "words\n"))
    store.upsert(note("会議メモ.md", "words\n"))
    assert marked(matches(store, "creme")[0]) == "Crème"
    assert marked(matches(store, "会メ")[0]) == "会メ"
    assert matches(store, "*[a-z]*") == []
    assert matches(store, "'; DROP") == []
