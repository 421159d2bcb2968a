"""Find the parts of a note that Obsidian plugins execute: Templater commands and blocks of JavaScript."""

from __future__ import annotations

import re
from collections import Counter

LANGUAGES = (
    "dataviewjs", "datacorejs", "datacorejsx", "datacorets", "datacoretsx", "js-engine", "meta-bind-js-view",
    "customjs",
)  # fmt: skip
"""Info strings of fenced blocks that plugins execute when the note is shown."""

_TEMPLATER = re.compile(r"<%.*?(?:%>|\Z)", re.DOTALL)
_FENCE = re.compile(
    r"^[ \t>*+\-\d.)]{0,100}(?P<fence>`{3,}|~{3,})[ \t{.]*(?:" + "|".join(map(re.escape, LANGUAGES)) + r")(?![\w-])"
    r"(?:.*?^[ \t>*+\-\d.)]{0,100}(?P=fence)|.*\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_INLINE = re.compile(r"`\s{0,20}\$=[^`]*`?")
"""An inline JavaScript query of Dataview; `$=` is the default prefix."""


def executable_parts(text: str) -> Counter[str]:
    """Count each part that some plugin executes, at any position: Templater looks into code blocks too."""
    return Counter(match[0] for pattern in (_TEMPLATER, _FENCE, _INLINE) for match in pattern.finditer(text))


def adds_executable(before: str, after: str) -> bool:
    """Return whether a change adds such a part that was not in the note, character for character, before."""
    return bool(executable_parts(after) - executable_parts(before))
