"""A search in a real index: hits, near misses, and similar notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from donna_tui.index.database import Database, RevisionCache
from donna_tui.index.keyword import MAX_COMPLETIONS, holds_word
from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import Vector
from donna_tui.search import passages
from donna_tui.search.hybrid import Settings, more_like, search
from donna_tui.search.legs import Legs, Question, ask, candidates_for, keyword_leg, semantic_leg
from donna_tui.search.passages import PassageCache, PassageRow
from donna_tui.search.query import MONTHS, Query, parse_query
from donna_tui.search.ranking import asking_words, query_content
from donna_tui.search.sections import DECISIONS, section_of
from donna_tui.types.search import Filters, Mode, SearchOutcome, SearchRequest
from tests.unit.index_parts import QUESTION, add, leaning, note, open_store

SETTINGS = Settings(min_score=0.5, max_k=20)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    made = open_store(tmp_path / "index.db")
    yield made
    made.database.close()


def asked(
    store: MemoryStore,
    text: str,
    *,
    mode: Mode = "hybrid",
    vector: Vector | None = QUESTION,
    settings: Settings = SETTINGS,
    readable_share: float = 1.0,
    **others: object,
) -> SearchOutcome:
    question = ask(SearchRequest(text=text, mode=mode, **others))  # type: ignore[arg-type]  # fields of a request
    with_vector = Question(question.request, question.query, vector, readable_share, mode)
    return search(store.database, store.vectors, with_vector, settings)


def paths(outcome: SearchOutcome) -> list[str]:
    return [hit.path for hit in outcome.hits]


def test_a_shared_word_is_never_cut_by_the_threshold_of_the_vectors(store: MemoryStore) -> None:
    add(store, "word.md", "the kestrel outage", leaning(-0.4))
    add(store, "near.md", "nothing in common", leaning(0.9))
    outcome = asked(store, "kestrel")
    assert set(paths(outcome)) == {"word.md", "near.md"}
    word = next(hit for hit in outcome.hits if hit.path == "word.md")
    assert word.keyword_rank == 1
    assert word.score == 0.0


def test_passage_below_the_cosine_threshold_without_shared_words_is_no_hit(store: MemoryStore) -> None:
    add(store, "far.md", "nothing in common", leaning(0.49))
    add(store, "near.md", "neither has this", leaning(0.51))
    assert paths(asked(store, "kestrel")) == ["near.md"]


def test_a_near_miss_with_a_word_of_the_question_is_before_one_that_is_only_similar(store: MemoryStore) -> None:
    filler = " It says nothing else that anybody could ask for, and goes on like this for quite a while." * 3
    add(store, "near.md", f"Recruitment started.{filler}", leaning(0.4))
    add(store, "word.md", f"Kept at OSF.{filler}", leaning(0.05, 2))
    outcome = asked(store, "OSF preregistration")
    assert paths(outcome) == []
    assert outcome.near_misses[0].path == "word.md"


def test_a_question_that_the_model_cannot_read_finds_only_passages_that_share_a_word(store: MemoryStore) -> None:
    add(store, "near.md", "nothing in common", leaning(0.9))
    add(store, "word.md", "seat 503", leaning(0.1))
    assert paths(asked(store, "503", readable_share=0.0)) == ["word.md"]
    assert paths(asked(store, "503", readable_share=0.0, mode="semantic")) == ["near.md"]
    assert not asked(store, "504", readable_share=0.0).hits


def test_what_a_conversation_tells_of_the_other_person_is_a_near_miss(store: MemoryStore) -> None:
    talk = "Anna: I take pottery lessons at the town hall.\n\nBen: How are your pottery lessons? I repair my boat.\n"
    add(store, "talk.md", talk, leaning(0.9))
    assert paths(asked(store, "Where does Anna take pottery lessons?")) == ["talk.md"]
    outcome = asked(store, "Where does Ben take pottery lessons?")
    assert (paths(outcome), [hit.path for hit in outcome.near_misses]) == ([], ["talk.md"])
    assert paths(asked(store, "Where does Ben take pottery lessons?", mode="keyword")) == ["talk.md"]


def test_who_is_asked_about_decides_which_passage_of_a_conversation_is_first(store: MemoryStore) -> None:
    for number, (one, other) in enumerate((("Anna", "Ben"), ("Ben", "Anna")), 1):
        talk = f"{one}: I started pottery lessons.\n\n{other}: How do you like the pottery lessons?\n"
        add(store, f"{number}.md", talk, leaning(0.9, number))
    assert paths(asked(store, "When did Anna start pottery lessons?")) == ["1.md", "2.md"]
    assert paths(asked(store, "When did Ben start pottery lessons?")) == ["2.md", "1.md"]


def test_a_relative_day_finds_what_is_of_that_day_first(store: MemoryStore) -> None:
    day = datetime.now() - timedelta(days=1)
    yesterday, title = day.timestamp(), f"Chat, {day.day} {MONTHS[day.month - 1]} {day.year}"
    for number in range(20):
        add(store, f"{number}.md", "Nothing of note.")
    store.upsert(note("Log.md", "Chose Postgres for the billing.", dated_at=yesterday))
    store.upsert(note("chat:1-1", "Sold the boat.", source_type="chat", title=title, modified_at=yesterday))
    store.upsert(note("Old.md", "Yesterday we had to decide about the logo."))
    vectors = {"Log.md": leaning(0.5), "chat:1-1": leaning(0.5, axis=2), "Old.md": leaning(0.6, axis=3)}
    pending = [each for each in store.pending(50) if each.path in vectors]
    store.store_vectors([(each.id, each.embed_hash, vectors[each.path]) for each in pending])
    assert paths(asked(store, "what did we decide yesterday")) == ["Log.md", "chat:1-1", "Old.md"]
    assert paths(asked(store, "who sang Yesterday"))[0] == "Old.md"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("the latest ops call", "Ops/2026-03-02 call.md"),
        ("what was said in the last call of ops on redis", "Ops/2026-03-02 call.md"),
        ("unsere letzten calls", "Dev/2026-03-09 call.md"),
        ("newest calls", "Dev/2026-03-09 call.md"),
        ("when did they last call", "Ops/2026-02-02 call.md"),
        ("agreed at last Dev call", "Dev/2026-03-09 call.md"),
        ("decisions last Ops call", "Ops/2026-03-02 call.md"),
        ("the latest retro", "Retro/2026-03-20 Retro.md"),
        ("beim letzten Dev call", "Dev/2026-03-09 call.md"),
        ("our last call about Redis", "Ops/2026-02-02 call.md"),
        ("letzte Besprechung mit Ops", "Ops/2026-03-02 call.md"),
        ("das letzte Treffen mit Dev", "Dev/2026-03-09 call.md"),
        ("unser letztes Treffen", "Dev/2026-03-09 call.md"),
        ("our last call with Ops about the plan", "Ops/2026-03-02 call.md"),
        ("the last meeting", "Ops/2026-02-01 meeting.md"),
        ("last 1:1 with Ana", "People/2026-02-09 1-1 Ana.md"),
        ("the latest one-on-one of Ana", "People/2026-02-09 1-1 Ana.md"),
    ],
)
def test_the_latest_note_of_a_series_is_first(store: MemoryStore, text: str, first: str) -> None:
    for path in (
        "Ops/2026-02-02 call.md",
        "Ops/2026-03-02 call.md",
        "Ops/2026-02-01 meeting.md",
        "Ops/2025-03-02 planning call.md",
        "Dev/2026-03-09 call.md",
        "Ops/9999-03-02 call.md",
        "Retro/2026-03-20 Retro.md",
        "Daily/2026-03-20.md",
        "People/2026-02-01 1-1 Ana.md",
        "People/2026-02-09 1-1 Ana.md",
        "People/2026-02-16 1-1 Ben.md",
        "People/2026-03-16 Ana.md",
    ):
        day = datetime.fromisoformat(path.split("/")[1][:10]).timestamp()
        store.upsert(note(path, "Redis was discussed in the latest retro.", dated_at=day))
    axes = {"Ops/2026-02-02 call.md": 0.6, "Ops/2026-03-02 call.md": 0.5, "Dev/2026-03-09 call.md": 0.5}
    axes |= {"Retro/2026-03-20 Retro.md": 0.5, "Daily/2026-03-20.md": 0.9 if "retro" in text else 0.1}
    pending = [each for each in store.pending(50) if each.path in axes]
    store.store_vectors(
        [(each.id, each.embed_hash, leaning(axes[each.path], axis)) for axis, each in enumerate(pending, 1)]
    )
    assert paths(asked(store, text))[0] == first


@pytest.mark.parametrize(
    ("text", "first", "asking"),
    [
        ("what was decided with Globex?", "Decisions", ("decided",)),
        ("was haben wir mit Globex vereinbart", "Decisions", ("vereinbart",)),
        ("welche Entscheidungen gab es mit Globex", "Decisions", ("Entscheidungen",)),
        ("Beschlüsse im Fall Globex", "Decisions", ("Beschlüsse",)),
        ("which decision did the board make about Globex", "Decisions", ("decision",)),
        ("Decisions on Globex", "Decisions", ("Decisions",)),
        ("what did Ana decide about Globex", "Decisions", ("decide",)),
        ("outstanding action items for Globex", "Boxes", ("outstanding", "action", "items")),
        ("what is still open with Globex", "Boxes", ("still", "open")),
        ("which action items are still open for Globex?", "Boxes", ("action", "items", "still", "open")),
        ("welche Aufgaben sind noch offen mit Globex", "Boxes", ("Aufgaben", "noch", "offen")),
        ("Globex action items", "Boxes", ("action", "items")),
        ("overdue todos Globex", "Boxes", ("overdue", "todos")),
        ("offene aufgaben Globex Baum", "Boxes", ("offene", "aufgaben")),
        ("todos for Globex", "Boxes", ("todos",)),
        ("Globex's todos", "Boxes", ("todos",)),
        ("what does Globex have to do this week", "Boxes", ()),
        ("was muss Globex tun", "Boxes", ("muss", "tun")),
        ("was muss Globex noch zahlen", "Boxes", ("muss", "noch")),
        ("was soll Globex zu trees sagen", "Notes", ()),
        ("what does Globex still have to pay", "Boxes", ("still",)),
        ("what trees does Globex have to use", "Notes", ()),
        ("what is left to do for Globex", "Boxes", ("left",)),
        ("what should Globex do next", "Boxes", ("next",)),
        ("what should Globex do about trees", "Notes", ()),
        ("what does Globex need to do to use trees", "Notes", ()),
        ("what are the next steps with Globex", "Boxes", ("next", "steps")),
        ("did Globex agree then", "Notes", ()),
        ("which decision tree does Globex use", "Notes", ()),
        ("which tasks does Globex agree to", "Notes", ()),
        ("Globex's open tasks", "Boxes", ("open", "tasks")),
        ("how to open tasks of Globex", "Notes", ()),
        ("a query for open tasks of Globex", "Notes", ()),
    ],
)
def test_a_question_about_decisions_or_tasks_prefers_the_passages_that_list_them(
    store: MemoryStore, text: str, first: str, asking: tuple[str, ...]
) -> None:
    notes = "We spoke with Globex about trees to use, a query, tasks, decisions, and did not agree."
    add(store, "Notes.md", notes, leaning(0.45))
    add(store, "Boxes.md", "Globex\n\n- [ ] Pay the pump", leaning(0.40, 2))
    add(store, "Decisions.md", "# Globex\n\n## Decisions\n\n- Two pumps are leased", leaning(0.41, 3))
    hits = asked(store, text).hits
    assert hits[0].path == f"{first}.md"
    assert max(hit.rank_score for hit in hits) <= 1.0
    assert tuple(word.strip("?") for word in asking_words(parse_query(text))) == asking


@pytest.mark.parametrize(
    ("heading", "lists"),
    [
        ("Decision 2024-05-21", True), ("21.05.2024 – Decisions", True), ("3. Decisions made", True),
        ("Decision tree 2024", False), ("Conclusions of 3 papers", False), ("2024", False),
    ],
)  # fmt: skip
def test_a_heading_of_decisions_may_have_a_date_or_number(heading: str, lists: bool) -> None:
    assert DECISIONS.is_in([heading], "Two pumps are leased") is lists


def test_a_line_of_a_log_that_reports_a_decision_is_one(store: MemoryStore) -> None:
    add(store, "Tasks.md", "- [ ] Tell the team about the beta", leaning(0.6))
    add(store, "Log.md", "- 09:00 Standup\n- 10:30 Decided to move the beta to May\n- Ordered a chair", leaning(0.5, 2))
    assert paths(asked(store, "decision about the beta")) == ["Log.md", "Tasks.md"]
    assert paths(asked(store, "the beta")) == ["Tasks.md", "Log.md"]


def test_a_list_of_decisions_about_another_subject_stays_behind(store: MemoryStore) -> None:
    add(store, "Globex.md", "# Globex\n\n## Decisions\n\n- Two pumps are leased", leaning(0.85))
    add(store, "Initech.md", "# Initech\n\nThe cover sheet of a report is green now.", leaning(0.9, 2))
    assert paths(asked(store, "what did we decide about the cover sheet")) == ["Initech.md", "Globex.md"]


@pytest.mark.parametrize("text", ["open tasks of Bo", "tasks for Bo", "Bo's open tasks", "what should Bo do"])
def test_the_tasks_of_a_person_are_before_those_of_others(store: MemoryStore, text: str) -> None:
    add(store, "Tasks.md", "- [ ] Open a bank account", leaning(0.8))
    met = note("Retro.md", "## Tasks\n\n- [ ] Buy milk (Ana)", metadata={"frontmatter": {"attendees": ["Ana", "Bo"]}})
    store.upsert(met)
    store.store_vectors([(each.id, each.embed_hash, leaning(0.7, 2)) for each in store.pending(50)])
    add(store, "1-1 Bo.md", "# 1-1 Bo\n\n## Tasks\n\n- [ ] Ask Ana\n- [x] Pay (Bo)", leaning(0.7, 4))
    for box in ("Send the plan (Bo)", "**Bo**: send the plan", "@Bo send the plan", "[[People/Bo]]: send the plan"):
        for mark in ("", "> [!todo]\n> "):
            add(store, "Board.md", f"## Next steps\n\n{mark}- [ ] {box}", leaning(0.6, 3))
            assert paths(asked(store, text))[0] == "Board.md", mark + box


@pytest.mark.parametrize(
    ("path", "links", "order"),
    [
        ("2026-04-02 Ops.md", (), ["new", "old"]),
        ("Car sharing.md", ("2026-03-02 Ops",), ["new", "old"]),
        ("Car sharing.md", (), ["old", "new"]),
        ("Dev/2026-04-02 Ops.md", (), ["old", "new"]),
    ],
)
def test_a_later_decision_of_a_series_or_with_a_link_is_before_the_one_that_it_may_revise(
    store: MemoryStore, path: str, links: tuple[str, ...], order: list[str]
) -> None:
    old, decided = "2026-03-02 Ops.md", "## Decisions\n\n- {} the van"
    for name, text, day, cosine in (
        (old, "Keep", 2, 0.9),
        (path, "Sell", 3, 0.6),
        ("0 Ops.md", "## Notes\n\nThe van", 4, 0.5),
    ):
        store.upsert(note(name, decided.format(text) if "#" not in text else text, dated_at=day, links=links))
        store.store_vectors([(each.id, each.embed_hash, leaning(cosine, day)) for each in store.pending(50)])
    named = {old: "old", path: "new"}
    assert [named.get(each) for each in paths(asked(store, "what did we decide about the van"))][:2] == order
    assert paths(asked(store, "the van"))[0] == old
    assert paths(asked(store, "what did we decide about the van on 2 March 2026"))[0] == old


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Ops decisions", "2026-04-02 Ops.md"),
        ("what did we decide in Ops", "2026-04-02 Ops.md"),
        ("decisions Ops van", "2026-03-02 Ops.md"),
        ("how does Ops make decisions", "2026-03-02 Ops.md"),
    ],
)
def test_the_latest_decisions_of_a_series_are_first_if_the_question_has_only_its_name(
    store: MemoryStore, text: str, first: str
) -> None:
    for month, content, cosine in ((3, "Keep the van", 0.9), (4, "Buy paint", 0.5)):
        path = f"2026-0{month}-02 Ops.md"
        store.upsert(note(path, f"## Decisions\n\n- {content}", dated_at=month))
        store.store_vectors([(each.id, each.embed_hash, leaning(cosine, month)) for each in store.pending(50)])
    assert paths(asked(store, text))[0] == first


def test_a_later_day_does_not_revise_what_was_decided_on_another(store: MemoryStore) -> None:
    for day, text, cosine in ((2, "The budget of the boat is 900", 0.9), (3, "The boat race team, no budget", 0.3)):
        store.upsert(note(f"2026-03-0{day}.md", f"## Decisions\n\n- {text}", dated_at=day))
        store.store_vectors([(each.id, each.embed_hash, leaning(cosine, day)) for each in store.pending(50)])
    assert paths(asked(store, "what did we decide about the budget of the boat"))[0] == "2026-03-02.md"


@pytest.mark.parametrize(
    "statement",
    [
        "Status: superseded by [[Decisions/ADR 11 queue|ADR 11]]", "**Replaced by:** [the new one](ADR%2011%20queue.md)",
        "Ersetzt durch [[ADR 11 queue#Grund]]",
    ],
)  # fmt: skip
def test_a_note_is_before_the_one_that_it_replaces_unless_the_question_names_the_latter(
    store: MemoryStore, statement: str
) -> None:
    new, old = "ADR 11 queue.md", "ADR 7 queue.md"
    add(store, new, "Mails are rows.", leaning(0.7, 2))
    add(store, old, f"{statement}\n\nA broker has the mails.", leaning(0.9))
    assert paths(asked(store, "queue for mails")) == [new, old]
    assert paths(asked(store, "what did ADR 7 say about mails"))[0] == old
    add(store, new, "Mails are rows. Replaced by [[ADR 7 queue]].", leaning(0.7, 2))
    assert paths(asked(store, "queue for mails")) == [old, new]
    add(store, new, "Mails are rows.", leaning(0.7, 2))
    add(store, old, "A broker has the mails, replaced by Ana, see [[ADR 11 queue]].", leaning(0.9))
    assert paths(asked(store, "queue for mails")) == [old, new]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("kite", ["Christmas 2026.md", "Beach 2026.md", "Christmas 2025.md"]),
        ("kite 2025", ["Christmas 2025.md", "Christmas 2026.md", "Beach 2026.md"]),
        ("kite 2024", ["Christmas 2026.md", "Beach 2026.md", "Christmas 2025.md"]),
    ],
)
def test_a_note_of_the_year_in_question_is_before_those_of_its_series(
    store: MemoryStore, text: str, order: list[str]
) -> None:
    kinds = {"Christmas 2026.md": ("A kite", 0.9), "Beach 2026.md": ("A kite", 0.8), "Christmas 2025.md": ("Tea", 0.6)}
    for axis, (path, (content, cosine)) in enumerate(kinds.items(), 1):
        add(store, path, content, leaning(cosine, axis))
    for day in range(1, 10):
        add(store, f"2025-01-0{day}.md", "Rain", leaning(-0.9, 4))
    assert [path for path in paths(asked(store, text)) if path in kinds] == order


def test_a_box_with_a_label_does_not_take_the_gain_of_the_list_in_question(store: MemoryStore) -> None:
    add(store, "Website.md", "## Tasks\n\n- [ ] Choose a font", leaning(0.9, 2))
    add(store, "Diary.md", "- [ ] Website: ask Bo for the logo", leaning(0.5, 3))
    for number in range(4):
        add(store, f"About {number}.md", "The website was discussed.", leaning(0.8, 4 + number))
    assert set(paths(asked(store, "open tasks of the website"))[:2]) == {"Website.md", "Diary.md"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("last 1:1 with Priya", []), ("1-1 Priya", []), ("the latest 1:1 with Priya", []), ("1:1", ["1.md"]),
        ("last 1:1 with Ana", ["1.md", "2.md"]), ("last onion", ["1.md", "2.md"]),
    ],
)  # fmt: skip
def test_the_words_for_the_last_meeting_with_somebody_are_no_match_without_the_name(
    store: MemoryStore, text: str, found: list[str]
) -> None:
    add(store, "1.md", "Last time 1 onion at 1:1, the latest", leaning(0.2))
    add(store, "2.md", "Ana peeled the last onion", leaning(0.1, 2))
    assert paths(asked(store, text)) == found


@pytest.mark.parametrize("text", ["what did we decide?", "What was agreed?", "what did we decide,"])
def test_a_question_only_about_decisions_is_answered_by_every_list_of_them(store: MemoryStore, text: str) -> None:
    add(store, "Globex.md", "# Globex\n\n## Decisions\n\n- Two pumps are leased", leaning(0.26))
    near = replace(SETTINGS, min_score=0.25)
    assert paths(asked(store, text, settings=near)) == ["Globex.md"]
    assert not asked(store, "what did we decide about unicorns", settings=near).hits


def test_a_question_only_about_tasks_finds_every_list_of_them_whatever_its_words(store: MemoryStore) -> None:
    add(store, "Globex.md", "# Globex\n\n## Action items\n\n- Lease two pumps", leaning(0.1))
    add(store, "Initech.md", "# Initech\n\n## Pumps\n\n- Two of them are leased", leaning(0.12, 2))
    near = replace(SETTINGS, min_score=0.25)
    assert not asked(store, "open tasks of unicorns", settings=near).hits
    assert paths(asked(store, "what do I have to do next?", settings=near))[0] == "Globex.md"
    add(store, "Gym.md", "# Gym\n\nOpen from 6 to 23, and for tasks of any weight.", leaning(0.5, 3))
    add(store, "Old.md", "# Old\n\n## Action items\n\n- [x] Buy a pump", leaning(0.3, 4))
    assert paths(asked(store, "open tasks", settings=near)) == ["Globex.md", "Gym.md", "Old.md"]
    add(store, "Essay.md", "# Essay\n\nOpen questions\n\n%%\nTODO: add a source\n%%", leaning(0.3, 5))
    assert paths(asked(store, "open tasks", settings=near)) == ["Globex.md", "Gym.md", "Essay.md", "Old.md"]


def test_a_long_text_is_no_question_about_decisions() -> None:
    assert section_of(f"{'we spoke ' * 50_000} and decided") == (None, frozenset())


@pytest.mark.parametrize(("day", "holds"), [("yesterday", True), ("today", False), ("on 26 November 2026", False)])
def test_a_relative_day_is_that_when_a_turn_was_said_not_that_in_its_title(
    store: MemoryStore, day: str, holds: bool
) -> None:
    now = datetime(2026, 11, 27, 12)
    said, title = (now - timedelta(days=1)).timestamp(), "Chat, 27 November 2026"
    store.upsert(note("chat:1-1", "Sold the boat.", source_type="chat", title=title, modified_at=said))
    turn = PassageCache(store.database).rows([1])[1]
    content = query_content(parse_query(f"what was sold {day}", now=now))
    assert content.holds_date(content.searched(turn)) is holds


def test_where_nothing_is_relevant_the_near_misses_are_at_hand(store: MemoryStore) -> None:
    for number, cosine in enumerate((0.1, 0.3, 0.2)):
        add(store, f"{number}.md", f"text {number}", leaning(cosine))
    add(store, "empty.md", "", leaning(0.4))
    outcome = asked(store, "kestrel", k=2)
    assert outcome.hits == ()
    assert [hit.path for hit in outcome.near_misses] == ["1.md", "2.md"]
    assert outcome.searched_notes == 4


def test_in_a_search_of_one_note_the_nearest_passages_are_hits_though_none_is_close(store: MemoryStore) -> None:
    for number, cosine in enumerate((0.42, 0.44, 0.1)):
        add(store, f"{number}.md", f"text {number} " * 30, leaning(cosine))
    loose = replace(SETTINGS, min_score=0.25)
    assert paths(asked(store, "kestrel", settings=loose)) == []
    assert paths(asked(store, "path:0.md kestrel", settings=loose)) == ["0.md"]
    assert paths(asked(store, "path:2.md kestrel", settings=loose)) == []


def test_beside_hits_near_misses_are_shown_on_request_only(store: MemoryStore) -> None:
    add(store, "hit.md", "kestrel", leaning(0.9))
    add(store, "miss.md", "other", leaning(0.2))
    assert asked(store, "kestrel").near_misses == ()
    asked_for = asked(store, "kestrel", near_misses=True)
    assert [hit.path for hit in asked_for.near_misses] == ["miss.md"]
    assert paths(asked_for) == ["hit.md"]


def test_keyword_and_semantic_modes_use_only_their_own_results(store: MemoryStore) -> None:
    add(store, "word.md", "kestrel", leaning(0.1))
    add(store, "near.md", "other", leaning(0.9))
    assert paths(asked(store, "kestrel", mode="keyword")) == ["word.md"]
    assert paths(asked(store, "kestrel", mode="semantic")) == ["near.md"]
    assert asked(store, "kestrel", mode="keyword").hits[0].score is None
    assert asked(store, "kestrel", mode="semantic").hits[0].keyword_rank is None


def test_a_word_hit_that_the_vectors_missed_still_has_its_cosine(store: MemoryStore) -> None:
    for number in range(150):
        add(store, f"{number}.md", f"other {number}", leaning(0.9 - number / 1000))
    add(store, "word.md", "kestrel", leaning(0.2))
    hit = next(hit for hit in asked(store, "kestrel").hits if hit.path == "word.md")
    assert hit.vector_rank is None
    assert hit.score == pytest.approx(0.2, abs=1e-4)


def test_a_note_without_a_vector_yet_is_found_by_its_words(store: MemoryStore) -> None:
    add(store, "new.md", "kestrel arrives")
    (hit,) = asked(store, "kestrel").hits
    assert (hit.path, hit.score, hit.keyword_rank) == ("new.md", None, 1)


def test_a_hit_has_its_place_and_its_reasons(store: MemoryStore) -> None:
    store.upsert(
        note("P/a.md", "intro\n\n# One\n## Two\nthe kestrel\n", title="T", sensitive=True, metadata={"tags": ["x"]})
    )
    (hit,) = asked(store, "kestrel").hits
    assert (hit.path, hit.title, hit.heading_path) == ("P/a.md", "T", ("One", "Two"))
    assert (hit.start_line, hit.end_line) == (4, 5)
    assert [hit.snippet.text[low:high] for low, high in hit.snippet.marks] == ["kestrel"]
    assert hit.uri == "vault:P/a.md"
    assert hit.sensitive
    assert hit.metadata == {"tags": ["x"], "sensitive": True}


@pytest.mark.parametrize(("k", "expected"), [(-1, 0), (0, 0), (3, 3), (20, 20), (10_000, 20)])
def test_result_count_is_clamped(store: MemoryStore, k: int, expected: int) -> None:
    for number in range(25):
        add(store, f"{number}.md", f"kestrel {number}")
    assert len(asked(store, "kestrel", k=k).hits) == expected


@pytest.mark.parametrize("text", ["", "   ", "-kestrel", "path:P", '"'])
def test_a_question_without_words_finds_nothing(store: MemoryStore, text: str) -> None:
    add(store, "a.md", "kestrel", leaning(0.9))
    assert asked(store, text, vector=None).hits == ()


def test_an_empty_index_answers(store: MemoryStore) -> None:
    outcome = asked(store, "kestrel")
    assert (outcome.hits, outcome.near_misses, outcome.searched_notes) == ((), (), 0)


def test_phrases_are_required_and_words_excluded_in_both_legs(store: MemoryStore) -> None:
    add(store, "both.md", "cache stampede draft", leaning(0.95))
    add(store, "phrase.md", "a cache stampede", leaning(0.9))
    add(store, "apart.md", "cache, then a stampede", leaning(0.99))
    assert paths(asked(store, '"cache stampede" -draft')) == ["phrase.md"]


def test_filters_of_the_text_act_on_the_search(store: MemoryStore) -> None:
    add(store, "P/a.md", "kestrel one", leaning(0.9))
    add(store, "Q/a.md", "kestrel two", leaning(0.95))
    assert paths(asked(store, "kestrel path:P")) == ["P/a.md"]
    assert paths(asked(store, "kestrel", filters=Filters(exclude=("P/a.md",)))) == ["Q/a.md"]


def test_a_partial_word_finds_what_it_begins(store: MemoryStore) -> None:
    add(store, "a.md", "kestrel")
    assert paths(asked(store, "kest", typing=True)) == ["a.md"]
    assert paths(asked(store, "kest")) == []


def test_a_word_that_some_passage_contains_is_not_a_prefix(store: MemoryStore) -> None:
    add(store, "a.md", "a note")
    add(store, "b.md", "a notebook")
    assert paths(asked(store, "note", typing=True, vector=None)) == ["a.md"]
    assert paths(asked(store, "noteb", typing=True, vector=None)) == ["b.md"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mueller?", "a"), ("Müller", "a"), ("wasserstrasse", "a"), ("boehm", "b"), ("Böhm", "b"), ("poet", ""),
        ("muller", "a"), ("soeren", "c"), ("Aagaard", "c"),
    ],
)  # fmt: skip
def test_umlauts_are_found_in_either_spelling(store: MemoryStore, text: str, found: str) -> None:
    add(store, "a", "Frau Müller wohnt in der Wasserstraße.", leaning(0.1))
    add(store, "b", "Ein Brief von Boehm, ein pot", leaning(0.1, axis=2))
    add(store, "c", "Et brev fra Søren Ågård", leaning(0.1, axis=3))
    outcome = asked(store, text)
    assert paths(outcome) == list(found)
    assert [hit.snippet.marks for hit in outcome.hits] != [()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mahnungen", "a"), ("wer wurde gemahnt?", "a"), ("gekündigt", "b"), ("Miete", "b"), ("Gerät", ""),
        ("Haftpflicht", "c"), ("Messer", ""), ("Händler", "a"), ("Frist", "b"), ("Fristen", "b"), ("Monat", ""),
    ],
)  # fmt: skip
def test_german_words_are_found_with_other_endings_and_in_compounds(store: MemoryStore, text: str, found: str) -> None:
    add(store, "a", "Erste Mahnung und zweite Rate, von der Händlerin", leaning(0.1))
    add(store, "b", "Mietvertrag, kündigen mit der Frist", leaning(0.1, axis=2))
    add(store, "c", "Haftpflichtversicherung, Monatsrate und eine Messung", leaning(0.1, axis=3))
    outcome = asked(store, text)
    assert paths(outcome) == list(found)
    assert all(hit.snippet.marks for hit in outcome.hits)


def test_english_words_are_found_in_irregular_forms(store: MemoryStore) -> None:
    add(store, "a", "We bought a kettle and left.", leaning(0.1))
    add(store, "b", "Buy tea.", leaning(0.1, axis=2))
    assert sorted(paths(asked(store, "what did we buy"))) == ["a", "b"]
    assert paths(asked(store, "leave")) == []
    assert paths(asked(store, "-buy kettle")) == ["a"]


def test_english_words_have_no_german_endings(store: MemoryStore) -> None:
    add(store, "a", "the mast of the ship and the number", leaning(0.1))
    assert paths(asked(store, "masten")) == []
    assert paths(asked(store, "number")) == ["a"]


def test_both_spellings_of_a_name_are_found_and_one_is_excluded_where_a_vault_has_both(store: MemoryStore) -> None:
    add(store, "Hans Müller.md", "Frau in der Logistik.", leaning(0.1))
    add(store, "b.md", "Petra Mueller zeichnet.", leaning(0.1, axis=2))
    add(store, "c.md", "Frau Schmidt zeichnet.", leaning(0.1, axis=3))
    for text in ("müller", "Mueller"):
        outcome = asked(store, text)
        assert sorted(paths(outcome)) == ["Hans Müller.md", "b.md"]
        assert outcome.hits[paths(outcome).index("b.md")].snippet.marks == ((6, 13),)
    marks = next(hit.snippet.marks for hit in asked(store, "müller zeich", typing=True).hits if hit.path == "b.md")
    assert marks == ((6, 13), (14, 22))
    assert asked(store, "hans mueller").hits[0].named == "Hans Müller"
    assert sorted(paths(asked(store, "frau zeichnet -mueller"))) == ["Hans Müller.md", "c.md"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1310", "a"), ("1310€", "a"), ("1,310", "a"), ("11900", "bc"), ("11.900", "bc"), ("48200", "b"),
        ("2300", ""), ("100200", ""), ("10100200", ""), ("1450", ""), ("310", "a"), ("2480,75", "e"), ("2480.75", "e"),
        ("2.480,75", "e"), ("2480", "e"), ("2480,76", ""), ("1310,50", ""),
        ("70kg", "f"), ("2.5mg", "f"), ("2.5mg/kg", "f"), ("30G", "g"), ("0kg", ""), ("5mg", ""), ("70k", ""),
    ],
)  # fmt: skip
def test_numbers_are_found_with_and_without_separators_between_their_groups_and_before_their_unit(
    store: MemoryStore, text: str, found: str
) -> None:
    add(store, "a", "Paid 1,310 € on 2026-10-02", leaning(0.1))
    add(store, "b", "The carpenter wants 11.900 €, the meter is at 48 200", leaning(0.1, axis=2))
    add(store, "c", "The mason wants 11900 €", leaning(0.1, axis=3))
    add(store, "d", "Version 4.2.300 runs at 10.100.200.3, room 1/450", leaning(0.1, axis=4))
    add(store, "e", "The rent is 2.480,75 €", leaning(0.1, axis=5))
    add(store, "f", "Give 2.5 mg/kg, so nine vials for 70 kg", leaning(0.1, axis=6))
    add(store, "g", "A needle of 30G, and 30 g of sugar", leaning(0.1, axis=7))
    outcome = asked(store, text)
    assert "".join(sorted(paths(outcome))) == found
    assert all(hit.snippet.marks for hit in outcome.hits)


def test_the_digits_of_a_grouped_number_are_not_the_number(store: MemoryStore) -> None:
    filler = " It says nothing else that anybody could ask for, and goes on like this for quite a while." * 3
    add(store, "a", f"The invoice is 1,310 €.{filler}", leaning(0.1))
    assert paths(asked(store, "1310")) == ["a"]
    store.delete("vault", "a")
    add(store, "b", f"1. Call room 310.{filler}", leaning(0.1))
    assert paths(asked(store, "1310")) == []
    content = query_content(Query(words=("1310",), spellings=(("1310", "1,310"),)))
    assert content.coverage("The invoice is 1,310 €") == 1.0
    assert content.coverage("1. Call room 310 of release 4.1.310 at 21,310,000") == 0.0


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("§ 536 BGB", "b"),
        ("§ 14 BGB 3", "b"),
        ("14 BGB", "a"),
        ("BGB 2021", "a"),
        ("which rent is paid by § 536 BGB", "a"),
    ],
)
def test_the_number_of_a_short_question_decides(store: MemoryStore, text: str, first: str) -> None:
    add(store, "a", "BGB, BGB", leaning(0.9))
    add(store, "b", f"{'Nothing else is said here. ' * 9}§ 536 and § 14 no. 3 BGB of 2021", leaning(0.3, axis=2))
    for number in range(9):
        add(store, f"{number}.md", "The rent is paid.", leaning(-0.5, axis=3))
    assert paths(asked(store, text))[0] == first


@pytest.mark.parametrize(
    ("asked_for", "text", "share"),
    [
        ("load spikes", "calls load_spikes(path)", 1.0), ("load_spikes", "load the spikes", 1.0),
        ("RE-2025-0001", "RE 2026-0001 of 2025", 0.0), ("(RE-2025-0001)?", "Invoice re 2025/0001.", 1.0),
        ("pay RE-2025-0001", "to pay by 2025", 0.5), ("covid-19", "covid in May", 0.5),
        ("adr-0012-caching", "see ADR-0012-caching", 1.0), ("get_user_by_id", "ORDER BY id", 1 / 3),
    ],
)  # fmt: skip
def test_the_parts_of_an_identifier_are_words(asked_for: str, text: str, share: float) -> None:
    assert query_content(parse_query(asked_for)).coverage(text) == share


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://doi.org/10.7554/eLife.84210", "a"), ("/home/ana/flow/io.py", "b"), ("C:/flow/io.py", "b"),
        ("flow/db.py", ""), ("and/or", ""), ("https://example.com/flow", ""), ("/".join(["x"] * 30) + "/flow/io.py", ""),
    ],
)  # fmt: skip
def test_a_url_or_path_is_found_by_its_end(store: MemoryStore, text: str, found: str) -> None:
    add(store, "a", "doi: 10.7554/eLife.84210", leaning(0.1))
    add(store, "b", "File /opt/flow/io.py, line 88, or another one", leaning(0.1, axis=2))
    assert "".join(paths(asked(store, text))) == found


@pytest.mark.parametrize("text", ["Yildiz", "YILDIZ", "yıldız", "lodz", "Łódź", "aero", "soren", "SØREN", "co2", "CO₂"])
def test_letters_that_sqlite_keeps_are_found_by_plain_ones(store: MemoryStore, text: str) -> None:
    add(store, "a", "Søren Yıldız went to Łódź and Ærø. CO₂", leaning(0.1))
    add(store, "b", "Soren Yildiz wrote from Lodz and Aero. CO2", leaning(0.1, axis=2))
    outcome = asked(store, text)
    assert sorted(paths(outcome)) == ["a", "b"]
    assert all(hit.snippet.marks for hit in outcome.hits)


def test_no_spelling_of_a_stop_word_or_with_the_same_stem_is_looked_up(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr("donna_tui.search.legs.holds_spelling", lambda _, word, __: looked_up.append(word))
    asked(store, "does the value of Straße")
    assert looked_up == ["strasse"]


def test_an_arabic_noun_is_found_with_its_article(store: MemoryStore) -> None:
    add(store, "a.md", "يحب القهوة.", leaning(0.1))
    assert paths(asked(store, "قهوة")) == ["a.md"]


def test_an_excluded_word_is_respelt_once_but_no_word_of_a_relative_date(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "a", "Frau Müller wohnt hier. Naechste Tür.", leaning(0.9))
    add(store, "b", "Frau Schmidt wohnt hier.", leaning(0.8, axis=2))
    looked_up: list[str] = []

    def spy(database: Database, word: str, table: str) -> bool:
        looked_up.append(word)
        return holds_word(database, word, table)

    monkeypatch.setattr("donna_tui.search.legs.holds_word", spy)
    assert paths(asked(store, "frau -mueller")) == ["b"]
    assert looked_up == ["mueller"]
    assert keyword_leg(store.database, ask(SearchRequest(text="nächste Woche")), 10).query.words == ("nächste", "Woche")


def test_a_prefix_may_become_what_most_passages_hold(store: MemoryStore) -> None:
    for number in range(MAX_COMPLETIONS):
        add(store, f"{number}.md", f"kestrel{number} kestrel{number + 1}")
    found = paths(asked(store, "kest", typing=True, vector=None))
    assert sorted(found) == [f"{number}.md" for number in range(MAX_COMPLETIONS)]


@pytest.mark.parametrize("typed", ["decisi", "decision", "deci", "Décisions"])
def test_a_prefix_finds_words_whose_stem_is_shorter(store: MemoryStore, typed: str) -> None:
    add(store, "a.md", "our decisions")
    add(store, "b.md", "the weather")
    assert paths(asked(store, typed, typing=True, vector=None)) == ["a.md"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("cortic", "ab"), ("hierarch", "a"), ("hierarchic", "a"), ("undo las", "a"), ("@kobak20", "b"), ("load_spik", "b"),
        ("load_sp", "b"), ("load_", "b"), ("größe_me", "b"), ("universi", ""), ("organisation", ""),
    ],
)  # fmt: skip
def test_every_prefix_finds_the_words_that_it_begins_and_no_others(store: MemoryStore, typed: str, found: str) -> None:
    add(store, "a", "Undo the last hierarchical cortical model", leaning(0.1))
    add(store, "b", "Corticosterone of @kobak2019 is read by load_spikes, größe_messen", leaning(0.1, axis=2))
    add(store, "c", "La uni, one unit or an organ", leaning(0.1, axis=3))
    assert "".join(sorted(paths(asked(store, typed, typing=True)))) == found


def test_a_word_with_accents_is_whole_without_them(store: MemoryStore) -> None:
    add(store, "a", "We met at the Café", leaning(0.1))
    add(store, "Cafeteria", "The cafeteria is closed", leaning(0.1, axis=2))
    assert paths(asked(store, "cafe", typing=True)) == ["a"]


def test_a_prefix_finds_its_word_among_many_with_the_same_stem(store: MemoryStore) -> None:
    for number in range(60):
        add(store, f"{number}", "we decided", leaning(0.1, axis=2))
    add(store, "last", "our decisions", leaning(0.1, axis=3))
    for typed in ("decis", "decisi", "decisio", "decision"):
        assert asked(store, typed, typing=True).total


def test_an_identifier_of_stop_words_is_found(store: MemoryStore) -> None:
    add(store, "a", "The relation is_a links two classes", leaning(0.1, axis=2))
    assert paths(asked(store, "is_a")) == ["a"]


def test_a_character_of_a_script_without_spaces_finds_the_words_that_it_begins(store: MemoryStore) -> None:
    add(store, "a.md", "来週の会議は月曜日です。", leaning(0.3))
    add(store, "b.md", "天気", leaning(0.2))
    outcome = asked(store, "会")
    assert paths(outcome) == ["a.md"]
    assert outcome.hits[0].snippet.marks == ((3, 4),)
    assert paths(asked(store, "会 kestrel", mode="keyword")) == ["a.md"]
    assert paths(asked(store, "会 kestrel")) == ["a.md"]


def test_filters_alone_list_the_notes_that_they_let_through(store: MemoryStore) -> None:
    for number in range(3):
        store.upsert(replace(note(f"P/{number}.md", "kestrel\n\n# More\nof it"), modified_at=100.0 + number))
    add(store, "Q/a.md", "kestrel")
    listed = asked(store, "path:P", vector=None)
    assert paths(listed) == ["P/2.md", "P/1.md", "P/0.md"]
    assert len({round(hit.rank_score, 4) for hit in listed.hits}) == 1, "none of them matches better than another"
    assert paths(asked(store, "", vector=None)) == []


# Both legs in parallel


def test_legs_that_were_searched_before_return_the_same_answer(store: MemoryStore) -> None:
    for number in range(20):
        add(store, f"{number}.md", "kestrel" if number % 3 else "other", leaning(0.9 - number / 50))
    question = replace(ask(SearchRequest(text="kestrel")), vector=QUESTION)
    legs = Legs(
        keyword_leg(store.database, question, candidates_for(8)),
        semantic_leg(store.database, store.vectors, question, candidates_for(8)),
    )
    settings = Settings(0.25, 8)
    together = search(store.database, store.vectors, question, settings, legs)
    assert together == search(store.database, store.vectors, question, settings)
    assert len(together.hits) == 8


def test_no_passage_is_loaded_twice_until_its_note_changes(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[int] = []
    load = passages._load

    def spy(database: Database, ids: Sequence[int]) -> dict[int, PassageRow]:
        loaded.extend(ids)
        return load(database, ids)

    def beds() -> list[str]:
        found = search(replace(store.database, cache=cache), store.vectors, question, SETTINGS)
        return [hit.content for hit in found.hits]

    monkeypatch.setattr(passages, "_load", spy)
    cache, text = RevisionCache(), "where are my roses of October 2023"
    question = replace(ask(SearchRequest(text=text)), vector=QUESTION)
    for number in range(20):
        add(store, f"{number}.md", f"The roses of 13 October 2023, bed {number}.", leaning(0.6))
    assert len(beds()) == len(beds()) == 8
    assert sorted(loaded) == sorted(set(loaded))
    add(store, "0.md", "The roses of 13 October 2023, sold.", leaning(0.6))
    assert "The roses of 13 October 2023, sold." in beds()


def test_what_was_deleted_after_a_leg_found_it_is_left_out(store: MemoryStore) -> None:
    add(store, "stays.md", "kestrel", leaning(0.8))
    add(store, "goes.md", "kestrel", leaning(0.9))
    question = replace(ask(SearchRequest(text="kestrel")), vector=QUESTION)
    legs = Legs(keyword_leg(store.database, question, 100), semantic_leg(store.database, store.vectors, question, 100))
    store.delete("vault", "goes.md")
    assert paths(search(store.database, store.vectors, question, Settings(0.25, 8), legs)) == ["stays.md"]


# More like this


def test_more_like_leaves_out_the_note_itself(store: MemoryStore) -> None:
    store.upsert(note("self.md", "# One\nfirst part\n\n# Two\nsecond part\n"))
    store.store_vectors([(chunk.id, chunk.embed_hash, leaning(0.9, 2)) for chunk in store.pending(5)])
    add(store, "like.md", "unrelated words", leaning(0.8, 2))
    (first, _) = asked(store, "part", mode="keyword").hits
    outcome = more_like(store.database, store.vectors, first, SearchRequest(text="part"))
    assert paths(outcome) == ["like.md"]
    assert outcome.mode == "semantic"
    assert outcome.note == ""


def test_more_like_keeps_the_filters_of_the_search(store: MemoryStore) -> None:
    add(store, "self.md", "one", leaning(0.9))
    add(store, "In/a.md", "two", leaning(0.8))
    add(store, "Out/a.md", "three", leaning(0.85))
    (hit,) = asked(store, "one", mode="keyword").hits
    request = SearchRequest(text="one", filters=Filters(path_prefix="In"))
    assert paths(more_like(store.database, store.vectors, hit, request)) == ["In/a.md"]


def test_without_a_vector_similar_notes_are_found_by_shared_words(store: MemoryStore) -> None:
    add(store, "self.md", 'kestrel "outage" AND (rollback')
    add(store, "like.md", "the rollback")
    add(store, "other.md", "nothing")
    (hit,) = asked(store, "kestrel").hits
    outcome = more_like(store.database, store.vectors, hit, SearchRequest(text="kestrel"))
    assert paths(outcome) == ["like.md"]
    assert outcome.mode == "keyword"
    assert "by shared words" in outcome.note


def test_more_like_a_hit_that_is_gone_by_now_is_no_error(store: MemoryStore) -> None:
    add(store, "self.md", "kestrel", leaning(0.9))
    add(store, "other.md", "a kestrel", leaning(0.9))
    hit = next(hit for hit in asked(store, "kestrel").hits if hit.path == "self.md")
    store.delete("vault", "self.md")
    assert paths(more_like(store.database, store.vectors, hit, SearchRequest(text="kestrel"))) == ["other.md"]
