"""Edits that wait are on disk, private, whole, and nobody else's files are taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.errors import Reason, VaultWriteError
from donna_tui.notes import Edit
from donna_tui.vault import durable
from donna_tui.vault.shelf import EditShelf

EDIT = Edit("Folder/Ünïcode ␛.md", "before\r\n", "0" * 64, "before\r\nand \x1b after\n")
NEW = Edit("a.md", "", None, "new\n")


def test_what_is_kept_is_found_by_another_program(tmp_path: Path) -> None:
    shelf = EditShelf(tmp_path / "edits")
    assert shelf.edits() == ()
    shelf.keep(EDIT)
    shelf.keep(NEW)
    assert EditShelf(tmp_path / "edits").edits() == (EDIT, NEW)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "edits").iterdir()} == {0o600}
    assert (tmp_path / "edits").stat().st_mode & 0o777 == 0o700


def test_a_later_edit_of_a_note_takes_the_place_of_the_earlier(tmp_path: Path) -> None:
    shelf = EditShelf(tmp_path)
    shelf.keep(NEW)
    shelf.keep(Edit("a.md", "", None, "newer\n"))
    assert [edit.text for edit in shelf.edits()] == ["newer\n"]
    shelf.drop("a.md")
    shelf.drop("a.md")
    assert shelf.edits() == ()


def test_a_full_disk_leaves_the_earlier_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = EditShelf(tmp_path)
    shelf.keep(NEW)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable.os, "fsync", full)
    with pytest.raises(VaultWriteError) as caught:
        shelf.keep(Edit("a.md", "", None, "newer\n"))
    assert caught.value.reason is Reason.DISK_FULL
    assert shelf.edits() == (NEW,)
    assert [file.suffix for file in tmp_path.iterdir()] == [".json"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"path": 1, "base": "", "etag": null, "text": ""}', b"\xff\xfe"]
)
def test_a_file_that_is_no_edit_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "strange.json").write_bytes(content)
    shelf = EditShelf(tmp_path)
    shelf.keep(NEW)
    assert shelf.edits() == (NEW,)
    assert (tmp_path / "strange.json").read_bytes() == content
