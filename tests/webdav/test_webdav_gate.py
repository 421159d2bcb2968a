"""Access control: the right password from an allowed place, and a limit on wrong ones."""

from __future__ import annotations

import contextlib
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from webdav4.client import HTTPError

from donna_tui.http.guard import Limits
from donna_tui.types.errors import DonnaError
from donna_tui.webdav import server
from donna_tui.webdav.gate import (
    FAILURE_SECONDS,
    LATE_SECONDS,
    MAX_ADDRESSES,
    MAX_FAILURES,
    MAX_REFUSED_BYTES,
    VARIABLE,
    Failures,
    Password,
    given_password,
    make_password,
    stored_password,
)
from donna_tui.webdav.server import Address
from tests.webdav.parts import PASSWORD, Served, basic, serving


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    "header",
    [
        "", basic("wrong"), basic(PASSWORD, "Donna"), basic(PASSWORD, ""), basic(""), basic(PASSWORD + "x"),
        basic(PASSWORD[:-1]), "Basic", "Basic !!!", "Basic ZG9ubmE=", f"Bearer {PASSWORD}", "Digest username=donna",
        "Basic " + "QUFB" * 1_000,
    ],
)  # fmt: skip
def test_without_the_password_nothing_is_revealed(served: Served, header: str) -> None:
    for method in ("OPTIONS", "PROPFIND", "GET", "PUT"):
        answer = served.request(method, "/vault/a.md", Authorization=header)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")
    assert (served.root / "a.md").read_text() == "# A\n"


@pytest.mark.slow
def test_a_client_with_the_wrong_password_is_told_so_and_then_slowed_down(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("donna_tui.webdav.gate.time.sleep", pauses.append)
    with pytest.raises(HTTPError, match="401"):
        served.client("wrong password").ls("/")
    answers = [served.status("GET", "/vault/a.md", Authorization=basic("wrong")) for _ in range(MAX_FAILURES + 2)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert pauses == [LATE_SECONDS] * answers.count(429)
    assert served.status("GET", "/vault/a.md") == 200  # the right password is never locked out


def test_a_body_with_the_wrong_password_is_thrown_away(served: Served) -> None:
    answer = served.request("PUT", "/vault/a.md", b"GET /vault/a.md HTTP/1.1\r\n" * 2_000, Authorization=basic("wrong"))
    assert answer.status == 401
    assert (served.root / "a.md").read_text() == "# A\n"


def test_wrong_passwords_are_counted_by_address_and_forgotten_after_a_while() -> None:
    now = 0.0
    failures = Failures(lambda: now)
    assert [failures.add("10.0.0.1") for _ in range(MAX_FAILURES)] == [False] * (MAX_FAILURES - 1) + [True]
    assert not failures.add("10.0.0.2")
    now += FAILURE_SECONDS + 1
    assert not failures.add("10.0.0.1")
    for number in range(MAX_FAILURES - 1):
        assert not failures.add(f"2001:db8::{number}")
    assert failures.add("2001:db8::ffff")
    assert not failures.add("2001:db8:0:1::1")
    for number in range(MAX_ADDRESSES * 2):
        failures.add(f"172.16.{number // 250}.{number % 250}")
    assert len(failures._times) <= MAX_ADDRESSES


@pytest.mark.cases(5)
@pytest.mark.parametrize(
    ("host", "origin", "answer"),
    [
        ("127.0.0.1:{port}", "", 200),
        ("localhost:{port}", "", 200),
        ("[::1]:{port}", "", 200),
        ("LOCALHOST", "", 200),
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}", 200),
        ("127.0.0.1:{port}", "app://obsidian.md", 200),
        ("127.0.0.1:{port}", "capacitor://localhost", 200),
        ("evil.example:{port}", "", 403),
        ("127.0.0.1.evil.example", "", 403),
        ("localhost.evil.example:{port}", "", 403),
        ("127.0.0.1:{port}", "http://evil.example", 403),
        ("127.0.0.1:{port}", "null", 403),
        ("127.0.0.1:{port}", "https://127.0.0.1:{port}", 403),
        ("127.0.0.1:{port}", "http://127.0.0.1:1", 403),
        ("127.0.0.1:{port}", "app://obsidian.md.evil.example", 403),
    ],
)
def test_web_pages_do_not_get_in(served: Served, host: str, origin: str, answer: int) -> None:
    headers = {"Host": host.format(port=served.port), "Origin": origin.format(port=served.port)}
    assert served.status("GET", "/vault/a.md", **headers) == answer


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("method", "headers", "answer"),
    [
        ("PUT", {"Content-Length": "99999999999"}, 413),
        ("PUT", {"Content-Length": "-1"}, 400),
        ("PUT", {"Content-Length": "1e3"}, 400),
        ("PUT", {"Content-Range": "bytes 0-1/2"}, 400),
        ("PUT", {"Content-Encoding": "gzip"}, 501),
        ("PATCH", {}, 405),
        ("POST", {}, 405),
    ],
)
def test_invalid_or_unsupported_requests_are_rejected(
    served: Served, method: str, headers: dict[str, str], answer: int
) -> None:
    assert served.status(method, "/vault/a.md", **headers) == answer
    assert served.status("PROPFIND", "/vault/", b" " * 70_000, Depth="1") == 413
    assert (served.root / "a.md").read_text() == "# A\n"


def test_xml_entity_expansion_is_rejected(served: Served) -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
        b'<D:propfind xmlns:D="DAV:"><D:prop><D:x>&b;</D:x></D:prop></D:propfind>'
    )
    assert served.status("PROPFIND", "/vault/", bomb, Depth="1") >= 400


def test_a_made_password_is_kept_as_a_hash_only(tmp_path: Path) -> None:
    text, _ = make_password(tmp_path / "webdav")
    (kept,) = (tmp_path / "webdav").iterdir()
    assert text not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert len(text) > 30
    password = stored_password(tmp_path / "webdav")
    assert password is not None
    assert password.matches(text)
    assert password.matches(text)
    assert not password.matches(text[:-1])
    assert not password.matches("")
    assert make_password(tmp_path / "webdav")[0] != text
    other = stored_password(tmp_path / "webdav")
    assert other is not None
    assert not other.matches(text)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"salt": 1, "scrypt": "00"}', '{"salt": "zz", "scrypt": ""}']
)
def test_an_invalid_stored_password_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "password.json").write_text(text)
    assert stored_password(tmp_path) is None


def test_a_password_comes_from_the_environment_or_a_private_file(tmp_path: Path) -> None:
    assert given_password({}, None) is None
    given = given_password({VARIABLE: PASSWORD}, None)
    assert given is not None
    assert given.matches(PASSWORD)
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\nsecond line\n")
    with pytest.raises(DonnaError, match="is readable by others"):
        given_password({}, file)
    file.chmod(0o600)
    given = given_password({VARIABLE: "another password"}, file)
    assert given is not None
    assert given.matches(PASSWORD)
    for wrong in ({VARIABLE: ""}, {VARIABLE: "short"}):
        with pytest.raises(DonnaError, match="fewer than"):
            given_password(wrong, None)
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(DonnaError):
            given_password({}, missing)
    assert not Password.of(PASSWORD).matches("x" * 5_000)


def test_rejected_request_body_is_not_parsed_as_a_second_request(served: Served) -> None:
    hidden = f"GET /vault/a.md HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {basic()}\r\n\r\n".encode()
    for length in ("Content-Length: 3000000", "Transfer-Encoding: chunked"):
        sent = b"x" * MAX_REFUSED_BYTES if length.startswith("Content") else b""
        connection = served.begin_put("/vault/a.md", sent + hidden, length, "Origin: http://evil.example")
        answer = b""
        with connection, contextlib.suppress(ConnectionResetError):
            connection.settimeout(5)
            while block := connection.recv(4096):
                answer += block
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert answer.count(b"HTTP/1.1 ") == 1
    assert (served.root / "a.md").read_text() == "# A\n"


def test_any_loopback_address_is_answered_under_its_own_name(vault: Path) -> None:
    with serving(vault, address=Address(host="127.0.0.2")) as served:
        assert served.names() == ["Projects", "a.md"]
        http = served.client().http
        for host in ("127.0.0.3", "evil.example", ""):
            assert http.request("GET", f"{served.url}a.md", headers={"Host": host}).status_code in (400, 403)


@pytest.mark.cases(4)
@pytest.mark.parametrize("name", ["If", "Destination", "Lock-Token", "Range", "If-Match", "Timeout", "X-Anything"])
def test_a_header_that_is_too_long_is_refused(served: Served, name: str) -> None:
    assert served.status("MOVE", "/vault/a.md", **{name: "(<a>[b]" * 1_000}) == 431
    assert served.status("MOVE", "/vault/a.md", **{name: "(<a>[b]" * 9_000}) == 413
    assert (served.root / "a.md").read_text() == "# A\n"


METHODS = (
    *("OPTIONS", "GET", "HEAD", "PUT", "DELETE", "MKCOL", "PROPFIND", "PROPPATCH", "MOVE", "COPY", "LOCK", "UNLOCK"),
    *("POST", "REPORT", "PATCH", "TRACE", "CONNECT"),
)
TARGETS = (
    *("/vault", "/vault/", "/", "*", "//", "/vault//", "/vault/..", "/vault/../x", "/vault/%2e%2e/x", "/vault/%2f"),
    *("/vault/%00", "/vault/%ff", "/vault/a.md/", "/vault/a.md/b.md", "/vault/" + "x" * 300, "/vault/" + "x/" * 1_500),
    *("http://127.0.0.1/vault", "/vault?x=1", "/vault/a.md;x", "/other/a.md", "/:dir_browser/x", "/vault/Projects"),
)


@pytest.mark.slow
def test_no_request_target_causes_a_server_error(served: Served) -> None:
    (served.root / "kept.md").write_text("kept\n")
    odd = ((b"", {}), (b"x", {"Destination": "TARGET", "Depth": "infinity"}), (b"<x/>", {"If": "(<x>"}))
    with ThreadPoolExecutor(4) as pool:
        asked = [(method, target, *each) for method in METHODS for target in TARGETS for each in odd]

        def status(one: tuple[str, str, bytes, dict[str, str]]) -> int:
            method, target, body, more = one
            return served.status(method, target, body, **{k: v.replace("TARGET", target) for k, v in more.items()})

        answers = dict(zip(map(str, asked), pool.map(status, asked), strict=True))
    assert {each: status for each, status in answers.items() if status >= 500 and status != 501} == {}
    assert [served.status(method, "/vault") for method in ("PUT", "DELETE", "MKCOL")] == [405, 403, 405]
    assert (served.root / "kept.md").read_text() == "kept\n"


@pytest.mark.slow
def test_slow_and_silent_connections_do_not_lock_out_clients(served: Served) -> None:
    """Open 200 connections: silent ones, half a header, a header without its body, and one byte at a time."""
    beginnings = (
        b"", b"G", b"PUT /vault/b.md HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthor",
        f"PUT /vault/b.md HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\nAuthorization: {basic('wrong')}\r\n\r\n".encode(),
        b"PUT /vault/b.md HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n",
    )  # fmt: skip
    with contextlib.ExitStack() as held:
        slow = []
        for number in range(200):
            slow.append(held.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20)))
            with contextlib.suppress(OSError):
                slow[-1].sendall(beginnings[number % len(beginnings)])
        assert [served.status("GET", "/vault/a.md") for _ in range(5)] == [200] * 5
        served.put("new.md", b"new\n")
        assert served.get("new.md") == b"new\n"
        ended = 0
        for each in slow:
            each.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                ended += each.recv(1_000) is not None
        assert ended >= 100


@pytest.mark.slow
def test_a_connection_that_never_shows_the_password_is_closed(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", Limits(head_seconds=0.5))
    monkeypatch.setattr(server, "READING", Limits(head_seconds=0.5))
    with serving(vault) as served:
        for beginning in (b"", b"GET /vault/a.md HTT"):
            with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
                connection.sendall(beginning)
                with contextlib.suppress(ConnectionError):
                    connection.recv(1_000)  # it ends long before the server's timeout for silent clients
        assert served.get("a.md") == b"# A\n"
