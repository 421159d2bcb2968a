"""A small vault and a `donna` without a model, for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Donna, commit_all, git
from tests.git_vaults import write


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "Notes"
    write(root, "Projects/gateway.md", "# Gateway\n\n## Cache\nWe keep the kestrel sessions in Redis.\n")
    write(root, "Projects-old/gateway.md", "# Gateway\nThe kestrel of old.\n")
    write(root, "Meetings/standup.md", "---\ntags: [work]\ntype: meeting\n---\nTalked about the kestrel rollback.\n")
    write(root, "private.md", "---\ndonna_sensitive: true\n---\nThe osprey is secret.\n")
    write(root, "photo.png", b"\x89PNG")
    return root


@pytest.fixture
def history(vault: Path) -> Path:
    """Create a repository with the notes of the vault."""
    git(vault, "init", "-q")
    commit_all(vault)
    return vault


@pytest.fixture
def donna(tmp_path: Path) -> Donna:
    return Donna(tmp_path / "home", tmp_path)
