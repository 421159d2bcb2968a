"""What an independent client does to a vault: files are created, changed, moved and deleted, each completely."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
import time
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from webdav4.client import Client, ClientError, HTTPError, ResourceAlreadyExists, ResourceNotFound

from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.webdav.files import ServedTree
from donna_tui.webdav.server import PATIENCE_SECONDS, THREADS, Address
from donna_tui.webdav.upload import Item, sweep
from tests.webdav.parts import PASSWORD, Served, certificate, serving, soon, temporary_files

NAMES = [
    "ü.md",
    "u\u0308.md",
    "日本語のメモ.md",
    "a b+c&d=e.md",
    "100%.md",
    "🙂.md",
    "it's [x] {y} (z).md",
    "semi;colon.md",
]


def test_a_note_is_created_changed_and_deleted(served: Served) -> None:
    served.put("new.md", b"one", overwrite=False)
    assert (served.root / "new.md").read_bytes() == b"one"
    with pytest.raises(ResourceAlreadyExists):
        served.put("new.md", b"two", overwrite=False)
    served.put("new.md", b"two")
    assert served.get("new.md") == b"two"
    served.client().remove("new.md")
    assert not (served.root / "new.md").exists()
    with pytest.raises(ResourceNotFound):
        served.get("new.md")
    assert temporary_files(served.root) == []


def test_folders_are_made_listed_moved_copied_and_removed(served: Served) -> None:
    client = served.client()
    client.mkdir("Reading")
    served.put("Reading/book.md", b"book")
    client.copy("Reading", "Copies")
    client.copy("Reading/book.md", "Copies/second.md")
    client.move("Reading", "Read")
    assert served.names() == ["Copies", "Projects", "Read", "a.md"]
    assert served.names("Copies") == ["Copies/book.md", "Copies/second.md"]
    assert (served.root / "Read/book.md").read_bytes() == b"book"
    client.remove("Copies")
    assert not (served.root / "Copies").exists()
    found = client.info("Read/book.md")
    assert (found["content_length"], found["type"]) == (4, "file")


@pytest.mark.cases(4)
@pytest.mark.parametrize("name", NAMES)
def test_file_names_are_preserved_over_webdav(served: Served, name: str) -> None:
    served.put(name, name.encode())
    assert (served.root / name).read_bytes() == name.encode()
    assert name in served.names()
    assert served.get(name) == name.encode()
    served.client().remove(name)
    assert not (served.root / name).exists()


def test_a_percent_sign_is_decoded_once(served: Served) -> None:
    assert served.status("PUT", "/vault/a%2520b%252F.md", b"x") == 201
    assert (served.root / "a%20b%2F.md").read_bytes() == b"x"
    assert served.status("MOVE", "/vault/a%2520b%252F.md", Destination="/vault/c%2520d%252F.md") == 201
    assert (served.root / "c%20d%2F.md").read_bytes() == b"x"


def test_a_name_that_differs_only_in_form_is_not_taken_twice(served: Served) -> None:
    served.put("ü.md", b"composed")
    for twin in ("u\u0308.md", "Ü.md"):
        with pytest.raises(HTTPError, match="409"):
            served.put(twin, b"other")
    assert [each for each in os.listdir(served.root) if "md" in each and each != "a.md"] == ["ü.md"]


def test_moving_over_a_note_replaces_it_in_one_step(served: Served) -> None:
    served.put("b.md", b"b")
    client = served.client()
    with pytest.raises(ResourceAlreadyExists):
        client.move("a.md", "b.md", overwrite=False)
    client.move("a.md", "b.md", overwrite=True)
    assert (served.root / "b.md").read_text() == "# A\n"
    assert not (served.root / "a.md").exists()
    client.copy("b.md", "Projects/gateway.md", overwrite=True)
    assert (served.root / "Projects/gateway.md").read_text() == "# A\n"


def test_a_folder_is_not_replaced_nor_put_over_anything(served: Served) -> None:
    client = served.client()
    client.mkdir("Empty")
    for method, target in (("move", "Empty"), ("copy", "Empty"), ("move", "a.md")):
        with pytest.raises(ClientError):
            getattr(client, method)("Projects", target, overwrite=True)
    assert (served.root / "Projects/gateway.md").exists()
    assert (served.root / "a.md").is_file()


def test_move_can_change_only_the_case_of_a_name(served: Served) -> None:
    served.client().move("a.md", "A.md")
    assert sorted(each for each in os.listdir(served.root) if each.lower() == "a.md") == ["A.md"]


def test_a_name_that_wsgidav_would_cut_is_refused(served: Served) -> None:
    destination = f"{served.url}what%3Fnow.md"
    assert served.status("MOVE", "/vault/a.md", Destination=destination) == 400
    assert served.status("MOVE", "/vault/a.md", Destination="/vault/../../etc/x") in (400, 403, 409, 502)
    assert served.status("MOVE", "/vault/a.md", Destination="http://elsewhere.example/vault/b.md") == 502
    assert (served.root / "a.md").read_text() == "# A\n"
    assert sorted(each for each in os.listdir(served.root) if not each.startswith(".")) == [
        "Projects",
        "a.md",
        "node_modules",
    ]


def test_a_large_body_is_accepted_and_a_larger_one_is_refused(served: Served) -> None:
    big = os.urandom(3_900_000)
    served.put("big.bin", big)
    assert served.get("big.bin") == big
    with pytest.raises(HTTPError, match="413"):
        served.put("big.bin", big + big)
    connection = served.begin_put("/vault/chunked.bin", b"", "Transfer-Encoding: chunked")
    try:
        for _ in range(80):
            connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(100).split(b" ")[1] in (b"413", b"500")
    except ConnectionError:
        pass
    finally:
        connection.close()
    soon(lambda: not temporary_files(served.root))
    assert served.get("big.bin") == big
    assert not (served.root / "chunked.bin").exists()


@pytest.mark.parametrize("path", ["a.md", "new.md"])
@pytest.mark.parametrize(
    "headers", [("Content-Length: 1000",), ("Transfer-Encoding: chunked",)], ids=["length", "chunked"]
)
def test_a_client_that_dies_in_the_middle_leaves_nothing(served: Served, path: str, headers: tuple[str, ...]) -> None:
    part = b"# half" if "Length" in headers[0] else b"6\r\n# half\r\n"
    connection = served.begin_put(f"/vault/{path}", part, *headers)
    soon(lambda: temporary_files(served.root))
    connection.close()
    soon(lambda: not temporary_files(served.root))
    assert (served.root / "a.md").read_text() == "# A\n"
    assert not (served.root / "new.md").exists()
    assert served.names() == ["Projects", "a.md"]


def test_a_reader_never_sees_half_a_note(served: Served) -> None:
    connection = served.begin_put("/vault/a.md", b"x" * 500, "Content-Length: 1000")
    soon(lambda: temporary_files(served.root))
    assert served.get("a.md") == b"# A\n"
    assert (served.root / "a.md").read_text() == "# A\n"
    connection.sendall(b"y" * 500)
    assert connection.recv(100).startswith(b"HTTP/1.1 204")
    connection.close()
    assert (served.root / "a.md").read_bytes() == b"x" * 500 + b"y" * 500


@pytest.mark.parametrize("is_new", [False, True])
def test_what_is_saved_here_meanwhile_is_not_overwritten(served: Served, is_new: bool) -> None:
    path = "new.md" if is_new else "a.md"
    connection = served.begin_put(f"/vault/{path}", b"x" * 500, "Content-Length: 1000")
    soon(lambda: temporary_files(served.root))
    (served.root / path).write_text("saved in Obsidian")
    connection.sendall(b"y" * 500)
    assert connection.recv(100).startswith(b"HTTP/1.1 409")
    connection.close()
    assert (served.root / path).read_text() == "saved in Obsidian"
    soon(lambda: not temporary_files(served.root))


def test_a_note_that_is_saved_meanwhile_at_the_same_size_is_not_overwritten(vault: Path) -> None:
    note, tree = vault / "a.md", ServedTree(VaultRoot(vault), GlobSet(()))
    os.utime(note, (1_700_000_000, 1_700_000_000))
    upload = tree.begin_upload("a.md", tree.find("a.md"))
    upload.write(b"# C\n")
    note.write_text("# B\n")
    with pytest.raises(VaultWriteError) as refused:
        upload.keep()
    assert refused.value.reason is Reason.CONFLICT
    assert note.read_text() == "# B\n"
    assert temporary_files(vault) == []


def test_etag_preconditions_are_enforced(served: Served) -> None:
    etag = served.request("HEAD", "/vault/a.md").headers["ETag"]
    assert served.client().info("a.md")["etag"] == etag
    assert served.status("PUT", "/vault/a.md", b"two", If_Match=etag) == 204
    assert served.status("PUT", "/vault/a.md", b"three", If_Match=etag) == 412
    assert served.status("PUT", "/vault/a.md", b"four", If_None_Match="*") == 412
    assert served.status("PUT", "/vault/missing.md", b"five", If_Match=etag) == 412
    assert (served.root / "a.md").read_bytes() == b"two"
    assert not (served.root / "missing.md").exists()


def test_put_preserves_file_permissions(served: Served) -> None:
    (served.root / "a.md").chmod(0o640)
    served.put("a.md", b"two")
    assert (served.root / "a.md").stat().st_mode & 0o777 == 0o640


def test_webdav_lock_blocks_writes_without_its_token(served: Served) -> None:
    body = (
        b'<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>'
        b"<D:locktype><D:write/></D:locktype></D:lockinfo>"
    )
    token = served.request("LOCK", "/vault/a.md", body).headers["Lock-Token"]
    assert served.status("PUT", "/vault/a.md", b"other") == 423
    assert served.status("DELETE", "/vault/a.md") == 423
    assert served.status("MOVE", "/vault/a.md", Destination="/vault/b.md") == 423
    assert served.status("LOCK", "/vault/a.md", body) == 423
    assert served.status("UNLOCK", "/vault/a.md", Lock_Token=token) == 204
    assert served.status("PUT", "/vault/a.md", b"other") == 204
    locked = served.request("LOCK", "/vault/fresh.md", body, Timeout="Infinite, Second-4100000000")
    assert locked.status == 201
    assert (served.root / "fresh.md").read_bytes() == b""
    token = locked.headers["Lock-Token"]
    assert served.status("PUT", "/vault/fresh.md", b"mine", If=f"({token})") == 204
    assert served.status("UNLOCK", "/vault/fresh.md", Lock_Token=token) == 204


def test_concurrent_puts_leave_complete_files(served: Served) -> None:
    bodies = [bytes([65 + number]) * 50_000 for number in range(6)]
    problems: list[Exception] = []

    def write(body: bytes) -> None:
        for turn in range(4):
            try:
                served.put("shared.md", body)
            except HTTPError as error:
                if "409" not in str(error):
                    problems.append(error)
            served.put(f"own-{body[:1].decode()}-{turn}.md", body)

    served.client()
    threads = [threading.Thread(target=write, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert (served.root / "shared.md").read_bytes() in bodies
    assert len(list(served.root.glob("own-*.md"))) == 24
    assert temporary_files(served.root) == []


def test_a_server_for_reading_changes_nothing(vault: Path) -> None:
    with serving(vault, read_only=True) as served:
        assert served.get("a.md") == b"# A\n"
        for method in ("PUT", "DELETE", "MKCOL", "MOVE", "COPY", "PROPPATCH", "LOCK"):
            assert served.status(method, "/vault/a.md", Destination="/vault/b.md") in (405, 501), method
    assert (vault / "a.md").read_text() == "# A\n"


def test_over_tls_with_its_own_certificate(vault: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with serving(vault, address=Address(certificate=cert, key=key)) as served:
        assert served.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(cert))
        with httpx.Client(verify=context, auth=("donna", PASSWORD)) as http:
            client = Client(served.url, http_client=http)
            client.upload_fileobj(BytesIO(b"sealed"), "sealed.md")
            assert (vault / "sealed.md").read_bytes() == b"sealed"
        with pytest.raises(httpx.ConnectError):
            httpx.get(served.url)
        with socket.create_connection(("127.0.0.1", served.port), timeout=20) as plain:
            plain.sendall(b"GET /vault/a.md HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert b"# A" not in plain.recv(1000)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "notes.example.org", "127.0.0.1.example.org", ""])
def test_without_tls_only_this_machine_is_served(host: str) -> None:
    with pytest.raises(DonnaError) as refused:
        Address(host=host)
    assert refused.value.reason is Reason.USAGE
    for own in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        Address(host=own)


def test_an_invalid_certificate_is_reported(vault: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with pytest.raises(DonnaError):
        Address(certificate=cert)
    broken = Address(certificate=key, key=cert)
    with pytest.raises(DonnaError, match="cannot be used"), serving(vault, address=broken):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # cheroot leaves the socket to Python
def test_a_port_in_use_is_reported(vault: Path) -> None:
    with serving(vault) as served:
        taken = Address(port=served.port)
        with pytest.raises(DonnaError, match="is not available"), serving(vault, address=taken):
            pass


def test_sweep_removes_uploads_left_by_a_killed_server(vault: Path) -> None:
    for path in (".donna-upload-0123", "Projects/.donna-upload-4567"):
        (vault / path).write_text("half")
    (vault / ".donna-0123-0").write_text("of a write, which its recovery settles")
    sweep(vault)
    assert [each.name for each in temporary_files(vault)] == [".donna-0123-0"]


@pytest.mark.slow
def test_a_silent_client_does_not_block_others_during_tls(vault: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    context = ssl.create_default_context(cafile=str(cert))
    with serving(vault, address=Address(certificate=cert, key=key)) as served:
        url, own = f"{served.url}a.md", {"Origin": f"https://127.0.0.1:{served.port}"}
        with socket.create_connection(("127.0.0.1", served.port)):
            time.sleep(0.2)
            for headers in ({}, own):
                answer = httpx.get(url, auth=("donna", PASSWORD), verify=context, headers=headers, timeout=5)
                assert answer.text == "# A\n"


def test_silent_connections_delay_no_client(vault: Path, tmp_path: Path) -> None:
    """Clients open some connections in advance. The client gives up long before the server closes silent ones."""
    cert, key = certificate(tmp_path)
    context = ssl.create_default_context(cafile=str(cert))
    for address, verify in ((Address(), True), (Address(certificate=cert, key=key), context)):
        with serving(vault, address=address) as served, contextlib.ExitStack() as silent:
            for _ in range(2 * THREADS):
                silent.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            answer = httpx.get(
                f"{served.url}a.md", auth=("donna", PASSWORD), verify=verify, timeout=PATIENCE_SECONDS / 2
            )
            assert answer.text == "# A\n"


def edited_once_seen(monkeypatch: pytest.MonkeyPatch, note: Path) -> None:
    """Save a note each time just after the server has examined it."""
    find = ServedTree.find

    def then_edited(self: ServedTree, path: str) -> Item | None:
        found = find(self, path)
        if path == note.name:
            note.write_text("# A\n\nedited meanwhile\n")
        return found

    monkeypatch.setattr(ServedTree, "find", then_edited)


def test_an_unchecked_version_is_not_removed(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    note = served.root / "a.md"
    edited_once_seen(monkeypatch, note)
    assert served.status("DELETE", "/vault/a.md") == 409
    assert note.read_text() == "# A\n\nedited meanwhile\n"


def test_an_unchecked_version_is_not_moved(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    note = served.root / "a.md"
    edited_once_seen(monkeypatch, note)
    for target in ("/vault/b.md", "/vault/Projects/gateway.md"):
        note.write_text("# A\n")
        assert served.status("MOVE", "/vault/a.md", Destination=target) == 409
    assert note.read_text() == "# A\n\nedited meanwhile\n"
    assert (served.root / "Projects" / "gateway.md").read_text() == "# Gateway\n"


def test_an_unchecked_version_is_not_sent(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    edited_once_seen(monkeypatch, served.root / "a.md")
    for method, headers in (("GET", {}), ("GET", {"Range": "bytes=0-9"}), ("COPY", {"Destination": "/vault/b.md"})):
        (served.root / "a.md").write_text("# A\n")
        assert served.status(method, "/vault/a.md", **headers) == 409
    assert not (served.root / "b.md").exists()
    assert temporary_files(served.root) == []
