"""The embedding queue: edits first, a failing passage is isolated, and no other passage waits for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from donna_tui.embedding.provider import Matrix
from donna_tui.embedding.service import EmbeddingService
from donna_tui.index.invocations import InputHash
from donna_tui.index.store import MemoryStore
from donna_tui.ingest import embedding_queue as embedding_queue_module
from donna_tui.ingest.embedding_queue import BATCH, EmbeddingQueue
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.events import EngineEvent, EventHub, IngestBatch, NoteEmbedded, NoteFailed
from tests.unit.index_parts import note, open_store, vector_of

PATIENCE_SECONDS = 30.0


class Service:
    """Embeds texts without the word `poison`, and records its calls."""

    provider = SimpleNamespace(leaves=False)

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.before: Callable[[], None] = lambda: None
        self.poison = "poison"

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.before()
        self.batches.append(list(texts))
        if any(self.poison in text for text in texts):
            raise ModelError(Reason.EMBEDDING_FAILED, "the model failed")
        return np.stack([vector_of(text) for text in texts])


class Harness:
    """A running queue over a real store."""

    def __init__(self, store: MemoryStore) -> None:
        self.store, self.service, self.hub = store, Service(), EventHub()
        self.events: list[EngineEvent] = []
        self.hub.subscribe(self.events.append)
        service = cast("EmbeddingService", self.service)
        self.embeddings = EmbeddingQueue(store, self.write, service, self.hub, InputHash(b"k" * 32), lambda: None)

    async def write(self, work: Callable[[], Any]) -> Any:
        await asyncio.sleep(0)
        return work()

    async def idle(self) -> None:
        await asyncio.wait_for(self.embeddings.idle.wait(), PATIENCE_SECONDS)

    def without_vector(self) -> int:
        sql = "SELECT count(*) FROM memory_chunks WHERE embedding_version IN ('', 'failed')"
        number: int = self.store.database.value(sql)
        return number

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    made = Harness(open_store(tmp_path / "index.db"))
    yield made
    made.store.database.close()


@contextlib.asynccontextmanager
async def running(harness: Harness) -> AsyncIterator[None]:
    task = asyncio.create_task(harness.embeddings.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_everything_that_waits_is_embedded_in_batches(harness: Harness) -> None:
    harness.store.upsert_many(note(f"{number}.md", f"text {number}") for number in range(BATCH + 5))
    async with running(harness):
        await harness.idle()
    assert [len(batch) for batch in harness.service.batches] == [BATCH, 5]
    assert harness.without_vector() == 0
    assert sorted(event.path for event in harness.of(NoteEmbedded)) == sorted(f"{n}.md" for n in range(BATCH + 5))
    assert [event.chunks for event in harness.of(IngestBatch)] == [BATCH, 5]


async def test_each_embedded_text_is_in_the_invocation_log(harness: Harness) -> None:
    harness.store.upsert(note("a.md", "# One\nfirst\n\n# Two\nsecond"))
    async with running(harness):
        await harness.idle()
    rows = harness.store.database.rows("SELECT task_type, model_alias, input_hash FROM invocation_log")
    assert [row[:2] for row in rows] == [("embed_vault_chunk", "test")] * 2
    assert len({row[2] for row in rows}) == 2


async def test_known_texts_are_not_embedded_again(harness: Harness) -> None:
    harness.store.upsert(note("one/a.md", "same text"))
    harness.store.upsert(note("two/a.md", "same text"))
    harness.store.upsert(note("b.md", "other"))
    async with running(harness):
        await harness.idle()
        harness.store.upsert(note("three/a.md", "same text"))
        harness.embeddings.wake()
        await harness.idle()
    assert len(harness.service.batches) == 1
    assert harness.without_vector() == 0


async def test_edited_note_is_embedded_before_imported_notes(harness: Harness) -> None:
    harness.store.upsert_many(note(f"{number}.md", f"text {number}") for number in range(3 * BATCH))

    def edit() -> None:
        if not harness.service.batches:
            harness.store.upsert(note("edited.md", "just saved"))
            harness.embeddings.wake()

    harness.service.before = edit
    async with running(harness):
        await harness.idle()
    assert harness.service.batches[1][0] == "edited\njust saved"


async def test_failing_passage_in_a_batch_does_not_affect_the_others(harness: Harness) -> None:
    harness.store.upsert_many(
        note(f"{number}.md", "poison" if number == 3 else f"text {number}") for number in range(8)
    )
    async with running(harness):
        await harness.idle()
    assert harness.without_vector() == 1
    (failed,) = harness.of(NoteFailed)
    assert (failed.path, failed.reason) == ("3.md", Reason.EMBEDDING_FAILED)
    assert "poison" not in failed.message
    assert len(harness.of(NoteEmbedded)) == 7


async def test_nothing_waits_for_a_passage_that_cannot_be_embedded(harness: Harness) -> None:
    harness.store.upsert(note("only.md", "poison"))
    async with running(harness):
        await harness.idle()
        assert harness.without_vector() == 1
        harness.store.upsert(note("next.md", "fine"))
        harness.embeddings.wake()
        await harness.idle()
    assert harness.without_vector() == 1
    assert [event.path for event in harness.of(NoteEmbedded)] == ["next.md"]


@pytest.mark.parametrize("others", [0, 3])
async def test_failed_embedding_is_retried(harness: Harness, monkeypatch: pytest.MonkeyPatch, others: int) -> None:
    monkeypatch.setattr(embedding_queue_module, "RETRY_SECONDS", 0.01)
    harness.store.upsert_many(note(f"{number}.md", f"text {number}") for number in range(others))
    harness.store.upsert(note("only.md", "poison"))
    async with running(harness):
        await harness.idle()
        harness.service.poison = "cured"
        while not {event.path for event in harness.of(NoteEmbedded)} & {"only.md"}:
            await asyncio.sleep(0.005)
    assert harness.without_vector() == 0


async def test_the_time_since_saving_is_reported_once(harness: Harness) -> None:
    harness.store.upsert(note("a.md", "text"))
    harness.embeddings.saved("a.md", 0.0)
    async with running(harness):
        await harness.idle()
        harness.store.upsert(note("a.md", "changed"))
        harness.embeddings.wake()
        await harness.idle()
    first, second = harness.of(NoteEmbedded)
    assert first.found_after_ms > 1e12
    assert second.found_after_ms is None
    assert (first.computed, first.reused) == (1, 0)
