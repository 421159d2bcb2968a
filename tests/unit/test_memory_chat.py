"""Chats as a source: which turns are indexed, when the buffer is flushed, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.index.store import MemoryStore
from donna_tui.memory.chat import ChatSource, TurnRules, inflections, title_of
from donna_tui.memory.splitter import TextSplitter
from donna_tui.text.tokens import EstimatedTokens
from tests.unit.index_parts import open_store
from tests.unit.memory_parts import CUT, START, chat_config, conversation, turn

LONG = "a sentence that is long enough to count"
NOT_MERGED = ["s1:1-1", "s1:2-2", "s1:3-3", "s1:4-4"]


def test_inflections_drop_the_silent_e() -> None:
    assert inflections("schedule") == {"schedule", "schedules", "scheduled", "scheduling"}
    assert inflections("call") == {"call", "calls", "called", "calling"}


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (LONG, True),
        ("x" * 20, True),
        ("x" * 19, False),
        ("Book it", True),
        ("scheduling", True),
        ("he calls", True),
        ("callous", False),
        ("ok", False),
        ("   ", False),
    ],
)
def test_short_turns_count_only_with_a_task_verb(text: str, counts: bool) -> None:
    assert TurnRules(chat_config()).counts(turn(1, text)) is counts


def test_only_the_roles_that_are_asked_for_count() -> None:
    rules = TurnRules(chat_config(index_roles=("assistant",)))
    assert [rules.counts(turn(1, LONG, role)) for role in ("user", "assistant", "tool")] == [False, True, False]


@pytest.mark.parametrize(
    ("merge", "window", "documents"),
    [(True, 256, ["s1:1-3", "s1:4-4"]), (True, 6, ["s1:1-2", "s1:3-3", "s1:4-4"]), (False, 256, NOT_MERGED)],
)
def test_a_run_ends_with_its_speaker_and_when_it_is_full(merge: bool, window: int, documents: list[str]) -> None:
    config = chat_config(min_chars=1, merge_consecutive_same_role=merge)
    turns = [turn(1, "one two six"), turn(2, "ten red big"), turn(3, "cat"), turn(4, "dog", "assistant")]
    found = ChatSource(config, TextSplitter(EstimatedTokens(), window)).documents(
        conversation(), "", turns, range(9), "me"
    )
    assert [document.source_id for document, _ in found] == documents


def test_a_document_names_its_turns_and_cites_them() -> None:
    source = ChatSource(chat_config(), CUT)
    turns = [turn(3, LONG), turn(4, f"{LONG} too"), turn(7, LONG, "assistant")]
    (first, chunks), (second, _) = source.documents(conversation("s1"), "Chat", turns, range(9), "me")
    assert (first.source_id, first.uri) == ("s1:3-4", "chat:s1:3-4")
    assert second.source_id == "s1:7-7"
    assert [(chunk.start_line, chunk.end_line, chunk.heading_path) for chunk in chunks] == [(3, 4, ("user",))]
    assert first.metadata["turns"] == [3, 4]


def test_a_long_turn_is_cut_and_each_passage_cites_its_turns() -> None:
    source = ChatSource(chat_config(), CUT)
    turns = [turn(1, LONG), turn(2, " ".join(["Some words stand here."] * 200))]
    documents = list(source.documents(conversation(), "Chat", turns, range(9), "me"))
    lines = [(chunk.start_line, chunk.end_line) for _, chunks in documents for chunk in chunks]
    assert lines[0] == (1, 1)
    assert set(lines[1:]) == {(2, 2)}
    assert len(lines) > 3


def test_the_end_of_an_open_session_stays_in_its_buffer() -> None:
    source = ChatSource(chat_config(), CUT)
    turns = [turn(1, LONG), turn(2, LONG, "assistant")]
    open_one = list(source.documents(conversation(closed=False), "Chat", turns, range(9), "me"))
    assert [document.source_id for document, _ in open_one] == ["s1:1-1"]


def test_dropped_turns_do_not_split_a_passage() -> None:
    source = ChatSource(chat_config(), CUT)
    turns = [turn(1, LONG), turn(2, "ok", "assistant"), turn(3, LONG)]
    assert [document.source_id for document, _ in source.documents(conversation(), "Chat", turns, range(9), "me")] == [
        "s1:1-3"
    ]


def test_a_passage_ends_where_another_turn_is_between_its_numbers() -> None:
    source, numbers = ChatSource(chat_config(), CUT), [1, 2, 3, 5, 9]
    turns = [turn(1, LONG), turn(3, LONG), turn(5, LONG), turn(9, LONG), turn(2, LONG)]  # 2 is in another place
    found = [document.source_id for document, _ in source.documents(conversation(), "Chat", turns, numbers, "me")]
    assert found == ["s1:1-1", "s1:3-9", "s1:2-2"]


def test_a_system_message_ends_a_passage() -> None:
    turns = [turn(1, LONG), turn(2, LONG, "system"), turn(3, LONG), turn(4, LONG)]
    found = ChatSource(chat_config(), CUT).documents(conversation(), "Chat", turns, range(9), "me")
    assert [document.source_id for document, _ in found] == ["s1:1-1", "s1:3-4"]


def test_a_session_is_called_by_its_title_its_people_or_its_day() -> None:
    assert title_of(conversation(title="Trip"), ["user"]) == "Trip, 14 November 2023"
    assert title_of(conversation(), ["Ann", "Bo"]) == "Ann and Bo, 14 November 2023"
    assert title_of(conversation(), ["user", "assistant"]) == "Chat, 14 November 2023"
    assert title_of(conversation(started_at=None), []) == "Chat"
    assert title_of(conversation(started_at=1e300), []) == "Chat"
    assert START == 1_700_000_000.0


def embedded(store: MemoryStore) -> dict[str, str]:
    """Return the text that is embedded for each document, by its source id."""
    return {chunk.path: chunk.text for chunk in store.pending(50)}


def test_a_short_turn_is_embedded_after_the_end_of_the_turn_before(tmp_path: Path) -> None:
    source = ChatSource(chat_config(), CUT)
    asked = f"{'So many words before. ' * 20}Did you ever see the harbour at night?"
    turns = [
        turn(1, asked),
        turn(2, "Yes, twice, and call it ü lovely", "assistant"),
        turn(3, f"{LONG} " * 20),
        turn(4, "System note about the rules of this", "system"),
        turn(5, "Call me tomorrow about it", "assistant"),
    ]
    store = open_store(tmp_path / "index.db")
    for name, user in (("s1", "me"), ("s1:x", "me"), ("s1", "ann")):
        for document, chunks in source.documents(conversation(name), "Harbour", turns, range(9), user):
            store.upsert(document, chunks)
    texts = embedded(store)
    assert texts["s1:2-2"].endswith("Did you ever see the harbour at night?\nYes, twice, and call it ü lovely")
    assert texts["s1:2-2"].startswith("Harbour › assistant\n")
    assert len(texts["s1:2-2"]) < 300
    assert not texts["s1:1-1"].endswith("lovely")
    assert "Yes, twice" not in texts["s1:3-3"]
    assert texts["s1:5-5"] == "Harbour › assistant\nCall me tomorrow about it"
    store.delete("chat", "s1:1-1")
    assert "harbour" not in embedded(store)["s1:2-2"]
    assert "harbour" in embedded(store)["s1:x:2-2"]


@pytest.mark.parametrize(
    ("speaker", "text", "shown"),
    [
        ("Ann", "I sold my car, and it hurt me.", "Ann sold Ann's car, and it hurt Ann."),
        ("Ann", "I'm glad I’ve kept mine; call me, we'd meet.", "Ann is glad Ann has kept Ann's; call Ann, we'd meet."),
        ("Ann", "Fast I/O, i.e. mining, is no game for you.", "Fast I/O, i.e. mining, is no game for you."),
        ("user", "I sold my car, call me", "I sold my car, call me"),
        ("Assistant", "I sold my car, call me", "I sold my car, call me"),
    ],
)
def test_a_short_turn_of_a_person_is_embedded_in_the_third_person(
    tmp_path: Path, speaker: str, text: str, shown: str
) -> None:
    store = open_store(tmp_path / "index.db")
    for document, chunks in ChatSource(chat_config(), CUT).documents(
        conversation("s1"), "Cars", [turn(1, text, speaker=speaker)], [1], "me"
    ):
        store.upsert(document, chunks)
        assert document.text == text
    assert embedded(store) == {"s1:1-1": f"Cars › {speaker}\n{shown}"}


def test_a_turn_is_embedded_after_a_run_of_several(tmp_path: Path) -> None:
    source = ChatSource(chat_config(), CUT)
    turns = [turn(1, "Call the plumber"), turn(2, "and book the painter"), turn(3, "Call whom first?", "assistant")]
    store = open_store(tmp_path / "index.db")
    for document, chunks in source.documents(conversation("s1"), "", turns, range(9), "me"):
        store.upsert(document, chunks)
    assert embedded(store)["s1:3-3"].endswith("and book the painter\nCall whom first?")
