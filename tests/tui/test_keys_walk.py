"""Walks in a real terminal by the habits of Obsidian, lazygit and fzf: keys one by one, and the same in a burst."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from donna_tui.resources import resource
from tests.terminal import Terminal, plain, python_in_terminal

ESC, UP, ENTER = b"\x1b", b"\x1b[A", b"\r"

Start = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    shutil.copytree(resource("vault_templates", "demo"), root)
    return root


@pytest.fixture
def start(vault: Path, tmp_path: Path) -> Start:
    """Donna on the vault, with the cursor in the search box."""

    @contextmanager
    def started(**environ: str) -> Iterator[Terminal]:
        home = {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        with python_in_terminal("-m", "tests.cli.without_model", str(vault), **{**home, **environ}) as terminal:
            terminal.wait_for("all folders")
            yield terminal

    return started


def type_keys(terminal: Terminal, keys: list[bytes], *, burst: bool, until: str) -> None:
    """Type keys one by one, letting the screen follow each, or as fast as a terminal multiplexer sends a macro."""
    start = len(terminal.written)
    for key in keys:
        os.write(terminal.descriptor, key)
        terminal.rest(0.02 if burst else 0.15)
    if until not in plain(bytes(terminal.written[start:])):
        terminal.wait_for(until)


@pytest.mark.parametrize("burst", [False, True], ids=["one by one", "burst"])
def test_switching(start: Start, burst: bool) -> None:
    with start() as terminal:
        terminal.press(b"cache", until="passages")
        terminal.press(b"\x1b2", until="45 notes")
        type_keys(
            terminal,
            [b"/", *(bytes([each]) for each in b"roadplan"), ENTER],
            burst=burst,
            until="Meetings/2026-02-10-roadmap",
        )
        terminal.press(b"\x1b6", until="Speed and parts")
        terminal.press(b"\x1b2", until="Meetings/2026-02-10-roadmap")
        terminal.press(b"\x10blamev", until="vault: blame")
        terminal.leave()
