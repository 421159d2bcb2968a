"""Pictures of every screen in every state. After a wanted change: `pytest tests/snapshots --snapshot-update`.

The pictures hold for the Textual version that `pyproject.toml` pins for development.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input, OptionList

from donna_tui.tui.activity.pane import ActivityPane
from donna_tui.tui.app import DonnaApp
from donna_tui.tui.bridge import FLUSH_SECONDS
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.shell.first_run import FirstRun
from donna_tui.tui.shell.spaces import SpacePicker
from donna_tui.tui.vault.pane import RELOAD_DELAY
from donna_tui.types.memory import TaskRow
from tests.tui import hostile, scenarios
from tests.tui.driving import DESKTOP, Driver
from tests.tui.fake_backend import FakeBackend

SIZES = ((80, 24), (120, 36))
LARGE = (160, 48)
STATES = ("empty", "loading", "normal", "error", "hostile")
THEMES = ("donna-light", "ansi-dark")
QUESTION = "redis failover"

Steps = Callable[[Driver], Awaitable[None]]
Compare = Callable[..., bool]

STILL_SECONDS = 1.3 * RELOAD_DELAY
by_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
by_state = pytest.mark.parametrize("state", STATES)
by_theme = pytest.mark.parametrize("theme", THEMES)


@dataclass(frozen=True)
class Camera:
    """Takes a picture once the steps are done, and compares it with the one that was accepted."""

    compare: Compare

    def shows(self, app: DonnaApp, size: tuple[int, int], steps: Steps) -> bool:
        """Whether the app looks as it did."""
        app.animation_level = "none"

        async def go(pilot: Pilot[None]) -> None:
            driver = Driver(app, pilot)
            await steps(driver)
            await still(pilot)
            await driver.main.shut_down()

        return self.compare(app, terminal_size=size, run_before=go)


async def still(pilot: Pilot[None]) -> None:
    """Wait until nothing moves any more, for longer than the bridge gathers events and a pane waits before it looks."""
    before: list[Strip] = []
    since = time.monotonic()
    for _ in range(400):
        await asyncio.sleep(FLUSH_SECONDS)
        now = pilot.app.screen._compositor.render_strips()
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > STILL_SECONDS:
            return
    raise AssertionError("the screen never came to rest")


@pytest.fixture
def camera(snap_compare: Compare) -> Camera:
    return Camera(snap_compare)


def donna(backend: FakeBackend, **options: Any) -> DonnaApp:
    return DonnaApp(lambda choice: backend, external=DESKTOP, space_name="notes", **options)


async def connected(driver: Driver) -> None:
    await driver.until(lambda: driver.main.strip.status is not None, "the app is connected")
    await driver.complete()


async def searched(driver: Driver) -> None:
    """A question is asked, and what can be shown of its answer is shown."""
    await connected(driver)
    await driver.type(QUESTION)
    search = driver.search
    await driver.until(lambda: search._outcome is not None or "in use" in driver.screen_text(), "it is answered")
    if search.results.rows:
        await driver.until(lambda: search.preview.view.marked_rows, "the passage is shown")


async def typed_while_loading(driver: Driver) -> None:
    await driver.type(QUESTION)


async def waiting(driver: Driver) -> None:
    await driver.pilot.pause()


async def watching(driver: Driver) -> None:
    """The Activity screen, with everything that happened."""
    await connected(driver)
    driver.main.show_pane("activity")
    pane = driver.main.query_one(ActivityPane)
    backend = driver.app._backend
    assert isinstance(backend, FakeBackend)
    expected = bool(backend.current.coverage.notes)
    await driver.until(lambda: not expected or pane.event_log.ring.shown, "the events are in the log")


async def watching_while_loading(driver: Driver) -> None:
    driver.main.show_pane("activity")
    await driver.until(lambda: isinstance(driver.main.pane, ActivityPane), "it is there")


SEARCH_STEPS: dict[str, Steps] = {"empty": connected, "loading": typed_while_loading}
ACTIVITY_STEPS: dict[str, Steps] = {"loading": watching_while_loading}


@by_size
@by_state
def test_search(camera: Camera, state: str, size: tuple[int, int]) -> None:
    backend = getattr(scenarios, state)()
    assert camera.shows(donna(backend), size, SEARCH_STEPS.get(state, searched))


@pytest.mark.parametrize("size", [(60, 15), *SIZES, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_start_page(camera: Camera, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]) -> None:
    monkeypatch.setattr("donna_tui.tui.search.pane.time", lambda: scenarios.NOW)
    backend = scenarios.normal()
    backend.asked = ("why did we move off redis", "failover drill", "who can fix the printer")
    backend.example = "what about time-outs in Gateway"
    due = ("2026-11-20", "2026-11-21", "2026-11-18")
    backend.tasks = tuple(
        TaskRow(id=f"task:a#{day}", title=f"Due on {day}", status="todo", note="a.md", line=1, due=day) for day in due
    )
    assert camera.shows(donna(backend), size, connected)


@by_size
@by_state
def test_activity(camera: Camera, state: str, size: tuple[int, int]) -> None:
    backend = getattr(scenarios, state)()
    assert camera.shows(donna(backend), size, ACTIVITY_STEPS.get(state, watching))


@by_size
@by_state
def test_first_run(camera: Camera, monkeypatch: pytest.MonkeyPatch, state: str, size: tuple[int, int]) -> None:
    for name in ("why_not_a_vault", "what_is_wrong"):
        monkeypatch.setattr(f"donna_tui.tui.shell.first_run.{name}", why_not)
    app = donna(scenarios.loading(), first_run=OFFERS[state])
    assert camera.shows(app, size, FIRST_RUN_STEPS[state])


@by_theme
def test_search_in_other_themes(camera: Camera, theme: str) -> None:
    assert camera.shows(donna(scenarios.normal(), theme=theme), SIZES[1], searched)


@by_theme
def test_activity_in_other_themes(camera: Camera, theme: str) -> None:
    assert camera.shows(donna(scenarios.indexing(), theme=theme), SIZES[1], watching)


@by_theme
def test_first_run_in_other_themes(camera: Camera, monkeypatch: pytest.MonkeyPatch, theme: str) -> None:
    for name in ("why_not_a_vault", "what_is_wrong"):
        monkeypatch.setattr(f"donna_tui.tui.shell.first_run.{name}", why_not)
    app = donna(scenarios.loading(), theme=theme, first_run=OFFERS["normal"])
    assert camera.shows(app, SIZES[1], waiting)


@pytest.mark.parametrize("size", [*SIZES, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_activity_while_indexing(camera: Camera, size: tuple[int, int]) -> None:
    assert camera.shows(donna(scenarios.indexing()), size, watching)


def test_activity_on_a_large_screen(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), LARGE, watching)


def test_search_on_a_large_screen(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), LARGE, searched)


@pytest.mark.parametrize("keys", ["shift+tab right tab", "shift+tab right right"], ids=["problems", "figures"])
def test_the_other_parts_of_activity_on_a_small_screen(camera: Camera, keys: str) -> None:
    async def steps(driver: Driver) -> None:
        await watching(driver)
        await driver.press(*keys.split())

    assert camera.shows(donna(scenarios.error()), SIZES[0], steps)


def test_the_log_filtered(camera: Camera) -> None:
    async def steps(driver: Driver) -> None:
        await watching(driver)
        await driver.press("slash")
        await driver.type("gateway")

    assert camera.shows(donna(scenarios.normal()), SIZES[1], steps)


@pytest.mark.parametrize("state", ["normal", "hostile"])
def test_a_problem_in_full(camera: Camera, state: str) -> None:
    async def steps(driver: Driver) -> None:
        await watching(driver)
        await driver.press("tab", "enter")

    assert camera.shows(donna(getattr(scenarios, state)()), SIZES[1], steps)


def why_not(root: Path) -> str:
    """Every folder but one is there, on any machine."""
    return "There is no such folder." if "gone" in root.name else ""


async def wrong_path(driver: Driver) -> None:
    driver.app.screen.query_one(Input).focus()
    await driver.type("/home/noor/gone")
    await driver.press("enter")


async def chosen(driver: Driver) -> None:
    """A vault is picked, and its engine is not there yet."""
    driver.app.screen.query_one(OptionList).focus()
    await driver.press("enter")
    await driver.until(lambda: driver.app.screen is driver.main, "the main screen is in front")


KNOWN = (
    KnownVault("notes", Path("/home/noor/notes"), "Obsidian"),
    KnownVault("work", Path("/home/noor/Documents/work"), "Obsidian"),
    KnownVault("old", Path("/media/usb/gone"), "Obsidian (flatpak)"),
)
DEMO = Path("/home/noor/.local/share/donna/demo")
OFFERS = {
    "empty": FirstRun(),
    "loading": FirstRun(KNOWN, DEMO),
    "normal": FirstRun(KNOWN, DEMO),
    "error": FirstRun(KNOWN, DEMO),
    "hostile": FirstRun(
        tuple(KnownVault(text, Path("/home") / text.replace("\0", ""), text) for text in hostile.ALL.values()), DEMO
    ),
}
FIRST_RUN_STEPS: dict[str, Steps] = {
    "empty": waiting,
    "loading": chosen,
    "normal": waiting,
    "error": wrong_path,
    "hostile": waiting,
}


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", ["normal", "hostile"])
def test_the_spaces(camera: Camera, monkeypatch: pytest.MonkeyPatch, state: str, size: tuple[int, int]) -> None:
    monkeypatch.setattr("donna_tui.tui.shell.spaces.why_not_a_vault", why_not)

    async def steps(driver: Driver) -> None:
        await searched(driver)
        await driver.press("ctrl+o")
        await driver.window(SpacePicker)

    assert camera.shows(donna(scenarios.normal(), spaces=lambda: OFFERS[state].known), size, steps)
