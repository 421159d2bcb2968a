"""Run an embedding model on dedicated threads, so that questions never wait for the notes being indexed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

from donna_tui.embedding.provider import EmbeddingProvider, Matrix, Vector, check_vectors
from donna_tui.platform.lazy import np
from donna_tui.types.errors import DonnaError, ModelError, Reason

INGEST_NICENESS = 10


@dataclass(slots=True)
class _Documents:
    """The texts of a call and the rows that are done; several threads work on it at once."""

    texts: Sequence[str]
    rows: Matrix
    taken: int = 0
    done: int = 0
    future: Future[Matrix] = field(default_factory=Future)


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
        lock = threading.Lock()
        self._query_ready, self._documents_ready = threading.Condition(lock), threading.Condition(lock)
        self._queries: deque[tuple[str, Future[Vector]]] = deque()
        self._documents: deque[_Documents] = deque()
        self._open_queries = 0
        self._closed = False
        self._threads = [threading.Thread(target=self._answer_queries, name="donna-embed-query")]
        for number in range(1, threads + 1):
            self._threads.append(threading.Thread(target=self._embed_documents, name=f"donna-embed-{number}"))
        for thread in self._threads:
            thread.start()

    async def embed_query(self, text: str) -> Vector:
        """Embed a question of any length. Raises ModelError if the model fails or is closed."""
        answer: Future[Vector] = Future()
        with self._query_ready:
            if self._closed:
                raise _closed()
            self._queries.append((text, answer))
            self._open_queries += 1
            self._query_ready.notify()
        return await asyncio.wrap_future(answer)

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed `texts`, one row each, in the same order. Cancelling drops the texts that are not started.

        Raises ModelError if the model fails on any of them, if one exceeds the model's window, or if it is closed.
        """
        documents = _Documents(texts, np.empty((len(texts), self.provider.dim), dtype=np.float32))
        if not texts:
            return documents.rows
        with self._documents_ready:
            if self._closed:
                raise _closed()
            self._documents.append(documents)
            self._documents_ready.notify_all()
        return await asyncio.wrap_future(documents.future)

    async def close(self) -> None:
        """Stop within one batch, fail all waiting calls, and release the model. Closing twice is allowed."""
        with self._query_ready:
            if self._closed:
                return
            self._closed = True
            waiting: list[Future[Any]] = [answer for _, answer in self._queries]
            waiting += [documents.future for documents in self._documents]
            self._query_ready.notify_all()
            self._documents_ready.notify_all()
        for future in waiting:
            _fail(future, _closed())
        self.provider.interrupt()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        self.provider.close()

    def _answer_queries(self) -> None:
        while True:
            with self._query_ready:
                self._query_ready.wait_for(lambda: self._closed or self._queries)
                if self._closed:
                    return
                text, answer = self._queries.popleft()
            if answer.set_running_or_notify_cancel():
                try:
                    vector = self.provider.embed(text)
                    answer.set_result(check_vectors(vector[None], 1, self.provider.dim)[0])
                except Exception as error:
                    answer.set_exception(_model_error(error))
            with self._documents_ready:
                self._open_queries -= 1
                if self._documents:  # waking idle threads would delay the answer
                    self._documents_ready.notify_all()

    def _embed_documents(self) -> None:
        if sys.platform == "linux":  # elsewhere a thread has no priority of its own
            with contextlib.suppress(OSError):
                thread = threading.get_native_id()
                os.setpriority(os.PRIO_PROCESS, thread, max(INGEST_NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
        while True:
            with self._documents_ready:
                self._documents_ready.wait_for(lambda: self._closed or self._may_embed())
                if self._closed:
                    return
                documents = self._documents[0]
                start = documents.taken
                documents.taken += self._batch
            texts = documents.texts[start : start + self._batch]
            try:
                rows = check_vectors(self.provider.embed_batch(texts), len(texts), self.provider.dim)
            except Exception as error:
                _fail(documents.future, _model_error(error))
                continue
            documents.rows[start : start + len(texts)] = rows
            with self._documents_ready:
                documents.done += len(texts)
                finished = documents.done == len(documents.texts)
            if finished:
                with contextlib.suppress(InvalidStateError):
                    documents.future.set_result(documents.rows)

    def _may_embed(self) -> bool:
        """Return whether a thread may embed documents now, after dropping calls whose texts are all taken."""
        while self._documents:
            first = self._documents[0]
            if first.taken < len(first.texts) and not first.future.done():
                break
            self._documents.popleft()
        return bool(self._documents) and self._open_queries == 0


def _fail(future: Future[Any], error: DonnaError) -> None:
    with contextlib.suppress(InvalidStateError):
        future.set_exception(error)


def _closed() -> ModelError:
    return ModelError(Reason.EMBEDDING_FAILED, "the embedding model is closed")


def _model_error(error: Exception) -> DonnaError:
    """Return an error of Donna's unchanged; wrap any other by its type, without text of a note."""
    if isinstance(error, DonnaError):
        return error
    wrapped = ModelError(Reason.EMBEDDING_FAILED, f"the embedding model failed ({type(error).__name__})")
    wrapped.__cause__ = error
    return wrapped
