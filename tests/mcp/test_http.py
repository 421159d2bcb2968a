"""`donna mcp --http`: the official client is admitted with its token; nobody else and no web page is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from donna_tui.agents.guard import BURST, MAX_BODY_BYTES, Rate, token_file, token_of
from donna_tui.agents.server import IDLE_SECONDS, MAX_SESSIONS, Sessions
from donna_tui.agents.tools.context import QUOTA_SECONDS, Quota
from donna_tui.types.errors import DonnaError
from tests.engine.helpers import Sandbox
from tests.mcp.every_tool import through_every_tool
from tests.mcp.serving import Server, payload_of, started

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@dataclass(frozen=True, slots=True)
class Serving:
    """A running server."""

    port: int
    token: str
    process: Server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


@pytest.fixture
def serving(sandbox: Sandbox) -> Iterator[Serving]:
    """Run the server on any free port, with `--write`."""
    with started(sandbox, "--http", "--port", "0", "--write") as process:
        yield _ready(sandbox, process)


def _ready(sandbox: Sandbox, process: Server) -> Serving:
    assert process.stderr
    told = process.stderr.readline().decode() + process.stderr.readline().decode()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp\n +the token is in (.+)\n", told)
    assert found, told
    file = Path(found[2])
    assert file == token_file(sandbox.paths.space_state(sandbox.root))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return Serving(int(found[1]), file.read_text().strip(), process)


@contextlib.asynccontextmanager
async def client_of(serving: Serving, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {serving.token}"}) as http,
        Client(streamable_http_client(serving.url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_official_client_can_call_every_tool_over_http(sandbox: Sandbox, serving: Serving, mode: str) -> None:
    async with client_of(serving, mode) as client:
        await through_every_tool(client, sandbox)


@pytest.mark.slow
async def test_sessions_are_distinguished_and_calls_run_in_parallel(serving: Serving) -> None:
    async with client_of(serving, "legacy") as one, client_of(serving, "legacy") as two:
        first = payload_of(await one.call_tool("vault_write", {"path": "Inbox/one.md", "content": "x\n"}))
        second = payload_of(await two.call_tool("vault_write", {"path": "Inbox/two.md", "content": "x\n"}))
        assert first["session"] != second["session"]
        assert payload_of(await one.call_tool("vault_undo_last", {"everything": True}))["paths"] == ["Inbox/one.md"]
        asked = {"query": "kestrel", "mode": "keyword"}
        answers = await asyncio.gather(*(one.call_tool("memory_search", asked) for _ in range(60)))
        assert all(payload_of(answer)["count"] for answer in answers)


HOSTS = (
    "{ours}", "localhost:{port}", "LocalHost:{port}",
    "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:80", "localhost:1", "127.0.0.1.evil.example:{port}",
    "localhost.evil.example:{port}", "evil.example#127.0.0.1:{port}", "127.0.0.1:{port}@evil.example", "0.0.0.0:{port}",
    "127.0.0.2:{port}", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}", "2130706433:{port}", "0x7f.1:{port}",
    "127.1:{port}", "localhost.:{port}", "localhost:{port}.", "localhost:0{port}", "donna.local:{port}",
    "", " ", "127.0.0.1:{port}, evil.example", "http://127.0.0.1:{port}", "127.0.0.1:{port}/", "localhost :{port}",
    "l\u00f6calhost:{port}",
)  # fmt: skip
ORIGINS = (
    None, "http://{ours}", "http://localhost:{port}", "HTTP://LOCALHOST:{port}",
    "http://evil.example", "https://evil.example:{port}", "null", "", "http://127.0.0.1", "http://localhost",
    "https://127.0.0.1:{port}", "https://localhost:{port}", "http://127.0.0.1:1", "http://127.0.0.1.evil.example:{port}",
    "http://localhost.evil.example:{port}", "http://evil.example/http://127.0.0.1:{port}", "http://127.0.0.2:{port}",
    "http://[::1]:{port}", "http://0.0.0.0:{port}", "file://", "chrome-extension://abcdef", "moz-extension://abcdef",
    "vscode-webview://abc", "app://obsidian.md", "data:text/html,x", "http://127.0.0.1:{port}/", "http://127.0.0.1:{port} ,",
    "http://user@127.0.0.1:{port}", "127.0.0.1:{port}", "*",
)  # fmt: skip
ALLOWED_HOSTS, ALLOWED_ORIGINS = 2, 3


@pytest.mark.slow
def test_no_other_name_and_no_web_page_is_let_in(serving: Serving) -> None:
    """Try thirty hosts and thirty origins, each with the right token; the first few of each are allowed; then both twice."""
    rows = [(number < ALLOWED_HOSTS, host, None) for number, host in enumerate(HOSTS)]
    rows += [(number < ALLOWED_ORIGINS, HOSTS[0], origin) for number, origin in enumerate(ORIGINS)]
    for allowed, host, origin in rows:
        for method in ("POST", "GET", "DELETE", "OPTIONS"):
            status = asked(serving, method, [("Host", host)] + ([] if origin is None else [("Origin", origin)]))
            if allowed:
                assert status not in (401, 403, 421), (host, origin)
            else:
                assert status in (400, 403), (method, host, origin, status)
    ours = ("Host", HOSTS[0])
    assert asked(serving, "POST", [ours, ("Host", "evil.example")]) in (400, 403)
    assert asked(serving, "POST", [ours, ours]) in (400, 403)
    assert asked(serving, "POST", []) in (400, 403)
    origins = [("Origin", "http://{ours}"), ("Origin", "http://evil.example")]
    assert asked(serving, "POST", [ours, *origins]) == 403


def asked(
    serving: Serving, method: str, headers: list[tuple[str, str]], *, own: bool = True, path: str = "/mcp"
) -> int:
    """Return the status of a hand-written request; with `own` it has the token."""
    body = json.dumps(CALL).encode() if method == "POST" else b""
    known = {"port": serving.port, "ours": f"127.0.0.1:{serving.port}"}
    shown = [(name, value.format(**known)) for name, value in headers]
    shown += [("Authorization", f"Bearer {serving.token}")] if own else []
    shown += [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Length", str(len(body))),
    ]
    head = "".join(f"{name}: {value}\r\n" for name, value in shown)
    with socket.create_connection(("127.0.0.1", serving.port), timeout=30) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        line = connection.makefile("rb").readline().decode()
    return int(line.split(" ")[1])


@pytest.mark.slow
def test_without_the_token_no_client_is_admitted(serving: Serving) -> None:
    token = serving.token
    wrong = ("", "Bearer", "Bearer ", "Bearer wrong", f"Basic {token}", f"Bearer {token}x", f"Bearer {token[:-1]}",
             token, f"Bearer {token.upper()}", f"Bearer {token} {token}", f"Bearer {token}, Bearer {token}")  # fmt: skip
    ours = ("Host", HOSTS[0])
    for given in wrong:
        assert asked(serving, "POST", [ours, ("Authorization", given)], own=False) == 401, given
    assert asked(serving, "POST", [ours], own=False) == 401
    assert asked(serving, "POST", [ours, ("Authorization", f"Bearer {token}")]) == 401
    assert asked(serving, "POST", [ours]) not in (401, 403, 404)
    for path in ("/", "/docs", "/mcp/", "/mcp/..", "//mcp", "/.well-known/oauth-authorization-server", "/sse"):
        assert asked(serving, "GET", [ours], own=False, path=path) == 401
        assert asked(serving, "GET", [ours], path=path) == 404
    with httpx2.Client() as http:
        answer = http.post(serving.url, json=CALL)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert token not in answer.text


@pytest.mark.slow
def test_headers_are_bounded_and_so_is_a_body_whether_or_not_it_says_its_size(serving: Serving) -> None:
    ours = ("Host", HOSTS[0])
    assert asked(serving, "POST", [ours, ("X-Long", "x" * 5_000)]) == 431
    assert asked(serving, "POST", [ours, ("X-Long", "x" * 100_000)]) in (400, 431)
    headers = {"Authorization": f"Bearer {serving.token}", "Content-Type": "application/json"}
    with httpx2.Client(timeout=60) as http:
        large = b"x" * (MAX_BODY_BYTES + 1)
        assert http.post(serving.url, content=large, headers=headers).status_code == 413

        def chunks() -> Iterator[bytes]:
            for _ in range(MAX_BODY_BYTES // 1_000_000 + 2):
                yield b"x" * 1_000_000

        with contextlib.suppress(httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):
            assert http.post(serving.url, content=chunks(), headers=headers).status_code == 413
        assert http.post(serving.url, json=CALL, headers=headers).status_code != 413


@pytest.mark.slow
def test_only_this_machine_reaches_it_its_port_is_taken_and_stdout_stays_empty(
    sandbox: Sandbox, serving: Serving
) -> None:
    port = f"{serving.port:04X}"
    listening = [
        line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"
    ]
    assert [each for each in listening if each.endswith(f":{port}")] == [f"0100007F:{port}"]
    assert port not in Path("/proc/net/tcp6").read_text()
    with started(sandbox, "--http", "--port", str(serving.port)) as process:
        assert process.wait(60) == 5
        assert process.stderr
        errors = process.stderr.read()
        message = (
            f"donna: port {serving.port} is not available\n       choose another with --port; 0 picks a free one\n"
        )
        assert errors.decode() == message
        assert b"Traceback" not in errors
    serving.process.send_signal(signal.SIGTERM)
    assert serving.process.stdout
    assert serving.process.stdout.read() == b""
    assert serving.process.wait(60) == 0
    assert serving.process.stderr
    assert b"Traceback" not in serving.process.stderr.read()


def test_the_token_is_kept_and_trusted_only_while_it_is_private(tmp_path: Path) -> None:
    token = token_of(tmp_path / "state")
    assert token_of(tmp_path / "state") == token
    file = token_file(tmp_path / "state")
    assert not list(file.parent.glob("*.new"))
    for spoil in (lambda: file.chmod(0o640), lambda: (file.chmod(0o600), file.write_text("short"))):
        spoil()
        with pytest.raises(DonnaError, match="token"):
            token_of(tmp_path / "state")
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DonnaError):
        token_of(tmp_path / "state")
    assert not os.path.exists(tmp_path / "elsewhere")
    file.unlink()
    assert token_of(tmp_path / "state") != token


def test_rate_limiter_allows_a_burst_and_then_its_rate() -> None:
    now = [1_000.0]
    rate = Rate(clock=lambda: now[0])
    assert sum(rate.take() for _ in range(2_000)) == BURST
    now[0] += 0.5
    assert sum(rate.take() for _ in range(2_000)) == 50


def test_idle_sessions_end() -> None:
    now = [0.0]
    sessions = Sessions(Quota(5), alone=False, clock=lambda: now[0])
    first = sessions.of("Agent")
    assert sessions.of("Agent") is first
    assert sessions.of("Agent", "a") is not sessions.of("Agent", "b")
    assert sessions.of("Other") is not first
    now[0] = IDLE_SECONDS + 1
    assert sessions.of("Agent") is not first
    for number in range(MAX_SESSIONS * 2):
        sessions.of(str(number))
    assert len(sessions._open) == MAX_SESSIONS
    alone = Sessions(Quota(5), alone=True, clock=lambda: now[0])
    assert alone.of("Agent") is alone.of("Another name for itself")


def test_the_quota_holds_for_an_hour_however_often_a_client_connects_anew() -> None:
    now = [0.0]
    quota = Quota(2, clock=lambda: now[0])
    sessions = Sessions(quota, alone=False, clock=lambda: now[0])
    for number in range(2):
        sessions.of("Agent", str(number)).quota.take()
        now[0] += 60
    other = sessions.of("Another", "other")
    with pytest.raises(DonnaError, match="limit of 2 writes per hour") as caught:
        other.quota.take()
    assert "in 58 minutes" in (caught.value.hint or "")
    now[0] = QUOTA_SECONDS + 30
    other.quota.take()
    assert other.quota.left == 0
    other.quota.give_back()
    assert other.quota.left == 1
    single = Quota(1)
    single.take()
    with pytest.raises(DonnaError, match="limit of 1 write per hour"):
        single.take()


@pytest.mark.slow
async def test_silent_and_unauthenticated_connections_do_not_lock_out_clients(
    sandbox: Sandbox, serving: Serving
) -> None:
    """Open 300 connections that are silent or send half a header, and make 300 requests without the token."""
    with contextlib.ExitStack() as held:
        for number in range(300):
            connection = socket.create_connection(("127.0.0.1", serving.port), timeout=30)
            held.enter_context(connection)
            if number % 2:
                connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0")
        for _ in range(300):
            connection = socket.create_connection(("127.0.0.1", serving.port), timeout=30)
            held.enter_context(connection)
            with contextlib.suppress(ConnectionError):
                connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\n\r\n".encode())
        async with client_of(serving) as client:
            assert payload_of(await client.call_tool("memory_search", {"query": "kestrel", "mode": "keyword"}))["count"]
    assert sum(1 for _ in Path(f"/proc/{serving.process.pid}/fd").iterdir()) < 200
    serving.process.send_signal(signal.SIGTERM)
    assert serving.process.stderr
    assert len(serving.process.stderr.read()) < 2_000


@pytest.mark.slow
async def test_a_client_that_opens_a_hundred_connections_at_once_keeps_them_all(serving: Serving) -> None:
    """Connect first and send later, so that none has sent the token when the last one is accepted."""
    call = json.dumps(CALL).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\nAuthorization: Bearer {serving.token}\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(call)}\r\nConnection: close\r\n\r\n"
    ).encode()
    async with contextlib.AsyncExitStack() as held:
        streams = [await asyncio.open_connection("127.0.0.1", serving.port) for _ in range(100)]
        for _, writer in streams:
            held.callback(writer.close)
        for _, writer in streams:
            writer.write(head + call)
        firsts = [await asyncio.wait_for(reader.readline(), 60) for reader, _ in streams]
    assert all(first.startswith(b"HTTP/1.1 ") for first in firsts)


@pytest.mark.slow
async def test_abandoned_sessions_make_room_for_a_client(serving: Serving) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "gone", "version": "1"}}
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    headers = {"Authorization": f"Bearer {serving.token}", "Accept": "application/json, text/event-stream"}
    async with client_of(serving, "legacy") as early, httpx2.AsyncClient(headers=headers, timeout=60) as http:
        for _ in range(2 * MAX_SESSIONS + 10):
            answer = await http.post(serving.url, json=opening)
            assert answer.status_code == 200, answer.text
        async with client_of(serving, "legacy") as client:
            assert (await client.list_tools()).tools
        assert (await early.list_tools()).tools  # it has an open stream, so that it counts as in use
