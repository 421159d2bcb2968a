"""Comparing vault and index: the set difference, and when a file counts as unchanged without being read."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.index.database import Database
from donna_tui.index.files import FileState, save_state
from donna_tui.ingest.reconcile import Difference, compare
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.vault.client import VaultClient
from tests.unit.index_parts import open_store

OLD = 1_600_000_000_000_000_000


class Desk:
    """A vault, its client and an index of file states."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        self.client = VaultClient(self.root, ignore=(".obsidian/**",), max_bytes=1_000)
        self.database: Database = open_store(folder / "index.db").database

    def write(self, path: str, text: str | bytes = "text") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, ns=(OLD, OLD))
        return file

    def know(self, path: str, **others: object) -> None:
        """Record a file as it is now, as if it had been checked an hour from now: nothing is recent then."""
        stat = self.client.stat(path)
        values = {
            "state": "indexed", "size": stat.size, "mtime_ns": stat.mtime_ns, "ctime_ns": stat.ctime_ns,
            "inode": stat.inode, "etag": "x", "checked_at": time.time() + 3600, **others,
        }  # fmt: skip
        save_state(self.database, FileState(path=path, **values))  # type: ignore[arg-type]  # fields of a state

    def compare(self, prefix: str = "", *, hash_all: bool = False) -> Difference:
        return compare(self.client, self.database, prefix, hash_all=hash_all)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.database.close()


def test_new_changed_gone_and_unchanged(desk: Desk) -> None:
    for name in ("same.md", "changed.md", "gone.md"):
        desk.write(name)
        desk.know(name)
    desk.write("new.md")
    desk.write("changed.md", "longer text")
    (desk.root / "gone.md").unlink()
    found = desk.compare()
    assert (found.new, found.changed, found.missing, found.seen) == (("new.md",), ("changed.md",), ("gone.md",), 3)


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_one_differing_number_is_enough_to_read_a_note(desk: Desk, field: str) -> None:
    desk.write("a.md")
    desk.know("a.md")
    assert desk.compare().changed == ()
    desk.know("a.md", **{field: 12_345})
    assert desk.compare().changed == ("a.md",)


def test_a_change_of_the_same_size_with_the_old_time_is_seen(desk: Desk) -> None:
    desk.write("a.md", "text")
    desk.know("a.md")
    time.sleep(0.02)
    desk.write("a.md", "TEXT")
    assert desk.compare().changed == ("a.md",)


def test_a_note_that_was_read_right_after_its_change_is_read_again(desk: Desk) -> None:
    desk.write("a.md")
    desk.know("a.md", checked_at=time.time())
    assert desk.compare().changed == ("a.md",)


def test_reading_everything_again_is_possible(desk: Desk) -> None:
    desk.write("a.md")
    desk.know("a.md")
    assert desk.compare(hash_all=True).changed == ("a.md",)


def test_a_note_that_failed_is_always_read_again(desk: Desk) -> None:
    desk.write("a.md")
    desk.know("a.md", state="failed", reason="unreadable")
    assert desk.compare().changed == ("a.md",)


def test_a_note_that_is_no_text_is_not_read_again_until_it_changes(desk: Desk) -> None:
    desk.write("a.md")
    desk.know("a.md", state="skipped", reason="not_text")
    assert desk.compare().changed == ()
    desk.write("a.md", "now it is longer")
    assert desk.compare().changed == ("a.md",)


def test_skipped_files_are_told_once(desk: Desk) -> None:
    desk.write("big.md", "x" * 2_000)
    (entry,) = desk.compare().skipped
    assert (entry.path, entry.reason) == ("big.md", Reason.TOO_LARGE)
    save_state(desk.database, FileState(path="big.md", state="skipped", reason=Reason.TOO_LARGE))
    found = desk.compare()
    assert (found.skipped, found.new, found.missing, found.seen) == ((), (), (), 0)


def test_a_note_that_became_too_large_is_told(desk: Desk) -> None:
    desk.write("a.md")
    desk.know("a.md")
    desk.write("a.md", "x" * 2_000)
    found = desk.compare()
    assert [entry.path for entry in found.skipped] == ["a.md"]
    assert (found.changed, found.missing) == ((), ())


def test_a_skipped_file_that_became_a_note_is_read(desk: Desk) -> None:
    save_state(desk.database, FileState(path="a.md", state="skipped", reason=Reason.TOO_LARGE))
    desk.write("a.md")
    assert desk.compare().changed == ("a.md",)


def test_other_files_and_ignored_folders_have_no_state(desk: Desk) -> None:
    desk.write("picture.png")
    desk.write(".obsidian/workspace.md")
    found = desk.compare()
    assert (found.new, found.skipped, found.seen) == ((), (), 0)


def test_a_note_that_is_ignored_now_is_gone(desk: Desk) -> None:
    desk.write("sub/.obsidian/a.md")
    save_state(desk.database, FileState(path="sub/.obsidian/a.md", state="indexed"))
    assert desk.compare().missing == ("sub/.obsidian/a.md",)


def test_only_what_lies_below_the_prefix_is_compared(desk: Desk) -> None:
    for name in ("P/a.md", "P-old/b.md", "c.md"):
        desk.write(name)
        desk.know(name)
    shutil.rmtree(desk.root / "P")
    shutil.rmtree(desk.root / "P-old")
    (desk.root / "c.md").unlink()
    assert desk.compare("P").missing == ("P/a.md",)
    assert set(desk.compare().missing) == {"P/a.md", "P-old/b.md", "c.md"}


def test_a_missing_vault_is_an_error_and_no_mass_deletion(desk: Desk) -> None:
    desk.write("a.md")
    desk.know("a.md")
    desk.root.rename(desk.root.with_name("elsewhere"))
    with pytest.raises(VaultReadError) as caught:
        desk.compare()
    assert caught.value.reason is Reason.ROOT_MISSING


def test_an_empty_vault_and_an_empty_index_agree(desk: Desk) -> None:
    assert desk.compare() == Difference((), (), (), (), 0)
