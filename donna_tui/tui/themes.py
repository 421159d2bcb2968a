"""Donna's colours: one accent, dim lines, and the text as the brightest thing on the screen.

The greys are nearly neutral, because terminals with 256 colours turn a tinted dark grey into black or into a colour.
"""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="donna-dark",
    dark=True,
    primary="#63c5b0",
    secondary="#63c5b0",
    accent="#63c5b0",
    success="#63c5b0",
    warning="#dfb15b",
    error="#ef7f73",
    foreground="#e3e6eb",
    background="#131519",
    surface="#181b20",
    panel="#1f2228",
    variables={
        "text": "#e3e6eb",
        "text-muted": "#98a2b1",
        "text-disabled": "#707b8b",
        "border": "#63c5b0",
        "border-blurred": "#30353d",
        "scrollbar": "#333b46",
        "scrollbar-hover": "#4a5564",
        "scrollbar-active": "#63c5b0",
        "scrollbar-background": "#131519",
        "scrollbar-background-hover": "#131519",
        "scrollbar-background-active": "#131519",
        "input-selection-background": "#2b5850",
        "row-selected": "#1f2a2a",
        "row-blurred": "#1d2025",
        "match": "#245246",
        "diff-added": "#16241f",
        "diff-added-word": "#245246",
        "diff-removed": "#2a1c1d",
        "diff-removed-word": "#5c302f",
        "diff-wanted": "#29241a",
        "diff-wanted-word": "#594a28",
    },
)

LIGHT = Theme(
    name="donna-light",
    dark=False,
    primary="#0b6b5d",
    secondary="#0b6b5d",
    accent="#0b6b5d",
    success="#0b6b5d",
    warning="#8a5a00",
    error="#b3261e",
    foreground="#1c2128",
    background="#fbfaf7",
    surface="#f4f2ed",
    panel="#ebe8e1",
    variables={
        "text": "#1c2128",
        "text-muted": "#565d68",
        "text-disabled": "#6e7580",
        "border": "#0b6b5d",
        "border-blurred": "#d3cfc5",
        "scrollbar": "#cdc8bc",
        "scrollbar-hover": "#aaa598",
        "scrollbar-active": "#0b6b5d",
        "scrollbar-background": "#fbfaf7",
        "scrollbar-background-hover": "#fbfaf7",
        "scrollbar-background-active": "#fbfaf7",
        "input-selection-background": "#b9dcd5",
        "row-selected": "#dfeeea",
        "row-blurred": "#f0eee8",
        "match": "#bfe0d6",
        "diff-added": "#e6f3ee",
        "diff-added-word": "#bfe0d6",
        "diff-removed": "#fbebe8",
        "diff-removed-word": "#f3c9c3",
        "diff-wanted": "#f8f1dd",
        "diff-wanted-word": "#ecd9a6",
    },
)

OWN_THEMES = (DARK, LIGHT)
ANSI_THEMES = ("ansi-dark", "ansi-light")
THEME_NAMES = (*(theme.name for theme in OWN_THEMES), *ANSI_THEMES)

_KINDS = ("added", "removed", "wanted")
_FILLS = ("row-selected", "row-blurred", "match", *(f"diff-{kind}{part}" for kind in _KINDS for part in ("", "-word")))
FALLBACK_VARIABLES = dict.fromkeys(_FILLS, "transparent")
"""For themes that do not know these names: there the bar before a row, or the sign of a line, marks it alone."""
