"""Pictures of the Vault screen and of the windows before a change, in every state."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.edit_dialog import EditScreen, NoteField
from donna_tui.tui.shell.bars import FooterBar
from donna_tui.tui.vault.conflict_dialogs import ConflictCopyDialog, ConflictScreen
from donna_tui.tui.vault.plan_dialog import PathPrompt, PlanScreen
from donna_tui.tui.vault.three_way import ThreeWayScreen
from tests.snapshots.test_snapshots import LARGE, SIZES, Camera, Steps, by_size, by_state, by_theme, connected, donna
from tests.snapshots.test_snapshots import camera as camera
from tests.tui import scenarios
from tests.tui.driving import Driver
from tests.tui.vault_scenarios import DECISIONS, GARDEN, PRIYA, RUNBOOK, synced, to_copy

ALL_SIZES = pytest.mark.parametrize("size", [*SIZES, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture(autouse=True)
def still_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor of a text field stands still too."""
    monkeypatch.setattr(NoteField, "_restart_blink", lambda self: None)


def on(path: str, *keys: str) -> Steps:
    """The cursor on a note, and some keys."""

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await driver.open_note(path)
        for key in keys:
            await driver.press(key)
            await driver.rest()

    return steps


async def opened(driver: Driver) -> None:
    await connected(driver)
    driver.main.show_pane("vault")
    await driver.rest()


async def opened_while_loading(driver: Driver) -> None:
    driver.main.show_pane("vault")
    await driver.rest()


async def hostile_history(driver: Driver) -> None:
    await opened(driver)
    for key in ("G", "k", "k", "h", "h"):
        await driver.press(key)
        await driver.rest()


STEPS: dict[str, Steps] = {
    "empty": opened,
    "loading": opened_while_loading,
    "normal": on(DECISIONS, "enter"),
    "error": opened,
    "hostile": hostile_history,
}


@by_size
@by_state
def test_vault(camera: Camera, state: str, size: tuple[int, int]) -> None:
    assert camera.shows(donna(getattr(scenarios, state)()), size, STEPS[state])


@by_theme
def test_vault_in_other_themes(camera: Camera, theme: str) -> None:
    assert camera.shows(donna(scenarios.normal(), theme=theme), SIZES[1], on(DECISIONS, "h", "h"))


@ALL_SIZES
def test_the_tree(camera: Camera, size: tuple[int, int]) -> None:
    assert camera.shows(donna(scenarios.normal()), size, on(GARDEN))


@ALL_SIZES
def test_history_and_difference(camera: Camera, size: tuple[int, int]) -> None:
    assert camera.shows(donna(scenarios.normal()), size, on(DECISIONS, "h", "h"))


@ALL_SIZES
def test_an_edit_from_outside(camera: Camera, size: tuple[int, int]) -> None:
    assert camera.shows(donna(scenarios.normal()), size, on(GARDEN, "d"))


def test_a_difference_side_by_side_and_unfolded(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), SIZES[1], on(DECISIONS, "h", "enter", "s", "x", "+"))


def test_blame(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), LARGE, on(DECISIONS, "]", "]", "]", "]", "b", "j", "j"))


def test_the_tree_filtered(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), SIZES[1], on(DECISIONS, "f", *"gate"))


def test_why_a_note_is_left_out(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), SIZES[1], on("Meetings/2025-11-04-review.md"))


WINDOWS: dict[str, tuple[type, str, str]] = {
    "undo": (PlanScreen, GARDEN, "z"),
    "delete": (PlanScreen, PRIYA, "D"),
    "move": (PathPrompt, RUNBOOK, "m"),
    "edit": (EditScreen, DECISIONS, "i"),
}


@by_size
@pytest.mark.parametrize("window", WINDOWS)
def test_windows(camera: Camera, window: str, size: tuple[int, int]) -> None:
    kind, path, key = WINDOWS[window]

    async def steps(driver: Driver) -> None:
        await on(path, key)(driver)
        await driver.window(kind)

    assert camera.shows(donna(scenarios.normal()), size, steps)


@by_size
def test_several_steps_back(camera: Camera, size: tuple[int, int]) -> None:
    assert camera.shows(donna(scenarios.normal()), size, on(GARDEN, "z", "z", "z"))


@by_size
def test_a_hostile_undo(camera: Camera, size: tuple[int, int]) -> None:
    async def steps(driver: Driver) -> None:
        await opened(driver)
        await driver.press("z")
        await driver.window(PlanScreen)

    assert camera.shows(donna(scenarios.hostile()), size, steps)


@ALL_SIZES
@pytest.mark.parametrize("touches", [True, False], ids=["touching", "apart"])
def test_three_ways(camera: Camera, touches: bool, size: tuple[int, int]) -> None:
    backend = scenarios.normal()
    old, new = (b"800 ms, once", b"900 ms, once") if touches else (b"180 MB", b"190 MB")
    backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(old, new)

    async def steps(driver: Driver) -> None:
        await on(GARDEN, "z")(driver)
        await driver.window(ThreeWayScreen)

    assert camera.shows(donna(backend), size, steps)


@by_size
@pytest.mark.parametrize("touches", [True, False], ids=["touching", "apart"])
def test_a_conflict(camera: Camera, monkeypatch: pytest.MonkeyPatch, touches: bool, size: tuple[int, int]) -> None:
    backend = scenarios.normal()

    async def edit(path: Path, line: int) -> None:
        files = backend.vault.files
        files[DECISIONS] = files[DECISIONS].replace(b"180 MB" if touches else b"800 ms", b"190 MB")
        path.write_bytes(path.read_bytes().replace(b"180 MB", b"200 MB"))

    async def steps(driver: Driver) -> None:
        await connected(driver)
        monkeypatch.setattr(driver.vault._outside, "edit", edit)
        await on(DECISIONS, "E")(driver)
        await driver.window(ConflictScreen)
        driver.main.query_one(FooterBar).visible = False  # it may or may not know of the edit yet

    assert camera.shows(donna(backend), size, steps)


@ALL_SIZES
@pytest.mark.parametrize("base", [True, False], ids=["three-ways", "two-ways"])
def test_a_conflict_copy(camera: Camera, base: bool, size: tuple[int, int]) -> None:
    backend = scenarios.normal()
    backend.vault = synced(base=base)

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await to_copy(driver)
        await driver.press("c")
        await driver.window(ConflictCopyDialog)

    assert camera.shows(donna(backend), size, steps)


@by_size
def test_a_conflict_copy_in_the_tree(camera: Camera, size: tuple[int, int]) -> None:
    backend = scenarios.normal()
    backend.vault = synced()

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await to_copy(driver)

    assert camera.shows(donna(backend), size, steps)


@by_size
def test_no_history_yet(camera: Camera, size: tuple[int, int]) -> None:
    backend = scenarios.normal()
    backend.vault.has_repository = False

    async def steps(driver: Driver) -> None:
        await on(PRIYA, "D")(driver)
        await driver.window(PlanScreen)
        await driver.press("enter")
        await driver.window(RefusalScreen)

    assert camera.shows(donna(backend), size, steps)


def test_an_edit_that_waits(camera: Camera, monkeypatch: pytest.MonkeyPatch) -> None:
    async def edit(path: Path, line: int) -> None:
        path.write_bytes(path.read_bytes() + b"One more line.\n")

    async def steps(driver: Driver) -> None:
        await connected(driver)
        monkeypatch.setattr(driver.vault._outside, "edit", edit)
        await on(PRIYA, "E")(driver)
        await driver.window(PlanScreen)
        await driver.press("escape")
        await driver.rest()

    assert camera.shows(donna(scenarios.normal()), SIZES[1], steps)
