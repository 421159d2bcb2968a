"""Integrate with Obsidian: the vaults in its registry, and the URIs that open a note in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

LARGEST_REGISTRY = 1_000_000
LATEST_STAMP = 1e15


@dataclass(frozen=True, slots=True)
class KnownRoot:
    """A vault in Obsidian's own registry."""

    name: str
    root: Path


def known_vaults(environ: Mapping[str, str]) -> list[KnownRoot]:
    """Return the existing vaults in Obsidian's registry, the most recently opened first; empty without Obsidian."""
    found: dict[Path, float] = {}
    for registry in _registries(environ):
        for root, opened in _read_registry(registry):
            if root.is_absolute() and _is_folder(root):
                found[root] = max(opened, found.get(root, 0.0))
    ordered = sorted(found, key=lambda root: (-found[root], str(root)))
    return [KnownRoot(root.name, root) for root in ordered]


def _registries(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    folders = [
        config / "obsidian",
        home / ".var/app/md.obsidian.Obsidian/config/obsidian",
        home / "snap/obsidian/current/.config/obsidian",
        home / "Library/Application Support/obsidian",
    ]
    if environ.get("APPDATA"):
        folders.append(Path(environ["APPDATA"]) / "obsidian")
    return [folder / "obsidian.json" for folder in folders]


def _read_registry(path: Path) -> list[tuple[Path, float]]:
    try:
        if path.stat().st_size > LARGEST_REGISTRY:
            return []
        vaults = json.loads(path.read_text(encoding="utf-8"))["vaults"]
        entries = list(vaults.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
    return [
        (Path(entry["path"]), _opened(entry.get("ts")))
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("path"), str)
    ]


def _opened(stamp: object) -> float:
    """Return the time at which a vault was opened, in Unix milliseconds; 0 if the registry has no valid number."""
    return float(stamp) if isinstance(stamp, int | float) and 0 <= stamp < LATEST_STAMP else 0.0


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def obsidian_uri(root: Path, path: str) -> str:
    """Return the URI that opens a note in Obsidian. It has the absolute path, as two vaults may have the same name."""
    return f"obsidian://open?path={quote(os.fsencode((root / path).absolute()), safe='')}"
