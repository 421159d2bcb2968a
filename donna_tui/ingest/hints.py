"""Sorts what the watcher noticed into notes, folders and things that are gone."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from donna_tui.records import dataclass
from donna_tui.vault.client import VaultClient


@dataclass(frozen=True, slots=True)
class SortedHints:
    """Vault-relative paths: notes to read, folders to compare, and paths that are gone (a note or a whole folder)."""

    notes: tuple[str, ...]
    folders: tuple[str, ...]
    vanished: tuple[str, ...]


def sort_hints(client: VaultClient, root: Path, paths: Iterable[str]) -> SortedHints:
    """Look at each path. The root itself counts as a folder named by the empty string."""
    notes: list[str] = []
    folders: list[str] = []
    vanished: list[str] = []
    for path in sorted(paths):
        if any(part.startswith(".") for part in path.split("/")):
            continue
        try:
            mode = (root / path).lstat().st_mode
        except (OSError, ValueError):
            vanished.append(path)
            continue
        if stat.S_ISDIR(mode):
            folders.append(path)
        elif client.is_note(path):
            notes.append(path)
    return SortedHints(tuple(notes), tuple(folders), tuple(vanished))
