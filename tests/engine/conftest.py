"""Vaults for the engine tests. What is slow to embed is embedded once and copied; templates start no process."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from donna_tui.drafts import renderer, sandbox
from tests.engine.helpers import EVAL_VAULT, Sandbox, index_once, new_sandbox

FOLDERS = ("Queries", "Editing", "Scripting")
LONGEST_BYTES = 9_000
"""Size of the largest notes that are copied: the twelve larger ones have three quarters of the text."""


@pytest.fixture(scope="package", autouse=True)
def rendered_here() -> Iterator[None]:
    """Render templates in this process: a process for each template takes a third of the time of the tests of drafts."""

    def render(question: str, name: str) -> Any:
        asked = json.loads(question)
        return json.loads(json.dumps(sandbox.render(asked["name"], asked["source"], asked["context"])))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renderer, "_run_child", render)
        yield


def too_long(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder, name).stat().st_size > LONGEST_BYTES]


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Sandbox:
    """Return a vault of real documentation, indexed once in a run. Do not change it: use `vault`, a copy."""
    if not EVAL_VAULT.is_dir():
        pytest.skip(f"the vault of real notes is not at {EVAL_VAULT}")
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of all processes of this run
    with open(base / "indexed.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = base / "indexed.complete"
        if complete.exists():
            return new_sandbox(base / "indexed")
        sandbox = new_sandbox(base / "indexed", model_cache)
        for folder in FOLDERS:
            shutil.copytree(EVAL_VAULT / folder, sandbox.root / folder, ignore=too_long)
        asyncio.run(index_once(sandbox))
        complete.touch()
        return sandbox


@pytest.fixture
def vault(indexed: Sandbox, tmp_path: Path, model_cache: Path) -> Sandbox:
    """Return a copy of the vault of real documentation, with its index."""
    sandbox = new_sandbox(tmp_path, model_cache)
    shutil.copytree(indexed.root, sandbox.root, dirs_exist_ok=True)
    shutil.copytree(indexed.paths.space_state(indexed.root), sandbox.paths.space_state(sandbox.root))
    return sandbox
