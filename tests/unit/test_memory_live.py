"""Memory that grows by itself: followed logs, separate users, suggestions, replaced preferences."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from donna_tui.memory.conversations import Recorder, erase_turns, find_conversation, list_conversations, read_turns
from donna_tui.memory.database import MemoryDb, open_db
from donna_tui.memory.facts import (
    RememberRequest,
    forget_session,
    procedural,
    read_fact,
    remember,
    remember_session,
    would_replace,
)
from donna_tui.memory.importers import Import, LogFolder, exports_in
from donna_tui.memory.preferences import preferences_in
from donna_tui.memory.suggestions import ACCEPTED, DISMISSED, answer_suggestion, list_suggestions
from donna_tui.types.search import ME
from tests.unit.memory_parts import CUT, START, import_file, jsonl


@pytest.fixture
def db(tmp_path: Path) -> Iterator[MemoryDb]:
    (tmp_path / "state").mkdir()
    opened = open_db(tmp_path / "state")
    yield opened
    opened.database.close()


def log_line(number: int, text: str, session: str = "abc") -> str:
    return json.dumps(
        {
            "type": "user", "uuid": f"{session}-{number}", "sessionId": session, "cwd": "/home/ana/code/birds",
            "timestamp": f"2026-03-02T08:00:{number:02}Z", "message": {"role": "user", "content": text},
        }
    ) + "\n"  # fmt: skip


def follow(db: MemoryDb, logs: LogFolder) -> tuple[int, int]:
    """Follow the logs once. Return the numbers of new turns and of bytes read."""
    importing = Import(Recorder(db))
    return_bytes = sum(logs.read_new(importing))
    return importing.report.turns, return_bytes


def texts(db: MemoryDb, session: str = "claude-code/abc") -> list[str]:
    key = find_conversation(db.database, session)
    assert key is not None
    return [turn.text for turn in read_turns(db.database, key)]


def test_a_log_is_followed_by_whole_lines_and_resumed_where_it_was(db: MemoryDb, tmp_path: Path) -> None:
    folder, state = tmp_path / "logs", tmp_path / "state"
    (folder / "project").mkdir(parents=True)
    log = folder / "project" / "abc.jsonl"
    half = log_line(2, "The second message.")
    log.write_text(log_line(1, "The first message.") + half[:30])
    logs = LogFolder(folder, state)
    assert follow(db, logs) == (1, len(log_line(1, "The first message.")))
    assert follow(db, logs) == (0, 0)
    with log.open("a") as file:
        file.write(half[30:])
    assert follow(db, LogFolder(folder, state)) == (1, len(half))
    assert texts(db) == ["The first message.", "The second message."]
    assert follow(db, LogFolder(folder, state)) == (0, 0)


@pytest.mark.parametrize("marks", ["kept", "lost", "damaged"])
def test_a_log_that_was_truncated_or_replaced_is_read_again_and_adds_nothing_twice(
    db: MemoryDb, tmp_path: Path, marks: str
) -> None:
    folder, state = tmp_path / "logs", tmp_path / "state"
    folder.mkdir()
    log = folder / "abc.jsonl"
    log.write_text(log_line(1, "The first message.") + log_line(2, "The second message."))
    follow(db, LogFolder(folder, state))
    if marks != "kept":
        (state / "chat-watch.json").write_text("[1, {" if marks == "damaged" else "{}")
    log.write_text(log_line(1, "The first message."))
    assert follow(db, LogFolder(folder, state))[0] == 0
    fresh = folder / "fresh"
    fresh.write_text(log_line(3, "The third message.") + "no JSON\n")
    fresh.replace(log)
    importing = Import(Recorder(db))
    list(LogFolder(folder, state).read_new(importing))
    assert (importing.report.turns, importing.report.malformed) == (1, 1)
    assert texts(db) == ["The first message.", "The second message.", "The third message."]


def test_links_out_of_the_folder_are_not_followed(db: MemoryDb, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text(log_line(1, "Not to be read."))
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "abc.jsonl").symlink_to(outside)
    assert follow(db, LogFolder(folder, tmp_path / "state")) == (0, 0)
    assert exports_in(folder) == []


def row(user: str, text: str, session: str = "s1") -> dict[str, object]:
    return {"user_id": user, "session_id": session, "role": "user", "text": text, "timestamp": "2026-03-02T08:00:00Z"}


def test_imported_turns_keep_their_user_unless_one_is_named(db: MemoryDb, tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "both.jsonl", [row("ann", "Ann likes kestrels a lot."), row("bob", "Bob likes ospreys a lot.")]
    )
    for _ in range(2):
        import_file(db, file)
    assert [each.user_id for each in list_conversations(db.database, None)] == ["ann", "bob"]
    assert list_conversations(db.database, ME) == []
    list(Import(Recorder(db, one_user=True), "ann").run(file))
    assert [(each.user_id, each.turns) for each in list_conversations(db.database, ME)] == [(ME, 1)]


def test_folder_that_cannot_be_read_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def scandir(path: str | Path) -> Any:
        if Path(path).name == "gone":
            raise FileNotFoundError(path)
        return listed(path)

    (tmp_path / "gone").mkdir()
    (tmp_path / "log.jsonl").touch()
    monkeypatch.setattr(os, "scandir", scandir)
    assert exports_in(tmp_path) == [tmp_path / "log.jsonl"]


def test_folders_are_imported_with_the_exports_in_them(tmp_path: Path) -> None:
    for name in ("a/conversations.json", "b/log.jsonl", "b/export.zip", "b/notes.md", "b/other.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [str(each.relative_to(tmp_path)) for each in exports_in(tmp_path)]
    assert found == ["a/conversations.json", "b/export.zip", "b/log.jsonl"]


def test_a_preference_of_the_owner_is_offered_from_a_chat_with_names(db: MemoryDb, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", [
        {"session_id": "s", "role": "user", "speaker": "Ana", "text": "I prefer dark roast."},
        {"session_id": "s", "role": "user", "speaker": "Ana Lima", "text": "I hate light roast."},
        {"session_id": "s", "role": "user", "speaker": "Ana Roth", "text": "I prefer tea."},
        {"session_id": "s", "role": "assistant", "speaker": "Ana", "text": "I prefer water."},
    ])  # fmt: skip
    import_file(db, file, me=("Ana Lima",))
    offered = {each.text for each in list_suggestions(db.database, 10)}
    assert offered == {"I prefer dark roast.", "I hate light roast."}


def test_a_preference_in_a_chat_is_offered_once_and_answered(db: MemoryDb, tmp_path: Path) -> None:
    said = "Morning! I prefer dark roast. Do I always say that? My favourite bird is the kestrel."
    file = jsonl(tmp_path / "t.jsonl", [
        {"session_id": "s", "role": "user", "text": said},
        {"session_id": "s", "role": "assistant", "text": "I prefer light roast."},
        {"session_id": "s", "role": "user", "text": "I prefer dark roast."},
        {"session_id": "s", "speaker": "Caroline", "text": "I hate ospreys."},
    ])  # fmt: skip
    import_file(db, file)
    offered = {each.text: each for each in list_suggestions(db.database, 10)}
    assert set(offered) == {"I prefer dark roast.", "My favourite bird is the kestrel."}
    with db.change():
        assert answer_suggestion(db, offered["I prefer dark roast."].id, DISMISSED)
        assert answer_suggestion(db, offered["I prefer dark roast."].id, ACCEPTED) is None
    assert [each.text for each in list_suggestions(db.database, 10)] == ["My favourite bird is the kestrel."]
    import_file(db, file)
    assert len(list_suggestions(db.database, 10)) == 1
    session = find_conversation(db.database, "s")
    assert session is not None
    with db.change():
        erase_turns(db, session, 0, 100, START)
    assert list_suggestions(db.database, 10) == []


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("Hi! Please call me Emmy.", ["Please call me Emmy."]),
        ("Please always answer in German.", ["Please always answer in German."]),
        ("I never eat meat.", ["I never eat meat."]),
        ("Do you want tea? i prefer coffee over tea", ["i prefer coffee over tea"]),
        ("Harry Potter is my favorite book.", ["Harry Potter is my favorite book."]),
        ("I'm preparing for an important speech, but I always feel nervous.", []),
        ("I always lose. I never knew that. It's one of my favorites!", []),
        ("I saw one of my favorite movies. Call me when you arrive.", []),
        ("Antworte immer auf Deutsch.", ["Antworte immer auf Deutsch."]),
        ("Réponds toujours en français, s'il te plaît.", ["Réponds toujours en français, s'il te plaît."]),
        ("Hi. Stop apologising in every answer.", ["Stop apologising in every answer."]),
        ("Never book anything before noon.", ["Never book anything before noon."]),
        ("Bitte duze mich. Keine Emojis, bitte.", ["Bitte duze mich.", "Keine Emojis, bitte."]),
        ("Prefiero las respuestas cortas.", ["Prefiero las respuestas cortas."]),
        ("Answer in Italian, just this once. Don't delete the file. Don't give up!", []),
        ("Lena said she hates tea and I prefer coffee. Always happy to help. Call me Monday.", []),
        ("My boss told me: “I prefer to get numbers”. If I moved, I'd prefer the sea.", []),
        ("Antworte diesmal bitte nur mit Ja. Sehe keine Fehler. Das ist immer so.", []),
    ],
)
def test_only_lasting_preferences_are_offered(said: str, offered: list[str]) -> None:
    assert [said[start:end] for start, end in preferences_in(said)] == offered


def test_what_a_preference_would_replace_is_known_before(db: MemoryDb) -> None:
    remember(db, RememberRequest("My favourite colour is blue."), CUT, START)
    ((held, fresh),) = would_replace(db, RememberRequest("My favourite colour is green."), CUT)
    assert (held.content, fresh) == ("My favourite colour is blue.", "My favourite colour is green.")
    assert would_replace(db, RememberRequest("My favourite colour is blue."), CUT) == []
    assert would_replace(db, RememberRequest("My favourite bird is the kestrel."), CUT) == []
    remember(db, RememberRequest("I prefer tea over coffee."), CUT, START)
    ((held, _),) = would_replace(db, RememberRequest("The owner prefers coffee to tea."), CUT)
    assert held.content == "I prefer tea over coffee."
    assert would_replace(db, RememberRequest("I prefer coffee to tea for breakfast."), CUT) == []


def test_a_fact_that_is_no_longer_true_is_replaced(db: MemoryDb) -> None:
    for text in ("I am vegetarian.", "Ich wohne in Trier.", "I live in Lisbon.", "I am tall."):
        remember(db, RememberRequest(text), CUT, START)
    for fresh, old in (
        ("I'm no longer vegetarian.", "I am vegetarian."),
        ("Ich wohne nicht mehr in Trier.", "Ich wohne in Trier."),
    ):
        assert [held.content for held, _ in would_replace(db, RememberRequest(fresh), CUT)] == [old]
        assert would_replace(db, RememberRequest(fresh, sensitive=True), CUT) == []
        (fact,) = remember(db, RememberRequest(fresh, session_id="mcp-1"), CUT, START)
        assert read_fact(db.database, fact.id) is not None
    live = "SELECT content FROM memories WHERE superseded_by = '' AND forgotten_at IS NULL"
    kept = {"I'm no longer vegetarian.", "Ich wohne nicht mehr in Trier.", "I live in Lisbon.", "I am tall."}
    assert set(db.database.column(live)) == kept
    for text in ("I am not tall.", "Anna is no longer tall.", "I live in Porto."):
        assert would_replace(db, RememberRequest(text), CUT) == []
    with db.change():
        forget_session(db, "mcp-1", START)
    assert set(db.database.column(live)) == {
        "I am vegetarian.",
        "Ich wohne in Trier.",
        "I live in Lisbon.",
        "I am tall.",
    }
    with db.change():
        remember_session(db, "mcp-1")
    assert set(db.database.column(live)) == kept


def test_what_is_preferred_now_replaces_what_was_preferred_of_its_kind(db: MemoryDb) -> None:
    for text in ("I prefer dark roast.", "I prefer tea in the evening.", "Please call me Emma."):
        remember(db, RememberRequest(text), CUT, START)
    for fresh, old in (
        ("I prefer light roast now.", "I prefer dark roast."),
        ("The owner prefers espresso roast now.", "I prefer light roast now."),
        ("These days I prefer medium roast.", "The owner prefers espresso roast now."),
        ("Call me Emmy.", "Please call me Emma."),
    ):
        assert [held.content for held, _ in would_replace(db, RememberRequest(fresh), CUT)] == [old]
        remember(db, RememberRequest(fresh), CUT, START)
    assert would_replace(db, RememberRequest("I prefer fast trains now."), CUT) == []
    assert {fact.content for fact in procedural(db.database)} == {
        "These days I prefer medium roast.", "I prefer tea in the evening.", "Call me Emmy.",
    }  # fmt: skip
