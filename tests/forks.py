"""Run `python -m MODULE …` in a fork of a process that has already imported everything, which takes most of a run.

Each run has its own process, environment, folder and streams. There is one server for each combination of the variables
of Python and the locale, since these are read when the interpreter starts.
"""

from __future__ import annotations

import atexit
import gc
import importlib
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
OF_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS", "OMP_")
RUN = b"run"
NOT_LOADED = ("donna_tui.tui", "donna_tui.__main__")


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
    start = tuple(sorted((name, value) for name, value in env.items() if name.startswith(OF_THE_START)))
    with ExitStack() as opened:
        order, stdin, out, err = (opened.enter_context(tempfile.TemporaryFile()) for _ in range(4))
        order.write(json.dumps([module, *arguments, str(cwd), dict(env)]).encode())
        stdin.write((given or "").encode(errors="surrogateescape"))
        if given is None:
            stdin = opened.enter_context(open(os.devnull, "rb"))
        status = _server(start).run([order, stdin, out, err], timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([module, *arguments], status, out.read(), err.read())


class _Server:
    """The process that forks. Calls from several threads run in parallel."""

    def __init__(self, start: Mapping[str, str]) -> None:
        others = {name: value for name, value in os.environ.items() if not name.startswith((*OF_THE_START, "DONNA_"))}
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forks", str(theirs.fileno())],
                cwd=REPOSITORY,
                env={**others, **start},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._close)

    def run(self, files: list[IO[bytes]], timeout: float) -> int:
        """Run the job described by the first of `files`, with the others as its streams. Return its exit status."""
        for file in files:
            if file.writable():
                file.seek(0)
        reading_end, writing_end = os.pipe()
        with open(reading_end, encoding="ascii") as answers:
            socket.send_fds(self._socket, [RUN], [writing_end, *(file.fileno() for file in files)])
            os.close(writing_end)
            child = int(answers.readline())
            if not select.select([answers], [], [], timeout)[0]:
                os.kill(child, 9)
                raise subprocess.TimeoutExpired(f"a run in process {child}", timeout)
            return int(answers.readline())

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _server(start: tuple[tuple[str, str], ...]) -> _Server:
    return _Server(dict(start))


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


def _load() -> None:
    """Import all modules of Donna except the screens, which no command draws."""
    import donna_tui

    for each in pkgutil.walk_packages(donna_tui.__path__, "donna_tui."):
        if not each.name.startswith(NOT_LOADED):
            with suppress(ImportError):
                importlib.import_module(each.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _load()
    with socket.socket(fileno=int(sys.argv[1])) as served:
        _serve(served)
