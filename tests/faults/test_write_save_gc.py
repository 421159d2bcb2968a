"""Donna is killed, an editor saves, Donna writes again and git collects garbage: no line that was ever saved is lost."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.write.protocol import Step
from tests.faults.fork_server import ENDED, ForkServer, open_fork_server
from tests.faults.test_write_kill import kill, wait_for
from tests.faults.test_write_racer import attempt
from tests.faults.writes import CALLS, CallRunner, Sandbox, litter, new_sandbox
from tests.git_vaults import memory_folder

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds git's processes in /proc")

SEED = 20_280_117
KILLS_A_VAULT = 40
LONGEST_SECONDS = 0.1
LONGEST_WRITE_SECONDS = 0.06
NOTE = "Inbox/s0.md"
UNCOMMITTED = b"Typed by hand, and in no commit.\n"
_LINE = re.compile(rb"saved-\d+-[0-9a-f]{8}")


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with open_fork_server() as opened:
        yield opened


@pytest.fixture
def base() -> Iterator[Path]:
    with memory_folder() as folder:
        yield folder


def collect_garbage(sandbox: Sandbox) -> None:
    """Collect garbage as strictly as git can: only what a ref reaches is retained."""
    at_once = ("-c", "gc.reflogExpire=now", "-c", "gc.reflogExpireUnreachable=now")
    sandbox.git(*at_once, "gc", "--quiet", "--prune=now")


def everything(sandbox: Sandbox) -> bytes:
    """Return the bytes of every file of the vault and of every object of its repository."""
    objects = sandbox.git("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
    return b"\n".join([objects, *sandbox.notes().values()])


def stop_in_a_write(sandbox: Sandbox, fork_server: ForkServer, call: tuple[str, ...] = CALLS["write over"]) -> None:
    """Replace uncommitted text, and end Donna before the branch has moved."""
    sandbox.put(NOTE, UNCOMMITTED)
    assert fork_server.run("operation", sandbox, call=call, step=Step.PUT, occurrence=1)[1] == ENDED


@pytest.mark.parametrize("call", [CALLS["write over"], ("delete", NOTE)], ids=["write", "delete"])
def test_kill_save_write_gc_keeps_what_was_never_committed(
    base: Path, fork_server: ForkServer, call: tuple[str, ...]
) -> None:
    sandbox, told = new_sandbox(base), list[VaultWriteError]()
    stop_in_a_write(sandbox, fork_server, call)
    sandbox.put(NOTE, b"Saved by the editor since.\n")
    writer = sandbox.writer(on_recovered=told.append)
    writer.write("Inbox/another.md", "Any write.\n")
    collect_garbage(sandbox)
    assert UNCOMMITTED in everything(sandbox)
    assert sandbox.notes()[NOTE] == b"Saved by the editor since.\n"
    assert not litter(sandbox)
    assert [(each.reason, each.path) for each in told] == [(Reason.CONFLICT, NOTE)]
    kept = str(told[0].hint).rpartition(" ")[2]
    changes = writer.undo_planner.operation_changes(kept)
    assert changes is not None
    assert [each.before for each in changes] == [UNCOMMITTED]
    assert [each.id for each in writer.undoable()] == sandbox.operations(), (
        "what is preserved must not be a step of undo"
    )


@pytest.mark.parametrize("saves", [False, True], ids=["nobody saves", "an editor saves"])
def test_a_write_from_another_home_drops_nothing_of_this_one(base: Path, fork_server: ForkServer, saves: bool) -> None:
    sandbox = new_sandbox(base)
    stop_in_a_write(sandbox, fork_server)
    if saves:
        sandbox.put(NOTE, b"Saved by the editor since.\n")
    CallRunner(sandbox, home="another home").do(("write", "Inbox/another.md", "From the other home.\n"))
    collect_garbage(sandbox)
    assert UNCOMMITTED in everything(sandbox)
    problem = sandbox.writer().recover()
    assert (problem is None) == (not saves)
    CallRunner(sandbox).do(("write", "Inbox/later.md", "Any write.\n"))
    collect_garbage(sandbox)
    assert UNCOMMITTED in everything(sandbox)
    assert not litter(sandbox)


def test_a_recreated_repository_loses_nothing_unfinished(base: Path, fork_server: ForkServer) -> None:
    sandbox = new_sandbox(base)
    stop_in_a_write(sandbox, fork_server)
    shutil.rmtree(sandbox.git_dir)
    sandbox.git("init", "--quiet")
    assert sandbox.writer().recover() is None, "the disk must have everything that the write needs"
    CallRunner(sandbox).do(("write", "Inbox/later.md", "Any write.\n"))
    collect_garbage(sandbox)
    assert UNCOMMITTED in everything(sandbox)
    assert not litter(sandbox)


def test_edits_of_displaced_and_replaced_files_are_both_kept(base: Path, fork_server: ForkServer) -> None:
    """One had the note open and wrote to the displaced file; the other saved a new file."""
    sandbox, first = new_sandbox(base), b"By the editor that had it open.\n"
    stop_in_a_write(sandbox, fork_server)
    (displaced,) = (sandbox.vault / "Inbox").glob(".donna-*")
    displaced.write_bytes(first)
    pending = sandbox.vault / "hand.tmp"
    pending.write_bytes(b"By the other editor.\n")
    pending.replace(sandbox.vault / NOTE)
    assert sandbox.writer().recover() is not None
    CallRunner(sandbox).do(("write", "Inbox/later.md", "Any write.\n"))
    collect_garbage(sandbox)
    assert sandbox.notes()[NOTE] == b"By the other editor.\n"
    assert first in everything(sandbox)
    assert not litter(sandbox)


MOVE = CALLS["move"]
AFTER_A_MOVE: dict[str, tuple[str, ...]] = {
    "write": ("write", MOVE[1], "Written again.\n"),
    "delete": ("delete", MOVE[2]),
    "move": ("move", MOVE[2], "Inbox/third.md"),
    "undo": ("undo", "1"),
}


@pytest.mark.parametrize("call", AFTER_A_MOVE.values(), ids=AFTER_A_MOVE)
def test_a_call_is_planned_after_the_write_that_was_interrupted(
    base: Path, fork_server: ForkServer, call: tuple[str, ...]
) -> None:
    """The note is at its new path and still at its old one: recovery completes the move before the call is planned."""
    sandbox = new_sandbox(base)
    before = sandbox.notes()
    assert fork_server.run("operation", sandbox, call=MOVE, step=Step.PUT, occurrence=1)[1] == ENDED
    assert {MOVE[1], MOVE[2]} <= sandbox.notes().keys(), "the kill must come in between"
    CallRunner(sandbox).do(call)
    after = sandbox.notes()
    here = {MOVE[1]: before[MOVE[1]]} if call[0] == "undo" else {}
    here |= {MOVE[1]: b"Written again.\n", MOVE[2]: after[MOVE[2]]} if call[0] == "write" else {}
    here |= {"Inbox/third.md": after["Inbox/third.md"]} if call[0] == "move" else {}
    assert {path: after[path] for path in after if path in {MOVE[1], MOVE[2], "Inbox/third.md"}} == here
    assert len(sandbox.operations()) == 2
    assert not litter(sandbox)


@dataclass(slots=True)
class Editor:
    """Opens a note, adds a line a moment later and saves: in place, by a rename, or as a new file."""

    sandbox: Sandbox
    chance: random.Random
    number: int = 0
    saved: set[bytes] = field(default_factory=set)
    _open: tuple[Path, bytes] | None = None

    def act(self) -> None:
        """Open a note, or save the open one."""
        if self._open is None:
            self._open = self._opened()
            return
        (path, text), self._open = self._open, None
        line = b"saved-%d-%08x" % (self.number, self.chance.randrange(2**32))
        self.number += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        self._save(path, text + line + b"\n")
        self.saved.add(line)

    def _opened(self) -> tuple[Path, bytes]:
        known = [each for each in self.sandbox.vault.rglob("*.md") if not each.name.startswith(".")]
        note = self.chance.choice([*sorted(known), self.sandbox.vault / f"Inbox/s{self.number}.md"])
        try:
            return note, note.read_bytes()
        except FileNotFoundError:
            return note, b""

    def _save(self, path: Path, text: bytes) -> None:
        if self.chance.random() < 0.4:
            with path.open("wb", buffering=0) as file:
                file.write(text)
            return
        pending = path.with_name("hand.tmp")
        pending.write_bytes(text)
        pending.replace(path)

    def act_until(self, moment: float) -> None:
        """Act at random moments."""
        while (left := moment - time.monotonic()) > 0:
            time.sleep(min(left, self.chance.random() * 0.03))
            if time.monotonic() < moment:
                self.act()


@dataclass(slots=True)
class Loop:
    """Kills a series of writers, of one home or of several, while an editor works in the vault."""

    sandbox: Sandbox
    homes: tuple[str, ...]
    chance: random.Random
    editor: Editor
    kept: list[VaultWriteError] = field(default_factory=list)
    under_way: int = 0

    def round(self, fork_server: ForkServer) -> None:
        """Kill a working child, save in the editor, write with another Donna, collect garbage, and check everything."""
        home = self.chance.choice(self.homes)
        pid = fork_server.start("work", self.sandbox, seed=self.chance.randrange(2**32), home=home)
        moment = time.monotonic() + self.chance.random() * LONGEST_SECONDS
        if self.chance.random() < 0.8:
            self._wait_for_a_write(home)
            moment = time.monotonic() + self.chance.random() ** 2 * LONGEST_WRITE_SECONDS
        self.editor.act_until(moment)
        started = kill(pid, self.chance.choice(["alone", "alone", "git first, at once"]))
        list(fork_server.rest())
        wait_for(started)
        self.under_way += self._intent(home).exists()
        for _ in range(self.chance.choice([0, 1, 2, 2])):
            self.editor.act()
        self._write(self.chance.choice(self.homes), home)
        collect_garbage(self.sandbox)
        self.check()

    def _write(self, home: str, killed: str) -> None:
        hand = CallRunner(self.sandbox, home=home, on_recovered=self.kept.append)
        call = ("write", "Inbox/any.md", f"{self.chance.random()}\n")
        refused = attempt(lambda: hand.do(call))
        if refused is not None:
            assert refused is Reason.GIT_LOCKED, (refused, home, killed)
            assert home != killed, "the home of a killed git must know its lock"
            self._recover(killed)
            hand.do(call)

    def _recover(self, home: str) -> None:
        problem = self.sandbox.writer(home=home).recover()
        if problem is not None:
            self.kept.append(problem)

    def _intent(self, home: str) -> Path:
        return self.sandbox.base / home / "writes" / "intent.json"

    def _wait_for_a_write(self, home: str) -> None:
        deadline = time.monotonic() + 60
        while not self._intent(home).exists():
            assert time.monotonic() < deadline, "nothing is written"
            time.sleep(0.0005)

    def check(self) -> None:
        lost = self.editor.saved - set(_LINE.findall(everything(self.sandbox)))
        assert not lost, lost

    def end(self) -> None:
        """Start every home once more, and check that nothing is pending and everything is there."""
        for home in self.homes:
            self._recover(home)
        collect_garbage(self.sandbox)
        self.check()
        left = [each for each in litter(self.sandbox) if "hand.tmp" not in each]
        assert not left, left
        self.sandbox.git("fsck", "--strict", "--no-dangling", "--no-progress")
        assert not [each for each in self.homes if self._intent(each).exists()]


@pytest.mark.slow
@pytest.mark.parametrize("homes", [("state",), ("state", "another home")], ids=["one home", "two homes"])
@pytest.mark.parametrize("kills", [10, pytest.param(10_000, marks=pytest.mark.stress)])
def test_no_kill_loses_a_line_that_was_ever_saved(
    base: Path, fork_server: ForkServer, kills: int, homes: tuple[str, ...]
) -> None:
    kills = int(os.environ.get("DONNA_TEST_KILLS", kills))
    seed = os.environ.get("DONNA_TEST_SEED", SEED)
    chance, began = random.Random(f"{seed} {homes}"), time.monotonic()
    lines = kept = under_way = 0
    for number in range(0, kills, KILLS_A_VAULT):
        sandbox = new_sandbox(base / "sandbox")
        loop = Loop(sandbox, homes, chance, Editor(sandbox, chance))
        for _ in range(min(KILLS_A_VAULT, kills - number)):
            loop.round(fork_server)
        loop.end()
        lines, kept, under_way = lines + len(loop.editor.saved), kept + len(loop.kept), under_way + loop.under_way
        shutil.rmtree(sandbox.base)
    assert under_way, "no kill interrupted a write"
    taken = (time.monotonic() - began) / kills
    print(
        f"\n{kills} kills, {under_way} of a write under way, {taken:.3f} s each:"
        f" {lines} lines saved, none lost, {kept} times a displaced text was kept and reported"
    )
