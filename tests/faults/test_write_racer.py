"""Concurrent programs that swap folders for links, or save the note meanwhile, as fast as they can."""

from __future__ import annotations

import fcntl
import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.write.atomic import exchange
from donna_tui.vault.write.files import MARK
from donna_tui.vault.write.protocol import Step
from tests.faults.writes import CallRunner, Sandbox, VaultModel, blob, litter, new_sandbox

SEED = 20_270_302
SECRET = b"a word that must stay outside"
NOTE = "Inbox/t0.md"
MOVED = "Inbox/t9.md"
MIN_WRITTEN = 3


@pytest.fixture(autouse=True)
def turns() -> Iterator[None]:
    """Switch threads as often as possible."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@contextmanager
def running(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run a function in a thread until the block ends."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def picture(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return everything that a write could have touched."""
    found = {}
    for each in sorted(folder.rglob("*")):
        seen = each.lstat()
        data = each.read_bytes() if each.is_file() else b""
        found[str(each)] = (seen.st_ino, seen.st_mode, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_nlink, data)
    return found


def attempt(writer_call: Callable[[], object]) -> Reason | None:
    """Return the reason of the refusal, None if the operation succeeded."""
    try:
        writer_call()
    except VaultWriteError as error:
        return error.reason
    return None


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3.0, pytest.param(60.0, marks=pytest.mark.stress)])
def test_no_swapped_link_leads_outside(tmp_path: Path, seconds: float) -> None:
    sandbox, outside = new_sandbox(tmp_path / "sandbox"), tmp_path / "outside"
    outside.mkdir()
    for name in ("n.md", "f.md", "only outside.md"):
        (outside / name).write_bytes(SECRET)
    for path in ("Inbox/sub/n.md", "Inbox/f.md"):
        sandbox.put(path, b"inside\n")
    (sandbox.vault / "Inbox/link").symlink_to(outside, target_is_directory=True)
    (sandbox.vault / "Inbox/g.md").symlink_to(outside / "f.md")
    before = picture(outside)
    swaps = itertools.count()

    def swap(stop: threading.Event) -> None:
        folder = os.open(sandbox.vault / "Inbox", os.O_RDONLY)
        while not stop.is_set():
            exchange(folder, "sub", "link")
            with suppress(FileNotFoundError):  # just removed
                exchange(folder, "f.md", "g.md")
            next(swaps)
        os.close(folder)

    with running(swap):
        answers = _work(sandbox, seconds)
    assert picture(outside) == before
    assert SECRET not in sandbox.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert SECRET not in b"".join(each.read_bytes() for each in _inside(sandbox))
    problem = sandbox.writer().recover()
    assert problem is None or problem.reason is Reason.CONFLICT
    assert not [each for each in litter(sandbox) if MARK not in each], (
        "more files are left than those in folders that were removed"
    )
    sandbox.git("fsck", "--strict", "--no-dangling", "--no-progress")
    assert len(set(answers)) > 1, "no write met a swap"
    counted = {str(each): answers.count(each) for each in set(answers)}
    print(f"\n{next(swaps)} swaps, {len(answers)} operations: {counted}")


def _work(sandbox: Sandbox, seconds: float) -> list[Reason | None]:
    """Run random operations on the names that are swapped."""
    chance, answers, end = random.Random(SEED), list[Reason | None](), time.monotonic() + seconds
    hand = CallRunner(sandbox)
    while time.monotonic() < end or answers.count(None) < MIN_WRITTEN:
        note = chance.choice(
            ["Inbox/sub/n.md", "Inbox/f.md", "Inbox/g.md", "Inbox/sub/only outside.md", "Inbox/link/n.md"]
        )
        fresh = f"Inbox/sub/{chance.randrange(10**9)}.md"
        call = chance.choice(
            [
                ("write", note, f"{chance.random()}\n"),
                ("write", fresh, f"{chance.random()}\n"),
                ("write", f"Inbox/{chance.randrange(10**9)}.md", f"{chance.random()}\n"),
                ("delete", note),
                ("move", note, chance.choice([fresh, f"Inbox/{chance.randrange(10**9)}.md"])),
                ("undo", "1"),
            ]
        )
        answers.append(attempt(lambda call=call: hand.do(call)))
    return answers


def _inside(sandbox: Sandbox) -> list[Path]:
    files = (Path(top) / name for top, _, names in os.walk(sandbox.vault) for name in names)
    return [each for each in files if each.is_file() and not each.is_symlink()]


class Editor:
    """Saves new versions of a note, in place or by a rename."""

    def __init__(self, note: Path, chance: random.Random, *, in_place: bool) -> None:
        self._note = note
        self._chance = chance
        self._in_place = in_place
        self.saved = b""

    def save(self) -> None:
        version = f"saved by hand: {self._chance.random()}\n".encode() * self._chance.choice([1, 200])
        if self._in_place:
            with self._note.open("wb", buffering=0) as file:
                self._dawdle()
                file.write(version)
        else:
            pending = self._note.with_name("hand.tmp")
            pending.write_bytes(version)
            pending.replace(self._note)
        self.saved = version

    def save_some(self) -> None:
        """Save a few versions, with short pauses."""
        self._dawdle()
        for _ in range(self._chance.choice([1, 1, 2, 5])):
            self.save()

    def _dawdle(self) -> None:
        for _ in range(self._chance.randrange(20)):
            time.sleep(0)


def is_preserved(sandbox: Sandbox, data: bytes) -> bool:
    """Return whether these bytes are a note, or a version of one in the history."""
    messages = sandbox.git("log", "--all", "--format=%B").decode()
    return data in sandbox.notes().values() or (
        f"Donna-Pre: {blob(data)}" in messages and sandbox.git("cat-file", "blob", blob(data)) == data
    )


@pytest.mark.slow
@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "by a rename"])
@pytest.mark.parametrize("rounds", [20, pytest.param(3_000, marks=pytest.mark.stress)])
def test_no_version_that_was_saved_is_lost(tmp_path: Path, rounds: int, in_place: bool) -> None:
    chance, sandbox = random.Random(f"{SEED} {in_place}"), new_sandbox(tmp_path)
    editor = Editor(sandbox.vault / NOTE, chance, in_place=in_place)
    answers = []
    for number in range(rounds):
        editor.save()
        start, saved = threading.Event(), threading.Event()

        def reached(step: Step) -> None:
            if step is Step.INTENDED:
                start.set()  # noqa: B023
                if number % 4 == 0:  # noqa: B023
                    saved.wait()  # noqa: B023

        hand = CallRunner(sandbox, reached)
        call = chance.choice([("write", NOTE, f"Donna {number}\n"), ("delete", NOTE), ("move", NOTE, MOVED)])

        def save(_: threading.Event) -> None:
            start.wait()  # noqa: B023
            editor.save()
            saved.set()  # noqa: B023
            editor.save_some()

        with running(save):
            answers.append(attempt(lambda: hand.do(call)))  # noqa: B023
            start.set()
        assert is_preserved(sandbox, editor.saved), (number, call, answers[-1])
        assert sandbox.writer().recover() is None
        assert not litter(sandbox), (number, call, answers[-1])
        (sandbox.vault / MOVED).unlink(missing_ok=True)
    assert answers.count(None)
    assert answers.count(Reason.CONFLICT)
    print(f"\n{rounds} rounds: {answers.count(None)} done, {answers.count(Reason.CONFLICT)} refused")


LEASES = hasattr(fcntl, "F_SETLEASE")


@pytest.mark.cases(4)
@pytest.mark.skipif(not LEASES, reason="only Linux tells whether a file is open for writing")
@pytest.mark.parametrize(
    "call", [("write", NOTE, "Donna\n"), ("delete", NOTE), ("move", NOTE, MOVED)], ids=lambda call: call[0]
)
@pytest.mark.parametrize("seconds", [0.0, 0.2, 1.5])
def test_an_editor_in_the_middle_of_saving_wins(tmp_path: Path, call: tuple[str, ...], seconds: float) -> None:
    """It opened the note before Donna exchanged it, and writes when hers is in place."""
    sandbox = new_sandbox(tmp_path)
    before, version = sandbox.notes(), b"saved by hand, slowly\n"
    intended = threading.Event()

    def save(_: threading.Event) -> None:
        with (sandbox.vault / NOTE).open("r+b", buffering=0) as file:
            opened.set()
            intended.wait()
            time.sleep(seconds)
            file.write(version)
            file.truncate()

    opened = threading.Event()
    with running(save):
        opened.wait()
        answer = attempt(
            lambda: CallRunner(sandbox, lambda step: intended.set() if step is Step.INTENDED else None).do(call)
        )
    assert answer is Reason.CONFLICT
    assert sandbox.notes() == {**before, NOTE: version}
    assert sandbox.writer().recover() is None
    assert not litter(sandbox)
    assert sandbox.operations() == []


def test_a_program_that_only_reads_a_note_does_not_block_writes(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    with (sandbox.vault / NOTE).open("rb"):
        assert CallRunner(sandbox).do(("write", NOTE, "Donna\n"))
    assert sandbox.notes()[NOTE] == b"Donna\n"


@pytest.mark.parametrize("seconds", [0.2, 2.0])
def test_an_index_that_another_program_locks_is_updated_later(tmp_path: Path, seconds: float) -> None:
    sandbox = new_sandbox(tmp_path)
    vault_model, call = VaultModel.of(sandbox), ("write", NOTE, "Donna\n")
    lock = sandbox.git_dir / "index.lock"

    def hold(_: threading.Event) -> None:
        time.sleep(seconds)
        lock.unlink()

    lock.write_bytes(b"")
    with running(hold):
        vault_model.acknowledge(call, CallRunner(sandbox).do(call))
    assert sandbox.writer().recover() is None
    vault_model.check(sound=True)


@pytest.mark.slow
def test_a_program_that_commits_all_the_time_loses_nothing(tmp_path: Path) -> None:
    """Its commits and Donna's alternate on the same branch; the note on disk is the one that Donna wrote.

    A commit that it makes before the index has followed the branch contains the previous version of the note, and git
    then shows the one on disk as a difference. If a busy machine refuses a write because of it, it commits half as
    often.
    """
    sandbox, made, refused = new_sandbox(tmp_path), set[str](), list[str]()

    def commit(stop: threading.Event) -> None:
        while not stop.is_set():
            message = f"by hand {len(made)}"
            with suppress(subprocess.CalledProcessError):  # git refuses if the branch moves meanwhile
                sandbox.git("commit", "--quiet", "--allow-empty", f"--message={message}")
                made.add(message)
            time.sleep(0.03 * 2 ** len(refused))

    hand, done = CallRunner(sandbox), list[str]()
    with running(commit):
        for number in itertools.count():
            try:
                done.append(hand.do(("write", NOTE, f"Donna {number}\n")))
            except VaultWriteError as error:
                refused.append(error.message)
            if len(done) == 6:
                break
    assert set(refused) <= {"the branch keeps changing: another program is committing"}
    assert sandbox.writer().recover() is None
    assert not litter(sandbox)
    messages = sandbox.git("log", "--format=%s").decode().split("\n")
    assert made
    assert made <= set(messages)
    assert sandbox.operations() == done == sandbox.operations("refs/donna/operations")
    newest = sandbox.git("log", "--format=%H", f"--grep=Donna-Op: {done[-1]}").decode().strip()
    assert sandbox.git("show", f"{newest}:{NOTE}") == sandbox.notes()[NOTE]
