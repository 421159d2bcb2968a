"""Drawings of the Memory screen and its dialogs."""

from __future__ import annotations

import pytest

from donna_tui.tui.lib.edit_dialog import CorrectScreen, NoteField
from donna_tui.tui.memory.dialogs import ForgetScreen
from tests.snapshots.test_snapshots import MEDIUM, USED, Camera, Steps, connected, donna, drawn
from tests.snapshots.test_snapshots import camera as camera
from tests.tui import scenarios
from tests.tui.driving import Driver

QUESTION = "redis drill"


@pytest.fixture(autouse=True)
def still_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the cursor of text fields from blinking."""
    monkeypatch.setattr(NoteField, "_restart_blink", lambda self: None)


async def opened(driver: Driver) -> None:
    await connected(driver)
    driver.main.show_pane("memory")
    await driver.rest()


def listed(*keys: str) -> Steps:
    """Show the list, and press some keys."""

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await driver.show("memory")
        for key in keys:
            await driver.press(key)
            await driver.rest()

    return steps


async def recalled(driver: Driver) -> None:
    """Recall memories for a question, with the cursor on the third one."""
    await listed("slash")(driver)
    await driver.type(QUESTION)
    recall = driver.memory.recall
    await driver.until(lambda: recall.result and recall.result.query == QUESTION, "it is recalled")
    await driver.press("enter", "j", "j")


@pytest.mark.cases(1)
@drawn(*USED, "hostile-120x36")
def test_memory_screen_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    steps = opened if state == "hostile" else listed("j", "j", "j")
    assert camera.shows(donna(getattr(scenarios, state)()), size, steps)


@pytest.mark.slow
@drawn(*USED)
def test_recall_panel_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(getattr(scenarios, state)()), size, recalled)


@pytest.mark.slow
@pytest.mark.parametrize(("window", "key"), [(ForgetScreen, "D"), (CorrectScreen, "w")], ids=["forget", "correct"])
def test_memory_dialogs_snapshot(camera: Camera, window: type, key: str) -> None:
    async def steps(driver: Driver) -> None:
        await listed("j", key)(driver)
        await driver.window(window)

    assert camera.shows(donna(scenarios.normal()), MEDIUM, steps)
