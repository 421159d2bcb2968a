"""A note keeps its owner and group through every operation, or Donna reports that she cannot preserve them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.operations import message_of, parse_message
from tests.git_layouts import Sandbox, new_sandbox, own
from tests.git_vaults import new_writer, tree_of

NOTE = "Projects/one.md"
THEIRS = (12345, 54321)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")


def owner(sandbox: Sandbox, path: str) -> tuple[int, int]:
    found = (sandbox.vault / path).stat()
    return found.st_uid, found.st_gid


def owned(base: Path, mode: int = 0o644) -> Sandbox:
    """Create a vault with a note of another user."""
    sandbox = new_sandbox(base, own)
    (sandbox.vault / NOTE).chmod(mode)
    os.chown(sandbox.vault / NOTE, *THEIRS)
    return sandbox


@as_root
def test_owner_and_group_are_kept_by_every_operation_and_its_undo(base: Path) -> None:
    sandbox = owned(base, 0o640)
    writer = sandbox.writer
    writer.write(NOTE, "changed\n", replace=True)
    assert owner(sandbox, NOTE) == THEIRS
    writer.move(NOTE, "Projects/uno.md")
    assert owner(sandbox, "Projects/uno.md") == THEIRS
    writer.delete("Projects/uno.md")
    writer = new_writer(sandbox.vault, base / "state")
    writer.undo_last()
    assert owner(sandbox, "Projects/uno.md") == THEIRS
    writer.undo_last(2)
    assert owner(sandbox, NOTE) == THEIRS
    writer.redo(2)
    assert owner(sandbox, "Projects/uno.md") == THEIRS
    assert owner(sandbox, "Projects/two.md") == (os.geteuid(), os.getegid())


@as_root
@pytest.mark.parametrize(("mode", "may"), [(0o644, False), (0o640, False), (0o664, False), (0o666, True)])
def test_write_is_refused_if_it_would_remove_access_of_the_owner(
    base: Path, monkeypatch: pytest.MonkeyPatch, mode: int, may: bool
) -> None:
    sandbox = owned(base, mode)
    before = tree_of(sandbox.vault)

    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    if may:
        assert sandbox.writer.write(NOTE, "changed\n", replace=True)
        return
    with pytest.raises(VaultWriteError) as refused:
        sandbox.writer.write(NOTE, "changed\n", replace=True)
    assert (refused.value.reason, refused.value.path) == (Reason.UNREADABLE, NOTE)
    assert "belongs to another user" in refused.value.message
    assert tree_of(sandbox.vault) == before
    assert owner(sandbox, NOTE) == THEIRS
    assert not list(sandbox.vault.rglob(".donna-*"))


@as_root
def test_write_keeps_the_group_if_the_owner_cannot_be_kept(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = owned(base, 0o664)
    give = os.fchown

    def only_groups(descriptor: int, user: int, group: int) -> None:
        if user != -1:
            raise PermissionError(1, "Operation not permitted")
        give(descriptor, user, group)

    monkeypatch.setattr(os, "fchown", only_groups)
    sandbox.writer.write(NOTE, "changed\n", replace=True)
    assert owner(sandbox, NOTE) == (os.geteuid(), THEIRS[1])


def test_a_message_tells_the_owner_of_what_was_deleted(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.writer.delete(NOTE)
    (operation,) = sandbox.writer.undoable()
    assert not operation.changes[0].owner
    text = message_of(operation).replace("\nDonna-Post", '\nDonna-Owner: 1:2 "Projects/one.md"\nDonna-Post')
    known = parse_message(text, commit=operation.commit, at=operation.at)
    assert known.changes[0].owner == "1:2"
    assert "Donna-Owner: 1:2" in message_of(known)
