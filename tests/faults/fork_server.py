"""Start child processes that may be killed: a preloaded, single-threaded fork server forks one for each job."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from donna_tui.types.errors import VaultWriteError
from donna_tui.vault.write.protocol import Step
from tests.faults.injector import HARMLESS, Injector, ending
from tests.faults.writes import CallRunner, Sandbox

ENDED = 9
"""The exit status of a child that ended at the requested step."""

REPOSITORY = Path(__file__).parent.parent.parent


class ForkServer:
    """Starts one child at a time and reads its reports, one JSON value a line."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.fork_server"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def start(self, job: str, sandbox: Sandbox, **details: Any) -> int:
        """Start a child and return its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([job, str(sandbox.base), details]).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._read_report()["started"])

    def rest(self) -> Iterator[dict[str, Any]]:
        """Yield the child's reports until it ends; the last one is its exit status."""
        while True:
            reports = self._read_report()
            yield reports
            if "ended" in reports:
                return

    def run(self, job: str, sandbox: Sandbox, **details: Any) -> tuple[list[dict[str, Any]], int]:
        """Run a child to its end. Return its reports and its exit status."""
        self.start(job, sandbox, **details)
        *reports, last = self.rest()
        return reports, int(last["ended"])

    def _read_report(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """Stop the server, and a child that a failed test left running."""
        for each in descendants(self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._process.communicate()


@contextmanager
def open_fork_server() -> Iterator[ForkServer]:
    fork_server = ForkServer()
    try:
        yield fork_server
    finally:
        fork_server.close()


def descendants(pid: int) -> list[int]:
    """Return all descendants of this process."""
    parents: dict[int, list[int]] = {}
    known = os.listdir("/proc") if os.path.isdir("/proc") else []
    for each in filter(str.isdigit, known):
        fields = _stat(each)
        if fields is not None:
            parents.setdefault(int(fields[1]), []).append(int(each))
    found, todo = [], [pid]
    while todo:
        below = parents.get(todo.pop(), [])
        found += below
        todo += below
    return found


def alive(pid: int) -> bool:
    """Return whether a process is running."""
    fields = _stat(str(pid))
    return fields is not None and fields[0] not in "ZX"


def _stat(pid: str) -> list[str] | None:
    """Return the fields of /proc/PID/stat from the state on, or None if the process has exited."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _report(**value: Any) -> None:
    os.write(1, json.dumps(value).encode() + b"\n")


def _work(base: str, seed: int, home: str = "state") -> None:
    """Run random operations one after the other, and report each before its start and after its end."""
    chance, sandbox = random.Random(seed), Sandbox(Path(base))
    hand = CallRunner(sandbox, home=home)
    while True:
        call = _random_call(chance, sandbox)
        _report(call=call)
        try:
            _report(done=hand.do(call))
        except VaultWriteError as error:
            _report(refused=error.reason)


def _random_call(chance: random.Random, sandbox: Sandbox) -> tuple[str, ...]:
    notes = sorted(each for each in sandbox.notes() if each.endswith(".md") and "staged" not in each)
    fresh = f"{chance.choice(['Inbox', 'Projects', 'Inbox/new', 'Projects/a/b'])}/%s{chance.randrange(10**9)}.md"
    links = " ".join(f"[[{Path(each).stem}]]" for each in notes if "/t" in each)
    text = f"{chance.random()}\n" * chance.choice([1, 20, 100])
    kind = chance.choice(["write", "write", "over", "move", "move", "delete", "undo", "undo", "redo"])
    if len(notes) < 4 or (kind == "write" and len(notes) < 14):
        stem = chance.choice("st")
        return ("write", fresh % stem, text if stem == "t" else f"{links}\n{text}")
    note = chance.choice(notes)
    if kind in ("undo", "redo"):
        return (kind, str(chance.choice([1, 1, 1, 2])))
    if kind == "move":
        return ("move", note, fresh % Path(note).name[0])
    if kind == "over" and "/t" not in note:
        return ("write", note, f"{links}\n{text}")
    return ("delete", note)


def _operation(base: str, call: list[str], step: str = "", occurrence: int = 0) -> None:
    """Run one operation, and exit at the n-th time that it reaches a step."""
    left = occurrence

    def reached(now: Step) -> None:
        nonlocal left
        if now == step:
            left -= 1
            if left == 0:
                os._exit(ENDED)

    _report(done=CallRunner(Sandbox(Path(base)), reached).do(call))


def _faulty(base: str, call: list[str], nth: int) -> None:
    """Run one operation, and exit right before its n-th request that can change something."""
    hand = CallRunner(Sandbox(Path(base)))
    with Injector(nth, ending, skipped=HARMLESS).active():
        _report(done=hand.do(call))


def _recovery(base: str, nth: int) -> None:
    """Run a recovery, and exit right before its n-th request that can change something."""
    writer = Sandbox(Path(base)).writer()
    with Injector(nth, ending, skipped=HARMLESS).active():
        writer.recover()


_JOBS = {"work": _work, "operation": _operation, "faulty": _faulty, "recovery": _recovery}


def _main() -> None:
    for line in sys.stdin:
        job, base, details = json.loads(line)
        child = os.fork()
        if not child:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _report(started=os.getpid())
            _JOBS[job](base, **details)
            os._exit(0)
        _report(ended=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    _main()
