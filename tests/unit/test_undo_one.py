"""Undoing one operation of the history, or of a session, whatever was done to other notes since."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.operations import new_session_id
from donna_tui.vault.write.changes import OperationKind, any_version
from donna_tui.vault.write.writer import VaultWriter
from tests.git_vaults import User, new_writer

ONE, TWO = "Projects/one.md", "Projects/two.md"


@pytest.fixture
def writer(tmp_path: Path) -> VaultWriter:
    vault = User(tmp_path / "home").repository(tmp_path / "vault")
    return new_writer(vault, tmp_path / "state")


def text(writer: VaultWriter, path: str) -> bytes | None:
    return writer._plan_context.read(path)


def test_an_earlier_change_of_another_note_is_undone_alone(writer: VaultWriter) -> None:
    before = text(writer, ONE)
    writer.write(ONE, "new one\n", replace=True)
    first = writer.undoable()[0]
    writer.write(TWO, "new two\n", replace=True)
    writer.apply(writer.undo_planner.undo_one(first.id))
    assert text(writer, ONE) == before
    assert text(writer, TWO) == b"new two\n"
    with pytest.raises(VaultWriteError) as refused:
        writer.undo_planner.undo_one(first.id)
    assert refused.value.reason is Reason.NOTHING_TO_UNDO


def test_what_was_changed_since_is_not_undone(writer: VaultWriter) -> None:
    writer.write(ONE, "new one\n", replace=True)
    first = writer.undoable()[0]
    writer.write(ONE, "newer one\n", replace=True)
    with pytest.raises(VaultWriteError) as refused:
        writer.undo_planner.undo_one(first.id)
    assert refused.value.reason is Reason.UNDO_CONFLICT
    (clash,) = writer.undo_planner.clashes(OperationKind.UNDO, identity=first.id)
    assert (clash.expected, clash.found) == (b"new one\n", b"newer one\n")
    assert text(writer, ONE) == b"newer one\n"


def test_the_last_change_of_a_session_is_undone_without_the_earlier_ones(writer: VaultWriter) -> None:
    session, before = new_session_id(), text(writer, TWO)
    for path in (ONE, TWO):
        plan = writer.planner.write(path, "by the agent\n", expected=any_version, replace=True)
        writer.apply(plan, session=session)
    writer.write("Inbox/old.md", "by the user\n", replace=True)
    plan = writer.undo_planner.session_plan(OperationKind.UNDO, session, 1)
    assert plan
    writer.apply(plan)
    assert text(writer, ONE) == b"by the agent\n"
    assert text(writer, TWO) == before
    assert text(writer, "Inbox/old.md") == b"by the user\n"
