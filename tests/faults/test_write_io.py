"""Whichever system call fails, and however, Donna reports it and leaves the vault as it was."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from donna_tui.types.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.vault.client import DEFAULT_MAX_BYTES, ScannedFile, VaultClient
from donna_tui.vault.paths import VaultRoot, refused
from donna_tui.vault.write.files import VaultFiles
from tests.faults.injector import ERRORS, READING, Injector, failing
from tests.faults.writes import CALLS, CallRunner, VaultModel, prepared

OTHER = "Inbox/s0.md"
"""A note with a link to the one that is moved."""

STRIDE = 10
"""If not all requests are tried, every tenth one fails, from another start for each operation."""

EXPECTED = {Reason.IO_ERROR, Reason.DISK_FULL, Reason.GIT_FAILED, Reason.UNREADABLE, Reason.ROOT_MISSING}


class FailureHarness:
    """Makes requests of one operation fail, in one vault as long as the operation does not succeed."""

    def __init__(self, base: Path, name: str, *, for_good: bool) -> None:
        self._call = CALLS[name]
        self._for_good = for_good
        self._base = base
        self._first = prepared(base / "prepared", name)
        self._after = self._first.after(self._call)
        self._vault_model = self._fresh()

    def _fresh(self) -> VaultModel:
        shutil.rmtree(self._base / "used", ignore_errors=True)
        return replace(self._first, sandbox=self._first.sandbox.copy(self._base / "used"))

    def attempt(self, injector: Injector) -> None:
        """Run the operation with a fault, and check every promise.

        If even reverting the write failed, the recovery completes or reverts it.
        """
        error = self._carried_out(injector)
        assert error is None or (injector.struck and error.reason in EXPECTED), (error, error.reason)
        assert self._vault_model.sandbox.writer().recover() is None
        possible = [] if error and not self._for_good else [self._after]
        done = self._vault_model.check(*possible) == 1
        assert done or error, "an acknowledged operation is missing"
        if done:
            self._vault_model = self._fresh()

    def _carried_out(self, injector: Injector) -> VaultWriteError | None:
        hand = CallRunner(self._vault_model.sandbox)
        with injector.active():
            try:
                hand.do(self._call)
            except VaultWriteError as error:
                return error
        return None

    def works_again(self) -> None:
        """Check that the same operation works without a fault."""
        CallRunner(self._vault_model.sandbox).do(self._call)
        assert self._vault_model.check(self._after, sound=True) == 1
        self._vault_model = self._fresh()


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.stress)], ids=["some", "all"])
def test_failing_system_call_leaves_the_vault_unchanged(
    tmp_path: Path, name: str, for_good: bool, thorough: bool
) -> None:
    harness, tries = FailureHarness(tmp_path, name, for_good=for_good), itertools.count(1)
    for nth in itertools.count(1) if thorough else itertools.count(1 + list(CALLS).index(name) % STRIDE, STRIDE):
        codes = ERRORS if thorough else (ERRORS[nth % len(ERRORS)],)
        # an unreadable note is reported and does not stop a move: see below
        skipped = {code: frozenset[str]() if thorough and code != errno.EACCES else READING for code in codes}
        tried = [Injector(nth, failing(code), for_good=for_good, skipped=skipped[code]) for code in codes]
        for injector in tried:
            harness.attempt(injector)
        if thorough or next(tries) % 4 == 0:
            harness.works_again()
        if not tried[0].struck:
            break
    assert nth > 20


def test_a_move_that_cannot_list_the_notes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object, __: str = "") -> list[ScannedFile]:
        raise VaultReadError(Reason.ROOT_MISSING, "the vault does not exist")

    vault_model = prepared(tmp_path, "move")
    monkeypatch.setattr(VaultClient, "scan", missing)
    with pytest.raises(VaultWriteError) as caught:
        CallRunner(vault_model.sandbox).do(CALLS["move"])
    assert caught.value.reason is Reason.ROOT_MISSING
    assert vault_model.check() == 0


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
def test_a_move_is_refused_on_a_failing_disk_and_names_a_note_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Its link to the old name stays, and the user is told."""
    real = VaultFiles.read

    def unreadable(files: VaultFiles, path: str) -> bytes | None:
        if path == OTHER:
            raise refused(OSError(code, os.strerror(code)))
        return real(files, path)

    vault_model = prepared(tmp_path, "move")
    with monkeypatch.context() as patched:
        patched.setattr(VaultFiles, "read", unreadable)
        if code == errno.EACCES:
            plan = vault_model.sandbox.writer().planner.move(*CALLS["move"][1:], expected=lambda _: True)
            assert plan.unread == (OTHER,)
            assert OTHER in plan.remarks[0]
            assert OTHER not in plan.paths
            return
        with pytest.raises(VaultWriteError, match=OTHER) as caught:
            CallRunner(vault_model.sandbox).do(CALLS["move"])
    assert (caught.value.reason, caught.value.path) == (refused(OSError(code, "")).reason, CALLS["move"][1])
    assert vault_model.check() == 0


def test_a_folder_that_a_failing_disk_cannot_open_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing_folder(_: object, __: object) -> int:
        raise refused(OSError(errno.EIO, os.strerror(errno.EIO)))

    (tmp_path / "Inbox").mkdir()
    files = VaultFiles(VaultRoot(tmp_path))
    assert files.is_folder("Inbox")
    assert not files.is_folder("Missing")
    monkeypatch.setattr(VaultRoot, "open_folder", failing_folder)
    with pytest.raises(VaultWriteError) as caught:
        files.is_folder("Inbox")
    assert caught.value.reason is Reason.IO_ERROR


@pytest.mark.parametrize("reason", [Reason.IO_ERROR, Reason.UNREADABLE])
def test_move_reports_a_folder_that_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: Reason
) -> None:
    def scan(_: object, __: str = "") -> list[ScannedFile]:
        return [ScannedFile("Projects", None, reason, "the folder cannot be read")]

    vault_model = prepared(tmp_path, "move")
    monkeypatch.setattr(VaultClient, "scan", scan)
    if reason is Reason.UNREADABLE:
        assert vault_model.sandbox.writer().planner.move(*CALLS["move"][1:], expected=lambda _: True).unread == (
            "Projects",
        )
        return
    with pytest.raises(VaultWriteError, match="Projects") as caught:
        CallRunner(vault_model.sandbox).do(CALLS["move"])
    assert caught.value.reason is reason
    assert vault_model.check() == 0


def test_a_move_names_the_notes_in_which_it_cannot_look_for_links(tmp_path: Path) -> None:
    sandbox = prepared(tmp_path, "move").sandbox
    sandbox.put("Inbox/large.md", b"x" * (DEFAULT_MAX_BYTES + 1))
    sandbox.put("Inbox/latin.md", b"caf\xe9 [[t0]]\n")
    _, src, dst = CALLS["move"]
    plan = sandbox.writer().planner.move(src, dst, expected=lambda _: True)
    which = "2 notes that cannot be read (too large, not UTF-8, or not permitted): Inbox/large.md, Inbox/latin.md"
    assert plan.remarks == (f"links to the old name may remain in {which}",)
    assert plan.unread == ("Inbox/large.md", "Inbox/latin.md")


def test_links_follow_a_note_that_is_too_large_to_be_indexed(tmp_path: Path) -> None:
    sandbox = prepared(tmp_path, "move").sandbox
    sandbox.put("Inbox/large.md", b"x" * (DEFAULT_MAX_BYTES + 1))
    sandbox.put("Inbox/link.md", b"[[large]]\n")
    plan = sandbox.writer().planner.move("Inbox/large.md", "Inbox/vast.md", expected=lambda _: True)
    assert {change.path: change.after for change in plan.changes}["Inbox/link.md"] == b"[[vast]]\n"
    assert plan.remarks == ()


def test_a_move_names_the_note_whose_own_links_it_cannot_update(tmp_path: Path) -> None:
    sandbox = prepared(tmp_path, "move").sandbox
    sandbox.put("Inbox/latin.md", b"caf\xe9 [x](link.md)\n")
    plan = sandbox.writer().planner.move("Inbox/latin.md", "Projects/latin.md", expected=lambda _: True)
    assert plan.remarks == ("links are not updated in 1 note that is not UTF-8: Inbox/latin.md",)
    assert plan.unread == ("Inbox/latin.md",)


class CutConversation:
    """Interrupts the n-th call of git."""

    def __init__(self, nth: int, how: str) -> None:
        self._nth = nth
        self._how = how
        self._real = subprocess.Popen.communicate
        self._count = itertools.count()
        self.made = False

    def conversation(self) -> Callable[..., Any]:
        """Replace `Popen.communicate`."""

        def communicate(process: subprocess.Popen[bytes], *given: Any, **options: Any) -> Any:
            now = next(self._count) == self._nth
            self.made |= now
            if now and self._how == "killed at its start":
                process.kill()
            answer = self._real(process, *given, **options)
            if now and self._how == "interrupted":
                raise KeyboardInterrupt
            if now:
                process.returncode = -signal.SIGKILL
            return answer

        return communicate


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "how", ["interrupted", pytest.param("killed at its start", marks=pytest.mark.stress), "killed at its end"]
)
def test_interrupted_git_process_leaves_the_vault_consistent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    """Git is killed before or after its work, or Donna is interrupted without git noticing."""
    call, template = CALLS[name], prepared(tmp_path / "prepared", name)
    for nth in itertools.count():
        vault_model, cut = (
            replace(template, sandbox=template.sandbox.copy(tmp_path / f"copy {nth}")),
            CutConversation(nth, how),
        )
        error: BaseException | None = None
        with monkeypatch.context() as patched:
            patched.setattr(subprocess.Popen, "communicate", cut.conversation())
            try:
                CallRunner(vault_model.sandbox).do(call)
            except (KeyboardInterrupt, VaultWriteError) as stopped:
                error = stopped
        assert vault_model.sandbox.writer().recover() is None
        assert vault_model.check(vault_model.after(call)) == 1 or error, nth
        if not cut.made:
            break
    assert nth > 5
