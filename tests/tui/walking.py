"""Donna in a real terminal on a copy of the demo vault, for walks whose keys are sent one by one or in a burst."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from donna_tui.platform.paths import resource
from tests.terminal import Terminal, python_in_terminal

ESC, ENTER, UP, DOWN = b"\x1b", b"\r", b"\x1b[A", b"\x1b[B"
BACK, FORWARD = b"\x1b[1;5D", b"\x1b[1;5C"

Start = Callable[..., AbstractContextManager[Terminal]]

both_ways = pytest.mark.parametrize(
    "burst", [pytest.param(False, id="one by one", marks=pytest.mark.stress), pytest.param(True, id="burst")]
)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Return the demo vault, which has no history yet."""
    root = tmp_path / "vault"
    shutil.copytree(resource("vault_templates", "demo"), root)
    return root


@pytest.fixture
def start(vault: Path, tmp_path: Path) -> Start:
    """Run Donna on the vault, with every note indexed and the cursor in the search box."""

    @contextmanager
    def started(*, rows: int = 40, columns: int = 140, **environ: str) -> Iterator[Terminal]:
        notes = sum(1 for _ in vault.rglob("*.md")) - 1  # the demo vault leaves one out of its index
        home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), **environ}
        arguments = ("-m", "tests.cli.without_model", str(vault))
        with python_in_terminal(*arguments, rows=rows, columns=columns, **home) as terminal:
            terminal.until(lambda lines: any(f" {notes} notes · keyword only" in line for line in lines))
            yield terminal

    return started


def letters(text: str) -> list[bytes]:
    """Return the keys of a text."""
    return [each.encode() for each in text]


def play(terminal: Terminal, *keys: bytes, burst: bool, shows: str | Callable[[list[str]], object]) -> list[str]:
    """Type keys one by one, letting the screen follow each, or as fast as a terminal multiplexer plays a macro. Wait
    until the screen shows a text or satisfies a condition, and return its lines.
    """
    for key in keys:
        os.write(terminal.descriptor, key)
        terminal.rest(0.02 if burst else 0.15)
    return terminal.until(shows if callable(shows) else lambda lines: any(shows in line for line in lines))
