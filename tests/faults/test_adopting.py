"""Text that an editor saved in the note is committed as on disk, undone to the byte, and intact after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from donna_tui.text.merge import has_conflict_markers
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.write.protocol import Step
from tests.faults.writes import Sandbox, new_sandbox
from tests.git_vaults import fill

NOTE = "Projects/one.md"


class Crash(BaseException):
    """Simulates a power failure."""


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    sandbox = new_sandbox(tmp_path)
    fill(sandbox.vault)
    sandbox.git("add", "--all")
    sandbox.git("commit", "--quiet", "--message", "base")
    return sandbox


def head(sandbox: Sandbox, path: str = NOTE) -> bytes:
    return sandbox.git("show", f"HEAD:{path}")


def test_what_an_editor_saved_is_committed_and_undone(sandbox: Sandbox) -> None:
    writer, before = sandbox.writer(), (sandbox.vault / NOTE).read_bytes()
    version = writer.commit_version(NOTE)
    sandbox.put(NOTE, b"# One\n\nsaved in vim\n")
    outcome = writer.apply(writer.plan_since(version))
    assert outcome.changed
    assert head(sandbox) == b"# One\n\nsaved in vim\n"
    assert sandbox.git("status", "--porcelain", "--", NOTE) == b""
    writer.undo_last()
    assert (sandbox.vault / NOTE).read_bytes() == before == head(sandbox)
    writer.redo()
    assert (sandbox.vault / NOTE).read_bytes() == b"# One\n\nsaved in vim\n"


def test_an_earlier_edit_outside_is_in_git_before_the_editor_runs_and_undo_restores_it(sandbox: Sandbox) -> None:
    writer, earlier = sandbox.writer(), b"# One\n\nedited in Obsidian\n"
    sandbox.put(NOTE, earlier)
    version = writer.commit_version(NOTE)
    blob = sandbox.git("hash-object", "--", NOTE).decode().strip()
    assert sandbox.git("cat-file", "blob", blob) == earlier
    sandbox.git("gc", "--prune=now", "--quiet")
    assert sandbox.git("cat-file", "blob", blob) == earlier
    assert writer.undoable() == sandbox.writer().undoable()
    sandbox.put(NOTE, b"overwritten by the editor\n")
    writer.apply(writer.plan_since(version))
    writer.undo_last()
    assert (sandbox.vault / NOTE).read_bytes() == earlier


def test_nothing_is_committed_where_nothing_was_saved_or_the_note_is_gone(sandbox: Sandbox) -> None:
    writer = sandbox.writer()
    version = writer.commit_version(NOTE)
    assert writer.plan_since(version).is_empty
    (sandbox.vault / NOTE).unlink()
    with pytest.raises(VaultWriteError) as refused:
        writer.plan_since(version)
    assert refused.value.reason is Reason.MISSING


def test_a_note_that_another_donna_committed_meanwhile_is_undone_in_order(sandbox: Sandbox) -> None:
    writer, before = sandbox.writer(), (sandbox.vault / NOTE).read_bytes()
    version = writer.commit_version(NOTE)
    sandbox.writer().write(NOTE, "# One\n\nan agent\n", replace=True)
    sandbox.put(NOTE, b"# One\n\nan agent\nand the editor\n")
    writer.apply(writer.plan_since(version))
    writer.undo_last()
    assert (sandbox.vault / NOTE).read_bytes() == b"# One\n\nan agent\n"
    writer.undo_last()
    assert (sandbox.vault / NOTE).read_bytes() == before


def test_what_changes_between_plan_and_commit_is_refused(sandbox: Sandbox) -> None:
    writer = sandbox.writer()
    version = writer.commit_version(NOTE)
    sandbox.put(NOTE, b"first save\n")
    plan = writer.plan_since(version)
    sandbox.put(NOTE, b"second save\n")
    with pytest.raises(VaultWriteError) as refused:
        writer.apply(plan)
    assert refused.value.reason is Reason.CONFLICT
    assert (sandbox.vault / NOTE).read_bytes() == b"second save\n"


@pytest.mark.cases(5)
@pytest.mark.parametrize("killed", [False, True], ids=["failed", "killed"])
@pytest.mark.parametrize("step", [step for step in Step if step is not Step.PUT])
def test_a_crash_at_any_step_leaves_what_was_saved_on_disk(
    sandbox: Sandbox, step: Step, killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if killed:
        monkeypatch.setattr("donna_tui.vault.write.protocol._revert", lambda *_: None)

    def stop(reached: Step) -> None:
        if reached is step:
            raise Crash

    version = sandbox.writer().commit_version(NOTE)
    sandbox.put(NOTE, b"saved\n")
    writer = sandbox.writer(reached=stop)
    with pytest.raises(Crash):
        writer.apply(writer.plan_since(version))
    again = sandbox.writer()
    assert again.recover() is None
    assert (sandbox.vault / NOTE).read_bytes() == b"saved\n"
    plan = again.plan_since(version)
    if plan.changes and head(sandbox) != b"saved\n":
        again.apply(plan)
    assert head(sandbox) == b"saved\n"
    again.undo_last()
    assert (sandbox.vault / NOTE).read_bytes() == version.data


def test_edits_outside_of_several_notes_are_one_step(sandbox: Sandbox) -> None:
    writer = sandbox.writer()
    before = {path: (sandbox.vault / path).read_bytes() for path in (NOTE, "Projects/two.md")}
    for path, data in before.items():
        sandbox.put(path, data + b"more\n")
    sandbox.put("Inbox/new.md", b"new\n")
    plan = writer.plan_outside((*before, "Inbox/new.md"))
    assert plan.subject == "Edit Projects/one.md and 2 other notes"
    writer.apply(plan)
    assert head(sandbox, "Inbox/new.md") == b"new\n"
    writer.undo_last()
    assert {path: (sandbox.vault / path).read_bytes() for path in before} == before
    assert not (sandbox.vault / "Inbox/new.md").exists()


def test_what_was_deleted_and_renamed_outside_is_committed_and_undone(sandbox: Sandbox) -> None:
    writer, two = sandbox.writer(), "Projects/two.md"
    before = {path: (sandbox.vault / path).read_bytes() for path in (NOTE, two)}
    (sandbox.vault / NOTE).rename(sandbox.vault / "Inbox/renamed.md")
    (sandbox.vault / two).unlink()
    assert writer.history.outside() == {NOTE: True, two: True, "Inbox/renamed.md": False}
    moved = writer.plan_outside(["Inbox/renamed.md"])
    assert moved.subject == f"Move {NOTE} to Inbox/renamed.md"
    writer.apply(moved)
    sandbox.put("Inbox/secret.md", b"---\ndonna_sensitive: true\n---\nx\n")
    deleted = writer.plan_outside([two, "Inbox/secret.md"])
    assert (deleted.paths, deleted.remarks) == ((two,), ("not committed: Inbox/secret.md",))
    writer.apply(deleted)
    (sandbox.vault / "Inbox/secret.md").unlink()
    assert sandbox.git("status", "--porcelain") == b""
    assert b"two.md" not in sandbox.git("ls-tree", "-r", "--name-only", "HEAD")
    assert writer.history.outside() == {}
    writer.undo_last(2)
    assert {path: (sandbox.vault / path).read_bytes() for path in before} == before
    assert not (sandbox.vault / "Inbox/renamed.md").exists()


def test_a_new_note_with_an_old_date_is_among_the_edits_outside(sandbox: Sandbox) -> None:
    sandbox.put("Inbox/unpacked.md", b"new\n")
    os.utime(sandbox.vault / "Inbox/unpacked.md", (1_000_000_000, 1_000_000_000))
    assert sandbox.writer().history.outside() == {"Inbox/unpacked.md": False}


def test_a_sensitive_note_does_not_get_into_git_by_way_of_an_editor(sandbox: Sandbox) -> None:
    sandbox.put("Inbox/secret.md", b"---\ndonna_sensitive: true\n---\nx\n")
    with pytest.raises(VaultWriteError) as refused:
        sandbox.writer().commit_version("Inbox/secret.md")
    assert refused.value.reason is Reason.SENSITIVE


def test_edits_of_a_note_above_the_size_limit_can_be_committed(sandbox: Sandbox) -> None:
    writer, large = sandbox.writer(), b"x" * 70 + b"\n"
    limit = writer.rules.max_note_bytes
    sandbox.put(NOTE, large * (limit // len(large) + 2))
    version = writer.commit_version(NOTE)
    sandbox.put(NOTE, version.data + b"and a line\n")
    assert writer.apply(writer.plan_since(version)).changed
    writer.undo_last()
    assert (sandbox.vault / NOTE).read_bytes() == version.data


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
def test_has_conflict_markers_detects_git_conflicts(text: str, is_conflict: bool) -> None:
    assert has_conflict_markers(text.encode()) is is_conflict
