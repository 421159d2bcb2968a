"""The branch gets the form of a note that git itself would store; where that needs a filter, nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.attributes import Attributes, stored
from donna_tui.vault.git.objects import blob_id
from tests.git_layouts import Sandbox, new_sandbox, own
from tests.git_vaults import User, fill, new_writer, tree_of

NOTE, CRLF = "Projects/one.md", "one\r\ntwo $Id: abc $\r\n"


def with_attributes(base: Path, text: str) -> Sandbox:
    sandbox = new_sandbox(base, own)
    fill(sandbox.vault, {".gitattributes": text})
    sandbox.user.commit_all(sandbox.vault, "attributes")
    return sandbox


def in_the_folder(sandbox: Sandbox, rule: str) -> None:
    fill(sandbox.vault, {"Projects/.gitattributes": f"*.md {rule}\n"})


def at_the_top(sandbox: Sandbox, rule: str) -> None:
    fill(sandbox.vault, {".gitattributes": f"[attr]secret {rule}\n*.md secret\n"})


def in_the_repository(sandbox: Sandbox, rule: str) -> None:
    (sandbox.vault / ".git/info").mkdir(exist_ok=True)
    (sandbox.vault / ".git/info/attributes").write_text(f"*.md {rule}\n")


def in_a_file_of_the_users(sandbox: Sandbox, rule: str) -> None:
    fill(sandbox.vault.parent, {"attributes": f"*.md {rule}\n"})
    sandbox.git("config", "core.attributesFile", str(sandbox.vault.parent / "attributes"))


@pytest.mark.cases(6)
@pytest.mark.parametrize("place", [in_the_folder, at_the_top, in_the_repository, in_a_file_of_the_users])
@pytest.mark.parametrize("name", ["git-crypt", "lfs", "not-even-configured"])
def test_notes_with_a_git_filter_are_not_written(base: Path, place: Callable[[Sandbox, str], None], name: str) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.writer.write(NOTE, "before there was a filter\n", replace=True)
    place(sandbox, f"filter={name}")
    canary = base / "ran"
    for key in ("clean", "smudge", "process"):
        sandbox.git("config", f"filter.{name}.{key}", f"touch {canary}; cat")
    before, objects = tree_of(sandbox.vault), sandbox.git("count-objects")
    for attempt in (
        lambda: sandbox.writer.write(NOTE, "plain text\n"),
        lambda: sandbox.writer.write("Projects/new.md", "plain text\n"),
        lambda: sandbox.writer.delete(NOTE),
        lambda: sandbox.writer.move("Projects/two.md", "Projects/zwei.md"),
        lambda: sandbox.writer.undo_last(),
    ):
        with pytest.raises(VaultWriteError) as refused:
            attempt()
        assert refused.value.reason is Reason.IGNORED_BY_GIT
        assert f"“{name}”" in refused.value.message
        assert ".gitattributes" in (refused.value.hint or "")
    assert (tree_of(sandbox.vault), sandbox.git("count-objects")) == (before, objects)
    assert not canary.exists()


def test_a_filter_on_other_files_does_not_matter(base: Path) -> None:
    sandbox = with_attributes(base, "*.png filter=lfs diff=lfs merge=lfs -text\n")
    assert sandbox.writer.write(NOTE, "x\n", replace=True)
    assert not sandbox.git("status", "--porcelain")


def test_links_in_encrypted_notes_are_left_as_they_are(base: Path) -> None:
    sandbox = with_attributes(base, "Inbox/*.md filter=git-crypt\n")
    fill(sandbox.vault, {"Inbox/secret.md": "see [[one]]\n"})
    sandbox.writer.move(NOTE, "Projects/uno.md")
    assert (sandbox.vault / "Inbox/secret.md").read_text() == "see [[one]]\n"
    assert not sandbox.git("ls-tree", "HEAD", "Inbox/secret.md")


def test_a_history_that_begins_leaves_encrypted_notes_out(base: Path) -> None:
    user = User(base / "home")
    vault = base / "v"
    fill(
        vault, {"Inbox/secret.md": "plain\n", "Projects/a.md": "a\n", ".gitattributes": "Inbox/*.md filter=git-crypt\n"}
    )
    assert new_writer(vault, base / "state").init_if_missing()
    assert user.git(vault, "ls-tree", "-r", "--name-only", "HEAD") == "Projects/a.md\n"


def test_another_encoding_is_refused(base: Path) -> None:
    sandbox = new_sandbox(base, own)
    rules = "*.md text working-tree-encoding=UTF-16LE\nInbox/*.md working-tree-encoding=utf-8\n"
    fill(sandbox.vault, {".gitattributes": rules})
    with pytest.raises(VaultWriteError) as refused:
        sandbox.writer.write(NOTE, "x\n")
    assert refused.value.reason is Reason.ENCODING
    assert sandbox.writer.write("Inbox/new.md", "x\n")


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    "rule", ["text eol=crlf", "text=auto", "text", "eol=lf", "crlf", "text=auto ident", "-text ident"]
)
def test_line_ends_are_stored_as_git_stores_them(base: Path, rule: str) -> None:
    sandbox = with_attributes(base, f"*.md {rule}\n")
    fill(sandbox.vault, {NOTE: "never committed\r\n"})
    sandbox.writer.write(NOTE, CRLF, replace=True)
    sandbox.writer.write("Inbox/new.md", CRLF)
    assert (sandbox.vault / NOTE).read_bytes() == CRLF.encode()
    assert not sandbox.git("status", "--porcelain")
    blob = sandbox.git("rev-parse", f"HEAD:{NOTE}").strip()
    assert blob == sandbox.git("hash-object", f"--path={NOTE}", "--stdin", given=CRLF).strip()
    assert set(sandbox.writer.history.outside()) == set()
    sandbox.writer.undo_last(2)
    assert (sandbox.vault / NOTE).read_bytes() == b"never committed\r\n"
    sandbox.writer.redo(2)
    assert (sandbox.vault / NOTE).read_bytes() == CRLF.encode()
    assert not sandbox.git("status", "--porcelain")
    stage = CRLF + "more\r\n"
    fill(sandbox.vault, {NOTE: stage})
    sandbox.git("add", NOTE)
    sandbox.writer.write(NOTE, "over what is staged just so\r\n", replace=True)
    assert not sandbox.git("status", "--porcelain")


@pytest.mark.parametrize("value", ["true", "input"])
def test_the_users_own_setting_for_line_ends_counts(base: Path, value: str) -> None:
    sandbox = new_sandbox(base, own)
    sandbox.git("config", "core.autocrlf", value)
    sandbox.writer.write(NOTE, "# One\r\n\r\nfirst line\r\nsecond line\r\n", replace=True)
    assert sandbox.git("show", "--format=", "--stat", "HEAD") == ""
    assert not sandbox.git("status", "--porcelain")
    blob = sandbox.git("hash-object", "--no-filters", "-w", "--stdin", given="as it is\r\n").strip()
    sandbox.git("update-index", "--cacheinfo", f"100644,{blob},{NOTE}")
    sandbox.git("commit", "--quiet", "--message", "with CR LF in git")
    sandbox.writer.write(NOTE, "as it was\r\n", replace=True)
    assert sandbox.git("cat-file", "blob", f"HEAD:{NOTE}") == "as it was\r\n"
    assert not sandbox.git("status", "--porcelain")


def test_check_attr_is_not_run_without_git_attributes(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = new_sandbox(base, own)
    asked: list[str] = []
    ask = type(sandbox.writer.repo.command).run

    def noting(self: object, *arguments: str, **options: object) -> object:
        asked.append(arguments[0])
        return ask(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(type(sandbox.writer.repo.command), "run", noting)
    for number in range(3):
        sandbox.writer.write(NOTE, f"{number}\n", replace=True)
    assert "check-attr" not in asked
    assert asked.count("config") == 1


PIECES = st.lists(
    st.sampled_from([b"\r\n", b"\n", b"\r", b"\0", b"\x1a", b"\x07", b"a" * 127, b"$Id: x $", b"$Id$", b"$Id: y\n$", b"\x1b", "ü".encode()]),
    max_size=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[User, Path]:
    base = tmp_path_factory.mktemp("form")
    user = User(base / "home")
    vault = base / "v"
    fill(vault, {".gitattributes": "*.auto text=auto ident\n*.text text ident\n"})
    user.git(vault, "init", "--quiet")
    return user, vault


@pytest.mark.slow
def test_every_text_is_stored_as_git_stores_it(plain: tuple[User, Path]) -> None:
    user, vault = plain

    @settings(max_examples=40)
    @given(st.lists(PIECES, min_size=8, max_size=8))
    def same(texts: list[list[bytes]]) -> None:
        paths = [f"{number}.{form}" for number in range(len(texts)) for form in ("auto", "text")]
        wanted = []
        for path in paths:
            data = b"".join(texts[int(path.split(".")[0])])
            (vault / path).write_bytes(data)
            line_ends = path.split(".")[1]
            form = stored(data, Attributes(line_ends=line_ends, ident=True))
            wanted.append(blob_id(form, "sha1"))
        found = user.git(vault, "hash-object", "--stdin-paths", given="\n".join(paths)).split()
        assert found == wanted

    same()
