"""Conflict copies are recognised by name alone, and resolved as one operation that is undone as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.vault.conflict_resolution import merged
from donna_tui.vault.conflicts import Keep, is_conflict_copy, original_of
from donna_tui.vault.write.changes import OperationKind
from donna_tui.vault.write.writer import VaultWriter
from tests.git_vaults import User, memory_folder, new_writer, tree_of

COPIES = {
    "Syncthing": [
        "a.sync-conflict-20240101-120000-ABCDEFG.md",
        "a.sync-conflict-20240101-120000.md",
        "a.sync-conflict-20240101-120000-ABCDEFG (1).md",
        "a.sync-conflict-20240101-120000-ABCDEFG.sync-conflict-20240102-120000-HIJKLMN.md",
    ],
    "Nextcloud": ["a (conflicted copy 2024-01-01 120000).md", "a_conflict-20240101-120000.md"],
    "ownCloud": ["a (conflicted copy Ana 2024-01-01 120000).md", "a (conflicted copy Ana Sá 2024-01-01 120000).md"],
    "Dropbox": [
        "a (Ana's conflicted copy 2024-01-01).md",
        "a (Ana’s conflicted copy 2024-01-01).md",
        "a (Chris' conflicted copy 2024-01-01).md",
        "a (Ana's MacBook's conflicted copy 2024-01-01).md",
        "a (Ana's conflicted copy).md",
        "a (Ana's conflicted copy 2024-01-01) (2).md",
        "a (In Konflikt stehende Kopie von Ana 2024-01-01).md",
        "a (Copie en conflit de Ana 2024-01-01).md",
        "a (Copia en conflicto de Ana 2024-01-01).md",
    ],
    "Obsidian Sync": ["a (Conflicted copy MacBook Pro 202501311030).md"],
    "Seafile": ["a (SFConflict ana@example.org 2024-01-01-12-00-00).md"],
    "Synology": ["a_DiskStation_Feb-12-153045-2024_Conflict.md"],
    "unknown": ["a (conflicted copy).md", "a (Conflicted Copy 2).md"],
}
NO_COPIES = (
    """
a.md|a (1).md|a 2.md|sync-conflict.md|Notes on sync-conflict-20240101-120000.md|a.sync-conflict-2024.md
a.sync-conflict-20240101-120000-ABCDEFG later.md|.sync-conflict-20240101-120000-ABCDEFG.md|conflicted copy.md
(conflicted copy).md|(Ana's conflicted copy 2024-01-01).md|A conflicted copy 2024-01-01.md|a (conflicted).md
a (conflicted copy of the treaty).md|a (conflicted copy 2024-01-01) and what followed.md|a (copy in conflict 2024-01-01).md
a (conflicting copy 2024-01-01).md|a_conflict-2024.md|conflict-20240101-120000.md|The Cod Wars (SFConflict).md
a_Conflict.md|Feb-12-153045-2024_Conflict.md|Copie en conflit.md|a (copie en conflit).md|.md|conflicts/a.md
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("name", [name for names in COPIES.values() for name in names])
def test_the_names_of_each_program_are_known(name: str) -> None:
    assert is_conflict_copy(name)
    assert original_of(name) == "a.md"
    assert original_of(f"Folder (conflicted copy)/{name}") == "Folder (conflicted copy)/a.md"
    assert original_of(name.replace(".md", ".markdown")) == "a.markdown"


@pytest.mark.parametrize("name", NO_COPIES)
def test_similar_names_are_not_conflict_copies(name: str) -> None:
    assert not is_conflict_copy(name)
    assert original_of(f"x/{name}") is None


def test_long_names_are_judged_at_once() -> None:
    for name in ("(" * 120 + "a " * 60, "a (conflicted copy " * 12, "a_" * 120, "a.sync-conflict-" * 15, " " * 240):
        assert original_of(f"{name}.md") is None


BASE = "one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("mine", "theirs", "base", "both", "is_clean"),
    [
        ("ONE\ntwo\nthree\nfour\n", "one\ntwo\nthree\nFOUR\n", BASE, "ONE\ntwo\nthree\nFOUR\n", True),
        ("one\nthree\nfour\n", "one\ntwo\nthree\nfour\nfive\n", BASE, "one\nthree\nfour\nfive\n", True),
        ("ONE\ntwo\nthree\nfour\n", "uno\ntwo\nthree\nfour\n", BASE, "ONE\nuno\ntwo\nthree\nfour\n", False),
        ("ONE\ntwo\nthree\nfour\n", "one\ntwo\nthree\nFOUR\n", None, "ONE\none\ntwo\nthree\nfour\nFOUR\n", False),
        ("a", "b", None, "a\nb", False),
        ("", "b\n", None, "b\n", False),
        ("---\nx: 1\n---\na\n", "---\nx: 2\n---\na\nb\n", None, "---\nx: 1\n---\na\nb\n", False),
        ("a\n", "---\nx: 2\n---\na\n", None, "---\nx: 2\n---\na\n", False),
        ("\ufeffa\n", "b\n", None, "\ufeffa\nb\n", False),
    ],
)
def test_conflict_copy_is_merged_with_its_note(
    mine: str, theirs: str, base: str | None, both: str, is_clean: bool
) -> None:
    data, remarks = merged(mine.encode(), theirs.encode(), base.encode() if base is not None else None)
    assert data.decode() == both
    assert bool(remarks) is not is_clean


def test_versions_that_are_not_text_are_not_merged() -> None:
    with pytest.raises(VaultWriteError) as refused:
        merged(b"\xff\xfe\x00", b"a", None)
    assert refused.value.reason is Reason.ENCODING


COPY = "Projects/one.sync-conflict-20240101-120000-ABCDEFG.md"
NOTE = "Projects/one.md"
OLD = "# One\n\nfirst line\nsecond line\n"
MINE, THEIRS = OLD.replace("first", "1st"), OLD + "from the phone\n"


class ConflictHarness:
    """A vault with a conflict, its user, and Donna."""

    def __init__(self, home: Path) -> None:
        self.user = User(home / "home")
        self.vault = self.user.repository(home / "vault")
        self.writer: VaultWriter = new_writer(self.vault, home / "state")
        (self.vault / NOTE).write_text(MINE)
        (self.vault / COPY).write_text(THEIRS)

    def resolve(self, keep: Keep, copy: str = COPY) -> OperationKind:
        resolver = self.writer.resolver
        return self.writer.apply(resolver.plan(resolver.conflict(copy), keep)).kind

    def refusal(self, keep: Keep = Keep.THEIRS, copy: str = COPY) -> Reason:
        before = tree_of(self.vault)
        with pytest.raises(DonnaError) as refused:
            self.resolve(keep, copy)
        assert tree_of(self.vault) == before
        return refused.value.reason


@pytest.fixture
def harness() -> Iterator[ConflictHarness]:
    with memory_folder() as home:
        yield ConflictHarness(home)


@pytest.mark.parametrize(
    ("keep", "text"), [(Keep.MINE, MINE), (Keep.THEIRS, THEIRS), (Keep.BOTH, MINE + "from the phone\n")]
)
def test_one_operation_resolves_it_and_one_undo_reverts_that(harness: ConflictHarness, keep: Keep, text: str) -> None:
    before = tree_of(harness.vault)
    assert harness.writer.resolver.copies() == [(COPY, NOTE)]
    harness.resolve(keep)
    assert (harness.vault / NOTE).read_text() == text
    assert not (harness.vault / COPY).exists()
    assert harness.writer.resolver.copies() == []
    assert len(harness.writer.undoable()) == 1
    harness.writer.undo_last()
    assert tree_of(harness.vault) == before
    harness.writer.redo()
    assert (harness.vault / NOTE).read_text() == text
    assert not (harness.vault / COPY).exists()


def test_the_version_that_both_began_with_is_found_in_the_history(harness: ConflictHarness) -> None:
    harness.user.commit_all(harness.vault, "mine")
    (harness.vault / NOTE).write_text(MINE + "later\n")
    harness.user.git(harness.vault, "rm", "--quiet", "--cached", COPY)
    harness.user.git(harness.vault, "add", NOTE)
    harness.user.git(harness.vault, "commit", "--quiet", "--message", "later")
    conflict = harness.writer.resolver.conflict(COPY)
    assert conflict.base == OLD.encode()
    harness.resolve(Keep.BOTH)
    text = (harness.vault / NOTE).read_text()
    assert "1st" in text
    assert "from the phone" in text
    assert "later" in text


def test_a_copy_whose_note_is_gone_becomes_the_note(harness: ConflictHarness) -> None:
    (harness.vault / NOTE).unlink()
    assert harness.writer.resolver.conflict(COPY).mine is None
    harness.resolve(Keep.THEIRS)
    assert (harness.vault / NOTE).read_text() == THEIRS
    assert not (harness.vault / COPY).exists()


def test_without_a_repository_nothing_is_changed(harness: ConflictHarness, tmp_path: Path) -> None:
    for path, text in ((NOTE, MINE), (COPY, THEIRS)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    writer = new_writer(tmp_path, harness.vault.parent / "other")
    conflict = writer.resolver.conflict(COPY)
    assert conflict.base is None
    with pytest.raises(VaultWriteError) as refused:
        writer.apply(writer.resolver.plan(conflict, Keep.BOTH))
    assert refused.value.reason is Reason.NO_REPOSITORY
    assert (tmp_path / COPY).read_text() == THEIRS


def test_an_edit_meanwhile_is_not_lost(harness: ConflictHarness) -> None:
    for path in (NOTE, COPY):
        plan = harness.writer.resolver.plan(harness.writer.resolver.conflict(COPY), Keep.BOTH)
        (harness.vault / path).write_text("saved a moment ago")
        with pytest.raises(VaultWriteError) as refused:
            harness.writer.apply(plan)
        assert refused.value.reason is Reason.CONFLICT
        assert (harness.vault / path).read_text() == "saved a moment ago"


def test_what_donna_may_not_write_is_not_resolved(harness: ConflictHarness) -> None:
    assert harness.refusal(copy=NOTE) is Reason.USAGE
    assert harness.refusal(copy=COPY.replace("one", "none")) is Reason.MISSING
    assert harness.refusal(copy=f"../{COPY}") is Reason.PATH_ESCAPE
    assert harness.refusal(copy=COPY.replace("Projects", ".git")) is Reason.PATH_ESCAPE
    (harness.vault / COPY).write_text("---\ndonna_sensitive: true\n---\nsecret\n")
    assert harness.refusal(Keep.MINE) is Reason.SENSITIVE
    (harness.vault / COPY).unlink()
    (harness.vault / COPY).symlink_to(harness.vault / NOTE)
    assert harness.refusal() is Reason.PATH_ESCAPE


def test_nothing_else_writes_to_a_conflict_copy(harness: ConflictHarness) -> None:
    for act in (
        lambda: harness.writer.write(COPY, "x"),
        lambda: harness.writer.delete(COPY),
        lambda: harness.writer.move(COPY, "Projects/b.md"),
        lambda: harness.writer.move(NOTE, COPY.replace("one", "b")),
    ):
        with pytest.raises(VaultWriteError) as refused:
            act()
        assert refused.value.reason is Reason.IGNORED
    assert (harness.vault / COPY).read_text() == THEIRS


def test_private_words_never_get_into_a_note_that_is_not_private(harness: ConflictHarness) -> None:
    (harness.vault / NOTE).write_text("---\ntags: [a]\n---\nmine\n")
    (harness.vault / COPY).write_text("---\ntags: [a]\ndonna: local-only\n---\nsecret\n")
    assert harness.refusal(Keep.BOTH) is Reason.SENSITIVE


def test_a_copy_that_the_history_has_is_what_both_began_with(harness: ConflictHarness) -> None:
    (harness.vault / COPY).write_text(OLD)
    conflict = harness.writer.resolver.conflict(COPY)
    assert conflict.base == OLD.encode()
    harness.resolve(Keep.BOTH)
    assert (harness.vault / NOTE).read_text() == MINE


def test_lines_lost_by_a_guessed_merge_base_are_reported(harness: ConflictHarness) -> None:
    """The phone's version is based on one before a line in the history, so a merge takes that line for deleted."""
    (harness.vault / NOTE).write_text(OLD + "since then\n")
    harness.user.git(harness.vault, "add", NOTE)
    harness.user.git(harness.vault, "commit", "--quiet", "--message", "since then")
    (harness.vault / NOTE).write_text("On top\n" + OLD + "since then\n")
    (harness.vault / COPY).write_text(OLD.replace("# One", "# One, here") + "from the phone\n")
    resolver = harness.writer.resolver
    plan = resolver.plan(resolver.conflict(COPY), Keep.BOTH)
    (change,) = (each for each in plan.changes if each.path == NOTE)
    assert change.after is not None
    assert (b"since then" in change.after) != any("of one version" in remark for remark in plan.remarks)
    harness.resolve(Keep.MINE)
    assert "since then" in (harness.vault / NOTE).read_text()
