"""A damaged, foreign or locked index file costs nothing but time, since the notes are the source of truth."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from donna_tui.index import database as index_database
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.events import EngineStateChanged, NoteIndexed, ProblemCleared, ProblemRaised
from tests.engine.helpers import Sandbox, eventually, hide_model, index_once, integrity, new_sandbox, open_engine

WORDS = ("aardvark", "baobab", "cassowary")


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    for word in WORDS:
        sandbox.write(f"Animals/{word}.md", f"# {word.title()}\n\nAll about the {word}.\n" + "filler text " * 400)
    return sandbox


def scribble(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[:100] = os.urandom(100)
    file.write_bytes(data)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 3)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def ruin_the_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    file.write_bytes(data)


@pytest.mark.parametrize("watch", [False, True])
@pytest.mark.parametrize("damage", [scribble, truncate, ruin_the_middle])
async def test_a_damaged_index_is_moved_aside_and_rebuilt(sandbox: Sandbox, damage: object, watch: bool) -> None:
    await index_once(sandbox)
    assert callable(damage)
    damage(sandbox.database)
    ruined = sandbox.database.read_bytes()
    async with open_engine(sandbox, watch=watch) as running:
        if not watch:
            await running.engine.sync()
        for word in WORDS:
            await running.until_found(word, f"Animals/{word}.md")
        raised = [each for each in running.events_of(ProblemRaised) if each.reason is Reason.DATABASE_CORRUPT]
        assert raised
    aside = [file for file in sandbox.database.parent.iterdir() if "damaged" in file.name and file.suffix == ".db"]
    assert [file.read_bytes() for file in aside] == [ruined]
    assert integrity(sandbox.database) == "ok"


async def test_an_empty_index_file_is_filled_again(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    empty(sandbox.database)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        assert await running.found("baobab") == ["Animals/baobab.md"]
    assert integrity(sandbox.database) == "ok"


async def test_index_rebuilt_after_damage_is_reused_at_the_next_start(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    scribble(sandbox.database)
    await index_once(sandbox)
    again = await index_once(sandbox)
    assert not again.events_of(ProblemRaised) or {e.reason for e in again.events_of(ProblemRaised)} == {
        Reason.MODEL_MISSING
    }
    assert not again.events_of(NoteIndexed)


async def test_each_damaged_index_is_kept_under_its_own_name(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    scribble(sandbox.database)
    await index_once(sandbox)
    scribble(sandbox.database)
    await index_once(sandbox)
    aside = [file for file in sandbox.database.parent.iterdir() if "damaged" in file.name and file.suffix == ".db"]
    assert len(aside) == 2


async def test_an_index_of_a_newer_donna_is_left_alone(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    connection = apsw.Connection(str(sandbox.database))
    connection.execute("INSERT INTO migrations VALUES ('9999_future')")
    connection.close()
    before = sandbox.database.read_bytes()
    with pytest.raises(DatabaseError) as refused:
        await index_once(sandbox)
    assert refused.value.reason is Reason.DATABASE_NEWER
    assert "newer" in refused.value.message
    assert refused.value.hint
    assert sandbox.database.read_bytes() == before


async def test_a_locked_index_is_waited_for(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_database, "BUSY_TIMEOUT_MS", 100)
    monkeypatch.setattr("donna_tui.ingest.worker.PAUSE_SECONDS", 0.2)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        blocker = apsw.Connection(str(sandbox.database))
        blocker.set_busy_timeout(10_000)
        blocker.execute("BEGIN IMMEDIATE")
        sandbox.write("late.md", "# Late\n\nzirconium\n")
        await eventually(lambda: Reason.DATABASE_LOCKED in running.problems(), "the lock is a problem")
        assert await running.found("baobab") == ["Animals/baobab.md"]
        blocker.execute("ROLLBACK")
        blocker.close()
        await running.until_found("zirconium", "late.md")
        await eventually(lambda: Reason.DATABASE_LOCKED not in running.problems(), "the lock is over")
        assert ProblemCleared in {type(event) for event in running.events}
        assert running.events_of(EngineStateChanged)[-1].state == "running"
