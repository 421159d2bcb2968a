"""The demo vault: a copy of the one that ships with Donna."""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path

from donna_tui.paths import AppPaths
from donna_tui.resources import resource

NAME = "demo-vault"


def demo_folder(paths: AppPaths) -> Path:
    """Where the next demo vault will be. A copy that was changed is somebody's work by now and is left alone."""
    base = paths.state / NAME
    candidates = (base, *(base.with_name(f"{NAME}-{number}") for number in range(2, 1000)))
    return next(each for each in candidates if not each.exists() or _is_pristine(each))


def make_demo(folder: Path) -> Path:
    """Copy the demo vault to `folder`, unless it is there already."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(resource("vault_templates", "demo"), folder)
    return folder


def _is_pristine(folder: Path) -> bool:
    return _same(filecmp.dircmp(resource("vault_templates", "demo"), folder, ignore=[".git"]))


def _same(comparison: filecmp.dircmp[str]) -> bool:
    differs = comparison.left_only or comparison.right_only or comparison.diff_files or comparison.funny_files
    return not differs and all(_same(each) for each in comparison.subdirs.values())
