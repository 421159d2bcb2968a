"""The demo vault: a copy that is used again as long as nobody changed it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.calendar.mirror import meetings_between
from donna_tui.cli.demo import furnish_demo
from donna_tui.cli.session import session_for
from donna_tui.demo import demo_folder, make_demo
from donna_tui.memory.book import open_book
from donna_tui.paths import AppPaths, app_paths
from donna_tui.resources import resource
from donna_tui.space import space_at


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


def test_it_has_a_repository_and_meetings_around_now_and_is_used_again(paths: AppPaths) -> None:
    session = session_for(space_at(make_demo(demo_folder(paths)), paths), paths)
    for _ in range(2):
        furnish_demo(session)
        assert demo_folder(paths) == session.space.root
    assert (session.space.root / ".git").is_dir()
    now = time.time()
    book = open_book(session.space.state)
    try:
        near = meetings_between(book.database, now - 86_400, now + 86_400)
    finally:
        book.close()
    assert any(now < each.start.timestamp() < now + 3_600 for each in near)
    assert len({each.event_id for each in near}) == len(near) >= 4


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
