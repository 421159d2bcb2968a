"""Markdown as plain text on one line: what it says, without the marks that say how it looks."""

from __future__ import annotations

import html
import re

LONGEST = 8_000
"""Characters that are read; no excerpt is of more."""

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, replacement, flags in (
        (r"<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)", " ", re.DOTALL),
        (r"^[ \t]*(?:```|~~~).*$", " ", re.MULTILINE),
        (
            r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$|^[ \t]*\|[ \t:-]+\|[ \t]*$",
            " ",
            re.MULTILINE,
        ),
        (r"^[ \t]*(?:[-*_][ \t]*){3,}$|^[ \t]*=+[ \t]*$", " ", re.MULTILINE),
        (r"^(?:[ \t]*>)+[ \t]?(?:\[![\w-]+\][+-]?[ \t]*)?", "", re.MULTILINE),
        (r"^[ \t]*#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", r"\1", re.MULTILINE),
        (r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ \t]\][ \t]+", "☐ ", re.MULTILINE),
        (r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[\S\][ \t]+", "☑ ", re.MULTILINE),
        (r"^[ \t]*[-*+][ \t]+", "• ", re.MULTILINE),
        (r"[ \t]+\^[A-Za-z0-9-]+[ \t]*$", "", re.MULTILINE),
        (r"^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", "", re.MULTILINE),
        (r"!?\[\[[^\[\]|\n]*\|([^\[\]\n]+)\]\]", r"\1", 0),
        (r"!?\[\[#?\^?([^\[\]\n]+)\]\]", r"\1", 0),
        (r"[ \t]\|[ \t]", " · ", 0),
        (r"\[\^[^\]\s]+\]:?", "", 0),
        (r"!?\[([^\[\]\n]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)", r"\1", 0),
        (r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1", 0),
        (r"<((?:https?://|mailto:)[^<>\s]+)>", r"\1", 0),
        (r"</?[A-Za-z][^<>\n]*>", " ", 0),
        (r"(\*\*\*|\*\*|~~|==)(?=\S)([^\n]{1,500}?)(?<=\S)\1", r"\2", 0),
        (r"(?<!\w)__(?=\S)([^\n]{1,500}?)(?<=\S)__(?!\w)", r"\1", 0),
        (r"(?<![\w*\\])\*(?=[^\s*])([^*\n]+?)(?<=[^\s\\])\*(?![\w*])", r"\1", 0),
        (r"(?<![\w_\\])_(?=[^\s_])([^_\n]+?)(?<=[^\s\\])_(?![\w_])", r"\1", 0),
        (r"(`+)([^`\n]+)\1(?!`)", r"\2", 0),
        (r"\\([!-/:-@\[-`{-~])", r"\1", 0),
    )
)
"""Comments, fences, table rules, horizontal rules; quotes and callouts, headings, lists, block ids, table edges; links
and embeds, cells, footnotes, HTML; emphasis, code, escapes."""


def plain_text(markdown: str) -> str:
    """The text of some Markdown on one line. It is for reading only: what it leaves is not checked in any way."""
    text = markdown[:LONGEST]
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    if "&" in text:
        text = html.unescape(text)
    return " ".join(text.split())
