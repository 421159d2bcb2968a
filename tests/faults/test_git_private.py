"""Private notes that are not in git stay out of the branch, whatever Donna does; her record includes them, for undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.conflicts import Keep
from donna_tui.vault.write.changes import any_version
from donna_tui.vault.write.protocol import Step
from tests.git_layouts import Sandbox
from tests.git_vaults import User, fill, new_writer, tree_of

DIARY = "Private/diary.md"
WORDS = "the very secret words"
COPY = "Private/diary.sync-conflict-20260102-030405-ABCDEFG.md"
PRIVATE = f"---\ndonna: local-only\n---\n{WORDS}, see [[one]]\n- [ ] call\n"


def begun(base: Path) -> Sandbox:
    """Create a vault whose history Donna began, with a private note."""
    user = User(base / "home")
    vault = base / "v"
    fill(vault, {"Projects/one.md": "# One\n", "Projects/two.md": "see [[one]]\n", DIARY: PRIVATE})
    writer = new_writer(vault, base / "state")
    assert writer.init_if_missing()
    return Sandbox(user, vault, writer)


def pushed(sandbox: Sandbox) -> str:
    """Return everything that a push of the branches includes: messages, names and contents of every commit."""
    listed = sandbox.git("rev-list", "--objects", "--branches").split()
    blobs = sandbox.git("cat-file", "--batch", given="\n".join(listed)) if listed else ""
    return sandbox.git("log", "--branches", "--format=%H %B", "--name-only") + blobs


def assert_private(sandbox: Sandbox) -> None:
    """Check that the branch has nothing of the diary: neither its words nor its name nor a hash of its content."""
    everything = pushed(sandbox)
    assert WORDS not in everything
    assert "diary" not in everything
    data = (sandbox.vault / DIARY).read_bytes() if (sandbox.vault / DIARY).exists() else b""
    assert not data or sandbox.git("hash-object", "--stdin", given=data.decode()).strip() not in everything
    assert not sandbox.git("ls-files", "--", "Private")


def edited(sandbox: Sandbox) -> str:
    return (sandbox.vault / DIARY).read_text().replace("call", "call again")


def resolve(sandbox: Sandbox, keep: Keep) -> None:
    fill(sandbox.vault, {COPY: PRIVATE + "more\n"})
    writer = sandbox.writer
    writer.apply(writer.resolver.plan(writer.resolver.conflict(COPY), keep))


OPERATIONS: dict[str, Callable[[Sandbox], object]] = {
    "write": lambda sandbox: sandbox.writer.write(DIARY, edited(sandbox), replace=True),
    "new": lambda sandbox: sandbox.writer.write("Private/diary 2.md", PRIVATE),
    "link rewritten": lambda sandbox: sandbox.writer.move("Projects/one.md", "Projects/uno.md"),
    "move": lambda sandbox: sandbox.writer.move(DIARY, "Private/my diary.md"),
    "delete": lambda sandbox: sandbox.writer.delete(DIARY),
    "keep theirs": lambda sandbox: resolve(sandbox, Keep.THEIRS),
    "keep both": lambda sandbox: resolve(sandbox, Keep.BOTH),
}


@pytest.mark.cases(3)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_private_gets_into_the_branch(base: Path, operation: str) -> None:
    sandbox = begun(base)
    OPERATIONS[operation](sandbox)
    after = tree_of(sandbox.vault)
    assert_private(sandbox)
    sandbox.writer.undo_last()
    assert (sandbox.vault / DIARY).read_text() == PRIVATE
    assert_private(sandbox)
    sandbox.git("gc", "--quiet", "--prune=now")
    sandbox.writer.redo()
    assert tree_of(sandbox.vault) == after
    assert_private(sandbox)
    assert not sandbox.git("fsck", "--strict", "--no-dangling").strip()
    status = sandbox.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert all(line.startswith("?? ") and "Private/" in line for line in status)


def test_move_commits_public_notes_and_only_records_private_ones(base: Path) -> None:
    sandbox = begun(base)
    plan = sandbox.writer.planner.move("Projects/one.md", "Projects/uno.md", expected=any_version)
    outcome = sandbox.writer.apply(plan)
    assert outcome.record_only == (DIARY,)
    assert sandbox.git("show", "HEAD:Projects/two.md") == "see [[uno]]\n"
    assert "[[uno]]" in (sandbox.vault / DIARY).read_text()


def test_private_note_on_an_unborn_branch_is_not_committed(base: Path) -> None:
    user = User(base / "home")
    vault = base / "v"
    fill(vault, {DIARY: PRIVATE})
    user.git(vault, "init", "--quiet")
    sandbox = Sandbox(user, vault, new_writer(vault, base / "state"))
    OPERATIONS["write"](sandbox)
    assert not sandbox.git("rev-list", "--branches")
    sandbox.writer.undo_last()
    assert (vault / DIARY).read_text() == PRIVATE


@pytest.mark.parametrize("step", [Step.PREPARED, Step.INTENDED, Step.PUT, Step.ADVANCED, Step.FOLLOWED])
def test_interrupted_write_of_a_private_note_keeps_it_out_of_the_branch(base: Path, step: Step) -> None:
    sandbox = begun(base)

    def stop(reached: Step) -> None:
        if reached is step:
            raise SystemExit

    object.__setattr__(sandbox.writer._context, "reached", stop)
    with pytest.raises(SystemExit):
        OPERATIONS["write"](sandbox)
    sandbox = Sandbox(sandbox.user, sandbox.vault, new_writer(sandbox.vault, base / "state"))
    assert sandbox.writer.recover() is None
    assert_private(sandbox)
    done = "call again" in (sandbox.vault / DIARY).read_text()
    assert len(sandbox.writer.undoable()) == done
    assert not list(sandbox.vault.rglob(".donna-*"))


def test_private_note_committed_by_the_user_stays_tracked(base: Path) -> None:
    """It is in the history by the user's decision, and stays there through moves, deletions and their undo."""
    sandbox = begun(base)
    sandbox.user.commit_all(sandbox.vault, "mine")
    OPERATIONS["write"](sandbox)
    OPERATIONS["move"](sandbox)
    sandbox.writer.delete("Private/my diary.md")
    sandbox.writer.undo_last(2)
    sandbox.writer.redo(2)
    sandbox.writer.undo_last(3)
    assert sandbox.git("show", f"HEAD:{DIARY}") == PRIVATE
    assert not sandbox.git("status", "--porcelain")


def test_a_private_note_that_the_user_took_out_of_git_stays_out(base: Path) -> None:
    sandbox = begun(base)
    sandbox.user.commit_all(sandbox.vault, "by mistake")
    sandbox.git("rm", "--quiet", "--cached", DIARY)
    sandbox.git("commit", "--quiet", "--message", "not in git")
    OPERATIONS["write"](sandbox)
    sandbox.writer.delete(DIARY)
    sandbox.writer.undo_last()
    assert not sandbox.git("ls-tree", "HEAD", "Private/")


def test_the_first_commit_of_a_note_that_was_private_needs_consent(base: Path) -> None:
    sandbox = begun(base)
    public = PRIVATE.replace("donna: local-only\n", "title: Diary\n")
    plan = sandbox.writer.planner.write(DIARY, public, expected=any_version, replace=True)
    with pytest.raises(VaultWriteError) as refused:
        sandbox.writer.apply(plan)
    assert (refused.value.reason, refused.value.path) == (Reason.WOULD_TRACK, DIARY)
    assert (sandbox.vault / DIARY).read_text() == PRIVATE
    assert_private(sandbox)
    sandbox.writer.apply(replace(plan, may_track=True))
    assert sandbox.git("show", f"HEAD:{DIARY}") == public
    sandbox.writer.undo_last()
    assert (sandbox.vault / DIARY).read_text() == PRIVATE
    assert WORDS not in pushed(sandbox).replace(public, "")
    assert not sandbox.git("ls-files", "--", DIARY)
    sandbox.writer.redo()
    assert sandbox.git("show", f"HEAD:{DIARY}") == public
    assert not sandbox.git("status", "--porcelain")
