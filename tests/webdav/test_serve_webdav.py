"""`donna serve-webdav` as a process: the index and the history follow what clients do, and refusals say why."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import REPOSITORY, Donna
from tests.git_vaults import User
from tests.terminal import plain, python_in_terminal
from tests.webdav.parts import PASSWORD, Served, soon, temporary_files

PATIENCE_SECONDS = 60


@contextlib.contextmanager
def served_by(donna: Donna, vault: Path, *options: str) -> Iterator[tuple[Served, subprocess.Popen[str]]]:
    """Run `donna serve-webdav`, and end it as a service manager does."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("DONNA_")}
    environ |= {"PYTHONPATH": str(REPOSITORY), "DONNA_HOME": str(donna.home), "DONNA_WEBDAV_PASSWORD": PASSWORD}
    words = ["serve-webdav", "--port", "0", "--json", "--space", str(vault), *options]
    process = subprocess.Popen(
        [sys.executable, "-m", donna.module, *words],
        env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=donna.cwd,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        told = json.loads(line)
        assert told["user"] == "donna"
        served = Served(vault, told["url"])
        yield served, process
        served.close()
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    if process.returncode != -signal.SIGKILL:
        assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.slow
def test_the_index_and_the_history_follow(donna: Donna, vault: Path, tmp_path: Path) -> None:
    user = User(tmp_path / "user")
    user.git(vault, "init", "--quiet")
    (vault / ".git/hooks").mkdir(exist_ok=True)
    user.git(vault, "add", "a.md", "Projects/gateway.md")
    user.git(vault, "commit", "--quiet", "--message", "base")
    head = user.git(vault, "rev-parse", "HEAD")

    def found(word: str) -> list[str]:
        ran = donna("search", word, "--json", "--space", vault)
        return [] if ran.code == 1 else [hit["source_path"] for hit in ran.json["results"]]

    def outside() -> dict[str, str]:
        ran = donna("diff", "--json", "--space", vault)
        return {} if ran.code == 1 else {row["path"]: row["diff"] for row in ran.json["changes"]}

    with served_by(donna, vault) as (served, _):
        served.put("Inbox.md", b"# Inbox\n\nThe kestrel is back.\n")
        served.put("a.md", b"# A\n\nAn osprey, too.\n")
        soon(lambda: found("kestrel") == ["Inbox.md"], "the new note is found")
        soon(lambda: found("osprey") == ["a.md"], "the edit is found")
        edits = outside()
        assert sorted(edits) == ["Inbox.md", "a.md"]
        assert "+An osprey, too." in edits["a.md"]
        served.client().move("Inbox.md", "Projects/Birds.md")
        soon(lambda: found("kestrel") == ["Projects/Birds.md"], "the moved note is found")
        served.client().remove("a.md")
        soon(lambda: found("osprey") == [], "the removed note is found no more")
        edits = outside()
        assert sorted(edits) == ["Projects/Birds.md", "a.md"]
        assert "+++ /dev/null" in edits["a.md"]
    assert user.git(vault, "rev-parse", "HEAD") == head
    assert user.git(vault, "status", "--porcelain", "a.md").startswith(" D")

    ran = donna("write", "Projects/Birds.md", "--json", "--replace", "--space", vault, stdin="x", DONNA_X="1")
    assert ran.json["reason"] == "conflict"
    etag = donna("get", "Projects/Birds.md", "--json", "--space", vault).json["etag"]
    donna("write", "Projects/Birds.md", "--replace", "--etag", etag, "--space", vault, stdin="x")
    assert (vault / "Projects/Birds.md").read_text() == "x"
    donna("undo", "--yes", "--space", vault)
    assert (vault / "Projects/Birds.md").read_text() == "# Inbox\n\nThe kestrel is back.\n"


@pytest.mark.slow
def test_a_vault_has_one_server_and_remains_of_a_killed_one_are_removed(donna: Donna, vault: Path) -> None:
    with served_by(donna, vault) as (served, process):
        second = donna("serve-webdav", "--json", "--space", vault, DONNA_WEBDAV_PASSWORD=PASSWORD)
        assert second.json["reason"] == "busy"
        connection = served.begin_put("/vault/a.md", b"half", "Content-Length: 1000")
        soon(lambda: temporary_files(vault), "the upload has begun")
        process.kill()
        process.wait(PATIENCE_SECONDS)
        connection.close()
    assert temporary_files(vault)
    assert (vault / "a.md").read_text() == "# A\n"
    with served_by(donna, vault, "--read-only") as (served, _):
        assert temporary_files(vault) == []
        assert served.names() == ["Projects", "a.md"]
        assert served.status("PUT", "/vault/a.md", b"x") == 405


@pytest.mark.slow
def test_private_notes_are_served_only_on_request(donna: Donna, vault: Path) -> None:
    (vault / "secret.md").write_text("---\ndonna_sensitive: true\n---\nosprey\n")
    with served_by(donna, vault) as (served, _):
        assert served.names() == ["Projects", "a.md"]
        for method in ("GET", "PUT", "DELETE"):
            assert served.status(method, "/vault/secret.md", b"x" if method == "PUT" else b"") >= 400
    with served_by(donna, vault, "--with-private") as (served, _):
        assert b"osprey" in served.get("secret.md")


@pytest.mark.parametrize(
    ("options", "environ", "what"),
    [
        ((), {}, "no terminal to show a new one"),
        (("--new-password",), {}, "no terminal to show a new one"),
        ((), {"DONNA_WEBDAV_PASSWORD": "short"}, "fewer than 12 characters"),
        (("--host", "0.0.0.0"), {"DONNA_WEBDAV_PASSWORD": PASSWORD}, "without TLS"),
        (("--cert", "x.pem"), {"DONNA_WEBDAV_PASSWORD": PASSWORD}, "must be given together"),
        (("--cert", "x.pem", "--key", "y.pem"), {"DONNA_WEBDAV_PASSWORD": PASSWORD}, "cannot be used"),
        (("--password-file", "none"), {}, "cannot be read"),
    ],
)
def test_serve_webdav_reports_missing_requirements(
    donna: Donna, vault: Path, options: tuple[str, ...], environ: dict[str, str], what: str
) -> None:
    ran = donna("serve-webdav", *options, "--port", "0", "--space", vault, **environ)
    assert ran.code == 2
    assert what in ran.err
    assert ran.out == ""


@pytest.mark.slow
def test_a_new_password_is_shown_once_in_a_terminal(donna: Donna, vault: Path) -> None:
    words = ("-m", donna.module, "serve-webdav", "--port", "0", "--space", str(vault))
    with python_in_terminal(*words, DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("ctrl+c to stop")
        text = plain(bytes(terminal.written))
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(PATIENCE_SECONDS) == 0
    password = re.search(r"shown only once: ([0-9a-f-]+)", text)
    url = re.search(r"(http://\S+)", text)
    assert password is not None
    assert url is not None
    kept = "".join(each.read_text("utf-8", "replace") for each in donna.home.rglob("*.json"))
    assert password[1] not in kept
    with python_in_terminal(*words, DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("ctrl+c to stop")
        text = plain(bytes(terminal.written))
        assert "shown only once" not in text
        again = re.search(r"(http://\S+)", text)
        assert again is not None
        served = Served(vault, again[1])
        assert sorted(str(each) for each in served.client(password[1]).ls("/", detail=False)) == ["Projects", "a.md"]
        served.close()
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(PATIENCE_SECONDS) == 0


def test_conflicts_are_listed_and_resolved(donna: Donna, vault: Path, tmp_path: Path) -> None:
    user = User(tmp_path / "user")
    user.git(vault, "init", "--quiet")
    assert donna("conflicts", "--space", vault).code == 1
    copy = "Projects/gateway.sync-conflict-20240101-120000-ABCDEFG.md"
    (vault / copy).write_text("# Gateway\n\nfrom the \x1b[31mphone\n")
    (told,) = donna("conflicts", "--json", "--space", vault).json["conflicts"]
    assert told == {"id": copy, "path": copy, "note": "Projects/gateway.md"}
    assert donna("conflicts", "resolve", copy, "--keep", "both", "--space", vault).code == 2
    assert donna("conflicts", "resolve", copy, "--keep", "neither", "--space", vault).code == 2
    assert donna("conflicts", "resolve", "a.md", "--keep", "mine", "--json", "--space", vault).json["reason"] == "usage"
    ran = donna("conflicts", "resolve", copy, "--keep", "theirs", "--yes", "--json", "--space", vault).json
    assert (ran["changed"], ran["paths"]) == (True, ["Projects/gateway.md", copy])
    assert "phone" in (vault / "Projects/gateway.md").read_text()
    assert not (vault / copy).exists()
    donna("undo", "--yes", "--space", vault)
    assert (vault / copy).exists()
    assert (vault / "Projects/gateway.md").read_text() == "# Gateway\n"
