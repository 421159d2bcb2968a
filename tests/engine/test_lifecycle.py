"""Starting, quitting, a second Donna, and a model that becomes available later or changes."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest

from donna_tui.embedding import build as embedding
from donna_tui.embedding import files
from donna_tui.embedding.service import EmbeddingService
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.engine import index_lease
from donna_tui.index import migrations
from donna_tui.index.generations import Recipe, current_generation
from donna_tui.index.readers import Readers
from donna_tui.ingest import pipeline
from donna_tui.ingest.indexes import Indexes
from donna_tui.ingest.queue import MemoryIngestQueue
from donna_tui.memory import indexer
from donna_tui.platform.supervisor import set_within
from donna_tui.search import service as search_service_module
from donna_tui.types.errors import DatabaseError, ModelError, Reason, SpaceError
from donna_tui.types.events import (
    ChangedElsewhere,
    EngineStateChanged,
    IndexSwapped,
    NoteEmbedded,
    NoteIndexed,
    ReconcileDone,
)
from donna_tui.types.search import SearchOutcome, SearchRequest
from donna_tui.types.status import ModelPhase
from tests.engine.helpers import (
    GENEROUS_SECONDS,
    Sandbox,
    eventually,
    hide_model,
    index_once,
    integrity,
    new_sandbox,
    open_engine,
    quick_config,
)
from tests.engine.providers import FaultyModel, serve
from tests.unit.embedding_files import tokenizer_json


def fill(sandbox: Sandbox, count: int) -> Sandbox:
    for number in range(count):
        sandbox.write(
            f"{number % 7}/{number}.md", f"# Note {number}\n\nserval{number:03} walks\n\n## More\n\nand runs\n"
        )
    return sandbox


@pytest.mark.slow
@pytest.mark.model
async def test_quitting_midway_leaves_a_sound_index_and_no_thread(tmp_path: Path, model_cache: Path) -> None:
    sandbox = fill(new_sandbox(tmp_path, model_cache), 150)
    before = set(threading.enumerate())
    async with open_engine(sandbox) as running:
        await eventually(lambda: len(running.events_of(NoteIndexed)) > 20, "some notes are in")
    stray = {thread.name for thread in set(threading.enumerate()) - before if thread.name.startswith("donna")}
    assert not stray
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("donna")] == []
    assert integrity(sandbox.database) == "ok"
    assert not list(sandbox.database.parent.glob("*-wal"))
    again = await index_once(sandbox)
    coverage = again.engine.status().coverage
    assert coverage.text == coverage.vectors == coverage.notes == 150
    assert integrity(sandbox.database) == "ok"


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.1])
async def test_quitting_right_after_the_start_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    hide_model(monkeypatch)
    sandbox = fill(new_sandbox(tmp_path), 40)
    async with open_engine(sandbox):
        await asyncio.sleep(pause)
    assert (await index_once(sandbox)).engine.status().coverage.text == 40
    assert integrity(sandbox.database) == "ok"


async def test_a_second_engine_reads_only_answers_and_names_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_model(monkeypatch)
    sandbox = fill(new_sandbox(tmp_path), 10)
    async with open_engine(sandbox, what="donna, the first") as first:
        await first.wait_until_indexed(vectors=False)
        async with open_engine(sandbox, what="donna, the second") as second:
            await second.engine.sync()
            assert second.engine.read_only
            status = second.engine.status()
            assert status.state == "read_only"
            assert "donna, the first" in status.owner
            assert "donna, the first" in status.state_detail
            assert await second.found("serval003") == ["3/3.md"]
            sandbox.write("new.md", "# New\n\nmarkhor\n")
            await first.until_found("markhor", "new.md")
            assert await second.found("markhor") == ["new.md"]
        assert first.engine.status().state == "running"


@pytest.mark.usefixtures("alone")
async def test_a_second_engine_follows_what_the_first_indexes_and_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_lease, "RETRY_SECONDS", 0.05)
    sandbox = fill(new_sandbox(tmp_path), 3)
    async with open_engine(sandbox) as first:
        await first.wait_until_indexed(vectors=False)
        async with open_engine(sandbox) as second:
            await eventually(lambda: second.engine.status().coverage.notes == 3, "the second counts")
            sandbox.write("new.md", "# New\n\nmarkhor\n")
            await eventually(lambda: second.engine.status().coverage.notes == 4, "the second counts the new note")
            seen = len(second.events_of(ChangedElsewhere))
            await first.engine.memory.remember("The gate code is 4711")
            await eventually(lambda: len(second.events_of(ChangedElsewhere)) > seen, "the second learns of it")


async def test_without_a_model_search_is_by_keyword_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_model(monkeypatch)
    sandbox = fill(new_sandbox(tmp_path), 5)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for mode in ("hybrid", "semantic", "keyword"):
            outcome = await running.search("serval002", mode)
            assert [hit.path for hit in outcome.hits] == ["2/2.md"]
            assert outcome.mode == "keyword"
            assert mode == "keyword" or "embedding model" in outcome.note
        assert running.engine.status().model_phase is ModelPhase.MISSING
        assert "model_missing" in running.problems()


@pytest.mark.slow
@pytest.mark.model
async def test_installing_a_model_later_builds_a_new_index_generation(tmp_path: Path, model_cache: Path) -> None:
    sandbox = fill(new_sandbox(tmp_path), 60)
    with pytest.MonkeyPatch.context() as patch:
        hide_model(patch)
        await index_once(sandbox)
    assert sandbox.rows("SELECT count(*) FROM embeddings") == [(0,)]
    old = sandbox.database
    (sandbox.paths.cache / "models").symlink_to(model_cache / "models", target_is_directory=True)
    async with open_engine(sandbox) as running:
        assert await running.found("serval003") == ["3/3.md"]
        while not running.events_of(IndexSwapped):
            assert await running.found("serval003") == ["3/3.md"]
            await asyncio.sleep(0.01)
        await running.wait_until_indexed()
        assert (await running.search("a cat that walks", "semantic")).mode == "semantic"
        assert running.engine.database != old
    assert not old.exists()
    assert current_generation(old.parent) == 2
    assert sandbox.rows("SELECT count(*) FROM memory_documents") == [(60,)]


async def test_changed_chunk_settings_build_a_new_index_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, FaultyModel())
    sandbox = fill(new_sandbox(tmp_path), 60)
    await index_once(sandbox)
    old = sandbox.database
    async with open_engine(sandbox, config=quick_config(embedding={"max_tokens": 64, "chunk_overlap": 8})) as running:
        while not running.events_of(IndexSwapped):
            assert await running.found("serval003") == ["3/3.md"]
            await asyncio.sleep(0.01)
        assert await running.found("serval003") == ["3/3.md"]
        assert running.engine.status().embedded_this_run == 0
    assert not old.exists()
    assert current_generation(old.parent) == 2


async def test_an_index_that_was_begun_with_another_model_is_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, FaultyModel("model@1"))
    sandbox = fill(new_sandbox(tmp_path), 3)
    await index_once(sandbox)
    serve(monkeypatch, FaultyModel("model@2"))
    with monkeypatch.context() as interrupted:
        interrupted.setattr(Indexes, "finish_building", lambda _: asyncio.sleep(3_600))
        async with open_engine(sandbox) as running:
            await eventually(lambda: len(running.events_of(NoteEmbedded)) == 3, "all embedded, and not swapped")
    serve(monkeypatch, FaultyModel("model@3"))
    async with open_engine(sandbox) as running:
        await eventually(lambda: running.events_of(IndexSwapped), "the swap")
    assert sandbox.rows("SELECT DISTINCT embedding_version FROM memory_chunks") == [("model@3",)]


@pytest.mark.parametrize("watch", [True, False])
async def test_another_model_builds_a_new_index_and_is_used_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watch: bool
) -> None:
    serve(monkeypatch, FaultyModel("model@1"))
    sandbox = fill(new_sandbox(tmp_path), 20)
    await index_once(sandbox)
    old = sandbox.database
    serve(monkeypatch, FaultyModel("model@2"))
    async with open_engine(sandbox, watch=watch) as running:
        if not watch:
            await running.engine.sync()
        await eventually(lambda: running.events_of(IndexSwapped), "the swap")
        outcome = await running.search("serval003 walks", "semantic")
        assert outcome.mode == "semantic"
        assert not outcome.note
    assert not old.exists()
    assert sandbox.rows("SELECT value FROM meta WHERE key = 'embedding_version'") == [("model@2",)]
    assert sandbox.rows("SELECT DISTINCT embedding_version FROM memory_chunks") == [("model@2",)]


async def test_without_a_usable_cache_search_is_by_keyword(tmp_path: Path) -> None:
    sandbox = fill(new_sandbox(tmp_path), 5)
    (sandbox.paths.cache / "models").symlink_to(tmp_path / "nowhere")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        assert await running.found("serval002") == ["2/2.md"]
        assert running.engine.status().model_phase is ModelPhase.FAILED
        assert "io_error" in running.problems()


@pytest.mark.slow
async def test_more_paths_than_fit_into_the_queue_are_all_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_model(monkeypatch)
    monkeypatch.setattr(MemoryIngestQueue.__init__, "__defaults__", (7,))
    sandbox = fill(new_sandbox(tmp_path), 40)
    running = await index_once(sandbox)
    assert running.engine.status().coverage.text == 40


@pytest.mark.model
@pytest.mark.parametrize("pause", [0.0, 0.02, 0.2])
async def test_quitting_while_the_model_loads_leaves_no_thread(tmp_path: Path, model_cache: Path, pause: float) -> None:
    before = set(threading.enumerate())
    async with open_engine(fill(new_sandbox(tmp_path, model_cache), 3)):
        await asyncio.sleep(pause)
    assert not [each.name for each in set(threading.enumerate()) - before if each.name.startswith("donna")]


async def test_overlapping_reconciliations_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later one mistook the record of the earlier one for its own, since both were empty."""
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    sandbox.write("a.md", "a serval")
    begun, ending = threading.Event(), threading.Event()
    compare, slow = pipeline.compare, [True]

    def compare_slowly(*args: Any, **options: Any) -> Any:
        if slow and slow.pop():
            begun.set()
            assert ending.wait(GENEROUS_SECONDS)
        return compare(*args, **options)

    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        maintained = running.engine.context.maintainer.indexes.active
        monkeypatch.setattr(pipeline, "compare", compare_slowly)
        earlier = asyncio.create_task(maintained.reconcile("earlier"))
        await eventually(begun.is_set)
        sandbox.write("b.md", "a walrus")
        await maintained.reconcile("later")
        await running.until_found("walrus", "b.md")
        ending.set()
        await earlier


@pytest.mark.usefixtures("alone")
async def test_an_existing_index_is_searched_before_it_is_opened_for_writing(tmp_path: Path) -> None:
    sandbox = fill(new_sandbox(tmp_path), 3)
    await index_once(sandbox)
    async with open_engine(sandbox) as running:
        context = running.engine.context
        readers = context.readers
        assert await running.found("serval001") == ["1/1.md"]
        assert context.maintainer is None
        assert not running.engine.read_only
        async with open_engine(sandbox) as second:
            assert second.engine.read_only
        assert await context.lease.opened()
        assert context.readers is readers
        sandbox.write("new.md", "a new walrus\n")
        await running.until_found("walrus", "new.md")
        assert [event.state for event in running.events_of(EngineStateChanged)] == ["starting", "running"]


@pytest.mark.usefixtures("alone")
async def test_an_index_of_an_earlier_version_is_migrated_before_it_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 1)
    await index_once(sandbox)
    added = ("9999_added", "CREATE TABLE added (x)")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, added))
    async with open_engine(sandbox) as running:
        assert running.engine.context.maintainer
        assert await running.engine.context.read(lambda database: database.column("SELECT x FROM added")) == []


@pytest.mark.usefixtures("alone")
async def test_a_search_without_patience_does_not_wait_until_the_index_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 2)
    await index_once(sandbox)
    sandbox.write("new.md", "a new walrus\n")
    may_open, open_index = asyncio.Event(), Indexes.open

    async def late(self: Indexes, readers: Readers | None = None) -> None:
        await may_open.wait()
        await open_index(self, readers)

    monkeypatch.setattr(Indexes, "open", late)
    async with open_engine(sandbox) as running:
        asked = SearchRequest(text="serval001", k=5, mode="keyword")
        outcome = await running.engine.search_fresh(asked, 0)
        assert (outcome.stale, len(outcome.hits), running.engine.context.maintainer) == (True, 1, None)
        may_open.set()
        assert not (await running.engine.search_fresh(asked, GENEROUS_SECONDS)).stale


@pytest.mark.usefixtures("alone")
async def test_stopping_while_the_index_is_opened_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 2)
    await index_once(sandbox)
    opening, open_pipeline = asyncio.Event(), pipeline.Pipeline.open

    async def never(self: pipeline.Pipeline) -> Recipe:
        await open_pipeline(self)
        opening.set()
        return await asyncio.Future()

    monkeypatch.setattr(pipeline.Pipeline, "open", never)
    before = {*threading.enumerate()}
    async with open_engine(sandbox):
        assert await set_within(opening, GENEROUS_SECONDS)
    tasks = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("donna-")]
    left = [thread.name for thread in {*threading.enumerate()} - before if thread.name.startswith("donna-")]
    assert (tasks, left) == ([], [])


async def test_a_full_disk_while_the_model_is_passed_to_the_index_is_overcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 2)
    serve(monkeypatch, FaultyModel())
    await index_once(sandbox)
    failures, embed_with = [DatabaseError(Reason.DISK_FULL, "the disk is full")], Indexes.embed_with

    async def failing_once(self: Indexes, service: EmbeddingService) -> None:
        if failures:
            raise failures.pop()
        await embed_with(self, service)

    monkeypatch.setattr(Indexes, "embed_with", failing_once)
    async with open_engine(sandbox) as running:
        sandbox.write("new.md", "a new walrus\n")
        await running.wait_until_indexed()
        assert not failures
        assert Reason.DISK_FULL not in running.problems()
        assert running.engine.status().coverage.vectors == 3


@pytest.mark.usefixtures("alone")
async def test_an_index_that_cannot_be_opened_for_writing_is_shown_as_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 2)
    await index_once(sandbox)

    async def fails(self: Indexes, readers: Readers | None = None) -> None:
        raise RuntimeError("something is wrong")

    monkeypatch.setattr(Indexes, "open", fails)
    async with open_engine(sandbox) as running:
        await eventually(lambda: running.engine.status().state == "read_only", "it is shown")
        assert await running.found("serval001") == ["1/1.md"]
        assert Reason.INTERNAL in running.problems()


async def test_a_question_that_was_there_first_is_answered_before_the_model_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 3)
    loading, may_answer = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    serve(monkeypatch, FaultyModel())
    build = embedding.build_embedding_service

    def noticed(*arguments: Any) -> EmbeddingService:
        loop.call_soon_threadsafe(loading.set)
        return build(*arguments)

    monkeypatch.setattr(embedding, "build_embedding_service", noticed)
    await index_once(sandbox)
    loading.clear()
    monkeypatch.setattr(search_service_module, "LONGEST_SECONDS", 3_600.0)
    slowly(monkeypatch, may_answer)
    async with open_engine(sandbox) as running:
        asked = asyncio.create_task(running.found("serval001"))
        assert not await set_within(loading, 0.3)
        assert not asked.done()
        assert not running.events_of(ReconcileDone)
        may_answer.set()
        assert await asked == ["1/1.md"]
        assert await set_within(loading, 30.0)
        await running.wait_until_indexed()


async def test_the_model_is_loaded_despite_constant_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = fill(new_sandbox(tmp_path), 3)
    serve(monkeypatch, FaultyModel())
    await index_once(sandbox)
    may_answer = threading.Event()
    monkeypatch.setattr(search_service_module, "LONGEST_SECONDS", 0.1)
    slowly(monkeypatch, may_answer)
    async with open_engine(sandbox) as running:
        asked = asyncio.create_task(running.found("serval001"))
        assert await set_within(running.engine.model_known, 30.0)
        assert not asked.done()
        may_answer.set()
        assert await asked == ["1/1.md"]


async def test_sync_does_not_wait_for_the_next_memory_poll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = fill(new_sandbox(tmp_path), 3)
    looked = threading.Event()
    serve(monkeypatch, FaultyModel())
    build, step_through = embedding.build_embedding_service, indexer.MemoryIndexer._step_through

    def late(*arguments: Any) -> EmbeddingService:
        assert looked.wait(30.0)
        return build(*arguments)

    async def noticed(self: indexer.MemoryIndexer, steps: Any) -> None:
        await step_through(self, steps)
        loop.call_later(0.1, looked.set)  # well after it started to wait

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(embedding, "build_embedding_service", late)
    monkeypatch.setattr(indexer.MemoryIndexer, "_step_through", noticed)
    monkeypatch.setattr(indexer, "POLL_SECONDS", 3_600.0)
    async with asyncio.timeout(60.0):
        coverage = (await index_once(sandbox)).engine.status().coverage
    assert coverage.vectors == coverage.notes == 3


async def test_unusable_tokenizer_leaves_indexed_notes_searchable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = fill(new_sandbox(tmp_path), 3)
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "tokenizer.json").write_bytes(tokenizer_json())
    monkeypatch.setattr(files, "find_weights", lambda: weights)
    serve(monkeypatch, FaultyModel())
    await index_once(sandbox)
    monkeypatch.setattr(ModelTokens, "_tokenizer", property(refused))
    async with open_engine(sandbox) as running:
        assert await running.found("serval001") == ["1/1.md"]
        sandbox.write("new.md", "a new note\n")
        await eventually(lambda: Reason.MODEL_INVALID in running.problems(), "the reason is told")
        assert await running.found("serval002") == ["2/2.md"]
    assert integrity(sandbox.database) == "ok"


def refused(tokens: ModelTokens) -> NoReturn:
    raise ModelError(Reason.MODEL_INVALID, "The tokenizer of the model cannot be used: tokenizer.json.")


async def test_early_access_to_notes_opens_the_vault_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_model(monkeypatch)
    sandbox = fill(new_sandbox(tmp_path), 3)
    async with open_engine(sandbox) as running:
        early = running.engine.notes
        await asyncio.to_thread(running.engine.warm_up)
        await running.wait_until_indexed(vectors=False)
        assert running.engine.notes is early
        assert len(await early.vault_rows()) == 3
    with pytest.raises(SpaceError, match="not open"):
        _ = running.engine.notes


def slowly(monkeypatch: pytest.MonkeyPatch, may_answer: threading.Event) -> None:
    """Make searches wait for an event."""
    search = search_service_module.search

    def waits(*arguments: Any) -> SearchOutcome:
        assert may_answer.wait(30.0)
        return search(*arguments)

    monkeypatch.setattr(search_service_module, "search", waits)
