"""What undo leaves behind in folders and in git, and whom the history names as the author of a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.vault.write.writer import VaultWriter
from tests.git_vaults import User, new_writer

ONE = "Projects/one.md"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path / "home")


@pytest.fixture
def vault(tmp_path: Path, user: User) -> Path:
    return user.repository(tmp_path / "vault")


@pytest.fixture
def writer(tmp_path: Path, vault: Path) -> VaultWriter:
    return new_writer(vault, tmp_path / "state")


def test_undo_and_redo_remove_only_the_folders_that_donna_created(writer: VaultWriter, vault: Path) -> None:
    (vault / "Mine").mkdir()
    writer.move(ONE, "Mine/Inner/one.md")
    writer.undo_last()
    assert (vault / "Mine").is_dir()
    assert not (vault / "Mine/Inner").exists()
    (vault / "Mine/Inner").mkdir()
    writer.redo()
    writer.undo_last()
    assert (vault / "Mine/Inner").is_dir()

    writer.apply(writer.selection.delete(["Projects"]))
    assert not (vault / "Projects").exists()
    writer.undo_last()
    writer.redo()
    assert not (vault / "Projects").exists()

    writer.delete("Inbox/old.md")
    writer.undo_last()
    writer.redo()
    assert (vault / "Inbox").is_dir()


def test_blame_names_the_actor_of_an_operation_and_the_author_of_a_commit(writer: VaultWriter) -> None:
    author = writer.history.revisions(ONE)[0].author
    writer.write(ONE, "# One\n\nfirst line\nmine\n", replace=True)
    writer.write(ONE, "# One\n\nfirst line\nmine\nby an agent\n", replace=True, actor="mcp:Claude Code")
    blamed = [line.author for line in writer.history.blame(ONE, 3, 5)]
    assert blamed == [author, "you", "mcp:Claude Code"]
