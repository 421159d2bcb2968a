"""Pictures of the Review and Meetings screens and of the windows over them, in every state."""

from __future__ import annotations

import pytest

from donna_tui.tui.review.approve_all import ApproveAll
from donna_tui.tui.vault.plan_dialog import PlanScreen
from tests.snapshots.test_snapshots import LARGE, SIZES, STATES, Camera, Steps, by_state, by_theme, connected, donna
from tests.snapshots.test_snapshots import camera as camera
from tests.tui import draft_scenarios
from tests.tui.draft_scenarios import backend_in
from tests.tui.driving import Driver

ALL_SIZES = pytest.mark.parametrize("size", [*SIZES, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
SETTLED = [state for state in STATES if state != "loading"]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, same_everywhere: None) -> None:
    draft_scenarios.stop_the_clock(monkeypatch)


def on(screen: str, *keys: str, state: str = "normal") -> Steps:
    """A screen, once it shows what it has, and some keys."""

    async def steps(driver: Driver) -> None:
        if state in SETTLED:
            await connected(driver)
        await driver.press("escape", screen)
        if state in ("normal", "hostile"):
            pane = driver.review if screen == "3" else driver.meetings
            await driver.until(lambda: pane.rows.line_count, "it is listed")
        for key in keys:
            await driver.rest()
            await driver.press(key)
        await driver.rest()

    return steps


@ALL_SIZES
@by_state
def test_review(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in(state)), size, on("3", state=state))


@ALL_SIZES
@pytest.mark.parametrize("state", ["normal", "hostile"])
def test_a_draft(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in(state)), size, on("3", "enter", "down", "space", "down", state=state))


@pytest.mark.parametrize(
    "keys", ["enter d", "enter enter", "j", "x end"], ids=["diff", "evidence", "failed", "decided"]
)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_parts_of_review(camera: Camera, keys: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in("normal")), size, on("3", *keys.split()))


@ALL_SIZES
@by_state
def test_meetings(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in(state)), size, on("4", state=state))


@pytest.mark.parametrize("keys", ["tab", "w", "]", "k k"], ids=["note", "day", "later", "failed"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_parts_of_meetings(camera: Camera, keys: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in("normal")), size, on("4", *keys.split()))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", ["normal", "hostile"])
@pytest.mark.parametrize(
    ("window", "key"), [(PlanScreen, "a"), (PlanScreen, "r"), (ApproveAll, "A")], ids=["approve", "reject", "all"]
)
def test_windows(camera: Camera, window: type, key: str, state: str, size: tuple[int, int]) -> None:
    async def steps(driver: Driver) -> None:
        await on("3", key, state=state)(driver)
        await driver.window(window)

    assert camera.shows(donna(backend_in(state)), size, steps)


@by_theme
@pytest.mark.parametrize("screen", ["3", "4"], ids=["review", "meetings"])
def test_in_other_themes(camera: Camera, screen: str, theme: str) -> None:
    keys = ("enter", "space") if screen == "3" else ()
    assert camera.shows(donna(backend_in("normal"), theme=theme), SIZES[1], on(screen, *keys))


def test_a_calendar_that_cannot_be_read(camera: Camera) -> None:
    backend = backend_in("empty")
    draft_scenarios.break_it(backend.drafts)
    assert camera.shows(donna(backend), SIZES[1], on("4"))
