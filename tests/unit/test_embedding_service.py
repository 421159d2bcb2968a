"""The threads of a model: order, cancelling, failures and shutdown, with models that a test controls."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest

from donna_tui.embedding.provider import EmbeddingProvider, Matrix, Vector
from donna_tui.embedding.service import INGEST_NICENESS, EmbeddingService
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.errors import ModelError, Reason

DIM = 8


def vector_of(text: str) -> Vector:
    numbers = np.frombuffer(hashlib.sha256(text.encode()).digest()[:DIM], dtype=np.uint8).astype(np.float32) + 1
    unit: Vector = numbers / np.linalg.norm(numbers)
    return unit


class FakeProvider(EmbeddingProvider):
    """Vectors from hashes. `before` runs on the calling thread before every text, and may block or raise."""

    name = "fake"
    dim = DIM
    max_tokens = 32
    version_tag = "fake@0/1"
    counter = EstimatedTokens()

    def __init__(self, before: Callable[[str], None] = lambda text: None) -> None:
        self._before = before
        self.seen: list[str] = []
        self.batches: list[int] = []
        self.closed = False
        self.first_done = threading.Event()

    def embed(self, text: str) -> Vector:
        self._before(text)
        self.seen.append(text)
        self.first_done.set()
        return vector_of(text)

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        self.batches.append(len(texts))
        return np.stack([self.embed(text) for text in texts])

    def close(self) -> None:
        self.closed = True


class Gate:
    """Blocks every document in the model until it is opened."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._reached = threading.Semaphore(0)

    def __call__(self, text: str) -> None:
        if text.startswith("document"):
            self._reached.release()
            self._open.wait()

    def open(self) -> None:
        self._open.set()

    async def reached(self, documents: int = 1) -> None:
        for _ in range(documents):
            await asyncio.to_thread(self._reached.acquire)

    async def reached_within(self, seconds: float) -> bool:
        """Return whether another document reaches the model within `seconds`."""
        return await asyncio.to_thread(self._reached.acquire, timeout=seconds)


DOCUMENTS = [f"document {number}" for number in range(20)]


@asynccontextmanager
async def serving(provider: FakeProvider, *, threads: int = 2, batch: int = 1) -> AsyncIterator[EmbeddingService]:
    service = EmbeddingService(provider, threads=threads, batch=batch)
    try:
        yield service
    finally:
        await service.close()


async def test_rows_come_back_in_the_order_of_the_texts() -> None:
    async with serving(FakeProvider(), threads=3) as service:
        rows = await service.embed_documents(DOCUMENTS)
    assert np.array_equal(rows, np.stack([vector_of(text) for text in DOCUMENTS]))


async def test_several_calls_at_once_each_get_their_own_rows() -> None:
    async with serving(FakeProvider()) as service:
        calls = [service.embed_documents(DOCUMENTS[start : start + 3]) for start in range(0, 18, 3)]
        answers = await asyncio.gather(*calls)
    assert np.array_equal(np.concatenate(answers), np.stack([vector_of(text) for text in DOCUMENTS[:18]]))


async def test_no_texts_need_no_model() -> None:
    provider = FakeProvider()
    async with serving(provider) as service:
        rows = await service.embed_documents([])
    assert rows.shape == (0, DIM)
    assert provider.batches == []


@pytest.mark.parametrize(("batch", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (16, [5])])
async def test_documents_go_to_the_model_in_batches_of_the_given_size(batch: int, sizes: list[int]) -> None:
    provider = FakeProvider()
    async with serving(provider, threads=1, batch=batch) as service:
        await service.embed_documents(DOCUMENTS[:5])
    assert provider.batches == sizes


async def test_a_query_is_answered_while_every_document_thread_is_busy() -> None:
    gate = Gate()
    provider = FakeProvider(gate)
    async with serving(provider) as service:
        ingest = asyncio.create_task(service.embed_documents(DOCUMENTS))
        await gate.reached(2)
        answer = await service.embed_query("question")
        assert not ingest.done()
        assert provider.seen == ["question"]
        gate.open()
        await ingest
    assert np.array_equal(answer, vector_of("question"))
    assert len(provider.seen) == len(DOCUMENTS) + 1


async def test_query_is_embedded_before_further_documents() -> None:
    begun, release = threading.Event(), threading.Event()
    ingest_gate = Gate()

    def before(text: str) -> None:
        if text == "question":
            begun.set()
            release.wait()
        ingest_gate(text)

    provider = FakeProvider(before)
    async with serving(provider, threads=1) as service:
        ingest = asyncio.create_task(service.embed_documents(DOCUMENTS[:3]))
        await ingest_gate.reached()
        query = asyncio.create_task(service.embed_query("question"))
        await asyncio.to_thread(begun.wait)
        ingest_gate.open()
        await asyncio.to_thread(provider.first_done.wait)
        is_next_begun = await ingest_gate.reached_within(0.1)
        release.set()
        await asyncio.gather(query, ingest)
    assert not is_next_begun
    assert provider.seen == ["document 0", "question", "document 1", "document 2"]


async def test_cancelling_drops_the_documents_that_have_not_begun() -> None:
    gate = Gate()
    provider = FakeProvider(gate)
    async with serving(provider, threads=1) as service:
        ingest = asyncio.create_task(service.embed_documents(DOCUMENTS))
        await gate.reached()
        ingest.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ingest
        gate.open()
        await service.embed_documents(["after"])
    assert provider.seen == ["document 0", "after"]


async def test_a_cancelled_query_never_reaches_the_model() -> None:
    release = threading.Event()
    begun = threading.Event()

    def before(text: str) -> None:
        if text == "first":
            begun.set()
            release.wait()

    provider = FakeProvider(before)
    async with serving(provider) as service:
        first = asyncio.create_task(service.embed_query("first"))
        await asyncio.to_thread(begun.wait)
        second = asyncio.create_task(service.embed_query("second"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        release.set()
        await first
        await service.embed_query("third")
    assert provider.seen == ["first", "third"]


async def test_a_failure_rejects_only_the_call_it_happened_in() -> None:
    def before(text: str) -> None:
        if text == "bad secret text":
            raise RuntimeError("bad secret text")

    async with serving(FakeProvider(before)) as service:
        answers = await asyncio.gather(
            service.embed_documents(["good"]),
            service.embed_documents(["fine", "bad secret text", *DOCUMENTS]),
            service.embed_query("bad secret text"),
            service.embed_documents(["better"]),
            return_exceptions=True,
        )
    good, failed, failed_query, better = answers
    assert isinstance(good, np.ndarray)
    assert isinstance(better, np.ndarray)
    for failure in (failed, failed_query):
        assert isinstance(failure, ModelError)
        assert failure.reason is Reason.EMBEDDING_FAILED
        assert "secret" not in failure.message


async def test_error_of_the_model_keeps_its_reason() -> None:
    def before(text: str) -> None:
        raise ModelError(Reason.MODEL_INVALID, "no")

    async with serving(FakeProvider(before)) as service:
        with pytest.raises(ModelError) as refusal:
            await service.embed_documents(["x"])
    assert refusal.value.reason is Reason.MODEL_INVALID


class Poisoned(FakeProvider):
    """Returns what it is told to if the text says so."""

    def __init__(self, rows: object) -> None:
        super().__init__()
        self._rows = rows

    def embed(self, text: str) -> Vector:
        return self._rows[0] if text == "poison" else super().embed(text)  # type: ignore[index]

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        return self._rows if "poison" in texts else super().embed_batch(texts)  # type: ignore[return-value]


@pytest.mark.parametrize(
    "rows", [pytest.param(np.full((1, DIM), np.nan, dtype=np.float32), id="nan"), pytest.param([None], id="nothing")]
)
async def test_invalid_vectors_are_rejected_and_the_service_continues(rows: object) -> None:
    async with serving(Poisoned(rows)) as service:
        with pytest.raises(ModelError):
            await service.embed_documents(["poison"])
        with pytest.raises(ModelError):
            await service.embed_query("poison")
        assert np.array_equal(await service.embed_query("healthy"), vector_of("healthy"))


async def test_a_short_list_of_vectors_is_refused() -> None:
    async with serving(Poisoned(np.eye(1, DIM, dtype=np.float32)), batch=2) as service:
        with pytest.raises(ModelError):
            await service.embed_documents(["poison", "healthy"])


async def test_closing_finishes_the_running_batch_and_fails_the_rest() -> None:
    gate = Gate()
    provider = FakeProvider(gate)
    service = EmbeddingService(provider, threads=1)
    running = asyncio.create_task(service.embed_documents(DOCUMENTS))
    queued = asyncio.create_task(service.embed_documents(["later"]))
    await gate.reached()
    closing = asyncio.create_task(service.close())
    for failed in (running, queued):
        with pytest.raises(ModelError):
            await failed
    closed_early = provider.closed
    gate.open()
    await closing
    assert (closed_early, provider.closed) == (False, True)
    assert provider.seen == ["document 0"]


async def test_a_closed_service_has_no_threads_and_refuses() -> None:
    service = EmbeddingService(FakeProvider())
    await service.close()
    await service.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("donna-embed")]
    with pytest.raises(ModelError):
        await service.embed_query("x")
    with pytest.raises(ModelError):
        await service.embed_documents(["x"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a thread a priority of its own")
async def test_documents_run_at_a_low_priority_and_queries_do_not() -> None:
    niceness: dict[str, int] = {}

    def before(text: str) -> None:
        niceness[text] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async with serving(FakeProvider(before)) as service:
        await service.embed_documents(["document"])
        await service.embed_query("question")
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert niceness == {"document": max(INGEST_NICENESS, own), "question": own}
