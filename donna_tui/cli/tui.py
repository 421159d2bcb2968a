"""Implement `donna open` and `donna demo`: run the full-screen app."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from donna_tui.cli.demo_vault import demo_folder, demo_notes, make_demo
from donna_tui.cli.failure import AppCrashError
from donna_tui.cli.options import SpaceOption, new_app
from donna_tui.cli.output import print_message
from donna_tui.cli.session import Session, find_session, open_session, session_for
from donna_tui.config.agent_settings import AgentSettings
from donna_tui.config.load import load_config, load_trusted
from donna_tui.config.models import UiConfig
from donna_tui.platform.paths import AppPaths, app_paths
from donna_tui.platform.spaces import known_spaces, space_at
from donna_tui.types.errors import Reason, SpaceError

if TYPE_CHECKING:
    from donna_tui.tui.lib.backend import Backend, KnownVault
    from donna_tui.tui.shell.first_run import FirstRun, VaultChoice
    from donna_tui.types.events import Listener

app = new_app()

SWITCH_SECONDS = 0.001
"""Python's thread switch interval.

With the default of 5 ms, handling a key repeatedly waits that long while notes are imported; 1 ms draws the slowest 5 %
of keys a fifth sooner.
"""


@app.command("open")
def open_space(
    where: Annotated[
        str | None, typer.Argument(metavar="SPACE", help="A folder of notes, or the name of a space.")
    ] = None,
    space: SpaceOption = None,
) -> None:
    """Open the full-screen app (what `donna SPACE` does)."""
    require_terminal()
    session = find_session(space if where is None else where)
    _open(_indexed(session) if session else None)


@app.command("demo")
def demo() -> None:
    """Open the full-screen app on a fresh demo vault."""
    require_terminal()
    paths = app_paths().make()
    folder = make_demo(demo_folder(paths))
    _open(session_for(space_at(folder, paths), paths), is_demo=True)


def require_terminal() -> None:
    """Raise SpaceError (`no_terminal`) unless stdin and stdout are a capable terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        hint = "in scripts use donna search, donna index, donna status"
        raise SpaceError(Reason.NO_TERMINAL, "the full-screen app needs a terminal", hint=hint)


def _open(session: Session | None, *, is_demo: bool = False) -> None:
    from donna_tui.tui.app import DonnaApp
    from donna_tui.tui.gc_tuning import GcTuning
    from donna_tui.tui.lib.keymap import load_keymap
    from donna_tui.tui.terminal import restored_terminal
    from donna_tui.tui.themes import ThemeMemory
    from donna_tui.vault.git.command import is_running

    gc.freeze()  # what is imported stays
    tuning = GcTuning()
    paths = app_paths()
    ui: UiConfig = session.config.ui if session else load_config().config.ui
    themes = ThemeMemory(paths.state, ui.theme)
    screen = DonnaApp(
        lambda choice: _backend(session, choice, paths, tuning, is_demo=is_demo),
        keymap=load_keymap(ui.keymap, ui.keys),
        theme=themes.theme(),
        space_name=session.space.name if session else "",
        first_run=None if session else _first_run(paths),
        spaces=lambda: _spaces(paths),
        pressed=tuning.pressed,
        save_theme=themes.save,
        first_notes=demo_notes(session.space.root) if session and is_demo else (),
        is_git_running=is_running,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    with restored_terminal():
        screen.run()
    print_message(*screen.last_words)
    if screen.failure is not None:
        raise AppCrashError from screen.failure
    if screen.return_code:
        raise SystemExit(screen.return_code)


def _indexed(session: Session) -> Session:
    """Raise SpaceError (`not_indexed`) for the memory of an agent that is not indexed."""
    if isinstance(session.config, AgentSettings):
        session.config.require_indexed()
    return session


def _backend(
    session: Session | None, choice: VaultChoice | None, paths: AppPaths, listener: Listener, *, is_demo: bool = False
) -> Backend:
    """Build the engine of a space. A demo vault is filled here, off the event loop, since that is slow."""
    from donna_tui.engine.engine import Engine

    if choice is not None and choice.space:
        session = _indexed(open_session(choice.space))
    elif choice is not None:
        is_demo = choice.is_demo
        session = session_for(space_at(make_demo(choice.root) if is_demo else choice.root, paths), paths)
    if session is None:
        raise SpaceError(Reason.NO_VAULT, "no vault is chosen", hint="donna ~/notes")
    if is_demo:
        from donna_tui.cli.demo import fill_demo

        fill_demo(session)
    engine = Engine(session.space, session.config, session.paths, what="the Donna app")
    engine.subscribe(listener)
    return engine


def _spaces(paths: AppPaths) -> Iterator[KnownVault]:
    """Yield known vaults, last opened first; then agents, and vaults of Obsidian."""
    from donna_tui.tui.lib.backend import KnownVault
    from donna_tui.vault.obsidian import known_vaults

    seen = set[Path]()
    for space in known_spaces(paths):
        seen.add(space.root)
        yield KnownVault(space.name, space.root, "opened before")
    for agent in load_trusted().config.agents.resolved():
        if agent.workspace:
            yield KnownVault(agent.id, Path(os.path.realpath(agent.workspace)), "agent", agent.id)
    for root in known_vaults(os.environ):
        if root not in seen:
            yield KnownVault(root.name, root, "Obsidian")


def _first_run(paths: AppPaths) -> FirstRun:
    from donna_tui.tui.lib.backend import KnownVault
    from donna_tui.tui.shell.first_run import FirstRun
    from donna_tui.vault.obsidian import known_vaults

    known = tuple(KnownVault(root.name, root, "Obsidian") for root in known_vaults(os.environ))
    return FirstRun(known=known, demo_folder=demo_folder(paths))
