"""The first start: a vault is asked for, checked, and handed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.backend import KnownVault
from donna_tui.tui.first_run import FirstRun, VaultChoice, typed_path, why_not_a_vault
from donna_tui.tui.screens.main import MainScreen
from tests.tui import hostile, scenarios
from tests.tui.driving import DESKTOP, Driver


class Start:
    """A first start, and what came of it."""

    def __init__(self, offer: FirstRun) -> None:
        self.choices: list[VaultChoice | None] = []
        self.app = DonnaApp(self._make, first_run=offer, external=DESKTOP)

    def _make(self, choice: VaultChoice | None) -> object:
        self.choices.append(choice)
        return scenarios.normal()

    async def run(self, *keys: str, typed: str = "", then: str = "") -> str:
        """Press keys, type, and wait for the choice; gives back what is in sight."""
        async with self.app.run_test(size=(100, 30)) as pilot:
            donna = Driver(self.app, pilot)
            await pilot.pause()
            await pilot.press(*keys)
            if typed:
                self.app.screen.query_one("#first-run-path").insert_text_at_cursor(typed)  # type: ignore[attr-defined]
            if then:
                await pilot.press(then)
            for _ in range(30):
                await pilot.pause(0.01)
                if self.choices:
                    break
            if self.choices:
                await donna.until(lambda: isinstance(self.app.screen, MainScreen), "the main screen is there")
                await donna.complete()
            return donna.screen_text()


@pytest.fixture
def vaults(tmp_path: Path) -> FirstRun:
    for name in ("notes", "work"):
        (tmp_path / name).mkdir()
    known = (KnownVault("notes", tmp_path / "notes", "Obsidian"), KnownVault("work", tmp_path / "work", "Obsidian"))
    return FirstRun(known, tmp_path / "demo")


async def test_a_known_vault_is_two_keys_away(vaults: FirstRun) -> None:
    start = Start(vaults)
    await start.run("j", "enter")
    assert start.choices == [VaultChoice(vaults.known[1].root)]


async def test_the_demo_vault(vaults: FirstRun) -> None:
    start = Start(vaults)
    await start.run("down", "down", "enter")
    assert start.choices == [VaultChoice(vaults.demo_folder or Path(), is_demo=True)]


async def test_a_typed_folder(vaults: FirstRun, tmp_path: Path) -> None:
    start = Start(vaults)
    await start.run("tab", typed=str(tmp_path / "work"), then="enter")
    assert start.choices == [VaultChoice(tmp_path / "work")]


async def test_a_folder_that_is_not_there_is_refused_with_the_reason(vaults: FirstRun, tmp_path: Path) -> None:
    start = Start(vaults)
    text = await start.run("slash", typed=str(tmp_path / "nowhere"), then="enter")
    assert start.choices == []
    assert "There is no such folder." in text


async def test_nothing_typed_is_refused_with_an_example(vaults: FirstRun) -> None:
    text = await Start(vaults).run("tab", then="enter")
    assert "Type the path of a folder" in text


async def test_a_known_vault_that_is_gone_says_so_and_is_refused(tmp_path: Path) -> None:
    start = Start(FirstRun((KnownVault("old", tmp_path / "gone", "Obsidian"),)))
    text = await start.run("enter")
    assert start.choices == []
    assert "not there any more" in text
    assert "There is no such folder." in text


async def test_without_known_vaults_one_types_at_once(tmp_path: Path) -> None:
    start = Start(FirstRun())
    await start.run(typed=str(tmp_path), then="enter")
    assert start.choices == [VaultChoice(tmp_path)]


async def test_a_vault_with_a_hostile_name_is_harmless(tmp_path: Path) -> None:
    offer = FirstRun((KnownVault(hostile.EVERYTHING, tmp_path / "x", hostile.EVERYTHING),))
    text = await Start(offer).run()
    assert not [char for char in text if char != "\n" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]


async def test_one_can_leave_without_choosing(vaults: FirstRun) -> None:
    start = Start(vaults)
    async with start.app.run_test() as pilot:
        await pilot.pause()
        await pilot.press("ctrl+q")
    assert start.choices == []


def test_why_not(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.touch()
    assert why_not_a_vault(tmp_path) == ""
    assert "a file" in why_not_a_vault(file)
    assert "no such folder" in why_not_a_vault(tmp_path / "nowhere")


def test_typed_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert typed_path(" ~/notes ") == tmp_path / "notes"
    assert typed_path("'/a b'") == Path("/a b")
    assert typed_path("here") == tmp_path / "here"
    assert typed_path("  ") is None
    assert typed_path("a\0b") is None
    assert typed_path("~nobody-of-that-name/x") is None
