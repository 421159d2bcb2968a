"""The demo vault: a copy that is used again as long as nobody changed it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.demo import demo_folder, make_demo
from donna_tui.paths import AppPaths, app_paths
from donna_tui.resources import resource


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"DONNA_HOME": str(tmp_path / "home")}).make()


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_copy_is_complete_and_used_again(paths: AppPaths) -> None:
    folder = make_demo(demo_folder(paths))
    assert folder == paths.state / "demo-vault"
    assert files(folder) == files(resource("vault_templates", "demo"))
    assert len(files(folder)) > 10
    assert demo_folder(paths) == folder
    assert make_demo(folder) == folder


def edit(folder: Path) -> None:
    note = min(folder.rglob("*.md"))
    note.write_text("mine now")
    os.utime(note, (5, 5))


def add(folder: Path) -> None:
    (folder / "Projects").mkdir(exist_ok=True)
    (folder / "Projects" / "mine.md").write_text("mine")


def remove(folder: Path) -> None:
    min(folder.rglob("*.md")).unlink()


@pytest.mark.parametrize("change", [edit, add, remove])
def test_a_copy_that_was_changed_is_left_alone(paths: AppPaths, change: Callable[[Path], None]) -> None:
    first = make_demo(demo_folder(paths))
    change(first)
    before = files(first)
    second = make_demo(demo_folder(paths))
    assert second == paths.state / "demo-vault-2"
    assert files(first) == before
    assert files(second) == files(resource("vault_templates", "demo"))


def test_asking_where_the_copy_will_be_makes_none(paths: AppPaths) -> None:
    demo_folder(paths)
    assert list(paths.state.iterdir()) == []
