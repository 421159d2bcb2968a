"""The one sanitiser: what a terminal would obey, hide or reverse becomes a symbol that people see."""

from __future__ import annotations

import re

_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\ufff9\ufffa\ufffb"
_SEPARATORS = "\u2028\u2029"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_BIDI}{_INVISIBLE}{_SEPARATORS}\ufffe\uffff]|\r\n?|\t")
_UNSAFE_IN_LINE = re.compile(f"{_UNSAFE.pattern}|\n")

LONGEST_STACK = 4
"""Combining marks on one letter that are shown; more would paint over the rows above and below."""

_STACK = re.compile(f"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{{{LONGEST_STACK}}})"
                    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+")  # fmt: skip


def clean(text: str) -> str:
    """`text` without anything that a terminal acts on; line ends stay, tabs become spaces.

    Control characters become their pictures (␛), other invisible or reordering characters `⟨U+202E⟩`.
    """
    return _STACK.sub(r"\1", _UNSAFE.sub(_shown, text))


def clean_line(text: str) -> str:
    """The same for one row of the screen: line ends become ⏎."""
    return _STACK.sub(r"\1", _UNSAFE_IN_LINE.sub(_shown, text))


def _shown(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char[0])
    if char in ("\r\n", "\r"):
        return "\n" if "\n" in char else "⏎"
    if char == "\n":
        return "⏎"
    if char == "\t":
        return "    "
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
