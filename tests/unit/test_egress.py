"""The egress check: private text is sent to this machine only, to the address that was checked; answers are limited."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx2
import pytest

from donna_tui.platform.addresses import is_this_machine
from donna_tui.safety import egress
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import open_client
from donna_tui.safety.payload import Payload, Segment, carried, carrying
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.client import VaultClient

PATIENCE = 20


class Listener:
    """Counts every connection and byte that this machine receives."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok") -> None:
        self.answer, self.connections, self.received = answer, 0, b""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.received += head
            writer.write(self.answer)
            await writer.drain()
        writer.close()

    @contextlib.asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._serve, host, 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()


def resolving(*answers: Sequence[str]) -> tuple[egress.Resolver, list[str]]:
    """Return a resolver that gives these answers in turn, the last one repeatedly, and the names that it was asked for."""
    asked: list[str] = []
    coming = itertools.chain(answers, itertools.repeat(answers[-1]))

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return next(coming)

    return resolve, asked


async def get(url: str, *addresses: Sequence[str], follow: bool = False, max_bytes: int = 10_000) -> httpx2.Response:
    resolve = resolving(*addresses)[0] if addresses else egress.system_addresses
    async with (
        asyncio.timeout(PATIENCE),
        open_client(timeout_seconds=5, max_bytes=max_bytes, resolve=resolve) as client,
    ):
        return await client.get(url, follow_redirects=follow)


async def refused(url: str, *addresses: Sequence[str]) -> DonnaError:
    with pytest.raises(DonnaError) as caught:
        await get(url, *addresses)
    assert caught.value.reason is Reason.EGRESS_REFUSED
    return caught.value


@pytest.fixture
def connects(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Record every connection that this process tries to make."""
    made: list[object] = []
    connect = socket.socket.connect

    def spied(self: socket.socket, address: object) -> None:
        made.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", spied)
    loop = asyncio.SelectorEventLoop

    async def sock_connect(self: object, sock: socket.socket, address: object) -> None:
        made.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(loop, "sock_connect", sock_connect)
    return made


@pytest.mark.parametrize("sensitivity", [*Sensitivity, None])
async def test_to_this_machine_everything_may_go(sensitivity: Sensitivity | None) -> None:
    listener = Listener()
    async with listener.at("127.0.0.1") as port:
        with carrying(sensitivity) if sensitivity else contextlib.nullcontext():
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
                assert (await get(f"http://{host}:{port}/")).text == "ok"
    assert listener.connections == 3


@pytest.mark.parametrize("sensitivity", [Sensitivity.LOCAL_ONLY, Sensitivity.DONNA_SENSITIVE])
async def test_private_text_goes_nowhere_else_and_not_even_the_name_is_looked_up(
    sensitivity: Sensitivity, connects: list[object]
) -> None:
    resolve, asked = resolving(["192.0.2.1"])
    with carrying(sensitivity), pytest.raises(DonnaError) as caught:
        async with open_client(timeout_seconds=5, max_bytes=100, resolve=resolve) as client:
            await client.post("https://models.example/v1", content=b"private")
    assert caught.value.reason is Reason.EGRESS_REFUSED
    assert "private text would be sent to models.example" in caught.value.message
    assert (asked, connects) == ([], [])


async def test_undeclared_text_stays_on_this_machine(connects: list[object]) -> None:
    await refused("https://models.example/", ["192.0.2.1"])
    assert connects == []


async def test_public_text_goes_to_the_very_address_that_was_looked_up(connects: list[object]) -> None:
    with carrying(Sensitivity.PUBLIC), pytest.raises(httpx2.ConnectError):
        await get("https://models.example/", ["192.0.2.1", "192.0.2.2"], ["127.0.0.1"])
    assert connects == [("192.0.2.1", 443), ("192.0.2.2", 443)]


@pytest.mark.parametrize("sensitivity", list(Sensitivity))
async def test_a_name_that_leads_to_this_machine_is_not_this_machine(
    sensitivity: Sensitivity, connects: list[object]
) -> None:
    with carrying(sensitivity):
        await refused("https://rebound.example/", ["127.0.0.1"])
        await refused("https://rebound.example/", ["192.0.2.1", "::1"])
        await refused("https://rebound.example/", ["::ffff:127.0.0.1"])
    assert connects == []


async def test_a_name_that_changes_its_address_is_checked_each_time() -> None:
    listener = Listener()
    async with listener.at("127.0.0.1") as port:
        resolve, asked = resolving(["127.0.0.1"], ["192.0.2.1"])
        async with open_client(timeout_seconds=5, max_bytes=100, resolve=resolve) as client:
            with carrying(Sensitivity.LOCAL_ONLY):
                assert (await client.get(f"http://localhost:{port}/")).text == "ok"
                with pytest.raises(DonnaError, match="does not resolve to this machine"):
                    await client.get(f"http://localhost:{port}/")
    assert (asked, listener.connections) == (["localhost", "localhost"], 1)


async def test_localhost_uses_only_the_addresses_that_are_this_machine() -> None:
    listener = Listener()
    async with listener.at("127.0.0.1") as port:
        with carrying(Sensitivity.DONNA_SENSITIVE):
            assert (await get(f"http://localhost:{port}/", ["192.0.2.1", "127.0.0.1"])).text == "ok"


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example/",
        "http://192.0.2.1/",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://127.1/",
        "http://2130706433/",
        "http://localhost.example/",
        "http://localhost./",
        "http://127.0.0.1.example/",
        "ftp://models.example/",
        "https://169.254.169.254/latest",
        "https://[fe80::1]/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
    ],
)
async def test_forbidden_urls_are_never_connected(url: str, connects: list[object]) -> None:
    with carrying(Sensitivity.PUBLIC):
        await refused(url, ["192.0.2.1"])
    assert connects == []


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost.", False),
        ("my.localhost", False),
        ("127.1", False),
        ("0.0.0.0", False),
        ("192.168.1.2", False),
        ("::ffff:192.0.2.1", False),
        ("", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, here: bool) -> None:
    assert is_this_machine(host) is here


async def test_a_name_without_an_address_is_a_failure_of_the_network() -> None:
    with carrying(Sensitivity.PUBLIC), pytest.raises(httpx2.ConnectError, match="has no address"):
        await get("https://models.example/", [])
    with carrying(Sensitivity.PUBLIC), pytest.raises(httpx2.ConnectError, match="unknown host"):
        await get("https://does-not-exist.invalid/")


async def test_the_declaration_ends_with_its_block() -> None:
    with carrying(Sensitivity.PUBLIC):
        with carrying(Sensitivity.LOCAL_ONLY):
            assert carried() is Sensitivity.LOCAL_ONLY
        assert carried() is Sensitivity.PUBLIC
    assert carried() is None


@pytest.mark.parametrize(
    "place", ["https://elsewhere.example/", "http://localhost:1/", "https://127.0.0.1:{port}/", "http://[oops/"]
)
async def test_a_redirect_to_another_place_is_refused(place: str) -> None:
    listener = Listener()
    async with listener.at("127.0.0.1") as port:
        listener.answer = (
            f"HTTP/1.1 302 Found\r\nlocation: {place.format(port=port)}\r\ncontent-length: 0\r\n\r\n".encode()
        )
        with carrying(Sensitivity.PUBLIC), pytest.raises(DonnaError) as caught:
            await get(f"http://127.0.0.1:{port}/", follow=True)
    assert caught.value.reason is Reason.EGRESS_REFUSED
    assert listener.connections == 1


async def test_a_redirect_loop_ends() -> None:
    listener = Listener(b"HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n")
    async with listener.at("127.0.0.1") as port:
        with pytest.raises(httpx2.TooManyRedirects):
            await get(f"http://127.0.0.1:{port}/", follow=True)
    assert listener.connections == egress.MAX_REDIRECTS + 1


async def test_redirects_are_followed_only_on_request() -> None:
    async with Listener(b"HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n").at("127.0.0.1") as port:
        assert (await get(f"http://127.0.0.1:{port}/a")).status_code == 302


async def test_an_answer_is_bounded() -> None:
    body = b"x" * 500
    listener = Listener(b"HTTP/1.1 200 OK\r\n\r\n" + body)
    async with listener.at("127.0.0.1") as port:
        assert (await get(f"http://127.0.0.1:{port}/", max_bytes=500)).content == body
        with pytest.raises(DonnaError) as caught:
            await get(f"http://127.0.0.1:{port}/secret-path?token=SECRET", max_bytes=499)
    assert caught.value.reason is Reason.TOO_LARGE
    assert "SECRET" not in caught.value.message


async def test_proxy_environment_variables_are_ignored_by_the_egress_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    listener = Listener()
    async with listener.at("127.0.0.1") as port:
        assert (await get(f"http://127.0.0.1:{port}/")).text == "ok"
    assert b"GET / HTTP" in listener.received


async def test_addresses_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with Listener().at("127.0.0.1") as port:
        await get(f"http://127.0.0.1:{port}/calendar-SECRET.ics")
    assert "SECRET" not in caplog.text


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Create a certificate for localhost, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


@contextlib.asynccontextmanager
async def secure(certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_certificate_must_be_that_of_the_name_and_not_of_the_address(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    monkeypatch.setattr(egress, "_tls", lambda: trusting)
    async with secure(certificate) as port:
        assert (await get(f"https://localhost:{port}/")).text == "ok"
        with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await get(f"https://127.0.0.1:{port}/")


async def test_a_certificate_of_unknown_origin_is_refused_whatever_the_environment_says(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    egress._tls.cache_clear()
    async with secure(certificate) as port:
        with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await get(f"https://localhost:{port}/")


def test_a_payload_is_as_private_as_its_most_private_part() -> None:
    def payload(*kinds: Sensitivity) -> Payload:
        return Payload(system="s", segments=tuple(Segment(text="TEXT", sensitivity=each) for each in kinds))

    public, local, sensitive = Sensitivity.PUBLIC, Sensitivity.LOCAL_ONLY, Sensitivity.DONNA_SENSITIVE
    assert payload().sensitivity is public
    assert payload(public, public).sensitivity is public
    assert payload(public, local, public).sensitivity is local
    assert payload(sensitive, local).sensitivity is sensitive
    assert "TEXT" not in repr(payload(local))


KEYS = (
    "donna_sensitive",
    "Donna_Sensitive",
    "DONNA_SENSITIVE",
    "donna-sensitive",
    "donna sensitive",
    "donnaSensitive",
    '"donna_sensitive"',
    "'donna_sensitive'",
)
YES = ("true", "True", "TRUE", "yes", "on", "1", "'true'", '"yes"', "[true]", "maybe")
FLAGS = (
    *(f"{key}: {value}" for key in KEYS for value in YES),
    *(
        f"{key}: {value}"
        for key in ("donna", "Donna", "DONNA", '"donna"')
        for value in ("local-only", "local_only", "Local-Only", "'local-only'", "[local-only]")
    ),
)
SHAPES = (
    "---\n{flag}\n---\n{body}",
    "---\r\n{flag}\r\n---\r\n{body}",
    "\ufeff---\n{flag}\n---\n{body}",
    "---\ntitle: x\n{flag}\n---\n{body}",
    "---\n{flag}\n{body}",
)
NOTES = [
    shape.format(flag=flag, body=f"CANARY-{number}")
    for number, (flag, shape) in enumerate(itertools.product(FLAGS, SHAPES))
]


@pytest.fixture
def segments(tmp_path: Path) -> list[Segment]:
    """Return the canaries as segments, as the vault classifies them."""
    for number, note in enumerate(NOTES):
        (tmp_path / f"{number}.md").write_bytes(note.encode())
    client = VaultClient(tmp_path)
    found = [client.read(f"{number}.md") for number in range(len(NOTES))]
    return [Segment(text=note.content, sensitivity=note.sensitivity) for note in found]


async def test_no_canary_leaves_and_all_reach_a_model_on_this_machine(
    connects: list[object], segments: list[Segment]
) -> None:
    assert len(segments) >= 500
    resolve, asked = resolving(["192.0.2.1"])
    async with open_client(timeout_seconds=5, max_bytes=100, resolve=resolve) as client:
        for segment in segments:
            payload = Payload(system="", segments=(Segment(text="public", sensitivity=Sensitivity.PUBLIC), segment))
            with carrying(payload.sensitivity), pytest.raises(DonnaError) as caught:
                await client.post("https://models.example/v1/chat", content=segment.text.encode())
            assert caught.value.reason is Reason.EGRESS_REFUSED, segment.text
            assert "CANARY" not in caught.value.message
    assert (asked, connects) == ([], [])


async def test_private_segments_may_be_sent_to_this_machine(segments: list[Segment]) -> None:
    listener = Listener()
    async with listener.at("127.0.0.1") as port, open_client(timeout_seconds=5, max_bytes=100) as client:
        for segment in segments:
            with carrying(segment.sensitivity):
                assert (await client.post(f"http://127.0.0.1:{port}/", content=b"x")).text == "ok"
    assert listener.connections == len(NOTES)
