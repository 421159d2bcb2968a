"""Run `donna` and other programs in separate processes, as a user does, and measure what they cost."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import REPOSITORY, UnavailableError, stopwatch
from donna_tui.embedding.files import find_weights
from donna_tui.embedding.prepare import prepare_model
from donna_tui.platform.paths import AppPaths, app_paths
from donna_tui.types.errors import ModelError

PATIENCE_SECONDS = 3_600
SAMPLE_SECONDS = 0.05
NOTHING_RELEVANT, DEGRADED = 1, 4
"""Exit codes of `donna` that are not failures: no hit, and an index that is incomplete, as without a model."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The cost and output of a run. CPU seconds vary less than elapsed ones on a busy machine. The peak is of the
    process and its children together, in MB.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float
    out: str

    @property
    def json(self) -> dict[str, Any]:
        """Parse its stdout as one JSON object."""
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


def run(command: Sequence[str], environ: Mapping[str, str], *, fine: Sequence[int] = (0,)) -> Ran:
    """Run a command to its end. Raises RuntimeError with its stderr unless its exit code is in `fine`."""
    before = _children_cpu()
    with stopwatch() as seconds, subprocess.Popen(
        command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child, _peak_of(child.pid) as peak:  # fmt: skip
        out, err = child.communicate(timeout=PATIENCE_SECONDS)
    if child.returncode not in fine:
        raise RuntimeError(f"{' '.join(command)} exited with {child.returncode}: {err.strip()[-2000:]}")
    return Ran(seconds(), _children_cpu() - before, peak(), out)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def _peak_of(pid: int) -> Iterator[Callable[[], float]]:
    """Sample the memory of a process and its children within the block. Yield a function that returns the peak in MB.

    Without /proc it returns the peak of the largest child so far, from `getrusage`.
    """
    peak, over = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(SAMPLE_SECONDS):
            peak = max(peak, sum(map(peak_mb, [pid, *descendants(pid)])))

    watcher = threading.Thread(target=watch, name="bench-memory")
    watcher.start()
    try:
        yield lambda: peak or _largest_child_mb()
    finally:
        over.set()
        watcher.join()


def _largest_child_mb() -> float:
    kilo = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / kilo


def descendants(pid: int) -> list[int]:
    """Return the children of a process and theirs; empty without Linux's /proc."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text(encoding="ascii").split())
    return [process for child in children for process in (child, *descendants(child))]


def peak_mb(pid: int, key: str = "VmHWM") -> float:
    """Return the peak memory of a process in MB, or its present memory with `VmRSS`; 0 once it has exited."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far, in seconds. Raises OSError except on Linux."""
    after_name = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    user, system = int(after_name[11]), int(after_name[12])  # fields 14 and 15 of proc(5)
    return (user + system) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Home:
    """Donna's folders for one benchmark, all below `folder`."""

    folder: Path

    @property
    def paths(self) -> AppPaths:
        return app_paths({"DONNA_HOME": str(self.folder)}).make()

    @property
    def environ(self) -> dict[str, str]:
        """Return the environment in which `donna` uses this home and no files of the user.

        Python caches bytecode in it, as by default: compiling takes as long as everything else.
        """
        unlike_a_user = ("DONNA_", "PYTHONDONTWRITEBYTECODE")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(unlike_a_user)}
        return {**inherited, "DONNA_HOME": str(self.folder), "PYTHONPATH": str(REPOSITORY)}

    def donna(self, *args: str | Path) -> Ran:
        """Run the installed program. Raises RuntimeError if it fails."""
        return run([*program(), *map(str, args)], self.environ, fine=(0, NOTHING_RELEVANT, DEGRADED))

    def search_batch(self, vault: Path, questions: Sequence[Mapping[str, object]], k: int) -> list[list[Any]]:
        """Return the `k` best hits of each question, from `donna search --batch`."""
        file = self.folder / "questions.jsonl"
        lines = (json.dumps({"id": number, **question}) for number, question in enumerate(questions))
        file.write_text("\n".join(lines), encoding="utf-8")
        answered = self.donna("search", "--batch", file, "-k", str(k), "--space", vault).out.splitlines()
        hits = {row["id"]: row["results"] for row in map(json.loads, answered)}
        return [hits[number] for number in range(len(questions))]

    def wordless(self, *args: str | Path) -> Ran:
        """Run the program without a model, so that the index has words only."""
        command = [sys.executable, "-m", "bench.models", *map(str, args)]
        return run(command, self.environ, fine=(0, NOTHING_RELEVANT, DEGRADED))


def program() -> list[str]:
    """Return the command that runs `donna` from the environment of this Python."""
    script = Path(sys.executable).with_name("donna")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "donna_tui"]


@contextlib.contextmanager
def new_home() -> Iterator[Home]:
    """Create a home with a link to the prepared model, if there is one, and delete it at the end."""
    with tempfile.TemporaryDirectory(prefix="donna-bench-") as folder:
        home = Home(Path(folder) / "home")
        models = model_cache()
        if models:
            (home.paths.cache / "models").symlink_to(models / "models", target_is_directory=True)
        yield home


def needed_model() -> Path:
    """Return the cache folder with the prepared model. Raises UnavailableError without a model."""
    cache = model_cache()
    if cache is None:
        raise UnavailableError("there is no model: make install")
    return cache


def model_cache() -> Path | None:
    """Return the cache folder with the prepared model that tests and benchmarks share, or None without a model."""
    if find_weights() is None:
        return None
    cache = Path(os.environ.get("DONNA_TEST_CACHE") or REPOSITORY / ".venv" / "donna-test-models")
    try:
        prepare_model(cache, lambda phase, detail: None)
    except ModelError as error:
        sys.stderr.write(f"  no model: {error.message}\n")
        return None
    return cache
