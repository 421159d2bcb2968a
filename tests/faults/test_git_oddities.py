"""Unusual indexes, disks, nested repositories and folders, in which a simple writer would lose or hide something."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from tests.git_layouts import Sandbox, new_sandbox, own, sparse, submodule, work, worktree
from tests.git_vaults import NOTES, User, fill, new_writer, tree_of


@pytest.mark.cases(2)
@pytest.mark.parametrize("form", ["--split-index", "--untracked-cache", "--index-version=4", "--force-write-index"])
def test_every_git_index_format_is_supported(base: Path, form: str) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.git("update-index", form)
    work(sandbox)
    assert not sandbox.git("status", "--porcelain", "--untracked-files=all")
    assert not sandbox.git("fsck", "--full", "--strict", "--no-dangling").strip()


def test_racy_edit_is_still_detected_by_git_status_after_a_write(base: Path) -> None:
    """Git detects such an edit because the index is not newer than the file, so Donna's index must not be newer either."""
    sandbox = new_sandbox(base, own)
    sandbox.git("config", "core.trustctime", "false")
    note, moment = sandbox.vault / "Projects/part.md", 1_700_000_000
    os.utime(note, (moment, moment))
    sandbox.git("update-index", "--refresh")
    note.write_text(NOTES["Projects/part.md"].replace("line 7", "LINE 7"))
    os.utime(note, (moment, moment))
    os.utime(sandbox.git_path("index"), (moment, moment))
    sandbox.writer.write("Inbox/new.md", "new\n")
    assert sandbox.git("status", "--porcelain") == " M Projects/part.md\n"


def modes(sandbox: Sandbox) -> set[str]:
    return {line.split(" ")[0] for line in sandbox.git("ls-tree", "-r", "HEAD").splitlines()}


@pytest.mark.slow
def test_a_disk_on_which_all_files_look_executable_changes_no_mode(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.git("config", "core.fileMode", "false")
    for path in NOTES:
        (sandbox.vault / path).chmod(0o777)
    work(sandbox)
    assert modes(sandbox) == {"100644"}
    assert not sandbox.git("status", "--porcelain")


def test_a_mode_that_the_user_changed_survives_an_undo(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    note = sandbox.vault / "Projects/one.md"
    sandbox.writer.write("Projects/one.md", "changed\n")
    note.chmod(0o755)
    sandbox.user.commit_all(sandbox.vault, "executable")
    sandbox.writer.undo_last()
    assert "100755" in modes(sandbox)
    assert note.stat().st_mode & 0o100
    sandbox.writer.delete("Projects/one.md")
    sandbox.writer.undo_last()
    assert "100755" in modes(sandbox)
    assert note.stat().st_mode & 0o100
    assert not sandbox.git("status", "--porcelain")


def test_on_an_unborn_branch_work_staged_outside_the_vault_counts(base: Path) -> None:
    user = User(base / "home")
    top = base / "repo"
    top.mkdir()
    user.git(top, "init", "--quiet")
    fill(top, {"code.txt": "staged\n"})
    fill(top / "vault")
    user.git(top, "add", "code.txt")
    new_writer(top / "vault", base / "state").write("Inbox/a.md", "a\n")
    assert user.git(top, "diff", "--cached", "--name-status") == "A\tcode.txt\n"
    assert user.git(top, "ls-tree", "-r", "--name-only", "HEAD") == "vault/Inbox/a.md\n"


def test_vault_below_a_folder_with_a_non_utf8_name_works(base: Path) -> None:
    user = User(base / "home")
    vault = user.repository(base / "repo", vault='caf\udce9 "x\\y"/notes')
    writer = new_writer(vault, base / "state")
    writer.write("Inbox/ü.md", "a\n")
    writer.move("Inbox/ü.md", "Projects/ü.md")
    writer.undo_last(2)
    writer.redo(2)
    assert not user.git(vault, "status", "--porcelain")
    assert user.git(vault, "show", "HEAD:./Projects/ü.md") == "a\n"


def two_folders(user: User, base: Path) -> tuple[Path, Path]:
    top = base / "repo"
    user.repository(top, vault="a")
    fill(top / "b")
    user.commit_all(top, "b")
    return top / "a", top / "b"


def folder_and_whole(user: User, base: Path) -> tuple[Path, Path]:
    inner = user.repository(base / "repo", vault="inner")
    fill(base / "repo")
    user.commit_all(base / "repo", "outer")
    return base / "repo", inner


def two_work_trees(user: User, base: Path) -> tuple[Path, Path]:
    return user.repository(base / "repo"), worktree(user, base)


def work_tree_and_its_repository(user: User, base: Path) -> tuple[Path, Path]:
    second = worktree(user, base)
    return base / "first", second


@pytest.mark.parametrize("pair", [two_folders, folder_and_whole, two_work_trees, work_tree_and_its_repository])
def test_each_vault_of_a_repository_has_its_own_undo(
    base: Path, pair: Callable[[User, Path], tuple[Path, Path]]
) -> None:
    user = User(base / "home")
    one, two = pair(user, base)
    first, second = new_writer(one, base / "s1"), new_writer(two, base / "s2")
    first.write("Inbox/same.md", "same\n")
    fill(two, {"Inbox/same.md": "same\n"})
    assert [each.subject for each in second.undoable()] == []
    with pytest.raises(VaultWriteError) as refused:
        second.undo_last()
    assert refused.value.reason is Reason.NOTHING_TO_UNDO
    second.write("Inbox/other.md", "other\n")
    user.git(one, "gc", "--quiet", "--prune=now")
    first.undo_last()
    second.undo_last()
    assert not (one / "Inbox/same.md").exists()
    assert (two / "Inbox/same.md").read_text() == "same\n"
    assert not (two / "Inbox/other.md").exists()


def test_a_folder_with_a_separate_repository_is_left_alone(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    nested = sandbox.user.repository(sandbox.vault / "Projects/lib")
    fill(sandbox.vault / "Projects/lib", {"Inbox/linking.md": "[[two]]\n"})
    fill(sandbox.vault / "Projects/odd/.git", {"anything": "not even a good repository\n"})
    before = tree_of(sandbox.vault)
    for gitlink in (False, True):
        if gitlink:
            sandbox.git("add", "Projects/lib")
            sandbox.git("commit", "--quiet", "--message", "a submodule without a name")
        assert sandbox.writer.history.outside() == {}, "their notes have a history of their own"
        for attempt in (
            lambda: sandbox.writer.write("Projects/lib/new.md", "x\n"),
            lambda: sandbox.writer.write("Projects/lib/deep/new.md", "x\n"),
            lambda: sandbox.writer.write("Projects/odd/new.md", "x\n"),
            lambda: sandbox.writer.write("Projects/lib/Projects/one.md", "x\n"),
            lambda: sandbox.writer.delete("Projects/lib/Projects/one.md"),
            lambda: sandbox.writer.move("Projects/lib/Projects/one.md", "Projects/uno.md"),
            lambda: sandbox.writer.move("Projects/one.md", "Projects/lib/uno.md"),
        ):
            with pytest.raises(VaultWriteError) as refused:
                attempt()
            assert refused.value.reason is Reason.IGNORED_BY_GIT
            assert "a separate repository" in refused.value.message
            assert refused.value.path.startswith(("Projects/lib/", "Projects/odd/"))
        assert tree_of(sandbox.vault) == before
    sandbox.writer.move("Projects/two.md", "Projects/zwei.md")
    assert (nested / "Inbox/linking.md").read_text() == "[[two]]\n"
    assert "160000" in sandbox.git("ls-tree", "HEAD", "Projects/lib")
    assert "Projects/lib" in sandbox.git("status", "--porcelain")


def test_a_submodule_that_is_not_checked_out_is_not_replaced(base: Path) -> None:
    user = User(base / "home")
    notes = submodule(user, base)
    user.git(base / "outer", "submodule", "--quiet", "deinit", "--force", "notes")
    assert not (notes / ".git").exists()
    with pytest.raises(VaultWriteError) as refused:
        new_writer(base / "outer", base / "state").write("notes/Inbox/x.md", "x\n")
    assert refused.value.reason is Reason.IGNORED_BY_GIT
    assert "160000" in user.git(base / "outer", "ls-tree", "HEAD", "notes")
    assert list(notes.iterdir()) == []


def test_a_note_outside_a_sparse_checkout_is_not_overwritten(base: Path) -> None:
    sandbox = new_sandbox(base, sparse)
    with pytest.raises(VaultWriteError) as refused:
        sandbox.writer.write("Outside/far.md", "mine\n")
    assert refused.value.reason is Reason.IGNORED_BY_GIT
    assert "sparse" in refused.value.message
    sandbox.writer.write("Outside/new.md", "new\n")
    sandbox.writer.undo_last()
    assert sandbox.git("show", "HEAD:Outside/far.md") == "not checked out\n"
    assert not sandbox.git("status", "--porcelain")


def test_a_note_that_git_ignores_is_refused_and_does_not_stop_a_move(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    fill(sandbox.vault, {".gitignore": "Private/\n*.secret.md\n!shown.secret.md\n"})
    sandbox.user.commit_all(sandbox.vault, "ignore")
    fill(sandbox.vault, {"Private/diary.md": "about [[one]]\n"})
    for path in ("Private/diary.md", "Private/new.md", "Inbox/a.secret.md"):
        with pytest.raises(VaultWriteError) as refused:
            sandbox.writer.write(path, "x\n")
        assert (refused.value.reason, refused.value.path) == (Reason.IGNORED_BY_GIT, path)
    sandbox.writer.write("Inbox/shown.secret.md", "x\n")
    sandbox.writer.move("Projects/one.md", "Projects/uno.md")
    assert (sandbox.vault / "Private/diary.md").read_text() == "about [[one]]\n"
    assert "[[uno]]" in (sandbox.vault / "Projects/two.md").read_text()


@pytest.mark.slow
def test_without_a_repository_nothing_is_written_until_the_user_agrees(base: Path) -> None:
    user = User(base / "home")
    vault = base / "v"
    fill(vault)
    before = tree_of(vault)
    writer = new_writer(vault, base / "state")
    for attempt in (
        lambda: writer.write("Inbox/a.md", "a\n"),
        lambda: writer.delete("Inbox/old.md"),
        lambda: writer.move("Inbox/old.md", "Inbox/new.md"),
        writer.undo_last,
        writer.redo,
    ):
        with pytest.raises(VaultWriteError) as refused:
            attempt()
        assert refused.value.reason is Reason.NO_REPOSITORY
    assert tree_of(vault) == before
    assert not (vault / ".git").exists()
    assert writer.init_if_missing()
    work(Sandbox(user, vault, writer))
    assert not user.git(vault, "status", "--porcelain")


@pytest.mark.parametrize("rewrite", ["nothing", "squash", "amend", "another root"])
def test_what_was_never_committed_survives_the_clean_up_of_a_rewritten_history(base: Path, rewrite: str) -> None:
    """The bytes before an operation are in no commit of the user's; only Donna's records preserve them."""
    sandbox = new_sandbox(base, own)
    at_first = tree_of(sandbox.vault)
    fill(sandbox.vault, {"Projects/one.md": "never committed\n", "Inbox/old.md": "nor this\n"})
    edited = tree_of(sandbox.vault)
    sandbox.writer.write("Projects/one.md", "overwritten\n")
    sandbox.writer.delete("Inbox/old.md")
    at_last = tree_of(sandbox.vault)
    if rewrite == "squash":
        sandbox.git("reset", "--quiet", "--soft", "HEAD~2")
        sandbox.git("commit", "--quiet", "--message", "one for two")
    elif rewrite == "amend":
        sandbox.git("commit", "--quiet", "--amend", "--message", "renamed")
    elif rewrite == "another root":
        sandbox.git("checkout", "--quiet", "--orphan", "fresh")
        sandbox.git("commit", "--quiet", "--message", "a new beginning")
        sandbox.git("branch", "--quiet", "-D", "main")
    sandbox.git("reflog", "expire", "--expire=now", "--all")
    sandbox.git("gc", "--quiet", "--prune=now")
    sandbox.writer.undo_last()
    sandbox.writer.undo_last()
    assert tree_of(sandbox.vault) == edited != at_first
    sandbox.git("gc", "--quiet", "--prune=now")
    sandbox.writer.redo(2)
    assert tree_of(sandbox.vault) == at_last
    assert not sandbox.git("fsck", "--full", "--strict", "--no-dangling").strip()
