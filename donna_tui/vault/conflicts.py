"""Conflict copies: the names that sync programs give to a second version of a file edited on two devices at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_DATE = r"\d{4}-?\d{2}-?\d{2}"
_NAMES = (
    # Syncthing, lib/model/folder_sendreceive.go: date, time, and the first part of the device's id
    r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{1,8})?",
    # Dropbox, Nextcloud and ownCloud, Obsidian Sync: owner, then time; each part is optional
    rf" ?\((?:[^()]+['’]s? )?conflicted copy(?: \d{{1,3}}| (?:[^()]+ )?{_DATE}[^()]*)?\)",
    # Dropbox in German, French, Spanish, Italian and Dutch
    r" ?\([^()]*(?:in konflikt stehende kopie|copie en conflit|copia en conflicto|copia in conflitto"
    rf"|conflicterende kopie)[^()]*{_DATE}[^()]*\)",
    # ownCloud and Nextcloud before 2.6
    r"_conflict-\d{8}-\d{6}",
    # Seafile
    r" ?\(SFConflict [^()]*\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2}\)",
    # Synology Drive
    r"_[^_]+_[A-Z][a-z]{2}-\d{2}-\d{4,6}-\d{4}_Conflict",
)
_COPY = re.compile(
    rf"(?P<stem>.*?[^.\s].*?)(?:{'|'.join(_NAMES)})(?: \(\d{{1,3}}\))?", re.IGNORECASE | re.DOTALL | re.ASCII
)
"""A name that ends in one of the marks, except for its extension and the number that a file manager may add."""

_HINT = re.compile(r"[ck]onfli", re.IGNORECASE | re.ASCII)
"""A substring of every mark: matching each name against the full pattern would double the time of a comparison."""


class Keep(StrEnum):
    """The version to keep: the note itself, the copy, or a merge of both."""

    MINE = "mine"
    THEIRS = "theirs"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A conflict copy and its note. `mine` is None if the note no longer exists.

    `base` is the best guess at the common ancestor in the history, from the commit `base_commit`.
    """

    copy: str
    note: str
    mine: bytes | None
    theirs: bytes
    base: bytes | None = None
    base_commit: str = ""


def is_conflict_copy(name: str) -> bool:
    return next(_peeled(name), None) is not None


def original_of(path: str) -> str | None:
    """Return the path of the original of a conflict copy, even for a copy of a copy; None for any other file."""
    folder, slash, name = path.rpartition("/")
    peeled = list(_peeled(name))
    return f"{folder}{slash}{peeled[-1]}" if peeled else None


def _peeled(name: str) -> Iterator[str]:
    """Yield the name without its last mark, then without the one before that, and so on."""
    stem, dot, ending = name.rpartition(".")
    while dot and _HINT.search(stem) and (match := _COPY.fullmatch(stem)):
        stem = match["stem"]
        yield f"{stem}.{ending}"
