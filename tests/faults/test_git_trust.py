"""A vault from elsewhere whose repository leads out of it, or would block git, is refused before git opens anything."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.write.writer import VaultWriter
from tests.git_layouts import Sandbox, new_sandbox, own, worktree
from tests.git_vaults import NOTES, User, fill, new_writer, tree_of


def refused(writer: VaultWriter) -> VaultWriteError:
    """Check that everything that runs git is refused for the same reason as writing. Return that reason."""
    with pytest.raises(VaultWriteError) as caught:
        writer.write("Inbox/new.md", "new\n")
    for other in (writer.repo.find, lambda: writer.undoable(), lambda: writer.history.revisions()):
        with pytest.raises(VaultWriteError) as again:
            other()
        assert again.value.reason is caught.value.reason
    assert caught.value.reason is Reason.NOT_TRUSTED
    assert caught.value.hint
    return caught.value


def moved_away(vault: Path, name: str, to: Path) -> Path:
    """Move a file or folder below `.git` elsewhere, and put a link in its place."""
    inside, target = vault / ".git" / name, to / Path(name).name
    target.parent.mkdir(parents=True, exist_ok=True)
    inside.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(inside):
        inside.rename(target)
    else:
        target.write_text("of somebody else\n")
    inside.symlink_to(target)
    return target


LINKED = """
    HEAD index config logs logs/HEAD logs/refs logs/refs/heads logs/refs/heads/main refs refs/heads refs/heads/main objects
    objects/pack objects/info objects/ab packed-refs donna-index donna-index.lock info info/exclude shallow refs/donna
    fast_import_crash_1 refs/donna/pending
""".split()


@pytest.mark.parametrize("name", LINKED)
def test_a_link_in_the_repository_is_refused_and_not_written_through(base: Path, name: str) -> None:
    sandbox = new_sandbox(base, own)
    outside = moved_away(sandbox.vault, name, base / "outside")
    before = tree_of(base / "outside"), tree_of(sandbox.vault)
    error = refused(sandbox.writer)
    assert name.split("/")[0] in error.message
    assert (tree_of(base / "outside"), tree_of(sandbox.vault)) == before
    assert outside.exists()


def test_a_link_that_is_put_there_later_is_refused_as_well(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.writer.write("Projects/one.md", "first\n")
    moved_away(sandbox.vault, "logs/HEAD", base / "outside")
    refused(sandbox.writer)


def test_shell_command_in_user_name_is_not_written_to_reflogs(base: Path) -> None:
    """The name is written to reflogs, and a reflog may be a link to a file that a shell runs."""
    sandbox = new_sandbox(base, own)
    startup = base / "home/.bashrc"
    startup.write_text("# mine\n")
    sandbox.git("config", "user.name", "x\ntouch /tmp/owned #")
    log = sandbox.vault / ".git/logs/HEAD"
    log.unlink()
    log.symlink_to(startup)
    refused(sandbox.writer)
    assert startup.read_text() == "# mine\n"
    log.unlink()
    sandbox.writer.write("Inbox/new.md", "new\n")
    for file in (sandbox.vault / ".git/logs").rglob("*"):
        assert not file.is_file() or "touch" not in file.read_text()
    assert "Donna <donna@localhost>" in log.read_text()


def test_lock_files_behind_a_symlink_are_not_removed(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    projects = base / "projects"
    (projects / "app").mkdir(parents=True)
    locks = [projects / "yarn.lock", projects / "app/poetry.lock", projects / "operations.lock"]
    for lock in locks:
        lock.write_text("locked\n")
    (sandbox.vault / ".git/refs/donna").symlink_to(projects)
    refused(sandbox.writer)
    assert all(lock.exists() for lock in locks)


def test_only_locks_of_donnas_own_refs_are_removed(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.writer.write("Inbox/new.md", "new\n")
    folder = sandbox.vault / ".git/refs/donna"
    ours = [folder / "operations.lock", folder / "pending/commit.lock", folder / f"{'a' * 16}/operations.lock"]
    others = [folder / "poetry.lock", folder / "x/operations.lock", folder / "operations.lock.d/operations.lock"]
    for lock in (*ours, *others):
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    sandbox.writer.write("Inbox/new.md", "again\n")
    assert not [lock for lock in ours if lock.exists()]
    assert all(lock.exists() for lock in others)


PIPES = """
    HEAD index config packed-refs commondir refs/heads/main logs/HEAD info/exclude info/attributes objects/info/alternates
    objects/ab/cdef donna-index fast_import_crash_1 config.worktree shallow HEAD.lock refs/donna/operations
""".split()


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_in_the_repository_hangs_nothing(base: Path, name: str) -> None:
    """Git would wait until something writes to it, and then be stopped by its time limit."""
    sandbox = new_sandbox(base, own)
    pipe = sandbox.vault / ".git" / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    refused(sandbox.writer)


def test_fifo_as_gitignore_is_rejected_without_blocking(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    os.mkfifo(sandbox.vault / "Inbox/.gitignore")
    with pytest.raises(VaultWriteError) as caught:
        sandbox.writer.write("Inbox/new.md", "new\n")
    assert caught.value.reason is Reason.NOT_TRUSTED
    sandbox.writer.write("Projects/one.md", "elsewhere all is well\n")


def test_the_socket_of_gits_own_monitor_and_linked_hooks_do_no_harm(base: Path) -> None:
    import socket

    sandbox = new_sandbox(base, own)
    (base / "hooks").mkdir()
    (sandbox.vault / ".git/hooks").rename(base / "old hooks")
    (sandbox.vault / ".git/hooks").symlink_to(base / "hooks")
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.bind(os.path.relpath(sandbox.vault / ".git/fsmonitor--daemon.ipc"))
        assert sandbox.writer.write("Inbox/new.md", "new\n")


def named(user: User, base: Path, vault: Path) -> None:
    (vault / ".git").write_text(f"gitdir: {base / 'theirs/.git'}\n")


def linked(user: User, base: Path, vault: Path) -> None:
    (vault / ".git").symlink_to(base / "theirs/.git")


def shared(user: User, base: Path, vault: Path) -> None:
    user.git(vault, "init", "--quiet")
    (vault / ".git/commondir").write_text(f"{base / 'theirs/.git'}\n")


def forged_work_tree(user: User, base: Path, vault: Path) -> None:
    fake = vault / "fake/worktrees/x"
    fake.mkdir(parents=True)
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "commondir").write_text(f"{base / 'theirs/.git'}\n")
    (fake / "gitdir").write_text(f"{vault / '.git'}\n")
    (vault / ".git").write_text("gitdir: fake/worktrees/x\n")


def somebodys_work_tree(user: User, base: Path, vault: Path) -> None:
    user.git(base / "theirs", "worktree", "add", "--quiet", "--detach", str(base / "other"))
    (vault / ".git").write_text((base / "other/.git").read_text())


def submodule_of_another(user: User, base: Path, vault: Path) -> None:
    user.git(base / "theirs", "config", "core.worktree", str(base / "theirs"))
    named(user, base, vault)


@pytest.mark.parametrize(
    "pointing", [named, linked, shared, forged_work_tree, somebodys_work_tree, submodule_of_another]
)
def test_the_repository_of_another_folder_is_not_used(base: Path, pointing: Callable[[User, Path, Path], None]) -> None:
    user = User(base / "home")
    theirs = user.repository(base / "theirs")
    vault = base / "v"
    fill(vault, dict.fromkeys(NOTES, "from elsewhere\n"))
    pointing(user, base, vault)
    before = user.git(theirs, "for-each-ref"), user.git(theirs, "count-objects", "-v")
    refused(new_writer(vault, base / "state"))
    assert (user.git(theirs, "for-each-ref"), user.git(theirs, "count-objects", "-v")) == before


def test_a_separate_git_folder_is_used_once_it_names_the_vault(base: Path) -> None:
    """Git itself writes no such name, so any `.git` file could lead there."""
    user = User(base / "home")
    vault = user.repository(base / "v", f"--separate-git-dir={base / 'elsewhere.git'}")
    writer = new_writer(vault, base / "state")
    hint = refused(writer).hint or ""
    command = hint.partition(": ")[2].replace('"$PWD"', str(vault)).split()
    user.git(vault, *command[1:])
    assert writer.write("Inbox/new.md", "new\n")


def test_a_bare_repository_for_dotfiles_is_refused(base: Path) -> None:
    user = User(base / "home")
    user.git(base, "init", "--quiet", "--bare", "dotfiles.git")
    (base / "v").mkdir()
    (base / "v/.git").write_text("gitdir: ../dotfiles.git\n")
    assert "core.worktree" in (refused(new_writer(base / "v", base / "state")).hint or "")


def test_a_work_tree_that_was_moved_by_hand_works_again_after_its_repair(base: Path) -> None:
    user = User(base / "home")
    vault = worktree(user, base).rename(base / "moved")
    writer = new_writer(vault, base / "state")
    assert "git worktree repair" in (refused(writer).hint or "")
    user.git(vault, "worktree", "repair")
    sandbox = Sandbox(user, vault, writer)
    assert sandbox.writer.write("Inbox/new.md", "new\n")


@pytest.mark.parametrize("kind", ["link", "file"])
def test_another_repository_that_takes_the_place_of_the_first_is_noticed(base: Path, kind: str) -> None:
    sandbox = new_sandbox(base, own)
    theirs = sandbox.user.repository(base / "theirs")
    sandbox.writer.write("Inbox/new.md", "new\n")
    (sandbox.vault / ".git").rename(base / "was.git")
    if kind == "link":
        (sandbox.vault / ".git").symlink_to(theirs / ".git")
    else:
        (sandbox.vault / ".git").write_text(f"gitdir: {theirs / '.git'}\n")
    refused(sandbox.writer)
