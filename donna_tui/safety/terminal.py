"""Sanitise text from notes, names, models and programs for a terminal: control and hidden characters become visible.

Otherwise control bytes move the cursor, write the clipboard or rename the window; bidi controls reverse the rest of the
row; zero-width characters hide text. Markup is not escaped here: widgets draw this text without markup.
"""

from __future__ import annotations

import re

TAB = "    "

_LINE_BREAKS = "\x85\u2028\u2029"
_HIDDEN = "␣"
_SHOWN = (
    # control characters: a picture of each, if no symbol is given
    (0x00, 0x09, ""), (0x0B, 0x1F, ""), (0x7F, 0x7F, "␡"), (0x80, 0x84, "␦"), (0x86, 0x9F, "␦"), (0xD800, 0xDFFF, "�"),
    # line breaks, and the soft hyphen
    (0x85, 0x85, "␤"), (0x2028, 0x2029, "␤"), (0xAD, 0xAD, "‐"),
    # left to right, right to left, and the end of either
    (0x200E, 0x200E, "⇢"), (0x202A, 0x202A, "⇢"), (0x202D, 0x202D, "⇢"), (0x2066, 0x2066, "⇢"),
    (0x061C, 0x061C, "⇠"), (0x200F, 0x200F, "⇠"), (0x202B, 0x202B, "⇠"), (0x202E, 0x202E, "⇠"), (0x2067, 0x2067, "⇠"),
    (0x202C, 0x202C, "⇆"), (0x2068, 0x2069, "⇆"),
    # zero-width: Default_Ignorable_Code_Point of Unicode 15 without those handled separately
    (0x034F, 0x034F, _HIDDEN), (0x115F, 0x1160, _HIDDEN), (0x17B4, 0x17B5, _HIDDEN), (0x180B, 0x180F, _HIDDEN),
    (0x200B, 0x200B, _HIDDEN), (0x2060, 0x2065, _HIDDEN), (0x206A, 0x206F, _HIDDEN), (0x3164, 0x3164, _HIDDEN),
    (0xFEFF, 0xFEFF, _HIDDEN), (0xFFA0, 0xFFA0, _HIDDEN), (0xFFF0, 0xFFFB, _HIDDEN), (0x1BCA0, 0x1BCA3, _HIDDEN),
    (0x1D173, 0x1D17A, _HIDDEN), (0xE0000, 0xE0FFF, _HIDDEN),
)  # fmt: skip
"""Ranges of characters, and what is shown instead."""

_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINING = "\u0600-\u0dff\u1000-\u109f\u1780-\u17ff"
"""Blocks of the scripts in which a joiner selects the shape of letters: Arabic to Sinhala, Myanmar, Khmer."""

_JOINERS = "\u200c\u200d"
_STRAY_JOINER = re.compile(
    rf"(?!(?<=[{_EMOJI}\ufe0f])\u200d[{_EMOJI}]|(?<=[{_JOINING}])[{_JOINERS}][{_JOINING}])[{_JOINERS}]"
)

_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
MAX_MARKS = 4
"""Maximum number of combining marks shown on one letter; more than any language uses."""

_STACK = re.compile(f"([{_MARKS}]{{{MAX_MARKS}}})[{_MARKS}]+")

_SYMBOLS = {code: symbol or chr(0x2400 + code) for low, high, symbol in _SHOWN for code in range(low, high + 1)}
_SYMBOLS |= {ord("\t"): TAB, ord("\r"): "\n"}
_RANGES = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high, _ in _SHOWN)
_CHANGED = re.compile(f"[{_RANGES}{_JOINERS}]|[{_MARKS}]{{{MAX_MARKS + 1}}}")


def clean(text: str) -> str:
    """Sanitise a block of text, so that it contains nothing that a terminal interprets.

    Control bytes become their pictures (␛), and other characters that hide or reorder text a symbol. Line breaks of all
    kinds become LF and a tab four spaces. Marks beyond the fourth on one letter, which would overlap other rows, are
    removed.
    """
    if not _CHANGED.search(text):
        return text
    text = _STRAY_JOINER.sub(_HIDDEN, _STACK.sub(r"\1", text))
    return text.replace("\r\n", "\n").translate(_SYMBOLS)


_REMOVED: dict[int, str | None] = {**dict.fromkeys(_SYMBOLS), **dict.fromkeys(map(ord, f"\r{_LINE_BREAKS}"), "\n")}
del _REMOVED[ord("\t")]


def without_hidden(text: str) -> str:
    """Remove the control and hidden characters that `clean` shows, except tabs. Line breaks of all kinds become LF."""
    return _STRAY_JOINER.sub("", _STACK.sub(r"\1", text)).replace("\r\n", "\n").translate(_REMOVED)


def clean_line(text: str) -> str:
    """Sanitise one row of text: as `clean`, but line breaks become ⏎."""
    return clean(text).replace("\n", "⏎")
