"""What undo leaves behind in folders and in git, and whom the history names as the author of a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.vault.conflicts import Keep
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

    writer.apply(writer.planner.delete_all(["Projects"]))
    assert not (vault / "Projects").exists()
    writer.undo_last()
    writer.redo()
    assert not (vault / "Projects").exists()

    writer.undo_last()
    writer.apply(writer.planner.move_folder("Projects", "Moved/Here"))
    writer.apply(writer.planner.delete_all(["Moved/Here"]))
    writer.undo_last(2)
    writer.redo(2)
    writer.undo_last()
    writer.undo_last()
    assert not (vault / "Moved").exists()

    writer.delete("Inbox/old.md")
    writer.undo_last()
    writer.redo()
    assert (vault / "Inbox").is_dir()


def test_what_was_not_in_git_is_not_in_git_after_undo(writer: VaultWriter, vault: Path, user: User) -> None:
    copy = "Inbox/old.sync-conflict-20260101-101010-ABCDEFG.md"
    (vault / copy).write_text("old\nfrom the laptop\n")
    (vault / "Inbox/new.md").write_text("never committed\n")
    before = user.git(vault, "status", "--porcelain", "-uall")
    writer.apply(writer.resolver.plan(writer.resolver.conflict(copy), Keep.BOTH))
    writer.write("Inbox/new.md", "by Donna\n", replace=True)
    for undo in (lambda: writer.undo_last(2), lambda: (writer.undo_last(), writer.undo_last())):
        undo()
        assert user.git(vault, "status", "--porcelain", "-uall") == before
        assert (vault / copy).read_text() == "old\nfrom the laptop\n"
        assert (vault / "Inbox/new.md").read_text() == "never committed\n"
        writer.redo(2)
        assert user.git(vault, "status", "--porcelain", "-uall") == ""
    user.git(vault, "rm", "-q", "--cached", "Projects/two.md")
    user.git(vault, "commit", "-qm", "leave two.md out of git")
    writer.delete("Projects/two.md")
    writer.undo_last()
    assert user.git(vault, "ls-files", "Projects") == "Projects/one.md\nProjects/part.md\n"


def test_blame_names_the_actor_of_an_operation_and_the_author_of_a_commit(writer: VaultWriter) -> None:
    author = writer.history.revisions(ONE)[0].author
    writer.write(ONE, "# One\n\nfirst line\nmine\n", replace=True)
    writer.write(ONE, "# One\n\nfirst line\nmine\nby an agent\n", replace=True, actor="mcp:Claude Code")
    blamed = [line.author for line in writer.history.blame(ONE, 3, 5)]
    assert blamed == [author, "you", "mcp:Claude Code"]
