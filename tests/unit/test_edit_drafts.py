"""Unsaved edits are stored on disk, complete and readable by the user only; other files are not mistaken for one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.types.notes import Edit
from donna_tui.vault.edit_drafts import EditDrafts, edited_text

EDIT = Edit("Folder/Ünïcode ␛.md", "before\r\n", "0" * 64, "before\r\nand \x1b after\n")
NEW = Edit("a.md", "", None, "new\n")


def test_stored_edits_are_found_by_another_process(tmp_path: Path) -> None:
    unsaved = EditDrafts(tmp_path / "edits")
    assert unsaved.edits() == ()
    unsaved.store(EDIT)
    unsaved.store(NEW)
    assert EditDrafts(tmp_path / "edits").edits() == (EDIT, NEW)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "edits").iterdir()} == {0o600}
    assert (tmp_path / "edits").stat().st_mode & 0o777 == 0o700


def test_a_later_edit_of_a_note_takes_the_place_of_the_earlier(tmp_path: Path) -> None:
    unsaved = EditDrafts(tmp_path)
    unsaved.store(NEW)
    unsaved.store(Edit("a.md", "", None, "newer\n"))
    assert [edit.text for edit in unsaved.edits()] == ["newer\n"]
    unsaved.drop("a.md")
    unsaved.drop("a.md")
    assert unsaved.edits() == ()


def test_a_full_disk_leaves_the_earlier_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unsaved = EditDrafts(tmp_path)
    unsaved.store(NEW)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VaultWriteError) as caught:
        unsaved.store(Edit("a.md", "", None, "newer\n"))
    assert caught.value.reason is Reason.DISK_FULL
    assert unsaved.edits() == (NEW,)
    assert [file.suffix for file in tmp_path.iterdir()] == [".json"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"path": 1, "base": "", "etag": null, "text": ""}', b"\xff\xfe"]
)
def test_a_file_that_is_no_edit_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "strange.json").write_bytes(content)
    unsaved = EditDrafts(tmp_path)
    unsaved.store(NEW)
    assert unsaved.edits() == (NEW,)
    assert (tmp_path / "strange.json").read_bytes() == content


@pytest.mark.parametrize(
    "path", ["a/b.md", "../../etc/x.md", "-rf.md", "\x1b]0;x.md", "a\ud800.md", ".md", "x" * 999 + ".md"]
)
def test_the_copy_for_an_editor_is_private_and_has_a_harmless_name(tmp_path: Path, path: str) -> None:
    unsaved = EditDrafts(tmp_path / "edits")
    file = unsaved.begin(Edit(path, "", None, "text\r\n"))
    assert file.read_bytes() == b"text\r\n"
    assert file.suffix == ".md"
    assert file.name.isprintable()
    assert file.is_absolute()
    assert not file.name.startswith((".", "-"))
    assert len(os.fsencode(file.name)) < 255
    assert {each.stat().st_mode & 0o777 for each in (tmp_path / "edits").rglob("*")} == {0o600, 0o700}
    unsaved.drop(path)
    assert not list((tmp_path / "edits").iterdir())


def test_text_saved_by_an_editor_is_listed_immediately(tmp_path: Path) -> None:
    file = EditDrafts(tmp_path).begin(EDIT)
    file.write_text("typed in the editor\n", encoding="utf-8")
    saved = Edit(EDIT.path, EDIT.base, EDIT.etag, "typed in the editor\n")
    unsaved = EditDrafts(tmp_path)
    assert unsaved.edits() == (saved,)
    unsaved.store(saved)
    assert not file.exists()
    assert unsaved.edits() == (saved,)


def test_a_copy_in_which_nothing_was_changed_is_removed(tmp_path: Path) -> None:
    file = EditDrafts(tmp_path).begin(EDIT)
    assert EditDrafts(tmp_path).edits() == ()
    assert not file.parent.exists()


def test_what_an_editor_keeps_for_a_recovery_stays(tmp_path: Path) -> None:
    file = EditDrafts(tmp_path).begin(EDIT)
    (file.parent / f".{file.name}.swp").write_bytes(b"what vim had not saved")
    assert EditDrafts(tmp_path).edits() == ()
    (copy,) = EditDrafts(tmp_path).copies()
    assert copy.other_files == (f".{file.name}.swp",)


def test_a_copy_that_another_program_waits_for_is_left_alone(tmp_path: Path) -> None:
    file = EditDrafts(tmp_path).begin(EDIT)
    begun = file.parent / "edit.json"
    begun.write_text(json.dumps({**json.loads(begun.read_text()), "owner": os.getppid()}))
    unsaved = EditDrafts(tmp_path)
    assert unsaved.edits() == ()
    unsaved.store(EDIT)
    assert file.exists()
    unsaved.drop(EDIT.path)
    assert file.exists()


def test_a_copy_that_is_no_text_any_more_is_kept(tmp_path: Path) -> None:
    unsaved = EditDrafts(tmp_path)
    file = unsaved.begin(EDIT)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(VaultWriteError) as caught:
        edited_text(file)
    assert caught.value.reason is Reason.ENCODING
    assert str(file) in (caught.value.hint or "")
    assert unsaved.edits() == ()
    assert file.exists()
    file.unlink()
    with pytest.raises(VaultWriteError) as gone:
        edited_text(file)
    assert gone.value.reason is Reason.IO_ERROR


def test_a_copy_that_cannot_be_stored_is_reported(tmp_path: Path) -> None:
    (tmp_path / "edits").write_text("a file is in the way")
    with pytest.raises(VaultWriteError) as caught:
        EditDrafts(tmp_path / "edits").begin(EDIT)
    assert caught.value.reason is Reason.IO_ERROR
