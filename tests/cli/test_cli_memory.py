"""The commands for memories: text, JSON and exit codes."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.index.generations import set_aside
from tests.cli.running import Donna
from tests.git_vaults import write
from tests.unit.memory_parts import chat_rows, jsonl

TALK = chat_rows(
    "talk",
    "I want to learn how kestrels hover above the motorway.",
    "Kestrels fly into the wind at the speed of the wind.",
    timestamp="2024-04-02T10:00:00",
)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "talk.jsonl", TALK)


def test_chats_are_imported_found_beside_notes_and_cited(donna: Donna, vault: Path, talk: Path) -> None:
    ran = donna("chat", "import", talk, "--space", vault)
    assert (ran.code, ran.out.strip()) == (0, "2 turns of 1 conversation (turns)")
    found = donna("search", "kestrel", "--space", vault)
    assert "talk:1-1 › user : 1" in found.out
    assert "Projects/gateway.md › Gateway › Cache : 3–4" in found.out
    only = donna("search", "kestrels in:chat", "--json", "--space", vault).json["results"]
    assert {(hit["source_type"], hit["source_path"], hit["uri"]) for hit in only} == {
        ("chat", "talk:1-1", "chat:talk:1-1"),
        ("chat", "talk:2-2", "chat:talk:2-2"),
    }
    assert donna("search", "kestrels", "--source", "chat", "--json", "--space", vault).json["count"] == 2
    assert donna("search", "zzz", "--space", vault).out.strip() == "Nothing relevant in 4 notes."


def test_words_need_not_be_in_quotation_marks(donna: Donna, vault: Path) -> None:
    assert "I like green tea" in donna("remember", "I", "like", "green", "tea", "--space", vault).out
    assert donna("recall", "green", "tea", "--json", "--space", vault).json["query"] == "green tea"
    assert donna("memories", "green", "tea", "--json", "--space", vault).json["count"] == 1
    assert donna("remember", "-", "--space", vault, stdin="Oolong in the evening").code == 0
    assert donna("memories", "Oolong in", "--json", "--space", vault).json["count"] == 1
    donna("task", "add", "call", "the", "bank", "--yes", "--space", vault)
    assert "- [ ] call the bank" in (vault / "Inbox/Tasks.md").read_text()


def test_what_is_remembered_from_stdin_must_be_utf_8(donna: Donna, vault: Path) -> None:
    ran = donna("remember", "-", "--json", "--space", vault, stdin="Oolong \udcff in the evening")
    assert (ran.code, ran.json["reason"]) == (3, "encoding")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = donna("remember", "-", "--json", "--space", vault, stdin="A café opens", **ascii_only)
    assert [memory["content"] for memory in ran.json["memories"]] == ["A café opens"]


def test_an_import_is_one_json_object_and_repeats_without_duplicates(donna: Donna, vault: Path, talk: Path) -> None:
    first = donna("chat", "import", talk, "--json", "--space", vault).json
    assert (first["ok"], first["format"], first["sessions"], first["turns"], first["known"]) == (True, "turns", 1, 2, 0)
    assert (first["malformed"], first["problems"], first["indexed"]) == (0, [], True)
    again = donna("chat", "import", talk, "--json", "--space", vault).json
    assert (again["turns"], again["known"]) == (0, 2)
    listed = donna("chat", "list", "--json", "--space", vault).json
    assert [(each["id"], each["turns"], each["closed"]) for each in listed["conversations"]] == [("chat:talk", 2, True)]
    assert donna("forget", "chat:talk", "--space", vault).code == 0
    assert donna("chat", "list", "--space", vault).out.endswith("    0  talk  (forgotten)\n")


def test_malformed_lines_are_reported_with_an_exit_code(donna: Donna, vault: Path, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", [TALK[0], b"{broken", b"[" * 100_000, TALK[1]])
    ran = donna("chat", "import", file, "--json", "--space", vault)
    assert ran.code == 4
    assert ran.json["turns"] == 2
    assert [(each["id"], each["line"]) for each in ran.json["problems"]] == [("line 2", 2), ("line 3", 3)]
    assert "donna: line 2: it is not JSON" in ran.err
    useless = jsonl(tmp_path / "u.jsonl", [b"{broken"])
    refused = donna("chat", "import", useless, "--json", "--space", vault)
    assert (refused.code, refused.json["ok"], refused.json["reason"]) == (3, False, "unreadable")
    assert donna("chat", "import", tmp_path / "none", "--space", vault).code == 2


def test_control_characters_in_chats_are_not_printed(donna: Donna, vault: Path, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", chat_rows("s\x1b[2J", "falcon \x1b]0;owned\x07 \x9b31m \u202e and more text"))
    assert donna("chat", "import", file, "--space", vault).code == 0
    for verb in (("search", "falcon"), ("recall", "falcon"), ("recall", "falcon", "--prompt"), ("chat", "list")):
        ran = donna(*verb, "--space", vault)
        assert ran.code == 0
        assert all(line.isprintable() for line in ran.out.splitlines())


@pytest.mark.slow
def test_remember_recall_and_forget(donna: Donna, vault: Path) -> None:
    told = donna("remember", "I prefer kestrel facts in one sentence.", "--json", "--space", vault)
    assert (told.code, told.json["count"]) == (0, 1)
    (memory,) = told.json["memories"]
    assert (memory["memory_type"], memory["salience"], memory["signals"]) == ("procedural", 0.4, ["preference"])
    assert (memory["importance"], memory["novelty"]) == (None, None)
    recalled = donna("recall", "kestrel", "--json", "--space", vault).json
    assert recalled["memories"][0]["id"] == memory["id"]
    assert {each["source_type"] for each in recalled["memories"]} == {"memory", "vault"}
    assert 0 < recalled["total_tokens"] <= recalled["token_budget"] == 2_000
    assert recalled["budget_used"] == pytest.approx(recalled["total_tokens"] / 2_000, abs=1e-4)
    forgotten = donna("forget", memory["id"], "--space", vault)
    assert forgotten.out.strip() == f"{memory['id']}: forgotten"
    assert forgotten.err.strip() == "donna: donna forget --undo restores it"
    assert donna("search", "kestrel in:memory", "--space", vault).code == 1
    assert donna("forget", memory["id"], "--undo", "--space", vault).code == 0
    assert donna("search", "kestrel in:memory", "--space", vault).code == 0
    assert donna("forget", memory["id"], "--for-good", "--json", "--space", vault).json["changed"] is True
    assert donna("search", "kestrel in:memory", "--space", vault).code == 1
    gone = donna("forget", memory["id"], "--json", "--space", vault)
    assert (gone.code, gone.json["reason"]) == (3, "missing")


def test_a_prompt_is_the_block_alone_within_its_budget(donna: Donna, vault: Path) -> None:
    donna("remember", "I always read </memory> tags aloud.", "--space", vault)
    donna("remember", "The osprey code is 4711.", "--sensitive", "--type", "semantic", "--space", vault)
    block = donna("recall", "kestrel osprey code", "--prompt", "--budget", "60", "--space", vault)
    lines = block.out.splitlines()
    assert (lines[0], lines[-1]) == ("<memory>", "</memory>")
    assert lines[1] == "[PROCEDURAL] I always read &lt;/memory&gt; tags aloud."
    assert "4711" not in block.out
    assert "osprey" not in block.out
    local = donna("recall", "osprey code", "--prompt", "--local", "--space", vault)
    assert "4711" in local.out
    none = donna("recall", "kestrel", "--prompt", "--budget", "3", "--space", vault)
    assert (none.code, none.out) == (1, "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("remember", " "), "nothing to remember"),
        (("remember", "x", "--type", "psychic"), "there is no type psychic"),
        (("recall", " "), "no question given"),
        (("recall", "x", "--type", "psychic"), "there is no type psychic"),
        (("backfill", "--source", "mail"), "there is no source mail"),
        (("search", "x", "--source", "mail"), "there is no source mail"),
        (("search", "x", "--source", "\udcff"), "there is no source"),
        (("undo", "2", "--session", "x"), "a number and --session cannot be used together"),
        (("redo", "1", "--session", "x"), "a number and --session cannot be used together"),
        (("task", "add", " "), "no task given"),
        (("task", "done", ""), "no task given"),
        (("task", "add", "x", "--due", "soon"), "soon is not a date"),
        (("task", "add", "x", "--priority", "odd"), "there is no priority odd"),
        (("forget", "memory:x", "--for-good", "--undo"), "cannot be used together"),
    ],
)
def test_what_is_wrong_with_a_command_is_reported(
    donna: Donna, vault: Path, args: tuple[str, ...], message: str
) -> None:
    ran = donna(*args, "--space", vault)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_forget_rejects_a_passage_of_a_note(donna: Donna, vault: Path) -> None:
    ran = donna("forget", "vault:private.md", "--space", vault)
    assert ran.code == 3
    assert "change or delete the note" in ran.err


def test_backfill_is_idempotent_and_says_how_each_source_ended(donna: Donna, vault: Path, talk: Path) -> None:
    write(vault, "todo.md", "- [ ] One\n- [x] Two\n")
    donna("chat", "import", talk, "--space", vault)
    first = donna("backfill", "--json", "--space", vault)
    assert first.code == 0
    counts = {row["id"]: (row["state"], row["documents"]) for row in first.json["sources"]}
    assert counts == {
        "vault": ("ok", 5), "chat": ("ok", 2), "task": ("ok", 2), "correction": ("ok", 0), "memory": ("ok", 0),
    }  # fmt: skip
    assert donna("backfill", "--json", "--space", vault).json == first.json
    assert donna("backfill", "--source", "chat", "--space", vault).out.strip() == "chat: 2 documents"


def test_one_source_that_fails_makes_the_exit_code_5_and_the_others_go_on(
    donna: Donna, vault: Path, talk: Path
) -> None:
    donna("chat", "import", talk, "--space", vault)
    broken = Donna(donna.home, donna.cwd, module="tests.cli.broken_chats")
    ran = broken("backfill", "--json", "--space", vault)
    assert ran.code == 5
    states = {row["id"]: row["state"] for row in ran.json["sources"]}
    assert states == {"vault": "ok", "chat": "failed", "task": "ok", "correction": "ok", "memory": "ok"}


@pytest.mark.slow
def test_tasks_are_written_into_notes_and_undone_as_one_operation(donna: Donna, vault: Path) -> None:
    write(vault, "Projects/plan.md", "# Plan\n- [ ] Old task 🔁 every week\n")
    added = donna("task", "add", "Feed the kestrel", "--due", "2030-01-04", "--priority", "high",
                  "--note", "Projects/plan.md", "--yes", "--space", vault)  # fmt: skip
    assert added.code == 0
    text = (vault / "Projects/plan.md").read_text()
    assert re.search(r"\n- \[ \] Feed the kestrel ⏫ ➕ \d{4}-\d\d-\d\d 📅 2030-01-04\n$", text)
    assert "- [ ] Feed the kestrel 📅 2030-01-04\n" in donna("memories", "kestrel", "--space", vault).out
    listed = donna("task", "list", "--json", "--space", vault).json
    assert [(task["title"], task["note"], task["line"]) for task in listed["tasks"]] == [
        ("Feed the kestrel", "Projects/plan.md", 3),
        ("Old task", "Projects/plan.md", 2),
    ]
    done = donna("task", "done", listed["tasks"][0]["id"], "--json", "--space", vault)
    assert done.json["kind"] == "write"
    assert re.search(r"- \[x\] Feed the kestrel .* ✅ \d{4}-\d\d-\d\d\n$", (vault / "Projects/plan.md").read_text())
    assert len(donna("task", "list", "--space", vault).out.splitlines()) == 1
    assert len(donna("task", "list", "--all", "--space", vault).out.splitlines()) == 2
    assert donna("undo", "2", "--yes", "--space", vault).code == 0
    assert (vault / "Projects/plan.md").read_text() == "# Plan\n- [ ] Old task 🔁 every week\n"
    assert donna("redo", "2", "--yes", "--space", vault).code == 0


def test_a_sub_task_is_listed_after_its_parent_and_checked_alone(donna: Donna, vault: Path) -> None:
    write(vault, "Projects/todo.md", "- [ ] Prepare the report\n  - [ ] send it\n")
    listed = donna("task", "list", "--space", vault).out.splitlines()
    assert [line.split("  ", 1)[1] for line in listed] == [
        "Prepare the report  (Projects/todo.md:1)",
        "Prepare the report › send it  (Projects/todo.md:2)",
    ]
    assert donna("task", "done", listed[1].split()[2], "--yes", "--space", vault).code == 0
    assert (vault / "Projects/todo.md").read_text().startswith("- [ ] Prepare the report\n  - [x] send it ✅ ")


def test_a_task_begins_a_note_and_needs_consent_for_the_first_commit(donna: Donna, vault: Path) -> None:
    refused = donna("task", "add", "Feed the kestrel", "--space", vault)
    assert refused.code == 3
    assert not (vault / "Inbox").exists()
    assert donna("task", "add", "Feed the kestrel", "--yes", "--space", vault).code == 0
    assert (vault / "Inbox/Tasks.md").read_text().startswith("- [ ] Feed the kestrel ➕")
    assert donna("task", "add", "Call the bank", "--due", "Tomorrow", "--space", vault).code == 0
    tomorrow = datetime.date.today() + datetime.timedelta(days=1)
    assert (vault / "Inbox/Tasks.md").read_text().endswith(f"Call the bank ➕ {datetime.date.today()} 📅 {tomorrow}\n")


def test_task_done_rejects_a_missing_or_closed_task(donna: Donna, vault: Path) -> None:
    write(vault, "Projects/plan.md", "- [x] Done already\n")
    assert donna("task", "list", "--space", vault).code == 1
    assert donna("task", "done", "nothing", "--space", vault).code == 3
    (task,) = donna("task", "list", "--all", "--json", "--space", vault).json["tasks"]
    ran = donna("task", "done", task["id"], "--json", "--space", vault)
    assert (ran.code, ran.json["reason"]) == (3, "conflict")


def test_tasks_are_not_found_twice_beside_their_note(donna: Donna, vault: Path) -> None:
    write(vault, "todo.md", "- [ ] Feed the falcon\n")
    hits = donna("search", "falcon", "--json", "--space", vault).json["results"]
    assert [hit["source_type"] for hit in hits] == ["vault"]
    asked = donna("search", "falcon in:task", "--json", "--space", vault).json["results"]
    assert [(hit["source_type"], hit["metadata"]["note"], hit["start_line"]) for hit in asked] == [
        ("task", "todo.md", 1)
    ]


@pytest.mark.slow
def test_old_conversations_are_summarised_and_expanded(donna: Donna, vault: Path, tmp_path: Path) -> None:
    rows = [row for day in (1, 2, 3) for row in chat_rows(f"s{day}", "Kestrels hover into the wind above the road.",
            timestamp=f"2024-04-0{day}T10:00:00")]  # fmt: skip
    donna("chat", "import", jsonl(tmp_path / "t.jsonl", rows), "--space", vault)
    few = donna("chat", "compress", "--space", vault)
    assert few.code == 1
    ran = donna("chat", "compress", "--json", "--space", vault, DONNA_RECALL__COMPRESSION_THRESHOLD="2")
    assert (ran.code, ran.json["count"]) == (0, 1)
    assert ran.json["memories"][0]["session_id"] == "s1"
    without = donna("recall", "kestrels hover", "--json", "-k", "20", "--space", vault).json
    assert "chat:s1:1-1" in {each["id"] for each in without["cut"] if each["why"] == "compressed"}
    whole = donna("recall", "kestrels hover", "--all", "--json", "-k", "20", "--space", vault).json
    assert "chat:s1:1-1" in {each["id"] for each in whole["memories"]}
    assert donna("chat", "expand", "s1", "--space", vault).code == 0
    assert donna("chat", "expand", "s1", "--space", vault).code == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("chat", "expand", "nope"), "donna: there is no conversation nope\n       donna chat list shows them\n"),
        (("chat", "suggestions", "--accept", "nope"), "there is no suggestion nope"),
        (("forget", "nope"), "there is no memory nope"),
    ],
)
def test_missing_items_are_reported_by_name(donna: Donna, vault: Path, args: tuple[str, ...], message: str) -> None:
    ran = donna(*args, "--space", vault)
    assert (ran.code, ran.out) == (3, "")
    assert message in ran.err


def test_a_rebuilt_index_keeps_what_is_remembered(donna: Donna, vault: Path, talk: Path) -> None:
    donna("chat", "import", talk, "--space", vault)
    donna("remember", "The osprey code is 4711.", "--space", vault)
    state = next((donna.home / "state" / "spaces").iterdir())
    for file in state.glob("index-*"):
        file.unlink()
    assert donna("search", "kestrels in:chat", "--space", vault).code == 0
    assert donna("search", "osprey code in:memory", "--space", vault).code == 0


def test_a_chatgpt_export_through_the_command_line(donna: Donna, vault: Path, tmp_path: Path) -> None:
    from tests.unit.test_memory_importing import chatgpt

    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([chatgpt()]))
    assert donna("chat", "import", export, "--space", vault).code == 0
    (hit,) = donna("search", "into the wind in:chat", "--json", "--space", vault).json["results"][:1]
    assert hit["source_path"].startswith("chatgpt/6512-ab:")
    assert hit["title"] == "Kestrels, 14 November 2023"


def test_eval_turns_scores_a_set_of_conversations(donna: Donna, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    rows = [{**row, "user_id": person, "dia_id": f"D{row['turn']}"} for person in ("ann", "bo") for row in TALK]
    jsonl(folder / "turns.jsonl", [{**row, "session_id": f"{row['user_id']}/1"} for row in rows])
    asked = [
        {"id": "1", "query": "what flies into the wind", "vault": "ann", "gold": [{"dia_id": "D2"}]},
        {"id": "2", "query": "hover motorway", "vault": "bo", "gold": [{"session_id": "bo/1", "turns": [1]}]},
        {"id": "3", "query": "zzzunheardof", "vault": "bo", "answerable": False},
    ]
    jsonl(folder / "queries.jsonl", asked)
    (row,) = donna("eval", "--turns", "--mode", "keyword", "--json", folder).json["rows"]
    assert (row["name"], row["count"], row["abstained"]) == ("talks (turns)", 3, 1.0)
    assert (row["scores"]["place_1"], row["scores"]["ndcg"]) == (1.0, 1.0)
    rows = donna("eval", "--turns", "--mode", "hybrid", "--json", folder).json["rows"]
    assert [row["system"] for row in rows] == ["hybrid", "in context"]
    assert rows[1]["scores"]["place_1"] == 1.0
    assert donna("eval", "--turns", tmp_path).code == 2


def test_what_must_stay_on_this_machine_is_not_in_json_unless_asked(donna: Donna, vault: Path) -> None:
    donna("remember", "The osprey code is 4711.", "--sensitive", "--type", "semantic", "--space", vault)
    assert "4711" not in donna("recall", "osprey code", "--json", "--space", vault).out
    assert "4711" in donna("recall", "osprey code", "--json", "--local", "--space", vault).out


def test_remember_says_saved_and_replaces_a_preference_only_if_told_to(donna: Donna, vault: Path) -> None:
    assert donna("remember", "My favourite colour is blue.", "--space", vault).out.startswith("Saved.\n")
    refused = donna("remember", "My favourite colour is green.", "--json", "--space", vault)
    assert (refused.code != 0, refused.json["reason"]) == (True, "conflict")
    assert "blue" in refused.json["message"]
    assert donna("remember", "My favourite colour is green.", "--yes", "--space", vault).code == 0
    listed = donna("memories", "--json", "--space", vault).json
    assert [each["content"] for each in listed["memories"]] == ["My favourite colour is green."]


def test_memories_are_listed_in_pages_with_their_total(donna: Donna, vault: Path, tmp_path: Path) -> None:
    rows = [row for number in range(40) for row in chat_rows(f"s{number}", f"Message {number} is about a kestrel.")]
    donna("chat", "import", jsonl(tmp_path / "t.jsonl", rows), "--space", vault)
    first = donna("memories", "--limit", "30", "--json", "--space", vault).json
    rest = donna("memories", "--limit", "30", "--offset", "30", "--json", "--space", vault).json
    assert (first["count"], rest["count"], first["total"], rest["total"]) == (30, 10, 40, 40)
    assert len({each["id"] for page in (first, rest) for each in page["memories"]}) == 40


def test_a_list_without_memories_says_so(donna: Donna, vault: Path) -> None:
    empty = donna("memories", "--space", vault)
    assert (empty.code, empty.out, empty.err) == (1, "", "no memories yet\n")
    for group, what in (("task", "tasks"), ("draft", "drafts"), ("chat", "conversations")):
        assert donna(group, "list", "--space", vault).err == f"no {what}\n"
    donna("remember", "My favourite colour is blue.", "--space", vault)
    assert donna("memories", "kestrel", "--space", vault).err == "no memories match\n"
    assert donna("memories", "--offset", "5", "--space", vault).err == "no more than 1 memory\n"
    beyond = donna("mcp", "--call", "memory_list", json.dumps({"offset": 10**20}), "--space", vault)
    assert (beyond.code, beyond.json["reason"]) == (2, "usage")
    assert donna("memories", "--offset", str(10**20), "--space", vault, "--json").json["reason"] == "usage"


def test_a_folder_is_imported_users_are_kept_and_a_bad_file_costs_only_itself(
    donna: Donna, vault: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    for user in ("ann", "bob"):
        jsonl(folder / f"{user}.jsonl", chat_rows("s", f"{user} likes the kestrel of the motorway.", user_id=user))
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 nonsense")
    ran = donna("chat", "import", folder, "--json", "--space", vault)
    assert (ran.code, ran.json["turns"], ran.json["sessions"]) == (4, 2, 2)
    assert {each["user_id"] for each in donna("chat", "list", "--json", "--space", vault).json["conversations"]} == {
        "ann", "bob",
    }  # fmt: skip
    bob = donna("recall", "kestrel", "--user", "bob", "--json", "--space", vault).json["memories"]
    assert ["bob likes" in each["content"] for each in bob] == [True]
    assert "likes" not in donna("recall", "kestrel", "--json", "--space", vault).out
    for user, options, words in (("bob", (), "bob"), ("ann", (), "ann"), ("bob", ("--undo",), "bob")):
        assert donna("forget", "chat:s:1-1", "--user", user, *options, "--space", vault).code == 0
        assert (f"{words} likes" in donna("memories", "--user", user, "--space", vault).out) == bool(options)
    assert donna("forget", "chat:s:1-1", "--user", "carol", "--space", vault).code == 3


def test_a_log_is_followed_and_preferences_in_it_are_offered(donna: Donna, vault: Path, tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "birds"
    folder.mkdir(parents=True)
    message = {"type": "user", "uuid": "u1", "sessionId": "abc", "timestamp": "2026-03-02T08:00:00Z"}
    log = jsonl(folder / "abc.jsonl", [{**message, "message": {"role": "user", "content": "I prefer dark roast."}}])
    watch = ("chat", "watch", "--once", "--folder", tmp_path / "projects", "--space", vault)
    first = donna(*watch).out
    assert "1 turn of 1 conversation" in first
    assert "1 preference found in chats" in first
    with log.open("ab") as file:
        file.write(json.dumps({**message, "uuid": "u2", "message": {"role": "user", "content": "Half"}})[:20].encode())
    assert donna(*watch).out == ""
    more = {**message, "uuid": "u3", "message": {"role": "user", "content": "The barn is red."}}
    jsonl(folder / "more.jsonl", [more])
    assert donna(*watch).out == "1 turn of 1 conversation\n"  # the preference is offered once
    (offered,) = donna("chat", "suggestions", "--json", "--space", vault).json["suggestions"]
    assert donna("recall", "coffee roast", "--type", "procedural", "--json", "--space", vault).json["count"] == 0
    assert donna("chat", "suggestions", "--accept", offered["id"], "--space", vault).code == 0
    assert donna("chat", "suggestions", "--space", vault).code == 1
    recalled = donna("recall", "coffee roast", "--type", "procedural", "--json", "--space", vault).json
    assert [each["content"] for each in recalled["memories"]] == ["I prefer dark roast."]
    assert donna("chat", "watch", "--once", "--folder", tmp_path / "none", "--space", vault).code != 0


def test_a_recall_of_nothing_names_the_users_whose_conversations_were_not_searched(
    donna: Donna, vault: Path, tmp_path: Path
) -> None:
    rows = chat_rows("s", "My greyhound is called Pepper.", user_id="bob")
    donna("chat", "import", jsonl(tmp_path / "t.jsonl", rows), "--space", vault)
    for user in ("", "carol"):
        nothing = donna("recall", "name of the greyhound", "--user", user, "--space", vault)
        assert nothing.code == 1
        assert "there are conversations of bob; --user searches those of one user" in nothing.err
    assert "conversations of" not in donna("recall", "name of the greyhound", "--user", "bob", "--space", vault).err


def test_a_suggestion_says_which_preference_it_replaces(donna: Donna, vault: Path, tmp_path: Path) -> None:
    assert donna("remember", "I prefer dark roast.", "--space", vault).code == 0
    turn = {"session_id": "s", "role": "user", "text": "I prefer light roast now."}
    assert donna("chat", "import", jsonl(tmp_path / "t.jsonl", [turn]), "--space", vault).code == 0
    assert "replaces “I prefer dark roast.”" in donna("chat", "suggestions", "--space", vault).out
    (offered,) = donna("chat", "suggestions", "--json", "--space", vault).json["suggestions"]
    assert offered["replaces"] == ["I prefer dark roast."]
    accepted = donna("chat", "suggestions", "--accept", offered["id"], "--space", vault).out
    assert "accepted: I prefer light roast now." in accepted
    assert "replaced “I prefer dark roast.”" in accepted


HOLDS = """
import sys, apsw
open_ones = [apsw.Connection(path) for path in sys.argv[2:]]
for each in open_ones:
    if sys.argv[1] == "reading":
        each.execute("BEGIN")
    each.execute("SELECT count(*) FROM sqlite_master").fetchall()
print("ready", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held_open(home: Path, how: str) -> Iterator[None]:
    """Open the memory and its index in another process, optionally in the middle of a read."""
    databases = sorted(str(path) for path in home.rglob("*.db") if "backups" not in path.parts)
    assert len(databases) == 2, databases
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, how, *databases], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        yield
    finally:
        holder.communicate()


def holding(home: Path, word: bytes) -> list[str]:
    """Return Donna's files that contain a word."""
    return sorted(path.name for path in home.rglob("*") if path.is_file() and word in path.read_bytes())


def test_forgotten_words_are_in_no_file_while_another_process_has_them_open(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    donna("remember", "The first thing.", "--space", vault)
    with held_open(donna.home, "idle"):
        (memory,) = donna("remember", "The ospreycode is 4711.", "--json", "--space", vault).json["memories"]
        assert holding(donna.home, b"ospreycode")
        damaged = next(donna.home.rglob("memory.db")).with_name("index-9.db")
        damaged.write_bytes(b"the ospreycode, in a damaged page")
        set_aside(damaged)
        assert donna("forget", memory["id"], "--for-good", "--space", vault).code == 0
        assert not holding(donna.home, b"ospreycode")
        assert not list(donna.home.rglob("*-erasing"))


@pytest.mark.slow
def test_an_erasure_that_a_reader_holds_up_is_finished_later(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    (memory,) = donna("remember", "The ospreycode is 4711.", "--json", "--space", vault).json["memories"]
    with held_open(donna.home, "reading"):
        ran = donna("forget", memory["id"], "--for-good", "--space", vault)
        assert ran.code == 0
        assert "another program is reading" in ran.err
        found = donna("doctor", "--json", "--space", vault).json["findings"]
        assert [each["state"] for each in found if each["id"] == "erasure"]
    donna("remember", "Something else.", "--space", vault)
    assert not holding(donna.home, b"ospreycode")
    assert not list(donna.home.rglob("*-erasing"))


def test_a_damaged_memory_is_reported_by_doctor_and_commands_until_its_backup_is_restored(
    donna: Donna, vault: Path
) -> None:
    donna("remember", "I like green tea", "--space", vault)
    folder = Path(donna("status", "--json", "--space", vault).json["database"]).parent
    for file in folder.glob("memory.db*"):
        file.write_bytes(b"garbage" * 1_000)
    assert "✗ memory: the memory memory.db is damaged" in donna("doctor", "--space", vault).out
    assert "donna: the memory memory.db is damaged" in donna("memories", "--space", vault).err
    remembered = donna("remember", "I like Oolong too", "--type", "semantic", "--space", vault)
    assert "donna: the memory was damaged; its backup memory-" in remembered.err
    assert "✗ memory" not in donna("doctor", "--space", vault).out
