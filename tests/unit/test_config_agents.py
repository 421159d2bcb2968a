"""Agents are named in the user's settings, in the spelling of YAML or of JSON; invalid ones are refused."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from donna_tui.config.agent_settings import AgentEmbedding, AgentSettings, settings_of
from donna_tui.config.agents import Agent
from donna_tui.config.files import space_file
from donna_tui.config.load import LoadedConfig, load_agent, load_config
from donna_tui.config.models import MemoryConfig
from donna_tui.config.schema import value_of
from donna_tui.ingest.sync_policy import policy_of
from donna_tui.types.errors import ConfigError

SNAKE = """
agents:
  defaults:
    memory_search:
      enabled: true
      provider: openai
      fallback: openai
      model: text-embedding-3-small
      store: {driver: sqlite, path: "~/.clawdbot/memory/{agentId}.sqlite"}
      chunking: {tokens: 400, overlap: 80}
      sync: {on_session_start: true, on_search: true, watch: true, watch_debounce_ms: 1500, interval_minutes: 0}
      query: {max_results: 6, min_score: 0.35}
  list:
    - id: peter
      memory_search: {provider: local, sync: {watch: false}}
"""

CAMEL = SNAKE
for _snake, _camel in (
    ("memory_search", "memorySearch"), ("on_session_start", "onSessionStart"), ("on_search", "onSearch"),
    ("watch_debounce_ms", "watchDebounceMs"), ("interval_minutes", "intervalMinutes"),
    ("max_results", "maxResults"), ("min_score", "minScore"), ("{agentId}", "{agent_id}"),
):  # fmt: skip
    CAMEL = CAMEL.replace(_snake, _camel)
JSON = yaml.safe_load(CAMEL)
"""Settings of agents as other tools write them."""


def loaded(home: Path, text: str) -> LoadedConfig:
    file = home / "config" / "memory.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text))
    return load_config(environ={"DONNA_HOME": str(home)})


def agent(home: Path, text: str, named: str = "peter") -> Agent:
    found = loaded(home, text).config.agents.agent(named)
    assert found is not None
    return found


def refused(home: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(home, text)
    return caught.value.message.partition("memory.yaml, ")[2]


@pytest.mark.parametrize(
    "text",
    [json.dumps(JSON), json.dumps(JSON, indent=2), SNAKE, CAMEL],
    ids=["JSON", "JSON in lines", "snake_case", "camelCase"],
)
def test_yaml_and_json_spellings_of_agent_settings_are_equivalent(tmp_path: Path, text: str) -> None:
    peter = agent(tmp_path, text)
    search = peter.search
    assert (search.enabled, search.provider, search.fallback) == (True, "local", "openai")
    assert search.model == "text-embedding-3-small"
    assert peter.store == Path.home() / ".clawdbot/memory/peter"
    assert (search.chunking.tokens, search.chunking.overlap) == (400, 80)
    assert (search.sync.on_session_start, search.sync.on_search, search.sync.watch) == (True, True, False)
    assert (search.sync.watch_debounce_ms, search.sync.interval_minutes) == (1500, 0)
    assert (search.query.max_results, search.query.min_score) == (6, 0.35)
    assert (peter.workspace, peter.access) == (None, "rw")


def test_without_any_setting_the_memory_is_on_and_stays_on_this_machine(tmp_path: Path) -> None:
    search = agent(tmp_path, "agents: {list: [{id: peter}]}").search
    assert search.enabled
    assert (search.provider, search.fallback) == ("local", "none")
    assert (search.chunking.tokens, search.chunking.overlap) == (400, 80)
    assert (search.query.max_results, search.query.min_score) == (6, 0.35)
    sync = search.sync
    assert (sync.on_session_start, sync.on_search, sync.watch, sync.interval_minutes) == (True, True, True, 0)
    assert loaded(tmp_path, "").config.agents.resolved() == ()


OVERRIDES: list[tuple[str, str, Any]] = [
    ("{provider: openai}", "provider", "openai"),
    ("{fallback: none}", "fallback", "none"),
    ("{model: other}", "model", "other"),
    ("false", "enabled", False),
    ("{enabled: false}", "enabled", False),
    ("{chunking: {tokens: 200}}", "chunking.tokens", 200),
    ("{chunking: {tokens: 200}}", "chunking.overlap", 80),
    ("{chunking: {overlap: 0}}", "chunking.overlap", 0),
    ("{chunking: {overlap: 0}}", "chunking.tokens", 400),
    ("{sync: {onSearch: false}}", "sync.on_search", False),
    ("{sync: {on_search: false}}", "sync.watch", True),
    ("{sync: {intervalMinutes: 0.5}}", "sync.interval_minutes", 0.5),
    ("{sync: {searchDeadlineMs: 0}}", "sync.search_deadline_ms", 0),
    ("{query: {minScore: 0}}", "query.min_score", 0),
    ("{query: {maxResults: 50}}", "query.max_results", 50),
    ("{remote: {baseUrl: 'http://localhost:1234/v1/'}}", "remote.base_url", "http://localhost:1234/v1"),
    ("{remote: {apiKeyEnv: MY_KEY}}", "remote.api_key_env", "MY_KEY"),
    ("{}", "provider", "local"),
    ("true", "enabled", True),
]


@pytest.mark.parametrize(("given", "name", "value"), OVERRIDES)
@pytest.mark.parametrize("key", ["memory_search", "memorySearch"])
def test_an_agent_changes_what_it_names_and_nothing_else(
    tmp_path: Path, given: str, name: str, value: Any, key: str
) -> None:
    text = f"agents: {{defaults: {{memory_search: {{fallback: openai}}}}, list: [{{id: peter, {key}: {given}}}, {{id: o}}]}}"
    peter, other = agent(tmp_path, text), agent(tmp_path, text, "o")
    found: Any = peter.search
    for part in name.split("."):
        found = getattr(found, part)
    assert found == value
    if name != "fallback":
        assert peter.search.fallback == "openai"
    assert other.search == loaded(tmp_path, text).config.agents.defaults.memory_search


def test_a_setting_equal_to_the_default_overrides_the_defaults(tmp_path: Path) -> None:
    """A setting of an agent applies even if it equals Donna's own default."""
    text = """
        agents:
          defaults: {memory_search: {provider: openai, query: {min_score: 0.9}}}
          list: [{id: peter, memory_search: {provider: local, query: {min_score: 0.35}}}]
    """
    search = agent(tmp_path, text).search
    assert (search.provider, search.query.min_score) == ("local", 0.35)


@pytest.mark.parametrize("placeholder", ["{agentId}", "{agent_id}"])
def test_the_id_is_filled_in(tmp_path: Path, placeholder: str) -> None:
    text = f"""
        agents:
          defaults:
            workspace: ~/agents/{placeholder}/work
            memory_search: {{store: {{path: "/var/memory/{placeholder}.sqlite"}}}}
          list:
            - id: peter
            - {{id: p.2, workspace: "/own/{placeholder}"}}
    """
    peter, other = agent(tmp_path, text), agent(tmp_path, text, "p.2")
    assert peter.workspace == Path.home() / "agents/peter/work"
    assert peter.store == Path("/var/memory/peter")
    assert other.workspace == Path("/own/p.2")
    assert other.store == Path("/var/memory/p.2")


BAD: list[tuple[str, str]] = [
    ("defaults: {memory_search: {provider: openia}}", "line 3: agents.defaults.memory_search.provider must be local or openai, not openia; did you mean openai?"),
    ("defaults: {memorySearch: {fallback: local}}", "line 3: agents.defaults.memory_search.fallback must be none or openai"),
    ("defaults: {memory_search: {providr: local}}", "line 3: agents.defaults.memory_search.providr is not a setting; did you mean agents.defaults.memory_search.provider?"),
    ("defaults: {memory_search: {enabled: maybe}}", "line 3: agents.defaults.memory_search.enabled must be true or false, not maybe"),
    ("defaults: {memory_search: {chunking: {tokens: 31}}}", "line 3: agents.defaults.memory_search.chunking.tokens must be greater than or equal to 32, not 31"),
    ("defaults: {memory_search: {chunking: {tokens: 100}}}", "chunking.overlap must be at most half of"),
    ("defaults: {memory_search: {query: {minScore: 1.5}}}", "query.min_score must be less than or equal to 1, not 1.5"),
    ("defaults: {memory_search: {query: {max_results: 0}}}", "query.max_results must be greater than or equal to 1"),
    ("defaults: {memory_search: {sync: {watch: 1}}}", "sync.watch must be true or false, not 1"),
    ("defaults: {memory_search: {sync: {intervalMinutes: soon}}}", "sync.interval_minutes must be a number, not soon"),
    ("defaults: {memory_search: {sync: {intervalMinutes: .nan}}}", "sync.interval_minutes must be"),
    ("defaults: {memory_search: {sync: {watchDebounceMs: -1}}}", "sync.watch_debounce_ms must be greater than or equal to 0"),
    ("defaults: {memory_search: {store: {driver: chroma}}}", "store.driver must be sqlite, not chroma"),
    ("defaults: {memory_search: {store: {path: relative/x}}}", "store.path must be an absolute path, or begin with ~"),
    ("defaults: {memory_search: {store: {path: '/x/{agent}'}}}", "store.path may contain {agentId} and nothing else in braces"),
    ("defaults: {memory_search: {remote: {baseUrl: 'ftp://x'}}}", "remote.base_url must be the address of a server"),
    ("defaults: {memory_search: {remote: {baseUrl: 'http://x.example/v1'}}}", "remote.base_url must begin with https://"),
    ("defaults: {memory_search: {remote: {baseUrl: 'https://me:canary@x.example'}}}", "remote.base_url must not contain a password"),
    ("defaults: {memory_search: {remote: {apiKeyEnv: sk-canary}}}", "remote.api_key_env must be the name of an environment variable"),
    ("defaults: {workspace: agents}", "line 3: agents.defaults.workspace must be an absolute path"),
    ("defaults: {workspaceAccess: readonly}", "agents.defaults.workspace_access must be rw or ro or none"),
    ("defaults: {memory_search: {provider: local}, memorySearch: {provider: local}}", "agents.defaults.memory_search.provider is set twice"),
    ("defaults: 5", "agents.defaults is a block of settings, not 5"),
    ("lst: []", "agents.lst is not a setting; did you mean agents.list?"),
    ("list: [{workspace: /a}]", "line 3: agents.list.id must be given"),
    ("list: [{id: ../up}]", "line 3: agents.list.id must be up to 64 letters"),
    ("list: [{id: ''}]", "agents.list.id must be up to 64 letters"),
    ("list: [{id: .hidden}]", "agents.list.id must be up to 64 letters"),
    ("list: [{id: 7}]", "agents.list.id must be text, not 7"),
    ("list: [{id: a}, {id: A}]", "agents.list must have different names; two are called a"),
    ("list:\n    - id: a\n    - id: b\n      memorySerch: {}", "line 6: agents.list.memorySerch is not a setting; did you mean memorySearch?"),
    ("list:\n    - id: a\n      memorySearch:\n        sync:\n          watchDebounce: 5", "line 7: agents.list.memorySearch.sync.watchDebounce is not a setting; did you mean watchDebounceMs?"),
    ("list:\n    - id: a\n      memory_search:\n        query: {min_score: high}", "line 6: agents.list.memory_search.query.min_score must be a number, not high"),
    ("list: [{id: a, memory_search: {chunking: {overlap: 300}}}]", "agents.list: a: memory_search.chunking.overlap must be at most half of tokens"),
    ("list: [{id: a, workspace: /w, memory_search: {store: {path: /w/index}}}]", "agents.list: a: memory_search.store.path must not be in a workspace"),
    ("defaults: {memory_search: {store: {path: /all}}}\n  list: [{id: a}, {id: b}]", "agents.list: b: memory_search.store.path is that of a too; put {agentId} in it"),
    ("list: {peter: {}}", "agents.list must be a list"),
    ("list: [peter]", "agents.list must be a block of settings"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "told"), BAD)
def test_invalid_agent_settings_are_refused_with_reason_and_line(tmp_path: Path, given: str, told: str) -> None:
    message = refused(tmp_path, f"\nagents:\n  {given}\n")
    assert told in message
    assert message.startswith("line ")
    assert "[type=" not in message
    assert "canary" not in message


def test_settings_in_a_workspace_do_not_count(tmp_path: Path) -> None:
    """An agent may write there, and must not change how its memory is searched."""
    file = space_file(tmp_path / "ws")
    file.parent.mkdir(parents=True)
    file.write_text("retrieval: {max_k: 1, default_k: 1}\nthis is no YAML: [")
    loaded(tmp_path, f"agents: {{list: [{{id: peter, workspace: {tmp_path / 'ws'}}}]}}")
    found = load_agent("peter", {"DONNA_HOME": str(tmp_path)})
    assert found is not None
    assert found.config.retrieval.default_k == 6


def test_environment_variables_can_define_agents(tmp_path: Path) -> None:
    environ = {
        "DONNA_HOME": str(tmp_path),
        "DONNA_AGENTS__LIST": "[{id: peter, workspace: /w}]",
        "DONNA_AGENTS__DEFAULTS__MEMORY_SEARCH__QUERY__MAX_RESULTS": "9",
    }
    peter = load_config(environ=environ).config.agents.agent("peter")
    assert peter is not None
    assert (peter.workspace, peter.search.query.max_results) == (Path("/w"), 9)


def test_the_settings_of_an_agent(tmp_path: Path) -> None:
    text = f"""
        retrieval: {{min_score: 0.1, max_k: 10, default_k: 3}}
        metrics: {{port: 9000}}
        calendars: [{{name: A, kind: ics, path: /a.ics}}]
        agents:
          list:
            - id: peter
              workspace: {tmp_path}
              memory_search:
                query: {{max_results: 20, min_score: 0.5}}
                sync: {{watch: false, interval_minutes: 2, on_session_start: false, search_deadline_ms: 1500}}
    """
    whole = loaded(tmp_path, text).config
    settings = settings_of(agent(tmp_path, text), whole)
    assert isinstance(settings, MemoryConfig)
    assert settings.vault.root == tmp_path
    assert (settings.retrieval.default_k, settings.retrieval.max_k, settings.retrieval.min_score) == (20, 20, 0.5)
    assert settings.safety.path_allowlist == ("memory", "MEMORY.md")
    assert not settings.sources.tasks.enabled
    assert settings.calendars == ()
    assert settings.metrics.port == 0
    policy = policy_of(settings)
    assert (policy.watch, policy.on_start, policy.on_search) == (False, False, True)
    assert (policy.interval_seconds, policy.deadline_seconds) == (120, 1.5)
    assert policy_of(whole).interval_seconds == 600


@pytest.mark.parametrize(
    ("search", "window", "overlap"),
    [
        ("{}", 256, 80),
        ("{chunking: {tokens: 100, overlap: 50}}", 100, 50),
        ("{chunking: {tokens: 2000, overlap: 1000}}", 256, 128),
        ("{provider: openai}", 400, 80),
        ("{provider: openai, chunking: {tokens: 2000, overlap: 1000}}", 2000, 1000),
    ],
)
def test_passages_fit_the_model_that_reads_them(tmp_path: Path, search: str, window: int, overlap: int) -> None:
    text = f"agents: {{list: [{{id: peter, memory_search: {search}}}]}}"
    embedding = settings_of(agent(tmp_path, text), MemoryConfig()).embedding
    assert isinstance(embedding, AgentEmbedding)
    assert (embedding.max_tokens, embedding.chunk_overlap) == (window, overlap)


def settings_for(tmp_path: Path, given: str) -> AgentSettings:
    return settings_of(agent(tmp_path, f"agents: {{list: [{{id: peter, {given}}}]}}"), MemoryConfig())


def test_reason_why_an_agent_memory_is_not_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (tmp_path / "file").write_text("x")
    there = f"workspace: {workspace}"
    for given, why in (
        (there, ""),
        (f"{there}, memory_search: false", "its memory_search is turned off"),
        (f"{there}, workspace_access: ro", "its workspace is read-only"),
        (f"{there}, workspaceAccess: none", "it has no access to its workspace"),
        (f"workspace: {tmp_path / 'none'}", "its workspace does not exist"),
        (f"workspace: {tmp_path / 'file'}", "its workspace does not exist"),
        ("workspace: null", "it has no workspace in agents.list"),
    ):
        assert settings_for(tmp_path, given).not_indexed == why, given
    monkeypatch.setattr("os.access", lambda path, mode: mode & 2 == 0)
    assert settings_for(tmp_path, there).not_indexed == "its workspace is read-only"


def test_where_each_value_of_an_agent_comes_from_is_known(tmp_path: Path) -> None:
    loaded(tmp_path, "\nagents:\n  list:\n    - {id: peter, workspace: /w}\n")
    found = load_agent("peter", {"DONNA_HOME": str(tmp_path)})
    assert found is not None
    assert value_of(found.config, "vault.root") == "/w"
    assert found.origins["vault.root"].line == 3
    assert "recall.memories" not in found.origins
    assert load_agent("nobody", {"DONNA_HOME": str(tmp_path)}) is None
