"""Repositories of every layout with a vault in them, and four operations that must work in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from donna_tui.vault.write.writer import VaultWriter
from tests.git_vaults import User, fill, new_writer, tree_of


@dataclass(frozen=True)
class Sandbox:
    """A user with a vault in a repository, and a writer for it."""

    user: User
    vault: Path
    writer: VaultWriter

    def git(self, *arguments: str, given: str | None = None, may_fail: bool = False) -> str:
        return self.user.git(self.vault, *arguments, given=given, may_fail=may_fail)

    def git_path(self, name: str) -> Path:
        return (self.vault / self.git("rev-parse", "--git-path", name).strip()).resolve()

    def top(self) -> Path:
        return Path(self.git("rev-parse", "--show-toplevel").strip())


def own(user: User, base: Path) -> Path:
    return user.repository(base / "v")


def sub_folder(user: User, base: Path) -> Path:
    fill(base / "repo", {"readme.txt": "of the whole repository\n", "Inbox/old.md": "of the repository's own Inbox\n"})
    return user.repository(base / "repo", vault="deep/my vault ü")


def worktree(user: User, base: Path) -> Path:
    first = user.repository(base / "first")
    user.git(first, "worktree", "add", "--quiet", "-b", "side", str(base / "second"))
    return base / "second"


def submodule(user: User, base: Path) -> Path:
    origin = user.repository(base / "origin")
    outer = base / "outer"
    user.repository(outer, vault="docs")
    user.git(outer, "submodule", "--quiet", "add", str(origin), "notes")
    user.commit_all(outer, "with notes")
    return outer / "notes"


def separate_git_dir(user: User, base: Path) -> Path:
    vault = user.repository(base / "v", f"--separate-git-dir={base / 'elsewhere.git'}")
    user.git(vault, "config", "core.worktree", str(vault))
    return vault


def core_worktree(user: User, base: Path) -> Path:
    user.git(base, "init", "--quiet", "--bare", "store.git")
    tree = base / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../store.git\n")
    for key, value in (("core.bare", "false"), ("core.worktree", str(tree))):
        user.git(base / "store.git", "config", key, value)
    fill(tree)
    user.commit_all(tree, "base")
    return tree


def shallow(user: User, base: Path) -> Path:
    origin = user.repository(base / "origin")
    user.commit_all(origin, "second")
    user.commit_all(origin, "third")
    user.git(base, "clone", "--quiet", "--depth=1", origin.as_uri(), "v")
    return base / "v"


def sparse(user: User, base: Path) -> Path:
    origin = user.repository(base / "origin")
    fill(origin, {"Outside/far.md": "not checked out\n"})
    user.commit_all(origin, "more")
    user.git(base, "clone", "--quiet", "--sparse", str(origin), "v")
    user.git(base / "v", "sparse-checkout", "set", "--cone", "--sparse-index", "Inbox", "Projects")
    return base / "v"


def alternates(user: User, base: Path) -> Path:
    user.repository(base / "origin")
    user.git(base, "clone", "--quiet", "--shared", str(base / "origin"), "v")
    return base / "v"


def sha256(user: User, base: Path) -> Path:
    return user.repository(base / "v", "--object-format=sha256")


LAYOUTS = (
    own, sub_folder, worktree, submodule, separate_git_dir, core_worktree, shallow, sparse, alternates, sha256,
)  # fmt: skip


Layout = Callable[[User, Path], Path]


def new_sandbox(base: Path, layout: Layout) -> Sandbox:
    user = User(base / "home")
    vault = layout(user, base)
    return Sandbox(user, vault, new_writer(vault, base / "state"))


def work(sandbox: Sandbox) -> None:
    """Run four operations, undo and redo them in steps of several sizes, and check the files after every step."""
    writer, at_first = sandbox.writer, tree_of(sandbox.vault)
    writer.write("Inbox/new note.md", "new\n")
    writer.write("Projects/one.md", "# One\n\nrewritten\n")
    writer.move("Projects/one.md", "Projects/sub/uno.md")
    writer.delete("Inbox/old.md")
    at_last = tree_of(sandbox.vault)
    assert {"Inbox/new note.md", "Projects/sub/uno.md"} <= set(at_last)
    assert not {"Inbox/old.md", "Projects/one.md"} & set(at_last)
    writer.undo_last()
    writer.undo_last(2)
    writer.undo_last()
    assert tree_of(sandbox.vault) == at_first
    writer.redo(3)
    writer.redo()
    assert tree_of(sandbox.vault) == at_last
    writer.undo_last(4)
    assert tree_of(sandbox.vault) == at_first
    writer.redo(4)
    assert tree_of(sandbox.vault) == at_last
    assert [each.kind for each in writer.undoable()] == ["delete", "move", "write", "write"]
