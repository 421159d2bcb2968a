"""Agents with workspaces in a temporary folder, and engines for them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from donna_tui.config.agent_settings import AgentSettings, settings_of
from donna_tui.config.agents import Agent
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.index.generations import current_generation, index_path
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space, agent_space
from donna_tui.types.search import Mode, SearchOutcome, SearchRequest
from tests.engine.helpers import Running, Sandbox, started


@dataclass(frozen=True, slots=True)
class AgentSandbox(Sandbox):
    """An agent, its workspace and Donna's folders, none of which exists yet."""

    agent: Agent
    config: AgentSettings

    @property
    def space(self) -> Space:
        return agent_space(self.agent.id, self.agent.workspace, self.agent.store, self.paths)

    @property
    def database(self) -> Path:
        return index_path(self.space.state, current_generation(self.space.state) or 1)

    @property
    def home(self) -> Path:
        return self.paths.state.parent


def agent_sandbox(folder: Path, named: str = "peter", workspace: str = "{agentId}", **search: Any) -> AgentSandbox:
    """Return an agent without a workspace; `search` is its memory_search, `access` the settings beside that."""
    own: dict[str, Any] = {"id": named, "memory_search": search}
    if access := search.pop("access", None):
        own["workspace_access"] = access
    defaults = {"workspace": str(folder / "ws" / workspace)}
    config = MemoryConfig.model_validate(
        {"agents": {"defaults": defaults, "list": [own]}, "sources": {"vault": {"rename_window_seconds": 0.2}}}
    )
    agent = config.agents.agent(named)
    assert agent is not None
    assert agent.workspace is not None
    home = folder / "home"
    paths = AppPaths(home / "config", home / "state", home / "cache", home / "logs")
    return AgentSandbox(agent.workspace, paths, agent, settings_of(agent, config))


@contextlib.asynccontextmanager
async def agent_engine(sandbox: AgentSandbox, *, watch: bool = False) -> AsyncIterator[Running]:
    """Run an engine on an agent's memory, and stop it even if the test fails."""
    engine = Engine(sandbox.space, sandbox.config, sandbox.paths, watch=watch, what=f"a test of {sandbox.agent.id}")
    async with started(engine) as running:
        yield running


async def fresh(running: Running, text: str, seconds: float | None = 15.0, mode: Mode = "keyword") -> SearchOutcome:
    """Return the result of `search_fresh`."""
    return await running.engine.search_fresh(SearchRequest(text=text, mode=mode, k=32), seconds)


def paths_of(outcome: SearchOutcome) -> list[str]:
    """Return the distinct paths of the hits, sorted."""
    return sorted({hit.path for hit in outcome.hits})


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return everything below a folder, with times and bytes."""
    found = {}
    for each in sorted(folder.rglob("*")):
        stat = each.lstat()
        held = each.read_bytes() if each.is_file() and not each.is_symlink() else b""
        found[str(each)] = (stat.st_mtime_ns, stat.st_ino, held)
    return found
