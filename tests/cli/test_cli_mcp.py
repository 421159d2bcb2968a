"""`donna mcp` without a client: one call, the setup of each client, the skill file; and undoing a session."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from donna_tui.agents.setup import CLIENTS, Command, setup_for
from donna_tui.agents.tools.catalogue import TOOLS
from donna_tui.memory.database import open_db
from tests.cli.running import Donna

WORDS = ("/opt/my tools/donna", "mcp", "--space", "/home/me/my \"notes\" $(x) 'y' \\z")


def test_one_command_answers_a_search(donna: Donna, vault: Path) -> None:
    ran = donna("mcp", "--call", "memory_search", '{"query": "where are the kestrel sessions"}', "--space", vault)
    assert (ran.code, ran.json["results"][0]["path"]) == (0, "Projects/gateway.md")
    assert "osprey" not in ran.out
    nothing = donna("mcp", "--call", "memory_search", '{"query": "osprey"}', "--space", vault)
    assert (nothing.code, nothing.json["count"]) == (1, 0)


def test_mcp_demo_answers_without_any_setup(donna: Donna) -> None:
    ran = donna("mcp", "--demo", "--call", "memory_search", 'why did we move off "redis"')
    assert ran.code == 0
    assert ran.json["results"][0]["path"] == "Projects/gateway/decisions.md"


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "reason"),
    [
        ("memory_get", '{"path": "private.md"}', 3, "missing"),
        ("memory_get", '{"path": "absent.md"}', 3, "missing"),
        ("memory_get", '{"path": "../x.md"}', 3, "path_escape"),
        ("vault_write", '{"path": "Inbox/x.md", "content": "x"}', 2, "usage"),
        ("memory_search", "{}", 2, "usage"),
        ("memory_search", "[]", 2, "usage"),
        ("memory_search", "{", 2, "usage"),
        ("nothing", "{}", 2, "usage"),
        ("", "", 2, "usage"),
    ],
)
def test_a_refusal_is_reported_as_by_every_command(
    donna: Donna, vault: Path, tool: str, arguments: str, code: int, reason: str
) -> None:
    ran = donna("mcp", "--call", tool, arguments, "--space", vault)
    assert (ran.code, ran.json["ok"], ran.json["reason"]) == (code, False, reason)


def test_an_unknown_tool_and_an_unknown_argument_are_named_with_the_nearest(donna: Donna, vault: Path) -> None:
    tool = donna("mcp", "--call", "memory_serach", "{}", "--space", vault).json
    assert tool["message"] == "there is no tool memory_serach"
    assert tool["hint"].startswith("did you mean memory_search? The tools are memory_search, memory_get, recall,")
    assert tool["hint"].endswith("agenda; donna mcp --write adds those that write")
    assert donna("mcp", "--call", "nope", "--space", vault).json["message"] == "there is no tool nope"
    assert donna("mcp", "--call", "vault_list", "--space", vault).code == 0
    assert donna("mcp", "--call", "vault_read", "private.md", "--space", vault).json["reason"] == "missing"
    assert donna("mcp", "{}", "--space", vault).code == 2
    words = donna("mcp", "--space", vault, "--call", "memory_search", "-kestrel")
    assert (words.code, words.json["message"]) == (2, "no such option: -k; put -- before words that begin with a dash")
    argument = donna("mcp", "--call", "recall", '{"query": "x", "tokenBudge": 5}', "--space", vault).json
    assert argument["message"] == "there is no argument tokenBudge; did you mean tokenBudget?"
    assert argument["hint"].startswith("the arguments are query, topK, tokenBudget")


@pytest.mark.slow
def test_the_owner_undoes_a_session(donna: Donna, history: Path) -> None:
    written = json.dumps({"path": "Inbox/new.md", "content": "x\n"})
    session = donna("mcp", "--write", "--call", "vault_write", written, "--space", history).json["session"]
    donna("write", "Inbox/mine.md", "--space", history, stdin="mine\n")
    (newest, agents) = donna("log", "--space", history, "--json").json["operations"][:2]
    assert (newest["session"], agents["session"], agents["actor"]) == ("", session, "mcp:donna mcp")
    assert f"(session {session})" in donna("log", "--space", history).out
    assert donna("undo", "--session", session, "--space", history, "--json").json["reason"] == "usage"
    unset = donna("undo", "--session", "", "--yes", "--space", history, "--json")
    assert (unset.json["reason"], (history / "Inbox/mine.md").exists()) == ("usage", True)
    narrowed = {"DONNA_SAFETY__PATH_ALLOWLIST": '["Projects"]'}
    ran = donna("undo", "--session", session, "--yes", "--space", history, "--json", **narrowed)
    assert (ran.code, ran.json["paths"]) == (0, ["Inbox/new.md"])
    assert (history / "Inbox/mine.md").exists()
    assert not (history / "Inbox/new.md").exists()
    again = donna("undo", "--session", session, "--yes", "--space", history, "--json")
    assert (again.code, again.json["reason"]) == (3, "nothing_to_undo")
    (memory,) = donna.home.rglob("memory.db")
    with closing(sqlite3.connect(memory)) as database, database:
        database.execute("INSERT INTO migrations VALUES ('of a newer Donna')")
    half = donna("redo", "--session", session, "--yes", "--space", history, "--json")
    assert half.json["message"].startswith("the notes are restored, but the drafts and memories are not: ")
    assert (half.json["reason"], (history / "Inbox/new.md").exists()) == ("database_newer", True)


def test_the_owner_makes_an_agent_forget(donna: Donna, vault: Path) -> None:
    told = json.dumps({"text": "We deploy the kestrel on Mondays."})
    session = donna("mcp", "--write", "--call", "remember", told, "--space", vault).json["session"]
    assert "Mondays" in donna("recall", "when is the kestrel deployed", "--space", vault).out
    assert f"(session {session})" in donna("memories", "Mondays", "--space", vault).out
    (memory,) = donna("memories", "Mondays", "--space", vault, "--json").json["memories"]
    ran = donna("undo", "--session", memory["session_id"], "--yes", "--space", vault, "--json")
    assert (ran.code, ran.json["forgotten"]) == (0, 1)
    assert "Mondays" not in donna("recall", "when is the kestrel deployed", "--space", vault).out
    again = donna("redo", "--session", session, "--yes", "--space", vault, "--json")
    assert (again.code, again.json["restored"]) == (0, 1)
    assert "Mondays" in donna("recall", "when is the kestrel deployed", "--space", vault).out
    again = donna("redo", "--session", session, "--yes", "--space", vault, "--json")
    assert (again.code, again.json["reason"]) == (3, "nothing_to_redo")


@pytest.mark.slow
def test_the_memories_of_a_session_are_redone_and_undone_with_its_writes(donna: Donna, history: Path) -> None:
    written = json.dumps({"path": "Inbox/new.md", "content": "x\n"})
    session = donna("mcp", "--write", "--call", "vault_write", written, "--space", history).json["session"]
    donna("remember", "We deploy the kestrel on Mondays.", "--space", history)
    (file,) = donna.home.rglob("memory.db")
    db = open_db(file.parent)
    db.database.run("UPDATE memories SET session_id = ?", (f"mcp:{session}",))
    db.close()
    undone = donna("undo", "--session", session, "--yes", "--space", history, "--json")
    assert (undone.json["paths"], undone.json["forgotten"]) == (["Inbox/new.md"], 1)
    assert "forgot 1 memory of the session" in undone.err
    for words in (("--yes",), ("--yes", "--session", session)):
        assert "restored 1 memory of the session" in donna("redo", *words, "--space", history).err
        assert (history / "Inbox/new.md").read_text() == "x\n"
        assert donna("memories", "--space", history, "--json").json["total"] == 1
        assert "changes to the memory are undone too" in donna("undo", "--yes", "--space", history).err
        assert donna("memories", "--space", history, "--json").json["total"] == 0
    for words in (f"--session {session}", ""):
        donna("redo", "--yes", "--session", session, "--space", history)
        command = f"'{sys.executable}' -m {donna.module} undo {words} --yes --space '{history}' | true"
        subprocess.run(["sh", "-c", command], env={**os.environ, "DONNA_HOME": str(donna.home)}, timeout=60, check=True)
        assert not (history / "Inbox/new.md").exists()
        assert donna("memories", "--space", history, "--json").json["total"] == 0


def test_undo_and_redo_of_an_unknown_session_report_that_there_is_none(donna: Donna, vault: Path) -> None:
    for words in (("undo",), ("undo", "--yes"), ("redo",)):
        ran = donna(*words, "--session", "nosuch", "--space", vault, "--json")
        assert (ran.json["reason"], ran.json["message"]) == ("missing", "there is no session nosuch")
        ran = donna(*words, "--session", "", "--space", vault, "--json")
        assert (ran.json["reason"], ran.json["message"]) == ("usage", "no session given")


def test_each_client_gets_a_setup_that_says_exactly_this_command(donna: Donna, vault: Path) -> None:
    command = Command(WORDS, {"DONNA_HOME": '/home/me/a "b"'})
    words = shlex.split(setup_for("claude-code", command).text)
    assert words[:4] == ["claude", "mcp", "add", "--scope"]
    assert words[words.index("--") + 1 :] == list(WORDS)
    assert words[words.index("--env") + 1] == 'DONNA_HOME=/home/me/a "b"'
    desktop = json.loads(setup_for("claude-desktop", command).text)["mcpServers"]["donna"]
    codex = tomllib.loads(setup_for("codex", command).text)["mcp_servers"]["donna"]
    for server in (desktop, codex):
        assert [server["command"], *server["args"]] == list(WORDS)
        assert server["env"] == {"DONNA_HOME": '/home/me/a "b"'}
    for client in CLIENTS:
        ran = donna("mcp", "--setup", client, "--write", "--space", vault)
        assert ran.code == 0
        assert str(vault) in ran.out
        assert "--write" in ran.out
        assert ran.err
    assert donna("mcp", "--setup", "emacs", "--space", vault).code == 2
    for unsupported in ("--http", "--demo"):
        ran = donna("mcp", "--setup", "codex", unsupported, "--space", vault)
        assert (ran.code, ran.out) == (2, "")


def test_the_command_of_a_setup_starts_the_server(donna: Donna, vault: Path) -> None:
    ran = donna("mcp", "--setup", "claude-desktop", "--space", vault, DONNA_HOME=str(donna.home))
    server = json.loads(ran.out)["mcpServers"]["donna"]
    assert server["env"] == {"DONNA_HOME": str(donna.home)}
    assert Path(server["command"]).parent == Path(sys.executable).parent
    assert server["args"][-2:] == ["--space", str(vault)]


def test_the_skill_says_when_to_search_and_when_to_remember(donna: Donna) -> None:
    ran = donna("mcp", "--skill")
    assert ran.out.startswith("---\nname: donna-memory\n")
    named = set(re.findall(r"`([a-z]+_[a-z_]+|recall|remember)`", ran.out))
    assert named <= {tool.name for tool in TOOLS}
    assert {tool.name for tool in TOOLS if tool.writes} <= named
    for words in ("## When to search", "## When to remember", "memory_search", "not instructions"):
        assert words in ran.out
