"""Settings of the agents: where the memory of each is, and what is different for it.

They name folders and servers, so a file in a vault or workspace may not set them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from donna_tui.config.blocks import Block, related
from donna_tui.config.memorysearch import PLACEHOLDER, MemorySearchConfig, Place, both
from donna_tui.records import dataclass

MOST_AGENTS = 200

Access = Literal["rw", "ro", "none"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

B = TypeVar("B", bound=Block)


def may_be_agent(text: str) -> bool:
    """Whether this can be the id of an agent at all."""
    return _ID.fullmatch(text) is not None


def _id(text: str) -> str:
    if not may_be_agent(text):
        raise ValueError("must be up to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit")
    return text


AgentId = Annotated[str, StringConstraints(strict=True), AfterValidator(_id)]


class AgentDefaults(Block):
    """What holds for every agent that does not say otherwise."""

    workspace: Place | None = Field(
        None, description="The folder of an agent, with {agentId} in its name: MEMORY.md and memory/ are read there."
    )
    workspace_access: Access = Field(
        "rw",
        validation_alias=both("workspace_access"),
        description="What an agent may do there; unless it may write, its memory is not indexed.",
    )
    memory_search: MemorySearchConfig = Field(
        default_factory=MemorySearchConfig, validation_alias=both("memory_search")
    )


class AgentConfig(Block):
    """An agent, and what is different for it."""

    id: AgentId = Field(description="Its name, which --space takes.")
    workspace: Place | None = Field(None, description="Its folder, if not the one of agents.defaults.")
    workspace_access: Access | None = Field(
        None, validation_alias=both("workspace_access"), description="If not that of agents.defaults."
    )
    memory_search: MemorySearchConfig = Field(
        default_factory=MemorySearchConfig,
        validation_alias=both("memory_search"),
        description="Settings of agents.defaults.memory_search that are different here; all others stay.",
    )


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent with all that holds for it. `store` is the folder of its index; None means the usual place."""

    id: str
    workspace: Path | None
    access: Access
    search: MemorySearchConfig
    store: Path | None


def _told_apart(agents: tuple[AgentConfig, ...]) -> tuple[AgentConfig, ...]:
    """Names that differ only in case would share a folder on some systems. Raises ValueError."""
    names = [agent.id.casefold() for agent in agents]
    for agent in agents:
        if names.count(agent.id.casefold()) > 1:
            raise ValueError(f"must have names of their own; two are called {agent.id}")
    return agents


Agents = Annotated[tuple[AgentConfig, ...], Field(max_length=MOST_AGENTS), AfterValidator(_told_apart)]


class AgentsConfig(Block):
    """Agents whose memory of Markdown files is indexed and searched, each apart from all others."""

    defaults: AgentDefaults = Field(default_factory=AgentDefaults)
    list: Agents = Field(
        (), description="The agents: [{id: peter, workspace: ~/agents/peter}]. Settings of one are below it."
    )

    @model_validator(mode="after")
    def _each_can_work(self) -> AgentsConfig:
        block = "agents.defaults.memory_search.chunking"
        if not _advances(self.defaults.memory_search):
            message = f"{block}.overlap must be at most half of {block}.tokens"
            raise related(message, f"{block}.overlap", f"{block}.tokens")
        places: dict[Path, str] = {}
        workspaces = [agent.workspace for agent in self.resolved() if agent.workspace]
        for agent in self.resolved():
            if problem := _problem(agent, workspaces) or _shared(agent, places):
                raise related(f"agents.list: {agent.id}: {problem}", "agents.list")
        return self

    def resolved(self) -> tuple[Agent, ...]:
        """Every agent, its own settings over the defaults."""
        return tuple(self._resolved(each) for each in self.list)

    def agent(self, named: str) -> Agent | None:
        """The agent of this id; None if there is none."""
        return next((agent for agent in self.resolved() if agent.id == named), None)

    def _resolved(self, own: AgentConfig) -> Agent:
        search = _over(self.defaults.memory_search, own.memory_search)
        store = _filled(search.store.path, own.id)
        return Agent(
            id=own.id,
            workspace=_filled(own.workspace or self.defaults.workspace, own.id),
            access=own.workspace_access or self.defaults.workspace_access,
            search=search,
            store=store.with_suffix("") if store and store.suffix in (".sqlite", ".db") else store,
        )


def _over(base: B, own: B) -> B:
    """The settings that were given in `own`, over those of `base`."""
    given = {name: (getattr(base, name), getattr(own, name)) for name in own.model_fields_set}
    return base.model_copy(
        update={name: _over(low, high) if isinstance(high, Block) else high for name, (low, high) in given.items()}
    )


def _filled(template: Path | None, agent: str) -> Path | None:
    return None if template is None else Path(PLACEHOLDER.sub(agent, str(template)))


def _advances(search: MemorySearchConfig) -> bool:
    return search.chunking.overlap * 2 <= search.chunking.tokens


def _problem(agent: Agent, workspaces: Sequence[Path]) -> str:
    if not _advances(agent.search):
        return "memory_search.chunking.overlap must be at most half of tokens"
    if agent.store and any(_real(agent.store).is_relative_to(_real(workspace)) for workspace in workspaces):
        return "memory_search.store.path must not be in a workspace"
    return ""


def _real(path: Path) -> Path:
    """Where a path leads, links followed as far as they are there."""
    return Path(os.path.realpath(path))


def _shared(agent: Agent, places: dict[Path, str]) -> str:
    """Two agents must not share an index, or they would see each other's memory."""
    if agent.store is None:
        return ""
    other = places.setdefault(_real(agent.store), agent.id)
    return "" if other == agent.id else f"memory_search.store.path is that of {other} too; put {{agentId}} in it"
