"""Run `python -m MODULE …` in a fork of a process that has already imported everything, which takes most of a run.

Each run has its own process, environment, folder and streams. There is one server for each combination of the variables
of Python, the locale and Textual, since these are read when the interpreter starts or imports something.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

REPOSITORY = Path(__file__).parent.parent
OF_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS", "OMP_", "TEXTUAL")
RUN = b"run"
SCREENS = "donna_tui.tui"


def run_module(
    module: str,
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    given: str | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a module and wait for it, like `subprocess.run`; `given` is its standard input, with the bytes of `surrogateescape`."""
    if sys.platform == "darwin":  # its libraries do not survive a fork
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            input=(given or "").encode(errors="surrogateescape"), capture_output=True, cwd=cwd, env=env, timeout=timeout, check=False,
        )  # fmt: skip
    with ExitStack() as opened:
        stdin, out, err = (opened.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        stdin.write((given or "").encode(errors="surrogateescape"))
        stdin.seek(0)
        if given is None:
            stdin = opened.enter_context(open(os.devnull, "rb"))
        streams = [stdin.fileno(), out.fileno(), err.fileno()]
        status = _server(_of_the_start(env)).start([module, *arguments], cwd, env, streams).wait(timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([module, *arguments], status, out.read(), err.read())


def start_on_terminal(
    module: str, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], terminal: int
) -> subprocess.Popen[bytes] | Run:
    """Start a module in a session of its own, with a terminal as its streams."""
    if sys.platform == "darwin":
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, env=env, cwd=cwd, start_new_session=True
        )
    return _server(_of_the_start(env), with_screens=True).start([module, *arguments], cwd, env, [terminal] * 3)


def start_with_pipes(
    module: str, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]
) -> subprocess.Popen[bytes] | Run:
    """Start a module with pipes as its streams."""
    if sys.platform == "darwin":
        command, pipe = [sys.executable, "-m", module, *arguments], subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd)
    (stdin, given), (out, stdout), (err, stderr) = (os.pipe() for _ in range(3))
    run = _server(_of_the_start(env)).start([module, *arguments], cwd, env, [stdin, stdout, stderr])
    for each in (stdin, stdout, stderr):
        os.close(each)
    run.stdin, run.stdout, run.stderr = os.fdopen(given, "wb"), os.fdopen(out, "rb"), os.fdopen(err, "rb")
    return run


def _of_the_start(env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in env.items() if name.startswith(OF_THE_START)))


class Run:
    """A module that runs, with the methods of `subprocess.Popen` that the tests use."""

    def __init__(self, answers: IO[str]) -> None:
        self._answers = answers
        self.pid = int(answers.readline())
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None

    def poll(self) -> int | None:
        return self._ended_within(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status. Raises TimeoutExpired, after the module was killed."""
        status = self._ended_within(timeout)
        if status is None:
            self.kill()
            self._ended_within(None)
            raise subprocess.TimeoutExpired(f"a run in process {self.pid}", timeout or 0)
        return status

    def _ended_within(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._answers], [], [], seconds)[0]:
            with self._answers:
                self.returncode = int(self._answers.readline())
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)


class _Server:
    """The process that forks. Calls from several threads run in parallel."""

    def __init__(self, start: Mapping[str, str], *, with_screens: bool) -> None:
        others = {name: value for name, value in os.environ.items() if not name.startswith((*OF_THE_START, "DONNA_"))}
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forks", str(theirs.fileno()), *(["screens"] if with_screens else [])],
                cwd=REPOSITORY,
                env={**others, **start},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._close)

    def start(self, words: Sequence[str], cwd: Path, env: Mapping[str, str], streams: Sequence[int]) -> Run:
        """Start a module with its arguments, and these descriptors as its streams."""
        reading_end, writing_end = os.pipe()
        answers = os.fdopen(reading_end, encoding="ascii")
        with tempfile.TemporaryFile() as order:
            order.write(json.dumps([*words, str(cwd), dict(env)]).encode())
            order.seek(0)
            socket.send_fds(self._socket, [RUN], [writing_end, order.fileno(), *streams])
            os.close(writing_end)
            return Run(answers)

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _server(start: tuple[tuple[str, str], ...], *, with_screens: bool = False) -> _Server:
    return _Server(dict(start), with_screens=with_screens)


def _serve(ours: socket.socket) -> None:
    """Fork once for each request, until the client closes the socket."""
    while True:
        order, descriptors, *_ = socket.recv_fds(ours, len(RUN), 5)
        if order != RUN:
            return
        if not os.fork():
            ours.close()
            _wait_for_run(*descriptors)
        for each in descriptors:
            os.close(each)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _wait_for_run(writing_end: int, order: int, *streams: int) -> NoReturn:
    """Fork again for the run itself; report its process id, and its exit status when it has ended."""
    child = os.fork()
    if not child:
        os.close(writing_end)
        _run(order, streams)
    with suppress(BrokenPipeError):  # the client no longer waits
        os.write(writing_end, b"%d\n" % child)
        os.write(writing_end, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


def _run(order: int, streams: tuple[int, ...]) -> NoReturn:
    with open(order, "rb") as file:
        module, *arguments, cwd, env = json.load(file)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    if os.isatty(0):
        os.setsid()
        assert isinstance(sys.stdout, io.TextIOWrapper)
        sys.stdout.reconfigure(line_buffering=True)
    sys.path[0] = cwd
    sys.argv = [module, *arguments]
    status = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    for each in (sys.stdout, sys.stderr):
        each.flush()
    os._exit(status)


def _load(*, with_screens: bool) -> None:
    """Import all modules of Donna, but the screens, which no command draws, only for runs on a terminal."""
    import donna_tui

    left_out = ("donna_tui.__main__",) if with_screens else ("donna_tui.__main__", SCREENS)
    for each in pkgutil.walk_packages(donna_tui.__path__, "donna_tui."):
        if not each.name.startswith(left_out):
            with suppress(ImportError):
                importlib.import_module(each.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _load(with_screens="screens" in sys.argv[2:])
    with socket.socket(fileno=int(sys.argv[1])) as served:
        _serve(served)
