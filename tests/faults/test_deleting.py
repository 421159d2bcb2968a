"""Deleting a note that others link to: the broken links are counted, and unlinking is part of the same commit and undo.

A deleted folder includes the notes in it.
"""

from __future__ import annotations

from pathlib import Path

from donna_tui.vault.write.changes import any_version
from tests.git_vaults import fill, new_writer

NOTE = "Ideas/Garden.md"
LINKS = {
    "Home.md": b"[[Garden]], [[Ideas/Garden|beds]]\r\nand [here](Ideas/Garden.md#beans).\r\n",
    "Ideas/List.md": b"\xef\xbb\xbf![[Garden]]\n",
    "Other.md": b"`[[Garden]]` and [[Gardening]]\n",
}


def test_links_to_a_deleted_note_are_counted_unlinked_and_restored(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    fill(vault, {**LINKS, NOTE: b"# Garden\n"})
    writer = new_writer(vault, tmp_path / "state")
    writer.init_if_missing()
    plan = writer.planner.delete(NOTE, expected=any_version, links=True)
    assert plan.paths == (NOTE,)
    assert plan.remarks == ("4 links in 2 notes will be broken",)
    assert plan.broken_links == 4
    plan = writer.planner.delete(NOTE, expected=any_version, unlinks=True)
    assert (plan.remarks, plan.broken_links) == ((), 0)
    assert set(writer.apply(plan).paths) == {NOTE, "Home.md", "Ideas/List.md"}
    assert (vault / "Home.md").read_bytes() == b"Garden, beds\r\nand here.\r\n"
    assert (vault / "Ideas/List.md").read_bytes() == b"\xef\xbb\xbfGarden\n"
    assert (vault / "Other.md").read_bytes() == LINKS["Other.md"]
    assert not (vault / NOTE).exists()
    writer.undo_last()
    assert {path: (vault / path).read_bytes() for path in LINKS} == LINKS
    assert (vault / NOTE).read_bytes() == b"# Garden\n"


def test_a_deleted_folder_leaves_no_empty_folders_behind(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    fill(vault, {"Home.md": "home\n", "Ideas/Old/Older/a.md": "a\n", "Ideas/New/b.md": "b\n"})
    writer = new_writer(vault, tmp_path / "state")
    writer.init_if_missing()
    writer.apply(writer.planner.delete_all(["Ideas"]))
    assert sorted(each.name for each in vault.iterdir()) == [".git", "Home.md"]
