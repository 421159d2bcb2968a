"""Format the place of a passage, for people and as a wikilink."""

from __future__ import annotations

import re

from donna_tui.types.drafts import Evidence
from donna_tui.types.search import Hit

_BREAKS_A_TARGET = re.compile(r"[\[\]|#^]|%%|[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that end or change an Obsidian link target: brackets, alias, heading and block marks, line ends."""

_BREAKS_A_HEADING = re.compile(r"[\[\]|#^:\\]|%%|[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that Obsidian omits from links to headings; it finds the heading without them."""


def citation(hit: Hit) -> str:
    """Format the place of a passage for people: `Projects/gateway/decisions.md › Decisions › Cache : 41–58`.

    If several spaces were searched, the name of its space is prefixed: `work › Projects/…`.
    """
    return f"{' › '.join((*filter(None, [hit.space]), hit.cited_path, *hit.heading_path))} : {line_range(hit)}"


def location(hit: Hit) -> str:
    """Format path and lines as editors and compilers do: `Projects/gateway/decisions.md:41–58`."""
    return f"{hit.cited_path}:{line_range(hit)}"


def line_range(passage: Hit | Evidence) -> str:
    """Format the lines of a passage: `41–58`, or `41` for one line."""
    if passage.start_line == passage.end_line:
        return str(passage.start_line)
    return f"{passage.start_line}–{passage.end_line}"


_CITED = re.compile(
    r"(?:((?:(?!\.md|\.markdown)[^/])+?) › )?(?:vault:)?(.+?\.(?:md|markdown))(?:(?:#| › ).*?)?"
    r" ?: ?(\d{1,9})(?:[–-](\d{1,9}))?",
    re.I,
)


def cited_lines(text: str) -> tuple[str, str, int, int | None]:
    """Return the space that is named, the path of a note, and its first and last line if the text is a `citation` or a
    `location`.
    """
    found = _CITED.fullmatch(text)
    if found is None:
        return "", text.removeprefix("vault:"), 1, None
    first = max(int(found[3]), 1)
    return found[1] or "", found[2], first, max(int(found[4] or 0), first)


def citation_link(hit: Hit) -> str:
    """Format a wikilink to the section: `[[Projects/gateway/decisions#Decisions#Cache]]`.

    Characters that would end or change the link become spaces, as in Obsidian's links to headings. A path with such
    characters cannot be linked exactly; the link then has the nearest possible target.
    """
    target = _plain(_BREAKS_A_TARGET, re.sub(r"\.md$", "", hit.cited_path, flags=re.IGNORECASE))
    headings = (_plain(_BREAKS_A_HEADING, heading) for heading in hit.heading_path)
    return f"[[{'#'.join((target, *filter(None, headings)))}]]"


def _plain(breaking: re.Pattern[str], text: str) -> str:
    return " ".join(breaking.sub(" ", text).split())
