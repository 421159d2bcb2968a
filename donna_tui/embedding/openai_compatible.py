"""Embed on a server with OpenAI's API: `POST /embeddings`, through the egress guard.

Nothing from the server except numbers is ever shown or logged, and neither is the key.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from donna_tui.config.agents import RemoteConfig
from donna_tui.embedding.provider import QUERY_WINDOWS, EmbeddingProvider, Matrix, Vector, check_vectors, normalised
from donna_tui.platform.addresses import host_of
from donna_tui.platform.lazy import np
from donna_tui.safety.backoff import backoff, stated_pause
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import key_in, open_client
from donna_tui.safety.payload import carrying
from donna_tui.text.encodable import encodable
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.errors import DonnaError, ModelAwayError, ModelError, Reason

BATCH = 32
"""Texts per request."""

MAX_ANSWER_BYTES = 16_000_000
MAX_TRIES = 3
MAX_WAIT_SECONDS = 10.0
QUERY_BYTES = 8_000
"""Bytes per window: a token is at least one byte, so that this fits into the window of OpenAI's models."""

MAX_DIM = 8_192

STOP_SECONDS = 0.1
"""Seconds between two checks for cancellation."""

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

_ABOUT_THE_TEXT = frozenset({400, 413, 422})
"""Status codes by which the server rejects the passage; any other refusal would apply to all passages."""

Pause = Callable[[float], Awaitable[None]]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    embedding: list[float]
    index: int | None = None


class _Response(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    data: list[_Row]


class OpenAICompatible(EmbeddingProvider):
    """A model on a server. Each call is one request, retried a few times while the server is busy.

    `version_tag` names the model and not its host, because the same model returns the same vectors anywhere.
    """

    max_tokens = QUERY_BYTES
    counter = EstimatedTokens()

    def __init__(
        self,
        model: str,
        remote: RemoteConfig,
        *,
        environ: Mapping[str, str] = os.environ,
        pause: Pause = asyncio.sleep,
        stop: threading.Event | None = None,
    ) -> None:
        """Query the server once for the length of its vectors; `stop` cancels that. Raises ModelError."""
        self.name, self._remote, self._pause = model, remote, pause
        self._host = host_of(remote.base_url)
        try:
            self._key = key_in(environ, remote.key_variable)
        except ValueError as error:
            raise ModelAwayError(Reason.MODEL_CALL_FAILED, str(error), passing=False) from None
        self._stop = stop or threading.Event()
        first = self._request_vectors(["A first sentence"])
        self.dim = int(first.shape[1])
        self.version_tag = f"openai/{model}@{self.dim}"
        check_vectors(first, 1, self.dim)

    @property
    def leaves(self) -> bool:
        return not self._remote.is_local

    def embed(self, text: str) -> Vector:
        rows = self.embed_batch(list(_windows(text))[:QUERY_WINDOWS])
        vector: Vector = normalised(rows.mean(axis=0, keepdims=True))[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        rows = [self._request_vectors(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return check_vectors(np.concatenate(rows), len(texts), self.dim)

    def interrupt(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self.interrupt()

    def _request_vectors(self, texts: Sequence[str]) -> Matrix:
        clean = [encodable(text) for text in texts]
        try:
            body = asyncio.run(self._fetch(clean))
        except asyncio.CancelledError:
            raise ModelAwayError(Reason.EMBEDDING_FAILED, "the embedding model is closed") from None
        return self._read(body, len(texts))

    async def _fetch(self, texts: Sequence[str]) -> bytes:
        """Fetch the answer within the deadline, until the model is closed."""
        seconds = self._remote.timeout_seconds
        task = asyncio.ensure_future(self._retry(texts, time.monotonic() + seconds))
        try:
            async with asyncio.timeout(seconds):
                while not (await asyncio.wait([task], timeout=STOP_SECONDS))[0]:
                    if self._stop.is_set():
                        task.cancel()
                return await task
        except TimeoutError:
            task.cancel()
            raise self._error("did not answer in time", "raise memory_search.remote.timeout_seconds") from None

    async def _retry(self, texts: Sequence[str], until: float) -> bytes:
        tries = 0
        while True:
            response = await self._send(texts)
            if response.status_code == httpx2.codes.OK:
                return response.content
            tries += 1
            pause = stated_pause(response.headers.get("retry-after", ""))
            pause = backoff(tries - 1) if pause is None else pause
            room = min(MAX_WAIT_SECONDS, until - time.monotonic())
            if response.status_code not in _PASSING or tries >= MAX_TRIES or pause > room:
                raise self._status_error(response.status_code)
            await self._pause(pause)

    async def _send(self, texts: Sequence[str]) -> httpx2.Response:
        """Send one request. Only public text is sent to a model on another machine."""
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        payload = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        http = open_client(
            timeout_seconds=self._remote.timeout_seconds, max_bytes=MAX_ANSWER_BYTES, hosts=(self._host,)
        )
        try:
            async with http:
                with carrying(Sensitivity.PUBLIC):
                    return await http.post(f"{self._remote.base_url}/embeddings", json=payload, headers=headers)
        except httpx2.TimeoutException:
            raise self._error("did not answer in time", "raise memory_search.remote.timeout_seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError):
            raise self._error("cannot be reached", "is it running, and are you online?") from None
        except DonnaError as error:
            raise ModelAwayError(error.reason, error.message, hint=error.hint, passing=False) from None

    def _status_error(self, status: int) -> ModelError:
        match status:
            case 401 | 403:
                hint = "check memory_search.remote.api_key_env"
                return self._error("rejected the key", hint, passing=False)
            case 404 | 405:
                hint = "check memory_search.model and remote.base_url"
                return self._error("does not know the model, or has no embeddings", hint, passing=False)
            case 429:
                return self._error("is over its rate limit", "it will be retried later")
            case _ if status in _PASSING or status >= 500:
                return self._error("returned an error", "it will be retried later")
            case _ if status not in _ABOUT_THE_TEXT:
                return self._error(f"refused the request (status {status})", "check your account there", passing=False)
            case _:
                message = f"{self._host} rejected a passage (status {status})"
                return ModelError(Reason.EMBEDDING_FAILED, message, hint="lower memory_search.chunking.tokens")

    def _error(self, what: str, hint: str, *, passing: bool = True) -> ModelAwayError:
        return ModelAwayError(Reason.MODEL_CALL_FAILED, f"{self._host} {what}", hint=hint, passing=passing)

    def _read(self, body: bytes, count: int) -> Matrix:
        """Parse a response into rows in the order of the texts. Raises ModelError for invalid vectors."""
        try:
            rows = _Response.model_validate_json(body).data
        except (ValidationError, ValueError):
            raise self._unusable("is not a list of vectors") from None
        stated = [position if row.index is None else row.index for position, row in enumerate(rows)]
        if sorted(stated) != list(range(count)):
            raise self._unusable("does not have one vector for each passage")
        length = {len(row.embedding) for row in rows}
        expected = {getattr(self, "dim", next(iter(length), 0))}
        if length != expected or not 0 < next(iter(length)) <= MAX_DIM:
            raise self._unusable("has vectors of another length")
        ordered = [row.embedding for _, row in sorted(zip(stated, rows, strict=True), key=lambda pair: pair[0])]
        matrix = np.array(ordered, dtype=np.float64)
        if not np.isfinite(matrix).all():
            raise self._unusable("contains something that is not a number")
        return normalised(np.asarray(matrix / max(1.0, float(np.abs(matrix).max())), dtype=np.float32))

    def _unusable(self, what: str) -> ModelError:
        return ModelError(Reason.EMBEDDING_FAILED, f"the answer of {self._host} {what}")


def _windows(text: str) -> Iterator[str]:
    """Split the text into pieces of at most `QUERY_BYTES`, between characters; an empty text is one empty piece."""
    data = text.encode("utf-8", "replace")
    for start in range(0, len(data) or 1, QUERY_BYTES):
        yield data[start : start + QUERY_BYTES].decode("utf-8", "ignore")
