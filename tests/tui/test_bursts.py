"""The app handles bursts of keys, pastes, mouse and resizes in each screen and dialog."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.tui.lib.action import Pane
from donna_tui.tui.lib.containers import BlankSwitcher
from donna_tui.tui.lib.picker import Picker
from donna_tui.tui.shell.first_run import FirstRunScreen
from donna_tui.tui.shell.main import MainScreen
from donna_tui.tui.shell.windows import Palette, ThemePicker
from donna_tui.tui.vault.switcher import Switcher
from donna_tui.types.search import NameMatch
from donna_tui.vault.obsidian import DailyNote
from tests.tui import draft_scenarios, scenarios
from tests.tui.bursts import PANES, at, burst, bursting, check, home, places, send
from tests.tui.driving import Driver, driving
from tests.tui.vault_scenarios import DECISIONS

SEED = os.environ.get("DONNA_TEST_SEED", "donna")


@pytest.mark.cases(1)
@pytest.mark.parametrize(("bursts", "in_a_row"), [(3, 1), pytest.param(2_000, 4, marks=pytest.mark.stress)])
@pytest.mark.parametrize("pane", PANES)
async def test_no_burst_crashes_a_screen_or_a_dialog_opened_from_it(
    pane: Pane, bursts: int, in_a_row: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, utc: None
) -> None:
    draft_scenarios.stop_the_clock(monkeypatch)
    chance = random.Random(f"{SEED}:{pane}")
    actions = [action for each, action in places() if each == pane]
    chance.shuffle(actions)
    async with bursting(tmp_path, monkeypatch) as donna:
        for number in range(bursts):
            action = actions[number // in_a_row % len(actions)]
            if number % in_a_row == 0:
                await at(donna, pane, action)
            await crash_free(donna, chance, f"{pane}, {action}, burst {number}")
        await home(donna)


@pytest.mark.slow
@pytest.mark.parametrize("bursts", [5, pytest.param(2_000, marks=pytest.mark.stress)])
async def test_no_burst_crashes_the_first_start(bursts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(SEED)
    async with bursting(tmp_path, monkeypatch, first_run=True) as donna:
        await donna.window(FirstRunScreen)
        for number in range(bursts):
            await crash_free(donna, chance, f"first start, burst {number}")


async def crash_free(donna: Driver, chance: random.Random, where: str) -> None:
    parts = burst(chance)
    send(donna.app, parts)
    await asyncio.sleep(0.01)
    check(donna, f"{where}: {parts}")


@pytest.mark.slow
async def test_letters_that_match_nothing_may_come_before_the_list_is_drawn() -> None:
    async with driving(scenarios.normal()) as donna:
        for opening in ("\x10", "\x0f", "\x06", "\x1b?"):  # palette, spaces, filter, keys
            send(donna.app, [opening, "why", "zzqx"])
            await donna.rest()
            send(donna.app, ["\x1b", "\x1b"])
            await donna.rest()
        assert donna.app.screen is donna.main


@pytest.mark.slow
async def test_a_key_that_waits_while_a_dialog_opens_is_for_its_widgets() -> None:
    async def names(_: str, __: int) -> tuple[NameMatch, ...]:
        return ()

    async with driving(scenarios.normal()) as donna:
        for key in ("pagedown", "down", "escape"):
            for dialog in (ThemePicker("donna-dark"), Switcher(names)):
                donna.app.post_message(Key(key, None))
                donna.app.push_screen(dialog)
                await donna.rest()
                check(donna, f"{key} in {dialog}")
                send(donna.app, ["\x1b"])
                await donna.until(lambda: donna.app.screen is donna.main, "the dialog is closed")


@pytest.mark.slow
async def test_a_click_on_a_just_removed_widget_goes_to_what_is_there_now() -> None:
    async with driving(scenarios.normal()) as donna:
        text = Static("a text to select")
        await donna.main.mount(text, before=donna.main.strip)
        await donna.rest()
        x, y = text.region.offset
        text.remove()
        for button in (f"\x1b[<0;{x + 3};{y + 1}M", f"\x1b[<32;{x + 4};{y + 1}M", f"\x1b[<0;{x + 4};{y + 1}m"):
            send(donna.app, [button])
        await donna.rest()
        check(donna, "presses on a widget that is gone")


@pytest.mark.slow
async def test_palette_enter_uses_the_filter_typed_before_it() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("ctrl+p")
        await donna.window(Palette)
        send(donna.app, ["g", "o to the rev", "\x15", "review: ", "\x15", "theme: donna light", "\r"])
        await donna.until(lambda: donna.app.screen is donna.main, "the palette is closed")
        await donna.until(lambda: "light" in donna.app.theme, "the theme is the one that was picked")


@pytest.mark.slow
async def test_two_keys_that_both_close_a_dialog_close_one() -> None:
    async with driving(scenarios.normal()) as donna:
        for opening in ("\x07", "\x1bOP", "\x10"):  # jump, help, palette
            send(donna.app, ["\x1b"])
            await donna.press("escape")
            send(donna.app, [opening])
            await donna.until(lambda: donna.app.screen is not donna.main, "the dialog is open")
            for _ in range(3):
                send(donna.app, ["\x1b", "\x1b"])
            await donna.rest()
            assert isinstance(donna.app.screen, MainScreen)
            assert donna.app.screen is donna.main


@pytest.mark.slow
async def test_repeated_key_opens_only_one_dialog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bursting(tmp_path, monkeypatch) as donna:
        donna.main.show_pane("vault")
        await donna.until(lambda: donna.vault.note_tree.notes, "the tree is shown")
        await donna.rest()
        send(donna.app, ["nnn"])
        await donna.window(Picker)
        assert len(donna.app.screen_stack) == 3, "the default screen, the main one, and one dialog"


@pytest.mark.slow
async def test_keys_after_the_key_of_a_screen_that_is_still_loading_act_on_that_screen() -> None:
    backend = scenarios.normal()
    backend.gates.hold("start")
    async with driving(backend, connected=False) as donna:
        async with donna.main._completing:  # the other screens are still being loaded
            backend.gates.release("start")
            await donna.until(lambda: donna.main.strip.status is not None, "the app is connected")
            await donna.press("escape")
            send(donna.app, ["2"])
            await asyncio.sleep(0.1)
            send(donna.app, ["N"])
            await asyncio.sleep(0.1)
        await donna.until(lambda: "New folder" in donna.screen_text(), "the folder is asked for")
        assert donna.main.header.active == "vault"


@pytest.mark.parametrize("pane", ["5", "6"])
async def test_text_typed_right_after_the_keys_that_ask_for_it_is_complete(pane: str) -> None:
    asks = {"5": "a", "6": "f"}  # a dialog of Memory, and a field in Activity
    async with driving(scenarios.normal()) as donna:
        await donna.press("escape")
        send(donna.app, [pane, asks[pane], "cab"])
        await donna.until(lambda: isinstance(donna.app.focused, Input), "the text is asked for")
        await donna.rest()
        assert isinstance(donna.app.focused, Input)
        assert donna.app.focused.value == "cab"


async def test_text_typed_right_after_the_key_of_the_switcher_is_for_it_also_from_the_search_box() -> None:
    async with driving(scenarios.normal()) as donna:
        send(donna.app, ["xyz\x0babc"])
        switcher = await donna.window(Switcher)
        await donna.until(lambda: switcher.query_one(Input).value == "abc", "the letters are in the switcher")
        assert donna.main.search.bar.input.value == "xyz"


@pytest.mark.slow
async def test_a_key_typed_again_while_its_screen_is_added_does_not_cancel_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add = BlankSwitcher.add_content

    async def slowly(switcher: BlankSwitcher, pane: Widget) -> None:
        await add(switcher, pane)
        await asyncio.sleep(0.05)

    monkeypatch.setattr(BlankSwitcher, "add_content", slowly)
    monkeypatch.setattr("donna_tui.tui.app.LONGEST_PANE_WAIT_SECONDS", 0.01)
    backend = scenarios.normal()
    backend.daily = DailyNote(DECISIONS)
    is_ready = asyncio.Event()
    monkeypatch.setattr(backend, "wait_for_first_search", is_ready.wait)  # until then nothing else adds the screens
    async with driving(backend, connected=False) as donna:
        await donna.until(lambda: donna.main.strip.status is not None, "the app is connected")
        for _ in range(4):
            send(donna.app, ["\x1bd"])
            await asyncio.sleep(0.03)
        await donna.until(lambda: donna.main.header.active == "vault", "the note is shown")
        check(donna, "alt+d, four times")
        is_ready.set()
        await donna.rest()
