"""The first start: the user names a vault, which is checked and returned."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.shell.first_run import (
    Completion,
    FirstRun,
    PathInput,
    VaultChoice,
    completed,
    typed_path,
    what_is_wrong,
    why_not_a_vault,
)
from donna_tui.tui.shell.main import MainScreen
from donna_tui.types.errors import Reason, SpaceError
from tests.tui import hostile, scenarios
from tests.tui.bursts import send
from tests.tui.driving import DESKTOP, Driver
from tests.tui.fake_backend import FakeBackend


class FirstRunHarness:
    """A first start, and its result."""

    def __init__(self, offer: FirstRun) -> None:
        self.choices: list[VaultChoice | None] = []
        self.app = DonnaApp(self._make, first_run=offer, external=DESKTOP)

    def _make(self, choice: VaultChoice | None) -> object:
        self.choices.append(choice)
        return scenarios.normal()

    async def run(self, *keys: str, typed: str = "", then: str = "") -> str:
        """Press keys, type, and wait for the choice. Return the visible text."""
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
                await donna.until(lambda: isinstance(self.app.screen, MainScreen), "the main screen is shown")
                await donna.complete()
            return donna.screen_text()


@pytest.fixture
def vaults(tmp_path: Path) -> FirstRun:
    for name in ("notes", "work"):
        (tmp_path / name).mkdir()
    known = (KnownVault("notes", tmp_path / "notes", "Obsidian"), KnownVault("work", tmp_path / "work", "Obsidian"))
    return FirstRun(known, tmp_path / "demo")


async def test_known_vault_is_chosen_from_the_list(vaults: FirstRun) -> None:
    start = FirstRunHarness(vaults)
    await start.run("j", "enter")
    assert start.choices == [VaultChoice(vaults.known[1].root)]


async def test_demo_vault_can_be_chosen(vaults: FirstRun) -> None:
    start = FirstRunHarness(vaults)
    await start.run("down", "down", "enter")
    assert start.choices == [VaultChoice(vaults.demo_folder or Path(), is_demo=True)]


async def test_typed_folder_is_chosen_as_the_vault(vaults: FirstRun, tmp_path: Path) -> None:
    start = FirstRunHarness(vaults)
    await start.run("tab", typed=str(tmp_path / "work"), then="enter")
    assert start.choices == [VaultChoice(tmp_path / "work")]


async def test_a_missing_folder_is_refused_with_the_reason(vaults: FirstRun, tmp_path: Path) -> None:
    start = FirstRunHarness(vaults)
    text = await start.run("slash", typed=str(tmp_path / "nowhere"), then="enter")
    assert start.choices == []
    assert "There is no such folder." in text


@pytest.mark.parametrize("text", ["/nowhere/jk", "\x1b[200~/nowhere/jk\x1b[201~"])
async def test_a_path_is_typed_or_pasted_into_its_field_from_the_list(vaults: FirstRun, text: str) -> None:
    app = DonnaApp(lambda choice: scenarios.normal(), first_run=vaults, external=DESKTOP)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert isinstance(app.screen.focused, OptionList)
        send(app, [text])
        field = app.screen.query_one(PathInput)
        await Driver(app, pilot).until(lambda: field.value == "/nowhere/jk", "the whole path is in the field")


async def test_nothing_typed_is_refused_with_an_example(vaults: FirstRun) -> None:
    text = await FirstRunHarness(vaults).run("tab", then="enter")
    assert "Type the path of a folder" in text


async def test_a_known_vault_that_is_gone_is_reported_and_refused(tmp_path: Path) -> None:
    start = FirstRunHarness(FirstRun((KnownVault("old", tmp_path / "gone", "Obsidian"),)))
    text = await start.run("enter")
    assert start.choices == []
    assert "no longer there" in text
    assert "There is no such folder." in text


async def test_without_known_vaults_the_path_field_is_focused(tmp_path: Path) -> None:
    start = FirstRunHarness(FirstRun())
    await start.run(typed=str(tmp_path), then="enter")
    assert start.choices == [VaultChoice(tmp_path)]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36)])
async def test_everything_needed_is_visible(tmp_path: Path, size: tuple[int, int]) -> None:
    known = tuple(KnownVault(f"vault-{number}", tmp_path, "Obsidian") for number in range(3))
    app = DonnaApp(lambda choice: scenarios.normal(), first_run=FirstRun(known, tmp_path / "demo"), external=DESKTOP)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*"~/nowhere", "enter")
        await pilot.pause(0.1)
        shown = Driver(app, pilot).screen_text()
        for text in ("vault-2", "A demo vault", "changes nothing in it", "~/nowhere", "no such folder", "ctrl+q"):
            assert text in shown, text


async def test_tab_completes_a_path_as_a_shell_does(tmp_path: Path) -> None:
    for name in ("notes", "notes-old", "work", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes.md").touch()
    app = DonnaApp(lambda choice: scenarios.normal(), first_run=FirstRun(), external=DESKTOP)
    async with app.run_test(size=(100, 30)) as pilot:
        donna = Driver(app, pilot)
        await pilot.pause()
        field = app.screen.query_one(PathInput)
        field.insert_text_at_cursor(f"{tmp_path}/no")
        await pilot.press("tab")
        await donna.until(lambda: field.value == f"{tmp_path}/notes", "it is completed as far as it is certain")
        await donna.until(lambda: "notes/  notes-old/" in donna.screen_text(), "the candidates are listed")
        await pilot.press("minus", "tab")
        await donna.until(lambda: field.value == f"{tmp_path}/notes-old/", "it is completed")
        assert field.has_focus


def test_path_completion_behaves_like_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("Documents", "Downloads", ".config", "a\x1b[31m"):
        (tmp_path / name).mkdir()
    (tmp_path / "Documents" / "Notes").mkdir()
    assert completed("~").text == "~/"
    assert completed("~/Do") == Completion("~/Do", ("Documents", "Downloads"))
    assert completed("~/doc").text == "~/Documents/"
    assert completed("~/Documents/").text == "~/Documents/Notes/"
    assert completed("~/.c").text == "~/.config/"
    assert completed("~/a").text == "~/a"
    assert completed("~/nothing/here").text == "~/nothing/here"
    assert completed("~nobody-of-that-name/x").text == "~nobody-of-that-name/x"


def test_a_wrong_path_says_which_part_is_wrong_and_what_was_meant(tmp_path: Path) -> None:
    (tmp_path / "Documents").mkdir()
    said = what_is_wrong(tmp_path / "Documets" / "notes")
    assert said == f"There is no such folder. {tmp_path} contains no “Documets”. Did you mean “Documents”?"
    assert what_is_wrong(tmp_path) == ""


@pytest.mark.slow
async def test_a_path_that_cannot_be_opened_is_still_there_with_the_reason(tmp_path: Path) -> None:
    tried: list[VaultChoice | None] = []

    def make(choice: VaultChoice | None) -> FakeBackend:
        tried.append(choice)
        if len(tried) == 1:
            raise SpaceError(Reason.CONFIG_INVALID, "Donna's own folder is inside the vault", hint="set DONNA_HOME")
        return scenarios.normal()

    app = DonnaApp(make, first_run=FirstRun(), external=DESKTOP)
    async with app.run_test(size=(100, 30)) as pilot:
        donna = Driver(app, pilot)
        await pilot.pause()
        app.screen.query_one(PathInput).insert_text_at_cursor(str(tmp_path))
        await pilot.press("enter")
        await donna.until(lambda: "own folder is inside" in donna.screen_text(), "the reason is shown")
        assert app.screen.query_one(PathInput).value == str(tmp_path)
        await pilot.press("enter")
        await donna.until(lambda: isinstance(app.screen, MainScreen), "it is opened at last")
        await donna.complete()


async def test_a_vault_with_a_hostile_name_is_harmless(tmp_path: Path) -> None:
    offer = FirstRun((KnownVault(hostile.EVERYTHING, tmp_path / "x", hostile.EVERYTHING),))
    text = await FirstRunHarness(offer).run()
    assert not [char for char in text if char != "\n" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]


async def test_the_first_start_can_be_quit_without_choosing(vaults: FirstRun) -> None:
    start = FirstRunHarness(vaults)
    async with start.app.run_test() as pilot:
        await pilot.pause()
        await pilot.press("ctrl+q")
    assert start.choices == []


def test_why_not_a_vault_explains_invalid_folders(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.touch()
    assert why_not_a_vault(tmp_path) == ""
    assert "a file" in why_not_a_vault(file)
    assert "no such folder" in why_not_a_vault(tmp_path / "nowhere")


def test_typed_path_expands_home_and_removes_quotes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert typed_path(" ~/notes ") == tmp_path / "notes"
    assert typed_path("'/a b'") == Path("/a b")
    assert typed_path("here") == tmp_path / "here"
    assert typed_path("  ") is None
    assert typed_path("a\0b") is None
    assert typed_path("~nobody-of-that-name/x") is None
