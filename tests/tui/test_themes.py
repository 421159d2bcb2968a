"""Themes: previewed while they are picked, saved, and legible."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from donna_tui.tui.shell.windows import ThemePicker
from donna_tui.tui.themes import ANSI_THEMES, TEXTUAL_THEMES, THEME_NAMES, ThemeMemory, fills, tones
from tests.tui import scenarios
from tests.tui.driving import driving
from tests.tui.test_app import contrast


@pytest.mark.slow
async def test_a_theme_is_shown_while_it_is_selected_and_escape_restores_the_one_before() -> None:
    kept: list[str] = []
    async with driving(scenarios.normal(), save_theme=kept.append) as donna:
        await donna.press("f9")
        await donna.window(ThemePicker)
        await donna.type("nord")
        await donna.until(lambda: donna.app.theme == "nord", "it is shown")
        await donna.press("escape")
        await donna.until(lambda: donna.app.theme == "donna-dark", "the earlier one is shown again")
        assert kept == []
        await donna.press("f9")
        await donna.window(ThemePicker)
        await donna.type("gruvbox")
        await donna.press("enter")
        await donna.until(lambda: kept == ["gruvbox"], "it is kept")
        await donna.rest()
        assert donna.app.theme == "gruvbox"


def test_a_picked_theme_is_remembered_until_the_settings_change(tmp_path: Path) -> None:
    assert ThemeMemory(tmp_path, "donna-dark").theme() == "donna-dark"
    ThemeMemory(tmp_path, "donna-dark").save("nord")
    assert ThemeMemory(tmp_path, "donna-dark").theme() == "nord"
    assert ThemeMemory(tmp_path, "donna-light").theme() == "donna-light"
    (tmp_path / "theme.json").write_text('{"theme": "no such theme", "instead_of": "donna-dark"}')
    assert ThemeMemory(tmp_path, "donna-dark").theme() == "donna-dark"
    (tmp_path / "theme.json").write_bytes(b"\xff")
    assert ThemeMemory(tmp_path, "donna-dark").theme() == "donna-dark"


def test_there_are_enough_themes() -> None:
    assert len(THEME_NAMES) >= 8
    assert {"gruvbox", "nord", "tokyo-night", "rose-pine", *ANSI_THEMES} <= set(THEME_NAMES)


@pytest.mark.parametrize("name", TEXTUAL_THEMES)
def test_text_can_be_read_on_rows_matches_and_changes(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    foreground = Color.parse(theme.to_color_system().generate()["foreground"]).hex
    for ground in fills(theme).values():
        assert contrast(foreground, ground) >= 3
    background = Color.parse(theme.to_color_system().generate()["background"]).hex
    shades = tones(theme)
    read = [contrast(shades[shade], background) for shade in ("text", "text-muted", "text-disabled", "border-blurred")]
    assert read == sorted(read, reverse=True)
    assert read[1] >= 3.5
