"""What the first start needs to know, and what it finds out."""

from __future__ import annotations

import os
from pathlib import Path

from donna_tui.records import dataclass
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


def typed_path(text: str) -> Path | None:
    """The absolute path that somebody typed, `~` expanded; None for nothing, or for a user that does not exist."""
    stripped = text.strip().strip("\"'")
    if not stripped or "\0" in stripped:
        return None
    try:
        return Path(stripped).expanduser().absolute()
    except RuntimeError:
        return None
