"""A local web server whose every response a test decides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that the server received."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. With `cut`, the announced length of the body is greater than its real one."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


Answers = Callable[[ReceivedRequest], Reply]


@dataclass(slots=True)
class Site:
    """The running server: its address, and its requests."""

    url: str
    requests: list[ReceivedRequest] = field(default_factory=list)


@contextmanager
def serving(answers: Answers) -> Iterator[Site]:
    """Run a server within the block."""
    site = Site("")

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = ReceivedRequest(self.command, self.path, dict(self.headers.items()), body)
            site.requests.append(asked)
            reply = answers(asked)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body) + (1_000 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PROPFIND = do_REPORT = _answer

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
