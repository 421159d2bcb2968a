"""No path and no link leads out of the vault, and only regular files are opened."""

from __future__ import annotations

import errno
import os
import socket
import threading
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.vault.paths import LONGEST_NAME, LONGEST_PATH, VaultRoot, check_relative

SECRET = b"outside"


@pytest.fixture
def vault(tmp_path: Path) -> VaultRoot:
    (tmp_path / "secret.md").write_bytes(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "deep.md").write_bytes(SECRET)
    root = tmp_path / "vault"
    (root / "folder").mkdir(parents=True)
    (root / "note.md").write_bytes(b"inside")
    (root / "folder" / "note.md").write_bytes(b"inside")
    return VaultRoot(root)


def read(vault: VaultRoot, path: str) -> bytes:
    with vault.open(path) as descriptor:
        return os.read(descriptor, 100)


def reason(vault: VaultRoot, path: str) -> Reason:
    with pytest.raises(VaultReadError) as caught, vault.open(path):
        pass
    return caught.value.reason


@pytest.mark.parametrize("path", ["note.md", "folder/note.md"])
def test_notes_are_opened(vault: VaultRoot, path: str) -> None:
    assert read(vault, path) == b"inside"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/etc/passwd",
        "//note.md",
        "..",
        "../secret.md",
        "folder/../../secret.md",
        "folder/../note.md",
        "./note.md",
        "folder//note.md",
        "folder/",
        "~/note.md",
        "note.md\0",
        "a\0/../note.md",
    ],
)
def test_paths_that_are_not_plainly_below_the_root(vault: VaultRoot, path: str) -> None:
    assert reason(vault, path) is Reason.PATH_ESCAPE


def test_odd_names_are_names(vault: VaultRoot) -> None:
    names = ["back\\slash.md", "a:b|c<d>.md", "..double.md", "$(x).md", "-rf.md", "two\nlines.md", "CON.md", " x .md"]
    for name in names:
        (vault.path / name).write_bytes(name.encode())
    assert [read(vault, name).decode() for name in names] == names


def test_composed_and_decomposed_names_are_different_files(vault: VaultRoot) -> None:
    (vault.path / "Caf\u00e9.md").write_bytes(b"composed")
    (vault.path / "Cafe\u0301.md").write_bytes(b"decomposed")
    assert (read(vault, "Caf\u00e9.md"), read(vault, "Cafe\u0301.md")) == (b"composed", b"decomposed")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("x" * LONGEST_NAME, Reason.MISSING),
        ("x" * (LONGEST_NAME + 1), Reason.TOO_LONG),
        ("é" * 128, Reason.TOO_LONG),
        ("/".join(["x" * 200] * 21), Reason.TOO_LONG),
        ("bad\udcff.md", Reason.NOT_TEXT),
        ("none.md", Reason.MISSING),
        ("none/note.md", Reason.MISSING),
        ("note.md/note.md", Reason.MISSING),
        ("folder", Reason.NOT_REGULAR),
    ],
)
def test_refusals_have_their_reason(vault: VaultRoot, path: str, expected: Reason) -> None:
    assert len("/".join(["x" * 200] * 21)) > LONGEST_PATH
    assert reason(vault, path) is expected


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("link.md", "../secret.md", "link.md"),
        ("link.md", "note.md", "link.md"),
        ("link.md", "link.md", "link.md"),
        ("link.md", "missing.md", "link.md"),
        ("link.md", "/etc/hostname", "link.md"),
        ("link", "../outside", "link/deep.md"),
        ("link", "folder", "link/note.md"),
        ("link", "..", "link/secret.md"),
        ("link", ".", "link/note.md"),
        ("link", "link", "link/note.md"),
        ("folder/up", "..", "folder/up/note.md"),
    ],
)
def test_no_link_is_followed(vault: VaultRoot, link: str, target: str, path: str) -> None:
    (vault.path / link).symlink_to(target)
    assert reason(vault, path) is Reason.PATH_ESCAPE


def test_the_root_itself_may_be_a_link(vault: VaultRoot, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(vault.path)
    assert read(VaultRoot(tmp_path / "link"), "note.md") == b"inside"


def test_pipes_sockets_and_devices_are_refused_at_once(vault: VaultRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(vault.path)
    os.mkfifo("pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        assert [reason(vault, name) for name in ("pipe.md", "socket.md")] == [Reason.NOT_REGULAR] * 2


def test_a_missing_root_is_reported(tmp_path: Path) -> None:
    assert reason(VaultRoot(tmp_path / "none"), "note.md") is Reason.ROOT_MISSING
    (tmp_path / "file").write_text("x")
    assert reason(VaultRoot(tmp_path / "file"), "note.md") is Reason.ROOT_MISSING


def test_unreadable_root_is_not_reported_as_missing(vault: VaultRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        with pytest.raises(VaultReadError) as caught:
            read(vault, "note.md")
        assert not vault.can_be_opened()
    assert caught.value.reason is Reason.ROOT_MISSING  # as for a missing one, nothing may be concluded about notes
    assert caught.value.message == f"permission denied: the vault {vault.path} cannot be read"
    assert vault.can_be_opened()


def test_descriptors_are_closed(vault: VaultRoot) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for path in ("note.md", "folder/note.md", "none.md", "folder/none.md", "folder", "note.md/x"):
        try:
            read(vault, path)
        except VaultReadError:
            continue
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after == before


def test_a_folder_that_turns_into_a_link_never_leads_outside(vault: VaultRoot, tmp_path: Path) -> None:
    stop = threading.Event()

    def swap() -> None:
        real, link, place = vault.path / "real", vault.path / "link", vault.path / "folder"
        link.symlink_to(tmp_path / "outside")
        (vault.path / "folder" / "deep.md").write_bytes(b"inside")
        while not stop.is_set():
            place.rename(real)
            link.rename(place)
            place.rename(link)
            real.rename(place)

    racer = threading.Thread(target=swap)
    racer.start()
    try:
        seen = {_attempt(vault, "folder/deep.md") for _ in range(3000)}
    finally:
        stop.set()
        racer.join()
    assert SECRET not in seen


def _attempt(vault: VaultRoot, path: str) -> bytes:
    try:
        return read(vault, path)
    except VaultReadError:
        return b"refused"


def test_check_relative_returns_unchanged_path_parts() -> None:
    assert check_relative("a/b c/.d.md") == ["a", "b c", ".d.md"]
