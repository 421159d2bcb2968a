"""Without a semantic search, the model is loaded only if passages wait; every change is indexed completely."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from donna_tui.embedding.service import EmbeddingService
from donna_tui.engine import status_reporter
from donna_tui.index.database import Database, open_database
from donna_tui.ingest import progress
from donna_tui.ingest.progress import count
from donna_tui.ingest.queue import Job
from donna_tui.ingest.source import Outcome, VaultSource
from donna_tui.memory import scores
from donna_tui.types.errors import VaultReadError
from donna_tui.types.events import ModelStateChanged, NoteFailed, ProblemRaised
from donna_tui.types.search import SearchRequest
from donna_tui.types.status import ModelPhase
from tests.engine.helpers import (
    GENEROUS_SECONDS,
    Running,
    Sandbox,
    hide_model,
    index_once,
    new_sandbox,
    open_engine,
    quick_config,
)

pytestmark = pytest.mark.model

Change = Callable[[Sandbox], object]


def loaded(running: Running) -> bool:
    return ModelPhase.LOADING in {each.phase for each in running.events_of(ModelStateChanged)}


@pytest.fixture
async def sandbox(tmp_path: Path, model_cache: Path) -> Sandbox:
    sandbox = new_sandbox(tmp_path, model_cache)
    for number in range(5):
        sandbox.write(f"{number}.md", f"# Note {number}\n\nserval{number} walks\n")
    assert loaded(await index_once(sandbox))
    return sandbox


def complete(running: Running) -> bool:
    status = running.engine.status()
    coverage = status.coverage
    return status.model_phase is ModelPhase.READY and coverage.vectors == coverage.text == coverage.notes


async def test_model_is_not_loaded_for_an_unchanged_vault(sandbox: Sandbox) -> None:
    again = await index_once(sandbox)
    assert not loaded(again)
    assert complete(again)
    assert again.engine.status().coverage.notes == 5


async def test_model_is_not_loaded_for_touched_but_unchanged_notes(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest, read = VaultSource.ingest, []

    def at_length(self: VaultSource, job: Job) -> Outcome:
        time.sleep(0.05)
        read.append(job.path)
        return ingest(self, job)

    monkeypatch.setattr(VaultSource, "ingest", at_length)
    for note in sandbox.root.iterdir():
        note.touch()
    again = await index_once(sandbox)
    assert sorted(read) == [f"{number}.md" for number in range(5)]
    assert not loaded(again)
    assert complete(again)


async def test_model_is_not_loaded_to_remove_a_deleted_note(sandbox: Sandbox) -> None:
    (sandbox.root / "0.md").unlink()
    again = await index_once(sandbox)
    assert not loaded(again)
    assert complete(again)
    assert again.engine.status().coverage.notes == 4


async def test_model_is_not_loaded_for_a_keyword_search(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        await running.engine.sync()
        assert await running.found("serval3") == ["3.md"]
    assert not loaded(running)


async def test_the_status_is_counted_only_on_request(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[Database] = []
    monkeypatch.setattr(status_reporter, "REPORT_SECONDS", GENEROUS_SECONDS)
    monkeypatch.setattr(progress, "count", lambda database: counts.append(database) or count(database))
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync(counted=False)
        assert await running.found("serval3") == ["3.md"]
        assert not counts
        await running.engine.sync()
        assert counts
        assert complete(running)


async def test_search_fresh_loads_the_model_for_a_semantic_query(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        outcome = await running.engine.search_fresh(SearchRequest(text="a wild cat that walks", mode="semantic", k=5))
    assert loaded(running)
    assert (outcome.mode, outcome.stale) == ("semantic", False)
    assert outcome.hits


async def test_later_notes_are_indexed_and_found_too(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        await running.engine.sync()
        assert not loaded(running)
        sandbox.write("9.md", "# Note 9\n\nocelots walk\n")
        await running.engine.sync()
        assert loaded(running)
        assert complete(running)
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        await running.engine.sync()
        assert (await running.engine.search_fresh(SearchRequest(text="cats", mode="semantic", k=5))).mode == "semantic"


@pytest.mark.slow
async def test_model_is_not_loaded_while_another_process_holds_the_index(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as keeping:
        await keeping.wait_until_indexed()
        sandbox.write("9.md", "# Note 9\n\nocelots walk\n")
        again = await index_once(sandbox)
        assert again.engine.status().model_phase is ModelPhase.READY
    assert not loaded(again)


async def test_a_vault_that_is_gone_is_reported(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        sandbox.root.rename(sandbox.root.with_name("elsewhere"))
        with pytest.raises(VaultReadError):
            await running.engine.sync()
    assert not loaded(running)


@pytest.mark.slow
async def test_memories_stored_during_scoring_are_also_scored(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, rounds = scores.score_waiting, 0

    def overtaken(database: Database) -> Iterator[int]:
        nonlocal rounds
        yield from score(database)
        rounds += 1
        if rounds < 3:  # store and embed another one
            database.run("UPDATE memory_scores SET novelty = NULL")

    monkeypatch.setattr(scores, "score_waiting", overtaken)
    sandbox.write("9.md", "# Tasks\n\n- [ ] feed the serval\n")
    assert complete(await index_once(sandbox))
    assert rounds == 3


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda sandbox: sandbox.write("0.md", "# Note 0\n\nocelots walk\n"), id="edited"),
        pytest.param(lambda sandbox: sandbox.write("new/9.md", "# Note 9\n\nocelots walk\n"), id="new"),
        pytest.param(lambda sandbox: (sandbox.root / "0.md").unlink(), id="deleted"),
        pytest.param(lambda sandbox: (sandbox.root / "0.md").rename(sandbox.root / "9.md"), id="renamed"),
    ],
)
async def test_every_kind_of_change_is_fully_indexed_in_one_run(sandbox: Sandbox, change: Change) -> None:
    change(sandbox)
    again = await index_once(sandbox)
    assert complete(again)
    assert {path for path, _ in sandbox.texts()} == {
        str(each.relative_to(sandbox.root)) for each in sandbox.root.rglob("*.md")
    }
    assert sandbox.rows("SELECT count(*) FROM memory_chunks WHERE embedding_version IN ('', 'failed')") == [(0,)]
    assert not loaded(await index_once(sandbox))


FIRST = "WHERE chunk_id = (SELECT min(chunk_id) FROM memory_chunks)"


@pytest.mark.parametrize(
    "undone",
    [
        pytest.param(
            (
                f"UPDATE memory_chunks SET embedding_version = 'failed' {FIRST}",
                f"DELETE FROM vec_memory_chunks {FIRST}",
            ),
            id="an embedding that failed",
        ),
        pytest.param(("UPDATE memory_scores SET novelty = NULL",), id="a score"),
    ],
)
async def test_interrupted_embedding_and_scoring_are_completed(sandbox: Sandbox, undone: tuple[str, ...]) -> None:
    sandbox.write("tasks.md", "# Tasks\n\n- [ ] feed the serval\n- [ ] brush the ocelot\n")
    await index_once(sandbox)
    database = open_database(sandbox.database)
    for each in undone:
        database.run(each)
        assert database.connection.changes() > 0
    database.close()
    again = await index_once(sandbox)
    assert loaded(again)
    assert complete(again)
    assert sandbox.rows("SELECT count(*) FROM memory_scores WHERE novelty IS NULL") == [(0,)]


async def test_changed_version_tag_reembeds_all_chunks(sandbox: Sandbox) -> None:
    again = await index_once(sandbox, quick_config(embedding={"version_tag": "another"}))
    assert loaded(again)
    versions = sandbox.rows("SELECT DISTINCT embedding_version FROM memory_chunks")
    assert len(versions) == 1
    assert versions[0][0].startswith("another ")


async def test_a_model_that_was_damaged_meanwhile_is_reported(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = sandbox.paths.cache / "models"
    kept = models.resolve()
    models.unlink()
    shutil.copytree(kept, models)
    (graph,) = models.rglob("model.onnx")
    graph.write_bytes(graph.read_bytes()[:-1])
    hide_model(monkeypatch)
    status = (await index_once(sandbox)).engine.status()
    assert status.model_phase is ModelPhase.FAILED
    assert [problem.reason for problem in status.problems] == ["model_invalid"]


async def test_a_model_that_is_installed_again_replaces_the_old_one(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        await running.engine.model_known.wait()
        await running.engine.install_model()
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("donna-embed")] == []


@pytest.mark.slow
async def test_memory_added_during_shutdown_is_embedded_at_the_next_start(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = EmbeddingService.close

    async def close_slowly(service: EmbeddingService) -> None:
        await close(service)
        await asyncio.sleep(0.5)

    monkeypatch.setattr(EmbeddingService, "close", close_slowly)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        await running.engine.model_known.wait()
        await running.engine.memory.remember("The ocelot of house 7 sleeps all day.", patience=0)
    assert [each.message for each in (*running.events_of(NoteFailed), *running.events_of(ProblemRaised))] == []
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        assert complete(running)
