"""The doctor checks the sync method of the vault, and warns of a git repository that Syncthing would sync."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from donna_tui.config.models import MemoryConfig, VaultConfig
from donna_tui.ops.doctor import Finding, examine
from donna_tui.platform.paths import app_paths
from donna_tui.platform.spaces import space_at

Method = Literal["webdav", "syncthing", "manual"]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "shared" / "vault"
    folder.mkdir(parents=True)
    return folder


def sync(vault: Path, method: Method) -> list[Finding]:
    paths = app_paths({"DONNA_HOME": str(vault.parent.parent / "home")}).make()
    config = MemoryConfig(vault=VaultConfig(root=vault, sync_method=method))
    return [each for each in examine(space_at(vault, paths), config, paths) if each.id == "sync"]


def test_each_method_is_checked(vault: Path) -> None:
    assert [each.state for each in sync(vault, "webdav")] == ["ok"]
    assert not sync(vault, "manual")
    (warned,) = sync(vault, "syncthing")
    assert (warned.state, "does not share this folder" in warned.message) == ("warn", True)
    (vault.parent / ".stfolder").mkdir()
    (shared,) = sync(vault, "syncthing")
    assert (shared.state, shared.message) == ("ok", f"Syncthing syncs {vault.parent}")


def test_a_vault_that_cannot_be_read_is_not_examined_further(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("donna_tui.ops.doctor.os.access", lambda *_: False)
    assert not sync(vault, "webdav")


@pytest.mark.parametrize(
    ("ignored", "state"),
    [("", "warn"), ("*.tmp\n.github\n", "warn"), ("*.tmp\n.git\n", "ok"), ("(?d)**/.git/**\n", "ok"), (None, "warn")],
)
def test_a_repository_must_be_left_out_of_syncthing(vault: Path, ignored: str | None, state: str) -> None:
    (vault / ".git").mkdir()
    (vault.parent / ".stfolder").mkdir()
    if ignored is not None:
        (vault.parent / ".stignore").write_text(ignored)
    (found,) = sync(vault, "manual")
    assert found.state == state
    assert (str(vault.parent / ".stignore") in found.hint) == (state == "warn")
