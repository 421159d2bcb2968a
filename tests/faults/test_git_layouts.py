"""Whatever the layout of the repository and the state of the user's work, Donna works or refuses, and their work stays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from tests.git_layouts import LAYOUTS, Layout, Sandbox, new_sandbox, work
from tests.git_vaults import NOTES, fill, tree_of


def clean(sandbox: Sandbox) -> None:
    pass


def staged(sandbox: Sandbox) -> None:
    """Prepare a stash, a partly staged file, staged and intended additions, a staged deletion, and an unstaged edit."""
    part = sandbox.vault / "Projects/part.md"
    part.write_text("stashed\n")
    sandbox.git("stash", "push", "--quiet", "--message", "for later")
    text = NOTES["Projects/part.md"]
    part.write_text(text.replace("line 3\n", "line 3, staged\n"))
    sandbox.git("add", "Projects/part.md")
    part.write_text(text.replace("line 3\n", "line 3, staged\n").replace("line 33\n", "line 33, not staged\n"))
    fill(sandbox.vault, {"Inbox/staged.md": "staged\n", "Inbox/gone.md": "gone\n", "Inbox/meant.md": "meant\n"})
    sandbox.git("add", "Inbox/staged.md", "Inbox/gone.md")
    (sandbox.vault / "Inbox/gone.md").unlink()
    sandbox.git("add", "--intent-to-add", "Inbox/meant.md")
    (sandbox.vault / "Projects/two.md").write_text(NOTES["Projects/two.md"] + "\nnot staged\n")


def detached(sandbox: Sandbox) -> None:
    sandbox.git("checkout", "--quiet", "--detach")


def unborn(sandbox: Sandbox) -> None:
    sandbox.git("symbolic-ref", "HEAD", "refs/heads/not yet born".replace(" ", "-"))
    sandbox.git("read-tree", "--empty")


def two_histories(sandbox: Sandbox) -> None:
    """Create a branch `other` whose last commit conflicts with the last one of the branch that is checked out."""
    here = sandbox.git("symbolic-ref", "--short", "HEAD").strip()
    sandbox.git("checkout", "--quiet", "-b", "other")
    fill(sandbox.vault, {"Inbox/old.md": "theirs\n"})
    sandbox.user.commit_all(sandbox.vault, "theirs")
    sandbox.git("checkout", "--quiet", here)
    fill(sandbox.vault, {"Inbox/old.md": "ours\n"})
    sandbox.user.commit_all(sandbox.vault, "ours")


def merging(sandbox: Sandbox) -> None:
    two_histories(sandbox)
    sandbox.git("merge", "other", may_fail=True)


def rebasing(sandbox: Sandbox) -> None:
    two_histories(sandbox)
    sandbox.git("rebase", "other", may_fail=True)


def rebasing_by_mail(sandbox: Sandbox) -> None:
    two_histories(sandbox)
    sandbox.git("rebase", "--apply", "other", may_fail=True)


def picking(sandbox: Sandbox) -> None:
    two_histories(sandbox)
    sandbox.git("cherry-pick", "other", may_fail=True)


def between_two_picks(sandbox: Sandbox) -> None:
    """Commit the conflict of the first pick by hand; the second pick is still pending."""
    two_histories(sandbox)
    sandbox.git("checkout", "--quiet", "other")
    fill(sandbox.vault, {"Inbox/next.md": "theirs\n"})
    sandbox.user.commit_all(sandbox.vault, "theirs again")
    sandbox.git("checkout", "--quiet", "-")
    sandbox.git("cherry-pick", "other~1", "other", may_fail=True)
    fill(sandbox.vault, {"Inbox/old.md": "settled\n"})
    sandbox.user.commit_all(sandbox.vault, "settled")


def reverting(sandbox: Sandbox) -> None:
    two_histories(sandbox)
    fill(sandbox.vault, {"Inbox/old.md": "later\n"})
    sandbox.user.commit_all(sandbox.vault, "later")
    sandbox.git("revert", "--no-edit", "HEAD~1", may_fail=True)


def bisecting(sandbox: Sandbox) -> None:
    for number in range(3):
        sandbox.user.commit_all(sandbox.vault, f"more {number}")
    sandbox.user.git(sandbox.top(), "bisect", "start", "HEAD", "HEAD~2")


AT_REST = (clean, staged, detached, unborn)
IN_PROGRESS = (merging, rebasing, rebasing_by_mail, picking, between_two_picks, reverting, bisecting)

State = Callable[[Sandbox], None]


def pairs(states: Sequence[State]) -> list[Any]:
    """Return each layout with each state; outside of `make stress` a third of the pairs, in which each occurs."""
    return [
        pytest.param(layout, state, marks=() if (row + column) % 3 == 0 else pytest.mark.stress)
        for row, layout in enumerate(LAYOUTS)
        for column, state in enumerate(states)
    ]


def theirs(sandbox: Sandbox) -> dict[str, object]:
    """Return the user's state: index, refs, stash, HEAD, configuration."""
    head = sandbox.git("symbolic-ref", "--quiet", "HEAD", may_fail=True).strip()
    refs = sandbox.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return {
        "staged": sandbox.git("diff", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", may_fail=True),
        "head": head,
        "refs": [line for line in refs if not line.startswith(("refs/donna/", f"{head} "))],
        "stash": sandbox.git("stash", "list", may_fail=True),
        "config": sandbox.git_path("config").read_bytes(),
    }


def everything(sandbox: Sandbox) -> dict[str, str]:
    """Return the hash of every file of the vault and of git."""
    found = tree_of(sandbox.vault)
    for folder in {sandbox.git_path("."), sandbox.git_path("refs").parent}:
        for path in folder.rglob("*"):
            if path.is_file():
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.mark.cases(1)
@pytest.mark.parametrize(("layout", "state"), pairs(AT_REST))
def test_operations_preserve_user_state_in_every_repository_layout(base: Path, layout: Layout, state: State) -> None:
    sandbox = new_sandbox(base, layout)
    state(sandbox)
    before, start = theirs(sandbox), sandbox.git("rev-parse", "--quiet", "--verify", "HEAD", may_fail=True).strip()
    untracked = sandbox.git("status", "--porcelain", "--untracked-files=all", "-z") if state is unborn else ""
    work(sandbox)
    after = theirs(sandbox)
    if state is not staged:
        status = set(sandbox.git("status", "--porcelain", "--untracked-files=all", "-z").split("\0"))
        assert status <= set(untracked.split("\0")), "git shows more than what was untracked before"
    assert after == before
    assert not sandbox.git("fsck", "--full", "--strict", "--no-dangling").strip()
    assert_only_our_notes_moved(sandbox, start)
    assert not list(sandbox.git_path(".").rglob("*.lock"))
    assert not list(sandbox.vault.rglob(".donna-*"))


def assert_only_our_notes_moved(sandbox: Sandbox, start: str) -> None:
    """Check that git sees only Donna's notes changed since the first commit, and no staged work."""
    since = start or sandbox.git("mktree", given="").strip()
    prefix = sandbox.git("rev-parse", "--show-prefix").strip("\n")
    changed = (
        sandbox.git("diff", "--name-only", "--no-renames", "-z", since, "HEAD", "--", ":/").strip("\0").split("\0")
    )
    ours = {"Inbox/new note.md", "Inbox/old.md", "Projects/one.md", "Projects/sub/uno.md", "Projects/two.md"}
    assert {path.removeprefix(prefix) for path in changed} <= ours
    assert all(path.startswith(prefix) for path in changed)
    assert sandbox.git("cat-file", "blob", f"HEAD:{prefix}Inbox/new note.md") == "new\n"
    authors = sandbox.git("log", "--format=%an <%ae> %cn <%ce>", *([f"{start}..HEAD"] if start else ["HEAD"]))
    assert set(authors.splitlines()) == {"Donna <donna@localhost> Donna <donna@localhost>"}
    assert not sandbox.git("ls-tree", "-r", "HEAD", "Inbox/staged.md", "Inbox/meant.md", "Inbox/gone.md")


@pytest.mark.cases(5)
@pytest.mark.parametrize(("layout", "state"), pairs(IN_PROGRESS))
def test_writes_are_refused_while_a_git_operation_is_in_progress(base: Path, layout: Layout, state: State) -> None:
    sandbox = new_sandbox(base, layout)
    sandbox.writer.write("Inbox/first.md", "first\n")
    sandbox.writer.write("Inbox/second.md", "second\n")
    sandbox.writer.undo_last()
    state(sandbox)
    before = everything(sandbox)
    attempts: list[Callable[[], object]] = [
        lambda: sandbox.writer.write("Inbox/new.md", "new\n"),
        lambda: sandbox.writer.write("Projects/one.md", "changed\n"),
        lambda: sandbox.writer.move("Projects/one.md", "Projects/uno.md"),
        lambda: sandbox.writer.delete("Projects/one.md"),
        lambda: sandbox.writer.redo(),
    ]
    if (sandbox.vault / "Inbox/first.md").exists():
        attempts.append(lambda: sandbox.writer.undo_last())
    for attempt in attempts:
        with pytest.raises(VaultWriteError) as refused:
            attempt()
        assert refused.value.reason is Reason.GIT_BUSY
        assert "in progress" in refused.value.message
    assert everything(sandbox) == before
