"""Drawings of what only a drawing shows: each screen in use, in two sizes, and states that look different in kind.

After an intended change: `pytest tests/snapshots --snapshot-update`.

The drawings hold for the Textual version that `pyproject.toml` pins for development.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from donna_tui.tui.activity.pane import ActivityPane
from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.shell.first_run import FirstRun
from donna_tui.tui.shell.windows import SpacePicker
from donna_tui.types.memory import TaskRow
from tests.tui import hostile, scenarios
from tests.tui.driving import DESKTOP, LATER, Driver, marked_rows
from tests.tui.fake_backend import FakeBackend
from tests.tui.quiet import LONGEST, until_quiet

SMALL, MEDIUM, LARGE = (80, 24), (120, 36), (160, 48)
SIZES = {f"{width}x{height}": (width, height) for width, height in ((60, 15), SMALL, MEDIUM, LARGE)}
QUESTION = "redis failover"

Steps = Callable[[Driver], Awaitable[None]]
Compare = Callable[..., bool]

USED = ("normal-80x24", "normal-120x36")


def drawn(*names: str) -> pytest.MarkDecorator:
    """Mark a test to be run for each state and size, by their names."""
    cases = [(*name.rsplit("-", 1), name) for name in names]
    return pytest.mark.parametrize(
        ("state", "size"), [pytest.param(state, SIZES[size], id=name) for state, size, name in cases]
    )


@dataclass(frozen=True)
class Camera:
    """Takes a drawing once the steps are done, and compares it with the accepted one."""

    compare: Compare

    def shows(self, app: DonnaApp, size: tuple[int, int], steps: Steps) -> bool:
        """Return whether the app looks as accepted."""
        app.animation_level = "none"

        async def go(pilot: Pilot[None]) -> None:
            driver = Driver(app, pilot)
            await steps(driver)
            await still(pilot)
            await driver.main.shut_down()

        return self.compare(app, terminal_size=size, run_before=go)


async def still(pilot: Pilot[None]) -> None:
    """Wait until the screen cannot change: no message, thread or timer is pending."""
    assert await until_quiet(LATER, LONGEST), "the screen did not stop changing"
    await pilot.pause()


@pytest.fixture
def camera(snap_compare: Compare) -> Camera:
    return Camera(snap_compare)


def donna(backend: FakeBackend, **options: Any) -> DonnaApp:
    return DonnaApp(lambda choice: backend, external=DESKTOP, space_name="notes", **options)


async def connected(driver: Driver) -> None:
    await driver.until(lambda: driver.main.strip.status is not None, "the app is connected")
    await driver.complete()


async def searched(driver: Driver) -> None:
    """Ask a question and wait until its answer is drawn."""
    await connected(driver)
    await driver.type(QUESTION)
    search = driver.search
    await driver.until(lambda: search._outcome is not None or "in use" in driver.screen_text(), "it is answered")
    if search.results.rows:
        await driver.until(lambda: marked_rows(search.preview.view), "the passage is shown")


async def waiting(driver: Driver) -> None:
    await driver.pilot.pause()


async def watching(driver: Driver) -> None:
    """Show the Activity screen, with every event."""
    await connected(driver)
    driver.main.show_pane("activity")
    pane = driver.main.query_one(ActivityPane)
    backend = driver.app._backend
    assert isinstance(backend, FakeBackend)
    expected = bool(backend.current.coverage.notes)
    await driver.until(lambda: not expected or pane.event_log.ring.shown, "the events are in the log")


@pytest.mark.slow
@drawn(*USED, "hostile-120x36", "normal-160x48")
def test_search_screen_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    backend = getattr(scenarios, state)()
    assert camera.shows(donna(backend), size, searched)


@pytest.mark.cases(1)
@pytest.mark.parametrize("size", [(60, 15), MEDIUM], ids=lambda size: f"{size[0]}x{size[1]}")
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


@pytest.mark.slow
@drawn(*USED, "error-120x36")
def test_activity_screen_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    backend = getattr(scenarios, state)()
    assert camera.shows(donna(backend), size, watching)


@drawn(*USED, "hostile-120x36")
def test_first_run_screen_snapshot(
    camera: Camera, monkeypatch: pytest.MonkeyPatch, state: str, size: tuple[int, int]
) -> None:
    for name in ("why_not_a_vault", "what_is_wrong"):
        monkeypatch.setattr(f"donna_tui.tui.shell.first_run.{name}", why_not)
    app = donna(scenarios.loading(), first_run=OFFERS[state])
    assert camera.shows(app, size, waiting)


@pytest.mark.slow
def test_activity_while_indexing(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.indexing()), MEDIUM, watching)


@pytest.mark.slow
def test_the_problems_on_a_small_screen(camera: Camera) -> None:
    async def steps(driver: Driver) -> None:
        await watching(driver)
        await driver.press("shift+tab", "right", "tab")

    assert camera.shows(donna(scenarios.error()), SMALL, steps)


@pytest.mark.slow
def test_problem_detail_dialog_snapshot(camera: Camera) -> None:
    async def steps(driver: Driver) -> None:
        await watching(driver)
        await driver.press("tab", "enter")

    assert camera.shows(donna(scenarios.normal()), MEDIUM, steps)


def why_not(root: Path) -> str:
    """Pretend that every folder but one exists, on any machine."""
    return "There is no such folder." if "gone" in root.name else ""


KNOWN = (
    KnownVault("notes", Path("/home/noor/notes"), "Obsidian"),
    KnownVault("work", Path("/home/noor/Documents/work"), "Obsidian"),
    KnownVault("old", Path("/media/usb/gone"), "Obsidian (flatpak)"),
)
DEMO = Path("/home/noor/.local/share/donna/demo")
OFFERS = {
    "normal": FirstRun(KNOWN, DEMO),
    "hostile": FirstRun(
        tuple(KnownVault(text, Path("/home") / text.replace("\0", ""), text) for text in hostile.ALL.values()), DEMO
    ),
}


@pytest.mark.slow
def test_space_picker_snapshot(camera: Camera, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("donna_tui.tui.shell.windows.why_not_a_vault", why_not)

    async def steps(driver: Driver) -> None:
        await searched(driver)
        await driver.press("ctrl+o")
        await driver.window(SpacePicker)

    assert camera.shows(donna(scenarios.normal(), spaces=lambda: KNOWN), MEDIUM, steps)
