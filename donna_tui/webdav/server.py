"""WebDAV server for one vault: wsgidav behind the gate, run by cheroot."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cheroot.errors import FatalSSLAlert
from cheroot.server import HTTPConnection
from cheroot.ssl.builtin import BuiltinSSLAdapter
from cheroot.wsgi import Gateway_10, Server
from wsgidav.error_printer import ErrorPrinter
from wsgidav.mw.base_mw import BaseMiddleware
from wsgidav.request_resolver import RequestResolver
from wsgidav.wsgidav_app import WsgiDAVApp

from donna_tui.http.guard import ConnectionLimiter, Limits, OncePerMinute, TrackedConnection
from donna_tui.platform.addresses import is_this_machine
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.webdav.files import ServedTree
from donna_tui.webdav.gate import CONNECTION, Environ, Gate, Password, StartResponse
from donna_tui.webdav.provider import VaultFolder, VaultProvider

SHARE = "/vault"
"""The URL path of the vault. Remotely Save creates a folder below its address: this is its name."""

MAX_BYTES = 512 * 1024 * 1024
"""Maximum bytes of one file. Obsidian itself cannot open files larger than memory."""

MAX_HEADER_BYTES = 16 * 1024
PATIENCE_SECONDS = 30
"""Maximum silence of a client in the middle of a request."""

THREADS = 24
"""Number of requests answered concurrently."""

CONNECTIONS = Limits(head_seconds=PATIENCE_SECONDS)
READING = Limits(connections=10_000, untrusted=16, per_address=16)
"""Limits for connections that hold a thread, so that slow or unauthenticated requests cannot occupy all threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address to listen on. Port 0 takes a free one.

    Raises DonnaError (`usage`) for an address at which a password would be sent in the clear.
    """

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise DonnaError(Reason.USAGE, "--cert and --key must be given together", hint="--cert FILE --key FILE")
        if not is_this_machine(self.host) and self.certificate is None:
            message = f"{self.host} can be reached by other machines, and without TLS they would read your password"
            raise DonnaError(Reason.USAGE, message, hint="give --cert and --key, or use 127.0.0.1 behind a tunnel")


class _Tls(BuiltinSSLAdapter):
    """Leave the handshake to the worker thread; in the accepting thread it would block all other connections."""

    def wrap(self, sock: socket.socket) -> tuple[ssl.SSLSocket, dict[str, Any]]:
        try:
            return self.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False), {}
        except OSError as error:
            raise FatalSSLAlert(*error.args) from error


class Connection(HTTPConnection):
    """A connection with an initial TLS handshake. It is counted by the limiter, and again while it holds a thread."""

    tracked: TrackedConnection | None = None
    reading: TrackedConnection | None = None

    def communicate(self) -> bool:
        try:
            if isinstance(self.socket, ssl.SSLSocket) and self.socket.version() is None:
                self.socket.do_handshake()
                self.ssl_env = self.server.ssl_adapter.get_environ(self.socket)
            return bool(super().communicate())  # type: ignore[no-untyped-call]
        except OSError:
            return False
        finally:
            if self.reading:
                self.server.readers.leave(self.reading)

    def close(self) -> None:
        if self.tracked:
            self.server.limiter.leave(self.tracked)
        super().close()

    def hang_up(self) -> None:
        """Shut down the connection from any thread: a thread that reads from it then sees its end."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    @contextlib.contextmanager
    def verifying(self) -> Iterator[None]:
        """Keep the connection open while its password is checked."""
        with contextlib.ExitStack() as stack:
            if self.tracked:
                stack.enter_context(self.server.limiter.answering(self.tracked))
            if self.reading:
                stack.enter_context(self.server.readers.answering(self.reading))
            yield

    def trust(self) -> None:
        for connection in filter(None, (self.tracked, self.reading)):
            connection.trusted = True


class _Gateway(Gateway_10):
    """Close a connection as the response requires; cheroot would keep it open and read the whole body first."""

    def get_environ(self) -> dict[str, Any]:  # type: ignore[override]
        environ: dict[str, Any] = super().get_environ()  # type: ignore[no-untyped-call]
        return {**environ, CONNECTION: self.req.conn}

    def start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        if ("Connection", "close") in headers:
            self.req.close_connection = True
        return super().start_response(status, headers, exc_info)


class _Server(Server):
    """Report errors in one line without data from the client.

    A new connection is kept with the idle ones until its client sends a request: browsers and sync clients open some in
    advance, and each would hold a thread.
    """

    ConnectionClass = Connection
    on_trouble: Callable[[str], None]
    limiter: ConnectionLimiter
    readers: ConnectionLimiter

    def process_conn(self, conn: Connection) -> None:
        if conn.tracked is None:
            conn.tracked = self.limiter.enter(conn.remote_addr or "", conn.hang_up)
            self.put_conn(conn)
            return
        conn.reading = self.readers.enter(conn.remote_addr or "", conn.hang_up)
        conn.reading.trusted = conn.tracked.trusted
        super().process_conn(conn)

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        if level >= logging.ERROR:
            self.on_trouble(msg.strip().partition("\n")[0])


class WebdavServer:
    """Listen from `open` on and answer in `serve`, until `stop` is called from another thread."""

    def __init__(
        self,
        tree: ServedTree,
        password: Password,
        address: Address,
        *,
        read_only: bool = False,
        max_bytes: int = MAX_BYTES,
        on_trouble: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._address = address
        application = _application(VaultProvider(tree, max_bytes=max_bytes, read_only=read_only))
        self._server = _Server(
            ("127.0.0.1" if address.host == "localhost" else address.host, address.port),
            Gate(application, password, host=address.host, max_bytes=max_bytes),
            numthreads=THREADS,
            max=THREADS,
            request_queue_size=CONNECTIONS.connections,
            timeout=PATIENCE_SECONDS,
            server_name="donna",
        )
        self._server.gateway = _Gateway
        self._server.limiter, self._server.readers = ConnectionLimiter(CONNECTIONS), ConnectionLimiter(READING)
        self._server.keep_alive_conn_limit = 2 * CONNECTIONS.connections
        self._server.max_request_body_size = max_bytes
        self._server.max_request_header_size = MAX_HEADER_BYTES
        self._server.on_trouble = OncePerMinute(on_trouble)
        self._stopped = threading.Event()

    def open(self) -> str:
        certificate, key = self._address.certificate, self._address.key
        try:
            if certificate is not None:
                self._server.ssl_adapter = _Tls(str(certificate), str(key))
        except (OSError, ValueError) as error:
            message = f"the certificate or its key cannot be used ({getattr(error, 'strerror', None) or error})"
            raise DonnaError(Reason.USAGE, message, hint="both are PEM files that belong together") from error
        try:
            self._server.prepare()
        except OSError as error:
            message = f"{self._address.host} port {self._address.port} is not available ({error.strerror or error})"
            raise DonnaError(Reason.IO_ERROR, message, hint="choose another with --port") from error
        host, port = self._server.bind_addr[:2]
        scheme = "http" if certificate is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else quote(host)}:{port}{SHARE}/"

    def serve(self) -> None:
        sweeper = threading.Thread(target=self._sweep, name="donna-webdav-sweep", daemon=True)
        sweeper.start()
        try:
            self._server.serve()
        finally:
            self._stopped.set()
            sweeper.join()

    def _sweep(self) -> None:
        while not self._stopped.wait(1.0):
            self._server.limiter.sweep()
            self._server.readers.sweep()

    def stop(self) -> None:
        """Stop after the requests in progress are answered."""
        self._server.stop()


class _FolderNames(BaseMiddleware):  # type: ignore[misc]
    """List a folder for GET, and confirm it for HEAD, with which clients check that it exists; wsgidav refuses both."""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        method, provider = environ["REQUEST_METHOD"], environ["wsgidav.provider"]
        found = provider and method in ("GET", "HEAD") and provider.get_resource_inst(environ["PATH_INFO"], environ)
        if not isinstance(found, VaultFolder):
            return self.next_app(environ, start_response)  # type: ignore[no-any-return]
        names = "".join(f"{name}\n" for name in found.get_member_names()).encode("utf-8", "replace")
        start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(names)))])
        return [names] if method == "GET" else []


def _application(provider: VaultProvider) -> WsgiDAVApp:
    logger = logging.getLogger("wsgidav")  # it would print paths and headers of clients on the terminal
    logger.handlers, logger.propagate = [logging.NullHandler()], False
    return WsgiDAVApp(
        {
            "provider_mapping": {SHARE: provider},
            "middleware_stack": [ErrorPrinter, _FolderNames, RequestResolver],
            "logging": {"enable": False},
            "verbose": 0,
            "suppress_version_info": True,
            "lock_storage": True,
            "property_manager": None,
        }
    )
