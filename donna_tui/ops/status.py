"""Report the state of spaces without starting or writing anything."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from donna_tui.config.agent_settings import settings_of
from donna_tui.config.models import MemoryConfig
from donna_tui.embedding import files
from donna_tui.embedding.prepare import prepared_model
from donna_tui.engine.status_reporter import file_bytes
from donna_tui.index.database import Database, open_database
from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.generations import current_generation, index_path, recipe_of
from donna_tui.index.vector_backend import reading_vectors
from donna_tui.ingest.progress import count, file_problems
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space, SpaceLock, agent_space, known_spaces, space_at
from donna_tui.types.errors import DonnaError, ModelError, Reason
from donna_tui.types.status import Coverage, Problem

_PROBLEM = ("id", "reason", "path", "message", "hint")
"""The fields of a problem in the output of commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceReport:
    """The state of a space. `watcher` maintains the index; `unindexed` are (path, state, reason, message).

    `missing` is the number of indexed notes that are no longer in the vault, if they were counted.
    """

    space: Space
    database: str
    model: str
    watcher: str
    database_bytes: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    embedding: str = ""
    vector_engine: str = ""
    problems: tuple[Problem, ...] = ()
    unindexed: tuple[tuple[str, str, str, str], ...] = ()
    missing: int = 0

    def fields(self) -> dict[str, Any]:
        return {
            "space": self.space.name,
            "root": str(self.space.root),
            "root_exists": self.space.root.is_dir(),
            "database": self.database,
            "database_bytes": self.database_bytes,
            "coverage": asdict(self.coverage),
            "missing": self.missing,
            "queue": self.coverage.chunks - self.coverage.chunks_embedded,
            "model": self.model,
            "embedding_version": self.embedding,
            "vector_engine": self.vector_engine,
            "watcher": self.watcher,
            "problems": [{name: getattr(problem, name) for name in _PROBLEM} for problem in self.problems],
            "files": [
                {"id": path, "path": path, "state": state, "reason": reason, "message": message}
                for path, state, reason, message in self.unindexed
            ],
        }


def read_report(space: Space, paths: AppPaths, *, count_missing: bool = False) -> SpaceReport:
    """Read the index of a space without changing it, and with `count_missing` look for each indexed note in the vault.

    Raises DatabaseError if the index exists and cannot be read.
    """
    generation = current_generation(space.state)
    path = index_path(space.state, generation or 1)
    empty = SpaceReport(space=space, database=str(path), model=model_files_state(paths), watcher=maintainer_of(space))
    if generation is None or not path.exists():
        return empty
    with contextlib.closing(open_database(path, read_only=True)) as database:
        return replace(
            empty,
            database_bytes=file_bytes(database.path),
            coverage=count(database),
            embedding=recipe_of(database).embedding,
            vector_engine=reading_vectors(database, ExactScan(), long_running=False).name,
            problems=file_problems(database),
            unindexed=tuple(database.rows(_UNINDEXED)),
            missing=_missing(space.root, database) if count_missing and space.root.is_dir() else 0,
        )


def _missing(root: Path, database: Database) -> int:
    indexed = database.column("SELECT path FROM file_states WHERE state = 'indexed'")
    return sum(not os.path.lexists(root / path) for path in indexed)


_UNINDEXED = "SELECT path, state, reason, message FROM file_states WHERE state <> 'indexed' ORDER BY path"


def maintainer_of(space: Space) -> str:
    """Return the process that maintains the index of a space; empty if there is none."""
    if not space.state.is_dir():
        return ""
    lock = SpaceLock(space.state)
    if lock.acquire("donna status"):
        lock.release()
        return ""
    return lock.owner() or "another program"


def model_files_state(paths: AppPaths) -> str:
    """Return `prepared`, `installed` (it is prepared at the next start), `missing`, or `damaged`."""
    try:
        if prepared_model(paths.cache):
            return "prepared"
    except ModelError:
        return "damaged"
    if files.weights_folder(files.models_folder(paths.cache)):
        return "installed"
    return "damaged" if files.export_folder(paths.cache).exists() else "missing"


State = Literal["indexed", "not_indexed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRow:
    """A row of the list of spaces. `id` is for --space; `reason` and `message` say why it is not indexed."""

    id: str
    kind: Literal["vault", "agent"]
    root: str
    database: str
    state: State
    reason: str = ""
    message: str = ""
    notes: int = 0
    maintainer: str = ""


def list_spaces(config: MemoryConfig, paths: AppPaths) -> list[SpaceRow]:
    """List the vaults, last opened first, then the agents in the order of the settings."""
    vaults, root = known_spaces(paths), config.vault.root
    if root and root.is_dir() and (configured := space_at(root, paths)) not in vaults:
        vaults.insert(0, configured)
    rows = [_row(space, paths) for space in vaults]
    for agent in config.agents.resolved():
        space = agent_space(agent.id, agent.workspace, agent.store, paths)
        why = settings_of(agent, config).not_indexed
        rows.append(_row(space, paths, why, root=str(space.root) if agent.workspace else ""))
    return rows


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
    return SpaceRow(**base, state="indexed", notes=report.coverage.notes, maintainer=report.watcher)
