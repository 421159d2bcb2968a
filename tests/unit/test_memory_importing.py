"""Imports of chats: every format, malformed and hostile data, and repeated imports."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.memory import importers
from donna_tui.memory.conversations import NewTurn, Recorder, list_conversations, read_turns
from donna_tui.memory.database import MemoryDb, open_db
from donna_tui.memory.importers import Import, Piece, SkippedValue, array_elements, json_lines, moment_of, size_of
from donna_tui.types.errors import DonnaError
from donna_tui.types.memory import BadLine
from tests.unit.memory_parts import chat_rows, import_file, jsonl


@pytest.fixture
def db(tmp_path: Path) -> Iterator[MemoryDb]:
    opened = open_db(tmp_path)
    yield opened
    opened.close()


def texts(db: MemoryDb, name: str) -> list[str]:
    key = db.database.value("SELECT id FROM sessions WHERE name = ?", (name,))
    return [turn.text for turn in read_turns(db.database, key)]


def names(db: MemoryDb) -> list[str]:
    return sorted(each.name for each in list_conversations(db.database))


# Lines of turns


def test_turns_are_imported_once_however_often(db: MemoryDb, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", chat_rows("s1", "first", "second", "third"))
    report = import_file(db, file)
    assert (report.sessions, report.turns, report.known, report.malformed) == (1, 3, 0, 0)
    again = import_file(db, file)
    assert (again.turns, again.known) == (0, 3)
    assert texts(db, "s1") == ["first", "second", "third"]


def test_only_new_turns_of_a_grown_file_are_imported(db: MemoryDb, tmp_path: Path) -> None:
    rows = [{"session_id": "s", "role": "user", "text": text} for text in ("yes", "yes", "no")]
    assert import_file(db, jsonl(tmp_path / "t.jsonl", rows)).turns == 3
    grown = import_file(db, jsonl(tmp_path / "t.jsonl", [*rows, rows[0]]))
    assert (grown.turns, grown.known) == (1, 3)
    assert texts(db, "s") == ["yes", "yes", "no", "yes"]


def test_duplicate_lines_are_one_turn(db: MemoryDb, tmp_path: Path) -> None:
    row = {"session_id": "s", "role": "user", "text": "yes", "timestamp": "2024-01-01T10:00:00"}
    assert import_file(db, jsonl(tmp_path / "t.jsonl", [row, row, row])).turns == 1


def test_two_messages_with_one_turn_number_are_both_kept(db: MemoryDb, tmp_path: Path) -> None:
    rows = [{"session_id": "s", "turn": 1, "role": role, "text": f"said by {role}"} for role in ("user", "assistant")]
    import_file(db, jsonl(tmp_path / "t.jsonl", rows))
    assert texts(db, "s") == ["said by user", "said by assistant"]


def test_turns_are_read_in_the_order_of_their_numbers(db: MemoryDb, tmp_path: Path) -> None:
    rows = chat_rows("s", "one", "two", "three", "four")
    import_file(db, jsonl(tmp_path / "t.jsonl", [rows[2], rows[0], rows[3], rows[1]]))
    assert texts(db, "s") == ["one", "two", "three", "four"]


def test_sessions_of_one_name_and_two_people_are_distinguished(db: MemoryDb, tmp_path: Path) -> None:
    rows = [*chat_rows("s", "mine", user_id="ann"), *chat_rows("s", "yours", user_id="bo")]
    file = jsonl(tmp_path / "t.jsonl", rows)
    import_file(db, file, one_user=True)
    assert (texts(db, "s"), texts(db, "bo/s")) == (["mine"], ["yours"])
    assert import_file(db, file, one_user=True).turns == 0


def test_imported_turns_have_normalised_roles_and_speakers(db: MemoryDb, tmp_path: Path) -> None:
    rows = [
        {"session_id": "s", "speaker": "Caroline", "text": "a"},
        {"session_id": "s", "role": "Human", "text": "b"},
        {"session_id": "s", "role": "AI", "text": "c"},
        {"session_id": "s", "role": "assistant", "speaker": "HAL", "text": "d"},
        {"session_id": "s", "speaker": "Claude", "text": "e"},
        {"session_id": "s", "speaker": "Ai", "text": "f"},
    ]
    import_file(db, jsonl(tmp_path / "t.jsonl", rows))
    assert [(turn.role, turn.speaker) for turn in read_turns(db.database, 1)] == [
        ("user", "Caroline"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("assistant", "HAL"),
        ("assistant", "Claude"),
        ("assistant", "Ai"),
    ]


def test_a_file_of_one_object_over_several_lines_is_read_whole(db: MemoryDb, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(chatgpt(), indent=2))
    assert import_file(db, tmp_path / "one.json").turns == 3
    (tmp_path / "turn.json").write_text(json.dumps(chat_rows("s", "kestrels hover")[0], indent=2), encoding="utf-8-sig")
    assert import_file(db, tmp_path / "turn.json").turns == 1
    (tmp_path / "bad.json").write_text('{\n"a": \n')
    assert import_file(db, tmp_path / "bad.json").malformed == 2


MALFORMED: list[tuple[object, str]] = [
    (b"{not json", "it is not JSON"),
    (b"[1, 2]", "it is not an object"),
    (b'{"session_id": "s", "role": "user"}', "text is missing"),
    (b'{"session_id": "s", "text": "x"}', "role and speaker are missing"),
    (b'{"role": "user", "text": "x"}', "session_id is missing"),
    (b'{"session_id": true, "role": "user", "text": "x"}', "session_id is missing"),
    (b'{"session_id": "s", "role": "user", "text": 5}', "text is missing"),
    (b'{"session_id": "s", "role": "user", "text": "x", "turn": "one"}', "turn is not a whole number"),
    (b'{"session_id": "s", "role": "user", "text": "x", "timestamp": "soon"}', "timestamp is not a time"),
    (b"\xff\xfe\x00garbage", "it is not UTF-8"),
    (b"[" * 100_000, "it is nested too deeply"),
    (b'{"a": ' * 50_000 + b"1" + b"}" * 50_000, "it is nested too deeply"),
    (b'{"session_id": "s", "role": "user", "text": "x", "turn": ' + b"9" * 5_000 + b"}", "it is not JSON"),
]


@pytest.mark.parametrize(("line", "why"), MALFORMED, ids=[why + str(n) for n, (_, why) in enumerate(MALFORMED)])
def test_a_malformed_line_is_reported_and_nothing_else_is_lost(
    db: MemoryDb, tmp_path: Path, line: object, why: str
) -> None:
    first, last = chat_rows("s", "before", "after")
    report = import_file(db, jsonl(tmp_path / "t.jsonl", [first, b"", line, last]))
    assert report.bad == (BadLine(3, why),)
    assert texts(db, "s") == ["before", "after"]


def test_a_line_that_never_ends_takes_no_memory(db: MemoryDb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "LONGEST_LINE", 10_000)
    first, last = chat_rows("s", "before", "after")
    report = import_file(db, jsonl(tmp_path / "t.jsonl", [first, b'{"text": "' + b"x" * 50_000, last]))
    assert [bad.number for bad in report.bad] == [2]
    assert "longer than" in report.bad[0].why
    assert texts(db, "s") == ["before", "after"]


def test_a_line_of_ten_megabytes_is_reported_if_it_is_not_a_message(db: MemoryDb, tmp_path: Path) -> None:
    rows = [*chat_rows("s", "before", "x" * 10_000_000, "after")]
    report = import_file(db, jsonl(tmp_path / "t.jsonl", rows))
    assert report.bad == (BadLine(2, "the message has more than 2,000,000 characters"),)
    assert texts(db, "s") == ["before", "after"]


def test_control_bytes_are_text(db: MemoryDb, tmp_path: Path) -> None:
    import_file(db, jsonl(tmp_path / "t.jsonl", chat_rows("s\x1b[2J", "evil \x1b]0;x\x07 \udcff \0 text")))
    assert names(db) == ["s\x1b[2J"]
    assert texts(db, "s\x1b[2J") == ["evil \x1b]0;x\x07 ? � text"]


def test_an_empty_message_is_left_out(db: MemoryDb, tmp_path: Path) -> None:
    report = import_file(db, jsonl(tmp_path / "t.jsonl", chat_rows("s", "a", "  \n ")))
    assert (report.turns, report.left_out, report.malformed) == (1, 1, 0)


def test_a_missing_file_is_reported(db: MemoryDb, tmp_path: Path) -> None:
    with pytest.raises(DonnaError, match="cannot be read"):
        import_file(db, tmp_path / "nothing.jsonl")


def test_an_empty_file_is_no_error(db: MemoryDb, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b"")
    assert import_file(db, tmp_path / "t.jsonl").turns == 0


def test_only_one_persons_turns(db: MemoryDb, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", [*chat_rows("a", "mine", user_id="ann"), *chat_rows("b", "yours", user_id="bo")])
    for _ in Import(Recorder(db, one_user=True), user="bo").run(file):
        continue
    assert names(db) == ["b"]


# ChatGPT


def node(key: str, parent: str | None, role: str = "", text: str = "", **message: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    built = {"id": key, "author": {"role": role}, "create_time": 1.7e9, "content": content, **message} if role else None
    return {"id": key, "message": built, "parent": parent, "children": []}


def chatgpt(current: str | None = "d") -> dict[str, Any]:
    nodes = [
        node("root", None),
        node("a", "root", "system", ""),
        node("b", "a", "user", "How do kestrels hover?"),
        node("c1", "b", "assistant", "An answer that was thrown away"),
        node("c", "b", "assistant", "They fly into the wind."),
        node("tool", "c", "tool", "search results"),
        node("d", "tool", "user", "Thanks"),
    ]
    for each in nodes:
        each["children"] = [other["id"] for other in nodes if other["parent"] == each["id"]]
    return {
        "title": "Kestrels", "conversation_id": "6512-ab", "current_node": current, "mapping": {n["id"]: n for n in nodes}
    }  # fmt: skip


def test_the_branch_of_an_edited_question_replaces_the_one_imported_before(db: MemoryDb, tmp_path: Path) -> None:
    import_file(db, write_json(tmp_path / "c.json", [chatgpt("c1")]))
    assert texts(db, "chatgpt/6512-ab") == ["How do kestrels hover?", "An answer that was thrown away"]
    for _ in range(2):
        import_file(db, write_json(tmp_path / "c.json", [chatgpt()]))
        assert texts(db, "chatgpt/6512-ab") == ["How do kestrels hover?", "They fly into the wind.", "Thanks"]


def test_a_voice_message_is_its_transcript(db: MemoryDb, tmp_path: Path) -> None:
    spoken = {
        "content_type": "audio_transcription",
        "text": "The boiler inspection is on the ninth.",
        "direction": "in",
    }
    value = chatgpt()
    value["mapping"]["d"]["message"]["content"] = {
        "content_type": "multimodal_text",
        "parts": [spoken, {"content_type": "audio_asset_pointer", "asset_pointer": "x"}, None],
    }
    import_file(db, write_json(tmp_path / "c.json", [value]))
    assert texts(db, "chatgpt/6512-ab")[-1] == "The boiler inspection is on the ninth."


def write_json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, indent=1))
    return path


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)
    return path


def test_an_export_is_imported_as_it_was_downloaded(db: MemoryDb, tmp_path: Path) -> None:
    one, two = chatgpt(), {**chatgpt(), "conversation_id": "other"}
    parts = {"conversations-000.json": json.dumps([one]).encode(), "conversations-001.json": json.dumps([two]).encode()}
    file = zipped(tmp_path / "export.zip", **{"user.json": b"{}", "chat.html": b"<p>", **parts})
    report = import_file(db, file)
    assert (report.format, report.sessions, report.turns, report.malformed) == ("ChatGPT export", 2, 6, 0)
    assert names(db) == ["chatgpt/6512-ab", "chatgpt/other"]
    assert import_file(db, file).turns == 0


def test_progress_of_an_archive_reaches_its_size(db: MemoryDb, tmp_path: Path) -> None:
    data = json.dumps([chatgpt()]).encode()
    file = zipped(tmp_path / "export.zip", **{"a__conversations.json": data, "b__conversations.json": data})
    assert [read for read, _ in Import(Recorder(db)).run(file)] == [len(data), 2 * len(data)]
    assert size_of(file) == 2 * len(data)
    assert size_of(tmp_path / "nothing.zip") == 0


@pytest.mark.parametrize(
    "damage", [lambda data: data[:40] + b"\xff" * 40 + data[80:], lambda data: data.replace(b"conv", b"xonv")]
)
def test_an_archive_that_cannot_be_read_is_reported(
    db: MemoryDb, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    file = zipped(tmp_path / "export.zip", **{"conversations.json": json.dumps([chatgpt()]).encode()})
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DonnaError, match="cannot be read"):
        import_file(db, file)
    assert names(db) == []


@pytest.mark.parametrize("current", ["d", None, "gone"])
def test_of_a_chatgpt_export_the_last_branch_is_imported(db: MemoryDb, tmp_path: Path, current: str | None) -> None:
    report = import_file(db, write_json(tmp_path / "conversations.json", [chatgpt(current)]))
    assert (report.format, report.turns, report.malformed) == ("ChatGPT export", 3, 0)
    assert texts(db, "chatgpt/6512-ab") == ["How do kestrels hover?", "They fly into the wind.", "Thanks"]
    assert list_conversations(db.database)[0].title == "Kestrels"
    assert import_file(db, tmp_path / "conversations.json").turns == 0


def test_cyclic_message_tree_is_imported(db: MemoryDb, tmp_path: Path) -> None:
    export = chatgpt()
    export["mapping"]["b"]["parent"] = "d"
    assert import_file(db, write_json(tmp_path / "c.json", [export])).turns == 3


@pytest.mark.parametrize(
    "damage",
    [
        {"mapping": []},
        {"conversation_id": None},
        {"mapping": {"d": 5, "x": None}, "current_node": "d"},
        {"mapping": {"d": {"message": {"author": "me", "content": [1]}, "parent": ["x"]}}, "current_node": "d"},
    ],
)
def test_a_damaged_conversation_costs_only_itself(db: MemoryDb, tmp_path: Path, damage: dict[str, Any]) -> None:
    report = import_file(db, write_json(tmp_path / "c.json", [{**chatgpt(), **damage}, chatgpt()]))
    assert report.turns == 3


# Claude


def claude() -> dict[str, Any]:
    return {
        "uuid": "77-c", "name": "Falcons", "created_at": "2024-05-01T10:00:00.000000Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "What do falcons eat?", "created_at": "2024-05-01T10:00:00Z"},
            {
                "uuid": "m2", "sender": "assistant", "text": "", "created_at": "2024-05-01T10:00:05Z",
                "content": [
                    {"type": "thinking", "thinking": "let me see"},
                    {"type": "text", "text": "Mostly birds."},
                    {"type": "text", "text": "Some eat insects."},
                ],
            },
        ],
    }  # fmt: skip


def test_claude_export_is_imported(db: MemoryDb, tmp_path: Path) -> None:
    report = import_file(db, write_json(tmp_path / "conversations.json", [claude(), {**claude(), "uuid": 5}]))
    assert (report.format, report.turns, report.malformed) == ("Claude export", 2, 1)
    assert texts(db, "claude/77-c") == ["What do falcons eat?", "Mostly birds.\n\nSome eat insects."]


# Claude Code


def code_line(uuid: str, role: str, content: object, **others: Any) -> dict[str, Any]:
    return {
        "type": role, "sessionId": "abc", "uuid": uuid, "timestamp": "2025-06-01T08:00:00.000Z", "cwd": "/home/me/gateway",
        "isSidechain": False, "message": {"role": role, "content": content}, **others,
    }  # fmt: skip


def test_claude_code_session_log_is_imported(db: MemoryDb, tmp_path: Path) -> None:
    rows: list[object] = [
        {"type": "summary", "summary": "Fix the gateway", "leafUuid": "u9"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        code_line("u1", "user", "Why does the gateway time out?"),
        code_line(
            "u2", "assistant", [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "The pool is full."}]
        ),
        code_line("u3", "assistant", [{"type": "tool_use", "name": "Bash", "input": {}}]),
        code_line("u4", "user", [{"type": "tool_result", "content": "ok"}]),
        code_line("u5", "user", "agent only", isSidechain=True),
        code_line("u6", "user", "caveat", isMeta=True),
        code_line("u7", "user", "<command-name>/clear</command-name>\n<command-args></command-args>"),
        code_line("u8", "user", "<local-command-stdout>Set model to x</local-command-stdout>"),
        code_line("u9", "user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        code_line(
            "u10",
            "user",
            [
                {"type": "text", "text": "<ide_opened_file>The user opened gateway.py.</ide_opened_file>"},
                {"type": "text", "text": "<command-name> is the tag to parse"},
            ],
        ),
        code_line("u11", "user", "<command-name>/fix</command-name><command-args><b> is bold</command-args>"),
        {"type": "system", "sessionId": "abc", "content": "compacted"},
    ]
    report = import_file(db, jsonl(tmp_path / "abc.jsonl", rows))
    assert (report.format, report.turns, report.left_out, report.malformed) == ("Claude Code session", 4, 10, 0)
    assert texts(db, "claude-code/abc")[:2] == ["Why does the gateway time out?", "The pool is full."]
    assert texts(db, "claude-code/abc")[2].startswith("<command-name> is the tag")
    assert "<b> is bold" in texts(db, "claude-code/abc")[3]
    assert list_conversations(db.database)[0].title == "Claude Code in gateway"


# Parts


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2024-01-01T00:00:00Z", 1_704_067_200.0),
        ("2024-01-01T00:00:00", 1_704_067_200.0),
        ("2024-01-01T01:00:00+01:00", 1_704_067_200.0),
        (1_704_067_200, 1_704_067_200.0),
        (1_704_067_200_000, 1_704_067_200.0),
        (1_704_067_200_000_000, None),
        (float("nan"), None),
        (float("inf"), None),
        (-5, None),
        (10**400, None),
        (True, None),
        ({}, None),
    ],
)
def test_moment_of_parses_timestamps(value: object, moment: float | None) -> None:
    assert moment_of(value) == moment


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]))
def test_elements_of_an_array_are_found_however_it_is_read(values: list[Any], size: int, indent: int | None) -> None:
    data = json.dumps(values, indent=indent).encode()
    before = importers.READ_BYTES
    importers.READ_BYTES = size
    try:
        found = [piece.value for piece in array_elements(io.BytesIO(data)) if isinstance(piece, Piece)]
    finally:
        importers.READ_BYTES = before
    assert found == values


def test_an_element_that_is_no_json_costs_only_itself() -> None:
    data = b'[{"a": 1},\n{"b": },\n {"c": "x]}\\""}\n, 5'
    found = list(array_elements(io.BytesIO(data)))
    assert [piece.value for piece in found if isinstance(piece, Piece)] == [{"a": 1}, {"c": 'x]}"'}]
    assert [bad.number for bad in found if isinstance(bad, BadLine)] == [2, 4]


interesting = st.sampled_from(
    ["mapping", "chat_messages", "sessionId", "session_id", "role", "text", "message", "content", "parts", "type", "turn",
     "uuid", "parent", "current_node", "author", "user", "assistant", "conversation_id", "timestamp", "id"]
)  # fmt: skip
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | interesting,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(interesting, inner, max_size=6),
    max_leaves=20,
)


@given(hostile)
def test_turns_of_accepts_any_json_value(value: Any) -> None:
    for found in importers.turns_of(value, 1):
        assert isinstance(found, NewTurn | SkippedValue | BadLine)


@given(st.binary(max_size=300))
def test_json_readers_accept_any_bytes(data: bytes) -> None:
    for piece in (*json_lines(io.BytesIO(data)), *array_elements(io.BytesIO(b"[" + data))):
        assert isinstance(piece, Piece | BadLine)
