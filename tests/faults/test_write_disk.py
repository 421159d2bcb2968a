"""If the disk fills up in the middle of a write, the old note stays, the reason is reported, and a retry works."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from tests.faults.writes import CALLS, CallRunner, Sandbox, prepared, small_file_system

SPACE = "1536k"
LEVEL = 4_096
"""The block size of this file system in bytes."""

LEVELS = 256
FIRST_LEVELS = 32
"""With fewer free blocks, each operation runs out of space at another point; with more it never does."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system for a small vault and 256 more blocks."""
    yield from small_file_system(tmp_path / "disk", SPACE)


def leave(disk: Path, levels: int) -> Path:
    """Fill the disk except for some blocks. Return the file that fills it."""
    ballast = disk / "ballast"
    room = os.statvfs(disk)
    size = max(0, room.f_bavail * room.f_frsize - levels * LEVEL)
    ballast.write_bytes(bytes(size))
    return ballast


def attempt(sandbox: Sandbox, call: tuple[str, ...]) -> VaultWriteError | None:
    """Return the reason of the refusal, None if the operation succeeded."""
    try:
        CallRunner(sandbox).do(call)
    except VaultWriteError as error:
        return error
    return None


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "levels",
    [range(0, FIRST_LEVELS, FIRST_LEVELS // 4), pytest.param(range(LEVELS), marks=pytest.mark.stress)],
    ids=["4 levels", "256 levels"],
)
def test_write_on_a_full_disk_fails_cleanly_and_can_be_retried(
    tmp_path: Path, disk: Path, name: str, levels: range
) -> None:
    call, template = CALLS[name], prepared(tmp_path / "template", name)
    answers: list[Reason | None] = []
    for level in levels:
        vault_model = replace(template, sandbox=template.sandbox.copy(disk / "sandbox"))
        sandbox = vault_model.sandbox
        ballast = leave(disk, level)
        error = attempt(sandbox, call)
        answers.append(error.reason if error else None)
        found = sandbox.notes()
        assert all(
            found.get(path) in (data, vault_model.after(call).get(path)) for path, data in vault_model.notes.items()
        )
        ballast.unlink()
        assert sandbox.writer().recover() is None
        if vault_model.check(*([] if error else [vault_model.after(call)])) == 0:
            assert attempt(sandbox, call) is None
            assert vault_model.check(vault_model.after(call), sound=True) == 1
        shutil.rmtree(sandbox.base)
    assert set(answers) <= {None, Reason.DISK_FULL, Reason.IO_ERROR}, answers
    assert answers[0] is Reason.DISK_FULL
    assert answers[-1] is None, "no level had enough space"


def test_a_write_to_a_read_only_disk_leaves_no_intent_that_blocks_other_folders(tmp_path: Path) -> None:
    sandbox = prepared(tmp_path / "prepared", "write new").sandbox
    with contextmanager(small_file_system)(sandbox.vault / "Inbox/mounted", "64k") as mounted:
        subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
        refused = attempt(sandbox, ("write", "Inbox/mounted/n.md", "new\n"))
        assert refused is not None
        assert refused.reason is Reason.IO_ERROR
        assert not sandbox.intent.exists()
        assert attempt(sandbox, CALLS["write new"]) is None
