"""Odd indexes, disks, neighbours and folders: repositories in which a simple writer would lose or hide something."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from tests.git_layouts import Desk, new_desk, own, sparse, submodule, work, worktree
from tests.git_vaults import NOTES, User, fill, new_writer, tree_of


@pytest.mark.parametrize("form", ["--split-index", "--untracked-cache", "--index-version=4", "--force-write-index"])
def test_every_form_of_the_index_is_followed(base: Path, form: str) -> None:
    desk = new_desk(base, own)
    desk.git("update-index", form)
    work(desk)
    assert not desk.git("status", "--porcelain", "--untracked-files=all")
    assert not desk.git("fsck", "--full", "--strict", "--no-dangling").strip()


def test_an_edit_in_the_very_second_of_the_index_is_still_seen_by_git(base: Path) -> None:
    """Git tells such an edit by the index not being younger than the file: an index of ours must not be younger."""
    desk = new_desk(base, own)
    desk.git("config", "core.trustctime", "false")
    note, moment = desk.vault / "Projects/part.md", 1_700_000_000
    os.utime(note, (moment, moment))
    desk.git("update-index", "--refresh")
    note.write_text(NOTES["Projects/part.md"].replace("line 7", "LINE 7"))
    os.utime(note, (moment, moment))
    os.utime(desk.git_path("index"), (moment, moment))
    desk.writer.write("Inbox/new.md", "new\n")
    assert desk.git("status", "--porcelain") == " M Projects/part.md\n"


def modes(desk: Desk) -> set[str]:
    return {line.split(" ")[0] for line in desk.git("ls-tree", "-r", "HEAD").splitlines()}


def test_a_disk_on_which_all_files_look_executable_changes_no_mode(base: Path) -> None:
    desk = new_desk(base, own)
    desk.git("config", "core.fileMode", "false")
    for path in NOTES:
        (desk.vault / path).chmod(0o777)
    work(desk)
    assert modes(desk) == {"100644"}
    assert not desk.git("status", "--porcelain")


def test_a_mode_that_the_user_changed_survives_an_undo(base: Path) -> None:
    desk = new_desk(base, own)
    note = desk.vault / "Projects/one.md"
    desk.writer.write("Projects/one.md", "changed\n")
    note.chmod(0o755)
    desk.user.commit_all(desk.vault, "executable")
    desk.writer.undo_last()
    assert "100755" in modes(desk)
    assert note.stat().st_mode & 0o100
    desk.writer.delete("Projects/one.md")
    desk.writer.undo_last()
    assert "100755" in modes(desk)
    assert note.stat().st_mode & 0o100
    assert not desk.git("status", "--porcelain")


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


def test_a_folder_above_the_vault_may_have_a_name_that_is_no_text(base: Path) -> None:
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


def test_a_folder_that_is_a_repository_of_its_own_is_left_alone(base: Path) -> None:
    desk = new_desk(base, own)
    nested = desk.user.repository(desk.vault / "Projects/lib")
    fill(desk.vault / "Projects/lib", {"Inbox/linking.md": "[[two]]\n"})
    fill(desk.vault / "Projects/odd/.git", {"anything": "not even a good repository\n"})
    before = tree_of(desk.vault)
    for gitlink in (False, True):
        if gitlink:
            desk.git("add", "Projects/lib")
            desk.git("commit", "--quiet", "--message", "a submodule without a name")
        for attempt in (
            lambda: desk.writer.write("Projects/lib/new.md", "x\n"),
            lambda: desk.writer.write("Projects/lib/deep/new.md", "x\n"),
            lambda: desk.writer.write("Projects/odd/new.md", "x\n"),
            lambda: desk.writer.write("Projects/lib/Projects/one.md", "x\n"),
            lambda: desk.writer.delete("Projects/lib/Projects/one.md"),
            lambda: desk.writer.move("Projects/lib/Projects/one.md", "Projects/uno.md"),
            lambda: desk.writer.move("Projects/one.md", "Projects/lib/uno.md"),
        ):
            with pytest.raises(VaultWriteError) as refused:
                attempt()
            assert refused.value.reason is Reason.IGNORED_BY_GIT
            assert "a separate repository" in refused.value.message
            assert refused.value.path.startswith(("Projects/lib/", "Projects/odd/"))
        assert tree_of(desk.vault) == before
    desk.writer.move("Projects/two.md", "Projects/zwei.md")
    assert (nested / "Inbox/linking.md").read_text() == "[[two]]\n"
    assert "160000" in desk.git("ls-tree", "HEAD", "Projects/lib")
    assert "Projects/lib" in desk.git("status", "--porcelain")


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
    desk = new_desk(base, sparse)
    with pytest.raises(VaultWriteError) as refused:
        desk.writer.write("Outside/far.md", "mine\n")
    assert refused.value.reason is Reason.IGNORED_BY_GIT
    assert "sparse" in refused.value.message
    desk.writer.write("Outside/new.md", "new\n")
    desk.writer.undo_last()
    assert desk.git("show", "HEAD:Outside/far.md") == "not checked out\n"
    assert not desk.git("status", "--porcelain")


def test_a_note_that_git_ignores_is_refused_and_does_not_stop_a_move(base: Path) -> None:
    desk = new_desk(base, own)
    fill(desk.vault, {".gitignore": "Private/\n*.secret.md\n!shown.secret.md\n"})
    desk.user.commit_all(desk.vault, "ignore")
    fill(desk.vault, {"Private/diary.md": "about [[one]]\n"})
    for path in ("Private/diary.md", "Private/new.md", "Inbox/a.secret.md"):
        with pytest.raises(VaultWriteError) as refused:
            desk.writer.write(path, "x\n")
        assert (refused.value.reason, refused.value.path) == (Reason.IGNORED_BY_GIT, path)
    desk.writer.write("Inbox/shown.secret.md", "x\n")
    desk.writer.move("Projects/one.md", "Projects/uno.md")
    assert (desk.vault / "Private/diary.md").read_text() == "about [[one]]\n"
    assert "[[uno]]" in (desk.vault / "Projects/two.md").read_text()


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
    work(Desk(user, vault, writer))
    assert not user.git(vault, "status", "--porcelain")


@pytest.mark.parametrize("rewrite", ["nothing", "squash", "amend", "another root"])
def test_what_was_never_committed_survives_the_clean_up_of_a_rewritten_history(base: Path, rewrite: str) -> None:
    """The bytes before an operation are in no commit of the user's; only Donna's records keep them."""
    desk = new_desk(base, own)
    at_first = tree_of(desk.vault)
    fill(desk.vault, {"Projects/one.md": "never committed\n", "Inbox/old.md": "nor this\n"})
    edited = tree_of(desk.vault)
    desk.writer.write("Projects/one.md", "overwritten\n")
    desk.writer.delete("Inbox/old.md")
    at_last = tree_of(desk.vault)
    if rewrite == "squash":
        desk.git("reset", "--quiet", "--soft", "HEAD~2")
        desk.git("commit", "--quiet", "--message", "one for two")
    elif rewrite == "amend":
        desk.git("commit", "--quiet", "--amend", "--message", "renamed")
    elif rewrite == "another root":
        desk.git("checkout", "--quiet", "--orphan", "fresh")
        desk.git("commit", "--quiet", "--message", "a new beginning")
        desk.git("branch", "--quiet", "-D", "main")
    desk.git("reflog", "expire", "--expire=now", "--all")
    desk.git("gc", "--quiet", "--prune=now")
    desk.writer.undo_last()
    desk.writer.undo_last()
    assert tree_of(desk.vault) == edited != at_first
    desk.git("gc", "--quiet", "--prune=now")
    desk.writer.redo(2)
    assert tree_of(desk.vault) == at_last
    assert not desk.git("fsck", "--full", "--strict", "--no-dangling").strip()
