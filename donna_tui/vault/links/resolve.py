"""Resolve a link to a note by Obsidian's rule."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from donna_tui.vault.client import NOTE_ENDINGS

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ENDINGS = ("", *NOTE_ENDINGS)


@dataclass(frozen=True, slots=True)
class Hit:
    """A note that a link points to. `sure` says that no rank among several of one name decided it.

    `relative` says that the link gave the way from the folder of its own note.
    """

    path: str
    sure: bool = True
    relative: bool = False


class LinkIndex:
    """The paths of a vault's notes, and of whatever else links may point to, to look up what links mean."""

    def __init__(self, paths: Collection[str]) -> None:
        self._folded = {path: folded(path) for path in sorted(paths, key=lambda path: (len(path), path))}
        self._whole: dict[str, list[str]] = {}
        self._ending: dict[str, list[str]] = {}
        """The paths that end with these parts, in the order in which they are chosen."""
        for path, rest in self._folded.items():
            self._whole.setdefault(rest, []).append(path)
            while rest:
                self._ending.setdefault(rest, []).append(path)
                rest = rest.partition("/")[2]
        self._moved: tuple[Mapping[str, str], LinkIndex] | None = None

    def moved(self, moves: Mapping[str, str]) -> LinkIndex:
        """The same vault after notes moved: old path → new. The last one asked for is kept."""
        if self._moved is None or self._moved[0] != moves:
            self._moved = moves, LinkIndex({*self._folded, *moves.values()} - moves.keys())
        return self._moved[1]

    def resolve(self, target: str, note: str) -> str | None:
        """The path that a wikilink in `note` points to; `target` is without heading and alias."""
        hit = self.find(target, note)
        return hit.path if hit else None

    def find(self, target: str, note: str) -> Hit | None:
        """What a wikilink points to: the path itself if there is one, else one that ends with it.

        Among several the first below the note's own folder is taken, else the first of all: the shortest, then by the
        alphabet. Case and Unicode form do not count, and the ending of a note may be left out.
        """
        if not target:
            return Hit(note)
        hits = (self._find(f"{target}{ending}", note) for ending in _ENDINGS)
        return next((hit for hit in hits if hit), None)

    def find_url(self, target: str, note: str) -> Hit | None:
        """What a Markdown link points to: the way from the note's folder comes first, as on the web."""
        if not target:
            return Hit(note)
        if _SCHEME.match(target):
            return None
        way = None if target.startswith("/") else joined(note, target)
        paths = (self._path(f"{way}{ending}") for ending in _ENDINGS) if way else iter(())
        path = next((path for path in paths if path), None)
        return Hit(path, relative=True) if path else self.find(target, note)

    def _find(self, target: str, note: str) -> Hit | None:
        if is_dotted(target):
            way = joined(note, target)
            path = self._path(way) if way else None
            return Hit(path, relative=True) if path else None
        path = self._path(target.removeprefix("/"))
        if path or target.startswith("/"):
            return Hit(path) if path else None
        found = self._ending.get(folded(target), [])
        folder = folded(note).rpartition("/")[0]
        below = (path for path in found if self._folded[path].startswith(f"{folder}/"))
        best = next(below, None) or next(iter(found), None)
        return Hit(best, sure=len(found) == 1) if best else None

    def _path(self, path: str) -> str | None:
        """The path that is this one but for case and Unicode form, or exactly this one if there are several."""
        found = self._whole.get(folded(path), [])
        return path if path in found else next(iter(found), None)


def resolve(target: str, note: str, notes: Collection[str]) -> str | None:
    """What a wikilink in `note` points to among `notes`. To look up many, keep a `LinkIndex`."""
    return LinkIndex(notes).resolve(target, note)


def folded(path: str) -> str:
    """A path as links compare it."""
    return unicodedata.normalize("NFC", path).lower()


def is_dotted(target: str) -> bool:
    """Whether a target gives the way from the folder of its note in so many words."""
    return target.startswith(("./", "../"))


def joined(note: str, target: str) -> str | None:
    """The path that `target` names from the folder of `note`; None for one above the vault."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(note), target))
    return None if path in ("..", ".") or path.startswith("../") else path


def way(note: str, path: str) -> str:
    """The way from the folder of `note` to `path`."""
    return posixpath.relpath(f"/{path}", f"/{posixpath.dirname(note)}")
