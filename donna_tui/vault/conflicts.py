"""Conflict copies: what sync programs call the second version of a file that was edited on two devices at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_DATE = r"\d{4}-?\d{2}-?\d{2}"
_NAMES = (
    # Syncthing, lib/model/folder_sendreceive.go: date, time, and the first part of the device's id
    r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{1,8})?",
    # Dropbox, Nextcloud and ownCloud, Obsidian Sync: whose, then when; each part may be absent
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
"""Each ends the name, but for its ending and the number that a file manager may add."""

_HINT = re.compile(r"[ck]onfli", re.IGNORECASE | re.ASCII)
"""Stands in each of them: to look more closely at every name would take half of the time that a comparison takes."""


class Keep(StrEnum):
    """Which of the two versions stays: the note itself, the copy beside it, or what both say."""

    MINE = "mine"
    THEIRS = "theirs"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A conflict copy and the note that it is one of. `mine` is None where there is no such note any more.

    `base` is the version in the history that both began with, as far as can be told, from the commit `base_commit`.
    """

    copy: str
    note: str
    mine: bytes | None
    theirs: bytes
    base: bytes | None = None
    base_commit: str = ""


def is_conflict_copy(name: str) -> bool:
    """Whether a file of this name is a conflict copy."""
    return next(_peeled(name), None) is not None


def original_of(path: str) -> str | None:
    """The path of the file that a conflict copy is one of, also for a copy of a copy; None for any other file."""
    folder, slash, name = path.rpartition("/")
    peeled = list(_peeled(name))
    return f"{folder}{slash}{peeled[-1]}" if peeled else None


def _peeled(name: str) -> Iterator[str]:
    """The name without its last mark, then without the one before that."""
    stem, dot, ending = name.rpartition(".")
    while dot and _HINT.search(stem) and (found := _COPY.fullmatch(stem)):
        stem = found["stem"]
        yield f"{stem}.{ending}"
