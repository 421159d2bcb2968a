"""Typing a question in a real terminal: the keys in the footer work while typing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from donna_tui.platform.paths import resource
from tests.terminal import plain, python_in_terminal


@pytest.mark.slow
def test_alt_letter_key_does_not_insert_the_letter(tmp_path: Path) -> None:
    root, home = tmp_path / "vault", {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    shutil.copytree(resource("vault_templates", "demo"), root)
    with python_in_terminal("-m", "tests.cli.without_model", str(root), **home) as terminal:
        terminal.wait_for("all folders")
        terminal.press(b"qqzz", until="Nothing relevant")
        terminal.press(b"\x1bo", until="Spaces")
        terminal.press(b"\x1b", until="Nothing relevant")
        terminal.quit()
        assert "qqzzo" not in plain(bytes(terminal.written))
