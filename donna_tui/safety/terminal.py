"""Sanitise text from notes, names, models and programs for a terminal: control and hidden characters become visible.

Otherwise control bytes move the cursor, write the clipboard or rename the window; bidi controls reverse the rest of the
row; zero-width characters hide text. Markup is not escaped here: widgets draw this text without markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

TAB = "    "

_LEFT_TO_RIGHT = "\u200e\u202a\u202d\u2066"
_RIGHT_TO_LEFT = "\u061c\u200f\u202b\u202e\u2067"
_DIRECTION_END = "\u202c\u2068\u2069"
_SOFT_HYPHEN = "\xad"
_LINE_BREAKS = "\x85\u2028\u2029"
_HIDDEN = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200B), (0x2060, 0x2065),
    (0x206A, 0x206F), (0x3164, 0x3164), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Zero-width characters; source: Default_Ignorable_Code_Point of Unicode 15 without those handled separately."""

_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINING = "\u0600-\u0dff\u1000-\u109f\u1780-\u17ff"
"""Blocks of the scripts in which a joiner selects the shape of letters: Arabic to Sinhala, Myanmar, Khmer."""

_JOINERS = (0x200C, 0x200D)
_STRAY_JOINER = re.compile(
    rf"(?!(?<=[{_EMOJI}\ufe0f])\u200d[{_EMOJI}]|(?<=[{_JOINING}])[\u200c\u200d][{_JOINING}])[\u200c\u200d]"
)

_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
MAX_MARKS = 4
"""Maximum number of combining marks shown on one letter; more than any language uses."""

_STACK = re.compile(f"([{_MARKS}]{{{MAX_MARKS}}})[{_MARKS}]+")


def _symbols() -> Iterator[tuple[int, str]]:
    """Yield each character with its replacement; later entries override earlier ones."""
    yield from ((code, chr(0x2400 + code)) for code in range(0x20))
    yield 0x7F, "␡"
    yield from ((code, "␦") for code in range(0x80, 0xA0))
    yield from ((code, "�") for code in range(0xD800, 0xE000))
    for start, end in _HIDDEN:
        yield from ((code, "␣") for code in range(start, end + 1))
    for chars, symbol in (
        (_LINE_BREAKS, "␤"),
        (_SOFT_HYPHEN, "‐"),
        (_LEFT_TO_RIGHT, "⇢"),
        (_RIGHT_TO_LEFT, "⇠"),
        (_DIRECTION_END, "⇆"),
    ):
        yield from ((ord(char), symbol) for char in chars)


def _ranges(codes: Iterable[int]) -> str:
    """Format code points as the inside of a character class."""
    runs: list[list[int]] = []
    for code in sorted(codes):
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in runs)


_SYMBOLS = dict(_symbols()) | {ord("\t"): TAB, ord("\r"): "\n"}
del _SYMBOLS[ord("\n")]
_CHANGED = re.compile(f"[{_ranges([*_SYMBOLS, *_JOINERS])}]|[{_MARKS}]{{{MAX_MARKS + 1}}}")


def clean(text: str) -> str:
    """Sanitise a block of text, so that it contains nothing that a terminal interprets.

    Control bytes become their pictures (␛), and other characters that hide or reorder text a symbol. Line breaks of all
    kinds become LF and a tab four spaces. Marks beyond the fourth on one letter, which would overlap other rows, are
    removed.
    """
    if not _CHANGED.search(text):
        return text
    text = _STRAY_JOINER.sub("␣", _STACK.sub(r"\1", text))
    return text.replace("\r\n", "\n").translate(_SYMBOLS)


_REMOVED: dict[int, str | None] = {**dict.fromkeys(_SYMBOLS), **dict.fromkeys(map(ord, f"\r{_LINE_BREAKS}"), "\n")}
del _REMOVED[ord("\t")]


def without_hidden(text: str) -> str:
    """Remove the control and hidden characters that `clean` shows, except tabs. Line breaks of all kinds become LF."""
    return _STRAY_JOINER.sub("", _STACK.sub(r"\1", text)).replace("\r\n", "\n").translate(_REMOVED)


def clean_line(text: str) -> str:
    """Sanitise one row of text: as `clean`, but line breaks become ⏎."""
    return clean(text).replace("\n", "⏎")
