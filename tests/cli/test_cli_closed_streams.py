"""`donna … >&-` and `<&-`: a command with a closed standard stream ends with a message, and no file replaces it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_closed(tmp_path: Path, *descriptors: int, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    def close() -> None:
        for descriptor in descriptors:
            os.close(descriptor)

    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "tests.cli.without_model", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**kept, "DONNA_HOME": str(tmp_path / "home")},
        preexec_fn=close,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("arguments", [("--version",), ("config", "path"), ("spaces", "--json")])
def test_a_result_that_cannot_be_written_is_an_error(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = run_closed(tmp_path, 1, arguments=arguments)
    assert ran.returncode == 5
    assert ran.stderr.startswith("donna: the result cannot be written")
    assert len(ran.stderr.splitlines()) == 1


def test_a_refusal_that_cannot_be_written_keeps_its_exit_code(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    assert run_closed(tmp_path, 1, arguments=("get", "x.md", "--space", str(vault), "--json")).returncode == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_help_that_cannot_be_written_names_the_cause(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.cli.without_model", "search", "--help"]
    environ = {**os.environ, "DONNA_HOME": str(tmp_path / "home")}
    with open("/dev/full", "w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environ, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (5, b"donna: stopped: no space left on device\n")


def test_nothing_is_written_without_a_text(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    ran = run_closed(tmp_path, 0, arguments=("write", "Inbox/a.md", "--yes", "--space", str(tmp_path / "vault")))
    assert (ran.returncode, ran.stderr) == (2, "donna: reading the text needs standard input, which is closed\n")
    assert not (tmp_path / "vault" / "Inbox").exists()


@pytest.mark.parametrize("descriptor", [0, 1])
def test_app_requires_open_stdin_and_stdout(descriptor: int, tmp_path: Path) -> None:
    ran = run_closed(tmp_path, descriptor, arguments=(str(tmp_path),))
    assert ran.returncode == 2
    assert ran.stderr.startswith("donna: the full-screen app needs a terminal")


@pytest.mark.parametrize("descriptor", [0, 1])
def test_mcp_requires_open_stdin_and_stdout(descriptor: int, tmp_path: Path) -> None:
    ran = run_closed(tmp_path, descriptor, arguments=("mcp", "--demo"))
    assert ran.returncode == 2
    assert "is closed" in ran.stderr


@pytest.mark.slow
def test_no_file_of_the_index_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("# A\n\nthe gateway\n", encoding="utf-8")
    ran = run_closed(tmp_path, 0, 1, 2, arguments=("index", "--space", str(vault)))
    assert ran.returncode == 5
    found = run_closed(tmp_path, 0, arguments=("search", "gateway", "--space", str(vault)))
    assert found.returncode == 0
    assert "a.md" in found.stdout
