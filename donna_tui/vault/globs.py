"""Ignore patterns: one matcher for listing, watching and reading."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


class GlobSet:
    """Patterns such as `Templates/**`, matched at any depth: `a/Templates/x.md` is ignored as well."""

    def __init__(self, patterns: Iterable[str]) -> None:
        parts = [_translated(pattern) for pattern in patterns if pattern.strip("/")]
        self._regex = re.compile("|".join(parts)) if parts else None

    def matches(self, path: str) -> bool:
        """Whether a vault-relative path, or a folder above it, is ignored."""
        return bool(self._regex and self._regex.fullmatch(path))


@lru_cache(maxsize=256)
def _translated(pattern: str) -> str:
    """`**` spans folders, `*` and `?` stay within one; what matches a folder holds for all that is below it."""
    core = pattern.strip("/").removeprefix("**/").removesuffix("/**")
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", core)
    table = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return f"(?s:(?:.*/)?{''.join(table.get(token) or re.escape(token) for token in tokens)}(?:/.*)?)"
