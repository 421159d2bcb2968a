"""The spaces that Donna knows, without starting or writing anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal

from donna_tui.config.agentsettings import settings_of, workspace_of
from donna_tui.config.models import MemoryConfig
from donna_tui.errors import DonnaError, Reason
from donna_tui.paths import AppPaths
from donna_tui.records import dataclass
from donna_tui.space import Space, agent_space, known_spaces, space_at
from donna_tui.tools.status import read_report

State = Literal["indexed", "not_indexed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRow:
    """A space. `id` is what --space takes; `reason` and `message` say why it is not indexed; `keeper` is the process
    that keeps its index now.
    """

    id: str
    kind: Literal["vault", "agent"]
    root: str
    database: str
    state: State
    reason: str = ""
    message: str = ""
    notes: int = 0
    keeper: str = ""

    def fields(self) -> dict[str, Any]:
        """As a row of JSON."""
        return asdict(self)


def list_spaces(config: MemoryConfig, paths: AppPaths) -> list[SpaceRow]:
    """The vaults that were open, the latest first, then the agents in the order of the settings."""
    return [*(_row(space, paths) for space in _vaults(config, paths)), *_agents(config, paths)]


def _vaults(config: MemoryConfig, paths: AppPaths) -> Iterator[Space]:
    known = known_spaces(paths)
    root = config.vault.root
    if root and root.is_dir() and (configured := space_at(root, paths)) not in known:
        yield configured
    yield from known


def _agents(config: MemoryConfig, paths: AppPaths) -> Iterator[SpaceRow]:
    for agent in config.agents.resolved():
        space = agent_space(agent.id, workspace_of(agent), agent.store, paths)
        why = settings_of(agent, config).not_indexed
        yield _row(space, paths, why, root=str(space.root) if agent.workspace else "")


def _row(space: Space, paths: AppPaths, why: str = "", root: str | None = None) -> SpaceRow:
    base: dict[str, Any] = {
        "id": space.agent or str(space.root),
        "kind": "agent" if space.agent else "vault",
        "root": str(space.root) if root is None else root,
        "database": str(space.state),
    }
    if why:
        return SpaceRow(**base, state="not_indexed", reason=Reason.NOT_INDEXED, message=why)
    try:
        report = read_report(space, paths)
    except DonnaError as error:
        return SpaceRow(**base, state="failed", reason=error.reason, message=error.message)
    if not report.database_bytes:
        return SpaceRow(**base, state="not_indexed")
    return SpaceRow(**base, state="indexed", notes=report.coverage.notes, keeper=report.watcher)
