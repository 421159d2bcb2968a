"""A local embedding server with OpenAI's API, which records requests and misbehaves on demand."""

from __future__ import annotations

import contextlib
import json
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIM = 24


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that the server received; header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


@dataclass(frozen=True, slots=True)
class Response:
    """The response to a request; `wait` is in seconds, unless the server stops earlier."""

    body: bytes | str | dict[str, Any]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    wait: float = 0.0


Behaviour = Callable[[ReceivedRequest, int], Response]
"""Returns the response to a request, given the request and its number from 1."""


def vector(text: str, dim: int = DIM) -> list[float]:
    """Return a vector of the words of a text, so that texts that share words are similar."""
    row = [0.01] * dim
    for word in text.lower().replace(".", " ").replace("›", " ").split():
        row[zlib.crc32(word.encode()) % dim] += 1.0
    return row


def good(texts: Sequence[str], dim: int = DIM) -> dict[str, Any]:
    """Return the vectors of texts, not in the order of the request."""
    rows = [{"object": "embedding", "index": index, "embedding": vector(text, dim)} for index, text in enumerate(texts)]
    return {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 3, "total_tokens": 3}}


def well(asked: ReceivedRequest, number: int) -> Response:
    """Respond correctly."""
    return Response(good(asked.texts))


def after_the_first(then: Behaviour) -> Behaviour:
    """Respond correctly to the first request, from which a provider learns the length of vectors."""
    return lambda asked, number: well(asked, number) if number == 1 else then(asked, number)


class EmbeddingServer:
    """A running server. `requests` are those so far; `behaviour` may be changed at any time."""

    def __init__(self, behaviour: Behaviour = well) -> None:
        self.behaviour = behaviour
        self.requests: list[ReceivedRequest] = []
        self.ended = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                post = ReceivedRequest(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                with server._lock:
                    server.requests.append(post)
                    number = len(server.requests)
                response = server.behaviour(post, number)
                if response.wait:
                    server.ended.wait(response.wait)
                data = response.body if isinstance(response.body, bytes) else _text(response.body).encode()
                with contextlib.suppress(ConnectionError):
                    self.send_response(response.status)
                    for name, value in (("content-type", "application/json"), *response.headers):
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *words: Any) -> None:
                """Log nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def texts(self) -> list[str]:
        """Return every text received, in order."""
        with self._lock:
            return [text for asked in self.requests for text in asked.texts]

    @contextlib.contextmanager
    def serving(self) -> Iterator[EmbeddingServer]:
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            self._http.shutdown()
            thread.join()
            self._http.server_close()


def _text(body: str | dict[str, Any]) -> str:
    return body if isinstance(body, str) else json.dumps(body)
