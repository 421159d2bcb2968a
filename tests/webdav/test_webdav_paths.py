"""Clients cannot get out of the vault, into hidden places, through links, or to private notes."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from webdav4.client import ClientError, ResourceNotFound

from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.webdav.files import ServedTree, private_files
from tests.webdav.parts import Served, basic, serving, temporary_files

CLOSED = """
    ../x.md ..%2fx.md %2e%2e/x.md /..%2f..%2fetc%2fpasswd .git/config .git/hooks/pre-commit .GIT/config .git%20/config
    git~1/config GIT~1/config %E2%80%8C.git/config .g%E2%80%8Cit/config %EF%BC%8Egit/config .obsidian/app.json
    .obsidian/plugins/x/main.js .hidden.md Projects/.hidden/x.md Projects/.x.md node_modules/x/readme.md
    node_modules/new.md .donna-upload-1 .trash/a.md a%00b.md a%0Ab.md a%1B[31mb.md a%5Cb.md C:/x.md ~/x.md %FF.md
    link.md out/secret.md out/new.md fifo
""".split()
SECRET = b"not for clients"


@pytest.fixture
def vault(vault: Path, tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(SECRET)
    (vault / "out").symlink_to(outside)
    (vault / "link.md").symlink_to(outside / "secret.md")
    os.mkfifo(vault / "fifo")
    return vault


def everything(folder: Path) -> dict[str, bytes | str]:
    """Return all files and links below a folder with their content."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = path.read_bytes()
    return found


@pytest.mark.cases(4)
@pytest.mark.parametrize("target", CLOSED)
def test_webdav_denies_access_to_forbidden_paths(served: Served, tmp_path: Path, target: str) -> None:
    before = everything(tmp_path)
    url = f"/vault/{target}"
    for method in ("GET", "PUT", "DELETE", "MKCOL", "MOVE", "COPY", "PROPFIND", "LOCK"):
        body = b"x" if method == "PUT" else b""
        answer = served.status(method, url, body, Destination="/vault/b.md", Depth="0")
        assert answer >= 400, (method, target)
    for method in ("MOVE", "COPY"):
        assert served.status(method, "/vault/a.md", Destination=url) >= 400, (method, target)
    assert everything(tmp_path) == before


def test_only_what_is_visible_is_listed(served: Served) -> None:
    assert served.names() == ["Projects", "a.md"]
    assert served.names("Projects") == ["Projects/gateway.md"]
    for method in ("PROPFIND", "GET", "PUT", "DELETE", "MKCOL"):
        assert served.status(method, "/", Depth="1") >= 400
    assert served.status("PROPFIND", "/vault/", Depth="infinity") == 403
    assert served.status("DELETE", "/vault/") >= 400
    assert (served.root / "a.md").exists()


def test_get_lists_the_visible_names_of_a_folder_and_head_confirms_it(served: Served) -> None:
    assert served.status("HEAD", "/vault/Projects/") == 200
    assert served.client().http.get(f"{served.url}Projects/").text == "gateway.md\n"
    assert served.status("HEAD", "/vault/Projects/.hidden/") == 404


def test_a_folder_with_hidden_files_stays_when_it_is_removed(served: Served) -> None:
    served.status("DELETE", "/vault/Projects")
    assert (served.root / "Projects/.hidden/x.md").exists()


@pytest.mark.slow
def test_folder_swapped_for_a_symlink_is_not_followed(served: Served, tmp_path: Path) -> None:
    outside, old = tmp_path / "outside", tmp_path / "old"
    old.mkdir()
    stop = threading.Event()

    def swap() -> None:
        for number in itertools.count():
            (served.root / "Swap").mkdir()
            (served.root / "Swap").rename(old / str(number))
            (served.root / "Swap").symlink_to(outside)
            (served.root / "Swap").unlink()
            if stop.is_set():
                return

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(60):
            served.status("PUT", f"/vault/Swap/{number}.md", b"x")
            assert served.status("GET", "/vault/Swap/secret.md") >= 400
    finally:
        stop.set()
        thread.join()
    assert os.listdir(outside) == ["secret.md"]


PRIVATE = {
    "secret.md": "---\ndonna_sensitive: true\n---\nosprey\n",
    "local.md": "---\ndonna: local-only\n---\nosprey\n",
    "broken.md": "---\ndonna_sensitive: [true\n---\nosprey\n",
    "secret (conflicted copy 2024-01-01).md": "---\ndonna_sensitive: true\n---\nosprey\n",
    "secret.md~": "---\ndonna_sensitive: true\n---\nosprey\n",
    "binary.md": "\0" * 500,
    "large.md": "x" * 1_000_001,
}


@pytest.fixture
def without_private(vault: Path) -> Iterator[Served]:
    """Serve the vault with private notes, which are excluded by default."""
    for name, text in PRIVATE.items():
        (vault / name).write_text(text)
    with serving(vault, private=True) as served:
        yield served


@pytest.mark.parametrize("name", PRIVATE)
def test_private_notes_do_not_exist_for_clients(without_private: Served, name: str) -> None:
    client, before = without_private.client(), (without_private.root / name).read_bytes()
    assert name not in without_private.names()
    with pytest.raises(ResourceNotFound):
        without_private.get(name)
    for act in (
        lambda: without_private.put(name, b"x"),
        lambda: client.remove(name),
        lambda: client.move(name, "b.md"),
        lambda: client.copy(name, "b.md"),
        lambda: client.move("a.md", name, overwrite=True),
        lambda: client.copy("a.md", name, overwrite=True),
    ):
        with pytest.raises(ClientError):
            act()
    assert (without_private.root / name).read_bytes() == before
    assert temporary_files(without_private.root) == []


def test_a_note_that_becomes_private_is_gone_at_once(without_private: Served) -> None:
    assert without_private.get("a.md") == b"# A\n"
    without_private.put("a.md", PRIVATE["secret.md"].encode())
    assert without_private.status("GET", "/vault/a.md") == 404
    (without_private.root / "a.md").write_text("# A\n")
    assert without_private.get("a.md") == b"# A\n"


def test_answers_can_not_act_in_a_browser(served: Served) -> None:
    served.put("page.html", b"<script>alert(1)</script>")
    answer = served.request("GET", "/vault/page.html")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert served.status("GET", "/vault/%3Cscript%3E.md", Authorization=basic()) == 404


def test_privacy_check_applies_to_the_version_that_was_found(vault: Path) -> None:
    note, root = vault / "diary.md", VaultRoot(vault)
    note.write_text("---\ndonna_sensitive: true\n---\n")
    seen = ServedTree(root, GlobSet(())).find("diary.md")
    assert seen is not None
    note.write_text("# Nothing private in this version\n")
    judge = private_files(root, max_bytes=1_000_000, key="donna_sensitive")
    assert judge(seen)
    now = ServedTree(root, GlobSet(())).find("diary.md")
    assert now is not None
    assert not judge(now)
