"""Run an embedding model on dedicated threads, so that questions never wait for the notes being indexed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from donna_tui.embedding.provider import EmbeddingProvider, Matrix, Vector, check_vectors
from donna_tui.platform.lazy import np
from donna_tui.types.errors import DonnaError, ModelError, Reason

INGEST_NICENESS = 10


def stamped(stamp: str, version_tag: str) -> str:
    """Return the version stamped on vectors: the user's stamp and the fingerprint of the model."""
    return f"{stamp} {version_tag}".strip()


class EmbeddingService:
    """Embed texts for an event loop.

    One thread is reserved for questions. `threads` others embed documents, in batches of `batch` texts, at a low
    scheduling priority, and begin no batch while a question is open: a question waits at most for the batch that a
    provider, which embeds one thing at a time, is working on. `version_tag` is stamped on the vectors: the user's
    `stamp` and the fingerprint of the model.
    """

    def __init__(self, provider: EmbeddingProvider, *, stamp: str = "", threads: int = 2, batch: int = 1) -> None:
        self.provider = provider
        self.version_tag = stamped(stamp, provider.version_tag)
        self._batch = batch
        self._queries = ThreadPoolExecutor(1, "donna-embed-query")
        self._documents = ThreadPoolExecutor(threads, "donna-embed", _lower_priority)
        self._query_done = threading.Condition()
        self._open_queries = 0
        self._closed = False

    async def embed_query(self, text: str) -> Vector:
        """Embed a question of any length. Raises ModelError if the model fails or is closed."""
        self._require_open()
        with self._query_done:
            self._open_queries += 1
        answer = self._queries.submit(self._embed_query, text)
        answer.add_done_callback(self._end_query)
        (row,) = await self._rows_of([answer])
        vector: Vector = row[0]
        return vector

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed `texts`, one row each, in the same order. Cancelling drops the texts that are not started.

        Raises ModelError if the model fails on any of them, if one exceeds the model's window, or if it is closed.
        """
        self._require_open()
        if not texts:
            return np.empty((0, self.provider.dim), dtype=np.float32)
        batches = (texts[start : start + self._batch] for start in range(0, len(texts), self._batch))
        return np.concatenate(
            await self._rows_of([self._documents.submit(self._embed_batch, batch) for batch in batches])
        )

    async def close(self) -> None:
        """Stop within one batch, fail all waiting calls, and release the model. Closing twice is allowed."""
        if self._closed:
            return
        with self._query_done:
            self._closed = True
            self._query_done.notify_all()
        for executor in (self._queries, self._documents):
            executor.shutdown(wait=False, cancel_futures=True)
        self.provider.interrupt()
        for executor in (self._queries, self._documents):
            await asyncio.to_thread(executor.shutdown)
        self.provider.close()

    def _require_open(self) -> None:
        if self._closed:
            raise ModelError(Reason.EMBEDDING_FAILED, "the embedding model is closed")

    async def _rows_of(self, batches: Sequence[Future[Matrix]]) -> list[Matrix]:
        """Wait for batches. If one fails or the wait is cancelled, those that are not started are dropped."""
        try:
            return await asyncio.gather(*map(asyncio.wrap_future, batches))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                self._require_open()  # by `close`, not by the caller
            raise
        finally:
            for batch in batches:
                batch.cancel()

    def _embed_query(self, text: str) -> Matrix:
        with _model_errors():
            return check_vectors(self.provider.embed(text)[None], 1, self.provider.dim)

    def _embed_batch(self, texts: Sequence[str]) -> Matrix:
        with self._query_done:
            self._query_done.wait_for(lambda: self._closed or not self._open_queries)
        self._require_open()
        with _model_errors():
            return check_vectors(self.provider.embed_batch(texts), len(texts), self.provider.dim)

    def _end_query(self, _: Future[Matrix]) -> None:
        with self._query_done:
            self._open_queries -= 1
            self._query_done.notify_all()


def _lower_priority() -> None:
    if sys.platform == "linux":  # elsewhere a thread has no priority of its own
        with contextlib.suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, max(INGEST_NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))


@contextlib.contextmanager
def _model_errors() -> Iterator[None]:
    """Raise an error of Donna's unchanged, and any other as ModelError with its type, without text of a note."""
    try:
        yield
    except DonnaError:
        raise
    except Exception as error:
        message = f"the embedding model failed ({type(error).__name__})"
        raise ModelError(Reason.EMBEDDING_FAILED, message) from error
