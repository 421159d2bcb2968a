"""Whatever the repository looks like and whatever the user is in the middle of: Donna works or refuses, and their work stays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from tests.git_layouts import LAYOUTS, Desk, Layout, new_desk, work
from tests.git_vaults import NOTES, fill, tree_of


def clean(desk: Desk) -> None:
    pass


def staged(desk: Desk) -> None:
    """A stash, a partly staged file, a staged new one, a staged deletion, an intent to add, an unstaged edit."""
    part = desk.vault / "Projects/part.md"
    part.write_text("stashed\n")
    desk.git("stash", "push", "--quiet", "--message", "for later")
    text = NOTES["Projects/part.md"]
    part.write_text(text.replace("line 3\n", "line 3, staged\n"))
    desk.git("add", "Projects/part.md")
    part.write_text(text.replace("line 3\n", "line 3, staged\n").replace("line 33\n", "line 33, not staged\n"))
    fill(desk.vault, {"Inbox/staged.md": "staged\n", "Inbox/gone.md": "gone\n", "Inbox/meant.md": "meant\n"})
    desk.git("add", "Inbox/staged.md", "Inbox/gone.md")
    (desk.vault / "Inbox/gone.md").unlink()
    desk.git("add", "--intent-to-add", "Inbox/meant.md")
    (desk.vault / "Projects/two.md").write_text(NOTES["Projects/two.md"] + "\nnot staged\n")


def detached(desk: Desk) -> None:
    desk.git("checkout", "--quiet", "--detach")


def unborn(desk: Desk) -> None:
    desk.git("symbolic-ref", "HEAD", "refs/heads/not yet born".replace(" ", "-"))
    desk.git("read-tree", "--empty")


def two_histories(desk: Desk) -> None:
    """A branch `other` whose last commit contradicts the last one of the branch that is checked out."""
    here = desk.git("symbolic-ref", "--short", "HEAD").strip()
    desk.git("checkout", "--quiet", "-b", "other")
    fill(desk.vault, {"Inbox/old.md": "theirs\n"})
    desk.user.commit_all(desk.vault, "theirs")
    desk.git("checkout", "--quiet", here)
    fill(desk.vault, {"Inbox/old.md": "ours\n"})
    desk.user.commit_all(desk.vault, "ours")


def merging(desk: Desk) -> None:
    two_histories(desk)
    desk.git("merge", "other", may_fail=True)


def rebasing(desk: Desk) -> None:
    two_histories(desk)
    desk.git("rebase", "other", may_fail=True)


def rebasing_by_mail(desk: Desk) -> None:
    two_histories(desk)
    desk.git("rebase", "--apply", "other", may_fail=True)


def picking(desk: Desk) -> None:
    two_histories(desk)
    desk.git("cherry-pick", "other", may_fail=True)


def between_two_picks(desk: Desk) -> None:
    """The conflict of the first pick is committed by hand; the second pick still waits."""
    two_histories(desk)
    desk.git("checkout", "--quiet", "other")
    fill(desk.vault, {"Inbox/next.md": "theirs\n"})
    desk.user.commit_all(desk.vault, "theirs again")
    desk.git("checkout", "--quiet", "-")
    desk.git("cherry-pick", "other~1", "other", may_fail=True)
    fill(desk.vault, {"Inbox/old.md": "settled\n"})
    desk.user.commit_all(desk.vault, "settled")


def reverting(desk: Desk) -> None:
    two_histories(desk)
    fill(desk.vault, {"Inbox/old.md": "later\n"})
    desk.user.commit_all(desk.vault, "later")
    desk.git("revert", "--no-edit", "HEAD~1", may_fail=True)


def bisecting(desk: Desk) -> None:
    for number in range(3):
        desk.user.commit_all(desk.vault, f"more {number}")
    desk.user.git(desk.top(), "bisect", "start", "HEAD", "HEAD~2")


AT_REST = (clean, staged, detached, unborn)
IN_PROGRESS = (merging, rebasing, rebasing_by_mail, picking, between_two_picks, reverting, bisecting)

State = Callable[[Desk], None]


def theirs(desk: Desk) -> dict[str, object]:
    """What is the user's: what is staged, refs, stash, what is checked out, configuration."""
    head = desk.git("symbolic-ref", "--quiet", "HEAD", may_fail=True).strip()
    refs = desk.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return {
        "staged": desk.git("diff", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", may_fail=True),
        "head": head,
        "refs": [line for line in refs if not line.startswith(("refs/donna/", f"{head} "))],
        "stash": desk.git("stash", "list", may_fail=True),
        "config": desk.git_path("config").read_bytes(),
    }


def everything(desk: Desk) -> dict[str, str]:
    """The hash of every file of the vault and of git."""
    found = tree_of(desk.vault)
    for folder in {desk.git_path("."), desk.git_path("refs").parent}:
        for path in folder.rglob("*"):
            if path.is_file():
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.mark.parametrize("state", AT_REST)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_at_rest_donna_works_and_what_is_the_users_stays(base: Path, layout: Layout, state: State) -> None:
    desk = new_desk(base, layout)
    state(desk)
    before, start = theirs(desk), desk.git("rev-parse", "--quiet", "--verify", "HEAD", may_fail=True).strip()
    untracked = desk.git("status", "--porcelain", "--untracked-files=all", "-z") if state is unborn else ""
    work(desk)
    after = theirs(desk)
    if state is not staged:
        status = set(desk.git("status", "--porcelain", "--untracked-files=all", "-z").split("\0"))
        assert status <= set(untracked.split("\0")), "nothing is shown but what was untracked before"
    assert after == before
    assert not desk.git("fsck", "--full", "--strict", "--no-dangling").strip()
    assert_only_our_notes_moved(desk, start)
    assert not list(desk.git_path(".").rglob("*.lock"))
    assert not list(desk.vault.rglob(".donna-*"))


def assert_only_our_notes_moved(desk: Desk, start: str) -> None:
    """Between the commit of the start and ours, git sees our notes changed and nothing else, least of all staged work."""
    since = start or desk.git("mktree", given="").strip()
    prefix = desk.git("rev-parse", "--show-prefix").strip("\n")
    changed = desk.git("diff", "--name-only", "--no-renames", "-z", since, "HEAD", "--", ":/").strip("\0").split("\0")
    ours = {"Inbox/new note.md", "Inbox/old.md", "Projects/one.md", "Projects/sub/uno.md", "Projects/two.md"}
    assert {path.removeprefix(prefix) for path in changed} <= ours
    assert all(path.startswith(prefix) for path in changed)
    assert desk.git("cat-file", "blob", f"HEAD:{prefix}Inbox/new note.md") == "new\n"
    authors = desk.git("log", "--format=%an <%ae> %cn <%ce>", *([f"{start}..HEAD"] if start else ["HEAD"]))
    assert set(authors.splitlines()) == {"Donna <donna@localhost> Donna <donna@localhost>"}
    assert not desk.git("ls-tree", "-r", "HEAD", "Inbox/staged.md", "Inbox/meant.md", "Inbox/gone.md")


@pytest.mark.parametrize("state", IN_PROGRESS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_the_middle_of_something_donna_refuses_and_changes_nothing(base: Path, layout: Layout, state: State) -> None:
    desk = new_desk(base, layout)
    desk.writer.write("Inbox/first.md", "first\n")
    desk.writer.write("Inbox/second.md", "second\n")
    desk.writer.undo_last()
    state(desk)
    before = everything(desk)
    attempts: list[Callable[[], object]] = [
        lambda: desk.writer.write("Inbox/new.md", "new\n"),
        lambda: desk.writer.write("Projects/one.md", "changed\n"),
        lambda: desk.writer.move("Projects/one.md", "Projects/uno.md"),
        lambda: desk.writer.delete("Projects/one.md"),
        lambda: desk.writer.redo(),
    ]
    if (desk.vault / "Inbox/first.md").exists():
        attempts.append(lambda: desk.writer.undo_last())
    for attempt in attempts:
        with pytest.raises(VaultWriteError) as refused:
            attempt()
        assert refused.value.reason is Reason.GIT_BUSY
        assert "in progress" in refused.value.message
    assert everything(desk) == before
