"""A vault with a history and with private notes, served to agents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.running import commit_all, git
from tests.engine.helpers import Sandbox, hide_model, new_sandbox
from tests.git_vaults import write
from tests.mcp.serving import PRIVATE, PUBLIC, ToolHarness, open_harness


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Create a repository with public notes, and one private note for each way to mark one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "home"))
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    for path, text in {**PUBLIC, **PRIVATE}.items():
        write(sandbox.root, path, text)
    git(sandbox.root, "init", "-q")
    commit_all(sandbox.root)
    return sandbox


@pytest.fixture
async def harness(sandbox: Sandbox) -> AsyncIterator[ToolHarness]:
    """Return the tools for a client that may write and sees nothing private."""
    async with open_harness(sandbox) as harness:
        yield harness
