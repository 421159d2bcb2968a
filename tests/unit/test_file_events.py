"""File events are classified by what is on disk now."""

from __future__ import annotations

import os
from pathlib import Path

from donna_tui.ingest.watcher import FileEvents, sort_events
from donna_tui.vault.client import VaultClient


def sort(root: Path, *paths: str) -> FileEvents:
    return sort_events(VaultClient(root, ignore=("Templates/**",)), root, paths)


def test_file_events_are_sorted_into_notes_folders_and_gone(tmp_path: Path) -> None:
    (tmp_path / "P").mkdir()
    (tmp_path / "P" / "a.md").write_text("x")
    found = sort(tmp_path, "P/a.md", "P", "gone.md", "gone")
    assert found == FileEvents(("P/a.md",), ("P",), ("gone", "gone.md"))


def test_the_root_itself_is_a_folder(tmp_path: Path) -> None:
    assert sort(tmp_path, "") == FileEvents((), ("",), ())


def test_events_of_other_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "Templates").mkdir()
    for name in ("picture.png", "Templates/t.md", "a.md~", ".hidden.md"):
        (tmp_path / name).write_text("x")
    assert sort(tmp_path, "picture.png", "Templates/t.md", "a.md~", ".hidden.md") == FileEvents((), (), ())


def test_the_folder_of_conflict_copies_is_compared_once(tmp_path: Path) -> None:
    (tmp_path / "P").mkdir()
    copies = [f"P/a.sync-conflict-20261120-10101{n}-ABCDEFG.md" for n in range(2)]
    for copy in copies:
        (tmp_path / copy).write_text("x")
    assert sort(tmp_path, *copies) == FileEvents((), ("P",), ())


def test_hidden_paths_are_left_out_even_when_gone(tmp_path: Path) -> None:
    assert sort(tmp_path, ".obsidian/workspace.json", "P/.git/index", ".trash") == FileEvents((), (), ())


def test_a_link_to_a_folder_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    assert sort(tmp_path, "link").folders == ()


def test_paths_that_cannot_be_asked_for_count_as_gone(tmp_path: Path) -> None:
    long = "x" * 5_000
    assert sort(tmp_path, long, "a\x00b").vanished == ("a\x00b", long)
