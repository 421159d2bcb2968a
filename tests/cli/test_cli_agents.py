"""`--space ID` selects an agent's memory, and `donna spaces` lists them. One that is not indexed is reported."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.running import Donna
from tests.git_vaults import write


@pytest.fixture
def agents(donna: Donna, tmp_path: Path) -> Path:
    """Configure three agents: peter's memory exists, paula's is read-only, and petra's workspace is missing."""
    root = tmp_path / "agents"
    write(root, "peter/MEMORY.md", "# Memory\n\nThe kestrel nests in the tower.\n")
    write(root, "peter/memory/2026-01-01.md", "# Day\n\nA kestrel was seen.\n")
    write(root, "peter/README.md", "kestrel quokka\n")
    write(root, "paula/MEMORY.md", "# Memory\n\nThe kestrel of paula.\n")
    settings = {
        "agents": {
            "defaults": {"workspace": f"{root}/{{agentId}}"},
            "list": [{"id": "peter"}, {"id": "paula", "workspaceAccess": "ro"}, {"id": "petra"}],
        }
    }
    write(donna.home, "config/memory.yaml", json.dumps(settings))
    return root


def everything(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*")}


@pytest.mark.slow
def test_a_search_of_an_agent_says_indexed_and_stale(donna: Donna, agents: Path) -> None:
    ran = donna("search", "kestrel", "--space", "peter", "--json")
    assert (ran.code, ran.json["indexed"], ran.json["stale"]) == (0, True, False)
    assert {hit["source_path"] for hit in ran.json["results"]} == {"MEMORY.md", "memory/2026-01-01.md"}
    assert ran.json["reason"] == "model_missing"
    assert donna("search", "quokka", "--space", "peter").code == 1
    write(agents, "peter/memory/new.md", "A numbat walks.\n")
    ran = donna("search", "numbat", "--space", "peter", "--json")
    assert [(hit["source_path"], hit["start_line"]) for hit in ran.json["results"]] == [("memory/new.md", 1)]


@pytest.mark.slow
def test_a_search_of_all_spaces_needs_no_vault(donna: Donna, agents: Path) -> None:
    write(agents, "zoe/MEMORY.md", "The kestrel of zoe.\n")
    settings = {
        "agents": {"list": [{"id": each, "workspace": str(agents / each)} for each in ("petra", "peter", "zoe")]}
    }
    write(donna.home, "config/memory.yaml", json.dumps(settings))
    donna("index", "--space", "zoe")
    ran = donna("search", "kestrel", "--everywhere", "--json")
    assert {hit["space"] for hit in ran.json["results"]} == {"peter", "zoe"}
    assert donna("search", "kestrel").code != 0


@pytest.mark.slow
def test_search_of_an_agent_reports_stale_results_in_text_and_json(donna: Donna, agents: Path) -> None:
    sync = "DONNA_AGENTS__DEFAULTS__MEMORY_SEARCH__SYNC__"
    environ = {f"{sync}ON_SEARCH": "false", f"{sync}ON_SESSION_START": "false"}
    ran = donna("search", "kestrel", "--space", "peter", "--json", **environ)
    assert (ran.json["stale"], ran.json["indexed"]) == (True, True)
    assert "stale: " in ran.json["note"]
    assert "stale: " in donna("search", "kestrel", "--space", "peter", **environ).err


def test_an_answer_of_a_vault_states_indexed_and_stale_too(donna: Donna, vault: Path) -> None:
    ran = donna("search", "kestrel", "--space", vault, "--json")
    assert (ran.json["indexed"], ran.json["stale"]) == (True, False)
    vault.rename(vault.with_name("elsewhere"))
    ran = donna("search", "kestrel", "--space", vault, "--json")
    assert (ran.json["indexed"], ran.json["stale"]) == (True, True)


def test_what_is_not_indexed_leaves_nothing(donna: Donna, agents: Path) -> None:
    before = everything(agents.parent)
    ran = donna("search", "kestrel", "--space", "paula", "--json")
    assert (ran.code, ran.json["indexed"], ran.json["count"], ran.json["reason"]) == (4, False, 0, "not_indexed")
    told = donna("search", "kestrel", "--space", "petra")
    assert (told.code, told.out) == (4, "")
    assert "its workspace does not exist" in told.err
    for words in (
        ("index",),
        ("remember", "A thing."),
        ("write", "memory/x.md", "--from", os.devnull),
        ("undo", "--yes"),
    ):
        refused = donna(*words, "--space", "paula", "--json")
        assert (refused.code, refused.json["reason"]) == (3, "not_indexed"), words
    status = donna("status", "--space", "petra", "--json")
    assert (status.code, status.json["indexed"]) == (4, False)
    assert everything(agents.parent) == before


def test_spaces_are_listed_with_their_state(donna: Donna, agents: Path, vault: Path) -> None:
    assert donna("spaces").code == 0
    donna("index", "--space", vault)
    ran = donna("spaces", "--json")
    rows = {row["id"]: row for row in ran.json["spaces"]}
    assert list(rows) == [str(vault), "peter", "paula", "petra"]
    assert {name: (row["kind"], row["state"], row["reason"], row["notes"]) for name, row in rows.items()} == {
        str(vault): ("vault", "indexed", "", 4),
        "peter": ("agent", "not_indexed", "", 0),
        "paula": ("agent", "not_indexed", "not_indexed", 0),
        "petra": ("agent", "not_indexed", "not_indexed", 0),
    }
    donna("search", "kestrel", "--space", "peter")
    rows = {row["id"]: row for row in donna("spaces", "--json").json["spaces"]}
    assert (rows["peter"]["state"], rows["peter"]["notes"]) == ("indexed", 2)
    lines = donna("spaces").out.splitlines()
    assert len(lines) == 4
    assert "its workspace is read-only" in lines[2]


def test_spaces_lists_nothing_before_any_space_exists(donna: Donna) -> None:
    assert donna("spaces", "--json").json["spaces"] == []
    ran = donna("spaces")
    assert (ran.code, ran.out, "no spaces yet" in ran.err) == (1, "", True)
    assert not donna.home.exists()


def test_the_id_of_an_agent_takes_precedence_over_a_folder(donna: Donna, agents: Path, tmp_path: Path) -> None:
    write(tmp_path / "peter", "a.md", "The quokka of a folder.\n")
    assert donna("search", "quokka", "--space", "peter").code == 1
    assert donna("search", "quokka", "--space", "./peter").code == 0
    assert donna("search", "kestrel", DONNA_VAULT="peter").code == 0
    assert donna("search", "kestrel", "--space", "Peter").code == 3


def test_an_agent_is_never_the_vault_that_was_open_last(donna: Donna, agents: Path) -> None:
    donna("index", "--space", "peter")
    ran = donna("search", "kestrel")
    assert (ran.code, "no vault is chosen" in ran.err) == (2, True)


def test_get_of_an_agent_space_reads_only_memory_files(donna: Donna, agents: Path) -> None:
    assert "tower" in donna("get", "MEMORY.md", "--space", "peter").out
    for path in ("README.md", "../paula/MEMORY.md"):
        assert donna("get", path, "--space", "peter", "--json").code == 3


@pytest.mark.slow
def test_a_change_of_an_agents_memory_is_undone(donna: Donna, agents: Path) -> None:
    written = donna("write", "memory/idea.md", "--space", "peter", "--yes", stdin="A numbat walks.\n")
    assert written.code == 0, written.err
    assert donna("search", "numbat", "--space", "peter").code == 0
    assert donna("write", "README2.md", "--space", "peter", "--json", stdin="x").json["reason"] == "outside_allowlist"
    assert donna("undo", "--yes", "--space", "peter").code == 0
    assert donna("search", "numbat", "--space", "peter").code == 1


def test_the_settings_of_an_agent_are_shown(donna: Donna, agents: Path) -> None:
    shown = {row["id"]: row for row in donna("config", "show", "--space", "peter", "--json").json["settings"]}
    assert shown["vault.root"]["value"] == str(agents / "peter")
    assert shown["retrieval.min_score"]["value"] == 0.35
    assert shown["vault.root"]["origin"]["layer"] == "user"
    assert donna("config", "path", "--space", "peter").code == 0


def test_a_mistake_is_reported_with_its_place(donna: Donna) -> None:
    write(donna.home, "config/memory.yaml", "agents:\n  list:\n    - {id: a, memorySearch: {provider: opnai}}\n")
    for words in (("spaces",), ("search", "x", "--space", "a"), ("config", "show")):
        ran = donna(*words)
        assert (ran.code, ran.out) == (2, "")
        assert "memory.yaml, line 3: agents.list.memorySearch.provider must be local or openai" in ran.err


def test_two_agents_at_once(donna: Donna, tmp_path: Path) -> None:
    settings = {"agents": {"defaults": {"workspace": f"{tmp_path}/{{agentId}}"}, "list": [{"id": "a"}, {"id": "b"}]}}
    write(donna.home, "config/memory.yaml", json.dumps(settings))
    write(tmp_path, "a/MEMORY.md", "The falcon of a.\n")
    write(tmp_path, "b/MEMORY.md", "The falcon of b.\n")
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(lambda agent: (agent, donna("search", "falcon", "--space", agent, "--json")), "abab"))
    for agent, answer in ran:
        assert answer.code == 0, answer.err + answer.out
        assert [hit["content"] for hit in answer.json["results"]] == [f"The falcon of {agent}."]


def test_a_workspace_is_not_served_to_other_devices(donna: Donna, agents: Path) -> None:
    ran = donna("serve-webdav", "--space", "peter", "--json")
    assert (ran.code, ran.json["reason"]) == (2, "usage")
    assert "more than the memory" in ran.json["message"]
