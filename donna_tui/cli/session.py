"""Open the space and settings of a command, and an engine while the command runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from donna_tui.cli.output import print_problem
from donna_tui.config.agent_settings import settings_of
from donna_tui.config.agents import may_be_agent
from donna_tui.config.load import load_config, load_trusted
from donna_tui.config.models import MemoryConfig
from donna_tui.platform.paths import AppPaths, app_paths
from donna_tui.platform.spaces import Space, agent_space, find_space
from donna_tui.types.errors import DonnaError, Reason, SpaceError

if TYPE_CHECKING:
    from donna_tui.engine.engine import Engine
    from donna_tui.types.events import EngineEvent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """A space with its settings, and the paths of Donna's files."""

    space: Space
    config: MemoryConfig
    paths: AppPaths


def find_session(named: str | None) -> Session | None:
    """Return the session for the named agent or space, the configured vault, or the last opened one; None without one.

    The id of an agent takes precedence over a folder of that name; settings in its workspace are ignored, since an
    agent may write there. Raises SpaceError and ConfigError.
    """
    refuse_empty(named)
    paths = app_paths()
    if named and may_be_agent(named):
        config = load_trusted().config
        if agent := config.agents.agent(named):  # its memory exists even if nothing is indexed
            space = agent_space(agent.id, agent.workspace, agent.store, paths)
            return Session(space, settings_of(agent, config), paths)
    found = find_space(named, None if named else load_config().config.vault.root, paths)
    return session_for(found, paths) if found else None


def refuse_empty(named: str | None) -> None:
    """Raise DonnaError for an empty name, as from an unset variable of a script: it must not act on another vault."""
    if named == "":
        raise DonnaError(Reason.USAGE, "the name of the space is empty", hint="name a folder, a space or an agent")


def session_for(space: Space, paths: AppPaths) -> Session:
    """Return the session for the space of a vault. Raises ConfigError."""
    return Session(space, load_config(root=space.root).config, paths)


def open_session(named: str | None, *, everywhere: bool = False) -> Session:
    """Find the session like `find_session`. A search `everywhere` can also begin with an agent whose memory is indexed.

    Raises SpaceError if there is none.
    """
    session = find_session(named)
    if session is None and everywhere:
        config = load_trusted().config
        agents = (agent for agent in config.agents.resolved() if not settings_of(agent, config).not_indexed)
        session = next((found for agent in agents if (found := find_session(agent.id))), None)
    if session is None:
        hint = "name one with --space ~/notes, or open one first: donna ~/notes"
        raise SpaceError(Reason.NO_VAULT, "no vault is chosen", hint=hint)
    return session


@contextlib.asynccontextmanager
async def engine_for(
    session: Session, what: str, *, watch: bool = False, semantic: bool = True
) -> AsyncIterator[Engine]:
    """Run an engine; `watch` follows changes, `semantic` announces queries for which it needs the model."""
    from donna_tui.engine.engine import Engine

    engine = Engine(session.space, session.config, session.paths, watch=watch, what=what, semantic=semantic)
    engine.hub.subscribe(_report_damage)
    try:
        await engine.start()
        yield engine
    finally:
        await engine.stop()


def _report_damage(event: EngineEvent) -> None:
    from donna_tui.types.events import ProblemRaised

    if isinstance(event, ProblemRaised) and event.reason is Reason.DATABASE_CORRUPT and not event.path:
        print_problem(event.message, event.hint)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def run_with_engine(session: Session, what: str, work: Callable[[Engine], Awaitable[T]], *, semantic: bool = True) -> T:
    """Run the work of a command with an engine, as `engine_for` does."""

    async def working() -> T:
        async with engine_for(session, what, semantic=semantic) as engine:
            return await work(engine)

    return run(working())
