"""`donna model test`, and what `donna doctor` reports about language models, with a local server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.running import Donna

MODEL = "qwen3:8b"


class Ollama(BaseHTTPRequestHandler):
    """A server with one model, which fails while `broken` is set."""

    broken = False
    models: object = [{"name": MODEL}]

    def do_GET(self) -> None:
        self.answer(200, {"models": self.models})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if type(self).broken:
            self.answer(500, {"error": "out of memory"})
        elif asked["model"] != MODEL:
            self.answer(404, {"error": "model not found"})
        else:
            message = {"role": "assistant", "content": '{"word": "ready"}'}
            self.answer(200, {"message": message, "done": True, "prompt_eval_count": 9, "eval_count": 2})

    def answer(self, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(Ollama, "broken", False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Ollama)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def configure(donna: Donna, port: int, model: str = MODEL) -> None:
    folder = donna.home / "config"
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    (folder / "models.yaml").write_text(
        f'reasoner: {{dialect: ollama, model: "{model}", base_url: "http://localhost:{port}"}}\n'
    )


def doctor(donna: Donna) -> dict[str, str]:
    findings = json.loads(donna("doctor", "--json").out)["findings"]
    found: dict[str, str] = next(each for each in findings if each["id"] == "reasoner")
    return found


def test_model_test_and_doctor_pass_for_a_working_model(donna: Donna, vault: Path, port: int) -> None:
    configure(donna, port)
    ran = donna("model", "test", "--space", vault)
    assert (ran.code, f"✓ drafts: {MODEL} at localhost:{port} answered" in ran.out) == (0, True), ran
    assert doctor(donna)["state"] == "ok"


def test_a_model_that_the_server_does_not_have(donna: Donna, vault: Path, port: int) -> None:
    configure(donna, port, "qwen3:70b")
    ran = donna("model", "test", "--space", vault)
    assert ran.code == 5
    assert f"the model server at localhost:{port} has no model “qwen3:70b” (404)" in ran.out
    found = doctor(donna)
    assert (found["state"], found["reason"]) == ("warn", "model_call_failed")
    assert "has no model “qwen3:70b”" in found["message"]
    assert MODEL in found["hint"]


@pytest.mark.parametrize("models", [5, {"a": 1}, [1, None, {"name": 7}]])
def test_doctor_accepts_an_invalid_model_list_from_the_server(
    donna: Donna, vault: Path, port: int, monkeypatch: pytest.MonkeyPatch, models: object
) -> None:
    configure(donna, port)
    monkeypatch.setattr(Ollama, "models", models)
    assert doctor(donna)["state"] == "ok"


@pytest.mark.slow
def test_a_failing_or_missing_server(donna: Donna, vault: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(donna, port)
    monkeypatch.setattr(Ollama, "broken", True)
    failed = f"the model server at localhost:{port} returned an error (500)\n    try again later\n"
    assert failed in donna("model", "test", "--space", vault).out  # nothing retries it by itself
    configure(donna, 9)
    assert doctor(donna)["message"] == "drafts: no model server answers at localhost:9"


def test_without_a_configured_model_it_says_so(donna: Donna, vault: Path) -> None:
    ran = donna("model", "test", "--space", vault)
    assert ran.code == 0
    assert "No language model is configured" in ran.out
