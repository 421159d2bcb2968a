"""The engine serves its metrics while it runs if the settings enable them, and stops with it."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from donna_tui.types.events import NoteIndexed, ProblemRaised
from tests.engine.helpers import eventually, hide_model, new_sandbox, open_engine, quick_config
from tests.model_server import free_port


@pytest.fixture
def port() -> int:
    return free_port()


async def scrape(port: int) -> str:
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /metrics HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        page = (await reader.read()).decode()
        writer.close()
        return page


async def test_notes_are_counted_until_the_engine_stops(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    sandbox.write("secret name.md", "# One\n\nwords\n")
    async with open_engine(sandbox, config=quick_config(metrics={"port": port})) as running:
        await eventually(lambda: running.events_of(NoteIndexed), "the note is in")
        page = await scrape(port)
        assert 'donna_notes_indexed_total{why="new"} 1.0\n' in page
        assert "secret" not in page
    with pytest.raises(OSError):
        await scrape(port)


async def test_metrics_port_in_use_is_reported_as_a_problem(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    sandbox.write("one.md", "words\n")
    other = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)
    async with other, open_engine(sandbox, config=quick_config(metrics={"port": port})) as running:
        await eventually(lambda: running.events_of(NoteIndexed), "the note is in")
        await eventually(
            lambda: any(f"port {port}" in each.message for each in running.events_of(ProblemRaised)),
            "the problem is told",
        )


async def test_nothing_listens_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_model(monkeypatch)
    listened: list[object] = []
    start_server = asyncio.start_server

    async def spied(*args: object, **others: object) -> object:
        listened.append(args)
        return await start_server(*args, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "start_server", spied)
    sandbox = new_sandbox(tmp_path)
    sandbox.write("one.md", "words\n")
    async with open_engine(sandbox) as running:
        await eventually(lambda: running.events_of(NoteIndexed), "the note is in")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await asyncio.Event().wait()
    assert listened == []
