"""The user's next commit contains all of their staged work, and nothing that reverts Donna's change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git import index as git_index
from donna_tui.vault.write.protocol import Step
from tests.git_layouts import LAYOUTS, Layout, Sandbox, new_sandbox, own, sparse
from tests.git_vaults import fill, new_writer, tree_of

ALPHA, BETA = "Projects/one.md", "Inbox/old.md"


def staged(sandbox: Sandbox) -> set[str]:
    """Return the vault paths that the user's next commit would change."""
    return set(sandbox.git("diff", "--cached", "--name-only", "--no-renames", "--relative", "-z").split("\0")) - {""}


def stage(sandbox: Sandbox, path: str, text: str) -> None:
    fill(sandbox.vault, {path: text})
    sandbox.git("add", path)


def commit(sandbox: Sandbox) -> set[str]:
    """Commit what is staged, as a user does. Return the vault paths that the commit changes."""
    sandbox.git("commit", "--quiet", "--message", "mine")
    changed = sandbox.git("diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD~1", "HEAD")
    return set(changed.split("\0")) - {""}


OPERATIONS: dict[str, Callable[[Sandbox], object]] = {
    "write": lambda sandbox: sandbox.writer.write(ALPHA, "Donna's\n", replace=True),
    "new": lambda sandbox: sandbox.writer.write("Inbox/new.md", "new\n"),
    "delete": lambda sandbox: sandbox.writer.delete(ALPHA),
    "move": lambda sandbox: sandbox.writer.move(ALPHA, "Projects/uno.md"),
    "undo": lambda sandbox: sandbox.writer.undo_last(),
    "redo": lambda sandbox: (sandbox.writer.undo_last(), sandbox.writer.redo()),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_users_next_commit_holds_what_was_staged_and_nothing_else(base: Path, operation: str) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.writer.write("Projects/two.md", "first [[one]]\n", replace=True)
    stage(sandbox, BETA, "mine\n")
    OPERATIONS[operation](sandbox)
    assert staged(sandbox) == {BETA}
    assert commit(sandbox) == {BETA}
    assert not sandbox.git("status", "--porcelain")
    assert {path for path in tree_of(sandbox.vault) if path.endswith(".md")} == set(
        sandbox.git("ls-tree", "-r", "-z", "--name-only", "HEAD").strip("\0").split("\0")
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_staged_work_is_preserved_in_every_repository_layout(base: Path, layout: Layout) -> None:
    sandbox = new_sandbox(base, layout)
    stage(sandbox, BETA, "mine\n")
    OPERATIONS["write"](sandbox)
    assert commit(sandbox) == {BETA}
    assert not sandbox.git("status", "--porcelain")


@pytest.mark.parametrize("form", ["--split-index", "--untracked-cache", "--index-version=4", "--fsmonitor"])
def test_staged_work_is_preserved_in_every_git_index_format(base: Path, form: str) -> None:
    sandbox = new_sandbox(base, own)
    stage(sandbox, BETA, "mine\n")
    sandbox.git("update-index", form)
    OPERATIONS["move"](sandbox)
    sandbox.git("update-index", "--no-fsmonitor")
    assert commit(sandbox) == {BETA}
    assert not sandbox.git("status", "--porcelain")


def test_staged_work_is_preserved_in_a_sparse_checkout(base: Path) -> None:
    sandbox = new_sandbox(base, sparse)
    stage(sandbox, BETA, "mine\n")
    OPERATIONS["write"](sandbox)
    assert commit(sandbox) == {BETA}
    assert sandbox.git("show", "HEAD:Outside/far.md") == "not checked out\n"


def test_a_part_of_a_note_that_is_staged_is_left_to_the_user(base: Path) -> None:
    """The index, the disk and the branch each have another version, so any change of the index would lose one."""
    sandbox = new_sandbox(base, own)
    stage(sandbox, ALPHA, "half\n")
    fill(sandbox.vault, {ALPHA: "half\nand more\n"})
    index, before = sandbox.git("ls-files", "--stage"), tree_of(sandbox.vault)
    for operation in ("write", "delete", "move"):
        with pytest.raises(VaultWriteError) as refused:
            OPERATIONS[operation](sandbox)
        assert (refused.value.reason, refused.value.path) == (Reason.GIT_BUSY, ALPHA)
        assert "staged" in refused.value.message
    assert (sandbox.git("ls-files", "--stage"), tree_of(sandbox.vault)) == (index, before)
    sandbox.writer.write(BETA, "another note is free\n", replace=True)
    assert staged(sandbox) == {ALPHA}
    sandbox.git("restore", "--staged", ALPHA)
    OPERATIONS["write"](sandbox)


def test_a_note_that_is_no_longer_to_be_tracked_is_left_to_the_user(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.git("rm", "--quiet", "--cached", ALPHA)
    with pytest.raises(VaultWriteError) as refused:
        OPERATIONS["write"](sandbox)
    assert refused.value.reason is Reason.GIT_BUSY


def test_write_updates_a_fully_staged_note_in_the_index(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    stage(sandbox, ALPHA, "all of it\n")
    fill(sandbox.vault, {"Inbox/meant.md": "meant\n"})
    sandbox.git("add", "--intent-to-add", "Inbox/meant.md")
    sandbox.writer.write(ALPHA, "all of it and more\n", replace=True)
    sandbox.writer.write("Inbox/meant.md", "meant and written\n", replace=True)
    assert not staged(sandbox)
    assert not sandbox.git("status", "--porcelain")
    sandbox.writer.undo_last(2)
    assert (sandbox.vault / ALPHA).read_text() == "all of it\n"


def test_what_is_staged_while_donna_writes_stays_staged(base: Path) -> None:
    sandbox = new_sandbox(base, own)

    def reached(step: Step) -> None:
        if step is Step.ADVANCED:
            stage(sandbox, BETA, "mine\n")
            blob = sandbox.git("hash-object", "-w", "--stdin", given="partly\n").strip()
            sandbox.git("update-index", "--cacheinfo", f"100644,{blob},Projects/two.md")

    object.__setattr__(sandbox.writer._context, "reached", reached)
    sandbox.writer.move(ALPHA, "Projects/uno.md")
    assert staged(sandbox) == {BETA, "Projects/two.md"}
    assert sandbox.git("show", ":Projects/two.md") == "partly\n"


def test_recovery_updates_the_git_index_after_an_interrupted_write(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    stage(sandbox, BETA, "mine\n")

    def stop(step: Step) -> None:
        if step is Step.ADVANCED:
            raise KeyboardInterrupt

    object.__setattr__(sandbox.writer._context, "reached", stop)
    with pytest.raises(KeyboardInterrupt):
        OPERATIONS["write"](sandbox)
    object.__setattr__(sandbox.writer._context, "reached", lambda _: None)
    sandbox.writer.recover()
    assert commit(sandbox) == {BETA}


def test_write_updates_an_index_left_outdated_by_another_installation(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    stage(sandbox, BETA, "mine\n")

    def stop(step: Step) -> None:
        if step is Step.ADVANCED:
            raise SystemExit

    other = Sandbox(sandbox.user, sandbox.vault, new_writer(sandbox.vault, base / "another home"))
    object.__setattr__(other.writer._context, "reached", stop)
    for operation in ("write", "new"):
        with pytest.raises(SystemExit):
            OPERATIONS[operation](other)
    sandbox.writer.write(ALPHA, "over it\n", replace=True)
    sandbox.writer.write("Inbox/new.md", "over this too\n", replace=True)
    assert commit(sandbox) == {BETA}


def test_move_handles_more_paths_than_one_git_command_line_allows(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_index, "_MAX_PATHS", 3)
    sandbox = new_sandbox(base, own)
    fill(sandbox.vault, {f"Inbox/{number}.md": "see [[one]]\n" for number in range(10)})
    sandbox.user.commit_all(sandbox.vault, "many")
    stage(sandbox, "Inbox/7.md", "partly, of [[one]]\n")
    fill(sandbox.vault, {"Inbox/7.md": "see [[one]] again\n"})
    with pytest.raises(VaultWriteError) as refused:
        sandbox.writer.move(ALPHA, "Projects/uno.md")
    assert refused.value.path == "Inbox/7.md"
    sandbox.git("restore", "--staged", "Inbox/7.md")
    sandbox.writer.move(ALPHA, "Projects/uno.md")
    assert not sandbox.git("status", "--porcelain")
