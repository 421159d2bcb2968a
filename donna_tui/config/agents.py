"""Settings of agents: the location, search and deviations of each agent's memory.

They name folders and servers, so a file in a vault or workspace may not set them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, AliasChoices, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from donna_tui.config.blocks import AbsolutePath, Block, Line, Number, Switch, Whole, related
from donna_tui.config.routes import Server, Variable
from donna_tui.platform.addresses import host_of, is_this_machine

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
LONGEST_PASSAGE = 8_000
"""Maximum tokens of an OpenAI embedding model, reduced to allow for differences of their tokenizer."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def both(name: str) -> AliasChoices:
    """Return the aliases of a name in snake case and in camel case."""
    return AliasChoices(name, to_camel(name))


def _place(path: Path) -> Path:
    """Check a path that may contain the agent's name. Raises ValueError."""
    for name in PLACEHOLDER.findall(str(path)):
        if name not in ("agentId", "agent_id"):
            raise ValueError("may contain {agentId} and nothing else in braces")
    return path


Place = Annotated[AbsolutePath, AfterValidator(_place)]
Flag = Annotated[bool, Field(strict=True)]


class StoreConfig(Block):
    """The location of an agent's index."""

    driver: Literal["sqlite"] = Field("sqlite", description="The storage of the index.")
    path: Place | None = Field(
        None,
        description=(
            "A folder for it, with {agentId} in its name; a name such as {agentId}.sqlite means the folder "
            "{agentId}. Without one it is in Donna's own."
        ),
    )


class RemoteConfig(Block):
    """The server of the provider openai: OpenAI's own, or a compatible one."""

    base_url: Server = Field(
        OPENAI, validation_alias=both("base_url"), description="Its address; http:// only on this machine."
    )
    api_key_env: Variable | None = Field(
        None,
        validation_alias=both("api_key_env"),
        description="The environment variable that holds the key; for OpenAI's own server that is OPENAI_API_KEY.",
    )
    timeout_seconds: Number = Field(
        30.0,
        ge=0.1,
        le=600,
        validation_alias=both("timeout_seconds"),
        description="The timeout of a call, in seconds.",
    )

    @property
    def is_local(self) -> bool:
        """Return whether the server is on this machine, so that private notes may be sent to it."""
        return is_this_machine(host_of(self.base_url))

    @property
    def key_variable(self) -> str | None:
        """Return the variable with the key. OpenAI's key is sent to another server only if it is named explicitly."""
        usual = OPENAI_KEY if host_of(self.base_url) == host_of(OPENAI) else None
        return self.api_key_env or usual


class ChunkingConfig(Block):
    """The chunking of an agent's notes."""

    tokens: Whole = Field(400, ge=32, le=LONGEST_PASSAGE, description="Longest passage; the local model reads 256.")
    overlap: Whole = Field(
        80, ge=0, le=LONGEST_PASSAGE, description="Tokens that neighbours have in common; at most half of tokens."
    )


class SyncConfig(Block):
    """The times at which an agent's index is updated."""

    on_session_start: Flag = Field(
        True, validation_alias=both("on_session_start"), description="When a session begins."
    )
    on_search: Flag = Field(
        True, validation_alias=both("on_search"), description="Before a search, if something may have changed."
    )
    watch: Flag = Field(True, description="As files change, for as long as Donna runs.")
    watch_debounce_ms: Whole = Field(
        1_500,
        ge=0,
        le=600_000,
        validation_alias=both("watch_debounce_ms"),
        description="How long files must be unchanged before they are indexed, in milliseconds.",
    )
    interval_minutes: Number = Field(
        0, ge=0, le=10_080, validation_alias=both("interval_minutes"), description="Interval in minutes; 0 for never."
    )
    search_deadline_ms: Whole = Field(
        5_000,
        ge=0,
        le=600_000,
        validation_alias=both("search_deadline_ms"),
        description="How long a search waits for that, in milliseconds; then it answers and says that it is stale.",
    )


class QueryConfig(Block):
    """Limits on the results of an agent's searches."""

    max_results: Whole = Field(
        6, ge=1, le=1_024, validation_alias=both("max_results"), description="The default number of hits."
    )
    min_score: Number = Field(
        0.35,
        ge=0,
        le=1,
        validation_alias=both("min_score"),
        description="The least cosine similarity of a semantic hit.",
    )


class MemorySearchConfig(Switch):
    """The search of an agent's memory. It can also be switched with a plain true or false."""

    provider: Literal["local", "openai"] = Field(
        "local", description="The embedding provider: the model of embedding.provider on this machine, or a server."
    )
    fallback: Literal["none", "openai"] = Field(
        "none", description="The embedding provider if local is not available; none: keyword search only."
    )
    model: Line = Field("text-embedding-3-small", description="The model of the provider openai.")
    remote: RemoteConfig = Field(default_factory=RemoteConfig)
    store: StoreConfig = Field(default_factory=StoreConfig)
    chunking: ChunkingConfig = Field(default_factory=ChunkingConfig)
    sync: SyncConfig = Field(default_factory=SyncConfig)
    query: QueryConfig = Field(default_factory=QueryConfig)


MOST_AGENTS = 200

Access = Literal["rw", "ro", "none"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

B = TypeVar("B", bound=Block)


def may_be_agent(text: str) -> bool:
    """Return whether this is a valid agent id."""
    return _ID.fullmatch(text) is not None


def _id(text: str) -> str:
    if not may_be_agent(text):
        raise ValueError("must be up to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit")
    return text


AgentId = Annotated[str, StringConstraints(strict=True), AfterValidator(_id)]


class AgentDefaults(Block):
    """The defaults for every agent."""

    workspace: Place | None = Field(
        None, description="The folder of an agent, with {agentId} in its name: MEMORY.md and memory/ are read there."
    )
    workspace_access: Access = Field(
        "rw",
        validation_alias=both("workspace_access"),
        description="What an agent is allowed to do there; its memory is indexed only if it may write.",
    )
    memory_search: MemorySearchConfig = Field(
        default_factory=MemorySearchConfig, validation_alias=both("memory_search")
    )


class AgentConfig(Block):
    """An agent, with its deviations from the defaults."""

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
    """An agent with its resolved settings. `store` is the folder of its index; None means the default folder."""

    id: str
    workspace: Path | None
    access: Access
    search: MemorySearchConfig
    store: Path | None


def _distinct(agents: tuple[AgentConfig, ...]) -> tuple[AgentConfig, ...]:
    """Reject ids that differ only in case, as they would share a folder on some systems. Raises ValueError."""
    names = [agent.id.casefold() for agent in agents]
    for agent in agents:
        if names.count(agent.id.casefold()) > 1:
            raise ValueError(f"must have different names; two are called {agent.id}")
    return agents


Agents = Annotated[tuple[AgentConfig, ...], Field(max_length=MOST_AGENTS), AfterValidator(_distinct)]


class AgentsConfig(Block):
    """Agents whose memory of Markdown files is indexed and searched, each separately."""

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
        """Return every agent, with its own settings merged over the defaults."""
        return tuple(self._resolved(each) for each in self.list)

    def agent(self, named: str) -> Agent | None:
        """Return the agent with this id, or None."""
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
    """Merge the settings given in `own` over those of `base`."""
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
    """Resolve a path and its symbolic links as far as they exist."""
    return Path(os.path.realpath(path))


def _shared(agent: Agent, places: dict[Path, str]) -> str:
    """Return the problem if two agents share an index, by which they would see each other's memory."""
    if agent.store is None:
        return ""
    other = places.setdefault(_real(agent.store), agent.id)
    return "" if other == agent.id else f"memory_search.store.path is that of {other} too; put {{agentId}} in it"
