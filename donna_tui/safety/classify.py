"""Classify the sensitivity of a note. In doubt it is private: a leak cannot be undone, a wrong flag can.

A note is private by `donna: local-only` or by a true value of the configured key in its frontmatter; or if its
frontmatter cannot be parsed reliably, or has a flag in a form that is not valid frontmatter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import Enum
from itertools import takewhile
from typing import Any

DEFAULT_SENSITIVE_KEY = "donna_sensitive"

HEAD_CHARS = 4096
"""Number of characters of a note searched for a flag that did not parse."""

_NO = frozenset({"false", "no", "n", "off", "0", "public"})
_LOCAL_ONLY_KEY = "donna"
_FENCES = {"---": ("---", "..."), "+++": ("+++",), ";;;": (";;;",), "{": ("}",)}
"""Opening marks of metadata blocks in various programs, and the lines that close them."""

_ASSIGNED = r"[\"']?\s*+[:=]++[\s\"'\[{]*+"


class Sensitivity(Enum):
    """The sensitivity of a note, from least to most private."""

    PUBLIC = "public"
    LOCAL_ONLY = "local-only"
    """Its text never leaves this machine."""
    DONNA_SENSITIVE = "donna-sensitive"
    """Private, and never written by Donna."""


def classify(
    metadata: Mapping[str, Any] | None, head: str, *, key: str = DEFAULT_SENSITIVE_KEY, broken: bool = False
) -> Sensitivity:
    """Return the sensitivity of the note with this frontmatter.

    `metadata` is None without frontmatter; `broken` is set if it is unreadable or ambiguous. `head` is the beginning of
    the whole file, at least 4 KiB of it; `key` is the frontmatter key that marks a note as sensitive.
    """
    head = head[:HEAD_CHARS]
    if _flagged(metadata, key) or (broken and _letters(key) in _letters(head)):
        return Sensitivity.DONNA_SENSITIVE
    if broken or _flagged(metadata, _LOCAL_ONLY_KEY):
        return Sensitivity.LOCAL_ONLY
    return _unparsed_flag(head, key) if metadata is None else Sensitivity.PUBLIC


def _flagged(metadata: Mapping[str, Any] | None, key: str) -> bool:
    """Return whether any spelling of `key` has a value other than a clear no."""
    normalised_key = _letters(key)
    return any(_letters(name) == normalised_key and not _is_no(value) for name, value in (metadata or {}).items())


def _is_no(value: object) -> bool:
    if isinstance(value, str):
        return _letters(value) in _NO
    return value is False or value == 0


def _letters(name: object) -> str:
    """Reduce a name to letters and digits, ignoring case, dashes, full-width forms and invisible characters."""
    folded = unicodedata.normalize("NFKC", str(name)).casefold()
    return "".join(char for char in folded if char.isalnum())


def _unparsed_flag(head: str, key: str) -> Sensitivity:
    """Find the flag in a note without frontmatter: in TOML, JSON, an unterminated block, or lines without a fence."""
    lines = head.lstrip("\ufeff \t\r\n").splitlines()
    if not lines:
        return Sensitivity.PUBLIC
    fence = next((fence for fence in _FENCES if lines[0].startswith(fence)), "")
    if fence:  # all lines, if the block is unterminated
        closing = (number for number, line in enumerate(lines) if number and line.rstrip() in _FENCES[fence])
        candidates = lines[: next(closing, len(lines))]
    else:
        candidates = list(takewhile(str.strip, lines))
    if any(_asserts(line, key, r"[\w-]++", is_full_line=not fence) for line in candidates):
        return Sensitivity.DONNA_SENSITIVE
    if any(_asserts(line, _LOCAL_ONLY_KEY, r"local[-_ ]?only", is_full_line=not fence) for line in candidates):
        return Sensitivity.LOCAL_ONLY
    return Sensitivity.PUBLIC


def _asserts(line: str, key: str, value: str, *, is_full_line: bool) -> bool:
    """Return whether the line sets `key` to a value other than a clear no, and, for `is_full_line`, nothing else."""
    name = r"[-_ ]?".join(re.escape(part) for part in re.split(r"[-_ ]", key))
    pattern = rf"(?<![\w-]){name}{_ASSIGNED}(?P<value>{value})"
    match = re.fullmatch(rf"\s*+{pattern}\s*+", line, re.I) if is_full_line else re.search(pattern, line, re.I)
    return match is not None and not _is_no(match["value"])
