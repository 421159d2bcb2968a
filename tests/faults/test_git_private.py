"""Private notes that were left out of git stay out of the branch, whatever Donna does; her own record has them for undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.conflicts import Keep
from donna_tui.vault.write.changes import whatever
from donna_tui.vault.write.protocol import Step
from tests.git_layouts import Desk
from tests.git_vaults import User, fill, new_writer, tree_of

DIARY = "Private/diary.md"
WORDS = "the very secret words"
COPY = "Private/diary.sync-conflict-20260102-030405-ABCDEFG.md"
PRIVATE = f"---\ndonna: local-only\n---\n{WORDS}, see [[one]]\n- [ ] call\n"


def begun(base: Path) -> Desk:
    """A vault whose history Donna began, beside a private note."""
    user = User(base / "home")
    vault = base / "v"
    fill(vault, {"Projects/one.md": "# One\n", "Projects/two.md": "see [[one]]\n", DIARY: PRIVATE})
    writer = new_writer(vault, base / "state")
    assert writer.init_if_missing()
    return Desk(user, vault, writer)


def pushed(desk: Desk) -> str:
    """All that a push of the branches takes along: messages, names and contents of every commit."""
    listed = desk.git("rev-list", "--objects", "--branches").split()
    blobs = desk.git("cat-file", "--batch", given="\n".join(listed)) if listed else ""
    return desk.git("log", "--branches", "--format=%H %B", "--name-only") + blobs


def assert_private(desk: Desk) -> None:
    """Nothing of the diary is in the branch, neither its words nor its name nor a hash of what it says."""
    everything = pushed(desk)
    assert WORDS not in everything
    assert "diary" not in everything
    data = (desk.vault / DIARY).read_bytes() if (desk.vault / DIARY).exists() else b""
    assert not data or desk.git("hash-object", "--stdin", given=data.decode()).strip() not in everything
    assert not desk.git("ls-files", "--", "Private")


def edited(desk: Desk) -> str:
    return (desk.vault / DIARY).read_text().replace("call", "call again")


def settle(desk: Desk, keep: Keep) -> None:
    fill(desk.vault, {COPY: PRIVATE + "more\n"})
    writer = desk.writer
    writer.apply(writer.resolver.plan(writer.resolver.conflict(COPY), keep))


OPERATIONS: dict[str, Callable[[Desk], object]] = {
    "write": lambda desk: desk.writer.write(DIARY, edited(desk), replace=True),
    "new": lambda desk: desk.writer.write("Private/diary 2.md", PRIVATE),
    "link rewritten": lambda desk: desk.writer.move("Projects/one.md", "Projects/uno.md"),
    "move": lambda desk: desk.writer.move(DIARY, "Private/my diary.md"),
    "delete": lambda desk: desk.writer.delete(DIARY),
    "keep theirs": lambda desk: settle(desk, Keep.THEIRS),
    "keep both": lambda desk: settle(desk, Keep.BOTH),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_private_gets_into_the_branch(base: Path, operation: str) -> None:
    desk = begun(base)
    OPERATIONS[operation](desk)
    after = tree_of(desk.vault)
    assert_private(desk)
    desk.writer.undo_last()
    assert (desk.vault / DIARY).read_text() == PRIVATE
    assert_private(desk)
    desk.git("gc", "--quiet", "--prune=now")
    desk.writer.redo()
    assert tree_of(desk.vault) == after
    assert_private(desk)
    assert not desk.git("fsck", "--strict", "--no-dangling").strip()
    status = desk.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert all(line.startswith("?? ") and "Private/" in line for line in status)


def test_what_is_public_of_an_operation_is_committed(base: Path) -> None:
    desk = begun(base)
    plan = desk.writer.planner.move("Projects/one.md", "Projects/uno.md", seen=whatever)
    outcome = desk.writer.apply(plan)
    assert outcome.record_only == (DIARY,)
    assert desk.git("show", "HEAD:Projects/two.md") == "see [[uno]]\n"
    assert "[[uno]]" in (desk.vault / DIARY).read_text()


def test_on_a_branch_without_any_commit(base: Path) -> None:
    user = User(base / "home")
    vault = base / "v"
    fill(vault, {DIARY: PRIVATE})
    user.git(vault, "init", "--quiet")
    desk = Desk(user, vault, new_writer(vault, base / "state"))
    OPERATIONS["write"](desk)
    assert not desk.git("rev-list", "--branches")
    desk.writer.undo_last()
    assert (vault / DIARY).read_text() == PRIVATE


@pytest.mark.parametrize("step", [Step.PREPARED, Step.INTENDED, Step.PUT, Step.ADVANCED, Step.FOLLOWED])
def test_stopped_in_the_middle(base: Path, step: Step) -> None:
    desk = begun(base)

    def stop(reached: Step) -> None:
        if reached is step:
            raise SystemExit

    object.__setattr__(desk.writer._context, "reached", stop)
    with pytest.raises(SystemExit):
        OPERATIONS["write"](desk)
    desk = Desk(desk.user, desk.vault, new_writer(desk.vault, base / "state"))
    assert desk.writer.recover() is None
    assert_private(desk)
    done = "call again" in (desk.vault / DIARY).read_text()
    assert len(desk.writer.undoable()) == done
    assert not list(desk.vault.rglob(".donna-*"))


def test_a_private_note_that_the_user_committed_is_committed_further(base: Path) -> None:
    """It is in the history by the user's own will, and stays there through moves, deletions and their undo."""
    desk = begun(base)
    desk.user.commit_all(desk.vault, "mine")
    OPERATIONS["write"](desk)
    OPERATIONS["move"](desk)
    desk.writer.delete("Private/my diary.md")
    desk.writer.undo_last(2)
    desk.writer.redo(2)
    desk.writer.undo_last(3)
    assert desk.git("show", f"HEAD:{DIARY}") == PRIVATE
    assert not desk.git("status", "--porcelain")


def test_a_private_note_that_the_user_took_out_of_git_stays_out(base: Path) -> None:
    desk = begun(base)
    desk.user.commit_all(desk.vault, "by mistake")
    desk.git("rm", "--quiet", "--cached", DIARY)
    desk.git("commit", "--quiet", "--message", "not in git")
    OPERATIONS["write"](desk)
    desk.writer.delete(DIARY)
    desk.writer.undo_last()
    assert not desk.git("ls-tree", "HEAD", "Private/")


def test_the_first_commit_of_a_note_that_was_private_needs_consent(base: Path) -> None:
    desk = begun(base)
    public = PRIVATE.replace("donna: local-only\n", "title: Diary\n")
    plan = desk.writer.planner.write(DIARY, public, seen=whatever, replace=True)
    with pytest.raises(VaultWriteError) as refused:
        desk.writer.apply(plan)
    assert (refused.value.reason, refused.value.path) == (Reason.WOULD_TRACK, DIARY)
    assert (desk.vault / DIARY).read_text() == PRIVATE
    assert_private(desk)
    desk.writer.apply(replace(plan, may_track=True))
    assert desk.git("show", f"HEAD:{DIARY}") == public
    desk.writer.undo_last()
    assert (desk.vault / DIARY).read_text() == PRIVATE
    assert WORDS not in pushed(desk).replace(public, "")
    assert not desk.git("ls-files", "--", DIARY)
    desk.writer.redo()
    assert desk.git("show", f"HEAD:{DIARY}") == public
    assert not desk.git("status", "--porcelain")
