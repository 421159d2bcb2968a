"""The demo vault is a copy that is reused until somebody changes it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.calendar.mirror import meetings_between
from donna_tui.cli.demo import drafts_in, fill_demo
from donna_tui.cli.demo_vault import demo_folder, make_demo
from donna_tui.cli.session import Session, session_for
from donna_tui.embedding import files as embedding_files
from donna_tui.engine.engine import Engine
from donna_tui.memory.database import open_db
from donna_tui.platform.paths import AppPaths, app_paths, resource
from donna_tui.platform.spaces import space_at
from donna_tui.types.drafts import DraftState
from donna_tui.vault.conflicts import is_conflict_copy
from donna_tui.vault.open import open_writer


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


def furnished(paths: AppPaths) -> Session:
    session = session_for(space_at(make_demo(demo_folder(paths)), paths), paths)
    fill_demo(session)
    return session


def test_it_has_history_a_conflict_and_meetings_around_now_and_is_used_again(paths: AppPaths) -> None:
    session = furnished(paths)
    before = files(session.space.root)
    assert furnished(paths).space.root == session.space.root
    assert files(session.space.root).keys() == before.keys()
    assert any(is_conflict_copy(Path(name).name) for name in before)
    assert len(open_writer(session.config, session.space).history.revisions("", limit=20)) >= 3
    now = time.time()
    db = open_db(session.space.state)
    try:
        near = meetings_between(db.database, now - 86_400, now + 86_400)
        turns = db.database.value("SELECT count(*) FROM turns")
    finally:
        db.close()
    assert any(now < each.start.timestamp() < now + 600 for each in near)
    assert any(each.end.timestamp() < now for each in near)
    assert len({each.event_id for each in near}) == len(near) >= 4
    assert turns >= 4


async def drafted(session: Session) -> list[str]:
    """Return the drafts in Review shortly after the demo was opened."""
    engine = Engine(session.space, session.config, session.paths)
    await engine.start()
    try:
        async with asyncio.timeout(60):
            while len(rows := await engine.drafts.drafts()) < 2:
                await asyncio.sleep(0.05)
    finally:
        await engine.stop()
    return sorted(row.title for row in rows if row.state is DraftState.WAITING)


@pytest.mark.slow
async def test_two_drafts_wait_and_do_not_count_as_a_change_until_a_person_touches_one(
    paths: AppPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_files, "find_weights", lambda: None)
    session = furnished(paths)
    assert await drafted(session) == ["Gateway cutover", "Standup"]
    assert demo_folder(paths) == session.space.root
    furnished(paths)
    assert demo_folder(paths) == session.space.root
    waiting = drafts_in(paths.space_state(session.space.root))
    assert waiting is not None
    note = session.space.root / min(waiting)
    note.write_text(f"{note.read_text()}My own line.\n")
    assert demo_folder(paths).name == "demo-vault-2"


@pytest.mark.parametrize("change", [edit, add, remove])
def test_a_copy_that_was_changed_is_left_alone(paths: AppPaths, change: Callable[[Path], None]) -> None:
    first = make_demo(demo_folder(paths))
    change(first)
    before = files(first)
    second = make_demo(demo_folder(paths))
    assert second == paths.state / "demo-vault-2"
    assert files(first) == before
    assert files(second) == files(resource("vault_templates", "demo"))


@pytest.mark.parametrize("change", [edit, add, remove])
def test_a_filled_copy_that_was_changed_is_left_alone(paths: AppPaths, change: Callable[[Path], None]) -> None:
    session = furnished(paths)
    change(session.space.root)
    before = files(session.space.root)
    assert demo_folder(paths).name == "demo-vault-2"
    assert files(session.space.root) == before


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"files": 3, "template": ""}'])
def test_a_copy_whose_record_is_damaged_is_left_alone(paths: AppPaths, damage: str) -> None:
    folder = furnished(paths).space.root
    folder.with_name(f"{folder.name}.json").write_text(damage)
    assert demo_folder(paths).name == "demo-vault-2"


def test_asking_where_the_copy_will_be_makes_none(paths: AppPaths) -> None:
    demo_folder(paths)
    assert list(paths.state.iterdir()) == []
