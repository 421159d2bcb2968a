"""Settings of agents: the location of each agent's memory, how it is searched, and each agent's overrides.

They name folders and servers, so a file in a vault or workspace may not set them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

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


def snake_or_camel(name: str) -> AliasChoices:
    """Return the aliases of a name in snake case and in camel case."""
    return AliasChoices(name, to_camel(name))


def _field(name: str, default: object, description: str, ge: float | None = None, le: float | None = None) -> Any:
    """Define a setting that may also be written in camel case."""
    return Field(default, validation_alias=snake_or_camel(name), description=description, ge=ge, le=le)


def _check_placeholders(path: Path) -> Path:
    if not set(PLACEHOLDER.findall(str(path))) <= {"agentId", "agent_id"}:
        raise ValueError("may contain {agentId} and nothing else in braces")
    return path


PathTemplate = Annotated[AbsolutePath, AfterValidator(_check_placeholders)]
"""A path that may contain the agent's name."""

Flag = Annotated[bool, Field(strict=True)]


class StoreConfig(Block):
    """The location of an agent's index."""

    driver: Literal["sqlite"] = Field("sqlite", description="The storage of the index.")
    path: PathTemplate | None = Field(
        None,
        description=(
            "The folder of the index, with {agentId} in its name; a name such as {agentId}.sqlite means the folder "
            "{agentId}. By default in Donna's own folder."
        ),
    )


class RemoteConfig(Block):
    """The server of the provider openai: OpenAI's own, or a compatible one."""

    base_url: Server = _field("base_url", OPENAI, "The address of the server; http:// only on this machine.")
    api_key_env: Variable | None = _field(
        "api_key_env",
        None,
        "The environment variable that holds the key; for OpenAI's own server that is OPENAI_API_KEY.",
    )
    timeout_seconds: Number = _field("timeout_seconds", 30.0, "The timeout of a call, in seconds.", ge=0.1, le=600)

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

    tokens: Whole = Field(
        400,
        ge=32,
        le=LONGEST_PASSAGE,
        description="The maximum length of a passage, in tokens; the local model reads 256.",
    )
    overlap: Whole = Field(
        80, ge=0, le=LONGEST_PASSAGE, description="The overlap of adjacent passages, in tokens; at most half of tokens."
    )

    @property
    def advances(self) -> bool:
        return self.overlap * 2 <= self.tokens


class SyncConfig(Block):
    """The times at which an agent's index is updated."""

    on_session_start: Flag = _field("on_session_start", True, "Whether the index is updated when a session begins.")
    on_search: Flag = _field("on_search", True, "Whether it is updated before a search, if something may have changed.")
    watch: Flag = Field(True, description="Whether it is updated as files change, while Donna runs.")
    watch_debounce_ms: Whole = _field(
        "watch_debounce_ms",
        1_500,
        "How long files must be unchanged before they are indexed, in milliseconds.",
        ge=0,
        le=600_000,
    )
    interval_minutes: Number = _field(
        "interval_minutes", 0, "The interval of further updates, in minutes; 0 for none.", ge=0, le=10_080
    )
    search_deadline_ms: Whole = _field(
        "search_deadline_ms",
        5_000,
        "How long a search waits for an update, in milliseconds, before it answers and says that it is stale.",
        ge=0,
        le=600_000,
    )


class QueryConfig(Block):
    """Limits on the results of an agent's searches."""

    max_results: Whole = _field("max_results", 6, "The default number of hits.", ge=1, le=1_024)
    min_score: Number = _field("min_score", 0.35, "The minimum cosine similarity of a semantic hit.", ge=0, le=1)


class MemorySearchConfig(Switch):
    """The search of an agent's memory. It can also be turned on or off with a plain true or false."""

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


MAX_AGENTS = 200

Access = Literal["rw", "ro", "none"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

B = TypeVar("B", bound=Block)


def may_be_agent(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def _id(text: str) -> str:
    if not may_be_agent(text):
        raise ValueError("must be up to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit")
    return text


AgentId = Annotated[str, StringConstraints(strict=True), AfterValidator(_id)]


class AgentDefaults(Block):
    """The defaults for every agent."""

    workspace: PathTemplate | None = Field(
        None, description="The folder of an agent, with {agentId} in its name: MEMORY.md and memory/ are read there."
    )
    workspace_access: Access = _field(
        "workspace_access", "rw", "What an agent is allowed to do there; its memory is indexed only if it may write."
    )
    memory_search: MemorySearchConfig = Field(
        default_factory=MemorySearchConfig, validation_alias=snake_or_camel("memory_search")
    )


class AgentConfig(Block):
    """An agent, with the settings that override the defaults."""

    id: AgentId = Field(description="The name of the agent, for --space.")
    workspace: PathTemplate | None = Field(
        None, description="The folder of the agent, if it differs from agents.defaults."
    )
    workspace_access: Access | None = _field(
        "workspace_access", None, "The access of the agent, if it differs from agents.defaults."
    )
    memory_search: MemorySearchConfig = Field(
        default_factory=MemorySearchConfig,
        validation_alias=snake_or_camel("memory_search"),
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


Agents = Annotated[tuple[AgentConfig, ...], Field(max_length=MAX_AGENTS), AfterValidator(_distinct)]


class AgentsConfig(Block):
    """Agents whose memory of Markdown files is indexed and searched, each separately."""

    defaults: AgentDefaults = Field(default_factory=AgentDefaults)
    list: Agents = Field(
        (), description="The agents: [{id: peter, workspace: ~/agents/peter}]. Each has the settings below."
    )

    @model_validator(mode="after")
    def _each_can_work(self) -> AgentsConfig:
        block = "agents.defaults.memory_search.chunking"
        if not self.defaults.memory_search.chunking.advances:
            message = f"{block}.overlap must be at most half of {block}.tokens"
            raise related(message, f"{block}.overlap", f"{block}.tokens")
        stores: dict[Path, str] = {}
        agents = self.resolved()
        workspaces = [agent.workspace for agent in agents if agent.workspace]
        for agent in agents:
            if problem := _problem(agent, workspaces, stores):
                raise related(f"agents.list: {agent.id}: {problem}", "agents.list")
        return self

    def resolved(self) -> tuple[Agent, ...]:
        return tuple(self._resolved(agent) for agent in self.list)

    def agent(self, named: str) -> Agent | None:
        return next((agent for agent in self.resolved() if agent.id == named), None)

    def _resolved(self, agent: AgentConfig) -> Agent:
        search = _merged(self.defaults.memory_search, agent.memory_search)
        store = _with_name(search.store.path, agent.id)
        return Agent(
            id=agent.id,
            workspace=_with_name(agent.workspace or self.defaults.workspace, agent.id),
            access=agent.workspace_access or self.defaults.workspace_access,
            search=search,
            store=store.with_suffix("") if store and store.suffix in (".sqlite", ".db") else store,
        )


def _merged(base: B, own: B) -> B:
    """Replace the settings of a block by those that are set in another one."""
    overrides = {name: (getattr(base, name), getattr(own, name)) for name in own.model_fields_set}
    update = {name: _merged(old, new) if isinstance(new, Block) else new for name, (old, new) in overrides.items()}
    return base.model_copy(update=update)


def _with_name(template: Path | None, agent: str) -> Path | None:
    return None if template is None else Path(PLACEHOLDER.sub(agent, str(template)))


def _problem(agent: Agent, workspaces: Sequence[Path], stores: dict[Path, str]) -> str:
    """Return what is wrong with an agent, or an empty string. `stores` are the agents so far, by their index folder."""
    if not agent.search.chunking.advances:
        return "memory_search.chunking.overlap must be at most half of tokens"
    if agent.store is None:
        return ""
    store = Path(os.path.realpath(agent.store))  # with symbolic links resolved as far as they exist
    if any(store.is_relative_to(os.path.realpath(workspace)) for workspace in workspaces):
        return "memory_search.store.path must not be in a workspace"
    other = stores.setdefault(store, agent.id)
    return "" if other == agent.id else f"memory_search.store.path is that of {other} too; put {{agentId}} in it"
