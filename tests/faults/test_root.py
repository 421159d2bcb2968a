"""The vault is away, or much of it is: nothing is deleted from the index in haste."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from donna_tui.ingest import index_maintainer as maintainer
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.types.events import EngineStateChanged, NoteDeleted, ReconcileDone
from tests.engine.helpers import Desk, eventually, hide_model, index_once, new_desk, open_engine

COUNT = 40


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    hide_model(monkeypatch)
    monkeypatch.setattr(maintainer, "ROUND_SECONDS", 0.2)
    monkeypatch.setattr(maintainer, "ROOT_POLL_SECONDS", 0.2)
    desk = new_desk(tmp_path)
    for number in range(COUNT):
        desk.write(f"Notes/{number:02}.md", f"# Note {number}\n\nplover word{number:02}\n")
    return desk


def vanish(desk: Desk, numbers: range) -> None:
    for number in numbers:
        (desk.root / f"Notes/{number:02}.md").unlink()


async def test_a_root_that_goes_pauses_and_one_that_comes_back_resumes(desk: Desk) -> None:
    async with open_engine(desk) as running:
        await running.settled(vectors=False)
        away = desk.root.with_name("unplugged")
        desk.root.rename(away)
        await eventually(lambda: Reason.ROOT_MISSING in running.problems(), "the missing root is a problem")
        await eventually(lambda: running.engine.status().state == "paused", "paused")
        assert running.engine.status().state_detail
        assert len(await running.found("plover", k=32)) == 32
        (away / "Notes" / "new.md").write_text("# New\n\ncormorant\n")
        away.rename(desk.root)
        await eventually(lambda: running.engine.status().state == "running", "running again")
        await running.until_found("cormorant", "Notes/new.md")
        assert Reason.ROOT_MISSING not in running.problems()
        assert not running.said(NoteDeleted)
        desk.write("later.md", "# Later\n\nguillemot\n")
        await running.until_found("guillemot", "later.md")
        states = [event.state for event in running.said(EngineStateChanged)]
        assert states == ["starting", "running", "paused", "running"]


async def test_a_deleted_root_deletes_nothing_from_the_index(desk: Desk) -> None:
    async with open_engine(desk) as running:
        await running.settled(vectors=False)
        shutil.rmtree(desk.root)
        await eventually(lambda: running.engine.status().state == "paused", "paused")
        assert await running.found("word07") == ["Notes/07.md"]
        comparisons = len(running.said(ReconcileDone))
        desk.root.mkdir()
        await eventually(lambda: len(running.said(ReconcileDone)) > comparisons, "another comparison")
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "an empty vault is suspicious")
        assert await running.found("word07") == ["Notes/07.md"]
    assert len(desk.rows("SELECT 1 FROM memory_documents")) == COUNT


async def test_a_missing_root_at_start_leaves_a_searchable_index(desk: Desk) -> None:
    await index_once(desk)
    space = desk.space
    away = desk.root.with_name("unplugged")
    desk.root.rename(away)
    desk.root.mkdir()
    async with open_engine(desk, watch=False) as running:
        desk.root.rmdir()
        with pytest.raises(VaultReadError) as missing:
            await running.engine.sync()
        assert missing.value.reason is Reason.ROOT_MISSING
        assert await running.found("word07") == ["Notes/07.md"]
        assert running.engine.space == space


async def test_a_mass_disappearance_is_held_back_until_resume(desk: Desk) -> None:
    async with open_engine(desk) as running:
        await running.settled(vectors=False)
        vanish(desk, range(25))
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        assert not running.said(NoteDeleted)
        assert await running.found("word07") == ["Notes/07.md"]
        await running.engine.resume()
        await eventually(lambda: len(running.said(NoteDeleted)) == 25, "all gone")
        await running.until_lost("word07", "Notes/07.md")
        assert await running.found("word30") == ["Notes/30.md"]
        assert Reason.MASS_DISAPPEARANCE not in running.problems()
    assert len(desk.rows("SELECT 1 FROM memory_documents")) == COUNT - 25


async def test_notes_that_come_back_end_the_hold(desk: Desk) -> None:
    async with open_engine(desk) as running:
        await running.settled(vectors=False)
        away = desk.root.parent / "away"
        (desk.root / "Notes").rename(away)
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        away.rename(desk.root / "Notes")
        await running.engine.retry()
        await eventually(lambda: Reason.MASS_DISAPPEARANCE not in running.problems(), "the hold is over")
        assert not running.said(NoteDeleted)


async def test_resume_without_a_hold_approves_nothing_in_advance(desk: Desk) -> None:
    async with open_engine(desk) as running:
        await running.settled(vectors=False)
        await running.engine.resume()
        vanish(desk, range(25))
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        assert not running.said(NoteDeleted)


async def test_a_few_deletions_are_believed(desk: Desk) -> None:
    async with open_engine(desk) as running:
        await running.settled(vectors=False)
        vanish(desk, range(5))
        await eventually(lambda: len(running.said(NoteDeleted)) == 5, "five gone")
        assert Reason.MASS_DISAPPEARANCE not in running.problems()


async def test_a_command_holds_back_too_until_it_is_asked_in_full(desk: Desk) -> None:
    await index_once(desk)
    vanish(desk, range(25))
    held = await index_once(desk)
    assert Reason.MASS_DISAPPEARANCE in held.problems()
    assert len(desk.rows("SELECT 1 FROM memory_documents")) == COUNT
    async with open_engine(desk, watch=False) as running:
        await running.engine.sync(full=True)
    assert len(desk.rows("SELECT 1 FROM memory_documents")) == COUNT - 25
