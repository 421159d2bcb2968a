"""The lock on a space: held by one process at a time, and released however that process ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from donna_tui.platform.spaces import SpaceLock

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from donna_tui.platform.spaces import SpaceLock
lock = SpaceLock(Path(sys.argv[1]))
print(lock.acquire("another program"), flush=True)
sys.stdin.read()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """Take the lock in another process until its stdin is closed."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    assert child.stdout.readline() == "True\n"
    return child


def test_another_process_keeps_the_lock_until_it_is_killed(tmp_path: Path) -> None:
    with holder(tmp_path) as child:
        lock = SpaceLock(tmp_path)
        assert not lock.acquire("this test")
        assert lock.owner() == f"another program (process {child.pid})"
        child.kill()
        child.wait()
        assert lock.acquire("this test")
        assert lock.owner() == f"this test (process {os.getpid()})"
        lock.release()


def test_locks_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    one, two = SpaceLock(tmp_path), SpaceLock(tmp_path)
    assert one.acquire("one")
    assert not two.acquire("two")
    one.release()
    assert two.acquire("two")
    two.release()


def test_releasing_twice_or_without_the_lock_is_no_error(tmp_path: Path) -> None:
    lock = SpaceLock(tmp_path)
    lock.release()
    with lock:
        assert lock.acquire("x")
    lock.release()
    assert SpaceLock(tmp_path).acquire("again")


def test_an_unknown_owner_is_empty(tmp_path: Path) -> None:
    lock = SpaceLock(tmp_path)
    assert lock.owner() == ""
    for text in ("", "{}", "[]", '{"what": "x", "pid": "y"}', "\xff"):
        (tmp_path / "lock").write_bytes(text.encode("latin-1"))
        assert lock.owner() == ""


def test_lock_owner_is_fully_replaced_by_a_shorter_one(tmp_path: Path) -> None:
    lock = SpaceLock(tmp_path)
    for what in ("a very long description of a program", "x"):
        assert lock.acquire(what)
        assert lock.owner() == f"{what} (process {os.getpid()})"
        lock.release()


def test_the_lock_file_is_private_and_not_inherited(tmp_path: Path) -> None:
    lock = SpaceLock(tmp_path)
    assert lock.acquire("x")
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    lock.release()
    assert SpaceLock(tmp_path).acquire("y")
    child.communicate()
