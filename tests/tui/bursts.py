"""Random bursts of terminal input: letters, keys, pastes, mouse and resizes; and the app that receives them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.worker import WorkerFailed

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.action import Pane
from donna_tui.tui.lib.actions import ACTIONS
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.lib.external import Command, ExternalPrograms
from donna_tui.tui.lib.keymap import load_keymap
from donna_tui.tui.shell.first_run import FirstRun
from donna_tui.tui.shell.main import MainScreen
from tests.tui import draft_scenarios, scenarios
from tests.tui.driving import DESKTOP, SIZE, Driver
from tests.tui.fake_backend import FakeBackend
from tests.tui.fake_drafts import FakeDrafts
from tests.tui.vault_scenarios import synced

_WORDS = (
    "why",
    "redis",
    "zzqx",
    ":wq",
    "gateway",
    "-x",
    '"',
    "tag:",
    "#",
    "日本語",
    "é",
    "👩‍👩‍👧",
    "\u202e",
    "a\u0300",
)
_KEYS = (
    *("\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~", "\x1b[3~", "\x1b[2~", "\x1b[Z"),
    *("\x1bOP", "\x1bOR", "\x1b[15~", "\x1b[1;5C", "\x1b[1;5D", "\x1b[1;2A", "\x1b[I", "\x1b[O", "\x1b[97;5u"),
    *("\r", "\r", "\n", "\t", "\x7f", " ", "\x1b", "\x1b"),
)
_CONTROLS = "".join(chr(code) for code in range(1, 27) if chr(code) not in "\x11\x1a")
_BUTTONS = (0, 0, 0, 1, 2, 32, 35, 64, 65, 66, 4, 16)
_SIZES = ((120, 36), (80, 24), (60, 15), (59, 14), (100, 30), (160, 48), (20, 5), (3, 2), (1, 1))


@dataclass(frozen=True)
class Resize:
    """A change of the window's size."""

    size: tuple[int, int]


Part = str | Resize


def burst(chance: random.Random, longest: int = 8) -> list[Part]:
    """Generate a few inputs that arrive at once."""
    return [_part(chance) for _ in range(chance.randint(1, longest))]


def _part(chance: random.Random) -> Part:
    kind = chance.randrange(10)
    if kind < 2:
        return "".join(chance.choice("abcdefghijklmnoprstuvwxyzABDEGHJKMNRSTYZ0123456789/:?+'.,[]") for _ in range(3))
    if kind == 2:
        return chance.choice(_WORDS)
    if kind in (3, 4):
        return chance.choice(_KEYS)
    if kind == 5:
        return chance.choice(_CONTROLS)
    if kind == 6:
        return "\x1b" + chance.choice("abcdefghijklmnopqrstuvwxyz0123456789")
    if kind == 7:
        return (
            f"\x1b[200~{chance.choice(_WORDS) * chance.randint(0, 3)}{chance.choice(('', chr(10), chr(27)))}\x1b[201~"
        )
    if kind == 8:
        return _mouse(chance)
    return (
        Resize(chance.choice(_SIZES)) if chance.random() < 0.4 else "\x1b[" + chance.choice(("", "<", "?1;2c", "99~"))
    )


def _mouse(chance: random.Random) -> str:
    x, y = chance.randint(1, 130), chance.randint(1, 40)
    button = chance.choice(_BUTTONS)
    press = f"\x1b[<{button};{x};{y}M"
    return press + f"\x1b[<{button};{x};{y}m" * chance.randint(0, 1) * (button < 3)


def send(app: DonnaApp, parts: list[Part]) -> None:
    """Send a burst without a pause."""
    driver = app._driver
    assert driver is not None
    parser = XTermParser()
    for part in parts:
        if isinstance(part, Resize):
            _resize(app, part.size)
            continue
        for message in parser.feed(part):
            driver.process_message(message)
    with suppress(EOFError, ParseError):
        for message in parser.feed(""):
            driver.process_message(message)


def _resize(app: DonnaApp, size: tuple[int, int]) -> None:
    from textual.events import Resize as Resized
    from textual.geometry import Size

    assert app._driver is not None
    app._driver._size = Size(*size)
    app.post_message(Resized(Size(*size), Size(*size)))


def backend_of() -> FakeBackend:
    """Return a backend with everything that the screens can show."""
    backend = scenarios.normal()
    backend.vault = synced()
    backend.drafts = backend.calendar = FakeDrafts(backend._enter, backend.vault)
    draft_scenarios.fill(backend.drafts)
    return backend


@asynccontextmanager
async def bursting(folder: Path, patch: pytest.MonkeyPatch, *, first_run: bool = False) -> AsyncIterator[Driver]:
    """Run an app that no key quits, so that bursts go on. External programs are not started."""

    async def nothing(programs: ExternalPrograms, command: Command) -> None:
        return None

    patch.setattr(ExternalPrograms, "_run", nothing)
    known = []
    for name in ("notes", "work"):
        (folder / name).mkdir(exist_ok=True)
        known.append(KnownVault(name, folder / name, "open before"))
    app = DonnaApp(
        lambda choice: backend_of(),
        external=DESKTOP,
        keymap=load_keymap(own={"app.quit": ["f12"]}),
        spaces=lambda: known,
        first_run=FirstRun(known=tuple(known), demo_folder=None) if first_run else None,
    )
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        driver = Driver(app, pilot)
        if not first_run:
            await home(driver)
        yield driver
        await driver.rest()
        if app.screen_stack:
            await driver.main.shut_down()


def check(donna: Driver, where: str) -> None:
    """Fail with the traceback of the error that ended the app, if any."""
    failed = donna.app._exception
    if failed is not None:
        raise AssertionError(where) from (failed.error if isinstance(failed, WorkerFailed) else failed)


async def home(donna: Driver) -> MainScreen:
    """Close every dialog, and wait until the screen is drawn completely."""
    for _ in range(2_000):
        screen = donna.app.screen
        if isinstance(screen, MainScreen):
            if screen.is_complete and screen.strip.status is not None:
                return screen
        else:
            send(donna.app, ["\x1b"])
        await asyncio.sleep(0.01)
        check(donna, f"on the way home from {screen}")
    raise AssertionError(f"the main screen is still covered; {donna.app.screen_stack}")


async def at(donna: Driver, pane: Pane, action_id: str) -> None:
    """Show a screen and run one of its actions, which may open a dialog."""
    main = await home(donna)
    await main.action_run(f"view.{pane}")
    await asyncio.sleep(0.01)
    await main.action_run(action_id)
    await asyncio.sleep(0.02)


PANES: tuple[Pane, ...] = ("search", "vault", "review", "meetings", "memory", "activity")


def places() -> list[tuple[Pane, str]]:
    """Return each screen with each of its actions."""
    found: list[tuple[Pane, str]] = []
    for pane in PANES:
        for action in ACTIONS.values():
            if action.context in (pane, f"{pane}.input", "global") and action.id != "app.quit":
                found.append((pane, action.id))
    return found
