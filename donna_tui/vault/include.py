"""Select the files of a folder that are notes: include rules and ignore patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

CACHED_FOLDERS = 8_192


class GlobSet:
    """Patterns such as `Templates/**`, matched at any depth: `a/Templates/x.md` is ignored as well.

    A vault may be untrusted, so matching takes time proportional to pattern length times path length.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        cores = (pattern.strip("/").removeprefix("**/").removesuffix("/**") for pattern in patterns)
        split = [core.split("/") for core in cores if core]
        self._patterns = [tuple(_component(part) for part in parts) for parts in split]
        self._last = re.compile("|".join(_expression(parts[-1]) for parts in split)) if split else _NOTHING
        self._folder_matches = lru_cache(maxsize=CACHED_FOLDERS)(self._any_of)

    def matches(self, path: str) -> bool:
        """Return whether a vault-relative path, or a folder above it, is ignored."""
        folder, _, _ = path.rpartition("/")
        return (bool(folder) and self._folder_matches(folder)) or self._ends(path)

    def _any_of(self, folder: str) -> bool:
        parts = folder.split("/")
        return any(self._ends("/".join(parts[:count])) for count in range(1, len(parts) + 1))

    def _ends(self, path: str) -> bool:
        """Return whether a path itself matches a pattern, after a quick test of its name against all patterns."""
        if not self._last.match(path.rpartition("/")[2]):
            return False
        parts = path.split("/")
        return any(_ends_with(parts, pattern) for pattern in self._patterns)


_ANY_DEPTH = None
_Component = re.Pattern[str] | None
_NOTHING = re.compile(r"(?!)")


def _component(part: str) -> _Component:
    """Compile one part of a pattern; None matches any number of folders."""
    return _ANY_DEPTH if part == "**" else re.compile(_expression(part))


def _expression(part: str) -> str:
    return translate(re.sub(r"\*+", "*", part).replace("[", "[[]"))


def _ends_with(parts: list[str], pattern: tuple[_Component, ...]) -> bool:
    """Return whether the last parts of a path match a pattern, by simulating a nondeterministic automaton."""
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


NOTE_ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Include:
    """Files by their path, and folders with their contents. Empty means everything."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        return not self.files and not self.folders

    @property
    def places(self) -> tuple[str, ...]:
        """Return the paths of the sources, as arguments for programs: the whole root if nothing is excluded."""
        return (".",) if self.is_everything else (*self.files, *self.folders)

    def holds(self, path: str) -> bool:
        """Return whether a file is a source, by its path alone."""
        if self.is_everything or path in self.files:
            return True
        return path.endswith(NOTE_ENDING) and self.holds_folder(path.rpartition("/")[0])

    def holds_folder(self, path: str) -> bool:
        """Return whether everything in a folder may be a source."""
        return self.is_everything or any(f"{path}/".startswith(f"{folder}/") for folder in self.folders)


EVERYTHING = Include()
