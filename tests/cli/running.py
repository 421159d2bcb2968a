"""Run `donna` in a separate process, with separate folders."""

from __future__ import annotations

import io
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.forks import run_module

REPOSITORY = Path(__file__).parents[2]
PATIENCE_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit code and output of a run of `donna`."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Parse stdout as one JSON object."""
        (line,) = self.out.splitlines()
        loaded: dict[str, Any] = json.loads(line)
        return loaded

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Parse the lines of stdout as JSON objects."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class Donna:
    """`donna` with its folders below `home`; `module` is the Python module that is run."""

    home: Path
    cwd: Path
    module: str = "tests.cli.without_model"
    environ: dict[str, str] = field(default_factory=dict)

    def __call__(self, *args: str | os.PathLike[str], stdin: str | None = None, **environ: str) -> Ran:
        """Run a command and return its result. Check that the output has no traceback and no colours."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("DONNA_")}
        ran = run_module(
            self.module,
            [os.fspath(each) for each in args],
            cwd=self.cwd,
            env={
                **inherited, "PYTHONPATH": str(REPOSITORY), "DONNA_HOME": str(self.home),
                "PYTHONWARNINGS": "error::ResourceWarning", **self.environ, **environ,
            },
            timeout=PATIENCE_SECONDS,
            given=stdin,
        )  # fmt: skip
        out, err = (io.TextIOWrapper(io.BytesIO(each)).read() for each in (ran.stdout, ran.stderr))
        for text in (out, err):
            assert "Traceback" not in text, text
            assert "should not" not in text, text
            assert "\x1b" not in text
        return Ran(ran.returncode, out, err)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def commit_all(folder: Path) -> None:
    """Commit everything below a folder as its owner."""
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=Me", "-c", "user.email=me@example.org", "commit", "-qm", "mine")
