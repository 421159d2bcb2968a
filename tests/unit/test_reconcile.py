"""Comparing vault and index: the set difference, and when a file counts as unchanged without being read."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from donna_tui.index.database import Database
from donna_tui.index.files import FileState, save_state
from donna_tui.ingest.reconcile import Difference, compare
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.paths import VaultRoot
from tests.git_vaults import write
from tests.unit.index_parts import open_store

OLD = 1_600_000_000_000_000_000


class ReconcileHarness:
    """A vault, its client and an index of file states."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        self.client = VaultClient(self.root, ignore=(".obsidian/**",), max_bytes=1_000)
        self.database: Database = open_store(folder / "index.db").database

    def write(self, path: str, text: str | bytes = "text") -> Path:
        file = write(self.root, path, text)
        os.utime(file, ns=(OLD, OLD))
        return file

    def know(self, path: str, **others: object) -> None:
        """Record a file as it is now, as if checked an hour from now, so that no change counts as recent."""
        stat = self.client.stat(path)
        values = {
            "state": "indexed", "size": stat.size, "mtime_ns": stat.mtime_ns, "ctime_ns": stat.ctime_ns,
            "inode": stat.inode, "etag": "x", "checked_at": time.time() + 3600, **others,
        }  # fmt: skip
        save_state(self.database, FileState(path=path, **values))  # type: ignore[arg-type]  # fields of a state

    def compare(self, prefix: str = "", *, hash_all: bool = False) -> Difference:
        return compare(self.client, self.database, prefix, hash_all=hash_all)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[ReconcileHarness]:
    made = ReconcileHarness(tmp_path)
    yield made
    made.database.close()


def test_compare_finds_new_changed_and_missing_notes(harness: ReconcileHarness) -> None:
    for name in ("same.md", "changed.md", "gone.md"):
        harness.write(name)
        harness.know(name)
    harness.write("new.md")
    harness.write("changed.md", "longer text")
    (harness.root / "gone.md").unlink()
    found = harness.compare()
    assert (found.new, found.changed, found.missing, found.seen) == (("new.md",), ("changed.md",), ("gone.md",), 3)


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_note_is_reread_if_any_stat_field_differs(harness: ReconcileHarness, field: str) -> None:
    harness.write("a.md")
    harness.know("a.md")
    assert harness.compare().changed == ()
    harness.know("a.md", **{field: 12_345})
    assert harness.compare().changed == ("a.md",)


def test_a_change_of_the_same_size_with_the_old_time_is_seen(harness: ReconcileHarness) -> None:
    harness.write("a.md", "text")
    harness.know("a.md")
    time.sleep(0.02)
    harness.write("a.md", "TEXT")
    assert harness.compare().changed == ("a.md",)


def test_reading_everything_again_is_possible(harness: ReconcileHarness) -> None:
    harness.write("a.md")
    harness.know("a.md")
    assert harness.compare(hash_all=True).changed == ("a.md",)


def test_a_note_that_failed_is_always_read_again(harness: ReconcileHarness) -> None:
    harness.write("a.md")
    harness.know("a.md", state="failed", reason="unreadable")
    found = harness.compare()
    assert (found.changed, found.retried) == (("a.md",), 1)


def test_a_note_that_is_no_text_is_not_read_again_until_it_changes(harness: ReconcileHarness) -> None:
    harness.write("a.md")
    harness.know("a.md", state="skipped", reason="not_text")
    assert harness.compare().changed == ()
    harness.write("a.md", "now it is longer")
    assert harness.compare().changed == ("a.md",)


def test_skipped_files_are_reported_once(harness: ReconcileHarness) -> None:
    harness.write("big.md", "x" * 2_000)
    (entry,) = harness.compare().skipped
    assert (entry.path, entry.reason) == ("big.md", Reason.TOO_LARGE)
    save_state(harness.database, FileState(path="big.md", state="skipped", reason=Reason.TOO_LARGE))
    found = harness.compare()
    assert (found.skipped, found.new, found.missing, found.seen) == ((), (), (), 0)


def test_a_note_that_became_too_large_is_reported(harness: ReconcileHarness) -> None:
    harness.write("a.md")
    harness.know("a.md")
    harness.write("a.md", "x" * 2_000)
    found = harness.compare()
    assert [entry.path for entry in found.skipped] == ["a.md"]
    assert (found.changed, found.missing) == ((), ())


def test_a_skipped_file_that_became_a_note_is_read(harness: ReconcileHarness) -> None:
    save_state(harness.database, FileState(path="a.md", state="skipped", reason=Reason.TOO_LARGE))
    harness.write("a.md")
    assert harness.compare().changed == ("a.md",)


def test_other_files_and_ignored_folders_have_no_state(harness: ReconcileHarness) -> None:
    harness.write("picture.png")
    harness.write(".obsidian/workspace.md")
    found = harness.compare()
    assert (found.new, found.skipped, found.seen) == ((), (), 0)


def test_a_note_that_is_ignored_now_is_gone(harness: ReconcileHarness) -> None:
    harness.write("sub/.obsidian/a.md")
    save_state(harness.database, FileState(path="sub/.obsidian/a.md", state="indexed"))
    assert harness.compare().missing == ("sub/.obsidian/a.md",)


def test_the_notes_of_a_folder_that_cannot_be_read_are_not_missing(
    harness: ReconcileHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Shut/a.md", "Shut/b/c.md", "Shut-not/d.md"):
        harness.write(name)
        harness.know(name)
    (harness.root / "Shut-not/d.md").unlink()
    open_folder = VaultRoot.open_folder

    def open_unless_shut(root: VaultRoot, parts: Sequence[str] = ()) -> AbstractContextManager[int]:
        if list(parts[:1]) == ["Shut"]:
            raise VaultReadError(Reason.UNREADABLE, "permission denied")
        return open_folder(root, parts)

    monkeypatch.setattr(VaultRoot, "open_folder", open_unless_shut)
    assert harness.compare().missing == ("Shut-not/d.md",)


def test_only_what_lies_below_the_prefix_is_compared(harness: ReconcileHarness) -> None:
    for name in ("P/a.md", "P-old/b.md", "c.md"):
        harness.write(name)
        harness.know(name)
    shutil.rmtree(harness.root / "P")
    shutil.rmtree(harness.root / "P-old")
    (harness.root / "c.md").unlink()
    assert harness.compare("P").missing == ("P/a.md",)
    assert set(harness.compare().missing) == {"P/a.md", "P-old/b.md", "c.md"}


def test_a_missing_vault_is_an_error_and_no_mass_deletion(harness: ReconcileHarness) -> None:
    harness.write("a.md")
    harness.know("a.md")
    harness.root.rename(harness.root.with_name("elsewhere"))
    with pytest.raises(VaultReadError) as caught:
        harness.compare()
    assert caught.value.reason is Reason.ROOT_MISSING


def test_an_empty_vault_and_an_empty_index_agree(harness: ReconcileHarness) -> None:
    assert harness.compare() == Difference((), (), (), (), 0)
