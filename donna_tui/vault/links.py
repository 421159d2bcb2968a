"""Wikilinks: what a note points to."""

from __future__ import annotations

LONGEST_LINK = 400
_LINE_BREAKS = frozenset("\r\n")


def extract_links(text: str) -> list[str]:
    """The targets of `[[target#heading|alias]]` and `![[embeds]]`, bare, in order, each once. Linear in the text."""
    found: dict[str, None] = {}
    position = text.find("[[")
    while position >= 0:
        start = position + 2
        end = text.find("]]", start, start + LONGEST_LINK)
        inner = text[start:end] if end >= 0 else ""
        nested = inner.rfind("[[")
        if nested >= 0:
            inner = inner[nested + 2 :]
        target = inner.split("|", 1)[0].split("#", 1)[0].rstrip("\\").strip()
        if target and not _LINE_BREAKS.intersection(inner):
            found[target] = None
        position = text.find("[[", end if end >= 0 else start)
    return list(found)
