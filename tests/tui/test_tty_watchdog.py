"""An app whose terminal is gone exits; otherwise it would hold the vault forever, out of reach."""

from __future__ import annotations

import errno
import io
import os
import shutil
import threading
from pathlib import Path

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

import donna_tui.tui.textual_faults  # noqa: F401
from donna_tui.platform.paths import resource
from tests.terminal import PATIENCE_SECONDS, python_in_terminal


@pytest.mark.slow
def test_the_app_ends_with_its_terminal(tmp_path: Path) -> None:
    root, home = tmp_path / "vault", {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    shutil.copytree(resource("vault_templates", "demo"), root)
    with python_in_terminal("-m", "tests.cli.without_model", str(root), **home) as terminal:
        terminal.wait_for("all folders")
        instead = os.open(os.devnull, os.O_RDWR)
        os.dup2(instead, terminal.descriptor)  # closes this end of the terminal, as closing a window does
        os.close(instead)
        terminal.process.wait(PATIENCE_SECONDS)


class GoneTerminal(io.StringIO):
    """A closed terminal."""

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_output_for_a_closed_terminal_is_discarded() -> None:
    writer = WriterThread(GoneTerminal())

    def draw() -> None:
        for _ in range(2 * MAX_QUEUED_WRITES):
            writer.write("a frame")
        writer.stop()

    app = threading.Thread(target=draw, daemon=True)
    writer.start()
    app.start()
    app.join(PATIENCE_SECONDS)
    assert not app.is_alive()
