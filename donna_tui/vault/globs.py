"""Ignore patterns: one matcher for listing, watching and reading."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache

REMEMBERED = 8_192


class GlobSet:
    """Patterns such as `Templates/**`, matched at any depth: `a/Templates/x.md` is ignored as well.

    A pattern may come with a vault from elsewhere, so matching takes no more time than pattern times path.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        cores = (pattern.strip("/").removeprefix("**/").removesuffix("/**") for pattern in patterns)
        self._patterns = [tuple(_component(part) for part in core.split("/")) for core in cores if core]
        self._ignores = lru_cache(maxsize=REMEMBERED)(self._matches)

    def matches(self, path: str) -> bool:
        """Whether a vault-relative path, or a folder above it, is ignored."""
        parts = path.split("/")
        return any(self._ignores("/".join(parts[:count])) for count in range(1, len(parts) + 1))

    def _matches(self, path: str) -> bool:
        parts = path.split("/")
        return any(_ends_with(parts, pattern) for pattern in self._patterns)


_ANY_DEPTH = None
_Component = re.Pattern[str] | None


def _component(part: str) -> _Component:
    """One part of a pattern; None stands for any number of folders."""
    if part == "**":
        return _ANY_DEPTH
    escaped = re.sub(r"\*+", "*", part).replace("[", "[[]")
    return re.compile(translate(escaped))


def _ends_with(parts: list[str], pattern: tuple[_Component, ...]) -> bool:
    """Whether the last parts of a path match a pattern: all positions of the pattern are followed at once."""
    reached = {0}
    for part in parts:
        reached = {0} | {after for at in reached for after in _steps(pattern, at, part)}
    return len(pattern) in reached


def _steps(pattern: tuple[_Component, ...], at: int, part: str) -> set[int]:
    if at == len(pattern):
        return set()
    component = pattern[at]
    if component is _ANY_DEPTH:
        return {at, at + 1} | _steps(pattern, at + 1, part)
    return {at + 1} if component.match(part) else set()
