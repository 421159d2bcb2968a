"""Drawings of the Review and Meetings screens and of their dialogs."""

from __future__ import annotations

import pytest

from donna_tui.tui.review.flows import ApproveAll
from donna_tui.tui.vault.plan_dialog import PlanScreen
from tests.snapshots.test_snapshots import MEDIUM, USED, Camera, Steps, connected, donna, drawn
from tests.snapshots.test_snapshots import camera as camera
from tests.tui import draft_scenarios
from tests.tui.draft_scenarios import backend_in
from tests.tui.driving import Driver


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, same_everywhere: None) -> None:
    draft_scenarios.stop_the_clock(monkeypatch)


def on(screen: str, *keys: str) -> Steps:
    """Show a screen, wait for its content, and press some keys."""

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await driver.press("escape", screen)
        pane = driver.review if screen == "3" else driver.meetings
        await driver.until(lambda: pane.rows.line_count, "it is listed")
        for key in keys:
            await driver.rest()
            await driver.press(key)

    return steps


@pytest.mark.slow
@drawn(*USED, "hostile-120x36")
def test_review_screen_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in(state)), size, on("3"))


@pytest.mark.slow
@drawn(*USED, "hostile-120x36")
def test_review_of_a_draft_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in(state)), size, on("3", "enter", "down", "space", "down"))


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["enter d", "enter enter", "x end"], ids=["diff", "evidence", "decided"])
def test_review_panels_snapshot(camera: Camera, keys: str) -> None:
    assert camera.shows(donna(backend_in("normal")), MEDIUM, on("3", *keys.split()))


@pytest.mark.cases(2)
@drawn(*USED, "hostile-120x36")
def test_meetings_screen_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(backend_in(state)), size, on("4"))


@pytest.mark.cases(1)
@pytest.mark.parametrize("keys", ["tab", "w"], ids=["note", "day"])
def test_meetings_panels_snapshot(camera: Camera, keys: str) -> None:
    assert camera.shows(donna(backend_in("normal")), MEDIUM, on("4", *keys.split()))


@pytest.mark.cases(1)
@pytest.mark.parametrize(("window", "key"), [(PlanScreen, "a"), (ApproveAll, "A")], ids=["approve", "all"])
def test_review_dialogs_snapshot(camera: Camera, window: type, key: str) -> None:
    async def steps(driver: Driver) -> None:
        await on("3", key)(driver)
        await driver.window(window)

    assert camera.shows(donna(backend_in("normal")), MEDIUM, steps)


@pytest.mark.slow
def test_a_calendar_that_cannot_be_read(camera: Camera) -> None:
    backend = backend_in("empty")
    draft_scenarios.break_it(backend.drafts)

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await driver.press("escape", "4")

    assert camera.shows(donna(backend), MEDIUM, steps)
