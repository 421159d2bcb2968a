"""The app, searches from the shell and an editor work on one vault for a long time: nothing leaks or breaks."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from donna_tui.platform.paths import resource
from tests.terminal import Terminal, python_in_terminal

QUESTIONS = (b"redis failover", b"weekly review", b"who owns the gateway", b"path:Projects decision", b"xyzzy nothing")
MAX_GROWTH = 1.05
"""The maximum growth of memory, once everything was used."""

SLACK_MB = 12.0
"""Memory that Python's allocator may retain and a running search may use."""


def memory_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1000


def descriptors(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def donna(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "DONNA_HOME": str(home)}
    code = [sys.executable, "-m", "donna_tui", *arguments]
    return subprocess.run(code, env=environ, capture_output=True, text=True, timeout=120, check=False)


def edit(vault: Path, chance: random.Random, turn: int) -> None:
    """Act like an editor and a sync program: save in place, save by rename, create, move and delete notes."""
    notes = sorted(vault.rglob("*.md"))
    note = chance.choice(notes)
    with note.open("a", encoding="utf-8") as file:
        file.write(f"\nA thought at turn {turn}.\n")
    made = vault / "Inbox" / f"made {turn % 10}.md"
    made.parent.mkdir(exist_ok=True)
    waiting = made.with_suffix(".tmp")
    waiting.write_text(f"# Made\n\nAt turn {turn}, about weasels.\n", encoding="utf-8")
    waiting.replace(made)
    if turn % 5 == 4:
        made.unlink()


def use(terminal: Terminal, chance: random.Random) -> None:
    """Use each screen once."""
    terminal.press(b"\x1b/", until="")
    terminal.press(b"\x15" + chance.choice(QUESTIONS), until="")
    terminal.rest(0.4)
    for keys in (b"\x1b[B\x1b[B", b"\x1b", b"6", b"jjk", b"1"):
        terminal.press(keys, until="")
    del terminal.written[:-10_000]


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("seconds", [3, pytest.param(600, marks=pytest.mark.stress)])
def test_a_long_day_leaves_memory_descriptors_and_index_as_they_were(
    tmp_path: Path, model_cache: Path, seconds: int
) -> None:
    vault, home, chance = tmp_path / "vault", tmp_path / "home", random.Random(1)
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "models").symlink_to(model_cache / "models", target_is_directory=True)
    shutil.copytree(resource("vault_templates", "demo"), vault)
    with python_in_terminal("-m", "donna_tui", str(vault), DONNA_HOME=str(home)) as terminal:
        terminal.wait_for("keyword and semantic ready")
        for turn in range(5):
            edit(vault, chance, turn)
            use(terminal, chance)
        process = terminal.process.pid
        memory, open_files = memory_mb(process), descriptors(process)
        deadline, turn = time.monotonic() + seconds, 5
        while time.monotonic() < deadline:
            edit(vault, chance, turn)
            use(terminal, chance)
            if turn % 4 == 0:
                found = donna(home, "search", "weasels", "--space", str(vault), "--mode", "keyword", "--json")
                assert json.loads(found.stdout)["ok"], found.stderr
            turn += 1
        terminal.rest(3)
        assert memory_mb(process) < memory * MAX_GROWTH + SLACK_MB
        assert descriptors(process) <= open_files + 2
        terminal.quit()
    examined = json.loads(donna(home, "index", "--space", str(vault), "--json").stdout)
    assert examined["ok"]
    findings = json.loads(donna(home, "doctor", "--space", str(vault), "--json").stdout)["findings"]
    assert {each["id"]: each["state"] for each in findings if each["state"] == "fail"} == {}
    assert next(each for each in findings if each["id"] == "notes")["state"] == "ok"
