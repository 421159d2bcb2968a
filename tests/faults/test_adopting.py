"""What an editor saved in the note itself: committed as it is on disk, undone to the byte, and whole after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.text.merge import has_conflict_markers
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.write.protocol import Step
from tests.faults.writes import Desk, new_desk
from tests.git_vaults import fill

NOTE = "Projects/one.md"


class Crash(BaseException):
    """The power goes."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = new_desk(tmp_path)
    fill(desk.vault)
    desk.git("add", "--all")
    desk.git("commit", "--quiet", "--message", "base")
    return desk


def head(desk: Desk, path: str = NOTE) -> bytes:
    return desk.git("show", f"HEAD:{path}")


def test_what_an_editor_saved_is_committed_and_undone(desk: Desk) -> None:
    writer, before = desk.writer(), (desk.vault / NOTE).read_bytes()
    version = writer.commit_version(NOTE)
    desk.put(NOTE, b"# One\n\nsaved in vim\n")
    outcome = writer.apply(writer.plan_since(version))
    assert outcome.changed
    assert head(desk) == b"# One\n\nsaved in vim\n"
    assert desk.git("status", "--porcelain", "--", NOTE) == b""
    writer.undo_last()
    assert (desk.vault / NOTE).read_bytes() == before == head(desk)
    writer.redo()
    assert (desk.vault / NOTE).read_bytes() == b"# One\n\nsaved in vim\n"


def test_an_earlier_edit_outside_is_in_git_before_the_editor_runs_and_undo_restores_it(desk: Desk) -> None:
    writer, earlier = desk.writer(), b"# One\n\nedited in Obsidian\n"
    desk.put(NOTE, earlier)
    version = writer.commit_version(NOTE)
    blob = desk.git("hash-object", "--", NOTE).decode().strip()
    assert desk.git("cat-file", "blob", blob) == earlier
    desk.git("gc", "--prune=now", "--quiet")
    assert desk.git("cat-file", "blob", blob) == earlier
    assert writer.undoable() == desk.writer().undoable()
    desk.put(NOTE, b"overwritten by the editor\n")
    writer.apply(writer.plan_since(version))
    writer.undo_last()
    assert (desk.vault / NOTE).read_bytes() == earlier


def test_nothing_is_committed_where_nothing_was_saved_or_the_note_is_gone(desk: Desk) -> None:
    writer = desk.writer()
    version = writer.commit_version(NOTE)
    assert writer.plan_since(version).is_empty
    (desk.vault / NOTE).unlink()
    with pytest.raises(VaultWriteError) as refused:
        writer.plan_since(version)
    assert refused.value.reason is Reason.MISSING


def test_a_note_that_another_donna_committed_meanwhile_is_undone_in_order(desk: Desk) -> None:
    writer, before = desk.writer(), (desk.vault / NOTE).read_bytes()
    version = writer.commit_version(NOTE)
    desk.writer().write(NOTE, "# One\n\nan agent\n", replace=True)
    desk.put(NOTE, b"# One\n\nan agent\nand the editor\n")
    writer.apply(writer.plan_since(version))
    writer.undo_last()
    assert (desk.vault / NOTE).read_bytes() == b"# One\n\nan agent\n"
    writer.undo_last()
    assert (desk.vault / NOTE).read_bytes() == before


def test_what_changes_between_plan_and_commit_is_refused(desk: Desk) -> None:
    writer = desk.writer()
    version = writer.commit_version(NOTE)
    desk.put(NOTE, b"first save\n")
    plan = writer.plan_since(version)
    desk.put(NOTE, b"second save\n")
    with pytest.raises(VaultWriteError) as refused:
        writer.apply(plan)
    assert refused.value.reason is Reason.CONFLICT
    assert (desk.vault / NOTE).read_bytes() == b"second save\n"


@pytest.mark.parametrize("killed", [False, True], ids=["failed", "killed"])
@pytest.mark.parametrize("step", [step for step in Step if step is not Step.PUT])
def test_a_crash_at_any_step_leaves_what_was_saved_on_disk(
    desk: Desk, step: Step, killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if killed:
        monkeypatch.setattr("donna_tui.vault.write.protocol._revert", lambda *_: None)

    def stop(reached: Step) -> None:
        if reached is step:
            raise Crash

    version = desk.writer().commit_version(NOTE)
    desk.put(NOTE, b"saved\n")
    writer = desk.writer(reached=stop)
    with pytest.raises(Crash):
        writer.apply(writer.plan_since(version))
    again = desk.writer()
    assert again.recover() is None
    assert (desk.vault / NOTE).read_bytes() == b"saved\n"
    plan = again.plan_since(version)
    if plan.changes and head(desk) != b"saved\n":
        again.apply(plan)
    assert head(desk) == b"saved\n"
    again.undo_last()
    assert (desk.vault / NOTE).read_bytes() == version.data


def test_edits_outside_of_several_notes_are_one_step(desk: Desk) -> None:
    writer = desk.writer()
    before = {path: (desk.vault / path).read_bytes() for path in (NOTE, "Projects/two.md")}
    for path, data in before.items():
        desk.put(path, data + b"more\n")
    desk.put("Inbox/new.md", b"new\n")
    plan = writer.plan_outside((*before, "Inbox/new.md"))
    assert plan.subject == "Edit Projects/one.md and 2 other notes"
    writer.apply(plan)
    assert head(desk, "Inbox/new.md") == b"new\n"
    writer.undo_last()
    assert {path: (desk.vault / path).read_bytes() for path in before} == before
    assert not (desk.vault / "Inbox/new.md").exists()


def test_a_sensitive_note_does_not_get_into_git_by_way_of_an_editor(desk: Desk) -> None:
    desk.put("Inbox/secret.md", b"---\ndonna_sensitive: true\n---\nx\n")
    with pytest.raises(VaultWriteError) as refused:
        desk.writer().commit_version("Inbox/secret.md")
    assert refused.value.reason is Reason.SENSITIVE


def test_a_note_of_any_size_is_the_persons_to_edit(desk: Desk) -> None:
    writer, large = desk.writer(), b"x" * 70 + b"\n"
    limit = writer.rules.max_note_bytes
    desk.put(NOTE, large * (limit // len(large) + 2))
    version = writer.commit_version(NOTE)
    desk.put(NOTE, version.data + b"and a line\n")
    assert writer.apply(writer.plan_since(version)).changed
    writer.undo_last()
    assert (desk.vault / NOTE).read_bytes() == version.data


@pytest.mark.parametrize(
    ("text", "is_conflict"),
    [
        ("a\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> branch\nb\n", True),
        ("<<<<<<< mine\r\nx\r\n=======\r\ny\r\n>>>>>>> theirs\r\n", True),
        ("Heading\n=======\ntext\n", False),
        ("<<<<<<< only one\n", False),
        ("  <<<<<<< HEAD\n=======\n  >>>>>>> x\n", False),
    ],
)
def test_conflict_markers(text: str, is_conflict: bool) -> None:
    assert has_conflict_markers(text.encode()) is is_conflict
