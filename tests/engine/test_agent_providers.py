"""Only the providers in the settings embed an agent's memory, one in each index, and get no private notes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from donna_tui.config.agents import RemoteConfig
from donna_tui.embedding.openai_compatible import MAX_TRIES
from donna_tui.engine import model_manager
from donna_tui.ingest import embedding_queue as embeddings
from donna_tui.types.events import IndexSwapped, ModelStateChanged
from donna_tui.types.search import SearchRequest
from donna_tui.types.status import ModelPhase
from tests.embedding_server import DIM, EmbeddingServer, Response, after_the_first, well
from tests.engine.agent_sandboxes import AgentSandbox, agent_engine, agent_sandbox, fresh, paths_of
from tests.engine.helpers import eventually, everything_below, hide_model
from tests.engine.providers import FaultyModel

KEY = "sk-canary-4711-not-for-any-eye"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    """Run an embedding server, without a local model."""
    hide_model(monkeypatch)
    monkeypatch.setenv("AGENTS_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with EmbeddingServer().serving() as serving:
        yield serving


def openai_sandbox(tmp_path: Path, server: EmbeddingServer, **search: Any) -> AgentSandbox:
    remote = {"base_url": server.url, "api_key_env": "AGENTS_KEY", "timeout_seconds": 20}
    sandbox = agent_sandbox(tmp_path, remote=remote, **search)
    if not sandbox.root.exists():
        sandbox.write("MEMORY.md", "# Memory\n\nThe kestrel nests in the tower.\n")
        sandbox.write("memory/boat.md", "A boat leaves the harbour.")
    return sandbox


async def test_openai_embeds_when_configured_as_provider(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "boat harbour leaves", mode="semantic")
        assert (outcome.mode, outcome.stale, outcome.reason) == ("semantic", False, "")
        assert outcome.hits[0].path == "memory/boat.md"
        coverage = running.engine.status().coverage
        assert (coverage.vectors, coverage.notes) == (2, 2)
        assert running.engine.status().model == f"openai/text-embedding-3-small@{DIM}"
    assert {asked.headers["authorization"] for asked in server.requests} == {f"Bearer {KEY}"}
    assert any("kestrel" in text for text in server.texts)


async def test_what_is_embedded_is_not_sent_again(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    for number in range(100):
        sandbox.write(f"memory/{number}.md", f"text number {number}")
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel", mode="hybrid")
    assert len([asked for asked in server.requests if len(asked.texts) > 1]) <= 8  # batches, not single texts
    before = len(server.texts)
    sandbox.write("memory/7.md", "another text")
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel", mode="hybrid")
    sent = server.texts[before:]
    assert sorted(sent)[:1] == ["7\nanother text"] or any("another text" in text for text in sent)
    assert len(sent) <= 3  # for the length, the passage and the question


async def test_only_the_local_model_embeds_by_default(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server)
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel", mode="hybrid")
        assert (outcome.mode, outcome.reason) == ("keyword", "model_missing")
        assert paths_of(outcome) == ["MEMORY.md"]
        assert outcome.note.startswith("keyword only")
        assert not outcome.stale
    assert server.requests == []


async def test_the_fallback_takes_its_place_where_it_is_named(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server, fallback="openai")
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel", mode="hybrid")
        assert (outcome.mode, outcome.reason) == ("hybrid", "")
        assert running.engine.status().model.startswith("openai/")
        details = [event.detail for event in running.events_of(ModelStateChanged)]
        assert any("using the fallback openai instead of the local model" in detail for detail in details)
    assert server.requests


async def test_the_fallback_is_not_asked_while_the_local_model_works(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from donna_tui.embedding import build

    class Local(FaultyModel):
        dim = 384

        def embed_batch(self, texts: Any) -> Any:
            import numpy as np

            rows = super().embed_batch(texts)
            return np.pad(rows, ((0, 0), (0, 384 - rows.shape[1])))

    monkeypatch.setattr(build, "load_default_model", lambda *_: Local("local@1"))
    sandbox = openai_sandbox(tmp_path, server, fallback="openai")
    async with agent_engine(sandbox) as running:
        assert (await fresh(running, "kestrel", mode="hybrid")).mode == "hybrid"
        assert running.engine.status().model == "local@1"
    assert server.requests == []


@pytest.mark.parametrize("status", [401, 429, 500])
@pytest.mark.parametrize("fallback", ["none", "openai"])
async def test_if_a_server_refuses_search_is_by_keyword(
    tmp_path: Path, server: EmbeddingServer, status: int, fallback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("donna_tui.embedding.openai_compatible.backoff", lambda tries: 0.0)
    server.behaviour = lambda asked, number: Response(f"no, {KEY}", status)
    sandbox = openai_sandbox(tmp_path, server, provider="openai", fallback=fallback)
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel", mode="hybrid")
        assert (outcome.mode, outcome.reason, paths_of(outcome)) == ("keyword", "model_call_failed", ["MEMORY.md"])
        assert "127.0.0.1" in outcome.note
        assert running.engine.status().model_phase is ModelPhase.FAILED
    assert len(server.requests) == (1 if status == 401 else MAX_TRIES)


async def test_a_server_that_disappears_later_costs_few_requests(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("donna_tui.embedding.openai_compatible.backoff", lambda tries: 0.0)
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    for number in range(100):
        sandbox.write(f"memory/{number}.md", f"kestrel text number {number}")
    server.behaviour = after_the_first(lambda asked, number: Response("", 503))
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel", mode="hybrid")
        assert (outcome.mode, outcome.reason) == ("keyword", "model_call_failed")
        assert len(outcome.hits) == 32
        problems = [problem for problem in running.engine.status().problems if problem.reason == "model_call_failed"]
        assert len(problems) == 1
    assert len(server.requests) == 1 + MAX_TRIES + MAX_TRIES  # for the length, one batch and the question


@pytest.mark.slow
async def test_a_server_that_comes_back_is_asked_again(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("donna_tui.embedding.openai_compatible.backoff", lambda tries: 0.0)
    monkeypatch.setattr(model_manager, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(embeddings, "RETRY_SECONDS", 0.1)
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    good, bad = server.behaviour, lambda asked, number: Response("", 503)
    server.behaviour = bad
    async with agent_engine(sandbox, watch=True) as running:
        assert (await fresh(running, "kestrel", mode="hybrid")).mode == "keyword"
        server.behaviour = good
        await eventually(lambda: running.engine.status().coverage.vectors == 2, "vectors")
        assert (await fresh(running, "kestrel", mode="hybrid")).mode == "hybrid"
        assert not running.problems()
        server.behaviour = bad
        sandbox.write("memory/new.md", "A dingo runs.")
        outcome = await fresh(running, "dingo", mode="hybrid")
        assert (outcome.mode, paths_of(outcome)) == ("keyword", ["memory/new.md"])
        await eventually(lambda: running.problems() == {"model_call_failed"})
        server.behaviour = good
        await eventually(lambda: running.engine.status().coverage.vectors == 3, "the last vector")
        await eventually(lambda: not running.problems(), "no problem any more")


# One model in each index


def versions(sandbox: AgentSandbox) -> set[str]:
    return {version for (version,) in sandbox.rows("SELECT DISTINCT embedding_version FROM memory_chunks")}


@pytest.mark.parametrize("watch", [False, True])
async def test_another_provider_means_another_index(tmp_path: Path, server: EmbeddingServer, watch: bool) -> None:
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel", mode="hybrid")
    first = versions(sandbox)
    assert first == {f"openai/text-embedding-3-small@{DIM}"}
    other = openai_sandbox(tmp_path, server, provider="openai", model="another-model")
    async with agent_engine(other, watch=watch) as running:
        outcome = await fresh(running, "kestrel", mode="hybrid")
        assert outcome.hits[0].path == "MEMORY.md"
        if watch:
            await eventually(lambda: running.events_of(IndexSwapped), "the new index")
        assert versions(other) == {f"openai/another-model@{DIM}"}
        assert (await fresh(running, "kestrel", mode="hybrid")).mode == "hybrid"
    assert [asked.body["model"] for asked in server.requests][-1] == "another-model"


async def test_reader_with_a_different_model_falls_back_to_keyword_search(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    """Two processes may have chosen different fallbacks: vectors of the same length are still not comparable."""
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    other = openai_sandbox(tmp_path, server, provider="openai", model="another-model")
    async with agent_engine(sandbox, watch=True) as maintainer:
        await fresh(maintainer, "kestrel", mode="hybrid")
        async with agent_engine(other) as reader:
            assert reader.engine.read_only
            outcome = await fresh(reader, "kestrel", mode="hybrid")
            assert (outcome.mode, paths_of(outcome)) == ("keyword", ["MEMORY.md"])
            semantic = await reader.engine.search(SearchRequest(text="kestrel", mode="semantic"))
            assert semantic.mode == "keyword"
        assert (await fresh(maintainer, "kestrel", mode="hybrid")).mode == "hybrid"


# Privacy


def leaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the server as one on another machine."""
    monkeypatch.setattr(RemoteConfig, "is_local", property(lambda self: False))


PRIVATE = (
    "---\ndonna: local-only\n---\nquokka one\n",
    "---\ndonna_sensitive: true\n---\nquokka two\n",
    "---\ndonna: [\n---\nquokka three\n",
)


async def test_private_notes_are_never_sent(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving(monkeypatch)
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    for number, text in enumerate(PRIVATE):
        sandbox.write(f"memory/private{number}.md", text)
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "one two three", mode="hybrid")
        assert (outcome.mode, outcome.stale) == ("hybrid", False)
        found = await fresh(running, "quokka", mode="keyword")
        assert len(paths_of(found)) == 3  # found by keyword
        coverage = running.engine.status().coverage
        assert (coverage.notes, coverage.vectors, coverage.sensitive) == (5, 2, 3)
    async with agent_engine(sandbox, watch=True) as running:
        await fresh(running, "one two three", mode="hybrid")
    assert any("kestrel" in text for text in server.texts)
    assert not any("quokka" in text for text in server.texts)


async def test_local_server_may_embed_private_notes(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    sandbox.write("memory/private.md", PRIVATE[0])
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel", mode="hybrid")
        assert running.engine.status().coverage.vectors == 3


async def test_the_key_is_in_no_file_and_no_event(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    for status in (200, 401):
        if status == 401:
            server.behaviour = lambda asked, number: Response(f"bad key {KEY}", 401)
        async with agent_engine(sandbox) as running:
            await fresh(running, "kestrel", mode="hybrid")
            assert KEY not in repr(running.events)
            assert KEY not in repr(running.engine.status())
    held = b"".join(everything_below(sandbox.home))
    assert KEY.encode() not in held
    assert b"donna.log" not in held
    assert os.environ["AGENTS_KEY"] == KEY


async def test_a_missing_key_is_named_by_its_variable(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENTS_KEY")
    sandbox = openai_sandbox(tmp_path, server, provider="openai")
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel", mode="hybrid")
        assert (outcome.mode, outcome.reason) == ("keyword", "model_call_failed")
        assert "AGENTS_KEY" in outcome.note
    assert server.requests == []


@pytest.mark.model
async def test_the_local_model_finds_by_meaning(tmp_path: Path, model_cache: Path) -> None:
    sandbox = agent_sandbox(tmp_path)
    sandbox.paths.cache.mkdir(parents=True)
    (sandbox.paths.cache / "models").symlink_to(model_cache / "models", target_is_directory=True)
    sandbox.write("MEMORY.md", "# Memory\n\nThe boat leaves the harbour at dawn.\n")
    sandbox.write("memory/2026-01-01.md", "# Day\n\nTwo cups of flour make a loaf of bread.\n")
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "a ship sails in the morning", 60, mode="semantic")
        assert (outcome.mode, outcome.stale, outcome.indexed, outcome.reason) == ("semantic", False, True, "")
        assert outcome.hits[0].path == "MEMORY.md"
        assert (outcome.hits[0].start_line, outcome.hits[0].end_line) == (1, 3)
        assert outcome.hits[0].score is not None
        assert outcome.hits[0].score >= 0.35


async def test_a_server_that_hangs_delays_no_answer(tmp_path: Path, server: EmbeddingServer) -> None:
    sandbox = openai_sandbox(tmp_path, server, provider="openai", sync={"search_deadline_ms": 500})
    async with agent_engine(sandbox) as running:
        await fresh(running, "boat")
        may_answer = threading.Event()
        server.behaviour = lambda asked, number: (may_answer.wait(15), well(asked, number))[1]
        try:
            outcome = await running.engine.search_fresh(SearchRequest(text="kestrel tower", mode="hybrid"))
            assert (outcome.mode, paths_of(outcome)) == ("keyword", ["MEMORY.md"])
            assert "in time" in outcome.note
            assert not may_answer.is_set()
        finally:
            may_answer.set()
