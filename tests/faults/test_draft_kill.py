"""Stopped at any moment while it writes a draft, Donna writes exactly one at the next start, and pays for it once."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from donna_tui.drafts import queue
from donna_tui.memory.database import open_db
from donna_tui.vault.note.read import parse_frontmatter
from tests.faults.draft_parts import KEY, PAID, PATH, STEPS, PaidDrafter, draft
from tests.git_vaults import User

REPOSITORY = Path(__file__).parent.parent.parent
SEED = 20_240_117
ROUNDS = 6


class Killed(BaseException):
    """Raised to end the process; only the test catches it."""


@pytest.fixture
def user(base: Path) -> User:
    user = User(base / "home")
    user.repository(base / "vault")
    (base / "memory").mkdir()
    return user


def assert_one_whole_draft(base: Path, user: User) -> str:
    """Check that there is one draft, that the vault is clean and that the queue agrees. Return its text."""
    vault = base / "vault"
    drafts = [path for path in vault.rglob("*.md") if KEY in path.read_text()]
    assert [path.relative_to(vault).as_posix() for path in drafts] == [PATH]
    text = drafts[0].read_text()
    front = parse_frontmatter(text)
    assert (front.problem, front.data["idempotency_key"], front.data["donna_draft"]) == ("", KEY, True)
    assert text.count("- Promise of answer") == 1
    assert text.endswith("(chat)\n")
    assert user.git(vault, "status", "--porcelain") == ""
    assert user.git(vault, "log", "--format=%s", "--", PATH).splitlines() == [f"Draft {PATH}"]
    db = open_db(base / "memory")
    try:
        (entry,) = queue.entries(db.database)
    finally:
        db.close()
    assert (entry.state, entry.path) == ("waiting", PATH)
    return text


@pytest.mark.parametrize("step", STEPS)
async def test_a_draft_that_was_cut_short_is_finished(base: Path, user: User, step: str) -> None:
    def reached(now: str) -> None:
        if now == step:
            raise Killed

    with pytest.raises(Killed):
        await draft(base, reached)
    result = await draft(base)
    assert result.path == PATH
    text = assert_one_whole_draft(base, user)
    asked = PaidDrafter(base / "bill").asked
    assert asked == (2 if step == "composed" else 1)
    assert f"Promise of answer {asked}" in text


async def test_draft_is_completed_after_repeated_interruptions(base: Path, user: User) -> None:
    for step in STEPS:

        def reached(now: str, step: str = step) -> None:
            if now == step:
                raise Killed

        if step == "written":
            break
        with pytest.raises(Killed):
            await draft(base, reached)
    for _ in range(2):
        await draft(base)
        assert_one_whole_draft(base, user)
    assert PaidDrafter(base / "bill").asked <= 2


async def test_existing_draft_is_not_written_again(base: Path, user: User) -> None:
    await draft(base)
    before = assert_one_whole_draft(base, user)
    again = await draft(base)
    assert (again.skipped, again.reason) == (True, "idempotent")
    assert assert_one_whole_draft(base, user) == before


def started(base: Path, user: User) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.draft_parts", str(base)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY,
        env={**user.environment, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip


def kill(child: subprocess.Popen[str]) -> None:
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()


@pytest.mark.cases(1)
@pytest.mark.parametrize("step", STEPS)
async def test_a_process_that_is_killed_leaves_a_draft_to_finish(base: Path, user: User, step: str) -> None:
    child = started(base, user)
    assert child.stdin is not None
    assert child.stdout is not None
    for told in child.stdout:
        if told.strip() == step:
            break
        child.stdin.write("on\n")
        child.stdin.flush()
    kill(child)
    await draft(base)
    assert_one_whole_draft(base, user)
    if step in PAID:
        assert PaidDrafter(base / "bill").asked == 1


@pytest.mark.slow
async def test_a_process_that_is_killed_while_it_writes(base: Path, user: User) -> None:
    """Release the last step, and kill the process somewhere between rendering and the end."""
    chance = random.Random(SEED)
    for number in range(ROUNDS):
        shutil.rmtree(base / "memory")
        (base / "memory").mkdir()
        (base / "bill").unlink(missing_ok=True)
        if (base / "vault" / PATH).exists():
            user.git(base / "vault", "reset", "--quiet", "--hard", "HEAD~1")
        child = started(base, user)
        assert child.stdin is not None
        child.stdin.write("on\n" * len(STEPS))
        child.stdin.flush()
        assert child.stdout is not None
        for told in child.stdout:
            if told.strip() == "rendered":
                break
        time.sleep(chance.uniform(0.0, 0.06))
        kill(child)
        await draft(base)
        assert_one_whole_draft(base, user)
        assert PaidDrafter(base / "bill").asked == 1, number


@pytest.mark.usefixtures("user")
async def test_a_full_quota_is_a_full_disk(base: Path) -> None:
    def reached(step: str) -> None:
        if step == "rendered":
            raise OSError(errno.EDQUOT, "Disk quota exceeded")

    assert (await draft(base, reached)).reason == "the disk is full"
