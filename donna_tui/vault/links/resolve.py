"""Resolve a link to a note by Obsidian's rules."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from donna_tui.vault.client import NOTE_ENDINGS

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ENDINGS = ("", *NOTE_ENDINGS)


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """The note that a link resolves to. `sure` is True unless it was chosen among several of the same name.

    `relative` is True if the link gives a path relative to the folder of its own note.
    """

    path: str
    sure: bool = True
    relative: bool = False


class LinkIndex:
    """An index of the paths of a vault, of notes and other link targets, to resolve links."""

    def __init__(self, paths: Collection[str]) -> None:
        self._folded = {path: folded(path) for path in sorted(paths, key=lambda path: (len(path), path))}
        self._whole: dict[str, list[str]] = {}
        self._ending: dict[str, list[str]] = {}
        """The paths that end with these parts, in order of precedence."""
        for path, rest in self._folded.items():
            self._whole.setdefault(rest, []).append(path)
            while rest:
                self._ending.setdefault(rest, []).append(path)
                rest = rest.partition("/")[2]
        self._moved: tuple[Mapping[str, str], LinkIndex] | None = None

    def moved(self, moves: Mapping[str, str]) -> LinkIndex:
        """Return the same vault after notes moved: old path → new. Only the last request is cached."""
        if self._moved is None or self._moved[0] != moves:
            self._moved = moves, LinkIndex({*self._folded, *moves.values()} - moves.keys())
        return self._moved[1]

    def lookup(self, target: str, note: str, *, is_wiki: bool) -> ResolvedLink | None:
        return self.find(target, note) if is_wiki else self.find_url(target, note)

    def find(self, target: str, note: str) -> ResolvedLink | None:
        """Resolve a wikilink: the exact path if there is one, else a path that ends with the target.

        Of several, the first below the note's own folder is taken, else the first of all: the shortest, then
        alphabetically. Case and Unicode form are ignored, and the extension of a note may be omitted.
        """
        if not target:
            return ResolvedLink(note)
        hits = (self._find(f"{target}{ending}", note) for ending in _ENDINGS)
        return next((hit for hit in hits if hit), None)

    def find_url(self, target: str, note: str) -> ResolvedLink | None:
        """Resolve a Markdown link: a path relative to the note's folder takes precedence, as on the web."""
        if not target:
            return ResolvedLink(note)
        if SCHEME.match(target):
            return None
        way = None if target.startswith("/") else joined(note, target)
        paths = (self._path(f"{way}{ending}") for ending in _ENDINGS) if way else iter(())
        path = next((path for path in paths if path), None)
        return ResolvedLink(path, relative=True) if path else self.find(target, note)

    def _find(self, target: str, note: str) -> ResolvedLink | None:
        if is_dotted(target):
            way = joined(note, target)
            path = self._path(way) if way else None
            return ResolvedLink(path, relative=True) if path else None
        path = self._path(target.removeprefix("/"))
        if path or target.startswith("/"):
            return ResolvedLink(path) if path else None
        found = self._ending.get(folded(target), [])
        folder = folded(note).rpartition("/")[0]
        below = (path for path in found if self._folded[path].startswith(f"{folder}/"))
        best = next(below, None) or next(iter(found), None)
        return ResolvedLink(best, sure=len(found) == 1) if best else None

    def _path(self, path: str) -> str | None:
        """Return the path that equals this one except for case and Unicode form, preferring an exact match."""
        found = self._whole.get(folded(path), [])
        return path if path in found else next(iter(found), None)


def folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).lower()


def is_dotted(target: str) -> bool:
    """Return whether a target is written as a path relative to the folder of its note."""
    return target.startswith(("./", "../"))


def joined(note: str, target: str) -> str | None:
    """Return the path that `target` names from the folder of `note`; None for one above the vault."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(note), target))
    return None if path in ("..", ".") or path.startswith("../") else path


def way(note: str, path: str) -> str:
    return posixpath.relpath(f"/{path}", f"/{posixpath.dirname(note)}")
