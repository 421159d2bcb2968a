"""The branch moves only by compare-and-swap, despite other programs' locks and commits: no acknowledged write is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git import index as git_index
from donna_tui.vault.git import repository
from donna_tui.vault.git.repository import GitRepo, RefState
from tests.git_vaults import User, new_writer


@pytest.fixture
def user(base: Path) -> User:
    return User(base / "home")


def two_commits(user: User, vault: Path) -> tuple[str, str]:
    tree = user.git(vault, "rev-parse", "HEAD^{tree}").strip()
    one, two = (user.git(vault, "commit-tree", "-p", "HEAD", "-m", str(each), tree).strip() for each in (1, 2))
    return one, two


def test_branch_and_records_move_together_or_not_at_all(base: Path, user: User) -> None:
    vault = user.repository(base / "repo")
    one, two = two_commits(user, vault)
    repo = GitRepo(vault)
    first = repo.tip()
    assert repo.advance(first, one, two, "donna: test")
    assert repo.tip() == RefState("refs/heads/main", one, two)
    assert not repo.advance(first, two, one, "the branch is elsewhere")
    assert not repo.advance(RefState(first.ref, one, None), two, one, "there are records")
    assert not repo.advance(RefState(first.ref, one, one), two, one, "the records are elsewhere")
    assert not repo.advance(RefState(first.ref, None, two), two, one, "the branch is born")
    assert repo.tip() == RefState("refs/heads/main", one, two)
    assert "donna: test" in user.git(vault, "reflog", "HEAD")


@pytest.mark.parametrize("packed", [False, True])
def test_a_lock_that_is_released_is_waited_for(base: Path, user: User, packed: bool) -> None:
    vault = user.repository(base / "repo")
    if packed:
        user.git(vault, "pack-refs", "--all")
    one, two = two_commits(user, vault)
    lock = vault / ".git/refs/heads/main.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()
    repo = GitRepo(vault)
    assert repo.advance(repo.tip(), one, two, "x")
    timer.join()


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "HEAD.lock", "packed-refs.lock"])
def test_a_lock_that_remains_is_reported_and_left(
    base: Path, user: User, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(repository, "PATIENCE_SECONDS", 0.2)
    vault = user.repository(base / "repo")
    lock = vault / ".git" / name
    lock.write_text("somebody's\n")
    before = (vault / "Projects/one.md").read_bytes()
    writer = new_writer(vault, base / "state")
    if name == "packed-refs.lock":
        user.git(vault, "update-ref", "refs/donna/operations", "HEAD")  # a deletion would be compared with these
        assert writer.write("Projects/one.md", "written\n")
    else:
        with pytest.raises(VaultWriteError) as refused:
            writer.write("Projects/one.md", "x\n")
        assert refused.value.reason is Reason.GIT_LOCKED
        assert f"remove .git/{name}" in (refused.value.hint or "")
        assert (vault / "Projects/one.md").read_bytes() == before
    assert lock.read_text() == "somebody's\n"


def test_while_another_program_holds_the_index_nothing_is_written(
    base: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next commit of that program would revert what could not be entered into the index."""
    monkeypatch.setattr(git_index, "PATIENCE_SECONDS", 0.1)
    vault = user.repository(base / "repo")
    before = (vault / ".git/index").read_bytes(), (vault / "Projects/one.md").read_bytes()
    (vault / ".git/index.lock").touch()
    with pytest.raises(VaultWriteError) as refused:
        new_writer(vault, base / "state").write("Projects/one.md", "x\n")
    assert refused.value.reason is Reason.GIT_LOCKED
    assert ((vault / ".git/index").read_bytes(), (vault / "Projects/one.md").read_bytes()) == before
    assert (vault / ".git/index.lock").exists()


def patiently(write: Callable[[], str]) -> str:
    """Retry, as a user does while another program is committing."""
    while True:
        try:
            return write()
        except VaultWriteError as error:
            if error.reason not in (Reason.GIT_LOCKED, Reason.BUSY):
                raise


@pytest.mark.slow
def test_concurrent_writers_and_user_commits_lose_nothing(base: Path, user: User) -> None:
    """Every acknowledged write, and every commit of the user's, is an ancestor of the final HEAD."""
    vault = user.repository(base / "repo")
    commits: list[str] = []
    troubles: list[BaseException] = []

    def write(name: str) -> None:
        try:
            writer = new_writer(vault, base / name)
            for number in range(6):
                commits.append(patiently(lambda: writer.write(f"Inbox/{name}.md", f"{number}\n")))  # noqa: B023
        except BaseException as error:  # reported by the main thread
            troubles.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    mine: list[str] = []
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.02)
        user.git(vault, "commit", "--quiet", "--allow-empty", "--message", "mine", may_fail=True)
        mine.append(user.git(vault, "rev-parse", "HEAD").strip())
    for thread in threads:
        thread.join()
    assert troubles == []
    kept = set(user.git(vault, "rev-list", "HEAD").split())
    assert {*commits, *mine} <= kept
    assert "mine" in user.git(vault, "log", "--format=%s").split("\n"), "the user's commit is missing"
    assert len(new_writer(vault, base / "one").undoable()) == 12
    assert {path: (vault / path).read_text() for path in ("Inbox/one.md", "Inbox/two.md")} == {
        "Inbox/one.md": "5\n",
        "Inbox/two.md": "5\n",
    }
