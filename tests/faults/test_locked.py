"""An index that another program has locked is read meanwhile, and updated as soon as it is free."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from donna_tui.engine import index_lease
from donna_tui.index import database
from donna_tui.index.database import open_database
from donna_tui.types.errors import DatabaseError, Reason
from tests.engine.helpers import Sandbox, eventually, hide_model, index_once, new_sandbox, open_engine


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    hide_model(monkeypatch)
    monkeypatch.setattr(index_lease, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 50)
    sandbox = new_sandbox(tmp_path)
    sandbox.write("early.md", "# Early\n\nmarmot\n")
    return sandbox


@contextlib.contextmanager
def write_locked(path: Path) -> Iterator[None]:
    """Hold a write lock on the index."""
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


async def test_a_locked_index_is_read_until_it_is_free(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    sandbox.write("late.md", "# Late\n\nokapi\n")
    with write_locked(sandbox.database):
        async with open_engine(sandbox) as running:
            await eventually(lambda: running.engine.read_only, "the lock is noticed")
            assert Reason.DATABASE_LOCKED in running.problems()
            assert "locked" in running.engine.status().state_detail
            assert await running.found("marmot") == ["early.md"]
            with pytest.raises(DatabaseError) as refused:
                await running.engine.sync()
            assert refused.value.reason is Reason.DATABASE_LOCKED
    async with open_engine(sandbox) as running:
        await running.until_found("okapi", "late.md")


async def test_released_database_lock_is_acquired(sandbox: Sandbox) -> None:
    await index_once(sandbox)
    with contextlib.ExitStack() as other:
        other.enter_context(write_locked(sandbox.database))
        async with open_engine(sandbox) as running:
            await eventually(lambda: running.engine.read_only, "the lock is noticed")
            sandbox.write("late.md", "# Late\n\nokapi\n")
            other.close()
            await running.until_found("okapi", "late.md")
            assert running.problems() == {Reason.MODEL_MISSING}
            assert running.engine.status().state == "running"


async def test_index_lock_during_work_is_a_temporary_problem(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("donna_tui.ingest.worker.PAUSE_SECONDS", 0.1)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        with write_locked(sandbox.database):
            sandbox.write("late.md", "# Late\n\nokapi\n")
            await eventually(lambda: Reason.DATABASE_LOCKED in running.problems(), "the lock is a problem")
            assert await running.found("marmot") == ["early.md"]
        await running.until_found("okapi", "late.md")
        await eventually(lambda: Reason.DATABASE_LOCKED not in running.problems(), "the problem is over")


async def test_the_second_donna_takes_over_when_the_first_ends(sandbox: Sandbox) -> None:
    async with contextlib.AsyncExitStack() as first:
        running = await first.enter_async_context(open_engine(sandbox, what="the first"))
        await running.wait_until_indexed(vectors=False)
        async with open_engine(sandbox, what="the second") as second:
            assert second.engine.read_only
            await first.aclose()
            await eventually(lambda: not second.engine.read_only, "the second keeps the index")
            sandbox.write("late.md", "# Late\n\nokapi\n")
            await second.until_found("okapi", "late.md")
            assert second.engine.status().state == "running"


async def test_an_index_without_tables_is_not_ready_rather_than_broken(sandbox: Sandbox) -> None:
    sandbox.space.state.mkdir(parents=True)
    open_database(sandbox.database).close()
    with write_locked(sandbox.database):
        async with open_engine(sandbox) as running:
            with pytest.raises(DatabaseError) as refused:
                await running.search("marmot")
            assert refused.value.reason is Reason.BUSY
    async with open_engine(sandbox) as running:
        await running.until_found("marmot", "early.md")
