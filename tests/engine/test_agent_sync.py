"""When an agent's index is updated, what an answer states about its freshness, and that two agents stay separate."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from donna_tui.config.models import MemoryConfig
from donna_tui.embedding.provider import Matrix
from donna_tui.engine.freshness import DIFFERS, LATE, MISSING, SingleFlight
from donna_tui.index.database import Database
from donna_tui.ingest.index_maintainer import IndexMaintainer
from donna_tui.ingest.reconcile import differing
from donna_tui.ops.status import list_spaces
from donna_tui.platform.spaces import known_spaces
from donna_tui.types.errors import Reason, SpaceError, VaultReadError, VaultWriteError
from donna_tui.types.events import ReconcileDone
from donna_tui.vault.client import VaultClient
from donna_tui.vault.open import open_writer, vault_client
from tests.engine.agent_sandboxes import AgentSandbox, agent_engine, agent_sandbox, fresh, paths_of, tree
from tests.engine.helpers import eventually, everything_below
from tests.engine.providers import FaultyModel, serve

QUIET = {"watch": False, "on_session_start": False}


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, FaultyModel())


def filled(sandbox: AgentSandbox) -> AgentSandbox:
    sandbox.write("MEMORY.md", "# Memory\n\nThe kestrel nests in the tower.\n")
    sandbox.write("memory/2026-01-01.md", "# Day\n\nA kestrel was seen.\n")
    return sandbox


# Not indexed


@pytest.mark.parametrize(
    "case", ["missing", "read-only", "none", "off", "read-only disk", "a file"],
)  # fmt: skip
@pytest.mark.parametrize("watch", [False, True])
async def test_a_memory_that_is_not_indexed_is_reported_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, watch: bool
) -> None:
    access = {"read-only": {"access": "ro"}, "none": {"access": "none"}, "off": {"enabled": False}}.get(case, {})
    sandbox = agent_sandbox(tmp_path, **access)
    if case == "a file":
        sandbox.root.parent.mkdir()
        sandbox.root.write_text("x")
    elif case != "missing":
        filled(sandbox)
    if case == "read-only disk":
        monkeypatch.setattr("os.access", lambda path, mode: mode & 2 == 0)
    before = tree(tmp_path)
    async with agent_engine(sandbox, watch=watch) as running:
        for outcome in (await fresh(running, "kestrel"), await fresh(running, "kestrel", 0), await running.search("x")):
            assert (outcome.indexed, outcome.stale, outcome.hits) == (False, False, ())
            assert outcome.reason == "not_indexed"
            assert outcome.note.startswith("the memory of peter is not indexed: ")
        status = running.engine.status()
        assert status.state == "paused"
        assert "not indexed" in status.state_detail
        await refuses(running.engine)
    await asyncio.to_thread(list_spaces, sandbox.config, sandbox.paths)
    assert tree(tmp_path) == before
    assert not sandbox.home.exists()


async def refuses(engine: object) -> None:
    """Check that everything that would open or write something raises the reason."""
    from donna_tui.engine.engine import Engine

    assert isinstance(engine, Engine)
    for property_ in ("memory", "drafts", "notes"):
        with pytest.raises(SpaceError):
            getattr(engine, property_)
    for work in (engine.sync, engine.folders, engine.sources):
        with pytest.raises(SpaceError):
            await work()


def test_a_memory_that_may_not_be_read_is_not(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, access="none"))
    with pytest.raises(SpaceError) as caught:
        vault_client(sandbox.config, sandbox.root)
    assert caught.value.reason is Reason.NOT_INDEXED
    with pytest.raises(SpaceError):
        open_writer(sandbox.config, sandbox.space)


def test_a_memory_that_may_be_read_is_not_written(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, access="ro"))
    assert "kestrel" in vault_client(sandbox.config, sandbox.root).read("MEMORY.md").text
    with pytest.raises(SpaceError) as caught:
        open_writer(sandbox.config, sandbox.space)
    assert caught.value.reason is Reason.NOT_INDEXED


@pytest.mark.parametrize("watch", [False, True])
async def test_a_workspace_that_is_created_later_is_indexed_then(tmp_path: Path, watch: bool) -> None:
    sandbox = agent_sandbox(tmp_path)
    async with agent_engine(sandbox, watch=watch) as running:
        assert not (await fresh(running, "kestrel")).indexed
        filled(sandbox)
        several = await asyncio.gather(*(fresh(running, "kestrel") for _ in range(5)))
        assert all(outcome.indexed and len(paths_of(outcome)) == 2 for outcome in several)


async def test_a_removed_workspace_is_no_longer_indexed(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path))
    async with agent_engine(sandbox, watch=True) as running:
        assert len(paths_of(await fresh(running, "kestrel"))) == 2
        sandbox.root.rename(tmp_path / "away")
        gone = await fresh(running, "kestrel")
        assert (gone.indexed, gone.hits) == (False, ())
        (tmp_path / "away").rename(sandbox.root)
        assert len(paths_of(await fresh(running, "kestrel"))) == 2


async def test_an_empty_memory_is_indexed_and_silent(tmp_path: Path) -> None:
    sandbox = agent_sandbox(tmp_path)
    sandbox.root.mkdir(parents=True)
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel")
        assert (outcome.indexed, outcome.stale, outcome.hits, outcome.note) == (True, False, (), "")


# Updating on search


@pytest.mark.parametrize("watch", [False, True])
async def test_a_search_finds_what_was_just_saved(tmp_path: Path, watch: bool) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync=QUIET))
    async with agent_engine(sandbox, watch=watch) as running:
        assert len(paths_of(await fresh(running, "kestrel"))) == 2
        for number in range(8):
            sandbox.write("MEMORY.md", f"# Memory\n\nThe numbat{number} walks.\n")
            outcome = await fresh(running, f"numbat{number}")
            assert (paths_of(outcome), outcome.stale) == (["MEMORY.md"], False)
        sandbox.write("memory/new.md", "A dingo runs.")
        assert paths_of(await fresh(running, "dingo")) == ["memory/new.md"]
        (sandbox.root / "memory/new.md").unlink()
        assert paths_of(await fresh(running, "dingo")) == []


async def test_vectors_are_fresh_too(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync=QUIET))
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "The kestrel nests in the tower.", mode="semantic")
        assert (outcome.mode, outcome.stale) == ("semantic", False)
        assert running.engine.status().coverage.vectors == 2


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Comparisons for a search wait until the returned event is set."""
    may, compare = asyncio.Event(), IndexMaintainer.compare
    may.set()

    async def held_compare(self: IndexMaintainer, *, full: bool) -> None:
        await may.wait()
        await compare(self, full=full)

    monkeypatch.setattr(IndexMaintainer, "compare", held_compare)
    return may


async def test_search_with_an_expired_deadline_returns_stale_results(tmp_path: Path, held: asyncio.Event) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync=QUIET))
    async with agent_engine(sandbox, watch=True) as running:
        await fresh(running, "kestrel")
        held.clear()
        sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
        outcome = await fresh(running, "kestrel", 0)
        assert outcome.stale
        assert outcome.note.startswith(LATE)
        assert "MEMORY.md" in paths_of(outcome)  # as before
        held.set()
        later = await fresh(running, "numbat")
        assert (paths_of(later), later.stale, later.note) == (["MEMORY.md"], False, "")


class SlowModel(FaultyModel):
    """A model that embeds only once it is released."""

    def __init__(self) -> None:
        super().__init__("slow@1")
        self.may = threading.Event()

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        if any("numbat" in text for text in texts) and not any(text == "numbat" for text in texts):
            self.may.wait(30)
        return super().embed_batch(texts)


@pytest.mark.parametrize("watch", [False, True])
async def test_a_slow_model_makes_a_stale_answer_by_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watch: bool
) -> None:
    slow = SlowModel()
    serve(monkeypatch, slow)
    sandbox = filled(agent_sandbox(tmp_path, sync=QUIET))
    try:
        async with agent_engine(sandbox, watch=watch) as running:
            await fresh(running, "kestrel")
            sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
            outcome = await fresh(running, "numbat", 0.3)
            assert outcome.stale
            assert paths_of(outcome) == ["MEMORY.md"]  # found by keyword
            slow.may.set()
            assert not (await fresh(running, "numbat")).stale
    finally:
        slow.may.set()


async def test_the_settings_say_how_long_a_search_waits(tmp_path: Path, held: asyncio.Event) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync={**QUIET, "search_deadline_ms": 0}))
    held.clear()
    async with agent_engine(sandbox) as running:
        assert (await fresh(running, "kestrel", None)).stale
        held.set()
        assert not (await fresh(running, "kestrel", 15)).stale


async def test_where_searches_do_not_sync_a_change_is_reported(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync={**QUIET, "on_search": False}))
    async with agent_engine(sandbox, watch=True) as running:
        outcome = await fresh(running, "kestrel")
        assert (outcome.stale, outcome.note, outcome.hits) == (True, DIFFERS, ())
        await running.engine.sync()
        outcome = await fresh(running, "kestrel")
        assert (outcome.stale, len(paths_of(outcome))) == (False, 2)
        sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
        outcome = await fresh(running, "numbat")
        assert (outcome.stale, outcome.note) == (True, DIFFERS)


async def test_many_notes_gone_at_once_are_reported(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path))
    sandbox.write("memory/third.md", "A kestrel again.")
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel")
    for path in ("MEMORY.md", "memory/2026-01-01.md", "memory/third.md"):
        (sandbox.root / path).unlink()
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel")
        assert (outcome.stale, outcome.note, len(paths_of(outcome))) == (True, MISSING, 3)


async def test_a_hundred_searches_share_few_comparisons(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync=QUIET))
    async with agent_engine(sandbox, watch=True) as running:
        await fresh(running, "kestrel")
        sandbox.write("memory/new.md", "A dingo runs.")
        before = len(running.events_of(ReconcileDone))
        outcomes = await asyncio.gather(*(fresh(running, "dingo") for _ in range(100)))
        assert all(paths_of(outcome) == ["memory/new.md"] and not outcome.stale for outcome in outcomes)
        assert len(running.events_of(ReconcileDone)) - before <= 4


async def test_every_caller_gets_a_round_that_began_after_its_call() -> None:
    began, may = [0], asyncio.Event()

    async def work() -> None:
        began[0] += 1
        await may.wait()

    rounds = SingleFlight(work)
    first = asyncio.create_task(rounds.run())
    while not began[0]:
        await asyncio.sleep(0)
    others = [asyncio.create_task(rounds.run()) for _ in range(20)]
    impatient = asyncio.create_task(rounds.run())
    await asyncio.sleep(0)
    impatient.cancel()
    may.set()
    await asyncio.gather(first, *others)
    assert began == [2]
    await rounds.run()
    assert began == [3]
    await rounds.stop()


async def test_a_round_that_fails_does_not_stop_the_next() -> None:
    outcomes = iter([VaultReadError(Reason.ROOT_MISSING, "gone"), None])

    async def work() -> None:
        if error := next(outcomes):
            raise error

    rounds = SingleFlight(work)
    with pytest.raises(VaultReadError):
        await rounds.run()
    await rounds.run()


# Session start, interval, and another process


@pytest.mark.parametrize("on_start", [True, False])
async def test_on_session_start_setting_controls_the_initial_sync(tmp_path: Path, on_start: bool) -> None:
    sync = {"watch": False, "on_search": False, "on_session_start": on_start}
    sandbox = filled(agent_sandbox(tmp_path, sync=sync))
    async with agent_engine(sandbox, watch=True) as running:
        if on_start:
            await running.until_found("kestrel", "MEMORY.md")
        else:
            assert (await fresh(running, "kestrel")).stale
            assert running.events_of(ReconcileDone) == []
    async with agent_engine(sandbox) as running:  # without a watcher, the session starts with the search
        assert (await fresh(running, "kestrel")).stale is not on_start


async def test_interval_setting_syncs_periodically(tmp_path: Path) -> None:
    sync = {**QUIET, "on_search": False, "interval_minutes": 0.002}
    sandbox = filled(agent_sandbox(tmp_path, sync=sync))
    async with agent_engine(sandbox, watch=True) as running:
        await running.until_found("kestrel", "MEMORY.md")
        sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
        await running.until_found("numbat", "MEMORY.md")
        assert running.engine.status().watcher == "off"


async def test_without_interval_nothing_is_compared_by_itself(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync={**QUIET, "on_search": False}))
    async with agent_engine(sandbox, watch=True) as running:
        await asyncio.sleep(0.3)
        assert running.events_of(ReconcileDone) == []


async def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync={"watch_debounce_ms": 100}))
    async with agent_engine(sandbox, watch=True) as first:
        await fresh(first, "kestrel")
        async with agent_engine(sandbox) as second:
            assert second.engine.read_only
            sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
            outcome = await fresh(second, "numbat")
            assert (paths_of(outcome), outcome.stale) == (["MEMORY.md"], False)


async def test_fresh_search_does_not_wait_for_later_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync={"watch_debounce_ms": 100}))
    looks: list[frozenset[str]] = []

    def one_more_each_time(client: VaultClient, database: Database) -> Iterator[str]:
        if looks:
            sandbox.write(f"memory/later-{len(looks)}.md", "# Later\n")
        else:  # right before the first look, so that the first process has not read it yet
            sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
        looks.append(frozenset(differing(client, database)))
        return iter(looks[-1])

    async with agent_engine(sandbox, watch=True) as first:
        await fresh(first, "kestrel")
        async with agent_engine(sandbox) as second:
            monkeypatch.setattr("donna_tui.ingest.reconcile.differing", one_more_each_time)
            outcome = await fresh(second, "numbat")
            assert (paths_of(outcome), outcome.stale) == (["MEMORY.md"], False)
            assert looks[0] == {"MEMORY.md"}
            assert looks[-1]


async def test_second_process_reports_stale_when_the_first_does_not_sync(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, sync=QUIET))
    async with agent_engine(sandbox, watch=True) as first:
        await fresh(first, "kestrel")
        async with agent_engine(sandbox) as second:
            assert not (await fresh(second, "kestrel")).stale
            sandbox.write("MEMORY.md", "# Memory\n\nThe numbat walks.\n")
            outcome = await fresh(second, "kestrel", 0.3)
            assert (outcome.stale, outcome.note) == (True, LATE)
            assert len(paths_of(outcome)) == 2


# Separate agents


async def test_two_agents_do_not_see_each_other(tmp_path: Path) -> None:
    peter, paula = filled(agent_sandbox(tmp_path)), agent_sandbox(tmp_path, "paula")
    paula.write("MEMORY.md", "# Memory\n\nThe axolotl sleeps.\n")
    assert peter.space.state != paula.space.state
    async with agent_engine(peter, watch=True) as one, agent_engine(paula, watch=True) as two:
        for _ in range(20):
            outcomes = await asyncio.gather(
                fresh(one, "kestrel"), fresh(two, "axolotl"), fresh(one, "axolotl"), fresh(two, "kestrel")
            )
            assert [len(paths_of(outcome)) for outcome in outcomes] == [2, 1, 0, 0]
    assert not any(b"axolotl" in data for data in everything_below(peter.space.state))
    assert not any(b"kestrel" in data for data in everything_below(paula.space.state))


async def test_two_agents_in_one_workspace_have_an_index_each(tmp_path: Path) -> None:
    peter, paula = (agent_sandbox(tmp_path, named, workspace="both") for named in ("peter", "paula"))
    filled(peter)
    assert peter.root == paula.root
    async with agent_engine(peter, watch=True) as one, agent_engine(paula, watch=True) as two:
        assert not one.engine.read_only
        assert not two.engine.read_only
        assert len(paths_of(await fresh(one, "kestrel"))) == len(paths_of(await fresh(two, "kestrel"))) == 2


async def test_an_agents_workspace_is_not_the_last_vault(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path))
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel")
    assert known_spaces(sandbox.paths) == []
    (row,) = list_spaces(MemoryConfig(agents=sandbox.config.agents), sandbox.paths)
    assert (row.id, row.kind, row.state, row.notes) == ("peter", "agent", "indexed", 2)


async def test_store_path_setting_determines_the_index_location(tmp_path: Path) -> None:
    sandbox = filled(agent_sandbox(tmp_path, store={"path": str(tmp_path / "memory" / "{agentId}.sqlite")}))
    async with agent_engine(sandbox) as running:
        assert len(paths_of(await fresh(running, "kestrel"))) == 2
    assert sandbox.database == tmp_path / "memory" / "peter" / "index-1.db"
    assert sandbox.database.is_file()
    assert (tmp_path / "memory" / "peter").stat().st_mode & 0o777 == 0o700


async def test_agent_memory_write_and_undo_update_the_index(tmp_path: Path) -> None:
    """The owner can undo what an agent wrote to its memory, and the index follows."""
    sandbox = filled(agent_sandbox(tmp_path))
    writer = open_writer(sandbox.config, sandbox.space)
    writer.init_if_missing()
    from donna_tui.vault.write.changes import has_etag

    writer.apply(writer.planner.write("memory/new.md", "A dingo runs.\n", expected=has_etag(None)))
    async with agent_engine(sandbox) as running:
        assert paths_of(await fresh(running, "dingo")) == ["memory/new.md"]
    with pytest.raises(VaultWriteError):
        writer.planner.write("elsewhere.md", "x", expected=has_etag(None))
    etag = vault_client(sandbox.config, sandbox.root).read("MEMORY.md").etag
    writer.apply(writer.planner.write("MEMORY.md", "The dingo again.\n", expected=has_etag(etag)))
    async with agent_engine(sandbox) as running:
        assert paths_of(await fresh(running, "dingo")) == ["MEMORY.md", "memory/new.md"]
    await eventually(lambda: (sandbox.root / "MEMORY.md").read_text() == "The dingo again.\n")
