"""What WebDAV clients overwrite or delete without a condition is saved first, and `donna undo` restores it."""

from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path

import pytest

from donna_tui.types.errors import VaultWriteError
from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.changes import OperationKind
from donna_tui.webdav.files import ServedTree
from donna_tui.webdav.upload import ChangedFile, Preimages
from tests.cli.running import Donna
from tests.git_vaults import User, new_writer
from tests.webdav.parts import Served, temporary_files
from tests.webdav.test_serve_webdav import served_by

TEXT = b"Typed by hand, and in no commit.\n"
OTHER = b"The other note, and in no commit either.\n"


@pytest.fixture
def user(vault: Path, tmp_path: Path) -> User:
    user = User(tmp_path / "user")
    user.git(vault, "init", "--quiet")
    user.git(vault, "add", "a.md")
    user.git(vault, "commit", "--quiet", "--message", "base")
    return user


def put_over(served: Served) -> int:
    return served.status("PUT", "/vault/n.md", b"From another device.\n")


def delete(served: Served) -> int:
    return served.status("DELETE", "/vault/n.md")


def move_over(served: Served) -> int:
    return served.status("MOVE", "/vault/o.md", Destination=f"{served.url}n.md", Overwrite="T")


def copy_over(served: Served) -> int:
    return served.status("COPY", "/vault/o.md", Destination=f"{served.url}n.md", Overwrite="T")


def delete_folder(served: Served) -> int:
    return served.status("DELETE", "/vault/Deep")


def undo(donna: Donna, vault: Path) -> None:
    ran = donna("undo", "--yes", "--json", "--space", vault)
    assert ran.code == 0, ran


@pytest.mark.slow
def test_webdav_overwrites_and_deletions_can_be_undone(donna: Donna, vault: Path, user: User) -> None:
    (vault / "Deep").mkdir()
    with served_by(donna, vault) as (served, _):
        for request in (put_over, delete, move_over, copy_over):
            (vault / "n.md").write_bytes(TEXT)
            (vault / "o.md").write_bytes(OTHER)
            head = user.git(vault, "rev-parse", "HEAD")
            assert request(served) in (201, 204), request
            assert not (vault / "n.md").exists() or (vault / "n.md").read_bytes() != TEXT
            assert user.git(vault, "rev-parse", "HEAD") == head, "the branch must not move"
            user.git(vault, "-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now")
            logged = donna("log", "n.md", "--json", "--space", vault).json["operations"][0]
            assert (logged["actor"], logged["undone"]) == ("webdav", False)
            undo(donna, vault)
            assert ((vault / "n.md").read_bytes(), (vault / "o.md").read_bytes()) == (TEXT, OTHER), request
        for name in ("one.md", "two.md"):
            (vault / "Deep" / name).write_bytes(name.encode())
        assert delete_folder(served) in (200, 204)
        assert not (vault / "Deep").exists()
        undo(donna, vault)
        undo(donna, vault)
        assert sorted(each.name for each in (vault / "Deep").iterdir()) == ["one.md", "two.md"]
    assert not temporary_files(vault)
    assert "beside" not in user.git(vault, "for-each-ref")


@pytest.mark.slow
def test_deleted_files_that_undo_cannot_restore_are_kept_in_git(donna: Donna, vault: Path, user: User) -> None:
    """A picture, a note marked sensitive, and one that git ignores."""
    donna("write", "Inbox/mine.md", "--space", vault, stdin="Mine.\n")
    marked = b"---\ndonna_sensitive: true\n---\nThe osprey is secret.\n"
    (vault / ".gitignore").write_text("ignored.md\n")
    texts = {"photo.png": b"\x89PNG\0\1\2", "marked.md": marked, "ignored.md": TEXT}
    with served_by(donna, vault, "--with-private") as (served, _):
        for path, data in texts.items():
            (vault / path).write_bytes(data)
            assert served.status("DELETE", f"/vault/{path}") in (200, 204)
            assert not (vault / path).exists()
    user.git(vault, "gc", "--quiet", "--prune=now")
    objects = user.git(vault, "cat-file", "--batch-all-objects", "--batch")
    assert all(data.decode("utf-8", "surrogateescape") in objects for data in texts.values())
    undo(donna, vault)
    assert not (vault / "Inbox/mine.md").exists(), "the newest step of undo must still be Donna's"


@pytest.mark.slow
def test_overwritten_files_without_a_repository_go_to_the_trash(donna: Donna, vault: Path) -> None:
    with served_by(donna, vault) as (served, _):
        for request in (put_over, delete, move_over, copy_over):
            (vault / "n.md").write_bytes(TEXT)
            (vault / "o.md").write_bytes(OTHER)
            assert request(served) in (201, 204), request
    names = ["n 2.md", "n 3.md", "n 4.md", "n.md"]
    assert {each.name: each.read_bytes() for each in (vault / ".trash").iterdir()} == dict.fromkeys(names, TEXT)


@pytest.fixture
def tree(vault: Path, tmp_path: Path, user: User) -> ServedTree:
    root = VaultRoot(vault)
    return ServedTree(root, GlobSet(()), keep=Preimages(root, new_writer(vault, tmp_path / "state")).keep)


def test_a_record_that_was_cut_short_is_kept(vault: Path, tmp_path: Path, user: User) -> None:
    """Kill the server between the request and its record."""
    (vault / "n.md").write_bytes(TEXT)
    writer = new_writer(vault, tmp_path / "state")
    touched = json.dumps("n.md")
    block = Preimages(VaultRoot(vault), writer)
    with VaultRoot(vault).open_folder() as folder:
        entered = block.keep(OperationKind.DELETE, (ChangedFile(folder, "n.md", "n.md", len(TEXT), 0, lambda: None),))
        entered.__enter__()
        ref = user.git(vault, "for-each-ref", "--format=%(refname)", "refs/donna").strip()
        commit = user.git(vault, "rev-parse", ref).strip()
        entered.__exit__(ValueError, ValueError(), None)
    assert user.git(vault, "for-each-ref", "refs/donna") == ""
    user.git(vault, "update-ref", ref, commit)
    (vault / "n.md").unlink()
    new_writer(vault, tmp_path / "state").record_interrupted()
    assert user.git(vault, "for-each-ref", "--format=%(refname)", "refs/donna/operations")
    assert touched in user.git(vault, "log", "--format=%B", "refs/donna/operations")
    user.git(vault, "gc", "--quiet", "--prune=now")
    assert user.git(vault, "show", "refs/donna/operations:before/0") == TEXT.decode()


def raise_disk_full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_without_hard_links_loses_no_file_that_is_saved_under_the_new_name(
    vault: Path, tree: ServedTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_meanwhile = list[Path]()

    def link(*_: object, **__: object) -> None:
        for path in saved_meanwhile:
            path.write_bytes(TEXT)
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    moved, upload = tree.find("a.md"), tree.begin_upload("o.md", None)
    assert moved is not None
    upload.write(OTHER)
    upload.keep()
    assert (vault / "o.md").read_bytes() == OTHER
    saved_meanwhile.append(vault / "n.md")
    with pytest.raises(VaultWriteError):
        tree.begin_upload("n.md", None).keep()
    (vault / "n.md").unlink()
    with pytest.raises(VaultWriteError):
        tree.move(moved, "n.md", None)
    assert (vault / "n.md").read_bytes() == TEXT
    saved_meanwhile.clear()
    with monkeypatch.context() as full:
        full.setattr(os, "rename", raise_disk_full)
        with pytest.raises(VaultWriteError, match="full"):
            tree.move(moved, "m.md", None)
    assert not (vault / "m.md").exists()
    tree.move(moved, "m.md", None)
    assert (vault / "m.md").read_text() == "# A\n"
    assert not (vault / "a.md").exists()
    assert not temporary_files(vault)


def test_two_clients_at_once_lose_nothing(vault: Path, tree: ServedTree, user: User) -> None:
    """Each replaces what is there; every version but the last is in the history."""
    (vault / "n.md").write_bytes(TEXT)
    done = list[bytes]()

    def replace(who: int) -> None:
        for number in range(5):
            item, data = tree.find("n.md"), b"%d by %d\n" % (number, who)
            upload = tree.begin_upload("n.md", item)
            upload.write(data)
            try:
                upload.keep()
            except VaultWriteError:  # refused, and so not acknowledged
                continue
            done.append(data)

    threads = [threading.Thread(target=replace, args=(who,)) for who in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    user.git(vault, "gc", "--quiet", "--prune=now")
    objects = user.git(vault, "cat-file", "--batch-all-objects", "--batch").encode("utf-8", "surrogateescape")
    there = (vault / "n.md").read_bytes()
    assert done
    assert all(data in objects or data == there for data in [TEXT, *done])
    assert not temporary_files(vault)
