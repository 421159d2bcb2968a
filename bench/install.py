"""Measure an installation from scratch: seconds, megabytes, and the time until the app can be used.

Each installation is made in a separate folder from this checkout, by pip from the configured package index, so that the
seconds include downloads. The time to semantic search starts with the app on the demo vault and an empty cache: it
includes building the model's graph and embedding every passage.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.program import Home
from bench.report import REPOSITORY, Report, arguments, finish, stopwatch
from bench.screen import on_screen

EXTRAS = ("calendars", "mcp", "webdav", "models", "sentence-transformers")
TORCH = "torch==2.13.0"
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with Donna in it, and the seconds that it took to install."""

    venv: Path
    seconds: float

    @property
    def megabytes(self) -> float:
        """Return the size of the environment's files, without links."""
        files = (path for path in self.venv.rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files) / MEGABYTE


def measure(*, extras: bool) -> Report:
    """Install in each way, and start the demo in the environment that `make install` made."""
    report = Report("Installation, from scratch")
    with TemporaryDirectory(prefix="donna-install-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        installation = _make_install(folder / "checkout")
        report.add("make install", installation.seconds, "s")
        report.add("its .venv", installation.megabytes, "MB", 450)
        frame, words, meaning = _first_start(installation.venv / "bin" / "donna", Home(folder / "home"))
        report.add("make install to first frame", installation.seconds + frame, "s", 40)
        report.add("start to first frame", frame, "s")
        report.add("start to first keyword hits", words, "s")
        report.add("first frame to semantic search", meaning - frame, "s", 15)
        lean = _pip_install(folder / "lean", str(REPOSITORY))
        report.add("pip install donna-tui", lean.seconds, "s")
        report.add("its environment", lean.megabytes, "MB", 300)
        for extra in EXTRAS if extras else ():
            needs = (TORCH,) if extra == "sentence-transformers" else ()
            extra_installation = _pip_install(folder / extra, *needs, f"{REPOSITORY}[{extra}]")
            report.add(f"with [{extra}]", extra_installation.seconds, "s")
            report.add(f"its environment with [{extra}]", extra_installation.megabytes, "MB")
    return report


def _run(command: Sequence[str | Path], cwd: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("DONNA_", "PYTHON"))}
    ran = subprocess.run([*map(str, command)], cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} exited with {ran.returncode}: {ran.stderr[-2000:]}")


def _make_install(checkout: Path) -> Installed:
    _run(["git", "clone", "--quiet", REPOSITORY, checkout], Path("/"))
    with stopwatch() as seconds:
        _run(["make", f"PYTHON={sys.executable}", "install"], checkout)
    return Installed(checkout / ".venv", seconds())


def _pip_install(venv: Path, *packages: str) -> Installed:
    with stopwatch() as seconds:
        _run([sys.executable, "-m", "venv", venv], Path("/"))
        _run([venv / "bin" / "pip", "install", "--quiet", "--no-compile", *packages], Path("/"))
    return Installed(venv, seconds())


def _first_start(donna: Path, home: Home) -> tuple[float, float, float]:
    """Return the seconds from the start of `donna demo` to its first frame, to keyword hits and to semantic search."""
    with on_screen(["env", "-u", "PYTHONPATH", str(donna), "demo"], home) as screen:
        frame = screen.wait_for("Search")
        screen.type("redis")
        words = screen.wait_for("passages? in")
        return frame, words, screen.wait_for("keyword and semantic ready")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--extras", action="store_true", help="also install each extra: takes minutes, and gigabytes")
    finish(lambda *, extras, **_: measure(extras=extras), parser)
