"""Define Donna's colour themes: one accent, dim lines, and the text as the brightest element.

The greys are nearly neutral, because terminals with 256 colours map a tinted dark grey to black or to a colour.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.color import Color
from textual.theme import Theme

from donna_tui.platform.paths import replace_durably

_COLOURS = {
    "accent": ("#63c5b0", "#0b6b5d"),
    "warning": ("#dfb15b", "#8a5a00"),
    "error": ("#ef7f73", "#b3261e"),
    "foreground": ("#e3e6eb", "#1c2128"),
    "background": ("#131519", "#fbfaf7"),
    "surface": ("#181b20", "#f4f2ed"),
    "panel": ("#1f2228", "#ebe8e1"),
    "text-muted": ("#98a2b1", "#565d68"),
    "text-disabled": ("#707b8b", "#6e7580"),
    "border-blurred": ("#30353d", "#d3cfc5"),
    "scrollbar": ("#333b46", "#cdc8bc"),
    "scrollbar-hover": ("#4a5564", "#aaa598"),
    "input-selection-background": ("#2b5850", "#b9dcd5"),
    "row-selected": ("#1f2a2a", "#dfeeea"),
    "row-blurred": ("#1d2025", "#f0eee8"),
    "match": ("#245246", "#bfe0d6"),
    "diff-added": ("#16241f", "#e6f3ee"),
    "diff-added-word": ("#245246", "#bfe0d6"),
    "diff-removed": ("#2a1c1d", "#fbebe8"),
    "diff-removed-word": ("#5c302f", "#f3c9c3"),
    "diff-wanted": ("#29241a", "#f8f1dd"),
    "diff-wanted-word": ("#594a28", "#ecd9a6"),
}
"""The colours of the dark and of the light theme."""

_SAME = {
    "accent": ("primary", "secondary", "success", "border", "scrollbar-active"),
    "foreground": ("text",),
    "background": tuple(f"scrollbar-background{state}" for state in ("", "-hover", "-active")),
}
"""The further names of a colour."""

_OF_TEXTUAL = frozenset(Theme.__dataclass_fields__)


def _theme(name: str, number: int) -> Theme:
    colours = {each: pair[number] for each, pair in _COLOURS.items()}
    colours |= {other: colours[each] for each, others in _SAME.items() for other in others}
    variables = {each: colour for each, colour in colours.items() if each not in _OF_TEXTUAL}
    own: dict[str, Any] = {each: colour for each, colour in colours.items() if each in _OF_TEXTUAL}
    return Theme(name=name, dark=not number, variables=variables, **own)


DARK, LIGHT = _theme("donna-dark", 0), _theme("donna-light", 1)
OWN_THEMES = (DARK, LIGHT)
ANSI_THEMES = ("ansi-dark", "ansi-light")
TEXTUAL_THEMES = ("catppuccin-mocha", "catppuccin-latte", "gruvbox", "nord", "tokyo-night", "rose-pine", "dracula")
THEME_NAMES = (*(theme.name for theme in OWN_THEMES), *TEXTUAL_THEMES, *ANSI_THEMES)

_FAINT, _LIGHT, _STRONG = 0.08, 0.16, 0.38
"""Shares of a colour in the background of a row, of changed lines, and of single words."""

_FILLS = {
    "row-selected": ("accent", _LIGHT),
    "row-blurred": ("foreground", _FAINT),
    "match": ("accent", _STRONG),
    "diff-added": ("success", _LIGHT),
    "diff-added-word": ("success", _STRONG),
    "diff-removed": ("error", _LIGHT),
    "diff-removed-word": ("error", _STRONG),
    "diff-wanted": ("warning", _LIGHT),
    "diff-wanted-word": ("warning", _STRONG),
}
_TONES = {
    "text": ("foreground", 1.0),
    "text-muted": ("foreground", 0.74),
    "text-disabled": ("foreground", 0.54),
    "border-blurred": ("foreground", 0.25),
}


def fills(theme: Theme) -> dict[str, str]:
    """Mix the backgrounds of rows, matches and diffs for a theme that does not define them, from its own colours.

    In themes that use the terminal's colours nothing is filled: the bar of a row, or the sign of a line, is the only
    mark.
    """
    return dict.fromkeys(_FILLS, "transparent") if theme.name in ANSI_THEMES else _mixed(theme, _FILLS)


def tones(theme: Theme) -> dict[str, str]:
    """Mix shades of the text for one of Textual's themes.

    Its own shades are relative to the background (`auto 60%`), which is not possible in the style of a span.
    """
    return {} if theme.name in ANSI_THEMES else _mixed(theme, _TONES)


def _mixed(theme: Theme, shares: Mapping[str, tuple[str, float]]) -> dict[str, str]:
    """Mix each colour from the background and a share of another colour; none for Donna's themes, which define them."""
    if theme in OWN_THEMES:
        return {}
    generated = theme.to_color_system().generate()
    background = Color.parse(generated["background"])
    return {name: background.blend(Color.parse(generated[of]), share).hex for name, (of, share) in shares.items()}


class ThemeMemory:
    """Store the theme that was picked in the app, until the settings name another one than at that time."""

    def __init__(self, folder: Path, configured: str) -> None:
        self._file, self._configured = folder / "theme.json", configured

    def theme(self) -> str:
        """Return the theme to start with."""
        try:
            saved = json.loads(self._file.read_text(encoding="utf-8"))
            picked, instead_of = saved["theme"], saved["instead_of"]
        except (OSError, ValueError, KeyError, TypeError):
            return self._configured
        return picked if instead_of == self._configured and picked in THEME_NAMES else self._configured

    def save(self, theme: str) -> None:
        """Save the theme for later sessions. Raises OSError."""
        replace_durably(self._file, json.dumps({"theme": theme, "instead_of": self._configured}))
