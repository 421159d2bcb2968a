"""Work of the user's that is staged: their next commit holds it, all of it, and nothing that takes Donna's change back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git import index as userindex
from donna_tui.vault.write.protocol import Step
from tests.git_layouts import LAYOUTS, Desk, Layout, new_desk, own, sparse
from tests.git_vaults import fill, new_writer, tree_of

ALPHA, BETA = "Projects/one.md", "Inbox/old.md"


def staged(desk: Desk) -> set[str]:
    """The vault paths that the user's next commit would change."""
    return set(desk.git("diff", "--cached", "--name-only", "--no-renames", "--relative", "-z").split("\0")) - {""}


def stage(desk: Desk, path: str, text: str) -> None:
    fill(desk.vault, {path: text})
    desk.git("add", path)


def commit(desk: Desk) -> set[str]:
    """Commit what is staged, as a person does; the vault paths that this commit changes."""
    desk.git("commit", "--quiet", "--message", "mine")
    changed = desk.git("diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD~1", "HEAD")
    return set(changed.split("\0")) - {""}


OPERATIONS: dict[str, Callable[[Desk], object]] = {
    "write": lambda desk: desk.writer.write(ALPHA, "Donna's\n", replace=True),
    "new": lambda desk: desk.writer.write("Inbox/new.md", "new\n"),
    "delete": lambda desk: desk.writer.delete(ALPHA),
    "move": lambda desk: desk.writer.move(ALPHA, "Projects/uno.md"),
    "undo": lambda desk: desk.writer.undo_last(),
    "redo": lambda desk: (desk.writer.undo_last(), desk.writer.redo()),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_users_next_commit_holds_what_was_staged_and_nothing_else(base: Path, operation: str) -> None:
    desk = new_desk(base, own)
    desk.writer.write("Projects/two.md", "first [[one]]\n", replace=True)
    stage(desk, BETA, "mine\n")
    OPERATIONS[operation](desk)
    assert staged(desk) == {BETA}
    assert commit(desk) == {BETA}
    assert not desk.git("status", "--porcelain")
    assert {path for path in tree_of(desk.vault) if path.endswith(".md")} == set(
        desk.git("ls-tree", "-r", "-z", "--name-only", "HEAD").strip("\0").split("\0")
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_every_layout(base: Path, layout: Layout) -> None:
    desk = new_desk(base, layout)
    stage(desk, BETA, "mine\n")
    OPERATIONS["write"](desk)
    assert commit(desk) == {BETA}
    assert not desk.git("status", "--porcelain")


@pytest.mark.parametrize("form", ["--split-index", "--untracked-cache", "--index-version=4", "--fsmonitor"])
def test_in_every_form_of_the_index(base: Path, form: str) -> None:
    desk = new_desk(base, own)
    stage(desk, BETA, "mine\n")
    desk.git("update-index", form)
    OPERATIONS["move"](desk)
    desk.git("update-index", "--no-fsmonitor")
    assert commit(desk) == {BETA}
    assert not desk.git("status", "--porcelain")


def test_beside_a_sparse_checkout(base: Path) -> None:
    desk = new_desk(base, sparse)
    stage(desk, BETA, "mine\n")
    OPERATIONS["write"](desk)
    assert commit(desk) == {BETA}
    assert desk.git("show", "HEAD:Outside/far.md") == "not checked out\n"


def test_a_part_of_a_note_that_is_staged_is_left_to_the_user(base: Path) -> None:
    """The index, the disk and the branch each hold another version: whatever became of the index would lose one."""
    desk = new_desk(base, own)
    stage(desk, ALPHA, "half\n")
    fill(desk.vault, {ALPHA: "half\nand more\n"})
    index, before = desk.git("ls-files", "--stage"), tree_of(desk.vault)
    for operation in ("write", "delete", "move"):
        with pytest.raises(VaultWriteError) as refused:
            OPERATIONS[operation](desk)
        assert (refused.value.reason, refused.value.path) == (Reason.GIT_BUSY, ALPHA)
        assert "staged" in refused.value.message
    assert (desk.git("ls-files", "--stage"), tree_of(desk.vault)) == (index, before)
    desk.writer.write(BETA, "another note is free\n", replace=True)
    assert staged(desk) == {ALPHA}
    desk.git("restore", "--staged", ALPHA)
    OPERATIONS["write"](desk)


def test_a_note_that_is_no_longer_to_be_tracked_is_left_to_the_user(base: Path) -> None:
    desk = new_desk(base, own)
    desk.git("rm", "--quiet", "--cached", ALPHA)
    with pytest.raises(VaultWriteError) as refused:
        OPERATIONS["write"](desk)
    assert refused.value.reason is Reason.GIT_BUSY


def test_what_is_staged_as_it_is_on_disk_is_what_is_changed(base: Path) -> None:
    desk = new_desk(base, own)
    stage(desk, ALPHA, "all of it\n")
    fill(desk.vault, {"Inbox/meant.md": "meant\n"})
    desk.git("add", "--intent-to-add", "Inbox/meant.md")
    desk.writer.write(ALPHA, "all of it and more\n", replace=True)
    desk.writer.write("Inbox/meant.md", "meant and written\n", replace=True)
    assert not staged(desk)
    assert not desk.git("status", "--porcelain")
    desk.writer.undo_last(2)
    assert (desk.vault / ALPHA).read_text() == "all of it\n"


def test_what_is_staged_while_donna_writes_stays_staged(base: Path) -> None:
    desk = new_desk(base, own)

    def reached(step: Step) -> None:
        if step is Step.ADVANCED:
            stage(desk, BETA, "mine\n")
            blob = desk.git("hash-object", "-w", "--stdin", given="partly\n").strip()
            desk.git("update-index", "--cacheinfo", f"100644,{blob},Projects/two.md")

    object.__setattr__(desk.writer._context, "reached", reached)
    desk.writer.move(ALPHA, "Projects/uno.md")
    assert staged(desk) == {BETA, "Projects/two.md"}
    assert desk.git("show", ":Projects/two.md") == "partly\n"


def test_stopped_before_the_index_followed_it_follows_at_the_next_start(base: Path) -> None:
    desk = new_desk(base, own)
    stage(desk, BETA, "mine\n")

    def stop(step: Step) -> None:
        if step is Step.ADVANCED:
            raise KeyboardInterrupt

    object.__setattr__(desk.writer._context, "reached", stop)
    with pytest.raises(KeyboardInterrupt):
        OPERATIONS["write"](desk)
    object.__setattr__(desk.writer._context, "reached", lambda _: None)
    desk.writer.recover()
    assert commit(desk) == {BETA}


def test_an_index_that_a_stopped_donna_of_another_home_left_behind_is_brought_up(base: Path) -> None:
    desk = new_desk(base, own)
    stage(desk, BETA, "mine\n")

    def stop(step: Step) -> None:
        if step is Step.ADVANCED:
            raise SystemExit

    other = Desk(desk.user, desk.vault, new_writer(desk.vault, base / "another home"))
    object.__setattr__(other.writer._context, "reached", stop)
    for operation in ("write", "new"):
        with pytest.raises(SystemExit):
            OPERATIONS[operation](other)
    desk.writer.write(ALPHA, "over it\n", replace=True)
    desk.writer.write("Inbox/new.md", "over this too\n", replace=True)
    assert commit(desk) == {BETA}


def test_an_operation_on_more_notes_than_a_command_line_holds(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(userindex, "_MOST_PATHS", 3)
    desk = new_desk(base, own)
    fill(desk.vault, {f"Inbox/{number}.md": "see [[one]]\n" for number in range(10)})
    desk.user.commit_all(desk.vault, "many")
    stage(desk, "Inbox/7.md", "partly, of [[one]]\n")
    fill(desk.vault, {"Inbox/7.md": "see [[one]] again\n"})
    with pytest.raises(VaultWriteError) as refused:
        desk.writer.move(ALPHA, "Projects/uno.md")
    assert refused.value.path == "Inbox/7.md"
    desk.git("restore", "--staged", "Inbox/7.md")
    desk.writer.move(ALPHA, "Projects/uno.md")
    assert not desk.git("status", "--porcelain")
