"""Killed at any moment of any operation, git's steps included, Donna loses nothing that she acknowledged."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults.fork_server import REPOSITORY, ForkServer, alive, descendants, open_fork_server
from tests.faults.writes import CallRunner, Sandbox, VaultModel, new_sandbox

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds git's processes in /proc")

SEED = 20_270_301
LONGEST_SECONDS = 0.12
LONGEST_WRITE_SECONDS = 0.04
KILLS_A_VAULT = 50
PATIENCE_SECONDS = 60.0
LAST = ("write", "Inbox/last.md", "Undisturbed.\n")


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with open_fork_server() as opened:
        yield opened


def kill(pid: int, how: str) -> list[int]:
    """Kill a child. Return its descendants, which may still be running."""
    if how == "git first, at once":
        os.kill(pid, signal.SIGSTOP)
    started = descendants(pid)
    for each in [*(started if how != "alone" else ()), pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    return started


def wait_for(pids: list[int]) -> None:
    """Wait for processes that outlive their parent."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(alive(each) for each in pids):
        assert time.monotonic() < deadline, "git is still running"
        time.sleep(0.005)


def record(vault_model: VaultModel, told: list[dict[str, Any]]) -> list[str]:
    """Record what was acknowledged, and return the call in progress, if any."""
    call: list[str] = []
    for each in told:
        if "call" in each:
            call = each["call"]
        elif "refused" in each:
            assert each["refused"] in ("nothing_to_undo", "nothing_to_redo", "git_failed"), each
            call = [] if each["refused"] != "git_failed" else call
        elif "done" in each:
            if each["done"]:
                vault_model.acknowledge(call, each["done"])
            call = []
    return call


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a kill: whether a write was in progress, and the seconds that the recovery took."""

    under_way: bool
    seconds: float


def when_under_way(sandbox: Sandbox) -> float:
    """Wait until a write begins to change something, and return the time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not sandbox.intent.exists():
        assert time.monotonic() < deadline, "no write began"
        time.sleep(0.0005)
    return time.monotonic()


def kill_once(vault_model: VaultModel, fork_server: ForkServer, chance: random.Random) -> Round:
    """Let a child work, kill it, recover, and check."""
    pid = fork_server.start("work", vault_model.sandbox, seed=chance.randrange(2**32))
    moment = time.monotonic() + chance.random() * LONGEST_SECONDS
    if chance.random() < 0.5:
        moment = when_under_way(vault_model.sandbox) + chance.random() * LONGEST_WRITE_SECONDS
    time.sleep(max(0.0, moment - time.monotonic()))
    started = kill(pid, chance.choice(["alone", "alone", "git first, at once", "git first"]))
    *told, _ = fork_server.rest()
    call = record(vault_model, told)
    under_way, began = vault_model.sandbox.intent.exists(), time.monotonic()
    problem = vault_model.sandbox.writer().recover()
    taken = Round(under_way, time.monotonic() - began)
    wait_for(started)
    assert problem is None
    if vault_model.check(*([vault_model.after(call)] if call else [])):
        vault_model.acknowledge(call, vault_model.sandbox.operations()[-1])
    return taken


def fresh(base: Path, *, staged: bool) -> VaultModel:
    shutil.rmtree(base, ignore_errors=True)
    return VaultModel.of(new_sandbox(base, staged=staged))


@pytest.mark.slow
@pytest.mark.parametrize("staged", [False, True], ids=["nothing staged", "work staged"])
@pytest.mark.parametrize("kills", [25, pytest.param(10_000, marks=pytest.mark.stress)])
def test_random_kills_lose_no_acknowledged_write(
    tmp_path: Path, fork_server: ForkServer, kills: int, staged: bool
) -> None:
    chance = random.Random(f"{SEED} {staged}")
    vault_model = fresh(tmp_path / "sandbox", staged=staged)
    rounds = []
    for number in range(kills):
        rounds.append(kill_once(vault_model, fork_server, chance))
        if number % KILLS_A_VAULT == KILLS_A_VAULT - 1 or number == kills - 1:
            vault_model.acknowledge(LAST, CallRunner(vault_model.sandbox).do(LAST))
            vault_model.check(sound=True)
            vault_model = fresh(tmp_path / "sandbox", staged=staged)
    taken = sorted(each.seconds for each in rounds if each.under_way)
    assert taken, "no kill interrupted a write"
    print(
        f"\n{kills} kills, {len(taken)} of a write under way: recovered within {taken[-1]:.3f} s, half of them within {taken[len(taken) // 2]:.3f} s"
    )


_LEAVES_A_GIT = """
import os, sys
from pathlib import Path
from donna_tui.vault.write.protocol import write_lock
from tests.faults.writes import Sandbox
repo = Sandbox(Path(sys.argv[1])).writer().repo
with write_lock(repo.location()):
    os.environ["PATH"] = sys.argv[2] + os.pathsep + os.environ["PATH"]
    process = repo.command._start(("version",), {})
    os._exit(9)
"""


@pytest.mark.slow
def test_recovery_waits_for_a_git_process_of_a_killed_run(tmp_path: Path) -> None:
    """It may be the one that moves the branch, so the recovery must not decide before it has finished."""
    sandbox, done, slow = new_sandbox(tmp_path / "sandbox"), tmp_path / "done", tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\nsleep 1\ntouch '{done}'\n")
    slow.chmod(0o700)
    code = (sys.executable, "-c", _LEAVES_A_GIT, str(sandbox.base), str(slow.parent))
    assert subprocess.run(code, cwd=REPOSITORY, check=False).returncode == 9
    assert not done.exists()
    sandbox.writer().write("Inbox/after.md", "Written after it.\n")
    assert done.exists()


def test_vault_model_check_detects_damage(tmp_path: Path) -> None:
    """Check that the check detects what it should."""
    sandbox: Sandbox = new_sandbox(tmp_path / "sandbox")
    vault_model = VaultModel.of(sandbox)
    vault_model.check(sound=True)
    for path, data in (("Inbox/t0.md", b"torn"), ("Inbox/.donna-1-0", b"left"), (".git/index.lock", b"")):
        before = (sandbox.vault / path).read_bytes() if (sandbox.vault / path).exists() else None
        sandbox.put(path, data)
        with pytest.raises(AssertionError):
            vault_model.check()
        if before is None:
            (sandbox.vault / path).unlink()
        else:
            sandbox.put(path, before)
    vault_model.check()
    vault_model.acknowledged.append("0" * 20)
    with pytest.raises(AssertionError):
        vault_model.check()
