"""A small vault that is served over WebDAV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Donna
from tests.webdav.parts import Served, serving


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "Notes"
    for path, text in {
        "a.md": "# A\n",
        "Projects/gateway.md": "# Gateway\n",
        ".git/config": "[core]\n",
        ".obsidian/app.json": "{}",
        "node_modules/x/readme.md": "no",
        "Projects/.hidden/x.md": "no",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def served(vault: Path) -> Iterator[Served]:
    with serving(vault) as served:
        yield served


@pytest.fixture
def donna(tmp_path: Path) -> Donna:
    return Donna(tmp_path / "home", tmp_path)
