"""The client lists all notes, reads them whole, and says why a file is not one."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from donna_tui.safety.classify import Sensitivity
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.vault.client import ScannedFile, VaultClient, decode
from tests.git_vaults import write


class Vault:
    """A vault that a test fills, and a client for it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.client = VaultClient(root, ignore=("Templates/**", "*.draft.md"), max_bytes=1000)

    def write(self, path: str, content: str | bytes = "words\n") -> None:
        write(self.root, path, content)

    def entries(self, folder: str = "") -> dict[str, ScannedFile]:
        return {entry.path: entry for entry in self.client.scan(folder)}

    def refusal(self, path: str) -> Reason:
        with pytest.raises(VaultReadError) as caught:
            self.client.read(path)
        assert caught.value.message
        return caught.value.reason


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    return Vault(root)


def test_a_note_is_read_whole(vault: Vault) -> None:
    text = "---\ntitle: Plan\naliases: [P]\ntags: [a]\ntype: meeting\n---\n# One\n\n#b [[Other#h|o]]\n"
    vault.write("Work/plan.md", text)
    note = vault.client.read("Work/plan.md")
    assert (note.path, note.text, note.title) == ("Work/plan.md", text, "Plan")
    assert (note.aliases, note.tags, note.note_type) == (("P",), ("a", "b"), "meeting")
    assert note.content == "# One\n\n#b [[Other#h|o]]\n" == text[note.body_start :]
    assert note.etag == hashlib.sha256(text.encode()).hexdigest()
    assert (note.sensitivity, note.lossy) == (Sensitivity.PUBLIC, False)
    stat = (vault.root / "Work/plan.md").stat()
    assert (note.size, note.mtime_ns, note.mtime) == (len(text), stat.st_mtime_ns, stat.st_mtime_ns / 1e9)
    assert (note.stat.ctime_ns, note.stat.inode) == (stat.st_ctime_ns, stat.st_ino)
    assert note.stat == vault.client.stat("Work/plan.md")
    assert vault.client.extract_links("Work/plan.md") == ["Other"]


@pytest.mark.parametrize(
    ("front", "sensitivity"),
    [
        ("---\ndonna: local-only\n---\n", Sensitivity.LOCAL_ONLY),
        ("---\ndonna_sensitive: yes\n---\n", Sensitivity.DONNA_SENSITIVE),
        ("\ufeff---\ndonna_sensitive: true\n---\n", Sensitivity.DONNA_SENSITIVE),
        ("---\ndonna: local-only\ndonna: off\n---\n", Sensitivity.LOCAL_ONLY),
        ("---\ntitle: a: b\n---\n", Sensitivity.LOCAL_ONLY),
        ("+++\ndonna = 'local-only'\n+++\n", Sensitivity.LOCAL_ONLY),
        ("---\ntitle: x\n---\n", Sensitivity.PUBLIC),
        ("", Sensitivity.PUBLIC),
    ],
)
def test_notes_are_classified(vault: Vault, front: str, sensitivity: Sensitivity) -> None:
    vault.write("note.md", f"{front}words about donna\n")
    assert vault.client.read("note.md").sensitivity is sensitivity


def test_the_key_of_sensitive_notes_is_a_setting(vault: Vault) -> None:
    vault.write("note.md", "---\nprivate: true\n---\n")
    client = VaultClient(vault.root, sensitive_key="private")
    assert client.read("note.md").sensitivity is Sensitivity.DONNA_SENSITIVE


def test_listing_is_sorted_and_contains_notes_only(vault: Vault) -> None:
    notes = ["b.md", "a/x.md", "a/b/y.MARKDOWN", "folder.md/inside.md", "C.MD", "-rf.md", "a\\b.md"]
    others = [
        "image.png",
        "note.md.txt",
        "backup.md~",
        ".hidden.md",
        ".obsidian/x.md",
        "a/.trash/x.md",
        "a/Templates/x.md",
        "x.draft.md",
        "~syncthing~x.md.tmp",
        "~syncthing~x.md",
        ".#lock.md",
        "canvas.canvas",
    ]
    for path in notes + others:
        vault.write(path)
    assert vault.client.list() == sorted(notes)
    assert vault.client.list("a") == ["a/b/y.MARKDOWN", "a/x.md"]
    assert vault.client.list("a", recursive=False) == ["a/x.md"]
    assert vault.client.list(recursive=False) == ["-rf.md", "C.MD", "a\\b.md", "b.md"]
    assert vault.client.list("none") == []
    assert set(vault.entries()) == set(notes)
    assert [path for path in notes + others if vault.client.is_note(path)] == notes


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("plan.sync-conflict-20240501-101010-ABCDEFG.md", Reason.CONFLICT_COPY),
        ("plan (conflicted copy 2024-05-01).md", Reason.CONFLICT_COPY),
        ("plan (Ana's conflicted copy 2024-05-01).md", Reason.CONFLICT_COPY),
        ("big.md", Reason.TOO_LARGE),
    ],
)
def test_files_that_are_skipped_say_why(vault: Vault, name: str, reason: Reason) -> None:
    vault.write(name, "x" * (1001 if name == "big.md" else 10))
    assert vault.entries()[name].reason is reason
    assert vault.entries()[name].message
    assert vault.refusal(name) is reason


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".obsidian/x.md", Reason.IGNORED),
        ("a/.git/x.md", Reason.IGNORED),
        ("Templates/x.md", Reason.IGNORED),
        ("a/Templates/b/x.md", Reason.IGNORED),
        ("image.png", Reason.NOT_MARKDOWN),
        ("backup.md~", Reason.NOT_MARKDOWN),
        ("none.md", Reason.MISSING),
        ("../x.md", Reason.PATH_ESCAPE),
        ("/x.md", Reason.PATH_ESCAPE),
    ],
)
def test_reads_obey_the_same_rules(vault: Vault, path: str, reason: Reason) -> None:
    if not path.startswith(("/", "..", "none")):
        vault.write(path)
    assert vault.refusal(path) is reason


def test_links_are_shown_and_not_followed(vault: Vault, tmp_path: Path) -> None:
    vault.write("real.md")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("outside")
    for name, target in {"l.md": "real.md", "dir": "../outside", "up": "..", "loop": "loop", "p.png": "x"}.items():
        (vault.root / name).symlink_to(target)
    entries = vault.entries()
    assert {path for path, entry in entries.items() if entry.reason is Reason.PATH_ESCAPE} == {
        "l.md",
        "dir",
        "up",
        "loop",
    }
    assert vault.client.list() == ["real.md"]
    assert [entry.reason for entry in vault.client.scan("dir")] == [Reason.PATH_ESCAPE]
    assert vault.refusal("dir/x.md") is Reason.PATH_ESCAPE


@pytest.mark.parametrize("folder", ["..", "../outside", "a/../../outside"])
def test_a_folder_outside_is_refused(vault: Vault, folder: str) -> None:
    with pytest.raises(VaultReadError) as caught:
        list(vault.client.scan(folder))
    assert caught.value.reason is Reason.PATH_ESCAPE


def test_hidden_folders_are_not_listed_even_by_name(vault: Vault) -> None:
    vault.write(".secret/x.md")
    assert vault.client.list(".secret") == []


def test_pipes_and_folders_are_no_notes(vault: Vault) -> None:
    os.mkfifo(vault.root / "pipe.md")
    vault.write("folder.md/inside.md")
    assert vault.entries()["pipe.md"].reason is Reason.NOT_REGULAR
    assert vault.refusal("pipe.md") is Reason.NOT_REGULAR
    assert vault.refusal("folder.md") is Reason.NOT_REGULAR
    assert vault.client.list() == ["folder.md/inside.md"]


def test_names_that_are_not_utf8_are_shown_and_skipped(vault: Vault) -> None:
    Path(os.fsdecode(os.fsencode(vault.root) + b"/bad\xff.md")).write_text("x")
    Path(os.fsdecode(os.fsencode(vault.root) + b"/dir\xfe")).mkdir()
    Path(os.fsdecode(os.fsencode(vault.root) + b"/dir\xfe/x.md")).write_text("x")
    entries = vault.entries()
    assert {entry.reason for entry in entries.values()} == {Reason.NOT_TEXT}
    assert all(path.encode() for path in entries)
    assert vault.refusal("bad\udcff.md") is Reason.NOT_TEXT


def test_one_note_can_be_scanned_by_its_path(vault: Vault) -> None:
    vault.write("a/x.md")
    assert list(vault.entries("a/x.md")) == ["a/x.md"]
    assert vault.entries("a/gone.md") == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_folder_is_reported_and_the_others_are_listed(vault: Vault) -> None:
    vault.write("shut/x.md")
    vault.write("open/x.md")
    (vault.root / "shut").chmod(0)
    try:
        entries = vault.entries()
    finally:
        (vault.root / "shut").chmod(0o700)
    assert entries["shut"].reason is Reason.UNREADABLE
    assert entries["open/x.md"].reason is None


def test_a_missing_root_is_reported_by_every_method(tmp_path: Path) -> None:
    client = VaultClient(tmp_path / "none")
    for call in (lambda: client.read("x.md"), lambda: client.stat("x.md"), client.list, lambda: list(client.scan())):
        with pytest.raises(VaultReadError) as caught:
            call()
        assert caught.value.reason is Reason.ROOT_MISSING


def test_a_folder_that_vanishes_while_scanning_is_no_error(vault: Vault) -> None:
    vault.write("a/x.md")
    vault.write("b/x.md")
    scan = vault.client.scan()
    assert next(scan).path.endswith("x.md")
    for folder in ("a", "b"):
        (vault.root / folder / "x.md").unlink()
        (vault.root / folder).rmdir()
    assert list(scan) == []


def test_a_note_that_changes_while_it_is_read_is_read_again(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.write("note.md", "old")
    real, calls = os.fstat, iter(range(100))

    def fstat_then_edit(descriptor: int) -> os.stat_result:
        result = real(descriptor)
        if next(calls) == 1:
            vault.write("note.md", "new and longer")
        return result

    monkeypatch.setattr(os, "fstat", fstat_then_edit)
    note = vault.client.read("note.md")
    assert (note.text, note.size) == ("new and longer", 14)


def test_note_sixty_folders_deep_is_read(vault: Vault) -> None:
    path = "/".join(["deep"] * 60) + "/bottom.md"
    vault.write(path)
    assert vault.client.list() == [path]
    assert vault.client.read(path).content == "words\n"


@pytest.mark.parametrize(
    ("data", "text", "lossy"),
    [
        (b"plain", "plain", False),
        ("caf\u00e9".encode(), "caf\u00e9", False),
        (b"\xef\xbb\xbfbom", "bom", False),
        ("utf-16 \u00e9\n".encode("utf-16"), "utf-16 \u00e9\n", False),
        (b"\xfe\xff" + "big end".encode("utf-16-be"), "big end", False),
        ("utf-32 \u00e9 \U0001f427\n".encode("utf-32"), "utf-32 \u00e9 \U0001f427\n", False),
        (b"\0\0\xfe\xff" + "big end".encode("utf-32-be"), "big end", False),
        ("# Café naïve façade déjà, encore été".encode("latin-1"), "# Caf� na�ve fa�ade d�j�, encore �t�", True),
        (b"a long line, then nul\x00end", "a long line, then nul�end", True),
        (b"cut short in caf\xc3", "cut short in caf�", True),
        (b"", "", False),
    ],
)
def test_decode_handles_encodings_and_reports_loss(data: bytes, text: str, lossy: bool) -> None:
    assert decode(data) == (text, lossy)


@pytest.mark.parametrize(
    "data", [b"SQLite format 3\0" + b"\0" * 200, "utf-16".encode("utf-16-be"), bytes(range(128, 256)) * 4]
)
def test_binary_file_is_refused(vault: Vault, data: bytes) -> None:
    vault.write("data.md", data)
    assert vault.refusal("data.md") is Reason.NOT_TEXT


def test_text_never_contains_lone_surrogates(vault: Vault) -> None:
    vault.write("s.md", b"words and more words around \xed\xa0\xbd\xed\xb8\x80 here")
    note = vault.client.read("s.md")
    assert note.lossy
    assert note.text.encode("utf-8").count("�".encode()) == 6


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_private_note_is_private_in_any_encoding_that_its_mark_names(vault: Vault, encoding: str) -> None:
    vault.write("Secret.md", "---\ndonna: local-only\n---\nquiet words\n".encode(encoding))
    assert vault.client.read("Secret.md").sensitivity is Sensitivity.LOCAL_ONLY
