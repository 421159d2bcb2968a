"""What the first start needs to know, and how a typed path is checked and completed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from donna_tui.records import dataclass
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.backend import KnownVault


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What the first-run screen offers: vaults that Obsidian knows, and where a demo vault would be made."""

    known: tuple[KnownVault, ...] = ()
    demo_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class VaultChoice:
    """What was chosen: a folder with notes, the demo vault at its folder, or the space of this name."""

    root: Path
    is_demo: bool = False
    space: str = ""


def why_not_a_vault(root: Path) -> str:
    """Why a folder cannot be used as a vault; empty if it can."""
    if not root.exists():
        return "There is no such folder."
    if not root.is_dir():
        return "This is a file; Donna needs the folder that holds your notes."
    if not os.access(root, os.R_OK | os.X_OK):
        return "You are not allowed to read this folder."
    return ""


MOST_LISTED = 5_000
"""Entries of a folder that are looked at for a completion or for a name that was meant."""


def what_is_wrong(root: Path) -> str:
    """Why a folder cannot be used as a vault, which part of its path is wrong, and what may have been meant."""
    reason = why_not_a_vault(root)
    if not reason or root.exists():
        return reason
    there = next((each for each in root.parents if each.is_dir()), None)
    if there is None:
        return reason
    missing = root.relative_to(there).parts[0]
    near = difflib.get_close_matches(missing, _folders(there, hidden=missing.startswith(".")), 1)
    meant = f" Did you mean “{near[0]}”?" if near else ""
    return f"{reason} {clean_line(str(there))} holds no “{clean_line(missing)}”.{meant}"


@dataclass(frozen=True, slots=True)
class Completion:
    """A typed path, completed as far as it is certain, and the names of the folders that it may become."""

    text: str
    names: tuple[str, ...] = ()


def completed(text: str) -> Completion:
    """Complete the last part of a typed path as a shell does: only folders, hidden ones where a dot is typed, and by
    any case where nothing else fits.
    """
    if text.strip() == "~":
        return Completion("~/")
    head, slash, begun = text.rpartition("/")
    folder = typed_path(head + slash if slash else ".")
    if folder is None:
        return Completion(text)
    names = list(_folders(folder, hidden=begun.startswith(".")))
    found = [name for name in names if name.startswith(begun)]
    found = sorted(found or [name for name in names if name.casefold().startswith(begun.casefold())])
    if not found:
        return Completion(text)
    common = os.path.commonprefix(found)  # noqa: RUF071 - the names of one folder
    certain = f"{common}/" if len(found) == 1 else common if len(common) >= len(begun) else begun
    return Completion(f"{head}{slash}{certain}", tuple(found) if len(found) > 1 else ())


def _folders(folder: Path, *, hidden: bool) -> Iterator[str]:
    """The names of folders in a folder that can be shown as they are; none of one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_LISTED):
                if entry.name.startswith(".") == hidden and clean_line(entry.name) == entry.name and entry.is_dir():
                    yield entry.name
    except OSError:
        return


def typed_path(text: str) -> Path | None:
    """The absolute path that somebody typed, `~` expanded; None for nothing, or for a user that does not exist."""
    stripped = text.strip().strip("\"'")
    if not stripped or "\0" in stripped:
        return None
    try:
        return Path(stripped).expanduser().absolute()
    except RuntimeError:
        return None
