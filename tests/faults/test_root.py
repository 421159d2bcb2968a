"""If the vault or much of it is missing, nothing is deleted from the index in haste."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from donna_tui.engine.freshness import MISSING
from donna_tui.ingest import index_maintainer as maintainer
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.types.events import EngineStateChanged, NoteDeleted, ReconcileDone
from donna_tui.types.search import SearchRequest
from tests.engine.helpers import Sandbox, eventually, hide_model, index_once, new_sandbox, open_engine

COUNT = 40


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    hide_model(monkeypatch)
    monkeypatch.setattr(maintainer, "ROUND_SECONDS", 0.2)
    monkeypatch.setattr(maintainer, "ROOT_POLL_SECONDS", 0.2)
    sandbox = new_sandbox(tmp_path)
    for number in range(COUNT):
        sandbox.write(f"Notes/{number:02}.md", f"# Note {number}\n\nplover word{number:02}\n")
    return sandbox


def vanish(sandbox: Sandbox, numbers: range) -> None:
    for number in numbers:
        (sandbox.root / f"Notes/{number:02}.md").unlink()


@pytest.mark.slow
async def test_a_missing_root_pauses_and_a_restored_one_resumes(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        away = sandbox.root.with_name("unplugged")
        sandbox.root.rename(away)
        await eventually(lambda: Reason.ROOT_MISSING in running.problems(), "the missing root is a problem")
        await eventually(lambda: running.engine.status().state == "paused", "paused")
        assert running.engine.status().state_detail
        assert len(await running.found("plover", k=32)) == 32
        (away / "Notes" / "new.md").write_text("# New\n\ncormorant\n")
        away.rename(sandbox.root)
        await eventually(lambda: running.engine.status().state == "running", "running again")
        await running.until_found("cormorant", "Notes/new.md")
        assert Reason.ROOT_MISSING not in running.problems()
        assert not running.events_of(NoteDeleted)
        sandbox.write("later.md", "# Later\n\nguillemot\n")
        await running.until_found("guillemot", "later.md")
        states = [event.state for event in running.events_of(EngineStateChanged)]
        assert states == ["starting", "running", "paused", "running"]


@pytest.mark.slow
async def test_a_root_that_becomes_unreadable_pauses_once(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open, denied = os.open, threading.Event()

    def open_or_deny(path: Any, *arguments: Any, **named: Any) -> int:
        if denied.is_set() and path == sandbox.root:
            raise PermissionError(errno.EACCES, "Permission denied")
        return really_open(path, *arguments, **named)

    monkeypatch.setattr(os, "open", open_or_deny)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        denied.set()
        await eventually(lambda: running.engine.status().state == "paused", "paused")
        assert running.engine.status().state_detail.startswith("permission denied")
        await asyncio.sleep(1)  # several polls
        denied.clear()
        await eventually(lambda: running.engine.status().state == "running", "running again")
        states = [event.state for event in running.events_of(EngineStateChanged)]
        assert states == ["starting", "running", "paused", "running"]


@pytest.mark.slow
async def test_a_deleted_root_deletes_nothing_from_the_index(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        shutil.rmtree(sandbox.root)
        await eventually(lambda: running.engine.status().state == "paused", "paused")
        assert await running.found("word07") == ["Notes/07.md"]
        comparisons = len(running.events_of(ReconcileDone))
        sandbox.root.mkdir()
        await eventually(lambda: len(running.events_of(ReconcileDone)) > comparisons, "another comparison")
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "an empty vault is suspicious")
        assert await running.found("word07") == ["Notes/07.md"]
    assert len(sandbox.rows("SELECT 1 FROM memory_documents")) == COUNT


async def test_a_missing_root_at_start_leaves_a_searchable_index(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    space = sandbox.space
    away = sandbox.root.with_name("unplugged")
    sandbox.root.rename(away)
    sandbox.root.mkdir()
    async with open_engine(sandbox, watch=False) as running:
        sandbox.root.rmdir()
        with pytest.raises(VaultReadError) as missing:
            await running.engine.sync()
        assert missing.value.reason is Reason.ROOT_MISSING
        assert await running.found("word07") == ["Notes/07.md"]
        assert running.engine.space == space


@pytest.mark.slow
async def test_a_mass_disappearance_is_held_back_until_resume(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        vanish(sandbox, range(25))
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        assert not running.events_of(NoteDeleted)
        assert await running.found("word07") == ["Notes/07.md"]
        await running.engine.resume()
        await eventually(lambda: len(running.events_of(NoteDeleted)) == 25, "all gone")
        await running.until_lost("word07", "Notes/07.md")
        assert await running.found("word30") == ["Notes/30.md"]
        assert Reason.MASS_DISAPPEARANCE not in running.problems()
    assert len(sandbox.rows("SELECT 1 FROM memory_documents")) == COUNT - 25


@pytest.mark.slow
async def test_another_process_does_not_wait_for_notes_that_are_held_back(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        vanish(sandbox, range(25))
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        async with open_engine(sandbox, watch=False) as other:
            sandbox.write("new.md", "a markhor")
            outcome = await other.engine.search_fresh(SearchRequest(text="markhor", mode="keyword"), 5.0)
            assert ([hit.path for hit in outcome.hits], outcome.note) == (["new.md"], MISSING)


@pytest.mark.slow
async def test_many_notes_deleted_with_donna_need_no_second_confirmation(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        notes = running.engine.notes
        await notes.create_repository()
        plan = await notes.plan_delete_all([f"Notes/{number:02}.md" for number in range(25)])
        async with open_engine(sandbox, watch=False) as other:
            await notes.apply_plan(plan)
            outcome = await other.engine.search_fresh(SearchRequest(text="word07", mode="keyword"), 0.0)
            assert outcome.note != MISSING
        await running.until_lost("word07", "Notes/07.md")
        assert Reason.MASS_DISAPPEARANCE not in running.problems()


@pytest.mark.slow
async def test_notes_that_come_back_end_the_hold(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        away = sandbox.root.parent / "away"
        (sandbox.root / "Notes").rename(away)
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        away.rename(sandbox.root / "Notes")
        await running.engine.retry()
        await eventually(lambda: Reason.MASS_DISAPPEARANCE not in running.problems(), "the hold is over")
        assert not running.events_of(NoteDeleted)


@pytest.mark.slow
async def test_resume_does_not_confirm_later_mass_deletions(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        await running.engine.resume()
        vanish(sandbox, range(25))
        await eventually(lambda: Reason.MASS_DISAPPEARANCE in running.problems(), "held back")
        assert not running.events_of(NoteDeleted)


@pytest.mark.slow
async def test_few_deletions_are_applied_immediately(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        vanish(sandbox, range(5))
        await eventually(lambda: len(running.events_of(NoteDeleted)) == 5, "five gone")
        assert Reason.MASS_DISAPPEARANCE not in running.problems()


async def test_a_command_removes_many_missing_notes_only_in_a_full_sync(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    vanish(sandbox, range(25))
    held = await index_once(sandbox)
    assert Reason.MASS_DISAPPEARANCE in held.problems()
    assert len(sandbox.rows("SELECT 1 FROM memory_documents")) == COUNT
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync(full=True)
    assert len(sandbox.rows("SELECT 1 FROM memory_documents")) == COUNT - 25
