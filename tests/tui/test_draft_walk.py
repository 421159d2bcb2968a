"""A draft is reviewed, approved and undone in a real terminal, without a network and with a local language model."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from donna_tui.platform.paths import resource
from tests.terminal import python_in_terminal

ESCAPE = b"\x1b"


class ScriptedModel(BaseHTTPRequestHandler):
    """A model with Ollama's API, which records its prompts."""

    asked: list[str]

    def do_POST(self) -> None:
        question = self.rfile.read(int(self.headers["content-length"])).decode()
        type(self).asked.append(question)
        said = {
            "summary": "The cache is gone for good [1].",
            "action_item_candidates": ["Leo takes the printers home [1]."],
            "open_questions": [],
            "links_suggested": [],
        }
        answer = {
            "message": {"role": "assistant", "content": json.dumps(said)},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 10,
            "eval_count": 20,
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


@pytest.fixture
def model() -> Iterator[ThreadingHTTPServer]:
    """Run a local model."""
    ScriptedModel.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Return the demo vault, in git."""
    root = tmp_path / "vault"
    shutil.copytree(resource("vault_templates", "demo"), root)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=Mara", "-c", "user.email=mara@example.invalid", "commit", "-qm", "Before")
    return root


def git(vault: Path, *arguments: str) -> str:
    return subprocess.run(("git", *arguments), cwd=vault, capture_output=True, text=True, check=True).stdout


def calendar(tmp_path: Path, ended: datetime.datetime) -> Path:
    """Write a calendar with a stand-up that ended at a given time."""
    start = ended - datetime.timedelta(minutes=15)
    lines = [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//EN", "BEGIN:VEVENT", "UID:standup-1@example.invalid",
        f"DTSTAMP:{start:%Y%m%dT%H%M%SZ}", f"DTSTART:{start:%Y%m%dT%H%M%SZ}", f"DTEND:{ended:%Y%m%dT%H%M%SZ}",
        "SUMMARY:Standup", 'ATTENDEE;CN="Priya Raman":mailto:priya@example.invalid',
        'ATTENDEE;CN="Tomasz Okafor":mailto:tomasz@example.invalid',
        'ATTENDEE;CN="Ines Albrecht":mailto:ines@example.invalid',
        'ATTENDEE;CN="Jonas Feld":mailto:jonas@example.invalid',
        'ATTENDEE;CN="Nora Quist":mailto:nora@example.invalid', "END:VEVENT", "END:VCALENDAR", "",
    ]  # fmt: skip
    file = tmp_path / "work.ics"
    file.write_text("\r\n".join(lines), encoding="utf-8")
    return file


def settings(tmp_path: Path, file: Path) -> dict[str, str]:
    """Create a home whose settings follow the calendar."""
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    told = {"calendars": [{"name": "Work", "kind": "ics", "path": str(file)}]}
    (home / "config" / "memory.yaml").write_text(json.dumps(told), encoding="utf-8")
    return {"DONNA_HOME": str(home), "HOME": str(tmp_path), "TZ": "UTC"}


def eventually(holds: Any) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "the condition was never true"
        time.sleep(0.05)


def walk(vault: Path, home: dict[str, str], expected: str) -> None:
    """Review the draft, approve it, and undo the approval."""
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    with python_in_terminal("-m", "tests.cli.without_model", str(vault), **home) as terminal:
        terminal.wait_for("Review ①")
        drafts = [path for path in (vault / "Meetings").glob("*-standup.md") if path not in before]
        assert len(drafts) == 1
        draft = drafts[0]
        text = draft.read_text(encoding="utf-8")
        assert "[[Priya Raman]]" in text
        assert "[[Nora Quist]]" in text
        assert "[[Meetings/2026-03-12-standup|2026-03-12-standup]]" in text
        assert "donna_draft: true" in text
        assert expected in text

        terminal.press(ESCAPE, until="keys")
        terminal.press(b"3", until="Standup")
        terminal.press(b"a", until="approve it")
        assert draft.read_text(encoding="utf-8") == text
        terminal.press(b"\r", until="show approved and rejected drafts")
        approved = draft.read_text(encoding="utf-8")
        assert approved.partition("\n---\n")[2] == text.partition("\n---\n")[2]
        assert "donna_id: standup-1@example.invalid" in approved
        assert "donna_draft" not in approved
        assert "autowritten" not in approved
        assert (vault / "People" / "Nora Quist.md").exists()
        assert git(vault, "status", "--porcelain") == ""

        terminal.press(b"z", until="esc cancel")
        terminal.press(b"\r", until="Review ①")
        eventually(lambda: draft.read_text(encoding="utf-8") == text)
        assert not (vault / "People" / "Nora Quist.md").exists()
        terminal.quit()

    commits = len(git(vault, "log", "--format=%H").split())
    with python_in_terminal("-m", "tests.cli.without_model", str(vault), **home) as again:
        again.wait_for("Review ①")
        again.rest(3.0)
        again.quit()
    assert len(git(vault, "log", "--format=%H").split()) == commits
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_ended_meeting_gets_a_note_that_can_be_approved(vault: Path, tmp_path: Path) -> None:
    ended = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=30)
    walk(vault, settings(tmp_path, calendar(tmp_path, ended)), "## Last time")


@pytest.mark.stress
def test_ended_meeting_gets_a_note_drafted_by_a_local_model(
    vault: Path, tmp_path: Path, model: ThreadingHTTPServer
) -> None:
    ended = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=30)
    home = settings(tmp_path, calendar(tmp_path, ended))
    route = {"dialect": "ollama", "model": "small", "base_url": f"http://127.0.0.1:{model.server_port}"}
    (tmp_path / "home" / "config" / "models.yaml").write_text(json.dumps({"reasoner": route}), encoding="utf-8")
    walk(vault, home, "- Leo takes the printers home.")
    assert len(ScriptedModel.asked) == 1
    assert "2026-03-12-standup.md" in ScriptedModel.asked[0]
