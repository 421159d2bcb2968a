"""The settings of an agent's space: those of the user, overridden by the agent's own blocks."""

from __future__ import annotations

import os
from typing import Any

from donna_tui.config.agents import Agent, RemoteConfig
from donna_tui.config.models import MODEL, EmbeddingConfig, MemoryConfig
from donna_tui.types.errors import Reason, SpaceError

SOURCE_FILE = "MEMORY.md"
SOURCE_FOLDER = "memory"

LOCAL_WINDOW = 256
"""Maximum number of tokens that the default model reads."""


class AgentEmbedding(EmbeddingConfig):
    """Embedding settings of an agent. `provider` and `dim` are those of the local model."""

    first: str
    fallback: str
    remote_model: str
    remote: RemoteConfig


class AgentSettings(MemoryConfig):
    """Settings of an agent's space. Components that receive them read the sources of the agent only."""

    agent: Agent

    @property
    def not_indexed(self) -> str:
        """Return why this memory is not indexed, as a predicate that follows its name; empty if it is."""
        workspace = self.agent.workspace
        if not self.agent.search.enabled:
            return "its memory_search is turned off"
        if workspace is None:
            return "it has no workspace in agents.list"
        if self.agent.access != "rw":
            return "it has no access to its workspace" if self.agent.access == "none" else "its workspace is read-only"
        if not os.path.isdir(workspace):  # noqa: PTH112 - it never raises, whatever the path
            return "its workspace does not exist"
        return "" if os.access(workspace, os.R_OK | os.W_OK | os.X_OK) else "its workspace is read-only"

    def require_indexed(self) -> None:
        """Raise SpaceError (`not_indexed`) unless this memory may be indexed and changed."""
        if self.not_indexed:
            raise not_indexed(self)


def not_indexed(settings: AgentSettings) -> SpaceError:
    message = f"the memory of {settings.agent.id} is not indexed: {settings.not_indexed}"
    return SpaceError(Reason.NOT_INDEXED, message, hint="check agents in your settings; donna spaces lists them")


def settings_of(agent: Agent, config: MemoryConfig) -> AgentSettings:
    """Derive the settings of an agent from the user's: nothing is drafted, and only its own notes are a source."""
    search = agent.search
    overrides: dict[str, Any] = {
        "vault": config.vault.model_copy(update={"root": agent.workspace}),
        "safety": config.safety.model_copy(update={"path_allowlist": (SOURCE_FOLDER, SOURCE_FILE)}),
        "embedding": _embedding(agent, config.embedding),
        "retrieval": config.retrieval.model_copy(
            update={
                "default_k": search.query.max_results,
                "max_k": max(config.retrieval.max_k, search.query.max_results),
                "min_score": search.query.min_score,
            }
        ),
        "sources": config.sources.model_copy(
            update={
                name: getattr(config.sources, name).model_copy(update={"enabled": False})
                for name in ("chat", "tasks", "corrections")
            }
        ),
        "calendars": (),
        "metrics": config.metrics.model_copy(update={"port": 0}),
    }
    same = {name: getattr(config, name) for name in MemoryConfig.model_fields}
    return AgentSettings.model_construct(**{**same, **overrides}, agent=agent)


def _embedding(agent: Agent, embedding: EmbeddingConfig) -> AgentEmbedding:
    search = agent.search
    is_default_model = search.provider == "local" and embedding.provider == MODEL
    window = min(search.chunking.tokens, LOCAL_WINDOW) if is_default_model else search.chunking.tokens
    same = {name: getattr(embedding, name) for name in EmbeddingConfig.model_fields}
    overrides = {"max_tokens": window, "chunk_overlap": min(search.chunking.overlap, window // 2)}
    return AgentEmbedding.model_construct(
        **{**same, **overrides},
        first=search.provider,
        fallback=search.fallback,
        remote_model=search.model,
        remote=search.remote,
    )
