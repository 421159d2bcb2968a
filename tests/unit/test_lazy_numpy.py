"""NumPy is imported when it is first used, with one thread, and leaves the environment unchanged."""

from __future__ import annotations

import os
import subprocess
import sys

from donna_tui.platform.lazy import BLAS_THREADS

PROGRAM = f"""
import os, sys
from donna_tui.platform.lazy import np
assert "numpy" not in sys.modules
np.zeros(1)
assert "numpy" in sys.modules
tasks = "/proc/self/task"
print(len(os.listdir(tasks)) if os.path.exists(tasks) else 1, os.environ.get({BLAS_THREADS!r}))
"""


def run_program(**environ: str) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if name != BLAS_THREADS}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=clean | environ, check=True, capture_output=True, text=True).stdout.split()


def test_lazy_numpy_uses_one_blas_thread() -> None:
    assert run_program() == ["1", "None"]


def test_lazy_numpy_keeps_a_configured_thread_count() -> None:
    assert run_program(**{BLAS_THREADS: "2"})[1] == "2"
