"""How a passage is cited: for people as path › headings : lines, for Obsidian as a wikilink to the section."""

from __future__ import annotations

import re

from donna_tui.results import Hit

_BREAKS_A_TARGET = re.compile(r"[\[\]|#^]|%%|[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What ends or changes an Obsidian link target: brackets, alias, heading and block marks, comments, line ends."""

_BREAKS_A_HEADING = re.compile(r"[\[\]|#^:\\]|%%|[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Obsidian itself leaves these out when it links to a heading, and finds the heading without them."""


def citation(hit: Hit) -> str:
    """Where a passage stands, for people: `Projects/gateway/decisions.md › Decisions › Cache : 41–58`.

    Where several spaces were asked, the name of its space comes first: `work › Projects/…`.
    """
    return f"{' › '.join((*filter(None, [hit.space]), hit.path, *hit.heading_path))} : {line_range(hit)}"


def location(hit: Hit) -> str:
    """Path and lines, as editors and compilers write them: `Projects/gateway/decisions.md:41–58`."""
    return f"{hit.path}:{line_range(hit)}"


def line_range(hit: Hit) -> str:
    """The lines of a passage: `41–58`, or `41` for one line."""
    if hit.start_line == hit.end_line:
        return str(hit.start_line)
    return f"{hit.start_line}–{hit.end_line}"


def citation_link(hit: Hit) -> str:
    """A wikilink to the section: `[[Projects/gateway/decisions#Decisions#Cache]]`.

    Characters that would end or change the link become spaces, as Obsidian does it for headings. A path that holds
    such characters cannot be linked exactly; the link then names the nearest target that is possible.
    """
    target = _plain(_BREAKS_A_TARGET, re.sub(r"\.md$", "", hit.path, flags=re.IGNORECASE))
    headings = (_plain(_BREAKS_A_HEADING, heading) for heading in hit.heading_path)
    return f"[[{'#'.join((target, *filter(None, headings)))}]]"


def _plain(breaking: re.Pattern[str], text: str) -> str:
    return " ".join(breaking.sub(" ", text).split())
