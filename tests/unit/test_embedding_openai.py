"""The provider for servers with OpenAI's API, against a real local server."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from donna_tui.config.agents import OPENAI, RemoteConfig
from donna_tui.embedding.openai_compatible import BATCH, MAX_TRIES, OpenAICompatible
from donna_tui.embedding.service import EmbeddingService
from donna_tui.safety import egress
from donna_tui.types.errors import ModelAwayError, ModelError, Reason
from tests.embedding_server import DIM, EmbeddingServer, ReceivedRequest, Response, after_the_first, good, well

KEY = "sk-canary-4711-not-for-any-eye"
ENVIRON = {"SOME_KEY": KEY}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().serving() as serving:
        yield serving


class Pauses:
    """Does not wait, and records how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def provider(server: EmbeddingServer, *, timeout: float = 20.0, pause: Pauses | None = None) -> OpenAICompatible:
    remote = RemoteConfig(base_url=server.url, api_key_env="SOME_KEY", timeout_seconds=timeout)
    return OpenAICompatible("text-embedding-3-small", remote, environ=ENVIRON, pause=pause or Pauses())


def test_openai_provider_sends_embedding_requests_in_openai_format(server: EmbeddingServer) -> None:
    built = provider(server)
    rows = built.embed_batch(["the kestrel", "a boat"])
    asked = server.requests[-1]
    assert asked.path == "/v1/embeddings"
    assert asked.body == {
        "model": "text-embedding-3-small",
        "input": ["the kestrel", "a boat"],
        "encoding_format": "float",
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert rows.shape == (2, DIM)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert float(rows[0] @ built.embed("the kestrel")) > 0.999  # though the server answers in another order
    assert built.version_tag == f"openai/text-embedding-3-small@{DIM}"


def test_the_version_names_model_and_length_and_no_host(server: EmbeddingServer) -> None:
    with EmbeddingServer().serving() as other:
        assert provider(server).version_tag == provider(other).version_tag
    server.behaviour = lambda asked, number: Response(good(asked.texts, 8))
    assert provider(server).version_tag.endswith("@8")


def test_many_texts_go_in_batches(server: EmbeddingServer) -> None:
    built = provider(server)
    texts = [f"text {number}" for number in range(3 * BATCH + 1)]
    rows = built.embed_batch(texts)
    assert [len(asked.texts) for asked in server.requests] == [1, BATCH, BATCH, BATCH, 1]
    assert rows.shape == (len(texts), DIM)


def test_a_long_question_is_asked_in_bounded_pieces(server: EmbeddingServer) -> None:
    built = provider(server)
    vector = built.embed("größer " * 40_000)
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-3
    pieces = server.requests[-1].texts
    assert len(pieces) == 8
    assert all(len(piece.encode()) <= 8_000 for piece in pieces)


def test_lone_surrogates_do_not_end_it(server: EmbeddingServer) -> None:
    assert provider(server).embed("a\udcffb").shape == (DIM,)


def busy(status: int, times: int, **headers: str) -> Callable[[ReceivedRequest, int], Response]:
    """Answer “busy” to so many requests after the first, then correctly."""

    def behave(asked: ReceivedRequest, number: int) -> Response:
        if 1 < number <= 1 + times:
            return Response(f'{{"error": "{KEY} is wrong"}}', status, tuple(headers.items()))
        return well(asked, number)

    return behave


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_transient_server_errors_are_retried(server: EmbeddingServer, status: int) -> None:
    pauses = Pauses()
    built = provider(server, pause=pauses)
    server.behaviour = busy(status, MAX_TRIES - 1)
    assert built.embed("kestrel").shape == (DIM,)
    assert len(server.requests) == 1 + MAX_TRIES
    assert len(pauses.seconds) == MAX_TRIES - 1
    assert all(0 < seconds < 5 for seconds in pauses.seconds)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_tries_are_bounded(server: EmbeddingServer, status: int) -> None:
    built = provider(server)
    server.behaviour = busy(status, 1_000)
    with pytest.raises(ModelAwayError) as caught:
        built.embed("kestrel")
    assert caught.value.passing
    assert len(server.requests) == 1 + MAX_TRIES


def test_a_stated_pause_is_kept_if_it_is_short(server: EmbeddingServer) -> None:
    pauses = Pauses()
    built = provider(server, pause=pauses)
    server.behaviour = busy(429, 1, **{"retry-after": "3"})
    built.embed("kestrel")
    assert pauses.seconds == [3.0]
    server.behaviour = lambda asked, number: Response("", 429, (("retry-after", "3600"),))
    before = len(server.requests)
    with pytest.raises(ModelAwayError, match="rate limit"):
        built.embed("kestrel")
    assert len(server.requests) == before + 1


@pytest.mark.parametrize(
    ("status", "away", "told"),
    [
        (400, False, "rejected a passage"),
        (401, True, "rejected the key"),
        (403, True, "rejected the key"),
        (404, True, "does not know the model"),
        (413, False, "rejected a passage"),
        (422, False, "rejected a passage"),
        (402, True, "refused the request"),
        (418, True, "refused the request"),
        (204, True, "refused the request"),
    ],
)
def test_permanent_server_errors_are_not_retried(server: EmbeddingServer, status: int, away: bool, told: str) -> None:
    built = provider(server)
    server.behaviour = busy(status, 1_000)
    with pytest.raises(ModelError, match=told) as caught:
        built.embed("kestrel")
    assert isinstance(caught.value, ModelAwayError) is away
    assert not (isinstance(caught.value, ModelAwayError) and caught.value.passing)
    assert len(server.requests) == 2


ROW = [0.5] * DIM

ANSWERS: dict[str, Any] = {
    "nothing": "",
    "no json": "<html>busy</html>",
    "half": '{"data": [{"embedding": [0.1, ',
    "a list": [],
    "no data": {},
    "data is text": {"data": "x"},
    "too few": {"data": []},
    "too many": {"data": [{"index": 0, "embedding": ROW}, {"index": 1, "embedding": ROW}]},
    "the same twice": {"data": [{"index": 5, "embedding": ROW}]},
    "a negative index": {"data": [{"index": -1, "embedding": ROW}]},
    "no vector": {"data": [{"index": 0}]},
    "an empty vector": {"data": [{"index": 0, "embedding": []}]},
    "a shorter vector": {"data": [{"index": 0, "embedding": ROW[1:]}]},
    "a longer vector": {"data": [{"index": 0, "embedding": [*ROW, 1.0]}]},
    "zeros": {"data": [{"index": 0, "embedding": [0.0] * DIM}]},
    "texts": {"data": [{"index": 0, "embedding": ["0.1"] * DIM}]},
    "flags": {"data": [{"index": 0, "embedding": [True] * DIM}]},
    "base64": {"data": [{"index": 0, "embedding": "AAAA"}]},
    "not a number": json.dumps({"data": [{"index": 0, "embedding": [float("nan"), *ROW[1:]]}]}),
    "endless": json.dumps({"data": [{"index": 0, "embedding": [float("inf"), *ROW[1:]]}]}),
    "beyond a float": '{"data": [{"index": 0, "embedding": [1e999' + ", 0.5" * (DIM - 1) + "]}]}",
    "deep": '{"data": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "not utf-8": b"\xff\xfe{}",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_no_vector_is_refused_and_never_paid_twice(server: EmbeddingServer, name: str) -> None:
    built = provider(server)
    body = ANSWERS[name]
    server.behaviour = lambda asked, number: Response(json.dumps(body) if isinstance(body, list) else body)
    with pytest.raises(ModelError) as caught:
        built.embed_batch(["kestrel"])
    assert caught.value.reason is Reason.EMBEDDING_FAILED
    assert len(server.requests) == 2


def test_huge_numbers_are_scaled(server: EmbeddingServer) -> None:
    built = provider(server)
    server.behaviour = lambda asked, number: Response({"data": [{"embedding": [1e300] * DIM}]})
    assert abs(float(np.linalg.norm(built.embed("kestrel"))) - 1) < 1e-3


def test_an_endless_answer_is_cut_off(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("donna_tui.embedding.openai_compatible.MAX_ANSWER_BYTES", 10_000)
    built = provider(server)
    server.behaviour = lambda asked, number: Response(" " * 20_000)
    with pytest.raises(ModelAwayError) as caught:
        built.embed("kestrel")
    assert caught.value.reason is Reason.TOO_LARGE
    packed = gzip.compress(b" " * 5_000_000)
    server.behaviour = lambda asked, number: Response(packed, headers=(("content-encoding", "gzip"),))
    with pytest.raises(ModelAwayError):
        built.embed("kestrel")


def test_a_server_that_hangs_is_given_up(server: EmbeddingServer) -> None:
    built = provider(server, timeout=0.4)
    server.behaviour = lambda asked, number: Response("{}", wait=30)
    with pytest.raises(ModelAwayError, match="did not answer in time") as caught:
        built.embed("kestrel")
    assert caught.value.passing


def test_unreachable_embedding_server_is_reported_as_temporary() -> None:
    remote = RemoteConfig(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ModelAwayError, match="cannot be reached") as caught:
        OpenAICompatible("m", remote)
    assert caught.value.passing


async def test_closing_does_not_wait_for_a_server_that_hangs(server: EmbeddingServer) -> None:
    built = await asyncio.to_thread(provider, server, timeout=60)
    service = EmbeddingService(built, threads=1, batch=BATCH)
    server.behaviour = lambda asked, number: Response("{}", wait=60)
    waiting = [asyncio.create_task(service.embed_query("q")), asyncio.create_task(service.embed_documents(["d"]))]
    while len(server.requests) < 2:
        await asyncio.sleep(0.01)
    async with asyncio.timeout(20):
        await service.close()
    for task in waiting:
        with pytest.raises(ModelError):
            await task


def test_stop_event_cancels_provider_construction(server: EmbeddingServer) -> None:
    stop = threading.Event()
    stop.set()
    server.behaviour = lambda asked, number: Response("{}", wait=60)
    with pytest.raises(ModelAwayError, match="closed"):
        OpenAICompatible("m", RemoteConfig(base_url=server.url, timeout_seconds=60), stop=stop)


# What is sent, and where


def test_a_redirect_is_not_followed(server: EmbeddingServer) -> None:
    built = provider(server)
    with EmbeddingServer().serving() as other:
        for location in (f"{other.url}/embeddings", "https://elsewhere.example/v1/embeddings"):
            server.behaviour = lambda asked, number, to=location: Response("", 307, (("location", to),))  # type: ignore[misc]
            with pytest.raises(ModelAwayError) as caught:
                built.embed("kestrel")
            assert caught.value.reason is Reason.EGRESS_REFUSED
        assert other.requests == []


async def test_egress_client_rejects_an_unconfigured_host(server: EmbeddingServer) -> None:
    async with egress.open_client(timeout_seconds=5, max_bytes=1_000, hosts=("api.openai.com",)) as client:
        with pytest.raises(Exception, match="not the host that is configured") as caught:
            await client.post(f"{server.url}/embeddings", json={"input": ["x"]})
    assert getattr(caught.value, "reason", None) is Reason.EGRESS_REFUSED
    assert server.requests == []


def test_remote_config_detects_local_servers() -> None:
    assert RemoteConfig(base_url="http://localhost:11434/v1").is_local
    assert RemoteConfig(base_url="http://[::1]:1/v1").is_local
    assert not RemoteConfig(base_url="https://localhost.example/v1").is_local
    assert not RemoteConfig().is_local


def test_a_server_on_this_machine_counts_as_one(server: EmbeddingServer) -> None:
    assert not provider(server).leaves


def test_openais_key_goes_to_openai_alone(server: EmbeddingServer) -> None:
    assert RemoteConfig().key_variable == "OPENAI_API_KEY"
    assert RemoteConfig(base_url=OPENAI).key_variable == "OPENAI_API_KEY"
    assert RemoteConfig(base_url="https://api.openai.com.example/v1").key_variable is None
    OpenAICompatible("m", RemoteConfig(base_url=server.url), environ={"OPENAI_API_KEY": KEY})
    assert "authorization" not in server.requests[-1].headers
    assert KEY not in str(server.requests)


@pytest.mark.parametrize("key", ["", "  ", "two words", "sk-\x00", "sk-\nX-Evil: 1", "schlüssel"])
def test_an_invalid_key_is_refused_before_anything_is_sent(server: EmbeddingServer, key: str) -> None:
    remote = RemoteConfig(base_url=server.url, api_key_env="SOME_KEY")
    with pytest.raises(ModelAwayError, match="SOME_KEY") as caught:
        OpenAICompatible("m", remote, environ={"SOME_KEY": key})
    assert server.requests == []
    assert not key.strip() or key.strip() not in str(caught.value)


@pytest.mark.parametrize(
    "told",
    [
        Response(f'{{"error": "bad key {KEY}"}}', 401),
        Response(f'{{"error": "bad key {KEY}"}}', 400),
        Response(f'{{"error": "bad key {KEY}"}}', 500),
        Response(f'{{"data": "{KEY}"}}'),
        Response(KEY),
        Response("", 307, (("location", f"https://{KEY}.example/"),)),
    ],
    ids=["401", "400", "500", "data", "text", "redirect"],
)
def test_the_key_and_the_text_are_in_no_error(
    server: EmbeddingServer, told: Response, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(0)
    built = provider(server)
    server.behaviour = lambda asked, number: told
    with pytest.raises(ModelError) as caught:
        built.embed("the canary text")
    shown = "".join(traceback.format_exception(caught.value)) + str(caught.value.hint) + caplog.text
    out = capfd.readouterr()
    for secret in (KEY, "canary text"):
        assert secret not in caught.value.message
        assert secret not in shown.replace('built.embed("the canary text")', "")
        assert secret not in out.out + out.err


def test_openai_provider_ignores_proxy_environment_variables(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No proxy, certificate or password from the environment is used."""
    with EmbeddingServer().serving() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        provider(server).embed("kestrel")
        assert proxy.requests == []


def test_the_first_answer_must_have_a_vector(server: EmbeddingServer) -> None:
    server.behaviour = lambda asked, number: Response({"data": []})
    with pytest.raises(ModelError):
        provider(server)
    server.behaviour = after_the_first(well)
    assert provider(server).dim == DIM
