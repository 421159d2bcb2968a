"""Pictures of the Memory screen and its windows, in every state."""

from __future__ import annotations

import pytest

from donna_tui.tui.lib.edit_dialog import CorrectScreen, NoteField
from donna_tui.tui.memory.forget_dialog import ForgetScreen
from tests.snapshots.test_snapshots import LARGE, SIZES, Camera, Steps, by_theme, connected, donna
from tests.snapshots.test_snapshots import camera as camera
from tests.tui import scenarios
from tests.tui.driving import Driver

ALL_SIZES = pytest.mark.parametrize("size", [*SIZES, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
QUESTION = "redis drill"


@pytest.fixture(autouse=True)
def still_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor of a text field stands still too."""
    monkeypatch.setattr(NoteField, "_restart_blink", lambda self: None)


async def opened(driver: Driver) -> None:
    await connected(driver)
    driver.main.show_pane("memory")
    await driver.rest()


async def opened_while_loading(driver: Driver) -> None:
    driver.main.show_pane("memory")
    await driver.rest()


def listed(*keys: str) -> Steps:
    """The list, and some keys."""

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await driver.remember()
        for key in keys:
            await driver.press(key)
            await driver.rest()

    return steps


async def recalled(driver: Driver) -> None:
    """A question is answered, and the cursor is on the third memory of the answer."""
    await listed("slash")(driver)
    await driver.type(QUESTION)
    recall = driver.memory.recall
    await driver.until(lambda: recall.result and recall.result.query == QUESTION, "it is recalled")
    await driver.press("enter", "j", "j")


@ALL_SIZES
@pytest.mark.parametrize("state", ["empty", "loading", "normal", "error", "hostile"])
def test_memory(camera: Camera, state: str, size: tuple[int, int]) -> None:
    steps = {"loading": opened_while_loading, "normal": listed("j", "j", "j")}.get(state, opened)
    assert camera.shows(donna(getattr(scenarios, state)()), size, steps)


@ALL_SIZES
@pytest.mark.parametrize("state", ["normal", "hostile"])
def test_recall(camera: Camera, state: str, size: tuple[int, int]) -> None:
    async def steps(driver: Driver) -> None:
        await recalled_hostile(driver) if state == "hostile" else await recalled(driver)

    assert camera.shows(donna(getattr(scenarios, state)()), size, steps)


async def recalled_hostile(driver: Driver) -> None:
    await listed("slash")(driver)
    await driver.type("redis")
    recall = driver.memory.recall
    await driver.until(lambda: recall.result and recall.result.query == "redis", "it is recalled")
    await driver.press("enter", "j")


@by_theme
def test_memory_in_other_themes(camera: Camera, theme: str) -> None:
    assert camera.shows(donna(scenarios.normal(), theme=theme), SIZES[1], recalled)


def test_a_small_budget(camera: Camera) -> None:
    async def steps(driver: Driver) -> None:
        await recalled(driver)
        await driver.press(*"[[[[[[[")
        recall = driver.memory.recall
        await driver.until(lambda: recall.result and recall.result.token_budget == 100, "it is recalled again")

    assert camera.shows(donna(scenarios.normal()), SIZES[1], steps)


def test_the_list_narrowed(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), SIZES[1], listed("s", "f", *"redis"))


def test_reading_only(camera: Camera) -> None:
    backend = scenarios.normal()
    backend.change(state="read_only", owner="donna on desk")
    assert camera.shows(donna(backend), SIZES[1], listed())


@ALL_SIZES
@pytest.mark.parametrize(("window", "key"), [(ForgetScreen, "D"), (CorrectScreen, "w")], ids=["forget", "correct"])
def test_windows(camera: Camera, window: type, key: str, size: tuple[int, int]) -> None:
    async def steps(driver: Driver) -> None:
        await listed("j", key)(driver)
        await driver.window(window)

    assert camera.shows(donna(scenarios.normal()), size, steps)


def test_a_hostile_correction(camera: Camera) -> None:
    async def steps(driver: Driver) -> None:
        await listed("w")(driver)
        await driver.window(CorrectScreen)

    assert camera.shows(donna(scenarios.hostile()), SIZES[1], steps)
