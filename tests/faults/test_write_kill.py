"""Killed at any moment of any operation, git's steps included, Donna loses nothing that she said was done."""

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

from tests.faults.nursery import REPOSITORY, Nursery, alive, descendants, open_nursery
from tests.faults.writes import Desk, Hand, Ledger, new_desk

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds git's processes in /proc")

SEED = 20_270_301
LONGEST_SECONDS = 0.12
LONGEST_WRITE_SECONDS = 0.04
KILLS_A_VAULT = 50
PATIENCE_SECONDS = 60.0
LAST = ("write", "Inbox/last.md", "Undisturbed.\n")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with open_nursery() as opened:
        yield opened


def kill(pid: int, how: str) -> list[int]:
    """Kill a child; the processes that it started, which may live on."""
    if how == "git first, at once":
        os.kill(pid, signal.SIGSTOP)
    started = descendants(pid)
    for each in [*(started if how != "alone" else ()), pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    return started


def wait_for(pids: list[int]) -> None:
    """What outlives its parent comes to its end by itself."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(alive(each) for each in pids):
        assert time.monotonic() < deadline, "git does not end"
        time.sleep(0.005)


def db(ledger: Ledger, told: list[dict[str, Any]]) -> list[str]:
    """Enter what was acknowledged; the call that was under way, if there was one."""
    call: list[str] = []
    for each in told:
        if "call" in each:
            call = each["call"]
        elif "refused" in each:
            assert each["refused"] in ("nothing_to_undo", "nothing_to_redo", "git_failed"), each
            call = [] if each["refused"] != "git_failed" else call
        elif "done" in each:
            if each["done"]:
                ledger.db(call, each["done"])
            call = []
    return call


@dataclass(frozen=True, slots=True)
class Round:
    """How a kill went: whether a write was under way, and how long the recovery took in seconds."""

    under_way: bool
    seconds: float


def when_under_way(desk: Desk) -> float:
    """Wait for a write to begin to change something; when that was."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not desk.intent.exists():
        assert time.monotonic() < deadline, "nothing is written"
        time.sleep(0.0005)
    return time.monotonic()


def kill_once(ledger: Ledger, nursery: Nursery, chance: random.Random) -> Round:
    """Let a child work, kill it, recover, check."""
    pid = nursery.start("work", ledger.desk, seed=chance.randrange(2**32))
    moment = time.monotonic() + chance.random() * LONGEST_SECONDS
    if chance.random() < 0.5:
        moment = when_under_way(ledger.desk) + chance.random() * LONGEST_WRITE_SECONDS
    time.sleep(max(0.0, moment - time.monotonic()))
    started = kill(pid, chance.choice(["alone", "alone", "git first, at once", "git first"]))
    *told, _ = nursery.rest()
    call = db(ledger, told)
    under_way, began = ledger.desk.intent.exists(), time.monotonic()
    problem = ledger.desk.writer().recover()
    taken = Round(under_way, time.monotonic() - began)
    wait_for(started)
    assert problem is None
    if ledger.check(*([ledger.after(call)] if call else [])):
        ledger.db(call, ledger.desk.operations()[-1])
    return taken


def fresh(base: Path, *, staged: bool) -> Ledger:
    shutil.rmtree(base, ignore_errors=True)
    return Ledger.of(new_desk(base, staged=staged))


@pytest.mark.parametrize("staged", [False, True], ids=["nothing staged", "work staged"])
@pytest.mark.parametrize("kills", [150, pytest.param(10_000, marks=pytest.mark.stress)])
def test_no_kill_loses_a_word(tmp_path: Path, nursery: Nursery, kills: int, staged: bool) -> None:
    chance = random.Random(f"{SEED} {staged}")
    ledger = fresh(tmp_path / "desk", staged=staged)
    rounds = []
    for number in range(kills):
        rounds.append(kill_once(ledger, nursery, chance))
        if number % KILLS_A_VAULT == KILLS_A_VAULT - 1 or number == kills - 1:
            ledger.db(LAST, Hand(ledger.desk).do(LAST))
            ledger.check(sound=True)
            ledger = fresh(tmp_path / "desk", staged=staged)
    taken = sorted(each.seconds for each in rounds if each.under_way)
    assert taken, "no kill met a write"
    print(
        f"\n{kills} kills, {len(taken)} of a write under way: recovered within {taken[-1]:.3f} s, half of them within {taken[len(taken) // 2]:.3f} s"
    )


_LEAVES_A_GIT = """
import os, sys
from pathlib import Path
from donna_tui.vault.write.protocol import alone
from tests.faults.writes import Desk
repo = Desk(Path(sys.argv[1])).writer().repo
with alone(repo.place()):
    os.environ["PATH"] = sys.argv[2] + os.pathsep + os.environ["PATH"]
    process = repo.command._start(("version",), {})
    os._exit(9)
"""


def test_a_git_that_outlives_its_donna_is_waited_for(tmp_path: Path) -> None:
    """It may be the one that moves the branch: what it was about to do is not judged before it has done it."""
    desk, done, slow = new_desk(tmp_path / "desk"), tmp_path / "done", tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\nsleep 1\ntouch '{done}'\n")
    slow.chmod(0o700)
    code = (sys.executable, "-c", _LEAVES_A_GIT, str(desk.base), str(slow.parent))
    assert subprocess.run(code, cwd=REPOSITORY, check=False).returncode == 9
    assert not done.exists()
    desk.writer().write("Inbox/after.md", "Written after it.\n")
    assert done.exists()


def test_the_check_sees_what_is_broken(tmp_path: Path) -> None:
    """A check that finds nothing must be able to find something."""
    desk: Desk = new_desk(tmp_path / "desk")
    ledger = Ledger.of(desk)
    ledger.check(sound=True)
    for path, data in (("Inbox/t0.md", b"torn"), ("Inbox/.donna-1-0", b"left"), (".git/index.lock", b"")):
        before = (desk.vault / path).read_bytes() if (desk.vault / path).exists() else None
        desk.put(path, data)
        with pytest.raises(AssertionError):
            ledger.check()
        if before is None:
            (desk.vault / path).unlink()
        else:
            desk.put(path, before)
    ledger.check()
    ledger.acknowledged.append("0" * 20)
    with pytest.raises(AssertionError):
        ledger.check()
