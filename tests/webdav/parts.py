"""A WebDAV server on a temporary vault, and its clients: webdav4, and raw HTTP for what no client would send."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

from webdav4.client import Client

from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.webdav.files import ServedTree, private_files
from donna_tui.webdav.gate import Password
from donna_tui.webdav.server import Address, WebdavServer

PASSWORD = "correct horse battery"
IGNORE = (".obsidian/**", ".trash/**", ".git/**", "node_modules/**")


@dataclass(frozen=True, slots=True)
class Served:
    """A vault that is served at `url`."""

    root: Path
    url: str
    clients: dict[tuple[str, str], Client] = field(default_factory=dict)

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port

    def client(self, password: str = PASSWORD, user: str = "donna") -> Client:
        if (user, password) not in self.clients:
            self.clients[user, password] = Client(self.url, auth=(user, password), retry=False)
        return self.clients[user, password]

    def close(self) -> None:
        for each in self.clients.values():
            each.http.close()

    def put(self, path: str, data: bytes, *, overwrite: bool = True) -> None:
        self.client().upload_fileobj(BytesIO(data), path, overwrite=overwrite)

    def get(self, path: str) -> bytes:
        target = BytesIO()
        self.client().download_fileobj(path, target)
        return target.getvalue()

    def names(self, path: str = "/") -> list[str]:
        return sorted(str(each) for each in self.client().ls(path, detail=False))

    def request(self, method: str, target: str, body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
        """Send a request with exactly these headers, and the right password unless another is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        given = {"Authorization": basic(), **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, target, body or None, {name: value for name, value in given.items() if value})
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    def status(self, method: str, target: str, body: bytes = b"", **headers: str) -> int:
        return self.request(method, target, body, **headers).status

    def begin_put(self, target: str, sent: bytes, *headers: str) -> socket.socket:
        """Send the header of an upload and a part of its body."""
        lines = [f"PUT {target} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Authorization: {basic()}", *headers]
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + sent)
        return connection


def basic(password: str = PASSWORD, user: str = "donna") -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@contextlib.contextmanager
def serving(
    root: Path,
    *,
    read_only: bool = False,
    private: bool = False,
    max_bytes: int = 4_000_000,
    address: Address | None = None,
) -> Iterator[Served]:
    """Serve a vault from a thread. With `private`, private notes are excluded, as is the default."""
    vault = VaultRoot(root)
    withheld = private_files(vault, max_bytes=1_000_000, key="donna_sensitive")
    tree = ServedTree(vault, GlobSet(IGNORE), withheld) if private else ServedTree(vault, GlobSet(IGNORE))
    server = WebdavServer(tree, Password.of(PASSWORD), address or Address(), read_only=read_only, max_bytes=max_bytes)
    url = server.open()
    thread = threading.Thread(target=server.serve)
    thread.start()
    served = Served(root, url)
    try:
        yield served
    finally:
        served.close()
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


def certificate(folder: Path) -> tuple[Path, Path]:
    """Create a self-signed certificate for this machine, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True, timeout=30,
    )  # fmt: skip
    return cert, key


def temporary_files(root: Path) -> list[Path]:
    """Return the temporary files that an upload left."""
    return sorted(root.rglob(".donna-*"))


def soon(condition: Callable[[], object], what: str = "the condition") -> None:
    """Wait until a condition is true."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"this was never true: {what}"
        time.sleep(0.05)
