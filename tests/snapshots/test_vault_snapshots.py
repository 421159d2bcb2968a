"""Drawings of the Vault screen and of the dialogs before a change."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.edit_dialog import EditScreen, NoteField
from donna_tui.tui.shell.bars import FooterBar
from donna_tui.tui.vault.conflict_dialogs import ConflictCopyDialog, ConflictScreen, ThreeWayScreen
from donna_tui.tui.vault.plan_dialog import PathPrompt, PlanScreen
from tests.snapshots.test_snapshots import LARGE, MEDIUM, USED, Camera, Steps, connected, donna, drawn
from tests.snapshots.test_snapshots import camera as camera
from tests.tui import scenarios
from tests.tui.driving import Driver
from tests.tui.vault_scenarios import DECISIONS, GARDEN, PRIYA, RUNBOOK, synced, to_copy


@pytest.fixture(autouse=True)
def still_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the cursor of text fields from blinking."""
    monkeypatch.setattr(NoteField, "_restart_blink", lambda self: None)


def on(path: str, *keys: str) -> Steps:
    """Put the cursor on a note, and press some keys."""

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


async def hostile_history(driver: Driver) -> None:
    await opened(driver)
    for key in ("G", "k", "k", "h", "h"):
        await driver.press(key)
        await driver.rest()


@pytest.mark.slow
@drawn(*USED, "hostile-120x36")
def test_vault_screen_snapshot(camera: Camera, state: str, size: tuple[int, int]) -> None:
    steps = hostile_history if state == "hostile" else on(DECISIONS, "enter")
    assert camera.shows(donna(getattr(scenarios, state)()), size, steps)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["donna-light", "ansi-dark"])
def test_vault_in_other_themes(camera: Camera, theme: str) -> None:
    assert camera.shows(donna(scenarios.normal(), theme=theme), MEDIUM, on(DECISIONS, "h", "h"))


@pytest.mark.slow
def test_vault_tree_snapshot(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), MEDIUM, on(GARDEN))


@pytest.mark.slow
def test_vault_history_and_diff_snapshot(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), MEDIUM, on(DECISIONS, "h", "h"))


@pytest.mark.slow
def test_a_difference_side_by_side_and_unfolded(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), MEDIUM, on(DECISIONS, "h", "enter", "s", "x", "+"))


@pytest.mark.slow
def test_vault_blame_snapshot(camera: Camera) -> None:
    assert camera.shows(donna(scenarios.normal()), LARGE, on(DECISIONS, "]", "]", "]", "]", "b", "j", "j"))


WINDOWS: dict[str, tuple[type, str, str]] = {
    "undo": (PlanScreen, GARDEN, "z"),
    "delete": (PlanScreen, PRIYA, "D"),
    "move": (PathPrompt, RUNBOOK, "m"),
    "edit": (EditScreen, DECISIONS, "i"),
}


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
def test_vault_dialogs_snapshot(camera: Camera, window: str) -> None:
    kind, path, key = WINDOWS[window]

    async def steps(driver: Driver) -> None:
        await on(path, key)(driver)
        await driver.window(kind)

    assert camera.shows(donna(scenarios.normal()), MEDIUM, steps)


def test_three_way_dialog_snapshot(camera: Camera) -> None:
    backend = scenarios.normal()
    files = backend.vault.files
    files[DECISIONS] = files[DECISIONS].replace(b"800 ms, once", b"900 ms, once")

    async def steps(driver: Driver) -> None:
        await on(GARDEN, "z")(driver)
        await driver.window(ThreeWayScreen)

    assert camera.shows(donna(backend), MEDIUM, steps)


@pytest.mark.slow
def test_edit_conflict_dialog_snapshot(camera: Camera, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()

    async def edit(path: Path, line: int) -> None:
        files = backend.vault.files
        files[DECISIONS] = files[DECISIONS].replace(b"180 MB", b"190 MB")
        path.write_bytes(path.read_bytes().replace(b"180 MB", b"200 MB"))

    async def steps(driver: Driver) -> None:
        await connected(driver)
        monkeypatch.setattr(driver.vault._programs, "edit", edit)
        await on(DECISIONS, "E")(driver)
        await driver.window(ConflictScreen)
        driver.main.query_one(FooterBar).visible = False  # it may not have noticed the edit yet

    assert camera.shows(donna(backend), MEDIUM, steps)


@pytest.mark.slow
@pytest.mark.parametrize("base", [True, False], ids=["three-ways", "two-ways"])
def test_conflict_copy_dialog_snapshot(camera: Camera, base: bool) -> None:
    backend = scenarios.normal()
    backend.vault = synced(base=base)

    async def steps(driver: Driver) -> None:
        await connected(driver)
        await to_copy(driver)
        await driver.press("c")
        await driver.window(ConflictCopyDialog)

    assert camera.shows(donna(backend), MEDIUM, steps)


@pytest.mark.slow
def test_no_history_yet(camera: Camera) -> None:
    backend = scenarios.normal()
    backend.vault.has_repository = False

    async def steps(driver: Driver) -> None:
        await on(PRIYA, "D")(driver)
        await driver.window(PlanScreen)
        await driver.press("enter")
        await driver.window(RefusalScreen)

    assert camera.shows(donna(backend), MEDIUM, steps)
